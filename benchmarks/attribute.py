"""What can be learnt: closeness measures beside pyCANON, CAP beside SDMetrics.

    python benchmarks/attribute.py [--records 1000000] [--cap-records 10000] [--repeats 5]
        [--peer-python PATH] [--peer-records 1000000] [--skip-peers]

The peers run in an environment of their own and time themselves, reading and importing left out. Their figures are
compared with ours before times are. ``--peer-records`` gives pyCANON a smaller file than ours, which the printed line
then says.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

import sdckit as sdc
from census import census
from peers import add_options, chosen, said_by

KEYS = ["region", "sex", "age", "educ"]
SENSITIVE = "labour"
CAP_KEYS, CAP_TARGET = ["region", "sex", "marital"], "labour"

PYCANON = """
import json, sys, time
import pandas as pd
from pycanon import anonymity
frame = pd.read_csv(sys.argv[1])
keys, sensitive = json.loads(sys.argv[2]), sys.argv[3]
start = time.perf_counter()
found = anonymity.t_closeness(frame, keys, [sensitive])
print(json.dumps([time.perf_counter() - start, float(found)]))
"""

SDMETRICS = """
import json, sys, time
import pandas as pd
from sdmetrics.single_table import CategoricalCAP
original, released = (pd.read_csv(path).astype(str) for path in sys.argv[1:3])
keys, target = json.loads(sys.argv[3]), sys.argv[4]
start = time.perf_counter()
found = CategoricalCAP.compute(original, released, key_fields=keys, sensitive_fields=[target])
print(json.dumps([time.perf_counter() - start, float(found)]))
"""


def people(n: int, seed: int = 0) -> pl.DataFrame:
    """Records without missing values; `seed` draws another file of the same kind."""
    frame = census(n + seed).tail(n).select(list(dict.fromkeys([*KEYS, *CAP_KEYS, SENSITIVE])))
    return frame.with_columns(pl.all().fill_null(0))


def peer(python: str, program: str, *arguments: str) -> tuple[float, float]:
    """Seconds and figure of a peer, in its own environment."""
    seconds, figure = json.loads(said_by(python, program, *arguments))
    return seconds, figure


def median_time(run: Callable[[], Any], repeats: int) -> float:
    """Median seconds after one warm-up."""
    run()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def together(frame: pl.DataFrame) -> dict[str, float]:
    """k, l, entropy, t, beta and delta of a file, tabulated once."""
    cells = sdc.as_cells(frame, keys=KEYS, missing="category")
    diversity = sdc.l_diversity(cells, sensitive=SENSITIVE, kind=("distinct", "entropy")).level[SENSITIVE]
    delta = sdc.delta_disclosure(cells, sensitive=SENSITIVE)
    return {
        "k": sdc.k_anonymity(cells).level,
        "l": diversity["distinct"],
        "entropy": diversity["entropy"],
        "t": sdc.t_closeness(cells, sensitive=SENSITIVE, distance="ordered").level[SENSITIVE],
        "beta": sdc.beta_likeness(cells, sensitive=SENSITIVE).basic[SENSITIVE],
        "delta": delta.delta_present[SENSITIVE],
    }


def closeness(options: argparse.Namespace, folder: Path) -> None:
    """All measures of one file together against the peer's t-closeness alone."""
    frame = people(options.records)
    ours = median_time(lambda: together(frame), options.repeats)
    figures = together(frame)
    n_cells = sdc.as_cells(frame, keys=KEYS, missing="category").n_cells
    print(f"{len(frame):,} records, {len(KEYS)} keys, {n_cells:,} classes")
    print(", ".join(f"{name} {value:.6g}" for name, value in figures.items()))
    print(f"sdckit, k, l, entropy, t, beta, delta together     {ours:10.4f} s")
    if options.skip_peers:
        return
    part = frame if options.peer_records >= len(frame) else people(options.peer_records)
    path = folder / "people.csv"
    part.write_csv(path)
    theirs, t = peer(options.peer_python, PYCANON, str(path), json.dumps(KEYS), SENSITIVE)
    mine = together(part)["t"]
    assert math.isclose(t, mine, rel_tol=1e-9), (t, mine)
    same = median_time(lambda: together(part), options.repeats)
    print(f"pyCANON, t-closeness alone, {len(part):,} records {theirs:10.2f} s = {theirs / same:,.0f} x sdckit on them")
    if len(part) < len(frame):
        print(f"  (not extrapolated; against sdckit on {len(frame):,} records {theirs / ours:,.0f} x)")


def attribution(options: argparse.Namespace, folder: Path) -> None:
    """CAP of a release against the peer's."""
    n = options.cap_records
    original, released = people(n), people(n, seed=n)
    given = {"keys": CAP_KEYS, "target": CAP_TARGET}

    def run() -> Any:
        return sdc.correct_attribution_probability(original, released, **given)

    ours, figure = median_time(run, options.repeats), run().average_matched
    print(f"{n:,} records, {len(CAP_KEYS)} keys, CAP {figure:.6f}")
    print(f"sdckit, CAP with its baselines and records         {ours:10.4f} s")
    if options.skip_peers:
        return
    paths = [folder / "original.csv", folder / "released.csv"]
    for path, frame in zip(paths, (original, released), strict=True):
        frame.write_csv(path)
    theirs, score = peer(
        options.peer_python, SDMETRICS, *(str(path) for path in paths), json.dumps(CAP_KEYS), CAP_TARGET
    )
    assert math.isclose(1 - score, figure, rel_tol=1e-9), (1 - score, figure)
    print(f"SDMetrics, CategoricalCAP                          {theirs:10.2f} s = {theirs / ours:,.0f} x")


def main() -> None:
    """Print both comparisons."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=lambda text: int(float(text)), default=1_000_000)
    parser.add_argument("--peer-records", type=lambda text: int(float(text)), default=1_000_000)
    parser.add_argument("--cap-records", type=lambda text: int(float(text)), default=10_000)
    parser.add_argument("--repeats", type=int, default=5)
    add_options(parser, "pycanon and sdmetrics")
    options = parser.parse_args()
    options.peer_python = chosen(options, "pycanon", "sdmetrics")
    warnings.simplefilter("ignore", sdc.SdcWarning)
    with tempfile.TemporaryDirectory() as folder:
        closeness(options, Path(folder))
        attribution(options, Path(folder))


if __name__ == "__main__":
    main()
