"""Values that may mean missing."""

from __future__ import annotations

import polars as pl
import pytest

from sdckit.data.missing_values.suspects import suspects


def codes(values, dtype=None):
    return [(one.code, one.records) for one in suspects(pl.DataFrame({"x": pl.Series(values, dtype=dtype)}))]


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([1, 2, 3, -9], [("-9", 1)]),
        ([0, 2, -9, -8, -8, -7], [("-9", 1), ("-8", 2), ("-7", 1)]),
        ([1.5, 2.5, -999.0, None, float("nan")], [("-999", 1)]),
        ([-20, -3, 5, 8, -999], [("-999", 1)]),
        ([*range(1, 13), 99, 99], [("99", 2)]),
        ([*range(50), 999, 999, 99, 99], [("999", 2), ("99", 2)]),
        ([*range(1, 6), -9, 99, 99], [("-9", 1), ("99", 2)]),
        ([1, 1, 99, 99], [("99", 2)]),
    ],
)
def test_numbers(values, found):
    assert codes(values) == found


@pytest.mark.parametrize(
    "values",
    [
        list(range(1, 100)),  # 99 is one of many
        list(range(1, 1000)),
        [*range(1, 13), 99],  # a single large number may be somebody's
        [*range(-9, 10)],
        [-99, -98, -50, -3],
        [-9, -9],
        [99, 99],
        [98, 1],
        [None, None],
        [],
        [True, False],
    ],
)
def test_no_numbers(values):
    assert codes(values) == []


@pytest.mark.parametrize("dtype", [pl.Int8, pl.Int16, pl.Int64, pl.Float32])
def test_types_of_numbers(dtype):
    assert codes([1, 2, 3, -99], dtype) == [("-99", 1)]
    assert codes([1, 2, 3, 99, 99], dtype) == [("99", 2)]


def test_unsigned():
    assert codes([1, 2, 3, 99, 99], pl.UInt8) == [("99", 2)]


@pytest.mark.parametrize(
    "dtype", [pl.String, pl.Categorical, pl.Enum(["a", "Refused", "don't know", "lost"])]
)
def test_words(dtype):
    found = codes(["a", "Refused", "Refused", "don't know", None, "lost"], dtype)
    assert found == [("Refused", 2), ("don't know", 1)]
    assert codes(["a", "lost"], dtype) == []


def test_only_the_extremes_of_other_columns_are_looked_for(monkeypatch):
    def forbidden(_):
        raise AssertionError("another pass over a column that gives no reason")

    monkeypatch.setattr("sdckit.data.missing_values.suspects._far_off", forbidden)
    assert suspects(pl.DataFrame({"a": range(98), "b": [0.5] * 98})) == ()
