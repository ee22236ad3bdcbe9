"""Columns of a plan brought here record by record, in the order of the file, and values put back by place.

What is decided for every record by itself needs the column and nothing else of the file: texts come as codes, numbers
as they are, and only values that are others now go back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sdckit.cells.plans.attach import attach
from sdckit.cells.plans.key_columns import PREFIX, KeyColumn, type_name
from sdckit.data.differing import differing
from sdckit.data.frames import check_plan_names, collect, on_spark
from sdckit.data.level_order import in_order
from sdckit.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Brought", "as_codes", "bring", "is_text", "others", "put_back"]

Ints = NDArray[np.int64]
MARK = f"{PREFIX}mark"  # whether a record gets values


@dataclass(frozen=True, eq=False)
class Brought:
    """Columns of all records in the order of the file, and the place in the file of each record."""

    table: pa.Table
    place: Ints


def bring(
    frame: nw.LazyFrame[Any], columns: Sequence[str], row: str, orders: Mapping[str, Sequence[str]]
) -> Brought:
    """Bring columns of all records.

    `row`: the column of places. `orders`: of columns that had categories, the order of these.

    Raises DataError: a column of lists or structures, or the engine fails.
    """
    check_plan_names(frame, columns)
    schema = frame.collect_schema()
    for name in columns:
        if schema[name].is_nested():
            says = f"column {name!r} holds {type_name(schema[name])}: a variable needs one plain value per record"
            raise DataError(says)
    table = collect(frame.select(row, *columns)).to_arrow()
    place = table.column(row).to_numpy().astype(np.int64, copy=False)
    table = table.select(list(columns))
    if (place[1:] < place[:-1]).any():
        order = np.argsort(place, kind="stable")
        table, place = table.take(order), place[order]
    return Brought(as_codes(table, orders), place)


def as_codes(table: pa.Table, orders: Mapping[str, Sequence[str]], *, every: bool = True) -> pa.Table:
    """Texts as codes of their levels: in the order that is declared, all others ascending.

    `every`: whether those of which nothing is declared are coded, too.

    >>> import pyarrow as pa
    >>> table = as_codes(pa.table({"size": ["S", "L", None], "n": [1, 2, 3]}), {"size": ["S", "M", "L"]})
    >>> table["size"].chunk(0).dictionary.to_pylist(), table["n"].to_pylist()
    (['S', 'L'], [1, 2, 3])
    """
    for at, name in enumerate(table.column_names):
        column = table.column(at)
        if is_text(column.type) and (every or name in orders):
            table = table.set_column(at, name, _coded(column, orders.get(name, ())))
    return table


def others(before: pa.Table, after: pa.Table, name: str) -> NDArray[np.bool_]:
    """The records whose value of a column is another one, or gone."""
    import pyarrow as pa
    import pyarrow.compute as pc

    first, second = (one.column(name).combine_chunks() for one in (before, after))
    if first.type == second.type and pa.types.is_integer(first.type):  # as floats, large ones would be alike
        gone: NDArray[np.bool_] = np.asarray(pc.xor(first.is_null(), second.is_null()))
        found: NDArray[np.bool_] = gone | np.asarray(pc.fill_null(pc.not_equal(first, second), False))
        return found
    return differing(first, second)


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is that of texts, or of codes for texts."""
    import pyarrow.types as t

    value = kind.value_type if t.is_dictionary(kind) else kind
    return bool(t.is_string(value) or t.is_large_string(value) or t.is_string_view(value))


def _coded(column: pa.ChunkedArray, declared: Sequence[str]) -> pa.DictionaryArray:
    import pyarrow as pa
    import pyarrow.types as t

    whole = column.combine_chunks()  # of several dictionaries one
    if not t.is_dictionary(whole.type):
        whole = whole.cast(pa.large_string()).dictionary_encode()
    known = whole.dictionary.to_pylist()
    codes = whole.indices.cast(pa.int32()).fill_null(len(known)).to_numpy()
    used = np.flatnonzero(np.bincount(codes, minlength=len(known) + 1)[:-1])
    levels = in_order([known[code] for code in used], declared)
    place = {level: at for at, level in enumerate(levels)}
    number = np.array([*(place.get(one, -1) for one in known), -1], np.int32)[codes]
    return pa.DictionaryArray.from_arrays(pa.array(number, mask=number < 0), pa.array(levels, pa.string()))


def put_back(
    frame: nw.LazyFrame[Any],
    row: str,
    place: Ints,
    hit: NDArray[np.bool_],
    new: Mapping[str, pa.ChunkedArray],
) -> nw.LazyFrame[Any]:
    """Give records other values of some columns: those at the places marked by `hit`.

    `new`: by column, the values of all records. A column whose values are of another type now changes its type.
    """
    import pyarrow as pa

    own = frame.collect_schema()
    names = {name: f"{PREFIX}put{at}" for at, name in enumerate(new)}
    chosen = pa.array(np.flatnonzero(hit))
    figures = {names[name]: values.combine_chunks().take(chosen) for name, values in new.items()}
    at = place[hit]
    joined = _sent(frame, row, at, figures) if on_spark(frame) else _joined(frame, row, at, figures)
    kinds, made = joined.collect_schema(), []
    for name, put in names.items():
        old = nw.col(name) if own[name] == kinds[put] else nw.col(name).cast(kinds[put])
        made.append(nw.when(~nw.col(MARK).is_null()).then(nw.col(put)).otherwise(old).alias(name))
    return joined.with_columns(*made).drop(MARK, *names.values())


def _joined(
    frame: nw.LazyFrame[Any], row: str, place: Ints, figures: Mapping[str, pa.Array]
) -> nw.LazyFrame[Any]:
    """By a join on the place: of the records that are not among them, all is missing."""
    import pyarrow as pa

    key = replace(KeyColumn.of(row, 0, nw.Int64()), has_missing=False)
    return attach(frame, [key], pa.table({row: place}), {MARK: np.ones(len(place), np.int8), **figures})


def _sent(
    frame: nw.LazyFrame[Any], row: str, place: Ints, figures: Mapping[str, pa.Array]
) -> nw.LazyFrame[Any]:
    """By a look into the places, where the records are; the function goes to Spark's workers by value."""
    from pyspark.sql.pandas.types import from_arrow_type
    from pyspark.sql.types import ByteType, StructField, StructType

    mark, names, told = MARK, list(figures), dict(figures)
    plain = {name: one.type.value_type if is_text(one.type) else one.type for name, one in figures.items()}

    def over_batches(batches: Iterator[Any]) -> Iterator[Any]:
        import numpy
        import pyarrow

        for batch in batches:
            mine = batch.column(batch.schema.get_field_index(row)).to_numpy(zero_copy_only=False)
            at = numpy.searchsorted(place, mine)
            found = at < len(place)
            found[found] = place[at[found]] == mine[found]
            rows = pyarrow.array(at, mask=~found)
            put = [told[name].take(rows).cast(plain[name]) for name in names]
            marked = pyarrow.array(numpy.ones(len(found), numpy.int8), mask=~found)
            yield pyarrow.RecordBatch.from_arrays(
                [*batch.columns, *put, marked], names=[*batch.schema.names, *names, mark]
            )

    native = frame.to_native()
    fields = [StructField(name, from_arrow_type(plain[name])) for name in names]
    schema = StructType([*native.schema.fields, *fields, StructField(mark, ByteType())])
    found: nw.LazyFrame[Any] = nw.from_native(native.mapInArrow(over_batches, schema))
    return found
