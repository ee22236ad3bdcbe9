"""A recipe runs on what it is given: a file in memory, or a plan that its engine carries out."""

from __future__ import annotations

import math
import warnings
from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from plans import on_engines
from sdckit.errors import DataError, SdcWarning
from sdckit.workflow.recipes.recipe_runs import InMemory, OnPlan, start

SURVEY = pl.DataFrame({"a": ["x", "x", "y"] * 20, "w": [1.0, 1.0, 2.0] * 20})
STEPS: list[dict[str, Any]] = [{"method": "local_suppression", "keys": ["a"], "k": 2}]


@on_engines
def test_a_run_for_each_kind_of_file(plan: Any) -> None:
    assert isinstance(start(SURVEY, None), InMemory)
    found = start(plan(SURVEY), None)
    assert isinstance(found, OnPlan)
    assert (found.n, found.columns) == (60, ("a", "w"))
    with pytest.raises(DataError, match="no records"):
        start(plan(SURVEY[:0]), None)
    with pytest.raises(DataError, match="not a data frame"):
        start([1, 2], None)


@on_engines
def test_a_plan_is_warned_of_weights_that_tell_a_key(plan: Any) -> None:
    scenario = sdc.Scenario(keys=["a"], weight="w")
    said = []
    for data in (SURVEY, plan(SURVEY)):
        with pytest.warns(SdcWarning, match="w: many of its values occur with one value of a only") as caught:
            sdc.Recipe(STEPS).check(data, scenario=scenario)
        said.append([str(one.message) for one in caught])
    assert said[0] == said[1]
    rounded = [{"method": "round_to", "column": "w", "base": 4, "how": "down"}, *STEPS]
    for data in (SURVEY, plan(SURVEY)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sdc.Recipe(rounded).apply(data, scenario=scenario, watch=False)


@on_engines
def test_what_a_plan_cannot_tell(plan: Any) -> None:
    scenario = sdc.Scenario(keys=["a"])
    applied = sdc.Recipe(STEPS).apply(plan(SURVEY), scenario=scenario)
    with pytest.raises(DataError, match="write it, and assess or check the file written"):
        applied.assess()
    assert all(math.isnan(one.pmse) for one in applied.figures)
    assert applied.variables["variable"].to_pylist() == ["a", "w"]
    assert applied.steps["step"].to_pylist() == [0, 1]
    assert "1 step on 60 records" in repr(applied)
    assert "a" in applied._repr_html_()


def test_a_plan_that_fails_is_told_without_values() -> None:
    failing = SURVEY.lazy().with_columns(pl.col("a").cast(pl.Int64))
    with pytest.raises(DataError, match="cannot be carried out"):
        sdc.Recipe([{"method": "recode", "column": "a", "bands": [0, 1]}]).apply(failing)
