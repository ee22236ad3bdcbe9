"""Membership: both ends, ties, subgroups, and what it refuses."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from attacks.made import CONTROL, ORIGINAL, OTHERS, people
from sdckit import Scenario, membership
from sdckit.attacks.membership import _area, _median
from sdckit.errors import ColumnError, DataError

ALL = {"control": CONTROL, "n_attacks": 1000, "seed": 1}


def test_a_copy_tells_who_was_in():
    result = membership(ORIGINAL, ORIGINAL, **ALL)
    assert (result.success_rate, result.control_rate, result.auc) == (1, 0, 1)
    assert result.risk > 0.97
    assert result.n_attacks == result.n_control == 280
    assert result.records["called_member"].drop_nans().to_list() == [1.0] * 280


def test_other_people_tell_nothing():
    result = membership(ORIGINAL, OTHERS, **ALL)
    assert result.auc == pytest.approx(0.5, abs=0.07)
    assert result.residual_low < 0 < result.residual_high
    assert result.baseline_rate == pytest.approx(0.5)


def test_where_all_are_equally_near_all_are_called_members():
    same = pl.DataFrame({"x": ["a"] * 20})
    result = membership(same, same, control=same, seed=1)
    assert (result.success_rate, result.control_rate, result.baseline_rate, result.auc) == (1, 1, 1, 0.5)
    assert "Not to be trusted" in result.verdict


def test_groups_and_releases():
    result = membership(ORIGINAL, [ORIGINAL, people(260, 7)], **ALL, by=["größe", "True"])
    assert result.auc == pytest.approx(np.mean([one["auc"] for one in result.per_release]))
    groups = result.by_group
    assert groups.columns[:3] == ["release", "größe", "True"]
    assert groups.filter(pl.col("release") == 1)["success_rate"].to_list() == [1] * 4


def test_a_group_nobody_of_the_control_belongs_to():
    control = CONTROL.filter(pl.col("größe") == "f")
    groups = membership(ORIGINAL, OTHERS, **{**ALL, "control": control}, by="größe").by_group
    assert groups["n_attacks"].to_list()[1] == 0
    assert np.isnan(groups["risk"][1])


def test_its_variables():
    scenario = Scenario(keys=["True"], sensitive=["day"])
    here = membership(ORIGINAL, OTHERS, **ALL, scenario=scenario)
    there = membership(ORIGINAL, OTHERS, **ALL, variables=["True", "day"])
    assert here.to_dict() == there.to_dict()


def test_what_it_refuses():
    with pytest.raises(DataError, match="control= is missing"):
        membership(ORIGINAL, OTHERS)
    with pytest.raises(ColumnError, match="the control file has no column 'day'"):
        membership(ORIGINAL, OTHERS, control=CONTROL.drop("day"))
    with pytest.raises(ColumnError, match="no column 'days'"):
        membership(ORIGINAL, OTHERS, control=CONTROL, variables=["days"])


def test_area_and_median():
    members, others = np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0])
    expected = np.mean([(m < o) + (m == o) / 2 for m in members for o in others])
    assert _area(members, others, 1e-12) == pytest.approx(expected)
    assert _median(np.array([4.0, 1.0, 3.0, 2.0])) == 2
