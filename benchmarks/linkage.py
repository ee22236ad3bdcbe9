"""Nearest neighbours of mixed columns beside anonymeter's search; linkage and robust intervals of 100 k records.

    python benchmarks/linkage.py [--rounds 3] [--records 10000] [--large 100000] [--peer-python PATH]
        [--skip-peers] [--skip-large]

anonymeter's search runs in an environment of its own on all processors and times itself, reading, importing and
compiling left out. Its distances must be ours. Ours is timed from the encoded columns to the nearest neighbours, its
index included, in turn with the peer.

Two releases of the same ten columns (seven categories, three numbers): one perturbed (a tenth of every category
redrawn, 5 % of noise on the numbers), and one of other people, the harder case, as a synthetic file would be. The
large runs have a process each, whose peak memory is printed.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import sdckit as sdc
from census import census
from peers import add_options, chosen, said_by
from sdckit.numerics.coding import Encoded, gower
from sdckit.numerics.search.neighbours import prepare

CATEGORIES = ["region", "sex", "marital", "educ", "labour", "occ", "tenure"]
NUMBERS = ["age", "income", "rent"]
RELEASES = ("perturbed", "other people")

PEER = """
import sys, time
import numpy as np, pandas as pd
import anonymeter.evaluators
from anonymeter.neighbors.mixed_types_kneighbors import MixedTypeKNeighbors
base, query = (pd.read_parquet(path) for path in sys.argv[1:3])
kinds = {"num": sys.argv[4].split(","), "cat": [c for c in base if c not in sys.argv[4].split(",")]}
def search(queries):
    return MixedTypeKNeighbors(n_neighbors=1, n_jobs=-1).fit(base, kinds).kneighbors(queries, return_distance=True)
search(query.head(20))
start = time.perf_counter()
found = search(query)
seconds = time.perf_counter() - start
distance = next(one for one in found if np.asarray(one).dtype.kind == "f")
np.save(sys.argv[3], np.asarray(distance, float).ravel())
print(seconds)
"""


def people(n: int, seed: int) -> pl.DataFrame:
    """Ten columns of census-like records."""
    rng = np.random.default_rng([20261120, n, seed])
    frame = census(n + seed, missing=0).tail(n).select([*CATEGORIES, "age"])
    wealth = rng.normal(0, 0.5, n) + frame["educ"].to_numpy() * 0.15
    income, rent = (np.exp(10 + wealth + rng.normal(0, 0.5, n)), np.exp(6 + 0.6 * wealth + rng.normal(0, 0.4, n)))
    return frame.with_columns(
        pl.col("age").cast(pl.Float64), income=pl.Series(income.round(2)), rent=pl.Series(rent.round(2))
    )


def released(original: pl.DataFrame, kind: str) -> pl.DataFrame:
    """One of the two releases."""
    n = original.height
    if kind == "other people":
        return people(n, n)
    rng = np.random.default_rng([7, n])
    made = {}
    for name in CATEGORIES:
        values = original[name].to_numpy()
        made[name] = pl.Series(np.where(rng.random(n) < 0.1, rng.permutation(values), values))
    for name in NUMBERS:
        made[name] = pl.Series((original[name].to_numpy() * rng.normal(1, 0.05, n)).round(2))
    return original.with_columns(**made)


def encoded(original: pl.DataFrame, release: pl.DataFrame) -> tuple[Encoded, ...]:
    """Both files for Gower's distance."""
    files = (original, release)
    return gower(
        [tuple(one[name].to_numpy() for one in files) for name in NUMBERS],
        [tuple(one[name].to_numpy() for one in files) for name in CATEGORIES],
    )


def nearest(known: Encoded, masked: Encoded) -> tuple[float, np.ndarray]:
    """Seconds, and the distance of each released record to its nearest original."""
    start = time.perf_counter()
    found = prepare(known).nearest(masked, 1)
    return time.perf_counter() - start, found.distance[:, 0]


def peer(python: str, original: pl.DataFrame, release: pl.DataFrame, program: str = PEER) -> tuple[float, np.ndarray]:
    """Seconds, and the same distances by a program of another package."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / "original.parquet", Path(folder) / "released.parquet"]
        for frame, path in zip((original, release), paths, strict=True):
            frame.with_columns(pl.col(CATEGORIES).cast(pl.String)).write_parquet(path)
        out = Path(folder) / "distance.npy"
        said = said_by(python, program, *paths, out, ",".join(NUMBERS))
        return float(said), np.load(out)


def against_peer(n: int, rounds: int, python: str | None) -> None:
    original = people(n, 0)
    for kind in RELEASES:
        release = released(original, kind)
        known, masked = encoded(original, release)
        nearest(known, masked)  # compiled now
        mine, theirs = [], []
        for _ in range(rounds):
            seconds, distance = nearest(known, masked)
            mine.append(seconds)
            if python is not None:
                seconds, other = peer(python, original, release)
                theirs.append(seconds)
                columns = len(CATEGORIES) + len(NUMBERS)  # the peer sums where Gower takes the mean
                assert np.allclose(other, distance * columns, atol=1e-5), "distances differ"
        line = f"{n:>9,} x {n:,}  {kind:<13} nearest {statistics.median(mine):8.3f} s"
        if theirs:
            ratio = statistics.median(theirs) / statistics.median(mine)
            line += f"   anonymeter {statistics.median(theirs):8.2f} s = {ratio:6.1f} x, distances equal"
        print(line, flush=True)


def large(what: str, n: int) -> None:
    """One large run, in a process of its own."""
    original = people(n, 0)
    if what == "robust":
        release, numeric = released(original, "perturbed"), NUMBERS
        start = time.perf_counter()
        result = sdc.robust_interval_risk(original, release, numeric=numeric, seed=1)
    else:
        release = released(original, what)
        start = time.perf_counter()
        result = sdc.record_linkage(original, release, variables=[*CATEGORIES, *NUMBERS], numeric=NUMBERS)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    name = "robust_interval_risk" if what == "robust" else f"record_linkage, {what}"
    print(f"{n:>9,} records  {name:<29} {seconds:8.2f} s, peak {peak:.2f} GB, rate {result.rate:.4f}", flush=True)


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--large", type=int, default=100_000)
    add_options(parser, "anonymeter and pyarrow")
    parser.add_argument("--skip-large", action="store_true")
    parser.add_argument("--run", default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run is not None:
        large(options.run, options.large)
        return
    against_peer(options.records, options.rounds, chosen(options, "anonymeter", "pyarrow"))
    if not options.skip_large:
        for what in (*RELEASES, "robust"):
            command = [sys.executable, __file__, "--run", what, "--large", str(options.large)]
            subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
