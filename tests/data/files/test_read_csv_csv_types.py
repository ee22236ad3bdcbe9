"""Types of CSV columns."""

from __future__ import annotations

import datetime as dt

import polars as pl
import pytest
from hypothesis import given, strategies as st

from sdckit.data.files.read_csv import kinds_to_try, other_decimals, typed
from sdckit.data.files.readers import read_file
from sdckit.data.missing_values.missing import Found
from sdckit.errors import SdcWarning


def read(values, delimiter=",", decimal=None):
    scan = pl.LazyFrame({"x": pl.Series(values, dtype=pl.String)})
    return typed(scan, ["x"], kinds_to_try(delimiter, decimal))[0]["x"]


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        (["1", "-2", None], [1, -2, None]),
        (["1", "2.5"], [1.0, 2.5]),
        (["0", "-0", "00"], ["0", "-0", "00"]),
        (["0.5", "0"], [0.5, 0.0]),
        (["01.5", "2"], ["01.5", "2"]),
        (["1e+05", "2"], [1e5, 2.0]),
        (["1234567890123456", "0.5"], ["1234567890123456", "0.5"]),
        (["1", "x"], ["1", "x"]),
        ([" 1", "2 "], [1, 2]),
        ([None, None], [None, None]),
        (["true"], ["true"]),
        (["1", "inf"], [1.0, float("inf")]),
        (["2020-02-29", None, "1899-12-31"], [dt.date(2020, 2, 29), None, dt.date(1899, 12, 31)]),
        (["2020-02-29", "2019-02-29"], ["2020-02-29", "2019-02-29"]),
        (["2020-02-09", "2020-2-9"], ["2020-02-09", "2020-2-9"]),
        (["2020-02-09 ", "2020-02-09"], ["2020-02-09 ", "2020-02-09"]),
        (["09.02.2020"], ["09.02.2020"]),
    ],
)
def test_types(values, wanted):
    found = read(values)
    assert found.to_list() == wanted
    assert found.dtype == (pl.String if wanted[0] is None else pl.Series(wanted).dtype)


@pytest.mark.parametrize(
    ("delimiter", "decimal", "last"),
    [
        (";", None, "comma"),
        ("\t", None, "comma or text"),
        (",", None, "point"),
        (";", ".", "point"),
        (",", ",", "comma"),
    ],
)
def test_decimal_marks(delimiter, decimal, last):
    assert kinds_to_try(delimiter, decimal)[-3:] == (last, "date", "text")


def test_codes_are_missing_and_counted_once_whatever_kind_is_tried():
    values = ["1"] * 10_000 + ["NA", "x", None, "", "NA"]
    frame, found = typed(pl.LazyFrame({"x": values}), ["x"], kinds_to_try(",", None), ["NA", "."])
    assert frame["x"].tail(5).to_list() == [None, "x", None, None, None]
    assert found == (Found("x", "NA", 2),)


def test_texts_under_the_other_decimal_mark():
    frame = pl.DataFrame({"w": ["1,5", None], "code": ["01,5", "2"], "t": ["1,5", "a"], "n": [1, 2]})
    assert other_decimals(frame, kinds_to_try(",", None)) == (["w"], ",")
    assert other_decimals(pl.DataFrame({"w": ["1.5"]}), kinds_to_try(";", None)) == (["w"], ".")
    late = pl.DataFrame({"w": ["1,5"] * 10_000 + ["x"]})
    assert other_decimals(late, kinds_to_try(",", None)) == ([], ",")


@given(st.lists(st.integers(-(2**62), 2**62), min_size=1))
def test_integers_come_back(values):
    assert read([str(v) for v in values]).to_list() == values


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=1))
def test_decimals_come_back_exactly(values):
    plain = [v for v in values if abs(v) < 1e15 and v == round(v, 6)]
    if plain:
        assert read([f"{v:.6f}" for v in plain]).to_list() == plain
        assert read([f"{v:.6f}".replace(".", ",") for v in plain], ";").to_list() == plain


@pytest.mark.parametrize("values", [("31.12.1950", "1.2.1971"), ("12/31/1950", "02/01/1971"), ("31-12-1950", "")])
def test_dates_in_another_order_are_named(tmp_path, values):
    """They stay text, and no step makes text coarser by month or year."""
    file = tmp_path / "survey.csv"
    lines = "\n".join(f"{i};{value}" for i, value in enumerate(values))
    file.write_text(f"a;born\n{lines}\n", encoding="utf-8")
    with pytest.warns(SdcWarning, match="read as text, .* date in another order than year-month-day: 'born'. If so"):
        assert read_file(file)["born"][0] == values[0]
    file.write_text("a;born\n1;31.12.1950\n2;spring 1971\n", encoding="utf-8")
    read_file(file)  # no warning: not all are dates


@pytest.mark.parametrize("values", [("1,234.50", "7.25"), ("1.234,50", "7"), ("1'234", "0"), ("12\u202f345,5", "-3")])
def test_marks_between_thousands_are_named(tmp_path, values):
    lines = "\n".join(f'{i};"{value}"' for i, value in enumerate(values))
    file = tmp_path / "survey.csv"
    file.write_text(f"a;w\n{lines}\n", encoding="utf-8")
    with pytest.warns(SdcWarning, match="survey.csv: read as text, .* with a mark between thousands: 'w'. If so write"):
        assert read_file(file)["w"].to_list() == [*values]
