"""Columns replaced on every engine in memory: the other columns, the index, the order and the types stay."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sdckit.data.frames import open_frame
from sdckit.data.replace import drop_columns, open_eager, take_rows, with_levels, with_numbers
from sdckit.errors import ColumnError, DataError

DATA = {"i": [1, 2, 3], "f": [0.5, 1.5, 2.5], "s": ["a", "b", "c"], "b": [True, False, True]}
LEVELS = ["x", "y", "x"]


def pandas_frame():
    return pd.DataFrame({**DATA, "c": pd.Categorical(LEVELS)}, index=[5, 5, 7])


FRAMES = {
    "pandas": pandas_frame,
    "pandas nullable": lambda: pandas_frame().convert_dtypes(),
    "pandas arrow": lambda: pandas_frame().convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda: pl.DataFrame(DATA).with_columns(c=pl.Series(LEVELS, dtype=pl.Categorical)),
    "pyarrow": lambda: pa.table({**DATA, "c": pa.array(LEVELS).dictionary_encode()}),
}


def values(frame, name):
    found = frame[name].to_pylist() if isinstance(frame, pa.Table) else frame[name].to_list()
    return [None if pd.isna(value) else value for value in found]


def types(frame):
    if isinstance(frame, pa.Table):
        return dict(zip(frame.schema.names, frame.schema.types, strict=True))
    return dict(frame.schema) if isinstance(frame, pl.DataFrame) else dict(frame.dtypes)


@pytest.fixture(params=FRAMES)
def frame(request):
    return FRAMES[request.param]()


def test_rows_are_taken_and_types_kept(frame):
    before = types(frame)
    out = take_rows(open_frame(frame), dict.fromkeys([*DATA, "c"], np.array([2, 0, 0])))
    assert [values(out, name) for name in [*DATA, "c"]] == [
        [3, 1, 1], [2.5, 0.5, 0.5], ["c", "a", "a"], [True, True, True], ["x", "x", "x"]
    ]  # fmt: skip
    assert types(out) == before
    assert values(frame, "i") == [1, 2, 3]  # the caller's frame is as it was


def test_a_missing_source_makes_the_value_missing(frame):
    out = take_rows(open_frame(frame), dict.fromkeys([*DATA, "c"], np.array([2, -1, 0])))
    assert [values(out, name) for name in [*DATA, "c"]] == [
        [3, None, 1], [2.5, None, 0.5], ["c", None, "a"], [True, None, True], ["x", None, "x"]
    ]  # fmt: skip
    kept = {name: kind for name, kind in types(out).items() if kind == types(frame)[name]}
    assert set(kept) >= {"f", "s", "c"}
    assert str(types(out)["i"]).lower().startswith("int64")


def test_whole_numbers_stay_integers(frame):
    out = with_numbers(
        open_frame(frame), {"i": np.array([3.0, np.nan, 2.0]), "f": np.array([1.0, np.nan, 2.0])}
    )
    assert values(out, "i") == [3, None, 2]
    assert values(out, "f") == [1.0, None, 2.0]
    assert str(types(out)["i"]).lower().startswith("int64")


def test_fractions_make_floats_of_integers(frame):
    out = with_numbers(open_frame(frame), {"i": np.array([0.5, 1.0, 2.0])})
    assert values(out, "i") == [0.5, 1.0, 2.0]


def test_numbers_too_large_for_the_type_make_floats():
    out = with_numbers(
        open_frame(pl.DataFrame({"x": pl.Series([1, 2], dtype=pl.Int8)})), {"x": np.array([300.0, 1])}
    )
    assert out["x"].to_list() == [300.0, 1.0]
    small = with_numbers(
        open_frame(pl.DataFrame({"x": pl.Series([1, 2], dtype=pl.UInt8)})), {"x": np.array([7.0, 1])}
    )
    assert small.schema == {"x": pl.UInt8}


def test_new_levels(frame):
    out = with_levels(open_frame(frame), {"i": (["low", "high"], np.array([1, -1, 0]))})
    assert values(out, "i") == ["high", None, "low"]
    assert values(out, "s") == DATA["s"]


def test_levels_of_mixed_types_are_refused():
    with pytest.raises(DataError, match="column 'x': its new values are of mixed types"):
        with_levels(open_frame(pl.DataFrame({"x": [1]})), {"x": (["a", 1], np.array([0]))})


def test_the_index_of_pandas_stays():
    frame = pandas_frame()
    for out in (
        take_rows(open_frame(frame), {"s": np.array([2, 1, 0])}),
        with_numbers(open_frame(frame), {"f": np.array([2.0, 1.0, 0.0])}),
        with_levels(open_frame(frame), {"s": (["u"], np.array([0, 0, 0]))}),
    ):
        assert out.index.tolist() == [5, 5, 7]
        assert out.columns.tolist() == frame.columns.tolist()


def test_columns_are_dropped(frame):
    out = drop_columns(open_frame(frame), ["i", "c"])
    assert list(types(out)) == ["f", "s", "b"]


def test_what_cannot_be_changed_is_refused():
    with pytest.raises(DataError, match="a plan cannot be changed in place"):
        open_eager(pl.LazyFrame(DATA), {})
    with pytest.raises(ColumnError, match="keys: no column 'ii' in the data; did you mean 'i'"):
        open_eager(pl.DataFrame(DATA), {"keys": ["ii"]})
    with pytest.raises(DataError, match="the data has no records"):
        open_eager(pl.DataFrame({"x": []}), {"keys": ["x"]})
