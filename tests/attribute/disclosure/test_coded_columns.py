"""Columns as levels, cut into classes where that was asked for."""

from __future__ import annotations

import polars as pl
import pytest

from sdckit.attribute.disclosure.coded_columns import bins_by_name, coded_columns, find_level
from sdckit.cells.pair import open_pair
from sdckit.errors import ColumnError, DataError

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


def test_levels_by_value():
    found = columns()
    assert find_level(found["a"], "y", "exclude_levels", 1) == 2
    assert find_level(found["a"], None, "exclude_levels", 1) == 0
    assert find_level(found["b"], True, "exclude_levels", 1) == 2
    assert [find_level(found["n"], value, "exclude_levels", 1) for value in (1, 1.0, "2.5", 4)] == [
        1,
        1,
        2,
        3,
    ]
    for name, value in (("a", "z"), ("a", 1), ("n", "x"), ("n", 7), ("a", "(missing)")):
        with pytest.raises(DataError, match=rf"exclude_levels: item 3 is none of the \d levels of '{name}'"):
            find_level(found[name], value, "exclude_levels", 3)
