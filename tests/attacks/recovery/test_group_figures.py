"""Figures of households, classes and places: what they tell of a member, and where they must not."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from attacks.recovery.made import blanked
from sdckit.attacks.recovery.derived_columns import Household
from sdckit.attacks.recovery.group_figures import _Rates


def classes(n: int = 120, seed: int = 4) -> pl.DataFrame:
    """Classes of 8 to 16 pupils with the number of boys, their percentage, the mean and the total of the scores."""
    rng = np.random.default_rng(seed)
    of_class = np.repeat(np.arange(n) + 100, rng.integers(8, 17, n))
    pupils = pl.DataFrame(
        {
            "class": of_class,
            "sex": rng.choice(["boy", "girl"], len(of_class)),
            "tongue": rng.choice(["German", "Turkish", "other"], len(of_class), p=[0.5, 0.3, 0.2]),
            "score": rng.integers(200, 800, len(of_class)),
        }
    )
    boys = pl.col("sex") == "boy"
    return pupils.with_columns(
        boys=boys.sum().over("class"),
        percent=(100 * boys.mean()).round(1).over("class"),
        turkish=(pl.col("tongue") == "Turkish").sum().over("class"),
        mean=pl.col("score").mean().round(2).over("class"),
        total=pl.col("score").sum().over("class"),
    )


def recovered(whole: pl.DataFrame, column: str, *figures: str, household: str | None = None):
    """What is given back of a column with 3 % of its values taken out, beside these figures."""
    kept = whole.select("class", column, *figures)
    release = blanked(kept, [column])
    result = sdc.recoverable_values(release, kept, household=household, columns=[column], guess=False)
    return release, result.columns[0][0], result.advice


@pytest.mark.parametrize("household", [None, "class"])
@pytest.mark.parametrize(("column", "figure", "how"), [
    ("sex", "boys", "number of one"), ("sex", "percent", "percentage of one"), ("score", "mean", "mean of"),
    ("score", "total", "total of"),
])  # fmt: skip
def test_one_missing_value_is_what_the_others_leave_of_a_figure(column, figure, how, household) -> None:
    release, told, advice = recovered(classes(), column, figure, household=household)
    alone = release.filter(pl.col(column).null_count().over("class") == 1)[column].null_count()
    assert alone > 20
    assert alone <= told.right == told.restored
    if household is None:
        assert told.alone_by == f"{figure} is the {how} {column} within class"
        assert f"coarsen or leave out one of {figure} and class" in advice[0]


def test_of_three_kinds_only_those_that_are_counted_are_told() -> None:
    whole = classes()
    release, told, _ = recovered(whole, "tongue", "turkish")
    gone = release["tongue"].is_null()
    turkish = whole.filter(gone & (pl.col("tongue") == "Turkish")).height
    assert 0 < told.right == told.restored <= turkish


@pytest.mark.parametrize(("end", "how"), [("oldest", "greatest"), ("youngest", "least")])
def test_whoever_has_the_greatest_or_least_number_of_a_household_is_told(end: str, how: str) -> None:
    rng = np.random.default_rng(5)
    home = pl.DataFrame({"home": rng.integers(0, 900, 3000), "age": rng.integers(0, 95, 3000)})
    age = pl.col("age")
    whole = home.with_columns((age.max() if end == "oldest" else age.min()).over("home").alias(end))
    release = blanked(whole, ["age"])
    told = sdc.recoverable_values(release, whole, household="home", columns=["age"], guess=False).columns[0][0]
    assert told.right == told.restored > 10
    assert f"{end} is the {how} age within home" in told.alone_by


@pytest.mark.parametrize(("column", "figure"), [("score", "total"), ("score", "mean"), ("score", "most")])
def test_a_member_of_whom_a_range_alone_is_known_leaves_the_others_open(column: str, figure: str) -> None:
    """One member of every tenth class is shown as 200 and more, in the original, too: nobody knows what is left."""
    whole = classes().with_columns(most=pl.col("score").max().over("class")).select("class", column, figure)
    first = pl.int_range(pl.len()).over("class") == 1
    label = pl.when(first & (pl.col("class") % 10 == 0)).then(pl.lit("200+")).otherwise(pl.col(column).cast(pl.String))
    second = (pl.int_range(pl.len()).over("class") == 2) & (pl.col("class") % 2 == 0)
    shown = whole.with_columns(label.alias(column))
    release = shown.with_columns(pl.when(second).then(None).otherwise(pl.col(column)).alias(column))
    told = sdc.recoverable_values(release, shown, columns=[column], guess=False).columns[0][0]
    assert told.touched == 60
    assert 0 < told.right == told.restored <= 48


def test_a_rate_or_an_amount_of_a_group_tells_numbers() -> None:
    rng = np.random.default_rng(6)
    tax, village = rng.integers(0, 6, 3000), rng.integers(0, 80, 3000)
    gross = rng.integers(1000, 6000, 3000)
    whole = pl.DataFrame(
        {
            "tax": tax,
            "village": village,
            "gross": gross,
            "net": np.round(gross * np.array([0.61, 0.7, 0.734, 0.8, 0.55, 0.5])[tax]).astype(int),
            "beyond": gross - rng.integers(900, 4000, 80)[village],
        }
    )
    for column, beside, words in (("net", ["tax", "gross"], "gross times a rate of tax"),
                                  ("gross", ["village", "beyond"], "beyond beside an amount of village")):  # fmt: skip
        kept = whole.select(column, *beside)
        told = sdc.recoverable_values(blanked(kept, [column]), kept, columns=[column], guess=False).columns[0][0]
        assert told.right > 0.85 * told.touched
        assert words in told.alone_by
    unlike = whole.with_columns(net=pl.Series(rng.integers(500, 4000, 3000))).drop("beyond")
    assert sdc.recoverable_values(blanked(unlike, ["net"]), unlike, guess=False).restored == 0


@pytest.mark.parametrize("ratio", [True, False])
def test_rates_are_those_that_hit_all_of_a_group_or_its_mean(ratio: bool) -> None:
    rng = np.random.default_rng(9)
    n = 400
    of_row = rng.integers(-1, 9, n).astype(np.int32)
    x = np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 50, n) * 1.0)
    y = np.round(x * (of_row + 2) / 3) if ratio else x + 7.0 * of_row
    y = np.where(rng.random(n) < 0.1, np.nan, np.where(of_row % 4 == 1, rng.integers(0, 90, n), y))
    rates = _Rates.of(y, x, Household("home", of_row, np.bincount(of_row[of_row >= 0])), 0.5, ratio=ratio)
    judged = told = hits = 0
    for home in range(9):
        known = [pair for pair in zip(y[of_row == home], x[of_row == home], strict=True) if not np.isnan(pair).any()]
        few = [(a, b) for a, b in known if b > 0 or not ratio]
        ends = [((a - 0.5) / b, (a + 0.5) / b) if ratio else (a - 0.5 - b, a + 0.5 - b) for a, b in few]
        low, high = max(end[0] for end in ends), min(end[1] for end in ends)
        own, other = sum(a for a, _ in few), sum(b for _, b in few)
        rate = (low + high) / 2 if low <= high else own / other if ratio else (own - other) / len(few)
        assert rates.of_group[home] == pytest.approx(rate)
        judged, told = judged + len(few), told + len(known)
        hits += sum(abs((b * rate if ratio else b + rate) - a) <= 0.5 for a, b in known)
    assert (rates.judged, rates.told, rates.hits) == (judged, told, hits)
    at_most = _Rates.of(
        y, x, Household("home", of_row, np.bincount(of_row[of_row >= 0])), 0.5, ratio=ratio, most_wrong=3
    )
    assert at_most.told - at_most.hits == 4


def test_figures_of_something_else_tell_nobody() -> None:
    rng = np.random.default_rng(7)
    other = pl.DataFrame({"class": np.arange(120) + 100, "boys": rng.integers(2, 9, 120)})
    whole = classes().drop("boys").join(other, on="class", how="left", maintain_order="left")
    rare = whole.with_columns(sex=pl.Series(np.where(rng.random(whole.height) < 0.01, "boy", "girl")))
    sizes = rare.with_columns(boys=pl.len().over("class"))  # nearly the number of girls, and it tells of no boy
    for file in (whole, rare, sizes):
        assert recovered(file, "sex", "boys")[1].restored == 0
    assert recovered(whole, "score", "boys")[1].restored == 0


def test_a_release_that_gives_back_by_a_class_passes_no_gate() -> None:
    whole = classes().select("class", "sex", "boys")
    scenario = sdc.Scenario(keys=["sex"], thresholds={"recoverable": 0.0}, aligned=True)
    assert not sdc.check(whole, blanked(whole, ["sex"]), scenario=scenario).passed
    assert sdc.check(whole.drop("boys"), blanked(whole, ["sex"]).drop("boys"), scenario=scenario).passed
