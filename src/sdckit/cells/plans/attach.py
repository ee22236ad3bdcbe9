"""Join figures of cells to the records of a lazy frame, by the keys that the cells were counted by; upload tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.cells.plans.count_cells import PREFIX, KeyColumn
from sdckit.data import frames, pa, pc, pl, pt
from sdckit.data.frames import as_plan
from sdckit.errors import DataError
from sdckit.numerics.array_types import Words

# Tables in memory as lazy frames of an engine.


def uploaded(table: pa.Table, like: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """A table as a lazy frame on the engine, and the connection, of another one; nothing is stored there.

    For Polars and DuckDB only.
    """
    native: Any
    if like.implementation.is_polars():
        native = pl.DataFrame(table).lazy()
    else:
        # DuckDB finds the table by the name of this variable, and keeps a reference to it.
        sdckit__table = table  # noqa: F841
        # Under the name of a view that is always there: for a new name DuckDB makes a view and drops it, after which it
        # binds every step of the plan anew.
        native = like.to_native().query("duckdb_views", "SELECT * FROM sdckit__table")
    return as_plan(native)


def new_records(table: pa.Table, like: nw.LazyFrame[Any], types: Mapping[str, str]) -> nw.LazyFrame[Any]:
    """The rows of a table, in their order, as a lazy frame on the engine of another one.

    `types`: by column, the column of the other lazy frame whose type it takes; other columns keep their type.
    Categories become text when the query is executed; until then they are codes.
    """
    if frames.on_spark(like):
        return _sent(table, like, types)
    schema, frame = like.collect_schema(), uploaded(table, like)
    made = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = schema[types[name]] if name in types else None
        if pt.is_dictionary(column.type):
            made.append(nw.col(name).cast(nw.String))
        else:
            made.append(nw.col(name) if kind is None else nw.col(name).cast(kind))
    return frame.select(*made)


def _sent(table: pa.Table, like: nw.LazyFrame[Any], types: Mapping[str, str]) -> nw.LazyFrame[Any]:
    """Upload to Spark: a function, sent to the workers with the table, takes the rows whose numbers Spark generates."""
    from pyspark.sql.pandas.types import from_arrow_type, to_arrow_type
    from pyspark.sql.types import StructField, StructType

    native = like.to_native()
    own = {field.name: field.dataType for field in native.schema.fields}
    fields = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        text = pt.is_dictionary(column.type)
        plain = column.type.value_type if text else column.type
        kind = own[types[name]] if name in types and not text else from_arrow_type(plain)
        fields.append(StructField(name, kind))
    columns = {name: table.column(name).combine_chunks() for name in table.column_names}
    kinds = [to_arrow_type(field.dataType) for field in fields]

    def over_batches(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        for batch in batches:
            rows = batch.column(0)
            arrays = [column.take(rows).cast(kind) for column, kind in zip(columns.values(), kinds, strict=True)]
            yield pyarrow.RecordBatch.from_arrays(arrays, names=list(columns))

    counted = native.sparkSession.range(len(table))
    return as_plan(counted.mapInArrow(over_batches, StructType(fields)))


WORD = 63  # bits of a packed word
CHANGED = "the records of this plan are no longer those that were measured: measure again"


def attach(
    frame: nw.LazyFrame[Any], keys: Sequence[KeyColumn], counted: pa.Table, figures: Mapping[str, Any]
) -> nw.LazyFrame[Any]:
    """Join figures to the records of a lazy frame by their combination of keys, missing values included.

    `counted`: a row per combination, with the keys under their names, as collected; `figures`: arrays of as many
    values, of NumPy or PyArrow, by the names of the new columns.

    Raises DataError: the engine is none of Polars, DuckDB and Spark.
    """
    engine, plain = frame.implementation, {name: _plain(values) for name, values in figures.items()}
    if frames.on_spark(frame):
        return _looked_up(frame, keys, counted, plain)
    if not (engine.is_polars() or engine.is_duckdb()):
        raise DataError(f"plans of {engine.value} are not supported; collect the data first")
    return _joined(frame, keys, counted, plain)


def _plain(values: Any) -> pa.Array:
    """An array of a type that every engine has: categories as text, one type of text."""
    array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else pa.array(values)
    if pt.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    return array.cast(pa.string()) if pt.is_large_string(array.type) or pt.is_string_view(array.type) else array


def _joined(
    frame: nw.LazyFrame[Any], keys: Sequence[KeyColumn], counted: pa.Table, figures: Mapping[str, pa.Array]
) -> nw.LazyFrame[Any]:
    """Join on the engine; since joins match no missing values, these are filled and flagged in columns of their own."""
    table = pa.table({key.column: counted.column(key.name) for key in keys} | dict(figures))
    mine: list[nw.Expr] = []
    theirs: list[nw.Expr] = []
    for key in keys:
        null = nw.col(key.column).is_null()
        own, other = key.present, nw.col(key.column)
        if key.has_missing:
            own = nw.when(key.absent).then(key.blank).otherwise(own)
            other = nw.when(null).then(key.blank).otherwise(other)
            mine.append(key.absent.cast(nw.Int64))
            theirs.append(null.cast(nw.Int64))
        mine.append(own)
        theirs.append(other)
    left_on, right_on = ([f"{PREFIX}{side}{i}" for i in range(len(mine))] for side in ("left", "right"))
    named = [value.alias(name) for value, name in zip(theirs, right_on, strict=True)]
    right = uploaded(table, frame).select(*named, *(nw.col(name) for name in figures))
    whole = frame.with_columns(*(value.alias(name) for value, name in zip(mine, left_on, strict=True)))
    return whole.join(right, left_on=left_on, right_on=right_on, how="left").drop(*left_on, *right_on, strict=False)


def _looked_up(
    frame: nw.LazyFrame[Any], keys: Sequence[KeyColumn], counted: pa.Table, figures: Mapping[str, pa.Array]
) -> nw.LazyFrame[Any]:
    """Look-up of the sorted cells on Spark's workers, since uploading a table to Spark takes long.

    The function is sent to the workers by value, with the cells: they need NumPy and PyArrow, but not this package.
    """
    from pyspark.sql.pandas.types import from_arrow_type
    from pyspark.sql.types import StructField, StructType

    own = frame.collect_schema().names()
    places = [f"{PREFIX}left{i}" for i in range(len(keys))]
    columns = {place: counted.column(key.name) for place, key in zip(places, keys, strict=True)}
    pack = _packing(columns, [_levels(column) for column in columns.values()])
    words = pack(columns)
    order = np.argsort(words, kind="stable")
    words = words[order]
    ordered = {name: values.take(pa.array(order)) for name, values in figures.items()}
    changed = CHANGED
    names = list(ordered)

    def over_batches(batches: Iterator[Any]) -> Iterator[Any]:
        import numpy
        import pyarrow

        for batch in batches:
            if batch.num_rows == 0:
                continue
            own_words = pack({place: batch.column(place) for place in places})
            at = numpy.minimum(numpy.searchsorted(words, own_words), len(words) - 1)
            if not (words[at] == own_words).all():
                raise ValueError(changed)
            arrays = [batch.column(name) for name in own] + [ordered[name].take(pyarrow.array(at)) for name in names]
            yield pyarrow.RecordBatch.from_arrays(arrays, names=[*own, *names])

    looked_up = (key.one_zero(key.present) for key in keys)
    placed = frame.with_columns(*(value.alias(place) for value, place in zip(looked_up, places, strict=True)))
    native = placed.to_native()
    kept = [field for field in native.schema.fields if field.name not in places]
    schema = StructType([*kept, *(StructField(name, from_arrow_type(ordered[name].type)) for name in names)])
    return as_plan(native.mapInArrow(over_batches, schema))


def _levels(column: pa.ChunkedArray) -> pa.Array:
    return pc.unique(column.drop_null())


def _packing(columns: Mapping[str, Any], levels: Sequence[pa.Array]) -> Callable[[Mapping[str, Any]], Words]:
    """A function that packs columns into one word per row; it does not reference this package.

    Where the codes exceed a word, the words so far are numbered, and the number is the first field of the next word.
    """
    changed = CHANGED
    places, widths = list(columns), [len(level).bit_length() for level in levels]
    numbered: dict[str, Words] = {}  # words of all columns before a column

    def pack(columns: Mapping[str, Any]) -> Any:
        import numpy
        import pyarrow.compute

        word: Any = 0
        for place, known, width in zip(places, levels, widths, strict=True):
            if place in numbered:
                word = numpy.searchsorted(numbered[place], word).astype(numpy.uint64)
            elif place not in columns:
                break
            column = columns[place]
            at = pyarrow.compute.index_in(column, value_set=known.cast(column.type))
            if at.null_count > column.null_count:
                raise ValueError(changed)
            code = at.fill_null(len(known)).to_numpy(zero_copy_only=False)
            word = (word << width) | code.astype(numpy.uint64)
        return word

    used = 0
    for at, (place, width) in enumerate(zip(places, widths, strict=True)):
        if used + width > WORD:
            numbered[place] = np.unique(pack({before: columns[before] for before in places[:at]}))
            used = len(numbered[place]).bit_length()
        used += width
    return pack
