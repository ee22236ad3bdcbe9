"""Columns as an intruder reads them."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest

from attacks.recovery.made import read
from sdckit.attacks.recovery.released_columns import read_columns
from sdckit.data.frames import open_frame


def test_numbers_texts_and_missing_values():
    found = read(pl.DataFrame({"a": [3, 1, None, 3], "b": ["x", None, "y", "x"]}))
    a, b = found["a"], found["b"]
    assert a.missing.tolist() == [False, False, True, False]
    assert a.numbers is not None
    assert a.numbers[[0, 1, 3]].tolist() == [3, 1, 3]
    assert a.codes[0] == a.codes[3] != a.codes[1]
    assert (b.numbers, b.low, b.n_levels, b.whole) == (None, None, 2, False)
    assert [b.labels()[code - 1] for code in b.codes if code] == ["x", "y", "x"]
    assert b.sizes.tolist()[0] == 1
    assert sorted(b.sizes.tolist()) == [1, 1, 2]


def test_labels_of_ranges_are_numbers():
    column = read(pl.DataFrame({"age": ["30-39", "5+", "up to 17", None]}))["age"]
    assert column.from_labels
    assert column.low is not None
    assert column.high is not None
    assert column.low[:3].tolist() == [30, 5, -np.inf]
    assert column.high[:3].tolist() == [39, np.inf, 17]
    assert column.numbers is not None
    assert np.isnan(column.numbers).all()
    assert column.whole
    assert read(pl.DataFrame({"age": ["30-39", "old"]}))["age"].low is None


def test_half_open_ranges_of_whole_numbers_and_of_others():
    """(0, 10] begins at 1 among whole numbers; a label with a fraction says that they are not whole."""
    cut = pd.cut(pd.Series([1, 5, 15]), [0, 10, 20])
    column = read_columns(open_frame(pd.DataFrame({"x": cut})), ["x"])["x"]
    assert column.low is not None
    assert column.low.tolist() == [1, 1, 11]
    cut = pd.cut(pd.Series([0.5, 5, 15]), [0, 10.5, 20])
    column = read_columns(open_frame(pd.DataFrame({"x": cut})), ["x"])["x"]
    assert column.low is not None
    assert column.low.tolist() == [0, 0, 10.5]
    assert not column.whole


def test_infinite_numbers_are_values_but_no_numbers():
    column = read(pl.DataFrame({"x": [1.0, float("inf"), float("-inf"), None]}))["x"]
    assert column.missing.tolist() == [False, False, False, True]
    assert column.numbers is not None
    assert column.numbers[0] == 1
    assert np.isnan(column.numbers[1:]).all()


@pytest.mark.parametrize("kind", [pl.Int64, pl.UInt64])
def test_whole_numbers_too_large_for_floats_are_ids(kind):
    big = [2**60, 2**60 + 1, 2**60 + 2]
    column = read(pl.DataFrame({"id": big}, schema={"id": kind}))["id"]
    assert column.low is None
    assert column.n_levels == 3
    assert column.labels() == [str(one) for one in big]


def test_dates_are_days_and_what_holds_no_values_is_left_out():
    days = [dt.date(2020, 1, 1), dt.date(2020, 1, 31)]
    found = read(pl.DataFrame({"d": days, "l": [[1], [2]], "f": [True, False]}))
    assert found["d"].numbers is not None
    assert np.diff(found["d"].numbers).tolist() == [30]
    assert "l" not in found
    assert found["f"].n_levels == 2
