"""Which variables are compared, on which scale, and which file a message speaks of."""

from __future__ import annotations

import math

import polars as pl
import pytest

from sdckit import Scenario
from sdckit.attacks.compared_files import compared_files
from sdckit.errors import ColumnError

ORIGINAL = pl.DataFrame({"id": [1, 2, 3, 4], "x": [0.0, 2.0, 4.0, None], "c": list("aabb"), "g": ["u"] * 4})
RELEASE = ORIGINAL.with_columns(x=pl.Series([1.0, 2.0, 50.0, 3.0]))
CONTROL = ORIGINAL.drop("g").with_columns(x=pl.Series([8.0, 2.0, 3.0, 3.0]))
NOTHING = {"variables": None, "numeric": None, "scenario": None, "id": None}


def test_all_columns_but_the_id_and_the_groups():
    found = compared_files(ORIGINAL, RELEASE, CONTROL, **{**NOTHING, "id": "id"}, by=["g"])
    assert (found.numbers, found.categories, found.variables) == (("x",), ("c",), ("x", "c"))
    assert (found.control, found.n_control, found.pair.m, found.everything.m) == (True, 4, 1, 2)
    assert found.ranges().tolist() == [8.0]  # of the real people: an odd released value stretches nothing
    without = compared_files(ORIGINAL, RELEASE, None, **{**NOTHING, "id": "id"}, by=["g"])
    assert (without.control, without.n_control, without.ranges().tolist()) == (False, 0, [4.0])
    assert [one.n for one in without.encoded()] == [4, 4]


def test_the_scenario_names_variables_and_numbers():
    scenario = Scenario(keys=["c"], numeric=["x"])
    found = compared_files(ORIGINAL, RELEASE, None, **{**NOTHING, "scenario": scenario})
    assert (found.numbers, found.categories) == (("x",), ("c",))


def test_rare_values_weigh_more():
    found = compared_files(ORIGINAL, RELEASE, None, **{**NOTHING, "variables": ["x", "c", "g"]})
    assert found.rarity() == pytest.approx([1 / math.log(4), 1 / math.log(2), 0.0])
    constant = compared_files(ORIGINAL, RELEASE, None, **{**NOTHING, "variables": ["g"]})
    assert constant.rarity() is None


def test_messages_name_the_file():
    with pytest.raises(ColumnError, match=r"^the control file has no column 'g'"):
        compared_files(ORIGINAL, RELEASE, CONTROL, **{**NOTHING, "variables": ["g"]})
    text = CONTROL.with_columns(c=pl.lit(1))
    with pytest.raises(ColumnError, match="'c' holds text in the original and numbers in the control file"):
        compared_files(ORIGINAL, [RELEASE, RELEASE], text, **{**NOTHING, "variables": ["c"]})
