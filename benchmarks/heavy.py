"""Calls that fit many models or search much: processor seconds, beside another copy of the source where one is given.

    python benchmarks/heavy.py [--cases cart,logit] [--records 1e4] [--repeats 1] [--before PATH_TO_src]

Each run is a process of its own that warms up on a few records (what is compiled is kept), then makes the call once:
user and system time of all its threads. `--before` runs the two copies in turn and compares their figures before times:
those that do not go by random numbers must agree to eight digits.

    git worktree add /tmp/before v0.2.0 && python benchmarks/heavy.py --before /tmp/before/src
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import sdckit as sdc
from census import KEYS_ALL, census
from record import add_option, record

NUMBERS = ["income", "expend", "savings", "hours"]
PAIRS = ["sex", "age", "marital", "educ", "labour", "cob", "hhsize", "tenure", "income", "region"]
FIVE = ["region", "sex", "age", "marital", "educ"]
SIX = ["region", "sex", "age", "educ", "income", "expend"]
SEVEN = [*FIVE, "labour", "occ"]
DRAWN = {"expected_pmse", "ratio", "standardised"}  # by permutations; ties between cuts were broken at random
CASES: dict[str, tuple[str, int, Callable[[Any, Any], Any]]] = {
    "cart": (
        'propensity(model="cart"), 10 categories, 4 numbers, 50 permutations',
        10_000,
        lambda a, b: sdc.propensity(
            a, b, variables=[*KEYS_ALL, *NUMBERS], numeric=["age", *NUMBERS], model="cart", seed=1
        ),
    ),
    "logit": (
        "propensity(interactions=2), 10 variables, 2,655 coefficients at 10 k",
        10_000,
        lambda a, b: sdc.propensity(
            a.select(PAIRS), b.select(PAIRS), interactions=2, numeric=["age", "income"]
        ),
    ),
    "robust": (
        "robust_interval_risk, 4 numbers",
        10_000,
        lambda a, b: sdc.robust_interval_risk(a, b, numeric=NUMBERS, seed=1),
    ),
    "loss": (
        "information_loss, 4 numbers",
        10_000,
        lambda a, b: sdc.information_loss(a, b, numeric=NUMBERS, seed=1),
    ),
    "disclosure": (
        "attribute_disclosure_table, 7 keys, 8 targets, among them a pay that is 0 without work",
        1_000_000,
        lambda a, b: sdc.attribute_disclosure_table(a, b, keys=SEVEN),
    ),
    "prediction": (
        "prediction_risk of a number, 5 keys",
        1_000_000,
        lambda a, b: sdc.prediction_risk(a, b, keys=FIVE, target="income"),
    ),
    "prediction-numbers": (
        "prediction_risk of a number, 5 keys, 3 of them numbers",
        1_000_000,
        lambda a, b: sdc.prediction_risk(
            a, b, keys=["sex", "age", "educ", "expend", "hours"], target="income",
            numeric=["age", "expend", "hours", "income"],
        ),
    ),
    "prediction-categories": (
        "prediction_risk of a category, 7 keys",
        1_000_000,
        lambda a, b: sdc.prediction_risk(a, b, keys=SEVEN, target="tenure", numeric=["age"]),
    ),
    "copies": (
        "copied_records, 4 categories, 2 numbers",
        1_000_000,
        lambda a, b: sdc.copied_records(wide(a).select(SIX), wide(b).select(SIX)),
    ),
    "copies-wide": (
        "copied_records, 10 categories, 10 numbers",
        1_000_000,
        lambda a, b: sdc.copied_records(wide(a), wide(b)),
    ),
}  # fmt: skip


def files(n: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """An original of ten categories, four numbers and a pay that is 0 for those without work, and a release.

    A tenth of the categories are dealt anew, the numbers have noise.
    """
    rng = np.random.default_rng([9, n])
    people = census(n)
    keys = people.select(KEYS_ALL)
    wealth = rng.normal(0, 1, n) + keys["educ"].fill_null(0).to_numpy() * 0.15
    saved = np.round(np.exp(7 + 1.2 * wealth + rng.normal(0, 1, n)), 2)
    amounts = {
        "income": np.round(np.exp(9.9 + wealth), 2),
        "expend": np.round(np.exp(8.9 + 0.6 * wealth + rng.normal(0, 0.5, n)), 2),
        "savings": np.where(rng.random(n) < 0.35, 0, saved),
        "hours": np.clip(np.round(rng.normal(38, 9, n)), 1, 90),
    }
    original = keys.with_columns(**amounts)
    made = {}
    for name in original.columns:
        values = original[name]
        if name in amounts:
            made[name] = values * np.exp(rng.normal(0, 0.1, n))
        else:
            moved = pl.Series(rng.random(n) < 0.1)
            dealt = values.gather(rng.permutation(n))
            made[name] = pl.select(pl.when(moved).then(dealt).otherwise(values)).to_series()
    pay = pl.when(pl.col("labour") < 2).then(pl.col("income")).otherwise(0.0)
    files = original.with_columns(pay=pay), pl.DataFrame(made).with_columns(pay=pay)
    return files[0], files[1]


def wide(file: pl.DataFrame) -> pl.DataFrame:
    """The same with numbers as they are printed, and each in hundreds, too."""
    hundreds = (pl.col(*NUMBERS, "pay") / 100).round().name.suffix(" in hundreds")
    return file.with_columns(hundreds).with_columns(pl.col(*NUMBERS, "pay").round(2))


def used() -> float:
    """Processor seconds of this process so far."""
    found = resource.getrusage(resource.RUSAGE_SELF)
    return found.ru_utime + found.ru_stime


def one(case: str, n: int) -> None:
    """Make one call and print its processor seconds and figures."""
    call = CASES[case][2]
    call(*files(1000))
    given = files(n)
    before = used()
    result = call(*given)
    print(json.dumps([used() - before, result.to_dict()], default=str))


def measured(case: str, n: int, source: str | None) -> tuple[float, dict[str, Any]]:
    """The same in a process of its own, with another copy of the source where one is named."""
    place = dict(os.environ)
    if source:
        place |= {"PYTHONPATH": source, "NUMBA_CACHE_DIR": str(Path(source).parent / ".cache" / "numba")}
    command = [sys.executable, __file__, "--only", case, "--records", str(n)]
    said = subprocess.run(command, check=True, capture_output=True, text=True, env=place).stdout
    seconds, figures = json.loads(said)
    return seconds, figures


def compare(case: str, new: Any, old: Any, where: str = "") -> None:
    """Stop where two runs do not give the same figures."""
    if isinstance(new, dict):
        for name in new.keys() & old.keys() if isinstance(old, dict) else ():
            if not (case == "cart" and name in DRAWN):
                compare(case, new[name], old[name], f"{where}.{name}")
    elif isinstance(new, float) and isinstance(old, int | float):
        same = math.isclose(new, old, rel_tol=1e-8, abs_tol=1e-12) or (math.isnan(new) and math.isnan(old))
        if not same:
            raise SystemExit(f"{case}{where}: {new!r} now, {old!r} before")


def main() -> None:
    """Print a row per case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--records", type=lambda text: int(float(text)), help="the case's own unless given")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--before", metavar="PATH", help="folder with another copy of the package")
    parser.add_argument("--only", choices=CASES, help=argparse.SUPPRESS)
    add_option(parser)
    options = parser.parse_args()
    warnings.simplefilter("ignore", sdc.SdcWarning)
    if options.only:
        one(options.only, options.records)
        return
    rows = []
    for case in options.cases.split(","):
        words, n, _ = CASES[case]
        n = options.records or n
        now, before = [], []
        for _ in range(options.repeats):
            seconds, figures = measured(case, n, None)
            now.append(seconds)
            if options.before:
                seconds, old = measured(case, n, options.before)
                before.append(seconds)
                compare(case, figures, old)
        seconds = statistics.median(now)
        row = [f"{words}, {n:,} records", f"{seconds:.2f} s", "", ""]
        if before:
            old_seconds = statistics.median(before)
            row[2:] = f"{old_seconds:.1f} s", f"{old_seconds / seconds:.1f} × faster"
        print(*row, sep="   ", flush=True)
        rows.append(row)
    if options.record:
        record("heavy", options.record, rows)


if __name__ == "__main__":
    main()
