"""Cells by the levels of another variable: how often each of its values occurs in each cell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.level_counts import Crosstab
from sdckit.cells.table import AnyCells, Cells
from sdckit.errors import DataError

__all__ = ["crosstab", "wildcard_crosstab"]

DENSE_LIMIT = 20_000_000  # numbers in a table of every cell by every level


def crosstab(cells: AnyCells, variable: str) -> Crosstab:
    """Count the levels of a variable within each cell; once for all measures of the same cells.

    Raises DataError: the variable has no value in any record.
    """
    return cells.count_levels(variable)


def wildcard_crosstab(cells: AnyCells, variable: str) -> Crosstab:
    """The same over the records that match each cell when a missing key may stand for any value.

    Raises DataError: the table of all cells by all levels is too large.
    """
    own, here = crosstab(cells, variable), cells.in_memory()
    return here.once(("crosstab", variable, here.rules), lambda: _count_matching(here, own, variable))


def _count_matching(cells: Cells, own: Crosstab, variable: str) -> Crosstab:
    from sdckit.cells.frequencies import wildcard_counts

    k = cells.n_cells
    levels, of_entry = _in_use(own)
    if k * len(levels) > DENSE_LIMIT:
        raise DataError(
            f"{k} cells by {len(levels)} levels of {variable!r} are too many to match missing keys as wildcards; "
            "use missing='category' or recode first"
        )
    counts = np.zeros((k, len(levels)))
    counts[np.repeat(np.arange(k), np.diff(own.edges)), of_entry] = own.count
    counts += wildcard_counts(
        cells.table, counts, missing_codes=[level.span for level in cells.levels], wild=cells.wild
    )
    cell, entry = np.nonzero(counts > 0.5)
    edges = np.zeros(k + 1, np.int64)
    np.cumsum(np.bincount(cell, minlength=k), out=edges[1:])
    count = np.rint(counts[cell, entry]).astype(np.int64)
    return replace(own, edges=edges, level=levels[entry], count=count)


def _in_use(table: Crosstab) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The levels that occur, ascending, and the place among them of each entry."""
    if table.coded.n_codes > 4 * len(table.level):
        return np.unique(table.level, return_inverse=True)
    levels = np.flatnonzero(np.bincount(table.level))
    place = np.empty(int(levels[-1]) + 1, np.int64)
    place[levels] = np.arange(len(levels))
    return levels, place[table.level]
