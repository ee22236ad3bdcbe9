"""Which columns two files are compared by."""

from __future__ import annotations

import polars as pl
import pytest

from plans import on_frames
from sdckit import Scenario
from sdckit.cells.pair import open_pair
from sdckit.errors import ColumnError, DataError, ScenarioError, SdcWarning
from sdckit.utility.chosen_variables import bins_of, chosen_variables, coded_variables

ORIGINAL = pl.DataFrame({"who": [1, 2], "a": [1.5, 2.5], "b": ["x", "y"], "w": [2.0, 2.0], "only": [1, 1]})
RELEASED = pl.DataFrame({"b": ["x", "z"], "a": [1, 7], "w": [1.0, 3.0], "who": [1, 2], "new": [0, 0]})


def test_all_in_common():
    chosen = chosen_variables(ORIGINAL, RELEASED, id="who", scenario=Scenario(keys=["a"], weight="w"))
    assert (chosen.names, chosen.numeric) == (("a", "b"), ("a",))
    assert chosen.notes["variables"] == "left out because not every file has them: new, only"
    assert chosen.notes["numeric"].startswith("taken as numbers because they are stored so: a;")
    assert "released" not in chosen.notes
    assert not chosen.declared


def test_numbers_of_people_that_nobody_chose_are_named():
    original = pl.DataFrame({"pid": range(40), "a": [1, 2] * 20})
    with pytest.warns(SdcWarning, match="^pid: says whose a row is"):
        assert chosen_variables(original, original[::-1]).names == ("pid", "a")
    assert chosen_variables(original, original[::-1], variables=["pid"]).names == ("pid",)
    assert chosen_variables(original, original[::-1], id="pid").names == ("a",)


def test_as_given():
    chosen = chosen_variables(ORIGINAL, RELEASED, variables=["b", "a"], numeric=[])
    assert (chosen.names, chosen.numeric, chosen.notes, chosen.declared) == (("b", "a"), (), {}, True)
    declared = Scenario(keys=["b"], numeric=["w", "only"])
    assert chosen_variables(ORIGINAL, RELEASED, variables=["a", "w"], scenario=declared).numeric == ("w",)


def test_a_pair_opened_before():
    pair = open_pair(ORIGINAL, [RELEASED], categories={"keys": ["b"]}, numeric={"numeric": ["a"]})
    assert chosen_variables(pair, variables=["a"]).pair is pair


def test_a_release_that_is_the_original_is_said():
    missing = ORIGINAL.with_columns(a=pl.Series([None, 2.5]))
    chosen = chosen_variables(missing, [missing, RELEASED, missing[1:]], variables=["a", "b"])
    assert chosen.notes["released"] == ("1 of 3 releases have the original's value in every row of these variables")


@on_frames
def test_on_every_engine(make):
    chosen = chosen_variables(make(ORIGINAL), make(RELEASED))
    assert (chosen.names, chosen.numeric) == (("who", "a", "b", "w"), ("who", "a", "w"))


@pytest.mark.parametrize(
    ("released", "options", "error", "words"),
    [
        (RELEASED.select(q="a"), {}, ColumnError, "no variable in common"),
        (RELEASED, {"variables": []}, ColumnError, "variables= is empty"),
        (RELEASED, {"variables": "a"}, ColumnError, "variables must be a list"),
        (RELEASED, {"variables": ["a", "onyl"]}, ColumnError, "the original has no column 'onyl'"),
        (RELEASED, {"variables": ["a"], "numeric": ["b"]}, ColumnError, "numeric: 'b' is not among"),
        (RELEASED, {"numeric": ["b"]}, DataError, "numeric 'b' is \\w+, not numbers"),
        (RELEASED.with_columns(a=pl.lit("u")), {}, ColumnError, "'a' holds numbers in the original and text"),
        (RELEASED.with_columns(a=pl.lit(None, pl.Int8)), {}, DataError, "'a' has no value at all"),
        (RELEASED[:1], {"aligned": True}, DataError, "the release has 1 rows, the original 2"),
        (None, {}, DataError, "released= is missing"),
        (RELEASED, {"scenario": "s"}, ScenarioError, "scenario= takes a Scenario"),
    ],
)
def test_bad_input(released, options, error, words):
    with pytest.raises(error, match=words):
        chosen_variables(ORIGINAL, released, **options)


# Which variables are cut, which are taken value by value, and what is said of their levels.


SURVEY = pl.DataFrame({"age": list(range(20, 40)), "sex": [1, 2] * 10, "town": ["a", "b"] * 10, "one": [7.5] * 20})
RELEASE = SURVEY.with_columns(town=pl.Series(["c"] * 19 + [None]), sex=pl.lit(2))


def coded(numeric=None, bins=5, released=RELEASE):
    chosen = chosen_variables(SURVEY, released, numeric=numeric)
    found, numbers, notes = coded_variables(chosen, bins)
    return {one.name: one for one in found}, numbers, notes


def test_numbers_with_many_values_are_cut():
    found, numbers, notes = coded()
    assert [one.kind for one in found.values()] == ["classes", "numbers", "text", "numbers"]
    assert numbers == ("age",)
    assert notes["values"] == "taken value by value because they have so few: sex, one"
    assert found["age"].n_levels == 5
    assert found["age"].counts.tolist() == [[0, 4, 4, 4, 4, 4]] * 2
    assert found["age"].labels()[1] == "[20, 23.8)"
    assert found["sex"].counts.tolist() == [[0, 10, 10], [0, 0, 20]]
    assert found["town"].counts.tolist() == [[0, 10, 10, 0], [1, 0, 0, 19]]


def test_numbers_declared_stay_numbers():
    found, numbers, notes = coded(numeric=["sex", "age"], bins={"age": 10})
    assert found["age"].n_levels == 10
    # a code of 1 and 2 is not put into one class, whatever it is called
    assert (found["sex"].kind, found["sex"].n_levels) == ("numbers", 2)
    assert set(numbers) == {"sex", "age"}
    assert notes["values"].endswith("so few: sex")


def test_few_values_are_counted_over_all_files():
    more = RELEASE.with_columns(sex=pl.Series(range(20)))
    assert coded(released=more)[0]["sex"].kind == "classes"


def test_notes():
    notes = coded()[2]
    assert notes["constant"] == "a single level in all files: one"
    assert notes["levels"] == "no value in common between the original and any release: town"
    assert notes["missing"] == "missing values in some of the files only: town"


@pytest.mark.parametrize(
    ("bins", "error", "words"),
    [
        (1, DataError, "2 or more"),
        (2.5, DataError, "2 or more"),
        (True, DataError, "2 or more"),
        ({"age": 1}, DataError, "2 or more"),
        ({"sex": 3}, ColumnError, "bins: 'sex' is not among the numeric variables"),
    ],
)
def test_what_cannot_be(bins, error, words):
    with pytest.raises(error, match=words):
        bins_of(bins, ["age"])
