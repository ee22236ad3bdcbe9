"""E2: top and bottom coding: strict limits, three kinds of replacement, groups, types."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sdckit import top_bottom_code
from sdckit.errors import ColumnError, DataError

DATA = {"x": [1, 2, 5, 10, 20, 30, None], "sex": ["f", "m", "f", "m", "f", None, "f"], "s": list("abcdefg")}
FRAMES = {
    "polars": lambda: pl.DataFrame(DATA),
    "pandas": lambda: pd.DataFrame(DATA, index=[3, 3, 3, 1, 2, 4, 5]),
    "pandas nullable": lambda: pd.DataFrame(DATA).convert_dtypes(),
    "pandas arrow": lambda: pd.DataFrame(DATA).convert_dtypes(dtype_backend="pyarrow"),
    "pyarrow": lambda: pa.table(DATA),
}
POLARS = pl.DataFrame(DATA)


@pytest.fixture(params=FRAMES)
def frame(request):
    return FRAMES[request.param]()


def values(frame, name="x"):
    found = frame[name].to_pylist() if isinstance(frame, pa.Table) else frame[name].to_list()
    return [None if pd.isna(value) else value for value in found]


def coded(**options):
    return top_bottom_code(POLARS, column="x", **options)


def test_both_ends(frame):
    safe, change = top_bottom_code(frame, column="x", top=10, bottom=2)
    assert values(safe) == [2, 2, 5, 10, 10, 10, None]
    assert [values(safe, name) for name in ("sex", "s")] == [DATA["sex"], DATA["s"]]
    assert values(frame) == DATA["x"]
    assert (change.changed, change.secret, change.notes) == ({"x": 3}, {}, {})
    assert change.parameters == {"column": "x", "by": [], "to": "limit", "top": 10, "bottom": 2}
    if isinstance(frame, (pa.Table, pl.DataFrame)):
        assert safe.schema == frame.schema
    else:
        assert safe.dtypes.equals(frame.dtypes)
        assert safe.index.tolist() == frame.index.tolist()


def test_a_value_on_the_limit_stays():
    assert coded(top=30).change.changed == {"x": 0}
    assert coded(bottom=1).data.equals(POLARS)


def test_the_mean_of_equal_values_is_their_value_and_changes_nothing():
    data, change = top_bottom_code(pl.DataFrame({"x": [1.0] + [29.37] * 10}), column="x", top=5, to="mean")
    assert data["x"].to_list() == [1.0] + [29.37] * 10
    assert change.changed == {"x": 0}


def test_numbers_as_replacement():
    assert coded(top=10, to=15).data["x"].to_list() == [1, 2, 5, 10, 15, 15, None]
    both = coded(top=10, bottom=5, to={"top": 10, "bottom": 0})
    assert both.data["x"].to_list() == [0, 0, 5, 10, 10, 10, None]
    assert coded(top=10, bottom=5, to={"bottom": 0}).data["x"].to_list() == [0, 0, 5, 10, 10, 10, None]
    for number in (9, 10.5):
        end = {"top": 10} if number == 9 else {"bottom": 10}
        with pytest.raises(DataError, match="lies inside the limit"):
            coded(**end, to=number)


def test_the_mean_of_those_beyond():
    assert coded(top=5, to="mean").data["x"].to_list() == [1, 2, 5, 20, 20, 20, None]
    low = coded(bottom=10, to="mean")
    assert low.data["x"].to_list() == [8 / 3, 8 / 3, 8 / 3, 10, 20, 30, None]
    assert "whole numbers became floats" in low.change.notes["type"]
    with pytest.raises(DataError, match="fewer than 3 values are beyond top"):
        coded(top=10, to="mean")
    assert coded(top=30, to="mean").data.equals(POLARS)  # nobody beyond


def test_groups_have_their_own_mean():
    frame = pl.DataFrame({"g": list("aaaabbbb"), "x": [1, 10, 20, 30, 1, 40, 50, 60]})
    safe, change = top_bottom_code(frame, column="x", top=5, to="mean", by="g")
    assert safe["x"].to_list() == [1, 20, 20, 20, 1, 50, 50, 50]
    assert change.parameters["by"] == ["g"]
    two = frame.with_columns(h=pl.Series([1, 1, 1, 1, 2, 2, 2, 2]))
    assert top_bottom_code(two, column="x", top=5, to="mean", by=["g", "h"]).data["x"].equals(safe["x"])
    with pytest.raises(DataError, match="in 1 group fewer than 3 values are beyond top"):
        top_bottom_code(frame, column="x", top=10, to="mean", by="g")


def test_groups_have_their_own_limits():
    safe, change = coded(top={"f": 5, "m": None, None: 25}, by="sex")
    assert safe["x"].to_list() == [1, 2, 5, 10, 5, 25, None]
    assert change.parameters["top"] == "by group"
    assert change.secret == {"top": {"f": 5, "m": None, None: 25}}
    with pytest.raises(DataError, match="top: 2 groups of 'sex' without a limit"):
        coded(top={"f": 5}, by="sex")
    with pytest.raises(DataError, match="bottom is greater than top"):
        coded(top={"f": 5, "m": 1, None: 25}, bottom=2, by="sex")


def test_integers_that_floats_cannot_hold_stay():
    frame = pl.DataFrame({"x": [2**60 + 1, 5, 2]})
    assert top_bottom_code(frame, column="x", bottom=4).data["x"].to_list() == [2**60 + 1, 5, 4]


def test_a_value_on_the_limit_in_single_precision():
    frame = pl.DataFrame({"x": [0.1, 0.2]}, schema={"x": pl.Float32})
    safe, change = top_bottom_code(frame, column="x", top=0.1)
    assert safe.equals(pl.DataFrame({"x": [0.1, 0.1]}, schema={"x": pl.Float32}))
    assert change.changed == {"x": 1}


def test_infinite_values():
    frame = pl.DataFrame({"x": [math.inf, 5.0, 7.0, 9.0]})
    assert top_bottom_code(frame, column="x", top=6).data["x"].to_list() == [6, 5, 6, 6]
    with pytest.raises(DataError, match="infinite and have no mean"):
        top_bottom_code(frame, column="x", top=6, to="mean")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, DataError, "give top=, bottom= or both"),
        ({"top": 1, "bottom": 2}, DataError, "bottom is greater than top"),
        ({"top": "many"}, DataError, "top is a limit.* a finite number"),
        ({"top": True}, DataError, "top is a limit.* a finite number"),
        ({"bottom": np.inf}, DataError, "bottom is a limit.* a finite number"),
        ({"top": 5, "to": "median"}, DataError, 'to is "limit", "mean", or the new value; give a finite number'),
        ({"top": 5, "to": math.nan}, DataError, 'to is "limit", "mean", or the new value; give a finite number'),
        ({"top": 5, "to": {"up": 5}}, DataError, 'entries "top" and "bottom" only'),
        ({"top": {"f": 1}}, DataError, "name it with by="),
        ({"top": {"f": 1}, "by": ["sex", "s"]}, DataError, "name it with by="),
        ({"top": {"f": "x", "m": 1, None: 1}, "by": "sex"}, DataError, "top is a limit.* a finite number"),
        ({"top": 5, "by": "x"}, ColumnError, "group by another one"),
        ({"top": 5, "by": "sexx"}, ColumnError, "by: no column 'sexx'"),
        ({"top": 5, "column": "s"}, DataError, "not numbers"),
        ({"top": 5, "column": "y"}, ColumnError, "column: no column 'y'"),
    ],
)
def test_bad_input(options, error, message):
    with pytest.raises(error, match=message):
        top_bottom_code(POLARS, **{"column": "x", **options})
