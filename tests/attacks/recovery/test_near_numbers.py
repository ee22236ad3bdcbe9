"""Large numbers that another released column tells to within 10 %, and those that none does."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sdckit as sdc

pytestmark = pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")
N = 1_500
RNG = np.random.default_rng(2)
INCOME = np.round(np.exp(RNG.normal(10, 1.1, N)))
CLASSES = [-np.inf, 10_000, 50_000, np.inf]


def verdict(other: np.ndarray, steps: list[dict], **of_scenario: object) -> sdc.Verdict | None:
    """What is said of the large numbers of a release beside whose incomes another column goes out."""
    raw = pl.DataFrame({"region": np.arange(N) % 5, "income": INCOME, "other": other})
    scenario = sdc.Scenario(
        keys=["region"], sampling_fraction=0.01, magnitudes=["income"], thresholds={"exact_numbers": 0.0}, **of_scenario
    )
    applied = sdc.Recipe([*steps, {"method": "random_order"}]).apply(raw, scenario=scenario)
    verdicts = sdc.check(raw, applied.data, scenario=scenario, log=applied.log).verdicts
    assert next(one for one in verdicts if one.name == "exact_numbers").holds
    return next((one for one in verdicts if one.name == "exact_numbers_undone"), None)


CUT = {"method": "top_bottom_code", "column": "income", "top": 50_000}
CLASSED = {"method": "recode", "column": "income", "bands": CLASSES}


@pytest.mark.parametrize("step", [CUT, CLASSED], ids=["cut", "classes"])
@pytest.mark.parametrize(
    "other",
    [
        pytest.param(np.round(INCOME / 1000), id="thousands"),
        pytest.param(np.round(INCOME * 0.23, -2), id="a tax, rounded"),
        pytest.param(np.round(INCOME * (1 + RNG.normal(0, 0.03, N))), id="noise"),
        pytest.param(np.round(np.log(INCOME), 1), id="a logarithm, rounded"),
        pytest.param(np.round(np.sqrt(INCOME)), id="a root, rounded"),
        pytest.param(np.round(-INCOME, -3), id="what is owed"),
        pytest.param([f"{0.97 * value:.0f}-{1.03 * value:.0f}" for value in INCOME], id="narrow bands"),
    ],
)
def test_a_column_that_tells_large_numbers_nearly_closes_the_gate(other: np.ndarray, step: dict) -> None:
    found = verdict(other, [step])
    assert found is not None
    assert found.holds is False
    assert "other, to within 10 %" in found.sentence


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(np.round(INCOME * np.exp(RNG.normal(0, 0.3, N))), id="related"),
        pytest.param(RNG.permutation(INCOME), id="unrelated"),
        pytest.param(np.ones(N), id="constant"),
    ],
)
def test_a_column_that_does_not_tell_them_says_nothing(other: np.ndarray) -> None:
    assert verdict(other, [CUT]) is None


PROFIT = np.round(INCOME * np.where(np.arange(N) % 3 == 0, -1, 1))  # a third are losses
CAPPED = [{"method": "top_bottom_code", "column": "income", "top": 50_000, "bottom": -50_000}]


def beside(income: np.ndarray, released: np.ndarray, other: np.ndarray) -> bool | None:
    """Whether the limit on large numbers holds for a release of incomes, values of which were taken out or cut."""
    raw = pl.DataFrame({"region": np.arange(len(income)) % 5, "income": income, "other": other})
    scenario = sdc.Scenario(keys=["region"], magnitudes=["income"], thresholds={"exact_numbers": 0.0}, aligned=True)
    release = raw.with_columns(income=pl.Series(released).fill_nan(None))
    verdicts = {verdict.name: verdict.holds for verdict in sdc.check(raw, release, scenario=scenario).verdicts}
    assert verdicts["exact_numbers"]
    return verdicts.get("exact_numbers_undone")


def test_profits_and_losses_are_told_with_their_sign_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = np.where(np.abs(PROFIT) > 5_000, np.nan, PROFIT)
    assert beside(PROFIT, gone, np.round(np.abs(PROFIT), -3)) is None  # which of them are losses, nobody knows
    assert beside(PROFIT, gone, np.round(PROFIT, -3)) is False
    monkeypatch.setitem(globals(), "INCOME", PROFIT)
    for other in (np.round(PROFIT, -3), np.round(-PROFIT / 7 + 900, -1), np.round(np.cbrt(PROFIT), 1)):
        gate = verdict(other, CAPPED)
        assert gate is not None
        assert gate.holds is False


@pytest.mark.parametrize("step", [CAPPED[0], {**CLASSED, "bands": [-np.inf, 9_000, np.inf]}], ids=["cut", "classes"])
def test_the_sign_that_a_cut_number_keeps_completes_a_size(step: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    """-50,000 says a loss; how large another column says."""
    monkeypatch.setitem(globals(), "INCOME", PROFIT)
    gate = verdict(np.round(np.abs(PROFIT), -3), [step])
    assert gate is not None
    assert gate.holds is False


@pytest.mark.parametrize("aligned", [True, False])
def test_rows_that_do_not_belong_together_are_not_judged(aligned: bool) -> None:
    raw = pl.DataFrame({"region": np.arange(N) % 5, "income": INCOME, "other": RNG.permutation(INCOME)})
    scenario = sdc.Scenario(keys=["region"], magnitudes=["income"], thresholds={"exact_numbers": 0.0}, aligned=aligned)
    result = sdc.check(raw, raw.with_columns(income=pl.lit(None, pl.Float64)), scenario=scenario)
    assert result.passed is aligned
    if not aligned:
        assert result.verdicts[-1].name == "exact_numbers_undone"
        assert "nobody looked whether another column gives large numbers" in result.verdicts[-1].sentence


@pytest.mark.parametrize(("n", "holds"), [(31, None), (40, False)])
def test_files_of_few_numbers_are_looked_at(n: int, holds: bool | None) -> None:
    income = INCOME[:n]
    assert beside(income, np.full(n, np.nan), np.round(income * (1 + RNG.normal(0, 0.02, n)))) is holds
    assert beside(income, np.full(n, np.nan), RNG.permutation(income)) is None


def test_what_is_as_coarse_as_the_number_itself_says_nothing() -> None:
    other = {"method": "top_bottom_code", "column": "other", "top": 50}
    assert verdict(np.round(INCOME / 1000), [CUT, other]) is None


def test_a_range_without_end_warns_of_nothing_where_the_number_is_0() -> None:
    profit = np.where(np.arange(N) % 7 == 0, 0.0, np.random.default_rng(5).normal(0, 900, N).round())
    sizes, _ = sdc.recode(pl.DataFrame({"size": np.abs(profit)}), column="size", bands=[-np.inf, 200, 500, np.inf])
    assert beside(profit, np.clip(profit, -300, 300), sizes["size"].to_numpy()) is None


OWN = np.random.default_rng(4)
STAFF = OWN.integers(1, 60, N).astype(float)
LAST_YEAR = INCOME * np.exp(OWN.normal(0, 0.3, N))
EXPORTS = np.where(OWN.random(N) < 0.5, np.round(INCOME * OWN.beta(2, 3, N)), 0.0)


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        pytest.param(STAFF, np.round(INCOME / STAFF, -2), True, id="staff, and income for each"),
        pytest.param(LAST_YEAR, np.round(100 * (INCOME / LAST_YEAR - 1)), True, id="last year's, and the change"),
        pytest.param(EXPORTS, np.round(100 * EXPORTS / INCOME, 1), True, id="exports of half of them, and their share"),
        pytest.param(LAST_YEAR, STAFF, False, id="related, and unrelated"),
        pytest.param(STAFF, np.round(np.minimum(INCOME, 50_000) / STAFF, -2), False, id="for each, of what goes out"),
    ],
)
def test_two_columns_tell_large_numbers_together(first: np.ndarray, second: np.ndarray, told: bool) -> None:
    """A turnover cut off stood in the release as staff and turnover per head, and the limit on large numbers held."""
    raw = pl.DataFrame({"region": np.arange(N) % 5, "income": INCOME, "first": first, "second": second})
    scenario = sdc.Scenario(keys=["region"], magnitudes=["income"], thresholds={"exact_numbers": 0.0}, aligned=True)
    release = raw.with_columns(pl.col("income").clip(None, 50_000))
    verdicts = {verdict.name: verdict for verdict in sdc.check(raw, release, scenario=scenario).verdicts}
    assert verdicts["exact_numbers"].holds
    undone = verdicts.get("exact_numbers_undone")
    assert (undone is not None and undone.holds is False) is told
    assert undone is None or "first with second, to within 10 %" in undone.sentence
