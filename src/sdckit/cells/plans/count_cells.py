"""The cells of a lazy frame: one aggregation on its engine, whose result is collected.

All measures need only the table of distinct key combinations, which is far smaller than the file. So the engine counts
it, and the kernels for frames in memory do the rest.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.cells.shared_coding import EXACT
from sdckit.data import pa, pt
from sdckit.data.columns import Coded, bad_weights, code_columns
from sdckit.data.frames import blocks, carried_out, check_plan_names, collect, count_records, on_spark
from sdckit.data.memory import bytes_here, free_bytes, what_opens
from sdckit.data.scenarios.roles import Roles, check_columns
from sdckit.display import counted
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Ints

# The columns of a lazy frame by which records are grouped and joined.
# Engines group missing values, but never match them in a join: there missing values are filled with a value of their
# type, and flagged in a column of their own.


PREFIX = "sdckit__"
TIME = re.compile(r"(\d+):(\d\d):(\d\d)(?:\.(\d{1,9}))?")


@dataclass(frozen=True)
class KeyColumn:
    """A key of a lazy frame.

    `name` and `column`: the key, and its column name in internal frames. `is_float`: whether values may be NaN.
    `as_text` and `as_number`: whether it is collected as text, or as an integer number of units. `blank`: value that
    fills missing values for a join. `has_missing`: whether a value may be missing. `dtype`: its type.
    """

    name: str
    column: str
    is_float: bool
    as_text: bool
    as_number: bool
    blank: nw.Expr
    has_missing: bool = True
    dtype: Any = None

    @staticmethod
    def of(name: str, number: int, dtype: Any, *, whole_times: bool = False) -> KeyColumn:
        """Choose how to handle a key by its type; refuse lists and structures.

        `whole_times`: whether the engine casts times of day and durations to integers.
        """
        if dtype.is_nested():
            raise DataError(f"column {name!r} holds {type_name(dtype)}: a variable needs one plain value per record")
        kind = dtype.base_type()
        blank, as_text, as_number = nw.lit(""), False, False
        if dtype.is_integer() or dtype.is_float():
            blank = nw.lit(0)
        elif kind == nw.Boolean:
            blank = nw.lit(False)
        elif kind == nw.Date:
            blank = nw.lit(dt.date(1970, 1, 1))
        elif kind == nw.Datetime:  # as text, the hour repeated when the clocks go back would be ambiguous
            blank = nw.lit(dt.datetime(1970, 1, 1)).cast(dtype)
        elif kind in (nw.Time, nw.Duration) and whole_times:  # as text, fractions of a second would be lost
            blank, as_number = nw.lit(0), True
        elif kind != nw.String:
            as_text = True
        return KeyColumn(name, f"{PREFIX}key{number}", dtype.is_float(), as_text, as_number, blank, dtype=dtype)

    @property
    def absent(self) -> nw.Expr:
        """Whether the value is missing: null, or not a number."""
        own = nw.col(self.name)
        if not self.is_float:
            return own.is_null()
        # by way of a case: of a bare column of Parquet, DuckDB 2.0 takes NaN for absent from bounds that leave it out
        return own.is_null() | nw.when(~own.is_null()).then(own).is_nan().fill_null(True)

    @property
    def value(self) -> nw.Expr:
        """The value to group by, null if it is NaN."""
        own = nw.col(self.name)
        return nw.when(~self.absent).then(own) if self.is_float else own

    def brought(self, column: str) -> nw.Expr:
        """A column of values in the form in which it is collected: categories and the like as text."""
        value = nw.col(column)
        if self.as_text:
            return value.cast(nw.String)
        return value.cast(nw.Int64) if self.as_number else value

    @property
    def present(self) -> nw.Expr:
        """The value in the form in which it is collected, null if it is NaN."""
        own = self.brought(self.name)
        return nw.when(~self.absent).then(own) if self.is_float else own

    def one_zero(self, value: nw.Expr) -> nw.Expr:
        """A value in the form to be hashed or looked up: -0.0 becomes 0.0, since engines group them together."""
        return value + 0.0 if self.is_float else value

    def as_in_memory(self, coded: Coded) -> Coded:
        """The key as collected and coded, with levels as of a file in memory: amounts are numbers, times are times."""
        kind = None if self.dtype is None else self.dtype.base_type()
        if self.as_text and kind == nw.Decimal:
            levels = pa.array([Decimal(text) for text in coded.levels.to_pylist()])
            return replace(coded, kind="number", levels=levels, arrow_type=levels.type)
        if self.as_text and kind in (nw.Time, nw.Unknown):
            instants = [_nanoseconds_of(text) for text in coded.levels.to_pylist()]
            if None in instants or not instants:
                return coded
            levels = pa.array(instants, pa.time64("ns"))
            return replace(coded, kind="date", levels=levels, arrow_type=levels.type)
        if self.as_number:
            stored = pa.time64("ns") if kind == nw.Time else pa.duration(self.dtype.time_unit)
            levels = None if coded.levels is None else coded.levels.view(stored)
            return replace(coded, kind="date", levels=levels, arrow_type=stored)
        return coded


def _nanoseconds_of(text: str) -> int | None:
    """Nanoseconds since midnight of a time of day as engines print it; None of other text.

    >>> _nanoseconds_of("00:01:02.5"), _nanoseconds_of("tea")
    (62500000000, None)
    """
    if (parts := TIME.fullmatch(text)) is None:
        return None
    hours, minutes, seconds, rest = parts.groups("")
    return ((int(hours) * 60 + int(minutes)) * 60 + int(seconds)) * 10**9 + int(rest.ljust(9, "0"))


def code_keys(frame: nw.DataFrame[Any], keys: Sequence[KeyColumn]) -> list[Coded]:
    """Keys that were collected, coded as those of a file in memory are."""
    coded = code_columns([frame[key.name] for key in keys])
    return [key.as_in_memory(column) for key, column in zip(keys, coded, strict=True)]


def refuse_spans(frame: nw.LazyFrame[Any], names: Sequence[str]) -> None:
    """Refuse before any work what comes from DuckDB as months, days and microseconds beside each other.

    Grouped by its engine, it is text.
    """
    types = frame.collect_schema() if frame.implementation.is_duckdb() else {}
    if spans := [name for name in names if types.get(name) == nw.Duration]:
        says = f"column {spans[0]!r} holds INTERVAL, months and days beside each other"
        raise DataError(f"{says}: a variable needs one plain value per record; cast it to text or numbers there first")


def type_name(dtype: Any) -> str:
    """The name of a type, without its parameters, since those of an enumeration are values of the data."""
    return str(dtype.base_type().__name__)


# Aggregates of a whole lazy frame, in one pass of its engine.


def aggregate(frame: nw.LazyFrame[Any], *expressions: nw.Expr) -> list[float]:
    """The values of some aggregates of a lazy frame, in one pass; None becomes NaN."""
    named = [expression.alias(f"sdckit__{i}") for i, expression in enumerate(expressions)]
    return [float("nan") if value is None else float(value) for value in collect(frame.select(*named)).row(0)]


def whole_ranges(frames: Sequence[nw.LazyFrame[Any]], names: Sequence[str]) -> dict[str, tuple[int, int]]:
    """The least and the largest value of columns of whole numbers in some plans, in one pass of each.

    Without columns that have no value, or numbers that floating ones do not name.
    """
    asked = [end for name in names for end in (nw.col(name).min(), nw.col(name).max())]
    ends = np.array([aggregate(frame, *asked) for frame in frames])
    low, high = np.fmin.reduce(ends[:, ::2]), np.fmax.reduce(ends[:, 1::2])
    return {name: (int(low[j]), int(high[j])) for j, name in enumerate(names) if max(abs(low[j]), abs(high[j])) < EXACT}


def count(condition: nw.Expr) -> nw.Expr:
    """Expression for the number of records that fulfil a condition."""
    return condition.cast(nw.Int64).sum()


def expm1_negative(s: nw.Expr) -> nw.Expr:
    """1 - exp(s) for s <= 0 to full precision, by its series near 0."""
    series = nw.lit(1.0)
    for k in range(18, 1, -1):
        series = series * (s * (1.0 / k)) + 1.0  # never divide: some engines write the dividend twice
    return nw.when(s > -0.5).then(-1.0 * s * series).otherwise(1.0 - s.exp())


SIZE, WEIGHT, PERSONS = f"{PREFIX}size", f"{PREFIX}weight", f"{PREFIX}persons"
MAX_KEYS = 53
MOST_CELLS = 100_000_000
SHARE_OF_MEMORY = 4  # cells may take the free memory divided by this
# And of what `memory=` leaves to this side: of one file, and of files beside each other, which lie beside these.
SHARE_HERE = 0.5
SHARE_OF_FILES = 0.67
BYTES_OF_A_KEY = 24  # per cell: collected, coded and joined back
BYTES_OF_A_LEVEL = 480  # of a column that rows are coded by: its value, counts and codes, measured with texts
FREE_IF_UNKNOWN = 4 * 10**9
SURE = 1.1  # times as many cells as may come: an estimate of Spark is within 2 %, by one standard error


@dataclass(frozen=True, eq=False)
class Counted:
    """The cells of a lazy frame, collected.

    `frame`: a row per combination of keys, under the keys' names, with the number of records (`SIZE`), and if wanted
    the sum of weights (`WEIGHT`) and the number of persons (`PERSONS`). `n`: number of records. `learnt`: sensitive
    variables by which rows are split further; `row`: after `one_row_a_cell`, index of the row kept of each cell.
    """

    frame: nw.DataFrame[Any]
    keys: tuple[KeyColumn, ...]
    n: int
    learnt: tuple[str, ...] = ()
    row: Ints | None = None

    @property
    def by(self) -> tuple[str, ...]:
        """All columns that rows are split by."""
        return (*(key.name for key in self.keys), *self.learnt)


@dataclass(frozen=True)
class Beside:
    """What shares the room for cells: how many files, and the bytes of cells that are here already."""

    files: int = 1
    held: int = 0


def bytes_of_cells(n_cells: int, n_keys: int) -> int:
    """What cells take here once they are measured."""
    return n_cells * BYTES_OF_A_KEY * (n_keys + 2)


def most_cells(n_keys: int, plan: Any = None, beside: Beside | None = None) -> int:
    """How many cells of so many keys may be collected (of each of several files): at most 10^8.

    As many as a quarter of the free memory takes, and a share of what `memory=` leaves beside the engine of `plan`.
    """
    return cells_within(n_keys, bytes_here(plan), beside)


def cells_within(n_keys: int, here: int | None, beside: Beside | None = None) -> int:
    """The same where so many bytes are left to this side; None where no bound was given."""
    return min(MOST_CELLS, _room_within(here, beside) // bytes_of_cells(1, n_keys))


def _room_within(here: int | None, beside: Beside | None = None) -> int:
    room = (free_bytes() or FREE_IF_UNKNOWN) // SHARE_OF_MEMORY
    if here is not None:
        own = here * SHARE_HERE if beside is None else (here * SHARE_OF_FILES - beside.held) / beside.files
        room = max(0, min(room, int(own)))
    return room


@dataclass(frozen=True, eq=False)
class Grouped:
    """The query that groups the records of a lazy frame by their keys, before the engine executes it.

    `n`: number of records. `learnt`: variables by which they are grouped as well.
    """

    frame: nw.LazyFrame[Any]
    keys: tuple[KeyColumn, ...]
    roles: Roles
    n: int
    learnt: tuple[KeyColumn, ...] = ()

    @property
    def columns(self) -> tuple[KeyColumn, ...]:
        """All columns to group by."""
        return (*self.keys, *self.learnt)

    def by_levels(self, variables: Sequence[str]) -> Grouped:
        """The same grouped by other variables as well, those that can be; lists are refused by what needs them."""
        schema = self.frame.collect_schema()
        more = [name for name in variables if name not in self.roles.keys and not schema[name].is_nested()]
        if not more or self.roles.person is not None:
            return self
        return replace(self, learnt=_key_columns(self.frame, more, schema, first=len(self.keys)))

    def cells(self, frame: nw.LazyFrame[Any] | None = None) -> nw.LazyFrame[Any]:
        """A row per combination of keys, of the whole lazy frame or of another one with the same columns."""
        frame, roles = self.frame if frame is None else frame, self.roles
        sums = {WEIGHT: nw.col(roles.weight).cast(nw.Float64)} if roles.weight is not None else {}
        if roles.person is None:
            return _grouped(frame, self.columns, sums)
        return _by_person(frame, self.keys, roles.person, sums)

    def bring(self, frame: nw.LazyFrame[Any] | None = None) -> Counted:
        """Collect the cells of the whole lazy frame or of another one with the same columns."""
        return self.counted(_fetched(self.cells(frame), self.columns))

    def bring_if_few(self) -> Counted | None:
        """Collect the cells of the whole lazy frame; None where they are too many for the memory."""
        # Some records are not looked at first, as `count_by` does: files that fit would take one to four times as long.
        found = _fetched_if_few(self.cells(), self.columns, self.n, most_cells(len(self.columns), self.frame))
        return None if found is None else self.counted(found)

    def blocks(self, cells: nw.LazyFrame[Any], rows: int, *beside: str) -> Iterator[nw.DataFrame[Any]]:
        """The cells in pieces of about so many, with columns beside them."""
        names = {key.column: key.name for key in self.columns}
        others = [name for name in (SIZE, WEIGHT, PERSONS) if name in cells.collect_schema().names()]
        for block in blocks(_brought(cells, self.columns), [*names, *others, *beside], rows):
            yield block.rename(names)

    def counted(self, found: nw.DataFrame[Any]) -> Counted:
        """Collected cells with what they were grouped by."""
        return Counted(found, self.keys, self.n, tuple(column.name for column in self.learnt))


def group_keys(frame: nw.LazyFrame[Any], roles: Roles) -> Grouped:
    """Check the columns of a plan, and group it by its keys.

    Raises
    ------
    ColumnError
        A column is absent, or has a name that a plan cannot have.
    DataError
        No records; weights or persons that cannot be.
    """
    schema = _checked_schema(frame, roles)
    keys = _key_columns(frame, roles.keys, schema)
    n, *facts = [0 if math.isnan(value) else int(value) for value in aggregate(frame, nw.len(), *_facts(roles, schema))]
    if n == 0:
        raise DataError("the data has no records")
    _check_roles(frame, roles, facts)
    return Grouped(frame, keys, roles, n)


def one_row_a_cell(counted: Counted) -> Counted:
    """The same with one row for each combination of keys, whatever else rows are split by."""
    if not counted.learnt:
        return counted
    names, number = [key.name for key in counted.keys], f"{PREFIX}row"
    cells = counted.frame.select(*names).with_row_index(number).unique(subset=names, keep="any")
    return replace(counted, frame=cells.select(*names), learnt=(), row=cells[number].to_numpy().astype(np.int64))


def count_by(
    frame: nw.LazyFrame[Any], columns: Sequence[str], n: int, *, least: str | None = None, beside: Beside | None = None,
    n_keys: int | None = None,
) -> nw.DataFrame[Any]:  # fmt: skip
    """How many of n records have each combination of values of some columns, under their names and `SIZE`.

    `least`: a further column, whose least value in each combination comes along. `beside`: what shares the room.
    `n_keys`: of a join, how many columns are made of these here.

    Raises DataError: a column of lists or structures; more combinations than fit here.
    """
    keys = _key_columns(frame, columns, frame.collect_schema())
    joined, n_keys = n_keys is not None, n_keys or len(keys)
    grouped, most = _grouped(frame, keys, {}, least), most_cells(n_keys, frame, beside)
    many = not joined and _surely_many(frame, keys, n, most)  # a join would be carried out for the question
    found = None if many else _fetched_if_few(grouped, keys, n, most)
    if found is None:
        # Of files beside each other the number is asked for by nobody: what they bring instead is told.
        raise too_many(count_records(grouped) if beside is None else most + 1, n_keys, most, frame)
    return found


def numbers_counted(rows: nw.DataFrame[Any], columns: Sequence[str], frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    """The values that `count_by` brought of some columns, decimals as numbers: they come as texts."""
    kinds = frame.collect_schema()
    return rows.select(nw.col(name).cast(nw.Float64) if kinds[name] == nw.Decimal else nw.col(name) for name in columns)


def values_of(frame: nw.LazyFrame[Any], name: str, *, held: int = 0) -> nw.DataFrame[Any]:
    """The distinct values of a column and how many records have each (`SIZE`), to code rows by.

    `held`: distinct values of other columns that are here already.

    Raises TooManyCellsError: more than fit here.
    """
    keys = _key_columns(frame, [name], frame.collect_schema())
    most = max(0, _room_within(bytes_here(frame)) // BYTES_OF_A_LEVEL - held)
    found = _fetched_if_few(_grouped(frame, keys, {}), keys, most + 1, most)
    if found is None:
        many = count_records(_grouped(frame, keys, {}))
        raise TooManyCellsError(
            f"column {name!r} has {many:,} different values, and the free memory here takes {most:,}; recode it more "
            f"coarsely, leave it out, {what_opens(frame, (many + held) / (most + held or 1))}"
        )
    return found


def blocks_by(
    frame: nw.LazyFrame[Any], columns: Sequence[str], rows: int,
    place: Callable[[nw.LazyFrame[Any]], nw.LazyFrame[Any]] | None = None,
) -> Iterator[nw.DataFrame[Any]]:  # fmt: skip
    """What `count_by` gives, in pieces of about so many rows, however many there are; `place` adds columns to them."""
    keys = _key_columns(frame, columns, frame.collect_schema())
    cells = _brought(_grouped(frame, keys, {}) if place is None else place(_grouped(frame, keys, {})), keys)
    for block in blocks(cells, cells.collect_schema().names(), rows):
        yield block.rename({key.column: key.name for key in keys})


class TooManyCellsError(DataError):
    """More cells than fit into memory."""


def key_columns(frame: nw.LazyFrame[Any], columns: Sequence[str]) -> tuple[KeyColumn, ...]:
    """Some columns as they are grouped and joined by."""
    return _key_columns(frame, columns, frame.collect_schema())


def too_many(n_cells: int, n_keys: int, most: int, plan: Any = None, why: str = "") -> TooManyCellsError:
    """The error for more cells than the `most` that fit into memory."""
    return TooManyCellsError(
        f"these {n_keys} columns have {n_cells:,} different combinations, and the free memory here takes "
        f"{most:,}{why}; take fewer columns, recode them more coarsely, {what_opens(plan, n_cells / max(1, most))}"
    )


def _key_columns(
    frame: nw.LazyFrame[Any], names: Sequence[str], schema: Mapping[str, Any], first: int = 0
) -> tuple[KeyColumn, ...]:
    whole_times = frame.implementation.is_polars()
    return tuple(KeyColumn.of(name, at, schema[name], whole_times=whole_times) for at, name in enumerate(names, first))


def _grouped(
    frame: nw.LazyFrame[Any], keys: Sequence[KeyColumn], sums: Mapping[str, nw.Expr], least: str | None = None
) -> nw.LazyFrame[Any]:
    others = [] if least is None else [least]
    chosen = frame.select(
        *(key.value.alias(key.column) for key in keys), *(value.alias(name) for name, value in sums.items()),
        *map(nw.col, others),
    )  # fmt: skip
    return chosen.group_by(*(key.column for key in keys)).agg(
        nw.len().cast(nw.Int64).alias(SIZE),
        *(nw.col(name).sum() for name in sums),
        *(nw.col(name).min() for name in others),
    )


def _by_person(
    frame: nw.LazyFrame[Any], keys: Sequence[KeyColumn], person: str, sums: Mapping[str, nw.Expr]
) -> nw.LazyFrame[Any]:
    """Group by keys, counting each person and their weight once per cell."""
    group, who = [key.column for key in keys], f"{PREFIX}person"
    chosen = frame.select(
        *(key.value.alias(key.column) for key in keys), nw.col(person).alias(who),
        *(value.alias(name) for name, value in sums.items()),
    )  # fmt: skip
    rows = chosen.group_by(*group, who).agg(nw.len().cast(nw.Int64).alias(SIZE), *(nw.col(name).min() for name in sums))
    return rows.group_by(*group).agg(
        nw.col(SIZE).sum().cast(nw.Int64),
        nw.len().cast(nw.Int64).alias(PERSONS),
        *(nw.col(name).sum() for name in sums),
    )


def _fetched(grouped: nw.LazyFrame[Any], keys: Sequence[KeyColumn]) -> nw.DataFrame[Any]:
    return collect(_brought(grouped, keys)).rename({key.column: key.name for key in keys})


def _brought(grouped: nw.LazyFrame[Any], keys: Sequence[KeyColumn]) -> nw.LazyFrame[Any]:
    others = [name for name in grouped.collect_schema().names() if name not in {key.column for key in keys}]
    return grouped.select(*(key.brought(key.column).alias(key.column) for key in keys), *others)


def _fetched_if_few(
    grouped: nw.LazyFrame[Any], keys: Sequence[KeyColumn], n: int, most: int
) -> nw.DataFrame[Any] | None:
    """The groups of n records; None where there are more than `most`.

    As many as may come are asked for, so that an engine groups once. Spark would bring them all to one worker for that:
    they come piece by piece, until there are too many.
    """
    if n <= most:
        return _fetched(grouped, keys)
    found = _first_pieces(grouped, keys, most) if on_spark(grouped) else _fetched(grouped.head(most + 1), keys)
    return found if len(found) <= most else None


def _first_pieces(grouped: nw.LazyFrame[Any], keys: Sequence[KeyColumn], most: int) -> nw.DataFrame[Any]:
    """The groups, or some of them, more than `most`; of no records those of an empty table."""
    pieces: list[nw.DataFrame[Any]] = []
    n, whole = 0, _brought(grouped, keys)
    for piece in blocks(whole, whole.collect_schema().names(), most + 1):
        pieces.append(piece)
        n += len(piece)
        if n > most:
            break
    found = nw.concat(pieces) if pieces else collect(whole)
    return found.rename({key.column: key.name for key in keys})


def _surely_many(frame: nw.LazyFrame[Any], keys: Sequence[KeyColumn], n: int, most: int) -> bool:
    """Whether some of the n records have more groups than `most` already, so that all of them are not grouped."""
    if on_spark(frame):
        return n > most and _estimated(frame, keys) > SURE * most
    some = 2 * most
    return n > 2 * some and count_records(_grouped(frame.head(some), keys, {})) > most


def _estimated(frame: nw.LazyFrame[Any], keys: Sequence[KeyColumn]) -> int:
    """About how many groups a plan of Spark has, in one pass that sends no record anywhere."""
    values: Any = frame.select(*(key.one_zero(key.value).alias(key.column) for key in keys)).to_native()
    many = f"approx_count_distinct(xxhash64({', '.join(key.column for key in keys)}), 0.02)"
    return int(carried_out(lambda: values.selectExpr(many).collect())[0][0])


def refuse_many(frames: Sequence[nw.LazyFrame[Any]], columns: Sequence[str], n: int, beside: Beside | None) -> None:
    """Raise before files on Spark, of at most n records, are joined whose cells are sure not to fit.

    Raises TooManyCellsError: a file by itself has more combinations of the columns than all files may have together.
    """
    n_keys = len(frames) * len(columns)
    most = most_cells(n_keys, frames[0], beside)
    if any(on_spark(frame) and _surely_many(frame, key_columns(frame, columns), n, most) for frame in frames):
        raise too_many(most + 1, n_keys, most, frames[0])


def _checked_schema(frame: nw.LazyFrame[Any], roles: Roles) -> Mapping[str, Any]:
    schema = frame.collect_schema()
    check_columns(schema.names(), roles)
    used = (*roles.keys, *roles.sensitive, roles.weight, roles.person, roles.household)
    spark = on_spark(frame)  # only Spark does not read columns that are not needed
    check_plan_names(frame, [name for name in used if name is not None] if spark else schema.names())
    if own := [name for name in schema.names() if name.casefold().startswith(PREFIX)]:
        raise ColumnError(f"column {own[0]!r} begins with {PREFIX!r}, which is kept for sdckit; rename it")
    if len(roles.keys) > MAX_KEYS:
        raise DataError(f"a plan takes at most {MAX_KEYS} keys; collect the data first")
    return schema


def _facts(roles: Roles, schema: Mapping[str, Any]) -> list[nw.Expr]:
    facts = []
    if roles.weight is not None:
        if not schema[roles.weight].is_numeric():
            raise DataError(
                f"weight {roles.weight!r} is {type_name(schema[roles.weight])}, not numbers; convert it first"
            )
        w = nw.col(roles.weight).cast(nw.Float64)
        absent = w.is_null() | w.is_nan().fill_null(True)
        facts += [count(absent), count((~absent & (w <= 0)).fill_null(False))]
        facts += [count((~absent & (w > 1.7e308)).fill_null(False))]
    if roles.person is not None:
        facts.append(count(KeyColumn.of(roles.person, 0, schema[roles.person]).absent))
    return facts


def _check_roles(frame: nw.LazyFrame[Any], roles: Roles, counts: list[int]) -> None:
    if roles.weight is not None and any(counts[:3]):
        raise DataError(bad_weights(roles.weight, *counts[:3]))
    if roles.person is None:
        return
    if gone := counts[-1]:
        raise DataError(
            f"person {roles.person!r} is missing in {counted(gone, 'record')}; give every record its person"
        )
    if roles.weight is not None:
        who, w = nw.col(roles.person).alias(f"{PREFIX}person"), nw.col(roles.weight)
        persons = (
            frame.select(who, w.alias(WEIGHT))
            .group_by(f"{PREFIX}person")
            .agg(
                nw.len().alias(SIZE),
                nw.col(WEIGHT).min().alias(f"{PREFIX}low"),
                nw.col(WEIGHT).max().alias(f"{PREFIX}high"),
            )
        )
        varies = persons.filter(nw.col(f"{PREFIX}low") != nw.col(f"{PREFIX}high"))
        varying = aggregate(varies, nw.col(SIZE).sum())[0]
        if varying > 0:
            raise DataError(
                f"the weight is not constant within a person in {counted(int(varying), 'record')}; give each person "
                "one weight"
            )


def with_missing(keys: Sequence[KeyColumn], n_missing: Sequence[int]) -> tuple[KeyColumn, ...]:
    """The keys with `has_missing` set by their numbers of missing values."""
    return tuple(replace(key, has_missing=gone > 0) for key, gone in zip(keys, n_missing, strict=True))


def count_values(name: str, values: Any, sizes: np.ndarray[Any, np.dtype[np.int64]], n: int) -> Counted:
    """How often each value of a column occurs, of values that stand for numbers of records."""
    plain = values.cast(values.type.value_type) if pt.is_dictionary(values.type) else values
    rows = nw.from_native(pa.table({name: plain, SIZE: sizes}), eager_only=True)
    sums = rows.group_by(name).agg(nw.col(SIZE).sum())
    return Counted(sums, (KeyColumn.of(name, 0, sums.schema[name]),), n)


def sizes_of(frame: nw.DataFrame[Any]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The number of records of each row of a counted frame."""
    return frame[SIZE].to_numpy().astype(np.int64)
