"""Distinct values of a column of any type, on every engine in memory."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sdckit.data.columns import distinct_values, kind_of_value
from sdckit.data.frames import open_frame
from sdckit.errors import DataError


def of(column):
    frame = column if isinstance(column, pa.Table) else type_frame(column)
    return distinct_values(open_frame(frame)["x"])


def type_frame(column):
    if isinstance(column, pd.Series):
        return pd.DataFrame({"x": column})
    return pl.DataFrame({"x": column})


DAY = dt.date(2020, 1, 2)
TEXTS = {
    "polars": pl.Series(["b", "a", None, "b"]),
    "polars categorical": pl.Series(["b", "a", None, "b"], dtype=pl.Categorical),
    "pandas": pd.Series(["b", "a", None, "b"]),
    "pandas object": pd.Series(["b", "a", None, "b"], dtype=object),
    "pyarrow": pa.table({"x": ["b", "a", None, "b"]}),
    "pyarrow view": pa.table({"x": pa.array(["b", "a", None, "b"], pa.string_view())}),
    "pyarrow dictionary": pa.table({"x": pa.array(["b", "a", None, "b"]).dictionary_encode()}),
}


@pytest.mark.parametrize("column", TEXTS.values(), ids=TEXTS)
def test_text(column):
    found = of(column)
    assert [found.values[code] if code >= 0 else None for code in found.codes] == ["b", "a", None, "b"]
    assert (sorted(found.values), found.kind, sorted(found.counts())) == (["a", "b"], "text", [1, 2])


@pytest.mark.parametrize(
    ("column", "values", "codes", "kind"),
    [
        (pl.Series([2, None, 2, 7]), [2, 7], [0, -1, 0, 1], "number"),
        (pl.Series([0.0, -0.0, math.nan, 1.5]), [0, 1.5], [0, 0, -1, 1], "number"),
        (pd.Series([1, None, 2]), [1, 2], [0, -1, 1], "number"),
        (pd.Series([1, None, 2], dtype="Int64"), [1, 2], [0, -1, 1], "number"),
        (pd.Series([1, None, 2], dtype="category"), [1, 2], [0, -1, 1], "number"),
        (pl.Series([Decimal("1.50"), None]), [1.5], [0, -1], "number"),
        (pl.Series([True, None, False]), [True, False], [0, -1, 1], "boolean"),
        (pl.Series([DAY, None]), [DAY], [0, -1], "date"),
        (pl.Series([b"x", None]), [b"x"], [0, -1], "other"),
        (pl.Series([None, None]), [], [-1, -1], "empty"),
        (pl.Series([math.nan, None]), [], [-1, -1], "empty"),
    ],
)
def test_other_types(column, values, codes, kind):
    found = of(column)
    assert found.values == values
    assert found.codes.tolist() == codes
    assert found.kind == kind


def test_categories_keep_their_order_without_the_unused_ones():
    found = of(pl.Series(["a", "c"], dtype=pl.Enum(["c", "b", "a"])))
    assert (found.values, found.codes.tolist(), found.category) == (["c", "a"], [1, 0], True)
    repeated = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["a", None, "a"]))
    found = of(pa.table({"x": repeated}))
    assert (found.values, found.codes.tolist()) == (["a"], [0, -1, 0])


def test_intervals_of_pandas_go_by_their_text():
    found = of(pd.Series(pd.cut([1, 2, np.nan], [0, 1, 3])))
    assert (found.values, found.codes.tolist(), found.kind) == (["(0, 1]", "(1, 3]"], [0, 1, -1], "text")


def test_lists_are_refused():
    with pytest.raises(DataError, match="needs one plain value per record"):
        of(pl.Series([[1], [2]]))


def test_the_kind_of_a_value():
    values = [np.int64(1), Decimal(1), np.bool_(True), DAY, dt.datetime(2020, 1, 1), b"x", np.nan]
    assert [kind_of_value(value) for value in values] == [
        "number", "number", "boolean", "date", "date", "other", "number"
    ]  # fmt: skip


def test_the_hour_that_comes_twice_is_two_values():
    """Python takes half past two before and after the end of summer time for equal."""
    instants = pl.Series([dt.datetime(2020, 10, 25, 0, 30), dt.datetime(2020, 10, 25, 1, 30)] * 2)
    found = of(instants.dt.replace_time_zone("UTC").dt.convert_time_zone("Europe/Vienna"))
    assert (found.codes.tolist(), [str(value)[-6:] for value in found.values]) == ([0, 1, 0, 1], ["+02:00", "+01:00"])


def test_a_date_beyond_the_year_9999_is_named_by_its_number():
    found = of(pl.Series([10_000_000, 3, None], dtype=pl.Int32).cast(pl.Date))
    assert (found.values, found.codes.tolist()) == (["10000000 days since 1970", "3 days since 1970"], [0, 1, -1])
