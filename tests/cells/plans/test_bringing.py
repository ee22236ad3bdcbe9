"""Columns brought here in the order of the file, and values put back by place."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from plans import collected, on_engines, opened
from sdckit.cells.plans.bringing import as_codes, bring, is_text, others, put_back
from sdckit.data.frames import collect
from sdckit.errors import ColumnError, DataError

COLUMNS = {
    "t": ["b", None, "a", "b", "Ä", None],
    "x": [1.5, None, float("nan"), 2.0, 1.5, 0.0],
    "i": pl.Series([3, 1, None, 3, 2, 1], dtype=pl.Int16),
    "d": np.arange(6).astype("datetime64[D]"),
}


@on_engines
def test_columns_come_in_the_order_of_their_places(plan: Any) -> None:
    frame = opened(plan, COLUMNS)
    found = bring(frame, ["t", "x", "i", "d"], "row", {})
    assert found.place.tolist() == list(range(6))
    assert found.table["t"].to_pylist() == COLUMNS["t"]
    assert found.table["t"].chunk(0).dictionary.to_pylist() == ["a", "b", "Ä"]
    assert np.isnan(found.table["x"].to_pylist()[2])
    assert found.table["x"].null_count == 1
    assert found.table["i"].type == pa.int16()
    assert found.table["d"].type == pa.date32()
    back = bring(frame.with_columns(row=(50 - nw.col("row") * 10)), ["t", "i"], "row", {})
    assert back.place.tolist() == [0, 10, 20, 30, 40, 50]
    assert back.table["t"].to_pylist() == COLUMNS["t"][::-1]
    assert back.table["i"].to_pylist() == COLUMNS["i"].to_list()[::-1]


@on_engines
def test_values_go_back_to_their_places(plan: Any) -> None:
    frame = opened(plan, COLUMNS)
    found = bring(frame, list(COLUMNS), "row", {})
    hit = np.array([True, False, False, True, False, True])
    text = pa.chunked_array([pa.array(["q", "q", "q", None, "q", "r"]).dictionary_encode()])
    half = pa.chunked_array([pa.array([0.5, 9, 9, 7, 9, None])])
    made = collected(put_back(frame, "row", found, hit, {"t": text, "i": half}).to_native())
    assert made.columns == [*COLUMNS, "row"]
    assert made["t"].to_list() == ["q", None, "a", None, "Ä", "r"]
    assert (made["i"].dtype, made["i"].to_list()) == (pl.Float64, [0.5, 1, None, 7, 2, None])
    assert made["x"].is_nan().to_list() == [False, None, True, False, False, False]


@on_engines
@pytest.mark.parametrize("column", ["t", "x", "i", "d"])
def test_records_that_are_numbered_anew_get_no_values_of_others(plan: Any, column: str) -> None:
    frame = opened(plan, COLUMNS)
    found = bring(frame, [column], "row", {})
    new = {column: found.table.column(column).take(pa.array([1] * 6))}
    every, first = np.ones(6, bool), np.array([True, *[False] * 5])
    assert collected(put_back(frame, "row", found, every, new).to_native()).height == 6
    turned = frame.with_columns(row=5 - nw.col("row"))
    with pytest.raises(DataError, match="numbers the records of this plan anew each time"):
        collect(put_back(turned, "row", found, every, new))
    if column != "t":  # the last text is another than the first
        return
    with pytest.raises(DataError, match="sort the plan, or write it first"):
        collect(put_back(turned, "row", found, first, new).select(column))


def test_texts_become_codes_in_their_order() -> None:
    whole = pa.chunked_array(
        [pa.array(["S", "L"]).dictionary_encode(), pa.array([None, "M", "?"]).dictionary_encode()]
    )
    table = pa.table({"size": whole, "n": [1, 2, 3, 4, 5]})
    codes = as_codes(table, {"size": ["none", "S", "M", "L"]})
    assert codes["size"].chunk(0).dictionary.to_pylist() == ["S", "M", "L", "?"]
    assert codes["size"].to_pylist() == ["S", "L", None, "M", "?"]
    assert as_codes(table, {}, every=False) is table
    views = pa.table({"a": pa.array(["x", None, "b"], pa.string_view()), "b": pa.nulls(3, pa.string())})
    assert as_codes(views, {}).to_pydict() == {"a": ["x", None, "b"], "b": [None] * 3}
    assert as_codes(views.slice(0, 0), {}).num_rows == 0
    assert not is_text(pa.dictionary(pa.int8(), pa.int64()))


def test_others_are_told_exactly() -> None:
    before = pa.table({"i": [2**60, 2**60, None, None], "x": [1.0, float("nan"), None, 0.0]})
    after = pa.table({"i": [2**60 + 1, 2**60, None, 5], "x": [1.0, float("nan"), 2.0, -0.0]})
    assert others(before, after, "i").tolist() == [True, False, False, True]
    assert others(before, after, "x").tolist() == [False, False, True, False]


def test_what_cannot_come_is_refused() -> None:
    frame = opened(lambda one: one.lazy(), {"many": [[1], [2]], "^a$": ["x", "y"]})
    with pytest.raises(DataError, match="column 'many' holds List: a variable needs one plain value"):
        bring(frame, ["many"], "row", {})
    with pytest.raises(ColumnError, match="is not the name of one column"):
        bring(frame, ["^a$"], "row", {})
