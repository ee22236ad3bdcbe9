"""Synthesis by trees against the scikit-learn fits it is made of.

    python benchmarks/synthesis.py [--rounds 3] [--records 100000]

Ten variables (six categories as text, four numbers), m = 1. The fits are nine trees, one after the other on one
thread, on arrays of codes made beforehand; ours is the call from the data frame to the released frame, with its fits
on all threads, the draws and the count of copied records. They run in turns, ratios are of medians. Last, five files
against one: the fits are shared, only the draws are repeated.

Then regressions of the same variables, each on those before it, and each by a formula that names the same; and masked
values of three variables of 2,000 records, drawn in 100 rounds.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
import polars as pl
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import sdckit as sdc
from census import census

CATEGORIES = ["region", "sex", "marital", "educ", "labour", "occ"]
NUMBERS = ["age", "income", "rent", "savings"]
MIN_LEAF = 5


def people(n: int) -> pl.DataFrame:
    """Ten variables, none missing."""
    rng = np.random.default_rng([20261120, n])
    known = census(n, missing=0).select([*CATEGORIES, "age"])
    wealth = rng.normal(0, 0.5, n) + known["educ"].to_numpy() * 0.15
    income = np.exp(10 + wealth + rng.normal(0, 0.5, n)).round(2)
    rent = np.exp(6 + 0.6 * wealth + rng.normal(0, 0.4, n)).round(0)
    savings = np.where(rng.random(n) < 0.3, 0, np.exp(8 + 1.5 * wealth + rng.normal(0, 1, n))).round(0)
    return known.with_columns(pl.col(CATEGORIES).cast(pl.String)).with_columns(
        income=pl.Series(income), rent=pl.Series(rent), savings=pl.Series(savings)
    )


def prepared(data: pl.DataFrame) -> list[tuple[bool, np.ndarray, np.ndarray]]:
    """What scikit-learn is given: whether the variable is a category, predictors, outcome."""
    codes = {name: np.unique(data[name].to_numpy(), return_inverse=True)[1] for name in CATEGORIES}
    columns = {name: codes[name] if name in codes else data[name].to_numpy() for name in data.columns}
    matrix = np.column_stack(list(columns.values())).astype(np.float32)
    return [(name in codes, matrix[:, :at], columns[name]) for at, name in enumerate(columns) if at]


def fits(work: list[tuple[bool, np.ndarray, np.ndarray]]) -> None:
    """The nine trees."""
    for is_category, X, y in work:
        kind = DecisionTreeClassifier if is_category else DecisionTreeRegressor
        kind(min_samples_leaf=MIN_LEAF, random_state=0).fit(X, y)


def timed(call: Callable[[], object]) -> float:
    """Seconds of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--records", type=int, default=100_000)
    options = parser.parse_args()
    data = people(options.records)
    work = prepared(data)
    sdc.synthesize(data.head(1000), seed=0)
    calls: dict[str, Callable[[], object]] = {
        "scikit-learn fits": lambda: fits(work),
        "synthesize, m = 1": lambda: sdc.synthesize(data, seed=1),
        "synthesize, m = 5": lambda: sdc.synthesize(data, m=5, seed=1),
    }
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(options.rounds):
        for name, call in calls.items():
            seconds[name].append(timed(call))
    median = {name: statistics.median(found) for name, found in seconds.items()}
    print(f"{options.records:,} records, {data.width} variables")
    show(median, "scikit-learn fits")
    formulas(data, options.rounds)
    masked(options.rounds)


def show(median: dict[str, float], base: str) -> None:
    """A line for each call, with its ratio to one of them."""
    for name, found in median.items():
        print(f"{name:<28}{found:8.2f} s{found / median[base]:8.2f} x")


def formulas(data: pl.DataFrame, rounds: int) -> None:
    """Regressions by the order of the variables, and by a formula for each that says the same."""
    names = [*CATEGORIES, *NUMBERS]
    models = {**dict.fromkeys(CATEGORIES, "multinomial"), **dict.fromkeys(NUMBERS, "normal")}
    models |= {name: "logistic" for name in CATEGORIES if data[name].n_unique() == 2}
    written = {name: f"~ {' + '.join(names[:at]) or 1}" for at, name in enumerate(names)}
    given = {"models": models, "seed": 1, "posterior_draws": 0}
    calls: dict[str, Callable[[], object]] = {
        "regressions by order": lambda: sdc.synthesize(data, columns=names, **given),
        "a formula per variable": lambda: sdc.synthesize(data, columns=names, predictors=written, **given),
    }
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            seconds[name].append(timed(call))
    show({name: statistics.median(found) for name, found in seconds.items()}, "regressions by order")


def masked(rounds: int) -> None:
    """Three masked variables of 2,000 records, 100 rounds: one file, and ten."""
    data = people(2000).select("region", "age", "educ", "income", "rent")
    both = sdc.mask_continuous(data, columns=["income", "rent"], reliability=0.8, suffix="_z", seed=1)
    noise = both.change.secret["noise_sd"]
    both = sdc.mask_categorical(both.data, columns=["educ"], probability=0.8, suffix="_z", seed=2)
    given = {
        "masked": {name: f"{name}_z" for name in ("income", "rent", "educ")},
        "error": {**noise, "educ": 0.8}, "iterations": 100, "seed": 3,
    }  # fmt: skip
    median = {
        f"masked, m = {m}": statistics.median(
            timed(lambda m=m: sdc.impute_masked(both.data, m=m, **given)) for _ in range(rounds)
        )
        for m in (1, 10)
    }
    show(median, "masked, m = 1")


if __name__ == "__main__":
    main()
