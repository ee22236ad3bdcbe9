"""Columns as synthesis sees them."""

from __future__ import annotations

from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sdckit.data.frames import open_frame
from sdckit.errors import DataError
from sdckit.protect.synthesis.synthesis_variables import (
    MISSING,
    NEW,
    is_usable,
    number_label,
    read_variable,
    refuse_unfit,
)


def read(values, **options):
    return read_variable(open_frame(pl.DataFrame({"x": pl.Series(values, **options)}))["x"])


def test_categories_are_sorted_by_their_text():
    one = read(["b", None, "a", "b"])
    assert (one.kind, one.texts, one.labels, one.n_missing) == ("category", ("a", "b"), ("a", "b"), 1)
    assert one.held.level.tolist() == [1, MISSING, 0, 1]
    assert one.first.tolist() == [2, 0]
    assert one.held.number is None
    assert read([True, False]).texts == ("False", "True")
    assert read(["b", "a"], dtype=pl.Categorical).held.level.tolist() == [1, 0]


def test_numbers_ascend_with_their_digits():
    one = read([2.5, -1.25, None, -3.0])
    assert one.amounts.tolist() == [-3.0, -1.25, 2.5]
    assert one.held.level.tolist() == [2, 1, MISSING, 0]
    assert np.isnan(one.held.number[2])
    assert (one.decimals, one.labels) == (2, ("-3", "-1.25", "2.5"))
    assert read([1, 2]).decimals == 0
    assert read([1 / 3, 0.5]).decimals is None


def test_new_numbers_are_rounded_and_recognised():
    made = read([1, 3]).of_numbers(np.array([2.6, 1.2, 9.0, np.nan]))
    assert made.level.tolist() == [1, 0, NEW, MISSING]
    assert made.number[:3].tolist() == [3, 1, 9]


def test_dates_are_points_in_time():
    one = read([date(1970, 1, 3), None, date(1970, 1, 1)])
    assert (one.kind, one.amounts.tolist(), one.held.level.tolist()) == ("date", [0, 2], [1, MISSING, 0])
    far = [pd.Timestamp("2020-05-01"), pd.Timestamp("1950-01-01"), pd.NaT]
    moments = read_variable(open_frame(pd.DataFrame({"x": far}))["x"])
    assert (moments.kind, moments.held.level.tolist()) == ("date", [1, 0, MISSING])


def test_engines_agree():
    frame = pl.DataFrame({"x": ["b", None, "a"], "y": [3, None, 1]})
    for name in frame.columns:
        ours, theirs = (read_variable(open_frame(one)[name]) for one in (frame, frame.to_pandas()))
        assert ours.held.level.tolist() == theirs.held.level.tolist()
        assert ours.labels == theirs.labels


def test_labels_of_numbers_do_not_depend_on_the_type():
    assert number_label(2) == number_label(2.0) == "2"


def test_what_tells_of_others():
    names = read([f"name {i}" for i in range(40)])
    assert not is_usable(names, 40)
    assert not is_usable(read([None, None], dtype=pl.String), 2)
    assert not is_usable(read([1, 1]), 2)
    assert is_usable(read([1, None]), 2)
    with pytest.raises(DataError, match="40 different texts in 40 records"):
        refuse_unfit([names], 40)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([None, None], "no value at all"),
        ([5, 5], "is constant"),
        ([1.0, float("inf")], r"infinite values \(row 2\)"),
    ],
)
def test_bad_columns(values, message):
    with pytest.raises(DataError, match=message):
        refuse_unfit([read(values, dtype=None if values[0] else pl.Int64)], 2)


def test_few_codes_and_many_are_read_alike():
    """Codes that are not many more than the records are counted, others sorted."""
    near, far = [7, 3, None, 7, 5, 3], [7, 3, None, 7, 5_000, 3]
    one, other = read(near), read(far)
    assert one.held.level.tolist() == [2, 0, MISSING, 2, 1, 0]
    assert other.held.level.tolist() == [1, 0, MISSING, 1, 2, 0]
    assert (one.first.tolist(), other.first.tolist()) == ([1, 4, 0], [1, 0, 4])
    assert (one.amounts.tolist(), other.amounts.tolist()) == ([3, 5, 7], [3, 7, 5_000])
