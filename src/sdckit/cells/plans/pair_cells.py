"""The cells of two files that stay on an engine: of each file by itself, and of rows that belong together by an id."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.cells.plans import lazy, spark_words
from sdckit.cells.plans.attach import attach
from sdckit.cells.plans.count_cells import PREFIX, Beside, KeyColumn, aggregate, count, count_by, key_columns, sizes_of
from sdckit.cells.shared_coding import EXACT
from sdckit.data.frames import check_plan_names, collect, on_spark
from sdckit.display import counted
from sdckit.errors import DataError, sure
from sdckit.numerics.array_types import Ints

NEAR = 8  # whole numbers of a range up to so many times as wide as there are records are marked in it, not sorted
MOST_IDS = 50_000_000  # that Spark hands out at once, 0.4 GB: it may hand out 1 GB unless told otherwise
LAST = float(2**63 - 1024)  # the largest floating number that is a 64-bit integer
Counted: TypeAlias = "tuple[nw.DataFrame[Any], Ints]"


def can_count(frames: Sequence[nw.LazyFrame[Any]], columns: Sequence[str]) -> bool:
    """Whether the values of some columns come alike from every file: no amounts of fixed point, no times of day.

    Those come as text, in which equal values of two files may differ; as columns they are compared as they are.
    """
    as_text = (nw.Decimal, nw.Time, nw.Duration)
    types = [frame.collect_schema()[name] for frame in frames for name in columns]
    return not any(kind.is_nested() or kind.base_type() in as_text or kind == nw.Unknown for kind in types)


def count_file(frame: nw.LazyFrame[Any], columns: Sequence[str], n: int, beside: Beside | None = None) -> Counted:
    """The distinct combinations of some columns of n records, and how many records have each.

    `beside`: what shares the room for cells here.

    Raises DataError: more combinations than fit here.
    """
    counted = count_by(frame, columns, n, beside=beside)
    return counted.select(*columns), sizes_of(counted)


def are_joined(frames: Sequence[nw.LazyFrame[Any]], id: str) -> bool:
    """Whether one engine can bring the rows of these plans together: ids of one type; of DuckDB, on one connection."""
    kinds = [frame.collect_schema()[id] for frame in frames]  # of other types, DuckDB converts one as it joins
    if any(kind != kinds[0] and not (kind.is_integer() and kinds[0].is_integer()) for kind in kinds):
        return False
    if len({frame.implementation for frame in frames}) > 1:
        return False
    if not frames[0].implementation.is_duckdb():
        return True
    first, *others = (frame.to_native() for frame in frames)
    try:
        for other in others:
            _ = first.limit(0).set_alias("one").cross(other.limit(0).set_alias("two")).columns
    except Exception:  # noqa: BLE001 (DuckDB has no question for it)
        return False
    return True


def check_ids(frames: Sequence[nw.LazyFrame[Any]], id: str, names: Sequence[str]) -> list[int]:
    """The records of each file; the id must name each row once in it.

    Raises DataError: an id that is missing or repeated.
    """
    sizes, faults = [], []
    for frame, label in zip(frames, names, strict=True):
        check_plan_names(frame, [id], "id")
        key = KeyColumn.of(id, 0, frame.collect_schema()[id])
        n, absent = map(int, np.nan_to_num(aggregate(frame, nw.len(), count(key.absent))))
        different = n if absent or not n else _different(frame, id, n)
        if absent:
            faults.append(f"{label}: id {id!r} is missing in {counted(absent, 'row')}")
        elif different < n:
            faults.append(f"{label}: {counted(n - different, 'row repeats', 'rows repeat')} a value of id {id!r}")
        sizes.append(n)
    if faults:
        raise DataError(f"{'; '.join(faults)}; an id names each row once, and the same rows in every file")
    return sizes


def _different(frame: nw.LazyFrame[Any], id: str, n: int) -> int:
    """How many values an id has in n records; whole numbers come here, where engines would hash each."""
    most = MOST_IDS if on_spark(frame) else lazy.most_values(frame)
    here = frame.collect_schema()[id].is_integer() and n <= most
    values = np.empty(0)
    with suppress(DataError):  # Spark may be told to hand out less (spark.driver.maxResultSize)
        values = collect(frame.select(id)).get_column(id).to_numpy() if here else values
    if values.dtype.kind not in "iu":
        return int(aggregate(frame, nw.col(id).n_unique())[0])
    least, most = int(values.min()), int(values.max())
    if most - least > NEAR * n:
        return len(np.unique(values))
    seen = np.zeros(most - least + 1, np.bool_)
    wide = values if values.dtype.kind == "u" else values.astype(np.int64)
    seen[wide - wide.dtype.type(least)] = True
    return int(np.count_nonzero(seen))


def check_records(sizes: Sequence[int], names: Sequence[str]) -> None:
    """Raise where a file has no records."""
    for label, size in zip(names, sizes, strict=True):
        if size == 0:
            raise DataError(f"{label}: the data has no records")


def count_together(
    frames: Sequence[nw.LazyFrame[Any]], columns: Sequence[str], id: str, names: Sequence[str], sizes: Sequence[int],
    beside: Beside | None = None,
) -> tuple[list[nw.DataFrame[Any]], Ints]:  # fmt: skip
    """The distinct combinations of some columns in all files of rows that have one id; how many rows have each.

    The engine joins by the id and groups; no row is numbered. A frame for each file, with the same rows.

    Raises DataError: an id that a file lacks; more combinations than fit here.
    """
    n_keys = len(frames) * len(columns)
    words = spark_words.in_words(frames, columns)
    together, moved = join_files(frames, words.columns, id, [words.read] * len(frames))
    counted = count_by(together, [name for own in moved for name in own], max(sizes), beside=beside, n_keys=n_keys)
    times = sizes_of(counted)
    check_together(int(times.sum()), sizes, id, names)
    files = [counted.select(*own).rename(dict(zip(own, words.columns, strict=True))) for own in moved]
    return [words.unpacked(file).select(*columns) for file in files], times


def join_files(
    frames: Sequence[nw.LazyFrame[Any]], columns: Sequence[str], id: str, read: Sequence[Mapping[str, nw.Expr]] = ()
) -> tuple[nw.LazyFrame[Any], list[list[str]]]:
    """The files as one plan, a row for each id that all have; and for each file the names of its columns there.

    `read`: for each file what is taken of a column instead of its values.
    """
    moved = [[f"{PREFIX}of{j}_{at}" for at in range(len(columns))] for j in range(len(frames))]
    key, together = f"{PREFIX}id", None
    for frame, own, taken in zip(frames, moved, read or [{}] * len(frames), strict=True):
        values = (taken.get(name, nw.col(name)).alias(new) for name, new in zip(columns, own, strict=True))
        chosen = frame.select(nw.col(id).alias(key), *values)
        together = chosen if together is None else together.join(chosen, on=key, how="inner")
    return sure(together), moved


def check_together(n: int, sizes: Sequence[int], id: str, names: Sequence[str]) -> None:
    """Check that the n rows that were joined are all rows of every file.

    Raises DataError: an id that a file lacks.
    """
    gone = [
        f"{label}: {counted(size - n, 'value')} of id {id!r} that another file has not"
        for label, size in zip(names, sizes, strict=True) if size != n
    ]  # fmt: skip
    if gone:
        raise DataError(f"{'; '.join(gone)}; an id names each row once, and the same rows in every file")


def count_differing(
    frames: Sequence[nw.LazyFrame[Any]], columns: Sequence[str], id: str, names: Sequence[str], sizes: Sequence[int]
) -> list[int]:
    """In how many rows with one id two files have different values of each column; a missing value differs from none.

    Counted by the engine, so that no row comes here. Raises DataError: an id that a file lacks.
    """
    values = [{key.name: key.value for key in key_columns(frame, columns)} for frame in frames]
    together, moved = join_files(frames, columns, id, values)
    differ = []
    for name, *own in zip(columns, *moved, strict=True):
        differ.append(count(unlike([frame.collect_schema()[name] for frame in frames], *own).fill_null(False)))
    n, *counts = aggregate(together, nw.len(), *differ)
    check_together(int(n), sizes, id, names)
    return [int(many) for many in np.nan_to_num(counts)]


def unlike(kinds: Sequence[Any], before: str, after: str) -> nw.Expr:
    """Whether two columns, of the types given, have different values in a row; null where one is missing."""
    old, new = nw.col(before), nw.col(after)
    whole = [kind.is_integer() for kind in kinds]
    if whole[0] == whole[1]:
        return old != new
    integer, number, kind = (old, new, kinds[0]) if whole[0] else (new, old, kinds[1])
    return _differ_by_kind(integer, number, kind == nw.UInt64)


def _differ_by_kind(integer: nw.Expr, number: nw.Expr, unsigned: bool = False) -> nw.Expr:
    """Whether an integer differs from a floating number: engines round it to the other's type, so that many do not.

    A number that no integer of its type can be differs from all of them. `unsigned`: whether that is of 64 bits.
    """
    low, last, kind = (0.0, 2 * LAST, nw.UInt64) if unsigned else (-(2.0**63), LAST, nw.Int64)
    rounded, number = integer.cast(nw.Float64), number.cast(nw.Float64)
    within = (number >= low) & (number <= last)
    exact = nw.when(within).then(number).cast(kind)
    apart = nw.when(within).then(exact != integer).otherwise(~number.is_null())
    return (rounded != number) | ((rounded.abs() >= float(EXACT)) & apart)


def with_column_by_id(frame: nw.LazyFrame[Any], other: nw.LazyFrame[Any], id: str, name: str) -> nw.LazyFrame[Any]:
    """The plan with a column of another one, of the row there that has the same id."""
    names = frame.collect_schema().names()
    own = other.select(nw.col(id).alias(f"{PREFIX}id"), nw.col(name))
    return frame.join(own, left_on=id, right_on=f"{PREFIX}id", how="left").select(*names, name)


def least_near(frame: nw.LazyFrame[Any], name: str, values: Sequence[float], close: float) -> list[float]:
    """For each value the least number of a column that is within `close` of it, relative; NaN where none is."""
    shown = nw.col(name)
    near = [nw.when((shown - value).abs() <= close * abs(value)).then(shown).min() for value in values]
    return aggregate(frame, *near)


def with_values(
    frame: nw.LazyFrame[Any], new: Sequence[tuple[str, nw.DataFrame[Any], Any]], was: str
) -> nw.LazyFrame[Any]:
    """The plan with new values of some columns, of all records alike that have the same values before.

    `new`: of each column its name, the distinct values of the columns that it is made of, and its new values by these.
    The old values stay beside the new ones, under their names with `was` before.
    """
    names, places = frame.collect_schema().names(), {}
    joined = frame
    for at, (name, rows, values) in enumerate(new):
        places[name] = f"{PREFIX}new{at}"
        joined = attach(joined, key_columns(frame, rows.columns), rows.to_arrow(), {places[name]: values})
    old = (nw.col(name).alias(was + name) for name in places if was + name not in names)
    return joined.select(*(nw.col(places.get(name, name)).alias(name) for name in names), *old)
