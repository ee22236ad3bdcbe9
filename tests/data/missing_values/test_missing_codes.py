"""Codes that mean missing."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import polars as pl
import pytest

from sdckit.data.missing_values.missing_codes import (
    DEFAULT_CODES,
    Found,
    apply_codes,
    code_texts,
    counted_codes,
    found_texts,
    suspects,
    take_defaults,
)


def test_none_is_an_answer():
    assert "None" not in DEFAULT_CODES


def test_a_number_has_several_spellings():
    assert code_texts(["-9"]) == ["-9", "-9.0", "-9,0"]
    assert code_texts(["9.50", "x", "1e400", "-"]) == ["9.50", "x", "1e400", "-"]
    assert code_texts(["+9"])[:2] == ["+9", "9"]


@pytest.mark.parametrize(
    ("values", "dtype", "codes", "wanted"),
    [
        ([1, -9], pl.Int8, ["-9"], [1, None]),
        ([1, 9], pl.UInt8, ["-9", "300", "1e30", "0.5"], [1, 9]),
        ([1.5, -9.0], pl.Float32, ["-9"], [1.5, None]),
        ([1.5, float("nan")], pl.Float64, ["NaN"], [1.5, None]),
        ([Decimal("1.50"), Decimal("9.00")], pl.Decimal(5, 2), ["9"], [Decimal("1.50"), None]),
        (["a", "9"], pl.Categorical, ["9"], ["a", None]),
        (["a", "9"], pl.String, ["9.0"], ["a", None]),
        ([True, None], pl.Boolean, ["1"], [True, None]),
        ([date(2020, 1, 1)], pl.Date, ["1", "NA"], [date(2020, 1, 1)]),
        ([None, None], pl.Null, ["1"], [None, None]),
        ([[9]], pl.List(pl.Int64), ["9"], [[9]]),
    ],
)
def test_every_type(values, dtype, codes, wanted):
    frame = pl.DataFrame({"x": pl.Series(values, dtype=dtype)})
    done = apply_codes(frame, codes)
    assert done["x"].to_list() == wanted
    assert done["x"].dtype == frame["x"].dtype


def test_no_codes_no_change():
    frame = pl.DataFrame({"x": ["NA"]})
    assert apply_codes(frame, []) is frame


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(["a", "NA", "", "."])])
def test_defaults_in_texts(dtype):
    frame = pl.DataFrame(
        {"x": pl.Series(["a", "NA", "", None, "NA", "."], dtype=dtype), "n": [float("nan")] * 6}
    )
    done, found = take_defaults(frame)
    assert done["x"].to_list() == ["a", None, None, None, None, None]
    assert done.schema == frame.schema
    assert found == (Found("x", "NA", 2), Found("x", ".", 1))


def test_texts_without_codes_stay():
    frame = pl.DataFrame({"x": ["a", "None"], "n": [1, 2]})
    assert take_defaults(frame)[0].equals(frame)
    assert found_texts(pl.DataFrame({"n": [1]}), ["1"]) == ()


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

    monkeypatch.setattr("sdckit.data.missing_values.missing_codes._far_off", forbidden)
    assert suspects(pl.DataFrame({"a": range(98), "b": [0.5] * 98})) == ()


def test_what_is_counted_is_what_becomes_missing():
    frame = pl.DataFrame(
        {"a": [-9, 1, None, -9], "b": ["-9.0", "NA", "x", ""], "c": [-9.0, 2.5, -99.0, 1.0], "d": [True] * 4}
    )
    codes = ["-9", "NA", "-99", "", "-9"]
    found = counted_codes(frame, codes)
    assert [(one.column, one.code, one.records) for one in found] == [
        ("a", "-9", 2), ("b", "-9", 1), ("c", "-9", 1), ("b", "NA", 1), ("c", "-99", 1),
    ]  # fmt: skip
    gone = apply_codes(frame, [code for code in codes if code])
    for name in frame.columns:
        more = gone[name].null_count() - frame[name].null_count()
        assert more == sum(one.records for one in found if one.column == name)
    assert counted_codes(frame.select("d"), codes) == ()
