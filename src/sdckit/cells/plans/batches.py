"""Run a kernel over the records of a plan, batch by batch, where the records are.

The one place that tells engines apart. Spark hands Arrow batches to Python workers, Polars its columns;
DuckDB maps only frames of pandas, which would change the caller's types, so there the kernel sees the
distinct inputs alone and its results are joined back by them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sdckit.errors import DataError

__all__ = ["map_columns"]

Kernel = Callable[..., NDArray[np.float64]]
LOG_SCALE = float(1 << 42)  # numbers that agree to 12 digits share a place on this scale, or neighbour ones


def map_columns(
    frame: nw.LazyFrame[Any], name: str, kernel: Kernel, inputs: Sequence[str]
) -> nw.LazyFrame[Any]:
    """Add the column ``name = kernel(*inputs)``, all floats, to a plan.

    Raises DataError: the engine is none of Polars, DuckDB and Spark.
    """
    engine = frame.implementation
    if engine.is_polars():
        return _map_polars(frame, name, kernel, inputs)
    if engine.is_pyspark():
        return _map_spark(frame, name, kernel, inputs)
    if engine.is_duckdb():
        return _map_duckdb(frame, name, kernel, inputs)
    raise DataError(f"plans of {engine.value} are not supported; collect the data first")


def _map_polars(
    frame: nw.LazyFrame[Any], name: str, kernel: Kernel, inputs: Sequence[str]
) -> nw.LazyFrame[Any]:
    import polars as pl

    def over_batch(packed: pl.Series) -> pl.Series:
        fields = packed.struct.unnest()
        return pl.Series(name, kernel(*(fields[key].to_numpy() for key in inputs)))

    floats = [pl.col(key).cast(pl.Float64) for key in inputs]
    native = frame.to_native().with_columns(
        pl.struct(floats).map_batches(over_batch, return_dtype=pl.Float64, is_elementwise=True).alias(name)
    )
    mapped: nw.LazyFrame[Any] = nw.from_native(native)
    return mapped


def _map_spark(
    frame: nw.LazyFrame[Any], name: str, kernel: Kernel, inputs: Sequence[str]
) -> nw.LazyFrame[Any]:
    from pyspark.sql.types import DoubleType, StructField, StructType

    native = frame.to_native()
    columns = list(inputs)

    def over_batches(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            values = [batch.column(key).cast(pa.float64()).to_numpy(zero_copy_only=False) for key in columns]
            yield batch.append_column(name, pa.array(kernel(*values), pa.float64()))

    schema = StructType([*native.schema.fields, StructField(name, DoubleType())])
    mapped: nw.LazyFrame[Any] = nw.from_native(native.mapInArrow(over_batches, schema))
    return mapped


def _map_duckdb(
    frame: nw.LazyFrame[Any], name: str, kernel: Kernel, inputs: Sequence[str]
) -> nw.LazyFrame[Any]:
    """The kernel over distinct inputs, joined back on their places on a logarithmic scale.

    A sum of weights may differ in its last digit from one run of the plan to the next, so an entry is
    filed under its own place and under both neighbours.
    """
    from duckdb.sqltypes import BIGINT, DOUBLE

    places = [f"sdckit__place{i}" for i in range(len(inputs))]
    values = [f"sdckit__input{i}" for i in range(len(inputs))]
    placed = frame.with_columns(
        *((nw.col(key).cast(nw.Float64).log() * LOG_SCALE).floor().cast(nw.Int64).alias(place)
          for key, place in zip(inputs, places, strict=True))
    )  # fmt: skip
    distinct = placed.group_by(*places).agg(
        *(nw.col(key).cast(nw.Float64).min().alias(value) for key, value in zip(inputs, values, strict=True))
    )

    def over_frame(chunk: Any) -> Any:
        chunk[name] = kernel(*(chunk[value].to_numpy() for value in values))
        return chunk

    types = dict.fromkeys(places, BIGINT) | dict.fromkeys([*values, name], DOUBLE)
    mapped: nw.LazyFrame[Any] = nw.from_native(distinct.to_native().map(over_frame, schema=types))
    entries = mapped.select(*places, name)
    for place in places:
        entries = nw.concat(
            [entries.with_columns((nw.col(place) + step).alias(place)) for step in (-1, 0, 1)]
        )
    entries = entries.group_by(*places).agg(nw.col(name).mean())
    return placed.join(entries, on=places, how="left").drop(*places)
