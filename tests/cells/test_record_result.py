from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sdckit
from sdckit.cells.record_result import breakdown, group_columns
from sdckit.data.frames import open_frame, rows_of
from sdckit.errors import ColumnError, DataError
from sdckit.identity.individual_risk import IndividualRisk

FILE = pl.DataFrame({"sex": ["f", "f", "m", "m"], "area": ["b", None, "a", "b"], "home": [1, 1, 2, 2]})


def test_groups_are_numbered_in_the_order_of_the_file():
    labels, of_row = group_columns(open_frame(FILE), ["area"])
    assert labels.to_native()["area"].to_list() == ["b", None, "a"]
    assert of_row.tolist() == [0, 1, 2, 0]
    labels, of_row = group_columns(open_frame(FILE), ["area"], np.array([2, 3]))
    assert labels.to_native()["area"].to_list() == ["a", "b"]
    assert of_row.tolist() == [0, 1]


def test_nothing_asked_for_opens_nothing():
    asked = breakdown(object(), None, IndividualRisk)
    assert asked.by == asked.also == ()
    result = sdckit.individual_risk(FILE, keys=["sex"])
    assert asked.of(result) is result
    assert result.by == ()
    assert result.intervals == {}
    assert "intervals" not in result.to_dict()


def test_households_are_columns_that_a_release_needs_of_its_original():
    scenario = sdckit.Scenario(keys=["sex"], household="home")
    asked = breakdown(FILE, "area", IndividualRisk, interval="bootstrap", scenario=scenario)
    assert asked.also == ("area", "home")
    assert breakdown(
        FILE.drop("home"), "area", IndividualRisk, interval="bootstrap", scenario=scenario
    ).also == ("area",)


@pytest.mark.parametrize("name", ["n", "Global_Risk"])
def test_a_column_named_like_a_figure_is_refused(name):
    with pytest.raises(ColumnError, match="is the name of a result column"):
        breakdown(FILE.rename({"area": name}), [name], IndividualRisk)


def test_a_plan_of_an_original_brings_the_columns_of_its_groups():
    result = sdckit.identity_disclosure(FILE.lazy(), FILE.lazy(), keys=["sex", "area"], by="home")
    expected = sdckit.identity_disclosure(FILE, FILE, keys=["sex", "area"], by="home")
    assert rows_of(result.by_group) == rows_of(expected.by_group)
    scenario = sdckit.Scenario(keys=["sex", "area"], household="home")
    given = {"scenario": scenario, "interval": "bootstrap", "seed": 1}
    plan = sdckit.identity_disclosure(FILE.lazy(), FILE.lazy(), **given)
    assert plan.intervals == sdckit.identity_disclosure(FILE, FILE, **given).intervals


def test_a_pair_opened_before_must_have_the_column():
    from sdckit.cells.pair import open_pair

    pair = open_pair(FILE.lazy(), FILE.lazy(), categories={"keys": ["sex"]})
    with pytest.raises(ColumnError, match="by: no column 'area'"):
        sdckit.identity_disclosure(pair, keys=["sex"], by="area")


def test_a_plans_households_are_drawn_too():
    scenario = sdckit.Scenario(keys=["sex", "area"], household="home")
    given = {"scenario": scenario, "interval": "bootstrap", "seed": 1}
    assert sdckit.suda(FILE.lazy(), **given).intervals == sdckit.suda(FILE, **given).intervals


def test_a_row_of_a_group_keeps_its_type_and_a_fresh_index():
    frame = FILE.to_pandas().set_index(np.array([7, 8, 9, 10]))
    found = sdckit.individual_risk(frame, keys=["sex"], by=["home", "area"]).by_group
    assert found.index.tolist() == [0, 1, 2, 3]
    assert found["home"].dtype == np.int64


def test_intervals_are_refused_by_their_name():
    with pytest.raises(DataError) as caught:
        sdckit.suda(FILE, keys=["sex"], interval="wilson")
    assert caught.value.argument == "interval"
