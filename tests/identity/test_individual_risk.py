"""The figures and records of A3; that they are right is shown in laws/ and golden/."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from sdckit import Scenario, as_cells, individual_risk
from sdckit.errors import DataError, SdcWarning
from sdckit.identity.individual_risk import household_risk, log_survival

FRAME = pl.DataFrame(
    {"sex": ["f", "f", "m", "m"], "age": [1, 1, 2, 1], "w": [180.0, 180.0, 215.0, 76.0], "hh": [1, 2, 2, 3]}
)
KNOWN = {"keys": ["sex", "age"], "weight": "w"}


def test_figures_and_records():
    result = individual_risk(FRAME, **KNOWN, household="hh", threshold=0.02)
    risk = result.records["risk"].to_list()
    assert risk[:3] == pytest.approx([0.005424520, 0.005424520, 0.025096439], abs=5e-10)
    assert result.expected_reidentifications == pytest.approx(sum(risk))
    assert result.global_risk == pytest.approx(sum(risk) / 4)
    assert result.max_risk == max(risk)
    assert (result.n, result.method, result.threshold, result.n_above) == (4, "exact", 0.02, 2)
    both = 1 - (1 - risk[1]) * (1 - risk[2])
    assert result.records["household_risk"].to_list() == pytest.approx([risk[0], both, both, risk[3]])
    assert result.count_households_above(0.02) == 3
    assert result.household_histogram([0, 0.02, 1]) == (1, 3)
    assert result.records.columns == [
        "cell_size", "sample_frequency", "population_frequency", "sample_unique", "risk", "household_risk",
    ]  # fmt: skip


def test_without_threshold_and_household():
    result = individual_risk(FRAME, **KNOWN)
    assert result.threshold is None
    assert result.n_above is None
    assert result.household_risk is None
    assert result.expected_household_reidentifications is None
    assert "household_risk" not in result.records.columns


def test_the_methods():
    f, big_f = np.array([2, 2, 1, 1]), np.array([360, 360, 215, 76])
    worst = individual_risk(FRAME, **KNOWN, method="worst_case")
    assert (worst.method, worst.records["risk"].to_list()) == ("worst_case", pytest.approx((1 / big_f).tolist()))
    for method in ("exact", "approx", "worst_case"):
        census = individual_risk(FRAME, keys=["sex", "age"], method=method)
        assert census.method == "census"
        assert census.records["risk"].to_list() == (1 / f).tolist()
    fraction = individual_risk(FRAME, keys=["sex", "age"], sampling_fraction=1, method="approx")
    assert fraction.records["risk"].to_list() == pytest.approx((1 / f).tolist())


def test_weights_must_count_persons():
    scaled = FRAME.with_columns(w=pl.col("w") / pl.col("w").mean())
    with pytest.raises(DataError, match=r"in 1 cell the weights sum to less .* scaled to mean 1"):
        individual_risk(scaled, **KNOWN)
    just_ones = FRAME.with_columns(w=pl.lit(1 - 1e-12))
    assert individual_risk(just_ones, **KNOWN).records["risk"].to_list() == pytest.approx([0.5, 0.5, 1, 1])


def test_the_threshold_for_a_target():
    result = individual_risk(FRAME, **KNOWN)
    assert result.threshold_for(1.0) == result.max_risk
    assert math.isnan(result.threshold_for(1e-9))
    for target in (0, -1, float("nan")):
        with pytest.raises(DataError, match=r"global_risk is the expected share .* above 0"):
            result.threshold_for(target)


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan"), float("inf"), True, "median", (0.1,)])
def test_thresholds_that_cannot_be(threshold):
    with pytest.raises(DataError, match=r"threshold is a probability, 'upper_quartile' or 'mad'; .* 0 to 1"):
        individual_risk(FRAME, **KNOWN, threshold=threshold)


def test_an_unknown_method():
    with pytest.raises(DataError, match="method 'guess' is unknown; there are: exact, approx, worst_case"):
        individual_risk(FRAME, **KNOWN, method="guess")


def test_the_scenario_gives_the_household_and_so_do_cells():
    scenario = Scenario(**KNOWN, household="hh")
    expected = individual_risk(FRAME, **KNOWN, household="hh").household_risk
    assert individual_risk(FRAME, scenario=scenario).household_risk == expected
    assert individual_risk(as_cells(FRAME, scenario=scenario)).household_risk == expected
    assert individual_risk(as_cells(FRAME, **KNOWN), household="hh").household_risk == expected


def test_records_without_a_household_are_alone():
    frame = FRAME.with_columns(hh=pl.Series([None, 1, 1, None]))
    with pytest.warns(SdcWarning, match="2 records have no household id in 'hh'"):
        result = individual_risk(frame, **KNOWN, household="hh")
    records = result.records
    assert records["household_risk"][0] == pytest.approx(records["risk"][0])
    assert records["household_risk"][3] == pytest.approx(records["risk"][3])


def test_household_risk_of_certain_and_of_tiny_risks():
    def together(*risks):
        return float(household_risk(log_survival(np.array(risks)).sum(keepdims=True))[0])

    assert together(1.0, 0.2, 0.0) == 1.0
    assert together(1e-17, 1e-17, 1e-17) == pytest.approx(3e-17, rel=1e-12, abs=0)
    assert together(0.02, 0.03, 0.03) == pytest.approx(0.077918)


def test_persons_are_counted_once():
    frame = pl.concat([FRAME, FRAME]).with_columns(p=pl.Series([1, 2, 3, 4] * 2))
    once = individual_risk(FRAME, **KNOWN).records["risk"].to_list()
    assert individual_risk(frame, **KNOWN, person="p").records["risk"].to_list() == once * 2


def test_household_risk_is_drawn_for_a_confidential_picture_only():
    result = individual_risk(FRAME, **KNOWN, household="hh")
    chart = result.plot(household=True, internal=True).to_dict()
    assert chart["title"]["text"] == "Distribution of household risk, and its cumulative curve"
    rows = next(rows for rows in chart["datasets"].values() if "cumulative" in rows[0])
    assert sum(int(row["text"] or 0) for row in rows) == 4
    high = [row for row in rows if row["text"]]
    assert all(row["left"] <= value for row in high[-1:] for value in [max(result.records["household_risk"])])
    own = result.plot(internal=True).to_dict()
    assert own["title"]["text"].startswith("Distribution of individual risk")
    with pytest.raises(DataError, match="may be a single household"):
        result.plot(household=True)
    with pytest.raises(DataError, match="no household risk was measured"):
        individual_risk(FRAME, **KNOWN).plot(household=True, internal=True)
    with pytest.raises(DataError, match="household is True or False"):
        result.plot(household="hh", internal=True)
