"""A warning where the weight tells what a recipe takes out."""

from __future__ import annotations

import warnings

import polars as pl
import pytest

import sdckit as sdc
from homes import people
from recipes import SECRET
from sdckit.errors import SdcWarning

SUPPRESS = {"method": "local_suppression", "k": 3}
COARSE = {"method": "coarsen_weights", "weight": "w", "hide": ["region"]}


def scenario(**more):
    return sdc.Scenario(keys=["region", "age", "sex"], weight="w", **more)


def told(steps, data=None, **more):
    data = people() if data is None else data
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sdc.Recipe(steps).apply(data, scenario=scenario(**more), seed=1, secret=SECRET, watch=False)
    return [str(one.message) for one in caught if issubclass(one.category, SdcWarning)]


@pytest.mark.parametrize("steps", [
    [SUPPRESS], [{"method": "pram", "columns": ["region"]}],
    [{"method": "local_suppression", "k": 3, "intruder": "default"}],
    [{"method": "swap_records", "hierarchy": ["region"], "keys": ["age"]}],
])  # fmt: skip
@pytest.mark.parametrize("more", [{}, {"household": "home"}])
def test_a_weight_that_tells_a_key_which_is_changed_is_warned_of_once(steps, more):
    (said,) = told(steps, **more)
    assert said.startswith("w: many of its values occur with one value of region only")
    assert "coarsen_weights" in said
    assert "sex" not in said


@pytest.mark.parametrize("steps", [
    [COARSE, SUPPRESS], [SUPPRESS, COARSE],
    [SUPPRESS, {"method": "drop_identifiers", "columns": ["w"]}],
    [{"method": "pram", "columns": ["sex"]}],
    [{"method": "recode", "column": "region", "groups": {"west": ["a", "b"], "east": ["c", "d"]}}],
    [{"method": "synthesize", "household": "home"}],
])  # fmt: skip
def test_there_is_no_warning_where_nothing_is_told_or_taken_out(steps):
    assert told(steps) == []


def test_a_coarser_weight_that_still_tells_is_warned_of_in_the_end():
    (said,) = told([{"method": "coarsen_weights", "weight": "w", "strata": ["region"], "k": 3}, SUPPRESS])
    assert "region" in said


def test_the_check_warns_too():
    with pytest.warns(SdcWarning, match="one value of region only"):
        sdc.Recipe([SUPPRESS]).check(people(), scenario=scenario())


def test_unique_weights_are_not_warned_of():
    data = people().with_columns(w=5.0 + pl.int_range(pl.len()) / 7)
    assert told([SUPPRESS], data) == []
