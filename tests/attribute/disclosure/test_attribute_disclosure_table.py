"""Many targets, each as `attribute_disclosure` measures it."""

from __future__ import annotations

import json
import pickle

import polars as pl
import pytest

from sdckit import Scenario, attribute_disclosure, attribute_disclosure_table
from sdckit.cells.pair import open_pair
from sdckit.errors import ColumnError, DataError, ScenarioError

SURVEY = pl.DataFrame(
    {"sex": ["f", "f", "m", "m"], "ill": ["y", "y", "y", "n"], "pay": [1, 2, 3, 3], "row": [7, 8, 9, 10]}
)
RELEASE = SURVEY.with_columns(ill=pl.Series(["y", "n", "y", "n"])).drop("row")


def test_the_most_disclosed_comes_first():
    result = attribute_disclosure_table(SURVEY, RELEASE, keys=["sex"])
    assert result.targets == ("pay", "ill")
    assert result.correctly_disclosed == {"pay": 0.5, "ill": 0.0}
    assert result.disclosive_in_original == {"pay": 0.5, "ill": 0.5}
    assert result.n_checks == {"pay": 0, "ill": 0}
    assert result.table["target"].to_list() == ["pay", "ill"]
    assert result.table["correctly_disclosed"].to_list() == [0.5, 0]
    assert result.by_release.columns == ["release", "correctly_disclosed[pay]", "correctly_disclosed[ill]"]
    assert result.to_dict()["figures"]["correctly_disclosed"] == {"pay": 0.5, "ill": 0}
    assert result.notes == {"released": "a release has the original's keys and values, row by row, of pay"}
    assert (
        result.results["ill"].disclosed == attribute_disclosure(SURVEY, RELEASE, keys=["sex"], target="ill").disclosed
    )


def test_which_targets():
    more = RELEASE.with_columns(row=pl.lit(1))
    assert set(attribute_disclosure_table(SURVEY, more, keys=["sex"]).targets) == {"pay", "ill", "row"}
    assert set(attribute_disclosure_table(SURVEY, more, keys=["sex"], id="row").targets) == {"pay", "ill"}
    assert attribute_disclosure_table(SURVEY, more, keys=["sex"], targets=["ill"]).targets == ("ill",)
    scenario = Scenario(keys=["sex"], sensitive=["ill"])
    assert attribute_disclosure_table(SURVEY, [more, RELEASE], scenario=scenario).targets == ("ill",)
    assert set(attribute_disclosure_table(SURVEY, more, scenario=Scenario(keys=["sex", "row"])).targets) == {
        "pay",
        "ill",
    }
    pair = open_pair(SURVEY, more, categories={"keys": ["sex"]}, id="row")
    assert set(attribute_disclosure_table(pair, keys=["sex"]).targets) == {"pay", "ill"}


def test_plans():
    expected = attribute_disclosure_table(SURVEY, RELEASE, keys=["sex"], numeric=["pay"])
    result = attribute_disclosure_table(SURVEY.lazy(), RELEASE.lazy(), keys=["sex"], numeric=["pay"])
    # rows of a plan have no order, so that nothing is told of them row by row
    assert json.loads(json.dumps(result.to_dict())) == {**expected.to_dict(), "notes": {}}
    whole = result.results["ill"].to_dict()
    assert json.loads(json.dumps(whole)) == expected.results["ill"].to_dict()


def test_options_by_target():
    result = attribute_disclosure_table(
        SURVEY, RELEASE, keys=["sex"], exclude_levels={"ill": ["y"]}, bins={"pay": 2}, prefix="p_"
    )
    assert result.results["ill"].excluded == {"level of the target": 3}
    assert result.results["pay"].excluded == {}
    assert result.correctly_disclosed["pay"] == 1  # 1 and 2 are one class, 3 is the other
    assert result.results["pay"].records.columns[0] == "p_disclosive_in_original"


def test_it_lets_go_of_the_data():
    result = pickle.loads(pickle.dumps(attribute_disclosure_table(SURVEY, RELEASE, keys=["sex"])))
    assert result.correctly_disclosed["pay"] == 0.5
    with pytest.raises(DataError, match="let go of the data"):
        _ = result.results["pay"].records


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"keys": ["sex", "ill", "pay"]}, ScenarioError, "no column is left"),
        ({"targets": []}, ScenarioError, "no column is left"),
        ({"targets": "ill"}, ColumnError, r"write targets=\['ill'\]"),
        ({"targets": ["sex"]}, ColumnError, "target 'sex' is a key"),
        ({"targets": ["row"]}, ColumnError, r"the release has no column 'row' \(targets\)"),
        ({"exclude_levels": {"row": [1]}}, ColumnError, "exclude_levels: 'row' is not a target"),
        ({"exclude_levels": {"ill": "y"}}, DataError, "exclude_levels is a list"),
        ({"released": []}, DataError, "empty list"),
        ({"released": None}, DataError, "released= is missing"),
    ],
)
def test_what_cannot_be(given, error, words):
    with pytest.raises(error, match=words):
        attribute_disclosure_table(SURVEY, **{"released": RELEASE, "keys": ["sex"], **given})
