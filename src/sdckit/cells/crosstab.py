"""Cells by the levels of another variable: how often each of its values occurs in each cell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

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
    count = np.rint(counts[entry, cell]).astype(np.int64)
    return replace(own, edges=edges, level=levels[entry], count=count)
