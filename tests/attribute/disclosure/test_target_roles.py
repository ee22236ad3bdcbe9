"""Who knows what, and what they would learn."""

from __future__ import annotations

import pickle
from collections import Counter
from datetime import date, datetime

import numpy as np
import polars as pl
import pytest

import releases
import sdckit as sdc
from sdckit import Scenario
from sdckit.attribute.disclosure.target_roles import (
    bins_by_name,
    check_targets,
    coded_columns,
    codes_of_groups,
    find_level,
    identical_note,
    key_target,
    known_and_learnt,
)
from sdckit.cells.packing import group_files
from sdckit.cells.pair import open_pair
from sdckit.data.frames import rows_of
from sdckit.errors import ColumnError, DataError, ScenarioError


def test_given_and_from_the_scenario():
    scenario = Scenario(keys=["a"], sensitive=["s"])
    assert known_and_learnt(None, None, scenario) == (("a",), ("s",))
    assert known_and_learnt(["b"], "t", scenario) == (("b",), ("t",))
    assert known_and_learnt(["b"], ["t"], None) == (("b",), ("t",))
    assert known_and_learnt(["b"], ["t", "u"], None, several=True) == (("b",), ("t", "u"))


@pytest.mark.parametrize(
    ("keys", "target", "scenario", "error", "words"),
    [
        (["a"], None, None, ScenarioError, r"say which variable an intruder would learn: target='...'$"),
        (None, None, Scenario(keys=["a"], sensitive=["s", "t"]), ScenarioError, "the scenario has s, t"),
        (["a"], [], None, ScenarioError, "target is empty"),
        (["a"], ["s", "t"], None, ColumnError, "attribute_disclosure_table takes several"),
        (["a"], ["s", "s"], None, ColumnError, "'s' is listed more than once"),
        (["a"], "a", None, ColumnError, "target 'a' is a key; an intruder cannot learn what they know"),
        (["a"], 3, None, ColumnError, "target must be a list of column names, not int"),
    ],
)
def test_what_cannot_be(keys, target, scenario, error, words):
    with pytest.raises(error, match=words):
        known_and_learnt(keys, target, scenario)


def test_targets_are_no_keys():
    check_targets(["s"], ["a"])
    with pytest.raises(ColumnError, match="'a' is a key"):
        check_targets(["s", "a"], ["a"])


def test_a_release_that_is_the_original_is_said_to_be():
    frame, other = pl.DataFrame({"a": [1, 2]}), pl.DataFrame({"a": [2, 1]})
    pair = open_pair(frame, [frame, other], categories={"keys": ["a"]})
    assert identical_note(pair, ["a"]) == {
        "released": "1 of 2 releases have the original's keys and target, row by row"
    }
    assert identical_note(open_pair(frame, other, categories={"keys": ["a"]}), ["a"]) == {}


# Keys crossed with a target.


def codes(*files):
    return tuple(np.array(one, np.int32) for one in files)


def test_groups_of_several_columns():
    groups = group_files([codes([0, 0, 1], [1, 2]), codes([5, 5, 0], [0, 0])])
    assert groups.n_groups == 3
    assert groups.of_row[0][0] == groups.of_row[0][1] != groups.of_row[0][2] == groups.of_row[1][0]
    assert sorted(zip(*(size.tolist() for size in groups.size), strict=True)) == [(0, 1), (1, 1), (2, 0)]
    assert codes_of_groups(groups, codes([0, 0, 1], [1, 2]))[groups.of_row[1]].tolist() == [1, 2]


def test_the_table():
    keys = group_files([codes([1, 1, 1, 2], [1, 3, 3])])
    target = codes([0, 0, 4, 4], [0, 2, 2])
    table = key_target(keys, target)
    rows = sorted(
        zip(
            table.target.tolist(), *(count.tolist() for count in table.count),
            *(size[table.key].tolist() for size in table.key_size), strict=True,
        )
    )  # fmt: skip
    assert rows == [(0, 2, 1, 3, 1), (2, 0, 2, 0, 2), (4, 1, 0, 1, 0), (4, 1, 0, 3, 1)]
    assert table.share(0)[table.of_row[0]].tolist() == [2 / 3, 2 / 3, 1 / 3, 1]
    assert table.share(1)[table.of_row[0]].tolist() == [1, 1, 0, 0]
    assert table.sole(0)[table.of_row[0]].tolist() == [False, False, False, True]
    assert table.sole(1)[table.of_row[0]].tolist() == [True, True, False, False]


# Columns as levels, cut into classes where that was asked for.


FILE = pl.DataFrame({"a": ["x", "y", None], "n": [1.0, 2.5, 4.0], "b": [True, False, True]})


def columns(bins=None):
    pair = open_pair(FILE, FILE[:2], categories={"keys": ["a", "b", "n"]})
    return coded_columns(pair, ["a", "b", "n"], bins or {})


def test_categories_and_classes():
    found = columns({"n": 2})
    assert [part.tolist() for part in found["a"].codes] == [[1, 2, 0], [1, 2]]
    assert (found["a"].n_levels, found["a"].labels()[0], found["a"].labels()[2]) == (2, "(missing)", "y")
    assert [part.tolist() for part in found["n"].codes] == [[1, 2, 2], [1, 2]]
    assert found["n"].labels() == ["(missing)", "[1, 2.5)", "[2.5, 4]"]
    assert columns()["n"].n_levels == 3


def test_bins():
    used = ["a", "n"]
    assert bins_by_name(5, [], used) == {}
    assert bins_by_name(4, ["n"], used) == {"n": 4}
    assert bins_by_name({"n": 3}, [], used) == {"n": 3}
    for given, numeric, error, words in (
        (1, [], DataError, "bins is a number of classes"),
        (2.5, ["n"], DataError, "bins is a number of classes"),
        (True, ["n"], DataError, "bins is a number of classes"),
        ({"n": 1}, [], DataError, "bins is a number of classes"),
        ({"z": 3}, [], ColumnError, "'z' is neither a key nor a target"),
        (5, ["z"], ColumnError, "'z' is neither a key nor a target"),
        (5, "n", ColumnError, "numeric must be a list"),
        ({"n": 3}, ["a"], DataError, "bins says nothing of 'a'"),
    ):
        with pytest.raises(error, match=words):
            bins_by_name(given, numeric, used)


@pytest.mark.parametrize("kind", [pl.Date, pl.Datetime])
def test_a_date_is_its_midnight(kind):
    days = pl.DataFrame({"d": pl.Series(["2020-01-01", "2020-02-01"]).str.to_date().cast(kind)})
    found = coded_columns(open_pair(days, days, categories={"keys": ["d"]}), ["d"], {})["d"]
    for day in (date(2020, 2, 1), datetime(2020, 2, 1), np.datetime64("2020-02-01T00:00:00")):
        assert find_level(found, day, "exclude_levels", 1) == 2


def test_levels_by_value():
    found = columns()
    assert find_level(found["a"], "y", "exclude_levels", 1) == 2
    assert find_level(found["a"], None, "exclude_levels", 1) == 0
    assert find_level(found["b"], True, "exclude_levels", 1) == 2
    assert [find_level(found["n"], value, "exclude_levels", 1) for value in (1, 1.0, "2.5", 4)] == [1, 1, 2, 3]
    for name, value in (("a", "z"), ("a", 1), ("n", "x"), ("n", 7), ("a", "(missing)")):
        with pytest.raises(DataError, match=rf"exclude_levels: item 3 is none of the \d levels of '{name}'"):
            find_level(found[name], value, "exclude_levels", 3)


# The figure of each record before and after, as pairs and as a picture.


KEYS = ["sex", "region"]


@pytest.fixture(scope="module")
def files():
    return releases.original(), releases.release()


def counted(result) -> Counter:
    return Counter({(row["original"], row["released"]): row["n"] for row in rows_of(result.pairs())})


def of_records(result, before: str, after: str, unit: float = 1.0) -> Counter:
    rows = result.records
    return Counter(zip((rows[before] / unit).to_list(), (rows[after] / unit).to_list(), strict=True))


def test_pairs_of_attribution_are_those_of_the_records(files):
    result = sdc.correct_attribution_probability(*files, keys=KEYS, target="ill")
    assert counted(result) == of_records(result, "cap_original", "cap")
    assert isinstance(result.pairs(), pl.DataFrame)


def test_pairs_of_prediction_are_in_the_unit_of_the_bars(files):
    numeric = sdc.prediction_risk(*files, keys=KEYS, target="income", numeric=["income"])
    unit = np.sqrt(numeric.baseline)
    found, expected = counted(numeric), of_records(numeric, "error_original", "error_released", unit)
    np.testing.assert_allclose(sorted(found), sorted(expected), rtol=1e-12)
    assert sum(found.values()) == numeric.n
    relative = sdc.prediction_risk(*files, keys=KEYS, target="income", numeric=["income"], loss="relative")
    assert counted(relative) == of_records(relative, "loss_original", "loss_released")
    levels = sdc.prediction_risk(*files, keys=KEYS, target="ill", numeric=[])
    assert counted(levels) == of_records(levels, "correct_original", "correct_released")


def test_records_without_a_target_are_in_no_pair(files):
    original = files[0].with_columns(income=pl.when(pl.int_range(pl.len()) < 7).then(None).otherwise("income"))
    result = sdc.prediction_risk(original, files[1], keys=KEYS, target="income", numeric=["income"])
    assert sum(row["n"] for row in rows_of(result.pairs())) == result.n == original.height - 7


def test_a_pickled_result_has_no_pairs(files):
    result = pickle.loads(pickle.dumps(sdc.cap(*files, keys=KEYS, target="ill")))
    with pytest.raises(DataError, match="let go of the data"):
        result.pairs()


def test_scatter_is_true_or_false(files):
    with pytest.raises(DataError, match="scatter is True or False") as caught:
        sdc.cap(*files, keys=KEYS, target="ill").plot(scatter="yes")
    assert caught.value.argument == "scatter"
