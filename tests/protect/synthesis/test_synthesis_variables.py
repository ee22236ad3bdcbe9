"""Columns as synthesis sees them."""

from __future__ import annotations

from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sdckit.data.frames import open_frame
from sdckit.errors import ColumnError, DataError
from sdckit.protect.synthesis.synthesis_variables import (
    MISSING,
    NEW,
    Values,
    is_usable,
    number_label,
    read_rules,
    read_variable,
    refuse_unfit,
    written,
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
    [([None, None], "no value at all"), ([5, 5], "is constant"), ([1.0, float("inf")], r"infinite values \(row 2\)")],
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


# Drawn values written into a frame: types stay, also in a file of another length.


COLUMNS = {"sex": ["f", "m", "f"], "age": [20, 30, 40], "land": ["here"] * 3}


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table])
@pytest.mark.parametrize("n_made", [None, 2, 5])
def test_levels_and_new_numbers(make, n_made):
    frame = open_frame(make(COLUMNS))
    variables = {name: read_variable(frame[name]) for name in ("sex", "age")}
    n = n_made or 2
    rows = np.arange(n) if n_made else np.array([0, 2])
    made = {
        "sex": Values(np.resize([1, -1], n), None),
        "age": Values(np.resize([NEW, 2], n), np.resize([33.0, 40.0], n)),
    }
    found = open_frame(written(frame, variables, rows, made, n_made))
    expected = {
        None: (["m", "m", None], [33, 30, 40]),
        2: (["m", None], [33, 40]),
        5: (["m", None, "m", None, "m"], [33, 40, 33, 40, 33]),
    }[n_made]
    assert [one if isinstance(one, str) else None for one in found["sex"].to_list()] == expected[0]
    assert found["age"].to_list() == expected[1]
    assert found["age"].dtype == frame["age"].dtype
    assert found["land"].to_list() == ["here"] * len(found)


def test_numbers_stay_in_the_range_of_their_type():
    frame = open_frame(pl.DataFrame({"x": pl.Series([1, 2], dtype=pl.Int8)}))
    variable = read_variable(frame["x"])
    made = {"x": variable.of_numbers(np.array([1e6, -1e6]))}
    assert written(frame, {"x": variable}, np.arange(2), made)["x"].to_list() == [127, -128]


@pytest.mark.parametrize(("least", "most", "of"), [(-128, 127, pl.Int8), (0, 255, pl.UInt8)])
def test_a_number_beyond_its_type_is_the_level_at_its_end(least, most, of):
    """What is written there is a value of the original, and counts as one: as unchanged, and among the copies."""
    variable = read_variable(open_frame(pl.DataFrame({"x": pl.Series([least, most, 7], dtype=of)}))["x"])
    assert variable.of_numbers(np.array([-1e6, 1e6, 8.0, np.nan])).level.tolist() == [0, 2, NEW, MISSING]


# Rules: what they mean, and what is refused.


FRAME = pl.DataFrame(
    {"age": [10, 30, None, 50], "marital": ["s", "m", "s", None], "income": [0.0, 10.5, 20.0, 30.0],
     "born": pl.Series([1, 2, 3, 4]).cast(pl.Date)}
)  # fmt: skip
V = {name: read_variable(open_frame(FRAME)[name]) for name in FRAME.columns}
BEFORE = {"marital": {"age", "born"}, "income": {"age", "marital", "born"}}


def holds(column, when, value=None):
    (rule,) = read_rules({column: {"when": when, "value": value}}, V, BEFORE)[column]
    return rule.holds({name: one.held for name, one in V.items()}, 4).tolist()


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ({"age": {"below": 30}}, [1, 0, 0, 0]),
        ({"age": {"at_most": 30}}, [1, 1, 0, 0]),
        ({"age": {"above": 30}}, [0, 0, 0, 1]),
        ({"age": {"at_least": 30, "below": 50}}, [0, 1, 0, 0]),
        ({"age": 30}, [0, 1, 0, 0]),
        ({"age": [10, 50, 99]}, [1, 0, 0, 1]),
        ({"age": {"missing": True}}, [0, 0, 1, 0]),
        ({"marital": {"missing": False}}, [1, 1, 1, 0]),
        ({"marital": "s", "age": {"below": 99}}, [1, 0, 0, 0]),
    ],
)
def test_conditions(when, expected):
    assert holds("income", when) == [bool(one) for one in expected]


def test_values():
    def value(column, given):
        rule = {"when": {"age": 10}, "value": given}
        return read_rules({column: [rule]}, V, BEFORE)[column][0].value

    assert value("marital", "s").level.tolist() == [1]
    assert value("marital", None).level.tolist() == [-1]
    assert value("income", 10.5).level.tolist() == [1]
    assert (value("income", 7.0).level.tolist(), value("income", 7.0).number.tolist()) == ([NEW], [7])


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ([], DataError, "given by column"),
        ({"age": {"when": {"income": 1}, "value": 1}}, ColumnError, "'age' is not among the columns to synthesise"),
        ({"marital": {"when": {"income": 1}, "value": "s"}}, ColumnError, "'income' is not known when"),
        ({"marital": {"when": {"age": 1}}}, DataError, "a rule is"),
        ({"marital": {"when": {}, "value": "s"}}, DataError, "no condition"),
        ({"marital": {"when": {"age": {"under": 3}}, "value": "s"}}, DataError, "a condition is"),
        ({"marital": {"when": {"born": {"below": 3}}, "value": "s"}}, DataError, "is no number"),
        ({"marital": {"when": {"born": 3}, "value": "s"}}, DataError, "holds dates"),
        ({"marital": {"when": {"age": "old"}, "value": "s"}}, DataError, "'age' holds numbers"),
        ({"marital": {"when": {"age": 1}, "value": "divorced"}}, DataError, "no record holds the value"),
    ],
)
def test_bad_rules(given, error, message):
    with pytest.raises(error, match=message):
        read_rules(given, V, BEFORE)
