"""Columns of numbers at the door."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sdckit.data.frames import open_frame
from sdckit.errors import ColumnError, DataError
from sdckit.protect.numeric_columns import became_fractions, chosen, count_changed, numbers


def test_some_column_is_chosen():
    assert chosen(("a", "b")) == ("a", "b")
    with pytest.raises(ColumnError, match="columns= names no column"):
        chosen([])
    with pytest.raises(ColumnError, match=r"write columns=\['ab'\]"):
        chosen("ab")
    with pytest.raises(ColumnError, match="listed more than once"):
        chosen(["a", "a"])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["a", "b"], "'x' is .*, not numbers"),
        ([True, False], "not numbers"),
        ([1.0, float("inf"), float("-inf")], r"infinite values \(rows 2, 3\)"),
        ([None, float("nan")], "has no value at all"),
        ([3, 3, None], "'x' is constant, so it is; leave it out"),
    ],
)
def test_what_is_refused(values, message):
    with pytest.raises(DataError, match=message):
        numbers(open_frame(pl.DataFrame({"x": values}, strict=False)), ["x"], constant="so it is")


def test_what_is_read():
    frame = open_frame(pl.DataFrame({"x": [3, None], "y": [2.5, float("nan")]}))
    found = numbers(frame, ["y", "x"])
    assert list(found) == ["y", "x"]
    assert np.array_equal(found["x"], [3.0, np.nan], equal_nan=True)


def test_what_changed():
    before = {"x": np.array([1.0, np.nan, 2.0]), "y": np.array([1.0, 1.0, 1.0])}
    after = {"x": np.array([1.5, np.nan, 2.0]), "y": np.array([1.0, 1.0, 1.0])}
    assert count_changed(before, after) == {"x": 1, "y": 0}
    old, new = pl.DataFrame({"x": [1], "y": [1]}), pl.DataFrame({"x": [1.5], "y": [1]})
    assert became_fractions(open_frame(old), new, ["x", "y"]) == {"type": "x was Int64, is Float64"}
    assert became_fractions(open_frame(old), old, ["x", "y"]) == {}
