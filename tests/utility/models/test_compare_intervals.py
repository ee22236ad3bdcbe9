"""Intervals given as numbers: overlaps and the rows of a forest."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from sdckit import compare_intervals, interval_overlap
from sdckit.data.frames import rows_of
from sdckit.errors import ColumnError, DataError

KNOWN = [[0.0, 4.0], [1.0, 3.0]]
FOUND = [[2.0, 4.0], [3.5, 4.0]]


def test_overlaps_are_those_of_interval_overlap():
    for version in ("snoke", "drechsler_reiter"):
        result = compare_intervals(KNOWN, FOUND, names=["a", "b"], version=version)
        expected = interval_overlap(KNOWN, FOUND, version=version).tolist()
        assert list(result.overlap["released"].values()) == expected
        assert result.mean_overlap == pytest.approx(np.mean(expected))
        assert result.min_overlap == min(expected)


def test_an_estimate_is_given_or_the_middle():
    result = compare_intervals([[0.0, 1.0, 4.0]], {"one": [[2.0, 4.0]], "two": [[1.0, 2.5, 3.0]]})
    rows = [tuple(row.values()) for row in rows_of(result.forest())]
    assert rows == [("1", "original", 1.0, 0.0, 4.0), ("1", "one", 3.0, 2.0, 4.0), ("1", "two", 2.5, 1.0, 3.0)]
    assert result.overlap == {"one": {"1": 0.75}, "two": {"1": 0.75}}


def test_rows_stand_quantity_by_quantity():
    rows = rows_of(compare_intervals(KNOWN, FOUND, names=["a", "b"]).forest())
    assert [(row["term"], row["file"]) for row in rows] == [
        ("a", "original"), ("a", "released"), ("b", "original"), ("b", "released"),
    ]  # fmt: skip


def test_an_interval_without_length_has_no_overlap():
    result = compare_intervals([[1.0, 1.0], [0.0, 2.0]], [[0.0, 2.0], [0.0, 2.0]])
    assert math.isnan(result.overlap["released"]["1"])
    assert result.mean_overlap == 1.0
    assert result.notes == {"overlap": "1 undefined: an interval has no length"}
    nothing = compare_intervals([[1.0, 1.0]], [[0.0, 2.0]])
    assert math.isnan(nothing.mean_overlap)
    assert math.isnan(nothing.min_overlap)
    assert nothing.to_dict()["figures"]["mean_overlap"] is None


def test_it_can_be_pickled_and_summed_up():
    result = pickle.loads(pickle.dumps(compare_intervals(KNOWN, FOUND, names=["a", "b"])))
    assert result.overlap["released"]["a"] == 0.75
    assert result.summary().column("figure").to_pylist()[:3] == ["n_terms", "mean_overlap", "min_overlap"]


@pytest.mark.parametrize(
    ("known", "found", "options", "message"),
    [
        ([0.0, 1.0], [[0.0, 1.0]], {}, "confidential: give a row"),
        ([], [], {}, "confidential: give a row"),
        ([["x", "y"]], [[0.0, 1.0]], {}, "confidential: give a row"),
        ([[0.0, math.inf]], [[0.0, 1.0]], {}, "in finite numbers"),
        ([[0.0, 1.0]], [[1.0, 0.0]], {}, "released: the numbers of row 1 do not ascend"),
        ([[0.0, 1.0]], {"b": [[0.0, 2.0, 1.0]]}, {}, "'b'.: the numbers of row 1 do not ascend"),
        ([[0.0, 1.0]], [[0.0, 1.0]] * 2, {}, "confidential has 1 quantities and 'released' 2"),
        ([[0.0, 1.0]], {}, {}, "give at least one release"),
        ([[0.0, 1.0]], {"original": [[0.0, 1.0]]}, {}, "none may be called 'original'"),
        ([[0.0, 1.0]], [[0.0, 1.0]], {"names": ["a", "b"]}, "there are 2 for 1 quantities"),
        ([[0.0, 1.0]], [[0.0, 1.0]], {"names": []}, "there are 0 for 1 quantities"),
        ([[0.0, 1.0]], [[0.0, 1.0]], {"version": "karr"}, "version"),
        ([[0.0, 1.0]], [[0.0, 1.0]], {"n": 0}, "n is the number of records"),
    ],
)
def test_what_is_no_interval_is_refused(known, found, options, message):
    with pytest.raises(DataError, match=message):
        compare_intervals(known, found, **options)


def test_names_are_told_apart():
    with pytest.raises(ColumnError, match="'a' is listed more than once"):
        compare_intervals(KNOWN, FOUND, names=["a", "a"])


def test_the_posterior_version_asks_for_the_coverage():
    known, found = [[0.0, 1.0], [0.0, 2.0]], [[0.5, 1.5], [0.0, 2.0]]
    for level in (0.5, 0.95):
        overlap = compare_intervals(known, found, version="posterior", level=level).overlap["released"]
        expected = interval_overlap(known, found, version="posterior", level=level)
        assert list(overlap.values()) == pytest.approx(list(expected))
    with pytest.raises(DataError, match="level is the coverage"):
        compare_intervals(known, found, level=1)
