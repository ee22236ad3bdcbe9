"""The figures and records of B4; that they are right is shown in laws/ and golden/."""

from __future__ import annotations

import pickle

import pandas as pd
import polars as pl
import pytest

from sdckit import Scenario, replicated_uniques
from sdckit.cells.pair import open_pair
from sdckit.errors import ColumnError, DataError, ScenarioError

SURVEY = pl.DataFrame({"age": [20, 30, 30, 40, None], "sex": list("fmmff")})
RELEASE = pl.DataFrame({"age": [20.0, 40.0, 40.0, None, 50.0, 50.0], "sex": list("ffffmf")})


def test_figures_and_records():
    result = replicated_uniques(SURVEY, RELEASE, keys=["age", "sex"])
    assert (result.n, result.n_released, result.m) == (5, 6, 1)
    assert (result.original_uniques, result.released_uniques) == (3, 4)
    assert (result.released_uniques_in_original, result.replicated, result.share) == (2, 2, 0.4)
    assert result.records["unique_in_original"].to_list() == [True, False, False, True, True]
    assert result.records["replicated"].to_list() == [1, 0, 0, 0, 1]
    assert result.missing_rule == "a missing key value is a level of its own"
    assert result.notes == {}
    assert result.to_dict()["figures"]["share"] == 0.4
    assert result.summary().columns == ["figure", "value"]


def test_several_releases():
    result = replicated_uniques(SURVEY, [RELEASE, SURVEY], keys=["age", "sex"], prefix="r_")
    assert [one["replicated"] for one in result.per_release] == [2, 3]
    assert (result.replicated, result.spread["replicated"]) == (2.5, (2, 3))
    assert result.by_release["release"].to_list() == [1, 2]
    assert result.records["r_replicated"].to_list() == [1, 0, 0, 0.5, 1]
    assert result.notes["released"] == "1 of 2 releases have the original's keys, row by row"


def test_rows_to_leave_out():
    result = replicated_uniques(SURVEY, [RELEASE, SURVEY], keys=["age"])
    assert result.released_rows().tolist() == [0, 3]
    assert result.released_rows(release=2).tolist() == [0, 3, 4]
    more = replicated_uniques(SURVEY, pl.DataFrame({"age": [30, 20, 60]}), keys=["age"])
    assert more.released_rows().tolist() == [1]
    assert more.released_rows(replicated_only=False).tolist() == [0, 1]
    for wrong in (0, 3, True, "1"):
        with pytest.raises(DataError, match="release counts from 1; give a whole number up to 2"):
            result.released_rows(release=wrong)


def test_rows_of_an_aligned_release_are_its_own():
    left = pl.DataFrame({"i": [1, 2, 3], "k": [7, 8, 8]})
    right = pl.DataFrame({"i": [3, 2, 1], "k": [8, 8, 7]})
    pair = open_pair(left, right, categories={"keys": ["k"]}, aligned=True, id="i")
    result = replicated_uniques(pair, keys=["k"])
    assert result.released_rows().tolist() == [2]
    assert result.records.columns == ["i", "unique_in_original", "replicated"]


def test_a_scenario_an_id_and_another_engine():
    original = pd.DataFrame({"who": [5, 6], "k": ["a", "b"]}, index=[10, 11])
    release = pd.DataFrame({"who": [1, 2], "k": pd.Categorical(["b", "c"])})
    result = replicated_uniques(original, release, scenario=Scenario(keys=["k"]), id="who")
    assert result.records["who"].tolist() == [5, 6]
    assert result.records["replicated"].tolist() == [0, 1]
    assert list(result.records.index) == [10, 11]


def test_it_lets_go_of_the_data():
    result = pickle.loads(pickle.dumps(replicated_uniques(SURVEY, RELEASE, keys=["age"])))
    assert result.replicated == 2
    with pytest.raises(DataError, match="let go of the data"):
        _ = result.records


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({}, ScenarioError, "say which variables an intruder knows"),
        ({"keys": ["aeg"]}, ColumnError, "the original has no column 'aeg' .*the release has no column 'aeg'"),
        ({"keys": "age"}, ColumnError, r"write keys=\['age'\]"),
        ({"keys": ["age"], "released": None}, DataError, "released= is missing"),
        ({"keys": ["age"], "released": []}, DataError, "empty list"),
        ({"keys": ["age"], "released": RELEASE[:0]}, DataError, "the release: the data has no records"),
        (
            {"keys": ["age"], "released": pl.DataFrame({"age": ["20"]})},
            ColumnError,
            "'age' holds numbers in the original and text in the release",
        ),
    ],
)
def test_what_cannot_be(given, error, words):
    with pytest.raises(error, match=words):
        replicated_uniques(SURVEY, **{"released": RELEASE, **given})
