"""What a release is still good for: all tables of pairs beside the bare group-bys, and the joint distribution function.

    python benchmarks/utility_tables.py [--records 1000000] [--variables 20] [--points 10000] [--dimensions 5]
        [--repeats 3] [--parts tables,ecdf,associations]

The peer of the tables is Polars grouping both files by each pair of columns and nothing more. Its number of cells is
compared with ours before times are; runs alternate, so that a busy machine slows both.
"""

from __future__ import annotations

import argparse
import itertools
import resource
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

import sdckit as sdc
from census import KEYS_ALL, census


def wide(n: int, width: int, seed: int) -> pl.DataFrame:
    """So many categorical columns: the ten keys of a census, and those of other people beside them."""
    parts = [
        census(n, seed=seed + part).select(pl.col(name).alias(f"{name}_{part}") for name in KEYS_ALL)
        for part in range(-(-width // len(KEYS_ALL)))
    ]
    return pl.concat(parts, how="horizontal")[:, :width]


def alternating(runs: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Median seconds of each after a warm-up, one run of each in turn."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(repeats + 1):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            if turn:
                seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(found) for name, found in seconds.items()}


def tables(options: argparse.Namespace) -> None:
    """All two-way tables with their statistics, against the group-bys alone."""
    n, width = options.records, options.variables
    original, released = wide(n, width, 1), wide(n, width, 101)
    pairs = list(itertools.combinations(original.columns, 2))

    def bare() -> list[pl.DataFrame]:
        return [frame.group_by(pair).len() for pair in pairs for frame in (original, released)]

    def ours(numeric: list[str] | None = []) -> sdc.TabularUtility:  # noqa: B006
        return sdc.tabular_utility(original, released, numeric=numeric)

    first = pl.concat(bare()[:2], how="vertical").select(pairs[0]).unique().height
    assert first == ours().statistics["n_cells"][0, 0]
    found = alternating({"bare": bare, "ours": ours, "classes": lambda: ours(None)}, options.repeats)
    print(f"{n:,} records, {width} variables, {len(pairs)} tables of two files")
    print(f"Polars, bare group-bys                             {found['bare']:10.3f} s")
    for name, what in (
        ("ours", "sdckit, all tables and statistics "),
        ("classes", "sdckit, numbers cut into classes  "),
    ):
        print(f"{what}                 {found[name]:10.3f} s = {found[name] / found['bare']:.2f} x")
    assert found["ours"] <= 1.5 * found["bare"]


def ecdf(options: argparse.Namespace) -> None:
    """The joint distribution function of two files of so many points each."""
    rng = np.random.default_rng(7)
    n, d = options.points, options.dimensions
    mix = rng.normal(size=(d, d))
    names = [f"x{j}" for j in range(d)]
    a = rng.normal(size=(n, d)) @ mix
    original, released = (pl.DataFrame(x, schema=names) for x in (a, a + rng.normal(0, 0.2, (n, d))))

    def ours() -> sdc.ECDFUtility:
        return sdc.ecdf_utility(original, released, joint=names)

    seconds = alternating({"ours": ours}, options.repeats)["ours"]
    print(f"{n:,} + {n:,} records, {d} variables: joint and single distribution functions {seconds:.3f} s")
    print(f"  largest difference {ours().joint_max_difference:.4f}")
    assert (n, d) != (10_000, 5) or seconds <= 2


def associations(options: argparse.Namespace) -> None:
    """Correlations, contingency and the mixed matrix."""
    original, released = (wide(options.records, options.variables, seed) for seed in (1, 101))
    runs = {"ours": lambda: sdc.compare_associations(original, released)}
    seconds = alternating(runs, options.repeats)["ours"]
    print(f"{options.records:,} records, {options.variables} variables: all associations {seconds:.3f} s")


PARTS: dict[str, Callable[[argparse.Namespace], None]] = {"tables": tables, "ecdf": ecdf, "associations": associations}


def main() -> None:
    """Print the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=lambda text: int(float(text)), default=1_000_000)
    parser.add_argument("--variables", type=int, default=20)
    parser.add_argument("--points", type=lambda text: int(float(text)), default=10_000)
    parser.add_argument("--dimensions", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--parts", default="tables,ecdf,associations")
    options = parser.parse_args()
    for part in options.parts.split(","):
        PARTS[part](options)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"peak memory {peak:.2f} GB")


if __name__ == "__main__":
    main()
