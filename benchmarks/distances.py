"""Distances to the closest record beside SDMetrics; the whole measure on 100 k records.

    python benchmarks/distances.py [--rounds 3] [--records 5000] [--large 100000] [--peer-python PATH]
        [--skip-peers] [--skip-large]

SDMetrics runs in an environment of its own and times itself, reading and importing left out. It computes the distances
of the released records to the originals only; ours is timed twice, the same distances from the frames on, and the whole
measure: both directions, within the original, hits, identifiability, adversarial accuracy. Distances must be equal. The
large run has a process of its own, whose peak memory is printed.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import time

import numpy as np
import polars as pl

import sdckit as sdc
from linkage import CATEGORIES, NUMBERS, RELEASES, peer, people, released
from peers import add_options, chosen
from sdckit.numerics.coding import gower
from sdckit.numerics.search.neighbours import prepare

PEER = """
import sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np, pandas as pd
from sdmetrics.single_table.privacy.dcr_utils import calculate_dcr
base, query = (pd.read_parquet(path) for path in sys.argv[1:3])
numbers = sys.argv[4].split(",")
kind = {c: {"sdtype": "numerical" if c in numbers else "categorical"} for c in base}
calculate_dcr(query.head(20), base.head(20), {"columns": kind})
start = time.perf_counter()
found = calculate_dcr(query, base, {"columns": kind})
seconds = time.perf_counter() - start
np.save(sys.argv[3], np.asarray(found, float))
print(seconds)
"""


def nearest(original: pl.DataFrame, release: pl.DataFrame) -> tuple[float, np.ndarray]:
    """Seconds, and the distance of each released record to its closest original."""
    start = time.perf_counter()
    columns = [[(original[name].to_numpy(), release[name].to_numpy()) for name in names]
               for names in (NUMBERS, CATEGORIES)]  # fmt: skip
    ranges = np.array([np.ptp(a) for a, _ in columns[0]], float)
    known, made = gower(*columns, ranges=ranges)
    found = prepare(known).nearest(made, 1)
    return time.perf_counter() - start, found.distance[:, 0]


def whole(original: pl.DataFrame, release: pl.DataFrame) -> float:
    """Seconds of the public function."""
    start = time.perf_counter()
    sdc.distance_to_closest_record(original, release, numeric=NUMBERS, seed=1)
    return time.perf_counter() - start


def against_peer(n: int, rounds: int, python: str | None) -> None:
    original = people(n, 0)
    for kind in RELEASES:
        release = released(original, kind)
        nearest(original, release)  # compiled now
        whole(original, release)
        mine, all_of_it, theirs = [], [], []
        for _ in range(rounds):
            seconds, distance = nearest(original, release)
            mine.append(seconds)
            all_of_it.append(whole(original, release))
            if python is not None:
                seconds, other = peer(python, original, release, PEER)
                theirs.append(seconds)
                assert np.allclose(other, distance, atol=1e-9), "distances differ"
        line = f"{n:>9,} x {n:,}  {kind:<13} distances {statistics.median(mine):8.4f} s, whole measure "
        line += f"{statistics.median(all_of_it):8.4f} s"
        if theirs:
            slow = statistics.median(theirs)
            line += f"   SDMetrics {slow:8.2f} s = {slow / statistics.median(mine):.0f} and "
            line += f"{slow / statistics.median(all_of_it):.0f} x, distances equal"
        print(line, flush=True)


def large(kind: str, n: int) -> None:
    """One large run, in a process of its own."""
    original = people(n, 0)
    release = released(original, kind)
    start = time.perf_counter()
    result = sdc.distance_to_closest_record(original, release, numeric=NUMBERS, seed=1)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    dcr = result.dcr_released_to_original
    print(f"{n:>9,} x {n:,}  {kind:<13} whole measure {seconds:8.2f} s, peak {peak:.2f} GB, DCR {dcr:.4f}")


def large_runs(n: int) -> None:
    """Both large runs."""
    for kind in RELEASES:
        command = [sys.executable, __file__, "--run", kind, "--large", str(n)]
        subprocess.run(command, check=True)


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--records", type=int, default=5_000)
    parser.add_argument("--large", type=int, default=100_000)
    add_options(parser, "sdmetrics and pyarrow")
    parser.add_argument("--skip-large", action="store_true")
    parser.add_argument("--run", default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run is not None:
        large(options.run, options.large)
        return
    against_peer(options.records, options.rounds, chosen(options, "sdmetrics", "pyarrow"))
    if not options.skip_large:
        large_runs(options.large)


if __name__ == "__main__":
    main()
