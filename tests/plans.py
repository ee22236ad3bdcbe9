"""One frame as a plan of Polars and as a DuckDB relation, and a plan's result brought back in order."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import polars as pl
import pytest
from hypothesis import settings

FEW = settings(max_examples=10)  # a plan takes much longer than an array


def polars_plan(frame: pl.DataFrame) -> pl.LazyFrame:
    """A Polars plan."""
    return frame.lazy()


def duckdb_relation(frame: pl.DataFrame) -> Any:
    """A DuckDB relation on a connection of its own."""
    import duckdb

    connection = duckdb.connect()
    connection.register("frame_of_the_test", frame.to_arrow())
    return connection.table("frame_of_the_test")


def duckdb_plans() -> Any:
    """DuckDB relations on one connection, which can join them."""
    import duckdb

    connection = duckdb.connect()

    def of(frame: pl.DataFrame) -> Any:
        name = f"frame_{id(frame)}"
        connection.register(name, frame.to_arrow())
        return connection.table(name)

    return of


on_engines = pytest.mark.parametrize("plan", [polars_plan, duckdb_relation], ids=["polars", "duckdb"])

ENGINES = {
    "polars": lambda frame: frame,
    "pandas": lambda frame: frame.to_pandas(),
    "pyarrow": lambda frame: frame.to_arrow(),
    "polars-lazy": polars_plan,
    "duckdb": duckdb_relation,
}
on_frames = pytest.mark.parametrize("make", list(ENGINES.values()), ids=list(ENGINES))


def opened(plan: Any, columns: Any) -> nw.LazyFrame[Any]:
    """Columns as a plan; ``row`` numbers the records."""
    frame = pl.DataFrame(columns)
    lazy: nw.LazyFrame[Any] = nw.from_native(plan(frame.with_columns(row=pl.int_range(len(frame)))))
    return lazy


def collected(frame: Any) -> pl.DataFrame:
    """A plan's records in the order of ``row``."""
    found = nw.from_native(frame).collect("polars").to_native()
    return found.sort("row") if "row" in found.columns else found
