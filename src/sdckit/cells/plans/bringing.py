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
from sdckit.data.frames import RENUMBERED, check_plan_names, collect, on_spark
from sdckit.data.level_order import in_order
from sdckit.errors import DataError
from sdckit.numerics.array_types import Ints

if TYPE_CHECKING:
    import pyarrow as pa


MARK = f"{PREFIX}mark"  # whether a record gets values
OFF = f"{PREFIX}off"


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
    found: Brought,
    hit: NDArray[np.bool_],
    new: Mapping[str, pa.ChunkedArray],
) -> nw.LazyFrame[Any]:
    """Give the records marked by `hit` other values of some columns, where they are still those that were brought.

    `new`: by column, the values of all records. A column whose values are of another type now changes its type; one
    that the plan does not have yet is added. An engine that numbers the records anew would give them to others:
    carrying out the plan then fails.
    """
    import pyarrow as pa

    own, chosen = frame.collect_schema(), pa.array(np.flatnonzero(hit))
    puts = {name: f"{PREFIX}put{at}" for at, name in enumerate(new)}
    known = [name for name in found.table.column_names if is_comparable(own[name])]
    olds = {name: f"{PREFIX}old{at}" for at, name in enumerate(known)}
    place = found.place[hit]
    put = {puts[name]: values.combine_chunks().take(chosen) for name, values in new.items()}
    old = {olds[name]: found.table.column(name).combine_chunks().take(chosen) for name in known}
    if on_spark(frame):
        joined = _sent(frame, row, place, put, dict(zip(known, old.values(), strict=True)))
    else:
        joined = _checked(_joined(frame, row, place, put | old), olds, own).drop(*olds.values())
    kinds, made = joined.collect_schema(), []
    for name, column in puts.items():
        if name not in own:
            made.append(nw.col(column).alias(name))
            continue
        before = nw.col(name) if own[name] == kinds[column] else nw.col(name).cast(kinds[column])
        made.append(nw.when(~nw.col(MARK).is_null()).then(nw.col(column)).otherwise(before).alias(name))
    return joined.with_columns(*made).drop(MARK, *puts.values())


def is_comparable(kind: Any) -> bool:
    """Whether an engine gives a value here that it finds equal to its own again."""
    same = (nw.Boolean, nw.String, nw.Categorical, nw.Enum, nw.Date, nw.Datetime)
    return kind.is_integer() or kind.is_float() or kind.base_type() in same


def _joined(
    frame: nw.LazyFrame[Any], row: str, place: Ints, figures: Mapping[str, pa.Array]
) -> nw.LazyFrame[Any]:
    """By a join on the place: of the records that are not among them, all is missing."""
    import pyarrow as pa

    key = replace(KeyColumn.of(row, 0, nw.Int64()), has_missing=False)
    return attach(frame, [key], pa.table({row: place}), {MARK: np.ones(len(place), np.int8), **figures})


def _checked(frame: nw.LazyFrame[Any], olds: Mapping[str, str], own: Mapping[str, Any]) -> nw.LazyFrame[Any]:
    """A plan that fails where a record that gets values is not the one they were made of."""
    same = [_same(name, old, own[name]) for name, old in olds.items()]
    if not same:
        return frame
    off = ~nw.col(MARK).is_null() & ~nw.all_horizontal(*same, ignore_nulls=False)
    native: Any = frame.with_columns(off.alias(OFF)).to_native()
    if frame.implementation.is_polars():
        import polars as pl

        held = pl.col(OFF).map_batches(_fail_where, return_dtype=pl.Boolean, is_elementwise=True)
        guarded = native.with_columns(pl.when(~held).then(pl.col(MARK)).alias(MARK))
    else:
        says = f'CASE WHEN "{OFF}" THEN error(\'{RENUMBERED}\') ELSE "{MARK}" END'
        guarded = native.query("sdckit__plan", f'SELECT * REPLACE ({says} AS "{MARK}") FROM sdckit__plan')
    found: nw.LazyFrame[Any] = nw.from_native(guarded)
    return found.drop(OFF)


def _same(name: str, old: str, kind: Any) -> nw.Expr:
    now, then = nw.col(name), nw.col(old)
    if kind.base_type() in (nw.Categorical, nw.Enum):
        now = now.cast(nw.String)
    if kind.is_float():
        now, then = (nw.when(~one.is_nan()).then(one) for one in (now, then))
    return (now == then).fill_null(False) | (now.is_null() & then.is_null())


def _fail_where(off: Any) -> Any:
    if off.any():
        raise DataError(RENUMBERED)
    return off


def _sent(
    frame: nw.LazyFrame[Any], row: str, place: Ints, put: Mapping[str, pa.Array], old: Mapping[str, pa.Array]
) -> nw.LazyFrame[Any]:
    """By a look into the places, where the records are; the function goes to Spark's workers by value."""
    from pyspark.sql.pandas.types import from_arrow_type
    from pyspark.sql.types import ByteType, StructField, StructType

    mark, names, told, known, says = MARK, list(put), dict(put), dict(old), RENUMBERED
    plain = {name: one.type.value_type if is_text(one.type) else one.type for name, one in put.items()}

    def over_batches(batches: Iterator[Any]) -> Iterator[Any]:
        import numpy
        import pyarrow
        from pyarrow import compute

        for batch in batches:
            mine = batch.column(batch.schema.get_field_index(row)).to_numpy(zero_copy_only=False)
            at = numpy.searchsorted(place, mine)
            found = at < len(place)
            found[found] = place[at[found]] == mine[found]
            rows = pyarrow.array(at, mask=~found)
            for name, values in known.items():
                now = batch.column(batch.schema.get_field_index(name))
                then = values.take(rows).cast(now.type)
                same = compute.or_(
                    compute.equal(now, then).fill_null(False), compute.and_(now.is_null(), then.is_null())
                )
                if pyarrow.types.is_floating(now.type):
                    nan = compute.and_(compute.is_nan(now), compute.is_nan(then)).fill_null(False)
                    same = compute.or_(same, nan)
                if (found & ~same.to_numpy(zero_copy_only=False)).any():
                    raise ValueError(says)
            new = [told[name].take(rows).cast(plain[name]) for name in names]
            marked = pyarrow.array(numpy.ones(len(found), numpy.int8), mask=~found)
            yield pyarrow.RecordBatch.from_arrays(
                [*batch.columns, *new, marked], names=[*batch.schema.names, *names, mark]
            )

    native = frame.to_native()
    fields = [StructField(name, from_arrow_type(plain[name])) for name in names]
    schema = StructType([*native.schema.fields, *fields, StructField(mark, ByteType())])
    found: nw.LazyFrame[Any] = nw.from_native(native.mapInArrow(over_batches, schema))
    return found
