"""Published tables as cells with the least and the greatest number that each may hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.collect import columns_in_memory
from sdckit.data.columns import float_values
from sdckit.data.distinct import distinct_values
from sdckit.data.files.readers import read_file
from sdckit.data.nearest import did_you_mean
from sdckit.data.published_table import PublishedTable
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Ints
from sdckit.numerics.grouping import group

ANY = 2**40  # no table counts so many
MISSING = ""  # how a missing value is labelled; no value prints as nothing


@dataclass(frozen=True, eq=False)
class Column:
    """One column as levels: their labels, a missing value last where there is one, and the level of each row."""

    name: str
    labels: tuple[str, ...]
    codes: Ints


@dataclass(frozen=True, eq=False)
class CountedTable:
    """Cells of a table.

    `columns`: the variables, a row per cell. `lower`, `upper` (C,): the least and the greatest number of records, or
    where the table has a `sum`, the ends of what is summed.
    `totals`: its margins, each a table of its own. `suppressed` (C,): cells whose count is not told.
    """

    table: PublishedTable
    columns: tuple[Column, ...]
    lower: NDArray[Any]
    upper: NDArray[Any]
    totals: tuple[CountedTable, ...]
    suppressed: NDArray[np.bool_]

    @property
    def called(self) -> str:
        """Its name."""
        return self.table.called

    @property
    def most_unlisted(self) -> int:
        """The greatest number in a cell without a row: none, or what is rounded to none."""
        return 0 if self.table.rounded is None else _most_off(self.table)


def labelled(series: Any) -> Column:
    """A column as labels; whole numbers alike, whether they are held as integers or not."""
    found = distinct_values(series)
    labels = [_label(value) for value in found.values]
    codes = found.codes.astype(np.int64)
    if (codes < 0).any():
        codes = np.where(codes < 0, len(labels), codes)
        labels.append(MISSING)
    names = list(dict.fromkeys(labels))
    place = {name: i for i, name in enumerate(names)}
    return Column(series.name, tuple(names), np.array([place[label] for label in labels], np.int64)[codes])


def _label(value: Any) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2.0**53:
        return str(int(value))
    return str(value)


def count_table(table: PublishedTable, original: Any) -> CountedTable:
    """Read a table's counts, or count them in the original.

    Raises `ColumnError`: a column is absent; `DataError`: counts that are none, a cell that stands twice, no original
    to count in; `FileFormatError`: the file cannot be read.
    """
    if table.counts is not None:
        return _read(table)
    if original is None:
        raise DataError(
            f"tables: {table.called} is to be counted in the original; give it (original=), or the counts "
            "(PublishedTable(counts=...))",
            argument="tables",
        )
    names = tuple(table.variables or ())
    for name in names:
        there(name, original.columns, f"tables: {table.called}: the original")
    columns = [labelled(original[name]) for name in names]
    of_row, cells = cells_of(columns)
    n = len(cells)
    counts = np.bincount(of_row, minlength=n).astype(np.int64)
    own = tuple(replace(one, codes=one.codes[cells]) for one in columns)
    below = table.suppressed_below or 0
    gone = (counts > 0) & (counts < below)
    return CountedTable(table, own, *_as_published(table, counts), (), gone)


def cells_of(columns: list[Column]) -> tuple[Ints, Ints]:
    """The cell of each row, and a row of each cell."""
    packed = np.zeros(len(columns[0].codes), np.uint64)
    for one in columns:
        packed = packed * np.uint64(len(one.labels)) + one.codes.astype(np.uint64)
    groups = group(packed)
    first = np.full(len(groups.size), -1, np.int64)
    first[groups.of_row[::-1]] = np.arange(len(packed))[::-1]
    return groups.of_row.astype(np.int64), first


def _as_published(table: PublishedTable, counts: Ints) -> tuple[Ints, Ints]:
    """What anybody sees of counts that are to be rounded or suppressed."""
    lower, upper = counts.copy(), counts.copy()
    if table.rounded is not None:
        base = table.rounded
        lower, upper = _rounded(table, base * ((2 * counts + base) // (2 * base)))
    if table.suppressed_below is not None:
        gone = (counts > 0) & (counts < table.suppressed_below)
        lower = np.where(gone, 1, lower)
        upper = np.where(gone, table.suppressed_below - 1, upper)
    return lower, upper


def _rounded(table: PublishedTable, shown: Ints) -> tuple[Ints, Ints]:
    most = _most_off(table)
    return np.maximum(shown - most, 0), shown + most


def _most_off(table: PublishedTable) -> int:
    """How far a rounded count may be off."""
    base = table.rounded or 1
    return base - 1 if table.rounding == "random" else base // 2


def there(name: str, names: Any, what: str) -> None:
    """Refuse a column that is not there."""
    if name not in names:
        raise ColumnError(f"{what} has no column {name!r}; {did_you_mean(name, names)}", argument="tables")


def table_frame(table: PublishedTable) -> tuple[PublishedTable, Any, list[Column]]:
    """The table with its variables and its name, the frame that holds it, and its variables as labels.

    Raises `ColumnError`: a column is absent; `DataError`: it has no variables; `FileFormatError`: the file cannot be
    read.
    """
    data = table.counts
    data = read_file(data, missing="") if isinstance(data, (str, Path)) else data
    frame, _ = columns_in_memory(data, {"tables": ()})
    what = f"tables: {table.called}"
    own = table.count if table.sum is None else table.sum
    for name in (own, *(table.variables or ())):
        there(name, frame.columns, what)
    numbers = (own,) if table.sum is None else (table.sum, table.count)
    variables = table.variables or [one for one in frame.columns if one not in numbers]
    if not variables:
        says = "no variables, only a count" if table.sum is None else "no variables, only a sum"
        raise DataError(f"{what} has {says}", argument="tables")
    called = table.name or table.called
    if not table.name and table.sum is not None and not isinstance(table.counts, Path):
        called = ""  # its variables say more
    table = replace(table, variables=tuple(variables), name=called)
    return table, frame, [labelled(frame[name]) for name in variables]


def _read(table: PublishedTable) -> CountedTable:
    table, frame, columns = table_frame(table)
    return with_totals(table, columns, *_read_counts(table, frame))


def _read_counts(table: PublishedTable, frame: Any) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    what = f"tables: {table.called}"
    try:
        counts = float_values(frame[table.count], "count")
    except DataError:
        raise DataError(
            f"{what}: the column {table.count!r} is not all counts; leave the count of a suppressed cell empty"
        ) from None
    gone = np.isnan(counts)
    whole = np.where(gone, 0.0, counts)
    if (whole < 0).any() or (whole != np.floor(whole)).any() or (whole >= ANY).any():
        raise DataError(f"{what}: the column {table.count!r} holds what is no count (negative, or not whole)")
    shown = whole.astype(np.int64)
    lower, upper = (shown, shown) if table.rounded is None else _rounded(table, shown)
    most = ANY if table.suppressed_below is None else table.suppressed_below - 1
    return np.where(gone, 0, lower), np.where(gone, most, upper), gone


def _of_rows(column: Column, rows: Ints) -> Column:
    """Some rows of a column, with the labels that they have."""
    used, codes = np.unique(column.codes[rows], return_inverse=True)
    return Column(column.name, tuple(column.labels[code] for code in used), codes.ravel())


def with_totals(
    table: PublishedTable,
    columns: list[Column],
    lower: NDArray[Any],
    upper: NDArray[Any],
    gone: NDArray[np.bool_],
) -> CountedTable:
    """Cells apart from margins; each cell may stand once."""
    is_total = np.column_stack([
        one.codes == (one.labels.index(table.total) if table.total in one.labels else -1) for one in columns
    ])  # fmt: skip
    kinds, of = np.unique(is_total, axis=0, return_inverse=True)
    own: CountedTable | None = None
    totals = []
    for number, kind in enumerate(kinds):
        rows = np.flatnonzero(of.ravel() == number)
        kept = [_of_rows(one, rows) for one, gone in zip(columns, kind, strict=True) if not gone]
        if kept and len(cells_of(kept)[1]) < len(rows):
            raise DataError(f"tables: {table.called}: a cell stands there twice; each has one row")
        found = CountedTable(table, tuple(kept), lower[rows], upper[rows], (), gone[rows])
        if kind.any():
            totals.append(found)
        else:
            own = found
    if own is None:
        raise DataError(f"tables: {table.called} has only totals, no cell")
    return replace(own, totals=tuple(totals))
