"""What a protection method returned is taken as the released file by every measure of two files."""

from __future__ import annotations

import inspect

import polars as pl
import pytest

import every_measure
import sdckit as sdc
from draw import quiet
from sdckit.protect.change import Change, Protected

OF_TWO = [
    row
    for row in every_measure.CALLED
    if "released" in inspect.signature(getattr(sdc, row.name)).parameters and row.name != "bayesian_attribute_risk"
]


@pytest.mark.parametrize("row", OF_TWO, ids=lambda row: row.name)
def test_the_same_figures_as_of_its_data(row):
    with quiet():
        expected = every_measure.call(row)
        found = every_measure.call(row, _protected_where_released)
    every_measure.assert_close(every_measure.figures(expected), every_measure.figures(found), row.name)


def _protected_where_released(frame: pl.DataFrame) -> pl.DataFrame | Protected:
    if not frame.equals(every_measure.changed()):
        return frame
    return Protected(frame, Change("add_noise", len(frame), {}))


def test_assess_and_check_take_it():
    survey = every_measure.people(1)
    made = sdc.pram(survey, columns=["sex"], pd=0.8, seed=1)
    roles = {"keys": ["sex", "region"], "aligned": True}
    scenario, strict = (sdc.Scenario(**roles, thresholds={"k": k}) for k in (2, 80))
    with quiet():
        given = sdc.assess(survey, made, scenario=scenario, seed=1)
        expected = sdc.assess(survey, made.data, scenario=scenario, seed=1)
        assert given.verdicts == expected.verdicts
        assert sdc.check(survey, made, scenario=scenario, seed=1).passed == all(v.holds for v in expected.verdicts)
        with pytest.raises(AssertionError, match="not within the declared limits"):
            sdc.assert_within_limits(survey, made, scenario=strict, seed=1)


def test_of_several_files_all_are_measured():
    survey = every_measure.people(1)
    made = sdc.synthesize(survey, columns=["sex"], predictors=["hours"], m=3, seed=1)
    assert sdc.propensity(survey, made, variables=["sex", "hours"]).m == 3
    replaced = sdc.replace_high_risk(
        made, risk=[1.0] + [0.0] * (every_measure.N - 1), threshold=0.5, match=["hours"], numeric=["hours"],
        replace=["sex"],
    )  # fmt: skip
    assert len(replaced.data) == 3
