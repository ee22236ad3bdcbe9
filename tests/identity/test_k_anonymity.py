"""The figures and records of A2."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from draw import quiet
from sdckit import Scenario, k_anonymity
from sdckit.errors import DataError
from sdckit.numerics.wildcard_matches import wildcards as few_matches

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


@pytest.mark.parametrize("pairs", [few_matches.PAIRS, -1], ids=["by NumPy", "by a kernel"])
def test_a_sum_of_fractions_that_misses_a_whole_number_by_rounding(monkeypatch, pairs):
    monkeypatch.setattr(few_matches, "PAIRS", pairs)
    # the complete record: 1 + 0.7 * 3 + 0.7 * 7 is 8, and 7.999999999999999 where it is summed in another order
    frame = pl.DataFrame({"a": [1] + [None] * 3 + [1] * 7, "b": [5] + [5] * 3 + [None] * 7})
    with quiet():
        result = k_anonymity(frame, keys=["a", "b"], k=(8, 9), alpha=0.7)
    frequency = result.records["sample_frequency"][0]
    assert frequency == pytest.approx(8)
    assert frequency < 8
    assert result.level == 8
    assert result.violations == {8: 0, 9: 4}


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


@pytest.mark.parametrize("k", [3, np.int64(3), [3], np.array([3, 3])])
def test_one_level_is_as_good_as_a_list(k):
    assert list(k_anonymity(FRAME, keys=["age"], k=k).violations) == [3]
