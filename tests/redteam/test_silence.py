"""Files that tell people by what nobody had asked about: forms, orders, numbers, and values beside others.

Each file passed the gate; each is tried by an intruder who has it alone, and passes once it is mended as it is said.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from draw import quiet

RNG = np.random.default_rng(8)
SIZE = RNG.choice([1, 2, 3, 4, 5, 6], 800, p=[0.3, 0.33, 0.15, 0.14, 0.06, 0.02])
HOME = np.repeat(np.arange(800), SIZE)[RNG.permutation(SIZE.sum())]
N = len(HOME)
PLAIN = pl.DataFrame({
    "region": RNG.choice(list("NSEW"), 800)[HOME], "sex": RNG.choice(["f", "m"], N), "age": RNG.integers(0, 3, N),
    "ill": RNG.choice(["none", "flu", "asthma"], N, p=[0.6, 0.3, 0.1]),
})  # fmt: skip
INCOME = RNG.lognormal(8, 0.6, N).clip(300, 20_000).round()


def judged(file: Any, **entries: Any) -> dict[str, str]:
    """The reasons of what is not held against the intruder of a public-use file."""
    said = {"keys": ["region", "sex", "age"], "sensitive": ["ill"], "magnitudes": [], "missing": "category"}
    how = {"release": "public-use", "household": "none", "sampling_fraction": 0.01, "insensitive_because": "looked at"}
    if "weight" in entries:
        del how["sampling_fraction"]
    with quiet():
        result = sdc.check(file, scenario=sdc.Scenario(**{**said, **how, **entries}))
    return {verdict.name: verdict.reason for verdict in result.verdicts if verdict.holds is not True}


# Who lives together, though the household column is gone and the rows are mixed.


def put_together(file: pl.DataFrame, names: list[str]) -> float:
    """Of the households of several: those that are exactly the records with some values."""
    groups = file.with_columns(home=pl.Series(HOME)).group_by(names).agg(pl.col("home").n_unique(), n=pl.len())
    whole = int(groups.filter((pl.col("home") == 1) & (pl.col("n") > 1))["n"].len())
    return whole / int((SIZE > 1).sum())


SHARED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a weight": ({"w": RNG.uniform(300, 900, 800).round(1)}, {"w": np.full(800, 400.0)}),
    "what goes by the size": (
        {"hsize": SIZE, "dwell": RNG.integers(0, 9, 800), "tenure": RNG.integers(0, 5, 800),
         "rooms": RNG.integers(1, 9, 800)},
        {"hsize": np.minimum(SIZE, 2)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("how", SHARED)
def test_what_members_share_leaves_the_roles_open(how: str) -> None:
    """96 % of 571 households by a weight, 87 % by size, dwelling, tenure and rooms; the scenario has no household."""
    fine, coarse = (
        PLAIN.with_columns(**{name: pl.Series(values[HOME]) for name, values in columns.items()})
        for columns in SHARED[how]
    )
    assert put_together(fine, ["region", *SHARED[how][0]]) > 0.8
    assert put_together(coarse, ["region", *SHARED[how][1]]) < 0.05
    roles: dict[str, Any] = {"weight": "w"} if how == "a weight" else {}
    reason = judged(fine, **roles, insensitive=[*{*SHARED[how][0]} - {"w"}])["roles"]
    assert "belong together as no others do, like members of a household" in reason
    assert all(f"'{name}'" in reason or "more belong" in reason for name in SHARED[how][0])
    assert judged(coarse, **roles, insensitive=[*{*SHARED[how][1]} - {"w"}]) == {}


# An order that the file does not show.


def test_the_order_of_exact_amounts_leaves_the_roles_open() -> None:
    """Who knows one amount in twenty has 98 % of the others to within 5 %: rounded to thousands 35 % are."""
    by_amount = PLAIN.with_columns(income=pl.Series(INCOME)).sort("income")
    true = by_amount["income"].to_numpy()
    guessed = np.interp(np.arange(N), known := np.arange(0, N, 20), true[known])
    coarse = by_amount.with_columns((pl.col("income") / 1000).round() * 1000)
    assert np.mean(np.abs(guessed / true - 1) <= 0.05) > 0.95
    assert np.mean(np.abs(coarse["income"].to_numpy() / true - 1) <= 0.05) < 0.4
    how = {"sensitive": ["ill", "income"]}
    assert "the rows stand in the order of 'income'" in judged(coarse, **how)["roles"]
    assert "the rows stand in the order of 'income'" in judged(coarse.reverse(), **how)["roles"]
    assert judged(coarse.sample(fraction=1, shuffle=True, seed=1), **how) == {}
    assert judged(coarse.sort("income", "ill"), **how) == {}  # by what it shows


def test_rows_in_the_order_of_places_leave_the_roles_open() -> None:
    """Thirty hospitals one after the other: two of one hospital have one illness in 56 % of the pairs."""
    rng = np.random.default_rng(8)  # whatever test ran before
    hospital, shares = np.sort(rng.integers(0, 30, N)), rng.dirichlet([0.5, 0.5, 0.5], 30)
    ill = [["none", "flu", "asthma"][rng.choice(3, p=shares[own])] for own in hospital]
    file = PLAIN.with_columns(ill=pl.Series(ill))
    assert "rows of one part of the file are alike in 'ill'" in judged(file)["roles"]
    assert judged(file.sample(fraction=1, shuffle=True, seed=1)) == {}


# Forms that tell which records were changed.


def test_times_of_day_and_decimals_of_some_are_not_judged() -> None:
    """The records that were changed are those at midnight, or with all decimals: every one is told."""
    changed = np.arange(N) % 20 == 0
    times = [dt.datetime(2024, 1, 1) + dt.timedelta(seconds=int(own)) for own in RNG.integers(1, 30_000_000, N)]
    cut = [own.replace(hour=0, minute=0, second=0) for own in times]
    mixed = [one if gone else other for one, other, gone in zip(cut, times, changed, strict=True)]
    assert [own.hour == own.minute == own.second == 0 for own in mixed] == changed.tolist()
    at = {"insensitive": ["at"]}
    assert "no time of day" in judged(PLAIN.with_columns(at=pl.Series(mixed)), **at)["beside_records"]
    assert "beside_records" not in judged(PLAIN.with_columns(at=pl.Series(cut)), **at)
    assert "beside_records" not in judged(PLAIN.with_columns(at=pl.Series(times)), **at)
    noisy = np.where(changed, INCOME * RNG.uniform(0.9, 1.1, N), INCOME + 0.25)
    how = {"sensitive": ["ill", "cost"]}
    assert "few decimals" in judged(PLAIN.with_columns(cost=pl.Series(noisy)), **how)["beside_records"]
    assert judged(PLAIN.with_columns(cost=pl.Series(noisy.round(2))), **how) == {}


@pytest.mark.parametrize(("texts", "words"), [
    (["Graz", "graz"], "differ in capitals alone"), (["often", "seldom (n=3)"], "how many records they are"),
])  # fmt: skip
def test_texts_that_tell_records_apart_or_count_them_are_not_judged(texts: list[str], words: str) -> None:
    file = PLAIN.with_columns(note=pl.Series(RNG.choice(texts, N)))
    assert words in judged(file, insensitive=["note"])["beside_records"]
    assert judged(file.with_columns(note=pl.lit(texts[0])), insensitive=["note"]) == {}


# Columns of the file that tell amounts which were taken out or rounded.


DERIVED = {
    "a rounded logarithm": np.log(INCOME).round(2), "a standard score": ((INCOME - INCOME.mean()) / 2_000).round(3),
    "a percentile": (100 * np.argsort(np.argsort(INCOME)) / N).round(1), "a running total": INCOME.cumsum(),
    "an index": (100 * INCOME / INCOME.mean()).round(1),
}  # fmt: skip


@pytest.mark.parametrize("how", DERIVED)
def test_a_function_of_amounts_that_were_taken_out_leaves_the_roles_open(how: str) -> None:
    """All or nearly all amounts came back to within a tenth."""
    gone = RNG.random(N) < 0.05
    file = PLAIN.with_columns(income=pl.when(pl.Series(gone)).then(None).otherwise(pl.Series(INCOME)))
    told = file.with_columns(v=pl.Series(DERIVED[how]))
    roles = {"sensitive": ["ill", "income"], "insensitive": ["v"]}
    for taken_out in (None, math.nan):
        as_written = told.with_columns(pl.col("income").fill_null(pl.lit(taken_out, pl.Float64)))
        assert "made coarser are told by 'v', exactly" in judged(as_written, **roles)["roles"]
    other = file.with_columns(v=pl.Series(RNG.permutation(DERIVED[how])))
    assert "roles" not in judged(other, **roles)
    rounded = told.with_columns(income=pl.Series((INCOME / 1000).round() * 1000))
    assert "are told by 'v', exactly" in judged(rounded, **roles).get("roles", "") or how == "a running total"


# Numbers that anybody can repeat.


def test_a_hash_without_a_key_leaves_the_roles_open() -> None:
    """Every number came back from its digest."""
    digests = [hashlib.sha256(str(number).encode()).hexdigest() for number in range(N)]
    back = {hashlib.sha256(str(number).encode()).hexdigest(): number for number in range(10_000)}
    assert [back[text] for text in digests] == [*range(N)]
    file = PLAIN.with_columns(pid=pl.Series(digests)).sample(fraction=1, shuffle=True, seed=1)
    assert "hidden by what anybody can repeat" in judged(file, person="pid")["roles"]
    assert "hidden by what anybody can repeat" in judged(file, household="pid")["roles"]
    new = sdc.new_ids(file, column="pid").data
    assert "roles" not in judged(new, person="pid")
