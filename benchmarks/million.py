"""The heavy calls on a million records, each in a process of its own: processor seconds and peak memory.

    python benchmarks/million.py [--only synthesize,suda] [--rounds 3] [--against FOLDER] [--records 1000000]

Kernels are compiled on 60,000 records before the clock starts. Time is that of both threads together
(`resource.getrusage`, children included), so that other work on the machine counts little; memory is the peak of the
process, the file and the libraries included. ``--against`` is the ``src`` of another state: every case runs there and
here in turns, and the last column is the ratio of the medians. ``--record MACHINE`` keeps the rows.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import sdckit as sdc
from census import KEYS_ALL, census
from record import add_option, record

SMALL = 60_000  # enough for the ways that large files take
AMOUNTS = ["income", "rent", "savings", "hours"]
WIDTH = 0.1
HERE = Path(__file__).resolve().parents[1] / "src"


def amounts(n: int) -> pl.DataFrame:
    """Four numbers: one with a third of zeros, one of few whole numbers, two smooth and skewed."""
    rng = np.random.default_rng([20261122, n])
    wealth = rng.normal(0, 0.9, n)
    found = {
        "income": np.exp(10 + wealth).round(2),
        "rent": np.exp(6 + 0.6 * wealth + rng.normal(0, 0.5, n)).round(2),
        "savings": np.where(rng.random(n) < 0.35, 0, np.exp(8 + 1.2 * wealth + rng.normal(0, 1, n))).round(2),
        "hours": np.where(rng.random(n) < 0.45, 0, rng.normal(38, 9, n).round().clip(1, 90)),
    }
    return pl.DataFrame(found)


def noisy(data: pl.DataFrame) -> pl.DataFrame:
    """The same numbers with 5 % of noise."""
    rng = np.random.default_rng(data.height)
    return data.select(
        pl.Series(name, data[name].to_numpy() * rng.normal(1, 0.05, data.height)) for name in data.columns
    )


def smooth(n: int) -> pl.DataFrame:
    """Four normal numbers that hang together."""
    rng = np.random.default_rng([20261122, n, 1])
    shared = rng.normal(size=n)
    return pl.DataFrame({f"x{j}": 0.6 * shared + rng.normal(size=n) for j in range(4)})


def _synthesize(n: int) -> Callable[[], Any]:
    from synthesis import people

    data = people(n)
    return lambda: sdc.synthesize(data, seed=1)


def _microaggregate(make: Callable[[int], pl.DataFrame]) -> Callable[[int], Callable[[], Any]]:
    def prepare(n: int) -> Callable[[], Any]:
        data = make(n)
        return lambda: sdc.microaggregate(data, columns=data.columns, k=3)

    return prepare


def _matching(make: Callable[[int], pl.DataFrame]) -> Callable[[int], Callable[[], Any]]:
    def prepare(n: int) -> Callable[[], Any]:
        data = make(n)
        released = noisy(data)
        return lambda: sdc.matching_risk(
            data, released, synthetic=data.columns, numeric=data.columns, width=WIDTH
        ).to_dict()

    return prepare


def _suda(n: int) -> Callable[[], Any]:
    data = census(n).select(KEYS_ALL)
    return lambda: sdc.suda(data, keys=KEYS_ALL, missing="category").to_dict()


CASES: dict[str, tuple[str, Callable[[int], Callable[[], Any]]]] = {
    "synthesize": ("`synthesize`, 10 columns", _synthesize),
    "microaggregate": ("`microaggregate`, 4 columns, amounts with zeros", _microaggregate(amounts)),
    "microaggregate-normal": ("`microaggregate`, 4 columns, normal", _microaggregate(smooth)),
    "matching": ("`matching_risk` of 4 numbers, amounts with zeros", _matching(amounts)),
    "matching-normal": ("`matching_risk` of 4 numbers, normal", _matching(smooth)),
    "suda": ("`suda` of 10 keys, all sizes", _suda),
}


def used() -> float:
    """Processor seconds of this process and of those it waited for."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)


def child(case: str, n: int) -> None:
    """Run one case and print what it took."""
    warnings.simplefilter("ignore")
    prepare = CASES[case][1]
    prepare(SMALL)()
    call = prepare(n)
    before, start = used(), time.perf_counter()
    call()
    taken = {"cpu": used() - before, "wall": time.perf_counter() - start}
    taken["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(json.dumps(taken))


def measured(case: str, n: int, src: Path, cache: Path) -> dict[str, float]:
    """One run in a new process."""
    env = {**os.environ, "PYTHONPATH": str(src), "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, __file__, "--child", case, "--records", str(n)]
    said = subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout
    return dict(json.loads(said.splitlines()[-1]))


def compare(case: str, n: int, sources: list[Path], caches: list[Path], rounds: int) -> list[str]:
    """Print and return a row."""
    found: list[list[dict[str, float]]] = [[] for _ in sources]
    for _ in range(rounds):
        for at, (src, cache) in enumerate(zip(sources, caches, strict=True)):
            found[at].append(measured(case, n, src, cache))
    medians = [{what: statistics.median(one[what] for one in runs) for what in runs[0]} for runs in found]
    row = [CASES[case][0], *(f"{one['cpu']:.1f} s, {one['peak']:.2f} GB" for one in medians)]
    row += [""] * (3 - len(row))
    row.append(f"{medians[0]['cpu'] / medians[1]['cpu']:.2f} ×" if len(medians) > 1 else "")
    walls = " / ".join(f"{one['wall']:.1f}" for one in medians)
    print("  ".join([*row, f"(wall {walls} s)"]), flush=True)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join(CASES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--against", type=Path, help="the src of another state")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    add_option(parser)
    options = parser.parse_args()
    if options.child:
        child(options.child, options.records)
        return
    sources = [HERE, *([options.against] if options.against else [])]
    with tempfile.TemporaryDirectory() as folder:
        caches = [Path(folder) / str(at) for at in range(len(sources))]
        rows = [compare(case, options.records, sources, caches, options.rounds) for case in options.only.split(",")]
    if options.record:
        record("million", options.record, rows)


if __name__ == "__main__":
    main()
