"""PRAM, noise and rank swapping beside drawing as many random numbers; MDAV's seconds and growth.

    python benchmarks/perturb.py [--rounds 3] [--records 10000000] [--skip-random] [--skip-mdav] [--widths 4 8 12]

The yardstick of the first three is one NumPy pass over the values, plus drawing as many random numbers with NumPy
(uniform, or normal for noise), plus NumPy's sort for the swap: of the values (np.sort) and, harder to be fast
beside it, of their order (np.argsort). Each is timed in turn with its yardstick; the medians of the rounds and
their ratio are printed. The target is a ratio of 5.

MDAV runs on 4, 8 and 12 numbers, independent normal ones and their exponentials (skewed, as incomes are), k = 3. The
exponent is that of the seconds between the smallest and the largest file; the targets are 1, 3 and 10 seconds for
50,000 records and an exponent below 1.7.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable

import numpy as np
import polars as pl

import sdckit as sdc

SIZES = (12_500, 25_000, 50_000, 100_000, 200_000)
WIDE_SIZES = (12_500, 25_000, 50_000)  # of more than four numbers


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def beside(name: str, rounds: int, work: Callable[[], object], yardstick: Callable[[], object]) -> None:
    """Print the medians of both and their ratio."""
    work()  # compiled now
    mine, theirs = [], []
    for _ in range(rounds):
        theirs.append(seconds(yardstick))
        mine.append(seconds(work))
    a, b = statistics.median(mine), statistics.median(theirs)
    print(f"{name:<34} {a:8.3f} s   yardstick {b:8.3f} s   ratio {a / b:5.2f}", flush=True)


def random_methods(n: int, rounds: int) -> None:
    rng = np.random.default_rng(20261120)
    income = rng.lognormal(10, 1, n)
    frame = pl.DataFrame({"income": income, "age": rng.integers(0, 100, n), "job": rng.integers(0, 9, n)})
    frame = frame.with_columns(kind=pl.col("job").cast(pl.String).cast(pl.Categorical))
    ages = frame["age"].to_numpy()

    def uniform() -> None:
        np.add(income, 1.0)
        np.random.default_rng(1).random(n)

    def normal() -> None:
        np.add(income, 1.0)
        np.random.default_rng(1).standard_normal(n)

    def ordering(values: np.ndarray, sort: Callable[[np.ndarray], object]) -> Callable[[], None]:
        def work() -> None:
            uniform()
            sort(values)

        return work

    print(f"{n:,} values, Polars frame")
    beside("pram, integers", rounds, lambda: sdc.pram(frame, columns=["job"], seed=1), uniform)
    beside("pram, categories", rounds, lambda: sdc.pram(frame, columns=["kind"], seed=1), uniform)
    beside("add_noise", rounds, lambda: sdc.add_noise(frame, columns=["income"], seed=1), normal)
    for name, values in (("income", income), ("age", ages)):
        for sort in (np.sort, np.argsort):
            beside(
                f"rank_swap, {name} ({sort.__name__})",
                rounds,
                lambda name=name: sdc.rank_swap(frame, columns=[name], seed=1),  # type: ignore[misc]
                ordering(values, sort),
            )


def mdav(rounds: int, width: int) -> None:
    print(f"microaggregate, MDAV, {width} numbers, k = 3")
    sizes = SIZES if width <= 4 else WIDE_SIZES
    for kind in ("normal", "skewed"):
        taken = []
        for n in sizes:
            values = np.random.default_rng([1, n]).normal(size=(n, width))
            frame = pl.DataFrame(np.exp(values) if kind == "skewed" else values)
            runs = [
                seconds(lambda frame=frame: sdc.microaggregate(frame, columns=frame.columns, k=3))  # type: ignore[misc]
                for _ in range(rounds + (n == sizes[0]))
            ]
            taken.append(min(runs))  # the first of the smallest file compiles
            print(f"{kind:<8} {n:>9,}   {taken[-1]:8.3f} s", flush=True)
        exponent = math.log(taken[-1] / taken[0]) / math.log(sizes[-1] / sizes[0])
        print(f"{kind:<8} grows as n to the power of {exponent:.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--records", type=int, default=10_000_000)
    parser.add_argument("--skip-random", action="store_true")
    parser.add_argument("--skip-mdav", action="store_true")
    parser.add_argument("--widths", type=int, nargs="+", default=[4, 8, 12])
    given = parser.parse_args()
    if not given.skip_random:
        random_methods(given.records, given.rounds)
    for width in () if given.skip_mdav else given.widths:
        mdav(given.rounds, width)


if __name__ == "__main__":
    main()
