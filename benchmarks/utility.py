"""What a release is good for, against the libraries that could answer the same.

    python benchmarks/utility.py [--parts propensity] [--records 1e6] [--repeats 3]

propensity: pMSE of a logistic model with main effects, from two data frames of twelve categories and eight numbers to
all its figures, against scikit-learn's LogisticRegression without penalty: its fit alone, on the matrix that it is
given ready (numbers standardised, a column of 0 and 1 for each level but one). Both run in turn in one process on the
same records; the ratio is of medians, and scikit-learn's pMSE is printed beside ours. `--records` counts those of
both files together.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

import sdckit as sdc
from census import KEYS_ALL, census

NUMBERS = 8


def files(n: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Two files of n records: a release made by drawing a tenth of the categories anew and adding noise."""
    rng = np.random.default_rng([5, n])
    original = census(n, missing=0).select(KEYS_ALL).with_columns(age=pl.col("age") // 5)
    original = original.with_columns(
        urban=(pl.col("region") % 3).cast(pl.Int8), student=((pl.col("labour") + pl.col("educ")) % 2).cast(pl.Int8)
    )
    wealth = rng.normal(0, 1, n) + original["educ"].to_numpy() * 0.15
    amounts = {f"x{j}": wealth * j / NUMBERS + rng.normal(0, 1, n) for j in range(NUMBERS)}
    original = original.with_columns(pl.all().cast(pl.String)).with_columns(**amounts)
    made = {}
    for name in original.columns:
        values = original[name].to_numpy()
        if name in amounts:
            made[name] = values + rng.normal(0.01, 0.2, n)
        else:
            made[name] = np.where(rng.random(n) < 0.1, rng.permutation(values), values)
    return original, pl.DataFrame(made)


def in_turn(first: Callable[[], Any], second: Callable[[], Any], repeats: int) -> tuple[float, float]:
    """Median seconds of two calls that alternate, after one warm-up each."""
    first(), second()
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for call, found in zip((first, second), seconds, strict=True):
            start = time.perf_counter()
            call()
            found.append(time.perf_counter() - start)
    return statistics.median(seconds[0]), statistics.median(seconds[1])


def matrix(original: pl.DataFrame, released: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """What scikit-learn is given, and membership."""
    both = pl.concat([original, released])
    columns = []
    for name in both.columns:
        if both[name].dtype == pl.String:
            codes = both[name].cast(pl.Categorical).to_physical().to_numpy()
            columns += [codes == level for level in range(1, int(codes.max()) + 1)]
        else:
            values = both[name].to_numpy()
            columns.append((values - values.mean()) / values.std())
    return np.array(columns, np.float64).T.copy(), np.arange(len(both)) >= len(original)


def propensity(options: argparse.Namespace) -> None:
    """A logistic model of main effects."""
    from sklearn.linear_model import LogisticRegression

    original, released = files(options.records // 2)
    found = sdc.propensity(original, released)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    x, member = matrix(original, released)
    score = LogisticRegression(C=np.inf, max_iter=1000).fit(x, member).predict_proba(x)[:, 1]
    ours, theirs = in_turn(
        lambda: sdc.propensity(original, released).to_dict(),
        lambda: LogisticRegression(C=np.inf, max_iter=1000).fit(x, member),
        options.repeats,
    )
    print(f"propensity: {len(member):,} records, {original.width} variables, {found.n_parameters:.0f} parameters")
    print(f"sdckit        {ours:8.2f} s   pMSE {found.pmse:.9f}   all figures; highest memory {memory:.1f} GB")
    print(f"scikit-learn  {theirs:8.2f} s   pMSE {np.mean((score - 0.5) ** 2):.9f}   the fit alone")
    print(f"ratio         {ours / theirs:8.2f}")


PARTS = {"propensity": propensity}


def main() -> None:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--records", type=lambda text: int(float(text)), default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    for part in options.parts.split(","):
        PARTS[part](options)


if __name__ == "__main__":
    main()
