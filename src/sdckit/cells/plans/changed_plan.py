"""`Changing`: change values of a lazy frame by changes that were computed here on its distinct rows or its columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.cells.plans.attach import attach, new_records
from sdckit.cells.plans.count_cells import (
    PREFIX,
    KeyColumn,
    aggregate,
    count,
    count_by,
    most_cells,
    sizes_of,
    too_many,
    type_name,
)
from sdckit.cells.plans.file_places import number_rows, renumbered
from sdckit.data import pa, pc, pl, pt
from sdckit.data.columns import as_mask, differing, in_order
from sdckit.data.frames import RENUMBERED, as_plan, check_plan_names, collect, count_records, on_spark, open_frame
from sdckit.data.outgoing.only_records import plan_records
from sdckit.data.replace import Tallied
from sdckit.errors import DataError
from sdckit.numerics.array_types import Bools, Ints, Values
from sdckit.numerics.grouping import places_among

# Columns of a lazy frame collected record by record, in the order of the file, and new values written back by row.
# Methods that decide record by record need single columns only: text is collected as codes, numbers as they are, and
# only changed values are written back.


MARK = f"{PREFIX}mark"  # whether a record gets new values
OFF = f"{PREFIX}off"


@dataclass(frozen=True, eq=False)
class Brought:
    """Collected columns of all records, in the order of the file, and the row number of each record."""

    table: pa.Table
    place: Ints


def bring(frame: nw.LazyFrame[Any], columns: Sequence[str], row: str, orders: Mapping[str, Sequence[str]]) -> Brought:
    """Collect columns of all records.

    `row`: the column of row numbers. `orders`: order of the categories, for columns that had some.

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
    """Text columns coded by their levels: in the declared order, others ascending.

    `every`: whether columns without a declared order are coded, too.

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


def others(before: pa.Table, after: pa.Table, name: str) -> Bools:
    """The records whose value of a column was changed or removed (boolean array)."""
    first, second = (table.column(name).combine_chunks() for table in (before, after))
    if first.type == second.type and pa.types.is_integer(first.type):  # as floats, large integers could become equal
        return as_mask(pc.xor(first.is_null(), second.is_null())) | as_mask(pc.not_equal(first, second))
    return differing(first, second)


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is text, or a dictionary of text."""
    value = kind.value_type if pt.is_dictionary(kind) else kind
    return bool(pt.is_string(value) or pt.is_large_string(value) or pt.is_string_view(value))


def _coded(column: pa.ChunkedArray, declared: Sequence[str]) -> pa.DictionaryArray:
    whole = column.combine_chunks()  # unifies several dictionaries
    if not pt.is_dictionary(whole.type):
        whole = whole.cast(pa.large_string()).dictionary_encode()
    known = whole.dictionary.to_pylist()
    codes = whole.indices.cast(pa.int32()).fill_null(len(known)).to_numpy()
    used = np.flatnonzero(np.bincount(codes, minlength=len(known) + 1)[:-1])
    levels = in_order([known[code] for code in used], declared)
    place = {level: at for at, level in enumerate(levels)}
    number = np.array([*(place.get(level, -1) for level in known), -1], np.int32)[codes]
    return pa.DictionaryArray.from_arrays(pa.array(number, mask=number < 0), pa.array(levels, pa.string()))


def put_back(
    frame: nw.LazyFrame[Any], row: str, brought: Brought, hit: Bools, new: Mapping[str, pa.ChunkedArray]
) -> nw.LazyFrame[Any]:
    """Write new values of some columns into the records marked by `hit`, which must be unchanged since collected.

    `new`: by column, the values of all records. A column takes the type of its new values; a column that the lazy frame
    does not have yet is added. If the engine numbers the records differently, execution of the query fails instead of
    giving the values to other records.
    """
    own, chosen = frame.collect_schema(), pa.array(np.flatnonzero(hit))
    puts = {name: f"{PREFIX}put{at}" for at, name in enumerate(new)}
    known = [name for name in brought.table.column_names if is_comparable(own[name])]
    olds = {name: f"{PREFIX}old{at}" for at, name in enumerate(known)}
    place = brought.place[hit]
    put = {puts[name]: values.combine_chunks().take(chosen) for name, values in new.items()}
    old = {olds[name]: brought.table.column(name).combine_chunks().take(chosen) for name in known}
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
    """Whether values of a type are equal to the engine's own again after they were collected."""
    same = (nw.Boolean, nw.String, nw.Categorical, nw.Enum, nw.Date, nw.Datetime)
    return kind.is_integer() or kind.is_float() or kind.base_type() in same


def _joined(frame: nw.LazyFrame[Any], row: str, place: Ints, figures: Mapping[str, pa.Array]) -> nw.LazyFrame[Any]:
    """Join figures by row number; they are missing for all other records."""
    key = replace(KeyColumn.of(row, 0, nw.Int64()), has_missing=False)
    return attach(frame, [key], pa.table({row: place}), {MARK: np.ones(len(place), np.int8), **figures})


def _checked(frame: nw.LazyFrame[Any], olds: Mapping[str, str], own: Mapping[str, Any]) -> nw.LazyFrame[Any]:
    """A lazy frame whose execution fails if a record that gets values differs from the one they were computed from."""
    same = [_same(name, old, own[name]) for name, old in olds.items()]
    if not same:
        return frame
    off = ~nw.col(MARK).is_null() & ~nw.all_horizontal(*same, ignore_nulls=False)
    native: Any = frame.with_columns(off.alias(OFF)).to_native()
    if frame.implementation.is_polars():
        held = pl.col(OFF).map_batches(_fail_where, return_dtype=pl.Boolean, is_elementwise=True)
        guarded = native.with_columns(pl.when(~held).then(pl.col(MARK)).alias(MARK))
    else:
        says = f'CASE WHEN "{OFF}" THEN error(\'{RENUMBERED}\') ELSE "{MARK}" END'
        guarded = native.query("sdckit__plan", f'SELECT * REPLACE ({says} AS "{MARK}") FROM sdckit__plan')
    return as_plan(guarded).drop(OFF)


def _same(name: str, old: str, kind: Any) -> nw.Expr:
    now, then = nw.col(name), nw.col(old)
    if kind.base_type() in (nw.Categorical, nw.Enum):
        now = now.cast(nw.String)
    if kind.is_float():
        now, then = (nw.when(~value.is_nan()).then(value) for value in (now, then))
    return (now == then).fill_null(False) | (now.is_null() & then.is_null())


def _fail_where(off: Any) -> Any:
    if off.any():
        raise DataError(RENUMBERED)
    return off


def _sent(
    frame: nw.LazyFrame[Any], row: str, place: Ints, put: Mapping[str, pa.Array], old: Mapping[str, pa.Array]
) -> nw.LazyFrame[Any]:
    """Look-up of the row numbers on Spark's workers; the function is sent to them by value."""
    from pyspark.sql.pandas.types import from_arrow_type
    from pyspark.sql.types import ByteType, StructField, StructType

    mark, names, new_values, known, says = MARK, list(put), dict(put), dict(old), RENUMBERED
    plain = {name: array.type.value_type if is_text(array.type) else array.type for name, array in put.items()}

    def over_batches(batches: Iterator[Any]) -> Iterator[Any]:
        import numpy
        import pyarrow
        from pyarrow import compute

        for batch in batches:
            mine = batch.column(batch.schema.get_field_index(row)).to_numpy(zero_copy_only=False)
            at = numpy.searchsorted(place, mine)
            hit = at < len(place)
            hit[hit] = place[at[hit]] == mine[hit]
            rows = pyarrow.array(at, mask=~hit)
            for name, values in known.items():
                now = batch.column(batch.schema.get_field_index(name))
                then = values.take(rows).cast(now.type)
                same = compute.or_(
                    compute.equal(now, then).fill_null(False), compute.and_(now.is_null(), then.is_null())
                )
                if pyarrow.types.is_floating(now.type):
                    same = compute.or_(same, compute.and_(compute.is_nan(now), compute.is_nan(then)).fill_null(False))
                if (hit & ~same.to_numpy(zero_copy_only=False)).any():
                    raise ValueError(says)
            new = [new_values[name].take(rows).cast(plain[name]) for name in names]
            marked = pyarrow.array(numpy.ones(len(hit), numpy.int8), mask=~hit)
            yield pyarrow.RecordBatch.from_arrays(
                [*batch.columns, *new, marked], names=[*batch.schema.names, *names, mark]
            )

    native = frame.to_native()
    fields = [StructField(name, from_arrow_type(plain[name])) for name in names]
    schema = StructType([*native.schema.fields, *fields, StructField(mark, ByteType())])
    return as_plan(native.mapInArrow(over_batches, schema))


ROW = f"{PREFIX}row"  # row number of a record in the file
MOST_PLACES = 200_000_000  # records of Spark whose random order is drawn here, at 16 bytes each
RECOUNT = "the records of this plan are no longer those that were counted: start again"
CELL, NTH, FIRST = f"{PREFIX}cell", f"{PREFIX}nth", f"{PREFIX}first"


@dataclass(frozen=True, eq=False)
class Distinct:
    """The distinct rows of some columns of a lazy frame, collected.

    `table`: the columns. `size`, shape (rows,): number of records with each. `first`: row number of the first of them.
    `orders`: order of the categories, for columns that had some.
    """

    columns: tuple[str, ...]
    table: pa.Table
    size: Ints
    first: Values
    orders: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def tallied(self) -> Tallied:
        """The same as the type that functions on frames in memory take."""
        return Tallied(as_codes(self.table, self.orders, every=False), self.size)


@dataclass(frozen=True, eq=False)
class Blanked:
    """The values to be suppressed in the records of each cell.

    `whole`: by column, for each cell whether the value is suppressed in all its records. `split`: cells in whose
    records different values are suppressed; for these `parts` says, by column, whether it is in each record, cell by
    cell in the order of the file.
    """

    whole: Mapping[str, Bools]
    split: Ints
    parts: Mapping[str, Bools]


@dataclass(frozen=True, eq=False)
class Changing:
    """A lazy frame that is being changed: its records with their row numbers, and the original values of its columns.

    `before`: by changed column, the column that keeps its original values. `loose`: whether the records are out of
    order and must be sorted by row number in the end. `orders`: order of the categories, for columns that are
    categorical in memory and text here. `made_of`: number of records of the file, if these are new records made of
    them. `hashed`: whether records in random order are not found again, since the engine does not number them by their
    places in the file, or they are too many.
    """

    frame: nw.LazyFrame[Any]
    n: int
    own: tuple[str, ...]
    before: Mapping[str, str]
    loose: bool = False
    orders: Mapping[str, Sequence[str]] = field(default_factory=dict)
    made_of: int | None = None
    hashed: bool = False

    @property
    def n_file(self) -> int:
        """Number of records of the file."""
        return self.n if self.made_of is None else self.made_of

    @property
    def columns(self) -> list[str]:
        """The columns of the file that are left, in their order."""
        ours = {ROW, *self.before.values()}
        return [name for name in self.frame.collect_schema().names() if name not in ours]

    @property
    def kinds(self) -> dict[str, Any]:
        """The types of these columns."""
        schema = self.frame.collect_schema()
        return {name: schema[name] for name in self.columns}

    def plan(self) -> Any:
        """The changed file as a native lazy frame."""
        frame = self.frame.sort(ROW) if self.loose else self.frame
        return plan_records(frame.select(*map(nw.col, self.columns)).to_native())

    def bare(self) -> Any:
        """The same without sorting, for counting."""
        return self.frame.select(*map(nw.col, self.columns)).to_native()

    def distinct(self, columns: Sequence[str]) -> Distinct:
        """Collect the distinct rows of some columns.

        Raises DataError: a column of a type that would not be restored exactly; more rows than fit into memory.
        """
        check_plan_names(self.frame, columns)
        self._keys(columns)
        counted = count_by(self.frame, columns, self.n, least=ROW)
        table = counted.select(*columns).to_arrow()
        return Distinct(tuple(columns), table, sizes_of(counted), counted[ROW].to_numpy(), self.orders)

    def first_of(self, unit: str, columns: Sequence[str]) -> pa.Table:
        """Columns of the first record of each value of a unit, a household say, in the order of the file.

        A record without a value is a unit of its own.

        Raises DataError: a column of a type that would not be restored exactly; more units than fit into memory.
        """
        names = [unit, *columns]
        check_plan_names(self.frame, names)
        key, *others = self._keys(names)
        unit_of = self.frame.select(ROW, *names, key.value.alias(key.column))
        rows = unit_of.with_columns(nw.col(ROW).min().over(key.column).alias(FIRST))
        rows = rows.filter(key.absent | (nw.col(ROW) == nw.col(FIRST)))
        most = most_cells(len(names), self.frame)
        if self.n > most and (many := count_records(rows)) > most:
            raise too_many(many, len(names), most, self.frame)
        first_rows = collect(rows.select(ROW, *(column.present.alias(column.column) for column in (key, *others))))
        first_rows = first_rows.rename({column.column: column.name for column in (key, *others)})
        return first_rows[np.argsort(first_rows[ROW].to_numpy(), kind="stable")].select(*names).to_arrow()

    def brought(self, columns: Sequence[str]) -> Brought:
        """Collect columns of all records, in the order of the file.

        Raises DataError: a column of lists or structures; the number of records has changed.
        """
        brought = bring(self.frame, columns, ROW, self.orders)
        if len(brought.place) != self.n:
            raise DataError(RECOUNT)
        return brought

    def with_records(
        self, brought: Brought, changed: pa.Table, like: Mapping[str, str] = MappingProxyType({})
    ) -> Changing:
        """Write changed columns back to the records.

        Collected columns that are not in `changed` are dropped; those in `changed` that were not collected are added.
        `like`: for each added column, the column it was made from.
        """
        old, added = brought.table.column_names, [name for name in changed.column_names if name in like]
        gone = [name for name in old if name not in changed.column_names]
        marks = {name: others(brought.table, changed, name) for name in old if name not in gone}
        names = [name for name, hit in marks.items() if hit.any()]
        if not names and not added:
            return self.without(gone) if gone else self
        orders = {
            **self.orders,
            **{name: self.orders[source] for name, source in like.items() if source in self.orders},
        }
        if self._is_whole(old):
            return replace(self._laid_anew(brought, changed, names), orders=orders)
        hit = np.any([marks[name] for name in names], axis=0) if not added else np.ones(self.n, np.bool_)
        kept, before = self._kept(self.frame, names)
        frame = put_back(kept, ROW, brought, hit, {name: changed.column(name) for name in (*names, *added)})
        return replace(self, frame=frame, before=before, loose=self._mixed_by_joins, orders=orders).without(gone)

    def _is_whole(self, brought: Sequence[str]) -> bool:
        """Whether all columns of the file are collected, with their exact values, so that no join is needed."""
        if self.before or {*brought} != {*self.columns}:
            return False
        kinds = self.kinds.values()
        return all(is_comparable(kind) and kind.base_type() not in (nw.Int128, nw.UInt128) for kind in kinds)

    def _laid_anew(self, brought: Brought, changed: pa.Table, names: Sequence[str]) -> Changing:
        """The records from the collected columns alone, with the original values of those that were changed."""
        before = {name: f"{PREFIX}was{i}" for i, name in enumerate(names)}
        was = {place: brought.table.column(name) for name, place in before.items()}
        after = _columns(changed)
        kept = [name for name in self.columns if name in after]
        made = {name: after[name] for name in dict.fromkeys([*kept, *after])}
        table = pa.table({ROW: brought.place, **made, **was})
        types = _same_types(brought, changed) | {place: name for name, place in before.items()}
        return replace(self, frame=new_records(table, self.frame, types), before=before, loose=False)

    def with_others(self, brought: Brought, made: pa.Table) -> Changing:
        """New records, in any number, in place of those whose columns were all collected."""
        table = pa.table({ROW: np.arange(len(made)), **_columns(made)})
        frame = new_records(table, self.frame, _same_types(brought, made))
        return replace(self, frame=frame, n=len(made), before={}, loose=False, made_of=self.n_file)

    @property
    def _mixed_by_joins(self) -> bool:
        """Whether the records are out of order after a join; on Spark it is a look-up that keeps the order."""
        return self.loose or not on_spark(self.frame)

    def _keys(self, columns: Sequence[str]) -> list[KeyColumn]:
        schema = self.frame.collect_schema()
        whole = self.frame.implementation.is_polars()
        keys = [KeyColumn.of(name, i, schema[name], whole_times=whole) for i, name in enumerate(columns)]
        for key in keys:
            category = schema[key.name].base_type() in (nw.Categorical, nw.Enum)
            if key.as_number or (key.as_text and not category):
                raise DataError(
                    f"column {key.name!r} holds {type_name(schema[key.name])}, which a plan does not get back as it "
                    "was; make it a number, a date or text first"
                )
        return keys

    def with_values(self, rows: Distinct, new: Mapping[str, Any]) -> Changing:
        """Replace columns by new values of their distinct rows."""
        places = {name: f"{PREFIX}new{i}" for i, name in enumerate(new)}
        arrays = {places[name]: values for name, values in new.items()}
        joined = attach(self.frame, self._keys(rows.columns), rows.table, arrays)
        kept, before = self._kept(joined, list(new))
        changed = kept.with_columns(*(nw.col(places[name]).alias(name) for name in new))
        orders = {name: order for name, order in self.orders.items() if name not in new} | _orders(new)
        frame = changed.drop(*places.values())
        return replace(self, frame=frame, before=before, loose=self._mixed_by_joins, orders=orders)

    def _kept(self, frame: nw.LazyFrame[Any], names: Sequence[str]) -> tuple[nw.LazyFrame[Any], dict[str, str]]:
        """The lazy frame with copies of the columns that are changed for the first time; names of all copies."""
        fresh = [name for name in names if name not in self.before]
        added = {name: f"{PREFIX}was{len(self.before) + i}" for i, name in enumerate(fresh)}
        if not added:
            return frame, dict(self.before)
        old = [nw.col(name).alias(place) for name, place in added.items()]
        return frame.with_columns(*old), {**self.before, **added}

    def without(self, names: Sequence[str]) -> Changing:
        """Leave columns out."""
        return replace(self, frame=self.frame.drop(*names))

    def present(self, names: Sequence[str]) -> dict[str, int]:
        """Number of records with a value, for each column."""
        check_plan_names(self.frame, names)
        schema = self.frame.collect_schema()
        there = [~(nw.col(n).is_null() | nw.col(n).is_nan().fill_null(True)) if schema[n].is_float()
                 else ~nw.col(n).is_null() for n in names]  # fmt: skip
        counts = aggregate(self.frame, *map(count, there))
        return {name: int(value) for name, value in zip(names, counts, strict=True)}

    def places_in(self, rows: Distinct, cells: Ints) -> tuple[Ints, Values]:
        """The records of some cells: cell and row number of each."""
        number = np.full(len(rows.size), -1, np.int64)
        number[cells] = cells
        placed = attach(self.frame, self._keys(rows.columns), rows.table, {CELL: number})
        records = collect(placed.filter(nw.col(CELL) >= 0).select(CELL, ROW))
        return records[CELL].to_numpy().astype(np.int64), records[ROW].to_numpy()

    def blanked(self, rows: Distinct, out: Blanked) -> Changing:
        """Suppress values in the records of cells."""
        names = [name for name, hit in out.whole.items() if hit.any() or out.parts[name].any()]
        if not names:
            return self
        gone = {name: f"{PREFIX}gone{i}" for i, name in enumerate(names)}
        figures = {CELL: places_among(out.split, len(rows.size))} | {gone[name]: out.whole[name] for name in names}
        frame, before = self._kept(self.frame, names)
        placed = attach(frame, self._keys(rows.columns), rows.table, figures)
        kept = [nw.col(name) for name in frame.collect_schema().names()]
        marks = [nw.col(column) for column in gone.values()]
        marked = placed.select(*kept, *marks)
        if len(out.split):
            whole = placed.filter(nw.col(CELL) < 0).select(*kept, *marks)
            marked = nw.concat([whole, self._split(placed, rows, out, gone).select(*kept, *marks)])
        blank = [nw.when(~nw.col(gone[name])).then(nw.col(name)).alias(name) for name in names]
        frame = marked.with_columns(*blank).drop(*gone.values())
        return replace(self, frame=frame, before=before, loose=self._mixed_by_joins or len(out.split) > 0)

    def _split(
        self, placed: nw.LazyFrame[Any], rows: Distinct, out: Blanked, gone: Mapping[str, str]
    ) -> nw.LazyFrame[Any]:
        """The records of cells with different suppressions, which are assigned in the order of the file."""
        sizes = rows.size[out.split]
        cell = np.repeat(np.arange(len(sizes)), sizes)
        nth = np.arange(len(cell)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + 1
        parts = placed.filter(nw.col(CELL) >= 0).drop(*gone.values())
        rank = nw.col(ROW).rank("ordinal").over(CELL).cast(nw.Int64)
        keys = [replace(KeyColumn.of(name, i, nw.Int64()), has_missing=False) for i, name in enumerate((CELL, NTH))]
        figures = {place: out.parts[name] for name, place in gone.items()}
        return attach(parts.with_columns(rank.alias(NTH)), keys, pa.table({CELL: cell, NTH: nth}), figures)

    def shuffled(self, order: Ints | None, secret: str) -> Changing:
        """The records in another order: record ``order[i]`` in row i; without one, by a keyed hash of their numbers."""
        if order is None:
            from pyspark.sql import functions

            text = functions.concat(functions.lit(secret + ":"), functions.col(ROW).cast("string"))
            mixed = as_plan(self.frame.to_native().withColumn(ROW, functions.sha2(text, 256)))
            return replace(self, frame=mixed, loose=True)
        return replace(self, frame=renumbered(self.frame, ROW, places_among(order, self.n)), loose=True)

    def differing(self) -> dict[str, int]:
        """Number of changed or removed values, for each column of the file."""
        if self.n != self.n_file:  # new records correspond to none of the file
            return dict.fromkeys(self.own, self.n_file)
        kinds, left = self.frame.collect_schema(), set(self.columns)
        changes = {name: 0 if name in left else self.n for name in self.own}
        changed = [name for name in self.before if name in left and name in changes]
        if changed:
            counted = aggregate(self.frame, *(count(_differs(name, self.before[name], kinds)) for name in changed))
            changes |= {name: int(value) for name, value in zip(changed, counted, strict=True)}
        return changes


def _columns(table: pa.Table) -> dict[str, pa.ChunkedArray]:
    return dict(zip(table.column_names, table.columns, strict=True))


def _same_types(brought: Brought, changed: pa.Table) -> dict[str, str]:
    """The columns whose type has not changed since they were collected."""
    before, after = brought.table.schema, changed.schema
    return {
        name: name for name in before.names if name in after.names and before.field(name).type == after.field(name).type
    }


def _orders(new: Mapping[str, Any]) -> dict[str, Sequence[str]]:
    """The categories, in order, of the columns that have some."""
    chunked = {name: values for name, values in new.items() if isinstance(values, pa.ChunkedArray)}
    whole = {name: values.combine_chunks() for name, values in chunked.items() if pa.types.is_dictionary(values.type)}
    return {name: array.dictionary.to_pylist() for name, array in whole.items()}


def _differs(name: str, old: str, kinds: Mapping[str, Any]) -> nw.Expr:
    """Whether a value differs from the original one; equal numbers of different types do not."""
    now, then = (_simple(column, kinds[column]) for column in (name, old))
    (new, kind), (was, other) = now, then
    there, before = ~new.is_null(), ~was.is_null()
    if kind != other:
        return there | before
    return (there & before & (new != was).fill_null(False)) | (there & ~before) | (~there & before)


def _simple(name: str, dtype: Any) -> tuple[nw.Expr, str]:
    """A value in comparable form, and its kind."""
    value = nw.col(name)
    if dtype.is_numeric():
        number = value.cast(nw.Float64)
        return (nw.when(~number.is_nan()).then(number), "number")
    if dtype.base_type() in (nw.String, nw.Categorical, nw.Enum):
        return value.cast(nw.String), "text"
    return value, type_name(dtype)


def open_changing(data: Any, n: int) -> Changing:
    """Prepare a lazy frame of `n` records for changes; records get row numbers in the order the engine reads them.

    Raises DataError: the engine is none of Polars, DuckDB and Spark.
    """
    frame: Any = open_frame(data)
    own, placed = tuple(frame.collect_schema().names()), number_rows(frame, ROW)
    loose, hashed = not placed.in_order, on_spark(frame) and not (placed.of_files and n <= MOST_PLACES)
    return Changing(placed.frame, n, own, {}, loose, _declared(frame), hashed=hashed)


def _declared(frame: nw.LazyFrame[Any]) -> dict[str, Sequence[str]]:
    """The categories of the columns that declare them."""
    kinds = frame.collect_schema().items()
    return {name: list(kind.categories) for name, kind in kinds if isinstance(kind, nw.Enum)}
