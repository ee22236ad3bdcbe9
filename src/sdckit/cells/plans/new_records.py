"""Records that were made here as a plan of an engine: nothing of the file they were made from goes back to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw

from sdckit.data.frames import on_spark

if TYPE_CHECKING:
    import pyarrow as pa


def uploaded(table: pa.Table, like: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """A table as a plan on the engine, and the connection, of another plan; nothing stays behind there.

    Of Polars and DuckDB only.
    """
    native: Any
    if like.implementation.is_polars():
        import polars as pl

        native = pl.DataFrame(table).lazy()
    else:
        # DuckDB finds the table by the name of this variable, and keeps hold of it.
        sdckit__table = table  # noqa: F841
        native = like.to_native().query("sdckit__plan", "SELECT * FROM sdckit__table")
    found: nw.LazyFrame[Any] = nw.from_native(native)
    return found


def new_records(table: pa.Table, like: nw.LazyFrame[Any], types: Mapping[str, str]) -> nw.LazyFrame[Any]:
    """The rows of a table, in their order, as a plan on the engine of another plan.

    `types`: by column, that of the other plan whose type it has; all others have the type they have here. Categories
    become texts, and only when the plan is carried out: until then they are codes.
    """
    if on_spark(like):
        return _sent(table, like, types)
    import pyarrow.types as t

    schema, frame = like.collect_schema(), uploaded(table, like)
    made = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = schema[types[name]] if name in types else None
        if t.is_dictionary(column.type):
            made.append(nw.col(name).cast(nw.String))
        else:
            made.append(nw.col(name) if kind is None else nw.col(name).cast(kind))
    return frame.select(*made)


def _sent(table: pa.Table, like: nw.LazyFrame[Any], types: Mapping[str, str]) -> nw.LazyFrame[Any]:
    """By a function that goes to the workers with the table, and takes each row where Spark counts to it."""
    import pyarrow.types as t
    from pyspark.sql.pandas.types import from_arrow_type, to_arrow_type
    from pyspark.sql.types import StructField, StructType

    native = like.to_native()
    own = {field.name: field.dataType for field in native.schema.fields}
    fields = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        text = t.is_dictionary(column.type)
        plain = column.type.value_type if text else column.type
        kind = own[types[name]] if name in types and not text else from_arrow_type(plain)
        fields.append(StructField(name, kind))
    told = {name: table.column(name).combine_chunks() for name in table.column_names}
    kinds = [to_arrow_type(field.dataType) for field in fields]

    def over_batches(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        for batch in batches:
            rows = batch.column(0)
            arrays = [one.take(rows).cast(kind) for one, kind in zip(told.values(), kinds, strict=True)]
            yield pyarrow.RecordBatch.from_arrays(arrays, names=list(told))

    counted = native.sparkSession.range(len(table))
    found: nw.LazyFrame[Any] = nw.from_native(counted.mapInArrow(over_batches, StructType(fields)))
    return found
