"""Records made here as a plan: their order and types, and codes that become texts when it is carried out."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from plans import duckdb_relation, on_engines, opened
from sdckit.cells.plans.new_records import new_records, uploaded
from sdckit.data.frames import collect

FILE = {
    "t": ["b", None, "a"],
    "i": pl.Series([3, None, 2], dtype=pl.Int16),
    "d": np.arange(3).astype("datetime64[D]"),
}


@on_engines
def test_a_table_on_the_engine_of_another_plan(plan: Any) -> None:
    like = opened(plan, FILE)
    found = uploaded(pa.table({"x": [2, 1, 3]}), like)
    assert found.implementation is like.implementation
    assert collect(found)["x"].to_list() == [2, 1, 3]


@on_engines
def test_records_keep_their_order_and_the_types_of_the_other_plan(plan: Any) -> None:
    like = opened(plan, FILE)
    levels = pa.array(["a", "b"])
    table = pa.table(
        {
            "t": pa.DictionaryArray.from_arrays(pa.array([1, None, 0, 1], pa.int32()), levels),
            "n": pa.array([7, 8, None, 9], pa.int64()),
            "half": pa.array([0.5, None, 1.5, 2.5]),
            "d": pa.array([0, 1, None, 2], pa.int32()).cast(pa.date32()),
        }
    )
    made = new_records(table, like, {"t": "t", "n": "i", "d": "d"})
    schema = made.collect_schema()
    assert [schema[name] for name in ("t", "n", "half", "d")] == [nw.String, nw.Int16, nw.Float64, nw.Date]
    found = collect(made)
    assert found["t"].to_list() == ["b", None, "a", "b"]
    assert found["n"].to_list() == [7, 8, None, 9]
    assert found["half"].to_list() == [0.5, None, 1.5, 2.5]
    assert [None if one is None else one.day for one in found["d"].to_list()] == [1, 2, None, 3]
    assert found.columns == table.column_names


@pytest.mark.parametrize("kind", ["HUGEINT", "TINYINT", "TIMESTAMP", "BOOLEAN"])
def test_types_of_duckdb(kind: str) -> None:
    value = "'2020-02-29 12:30:00'" if kind == "TIMESTAMP" else "1"
    relation = duckdb_relation(pl.DataFrame({"a": [1]})).query("v", f"SELECT {value}::{kind} AS x FROM v")
    like: nw.LazyFrame[Any] = nw.from_native(relation)
    made = new_records(collect(like).to_arrow(), like, {"x": "x"}).to_native()
    assert made.types == relation.types
    assert made.fetchall() == relation.fetchall()
