"""Matching risk against one Polars group-by, against comparing all pairs, and its growth.

    python benchmarks/matching.py [--rounds 5] [--rows 1,2,3,4,5]

1. 1 M records, five categorical keys and two numbers within 10 %, against one Polars group-by on the five keys.
2. 10 k records of the same, against a scan of all pairs. The peer IdentificationRiskCalculation (C++) is not on PyPI:
   its part is taken by a compiled double loop over targets and released records, all variables as floats in columns,
   that leaves a pair at the first variable that differs, as the peer does. Its numbers of matches must be ours.
3. 10 k, 100 k and 1 M records with two categorical keys and two numbers: growth exponent.
4. The same with the two numbers alone.
5. The same with three numbers alone (a tree instead of a plane), up to 100 k.

The release has a tenth of every key redrawn from its margin and 5 % of noise on the numbers. Calls are timed from
the data frames to the figures and the records' frame, interleaved in pairs; ratios are of medians.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable

import numpy as np
import polars as pl
from numba import njit

import sdckit as sdc
from census import census

KEYS = ["region", "sex", "age", "marital", "educ"]
FEW_KEYS = ["sex", "marital"]
NUMBERS = ["income", "rent", "savings"]
WIDTH = 0.1
CALLS = 20  # of a few milliseconds each, taken together


def files(n: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """An original and its release."""
    rng = np.random.default_rng([20261120, n])
    original = census(n, missing=0).select(KEYS)
    wealth = rng.normal(0, 0.5, n) + original["educ"].to_numpy() * 0.15
    amounts = {
        "income": np.exp(10 + wealth + rng.normal(0, 0.5, n)),
        "rent": np.exp(6 + 0.6 * wealth + rng.normal(0, 0.4, n)),
        "savings": np.exp(8 + 1.5 * wealth + rng.normal(0, 1, n)),
    }
    original = original.with_columns(**{name: pl.Series(x.round(2)) for name, x in amounts.items()})
    made: dict[str, pl.Series] = {}
    for name in KEYS:
        values = original[name].to_numpy()
        made[name] = pl.Series(np.where(rng.random(n) < 0.1, rng.permutation(values), values))
    for name, x in amounts.items():
        made[name] = pl.Series((x * rng.normal(1, 0.05, n)).round(2))
    return original, original.with_columns(**made)


def ours(original: pl.DataFrame, released: pl.DataFrame, keys: list[str], numbers: list[str]) -> object:
    """The figures and the records."""
    result = sdc.matching_risk(original, released, synthetic=[*keys, *numbers], numeric=numbers, width=WIDTH)
    result.to_dict()
    return result.records


@njit(nogil=True)
def _all_pairs(original, released, is_category, radius, tol, count, true):  # type: ignore[no-untyped-def]
    variables, n = original.shape
    match = np.empty(n, np.bool_)
    for i in range(n):
        match[:] = True
        for j in range(n):
            for d in range(variables):
                if is_category[d]:
                    if original[d, i] != released[d, j]:
                        match[j] = False
                        break
                else:
                    half = radius[d] * abs(original[d, i]) + tol
                    if released[d, j] > original[d, i] + half or released[d, j] < original[d, i] - half:
                        match[j] = False
                        break
            if match[j]:
                count[i] += 1
        true[i] = match[i]


def scan(original: pl.DataFrame, released: pl.DataFrame, keys: list[str], numbers: list[str]) -> np.ndarray:
    """Matches of every record by comparing all pairs; all variables as floats, column by column."""
    names = [*keys, *numbers]
    columns = [np.stack([one[name].to_numpy().astype(np.float64) for name in names]) for one in (original, released)]
    count, true = np.zeros(original.height), np.zeros(original.height, np.bool_)
    is_category, radius = np.array([name in keys for name in names]), np.full(len(names), WIDTH)
    _all_pairs(*columns, is_category, radius, 1e-9, count, true)
    return count


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def interleaved(rounds: int, *calls: Callable[[], object]) -> list[float]:
    """Median seconds of each call, all of them once per round after a first one that does not count."""
    for call in calls:
        call()
    times = [[seconds(call) for call in calls] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*times, strict=True)]


def against_group_by(rounds: int) -> None:
    original, released = files(1_000_000)
    mine, theirs = interleaved(
        rounds, lambda: ours(original, released, KEYS, NUMBERS[:2]), lambda: original.group_by(KEYS).len()
    )
    ratio = f"{mine / theirs:.1f} times"
    print(f"1,000,000 x (5 keys + 2 numbers): sdckit {mine:.3f} s, one group-by {theirs:.3f} s, {ratio}", flush=True)


def against_all_pairs(rounds: int) -> None:
    original, released = files(10_000)
    arguments = original, released, KEYS, NUMBERS[:2]
    assert (scan(*arguments) == ours(*arguments)["match_count"].to_numpy()).all()  # type: ignore[index]
    mine, theirs = interleaved(rounds, lambda: [ours(*arguments) for _ in range(CALLS)], lambda: scan(*arguments))
    mine /= CALLS
    ratio = f"{theirs / mine:.0f} times faster"
    print(f"10,000 x (5 keys + 2 numbers): sdckit {mine:.4f} s, all pairs {theirs:.3f} s, {ratio}", flush=True)


def growth(rounds: int, keys: list[str], numbers: list[str], sizes: tuple[int, ...]) -> None:
    data = {n: files(n) for n in sizes}
    calls = [lambda pair=pair: ours(*pair, keys, numbers) for pair in data.values()]
    times = interleaved(rounds, *calls)
    for n, found in zip(sizes, times, strict=True):
        print(f"{n:>9,} x ({len(keys)} keys + {len(numbers)} numbers): {found:.4f} s", flush=True)
    slope = math.log(times[-1] / times[0]) / math.log(sizes[-1] / sizes[0])
    print(f"          growth exponent {slope:.2f}", flush=True)


def main() -> None:
    """Print a line per comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", default="1,2,3,4,5")
    options = parser.parse_args()
    sizes = (10_000, 100_000, 1_000_000)
    work = {
        1: lambda: against_group_by(options.rounds),
        2: lambda: against_all_pairs(options.rounds),
        3: lambda: growth(options.rounds, FEW_KEYS, NUMBERS[:2], sizes),
        4: lambda: growth(options.rounds, [], NUMBERS[:2], sizes),
        5: lambda: growth(options.rounds, [], NUMBERS, sizes[:2]),
    }
    for row in map(int, options.rows.split(",")):
        work[row]()


if __name__ == "__main__":
    main()
