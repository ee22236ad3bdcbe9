"""Log-linear models that use weights or take keys as numbers."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from draw import quiet
from sdckit import population_risk
from sdckit.errors import ColumnError, DataError
from sdckit.identity.population import log_linear

KEYS = ["area", "age", "job"]


def survey(n: int = 600, seed: int = 7) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "area": rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]),
            "age": rng.integers(20, 30, n),
            "job": np.minimum(rng.geometric(0.3, n), 9),
            "w": rng.choice([4.0, 10.0], n),
        }
    )


def estimates(frame: pl.DataFrame, **given: object) -> pl.DataFrame:
    with quiet():
        return population_risk(frame, keys=KEYS, weight="w", **given).cell_estimates.sort(KEYS)  # type: ignore[arg-type]


def test_equal_weights_change_nothing_but_the_offset_and_the_predictor() -> None:
    frame = survey().with_columns(w=pl.lit(8.0))
    plain, by_weight = (estimates(frame, method=method) for method in ("counts", "pml"))
    for name in ("expected_records", "expected_population", "cell_fraction"):
        assert by_weight[name].to_list() == pytest.approx(plain[name].to_list(), rel=1e-9)
    assert by_weight["expected_match"].drop_nans().to_list() == pytest.approx(
        plain["expected_match"].drop_nans().to_list(), rel=1e-9
    )


@pytest.mark.parametrize("formula", [None, "area:job"])
def test_scoring_and_proportional_fitting_agree(formula: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without weights in it, the offset fit is that of the counts: two ways to one maximum."""
    frame = survey()
    plain = estimates(frame, method="counts", formula=formula)
    monkeypatch.setattr(log_linear, "ADDED", 1e9)  # drowns the weights: the offset is a constant
    offset = estimates(frame, method="ce", formula=formula)
    assert offset["expected_records"].to_list() == pytest.approx(plain["expected_records"].to_list(), rel=1e-6)


def test_margins_of_the_weights_are_fitted_by_pseudo_maximum_likelihood() -> None:
    frame = survey()
    with quiet():
        result = population_risk(frame, keys=KEYS[:2], weight="w", method="pml", interactions=2)
    cells = result.cell_estimates.sort(KEYS[:2])
    sums = frame.group_by(KEYS[:2]).agg(pl.col("w").sum()).sort(KEYS[:2])["w"]
    assert cells["expected_population"].to_list() == pytest.approx(sums.to_list(), rel=1e-9)
    assert cells["records"].sum() == len(frame)


def test_a_linear_key_has_one_parameter() -> None:
    """The equations of maximum likelihood: records and the sum of ages are as in the file."""
    frame = survey()
    grid = frame.select("area").unique().join(frame.select("age").unique(), how="cross")
    with quiet():
        result = population_risk(frame, keys=["area", "age"], weight="w", linear=["age"])
    cells = result.cell_estimates
    assert len(cells) == len(grid)
    assert cells["expected_records"].sum() == pytest.approx(len(frame))
    assert (cells["expected_records"] * cells["age"]).sum() == pytest.approx(frame["age"].sum())
    slope = cells.filter(pl.col("area") == "a").sort("age")["expected_records"].log().diff().drop_nulls()
    assert slope.to_list() == pytest.approx([slope[0]] * len(slope))


def test_means_over_rare_cells() -> None:
    with quiet():
        whole, rare = (population_risk(survey(), keys=KEYS, weight="w", method="ce", bound=b) for b in (None, 1))
    assert whole.n_cells == len(whole.cell_estimates)
    assert rare.n_cells == rare.sample_uniques
    assert rare.tau1_per_cell == pytest.approx(rare.tau1_per_unique)
    assert whole.tau2_per_cell == pytest.approx(whole.tau2 / whole.n_cells)


def test_a_model_that_uses_weights_is_not_judged() -> None:
    with quiet():
        result = population_risk(survey(), keys=KEYS, weight="w", method="weighted")
    assert math.isnan(result.z2)
    assert (result.fit, result.recommended) == ("not judged", False)
    assert "one sampling fraction" in result.notes["z1"]
    assert "not judged" in result.notes["interval"]
    assert result.interval == {}
    assert 0 <= result.tau1 <= result.tau2 <= result.sample_uniques


def test_weights_follow_a_population_drawn_with_unequal_chances() -> None:
    """Three strata of a key are drawn five times less often than the others: the counts alone do not show it."""
    rng = np.random.default_rng(3)
    n = 30_000
    columns = {}
    for name, levels in zip("abcd", (15, 10, 12, 9), strict=True):
        share = 1 / np.arange(1, levels + 1)
        columns[name] = rng.choice(levels, n, p=share / share.sum())
    chance = np.where(columns["a"] < 3, 0.05, 0.25)
    population = pl.DataFrame({**columns, "w": 1 / chance}).with_columns(F=pl.len().over(list("abcd")))
    sample = population.filter(pl.Series(rng.random(n) < chance))
    alone = sample.filter(pl.len().over(list("abcd")) == 1)
    true = (1 / alone["F"]).sum()
    with quiet():
        by = {m: population_risk(sample, keys=list("abcd"), weight="w", method=m).tau2 for m in ("counts", "pml")}
    assert by["pml"] == pytest.approx(true, rel=0.04)
    assert abs(by["counts"] / true - 1) > 2 * abs(by["pml"] / true - 1)


def test_what_cannot_be_fitted_is_refused() -> None:
    frame = survey()
    wrong = (
        ({"method": "pml", "sampling_fraction": 0.1}, "weight="),
        ({"method": "ce", "weight": "w", "select": True}, "categor"),
        ({"weight": "w", "linear": ["age"], "interval": "bootstrap"}, "categor"),
        ({"weight": "w", "linear": ["area"]}, "no numbers"),
        ({"method": "best", "weight": "w"}, "method"),
        ({"weight": "w", "bound": 0}, "bound"),
    )
    for given, words in wrong:
        with pytest.raises(DataError, match=words):
            population_risk(frame, keys=KEYS, **given)  # type: ignore[arg-type]
    with quiet(), pytest.raises(DataError, match="collect it first"):
        _ = population_risk(frame.lazy(), keys=KEYS, weight="w").cell_estimates
    with pytest.raises(ColumnError, match="no key"):
        population_risk(frame, keys=KEYS, weight="w", linear=["w"])


def test_a_design_that_is_too_large_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_linear, "MAX_ENTRIES", 10)
    with pytest.raises(DataError, match="recode or leave out keys"):
        population_risk(survey(), keys=KEYS, weight="w", method="pml")
