"""What is left out of the counts, and why."""

from __future__ import annotations

import polars as pl
import pytest

from sdckit.attribute.disclosure.coded_columns import coded_columns
from sdckit.attribute.disclosure.exclusions import (
    Exclusions,
    check_exclusions,
    counted,
    excluded_cells,
    find_levels,
)
from sdckit.attribute.disclosure.key_target import key_target
from sdckit.cells.pair import open_pair
from sdckit.errors import ColumnError, DataError

FILE = pl.DataFrame({"a": ["x", "x", "x", None, "y", "y"], "t": ["no", "no", "yes", "no", None, "no"]})
NONE = {"levels": (), "missing_target": False, "missing_keys": (), "pairs": (), "max_cell": None}


def removed(**given):
    pair = open_pair(FILE, FILE[:3], categories={"keys": ["a"], "target": ["t"]})
    columns, groups = coded_columns(pair, ["a", "t"], {}), pair.groups(["a"])
    table = key_target(groups, columns["t"].codes)
    left_out = check_exclusions(["a"], **{**NONE, **given})
    masks = excluded_cells(left_out, columns, columns["t"], groups, table)
    return [counted(table, masks, left_out.max_cell, file) for file in (0, 1)]


@pytest.mark.parametrize(
    ("given", "original", "release"),
    [
        ({}, {}, {}),
        ({"levels": ["no"]}, {"level of the target": 4}, {"level of the target": 2}),
        ({"missing_target": True}, {"missing target": 1}, {"missing target": 0}),
        ({"missing_keys": ["a"]}, {"missing key": 1}, {"missing key": 0}),
        (
            {"pairs": [("a", "x", "yes"), ("a", None, "no")]},
            {"pair of key and target": 2},
            {"pair of key and target": 1},
        ),
        ({"pairs": [("a", "y", None)]}, {"pair of key and target": 1}, {"pair of key and target": 0}),
        ({"max_cell": 1}, {"large cell": 2}, {"large cell": 2}),
        (
            {"levels": ["no"], "missing_keys": ["a"], "max_cell": 1},
            {"level of the target": 4, "missing key": 0, "large cell": 0},
            {"level of the target": 2, "missing key": 0, "large cell": 0},
        ),
    ],
)
def test_records_left_out_by_the_first_reason(given, original, release):
    for (left, reasons), expected, n in zip(removed(**given), (original, release), (6, 3), strict=True):
        assert reasons == expected
        assert left.sum() == n - sum(expected.values())


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"levels": "no"}, DataError, "exclude_levels is a list, not str"),
        ({"levels": [None]}, DataError, "exclude_missing_target=True"),
        ({"pairs": "ab"}, DataError, "exclude_pairs is a list, not str"),
        ({"pairs": [("a", "x")]}, DataError, r"exclude_pairs is a list of \(key, level of the key"),
        ({"pairs": ["abc"]}, DataError, r"exclude_pairs is a list of \(key, level of the key"),
        ({"pairs": [("t", "x", "yes")]}, ColumnError, "exclude_pairs: 't' is not one of the keys"),
        ({"missing_keys": ["t"]}, ColumnError, "exclude_missing_keys: 't' is not one of the keys"),
        ({"missing_keys": "a"}, ColumnError, "exclude_missing_keys must be a list"),
        ({"max_cell": 0}, DataError, "max_cell counts"),
        ({"max_cell": 1.5}, DataError, "max_cell counts"),
        ({"max_cell": True}, DataError, "max_cell counts"),
        ({"levels": ["no", "maybe"]}, DataError, "exclude_levels: item 2 is none of the 2 levels of 't'"),
        ({"pairs": [("a", "z", "no")]}, DataError, "exclude_pairs: item 1 is none of the 2 levels of 'a'"),
    ],
)
def test_what_cannot_be(given, error, words):
    with pytest.raises(error, match=words):
        removed(**given)


def test_levels_are_found_before_anything_is_counted():
    pair = open_pair(FILE, FILE, categories={"keys": ["a"], "target": ["t"]})
    columns = coded_columns(pair, ["a", "t"], {})
    left_out = Exclusions(levels=("yes",), pairs=(("a", "y", "no"),))
    assert find_levels(left_out, columns, columns["t"]) == ([2], [("a", 2, 1)])
