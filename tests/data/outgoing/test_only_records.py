"""The one way out of a protected frame."""

from __future__ import annotations

import narwhals.stable.v2 as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from laden_files import LADEN, categories, laden, shown
from sdckit.data.outgoing.only_records import only_records
from sdckit.errors import DataError

SIZES = ["S", "M", "L", "XL"]


def as_polars(values):
    return pl.DataFrame({"x": pl.Series(values, dtype=pl.Enum(SIZES))})


def as_pandas(values):
    return pd.DataFrame({"x": pd.Categorical(values, categories=SIZES)})


def as_arrow(values):
    places = pa.array([None if one is None else SIZES.index(one) for one in values])
    return pa.table({"x": pa.DictionaryArray.from_arrays(places, pa.array(SIZES))})


@pytest.mark.parametrize("make", [as_polars, as_pandas, as_arrow])
def test_files_of_one_list_fit_together(make):
    first, second = only_records([make(["L", None]), make(["S", "S"])])
    assert categories(first, "x") == categories(second, "x") == ["S", "L"]
    assert categories(only_records(make(["L", None])), "x") == ["L"]
    other = (
        make(["XL"])
        if make is as_pandas
        else pl.DataFrame({"x": pl.Series(["XL"], dtype=pl.Enum(["XL", "M"]))})
    )
    alone = only_records([as_polars(["L"]), other])[0]
    assert categories(alone, "x") == (["L", "XL"] if make is as_pandas else ["L"])


@pytest.mark.parametrize("engine", LADEN)
def test_values_types_and_order_stay(engine):
    given = laden(engine)
    found = only_records(given)
    assert type(found) is type(given)
    for name in ("name", "home", "sex", "job", "note", "code", "age", "income", "w"):
        assert shown(found, name) == shown(given, name)
    again = only_records(found)
    assert categories(again, "job") == categories(found, "job")


def test_a_frame_of_narwhals_and_no_frame():
    assert isinstance(only_records(nw.from_native(as_polars(["S"]))), pl.DataFrame)
    assert only_records([]) == []
    with pytest.raises(DataError, match="not a data frame"):
        only_records(1)
