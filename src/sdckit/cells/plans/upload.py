"""A table of ours handed to the engine of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw

from sdckit.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["upload"]


def upload(table: pa.Table, like: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """A table as a plan on the engine, and in the session, of another plan; nothing stays behind there.

    Raises DataError: the engine is none of Polars, DuckDB and Spark.
    """
    engine = like.implementation
    native: Any
    if engine.is_polars():
        import polars as pl

        native = pl.DataFrame(table).lazy()
    elif engine.is_duckdb():
        # DuckDB finds the table by the name of this variable, and keeps hold of it.
        sdckit__table = table  # noqa: F841
        native = like.to_native().query("sdckit__plan", "SELECT * FROM sdckit__table")
    elif engine.is_pyspark():
        native = like.to_native().sparkSession.createDataFrame(table)
    else:
        raise DataError(f"plans of {engine.value} are not supported; collect the data first")
    found: nw.LazyFrame[Any] = nw.from_native(native)
    return found
