"""The figures and records of A2."""

from __future__ import annotations

import polars as pl
import pytest

from sdckit import Scenario, k_anonymity
from sdckit.errors import DataError

FRAME = pl.DataFrame({"sex": ["f", "f", "m", None], "age": [1, 1, 2, 2], "w": [3.0, 4.0, 5.0, -6.0]})


def test_figures_and_records():
    result = k_anonymity(FRAME, keys=["sex", "age"], missing="category")
    assert (result.n, result.level) == (4, 1)
    assert result.violations == {2: 2, 3: 4, 5: 4}
    assert result.violation_rates == {2: 0.5, 3: 1.0, 5: 1.0}
    assert result.records.to_dict(as_series=False) == {"sample_frequency": [2, 2, 1, 1]}


def test_a_wildcard_counts_as_a_match():
    assert k_anonymity(FRAME, keys=["sex", "age"], k=2).level == 2
    half = k_anonymity(FRAME, keys=["sex", "age"], k=2, alpha=0.5)
    assert (half.level, half.violations) == (1, {2: 1})


def test_sums_of_tenths_reach_a_whole_number():
    # ten matches of a tenth each add up to just below 1 in floating point
    frame = pl.DataFrame({"a": [1] * 2 + [2] * 2 + [None] * 10, "b": [1] * 2 + [2] * 2 + list(range(3, 13))})
    frame = frame.with_columns(b=pl.when(pl.col("a").is_null()).then(None).otherwise(pl.col("b")), c=pl.int_range(14) // 7)
    frame = frame.select("a", "b")
    result = k_anonymity(frame, keys=["a", "b"], k=3, alpha=0.1)
    assert result.records["sample_frequency"][:4].to_list() == pytest.approx([3] * 4)
    assert result.level == 3
    assert result.violations == {3: 0}


def test_levels_are_sorted_and_the_scenario_adds_its_own():
    scenario = Scenario(keys=["sex", "age"], thresholds={"k": 4})
    result = k_anonymity(FRAME, k=(5, 2, 2), scenario=scenario)
    assert tuple(result.violations) == (2, 4, 5)


def test_weights_are_not_looked_at():
    scenario = Scenario(keys=["sex", "age"], weight="w")
    assert k_anonymity(FRAME, scenario=scenario).n == 4


@pytest.mark.parametrize("k", [1, 0, (2, 1), 2.5, (3, True), ("2",)])
def test_levels_that_cannot_be(k):
    with pytest.raises(DataError, match="k counts records; give whole numbers of 2 or more"):
        k_anonymity(FRAME, keys=["age"], k=k if not isinstance(k, float) else (k,))
