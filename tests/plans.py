"""One frame as a plan of Polars and as a DuckDB relation, and a plan's result brought back in order."""

from __future__ import annotations

import atexit
from functools import cache
from typing import Any

import narwhals.stable.v2 as nw
import polars as pl
import pytest
from hypothesis import settings

FEW = settings(max_examples=10)  # a plan takes much longer than an array


def polars_plan(frame: pl.DataFrame) -> pl.LazyFrame:
    """A Polars plan."""
    return frame.lazy()


@cache
def _database() -> Any:
    import duckdb

    atexit.register(_database.cache_clear)  # it tells of objects that are left at the end
    return duckdb.connect()


def new_connection() -> Any:
    """A connection of its own to the one database in memory of this process, which takes long to start.

    What a test registers, sets or makes as temporary is in its connection alone.
    """
    return _database().cursor()


def duckdb_relation(frame: pl.DataFrame) -> Any:
    """A DuckDB relation on a connection of its own."""
    connection = new_connection()
    connection.register("frame_of_the_test", frame.to_arrow())
    return connection.table("frame_of_the_test")


def duckdb_plans() -> Any:
    """DuckDB relations on one connection, which can join them."""
    connection = new_connection()

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
