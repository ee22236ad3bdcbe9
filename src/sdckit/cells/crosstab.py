"""Cells by the levels of another variable: how often each of its values occurs in each cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sdckit.cells.packing import tabulate
from sdckit.cells.plans.count_cells import sizes_of
from sdckit.cells.table import AnyCells, Cells
from sdckit.data.columns import Coded, code_column
from sdckit.errors import DataError
from sdckit.numerics.gather import sum_by
from sdckit.numerics.grouping import group
from sdckit.numerics.threads import run

__all__ = ["Crosstab", "crosstab", "crosstab_of_counts", "crosstab_of_rows", "wildcard_crosstab"]

DENSE_LIMIT = 20_000_000  # numbers in a table of every cell by every level


@dataclass(frozen=True, eq=False)
class Crosstab:
    """The levels that occur in each cell, cell by cell.

    `edges` (K + 1,): entries ``edges[c]`` to ``edges[c + 1]`` belong to cell c. `level` (E,): code of the level.
    `count` (E,): records of the cell with that level, 1 or more. `missing`: code of a missing value, -1 where none
    is missing.
    """

    edges: NDArray[np.int64]
    level: NDArray[np.int64]
    count: NDArray[np.int64]
    missing: int


def crosstab(cells: AnyCells, variable: str) -> Crosstab:
    """Count the levels of a variable within each cell; once for all measures of the same cells.

    Raises DataError: the variable has no value in any record.
    """
    return cells.count_levels(variable)


def crosstab_of_rows(cells: Cells, coded: Coded) -> Crosstab:
    """The levels of a coded column within each cell.

    Raises DataError: the column has no value in any record.
    """
    return _of_pairs(cells.table.of_row, coded, np.ones(0, np.int64), cells.n_cells)


def crosstab_of_counts(
    cells: Cells, counted: nw.DataFrame[Any], finer: nw.DataFrame[Any], variable: str
) -> Crosstab:
    """The same of cells that an engine counted, from what it counted by the variable as well.

    `counted`: the rows that the cells were made of; `finer`: rows of the same keys, the variable and the records.

    Raises DataError: the variable has no value in any record.
    """
    rows = nw.concat([counted.select(*cells.keys), finer.select(*cells.keys)])
    group_of = tabulate(run(code_column, [rows[key] for key in cells.keys]), None).of_row
    cell_of_group = np.empty(int(group_of.max()) + 1, np.int64)
    cell_of_group[group_of[: len(counted)]] = cells.table.of_row
    return _of_pairs(
        cell_of_group[group_of[len(counted) :]], code_column(finer[variable]), sizes_of(finer), cells.n_cells
    )


def _of_pairs(
    cell_of_row: NDArray[np.integer[Any]], coded: Coded, records: NDArray[np.int64], k: int
) -> Crosstab:
    """Rows of k cells by their levels; `records` behind each row, one where there are none."""
    if coded.n_missing == len(cell_of_row):
        raise DataError(f"sensitive variable {coded.name!r} has no value in any record; leave it out")
    bits = max(0, coded.n_codes - 1).bit_length()
    codes = coded.codes().astype(np.uint64)
    words = (cell_of_row.astype(np.uint64) << np.uint64(bits)) | codes
    pairs = group(words, bits=max(1, (k - 1).bit_length() + bits))
    size = pairs.size
    if len(records):
        size = np.rint(sum_by(pairs.of_row, records.astype(np.float64), len(size))).astype(np.int64)
    order = np.argsort(pairs.words)
    word = pairs.words[order]
    cell = (word >> np.uint64(bits)).astype(np.int64)
    edges = np.zeros(k + 1, np.int64)
    np.cumsum(np.bincount(cell, minlength=k), out=edges[1:])
    level = (word & np.uint64((1 << bits) - 1)).astype(np.int64)
    return Crosstab(edges, level, size[order], coded.span if coded.n_missing else -1)


def wildcard_crosstab(cells: AnyCells, variable: str) -> Crosstab:
    """The same over the records that match each cell when a missing key may stand for any value.

    Raises DataError: the table of all cells by all levels is too large.
    """
    own, here = crosstab(cells, variable), cells.in_memory()
    return here.once(("crosstab", variable, here.rules), lambda: _count_matching(here, own, variable))


def _count_matching(cells: Cells, own: Crosstab, variable: str) -> Crosstab:
    from sdckit.cells.frequencies import wildcard_matches

    k = cells.n_cells
    levels, of_entry = np.unique(own.level, return_inverse=True)
    if k * len(levels) > DENSE_LIMIT:
        raise DataError(
            f"{k} cells by {len(levels)} levels of {variable!r} are too many to match missing keys as wildcards; "
            "use missing='category' or recode first"
        )
    counts = np.zeros((len(levels), k))
    counts[of_entry, np.repeat(np.arange(k), np.diff(own.edges))] = own.count
    for a in range(0, len(levels), 2):  # two levels at a time, in the places of size and weight
        b = min(a + 1, len(levels) - 1)
        matched = wildcard_matches(
            cells.table, size=counts[a].copy(), weight=counts[b].copy(), wild=cells.wild, alpha=1.0,
            missing_codes=[level.span for level in cells.levels],
        )  # fmt: skip
        counts[a] += matched.size
        if b > a:
            counts[b] += matched.weight
    cell, entry = np.nonzero(counts.T > 0.5)
    edges = np.zeros(k + 1, np.int64)
    np.cumsum(np.bincount(cell, minlength=k), out=edges[1:])
    return Crosstab(edges, levels[entry], np.rint(counts[entry, cell]).astype(np.int64), own.missing)
