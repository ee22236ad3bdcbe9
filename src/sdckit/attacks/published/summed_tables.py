"""Published sums of a numeric variable as cells with the least and the greatest sum that each may have."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.published.counted_tables import (
    CountedTable,
    cells_of,
    count_table,
    labelled,
    table_frame,
    there,
    with_totals,
)
from sdckit.data.columns import float_values
from sdckit.data.published_table import PublishedTable
from sdckit.errors import DataError
from sdckit.numerics.array_types import Floats


def read_table(table: PublishedTable, original: Any) -> CountedTable:
    """Read a table of counts or of sums, or make it from the original; see `count_table` and `sum_table`."""
    return count_table(table, original) if table.sum is None else sum_table(table, original)


def sum_table(table: PublishedTable, original: Any) -> CountedTable:
    """Read a table's sums, or add them up in the original; a value that is missing there adds nothing.

    Raises `ColumnError`: a column is absent; `DataError`: sums that are none, a cell that stands twice, no original to
    add up; `FileFormatError`: the file cannot be read.
    """
    if table.counts is not None:
        table, frame, columns = table_frame(table)
        sums = _numbers(frame, table, "leave the sum of a suppressed cell empty")
        gone = np.isnan(sums)
        return with_totals(table, columns, *_as_told(table, sums, gone), gone)
    if original is None:
        raise DataError(
            f"tables: {table.called} is to be added up in the original; give it (original=), or the sums "
            "(PublishedTable(counts=..., sum=...))",
            argument="tables",
        )
    names = tuple(table.variables or ())
    for name in (*names, str(table.sum)):
        there(name, original.columns, f"tables: {table.called}: the original")
    columns = [labelled(original[name]) for name in names]
    of_row, cells = cells_of(columns)
    values = np.nan_to_num(_numbers(original, table, "give a numeric variable"))
    counts = np.bincount(of_row, minlength=len(cells))
    total: Floats = np.bincount(of_row, values, len(cells)).astype(np.float64)
    gone = counts < (table.suppressed_below or 0)
    if table.rounded is not None:
        total = table.rounded * np.floor(total / table.rounded + 0.5)
    own = tuple(replace(one, codes=one.codes[cells]) for one in columns)
    return CountedTable(table, own, *_as_told(table, total, gone), (), gone)


def _numbers(frame: Any, table: PublishedTable, do: str) -> Floats:
    what = f"tables: {table.called}"
    try:
        found = float_values(frame[str(table.sum)], "sum")
    except DataError:
        raise DataError(
            f"{what}: the column {table.sum!r} is not all numbers; {do}", argument="tables"
        ) from None
    if np.isinf(found).any():
        raise DataError(f"{what}: the column {table.sum!r} holds infinite numbers; {do}", argument="tables")
    return found


def _as_told(table: PublishedTable, sums: Floats, gone: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """The ends of what is summed: nothing is known of a suppressed sum."""
    off = rounding_error(table)
    return np.where(gone, -np.inf, sums - off), np.where(gone, np.inf, sums + off)


def rounding_error(table: PublishedTable) -> float:
    """How far a rounded sum may be off."""
    if table.rounded is None:
        return 0.0
    return float(table.rounded) if table.rounding == "random" else table.rounded / 2
