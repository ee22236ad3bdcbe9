"""Cells by the levels of another variable: how often each of its values occurs in each cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.level_counts import Crosstab
from sdckit.cells.table import AnyCells, Cells
from sdckit.errors import DataError
from sdckit.numerics.grouping import ascending

LARGEST = 200_000_000  # cells times levels: these take minutes
AT_ONCE = 20_000_000  # cells times levels that are matched in one pass: each takes some 40 bytes
LEVELS = 16  # in one pass, at most: more gain nothing


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
    from sdckit.cells.frequencies import wildcard_counter

    k, (levels, place) = cells.n_cells, _in_use(own)
    if k * len(levels) > LARGEST:
        raise DataError(
            f"{k} cells by {len(levels)} levels of {variable!r} are too many to match missing keys as wildcards; "
            "use missing='category' or recode first"
        )
    matching = wildcard_counter(
        cells.table, missing_codes=[level.span for level in cells.levels], wild=cells.wild
    )
    found = []
    for first, counts in _some_levels(own, place, len(levels), max(1, min(LEVELS, AT_ONCE // k))):
        np.add(counts, matching(counts), out=counts)
        cell, at = np.nonzero(counts > 0.5)
        found.append((cell, levels[first + at], np.rint(counts[cell, at]).astype(np.int64)))
    cell, level, count = (np.concatenate(parts) for parts in zip(*found, strict=True))
    edges = np.zeros(k + 1, np.int64)
    np.cumsum(np.bincount(cell, minlength=k), out=edges[1:])
    if len(found) > 1:
        _, order = ascending(cell.astype(np.uint64), bits=max(1, (k - 1).bit_length()))
        level, count = level[order], count[order]
    return replace(own, edges=edges, level=level, count=count)


def _some_levels(
    own: Crosstab, place: NDArray[np.int64], n_levels: int, step: int
) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """How often each cell has the levels from the first on, some of them at a time (K, levels)."""
    k = len(own.edges) - 1
    cell = np.repeat(np.arange(k), np.diff(own.edges))
    for first in range(0, n_levels, step):
        counts = np.zeros((k, min(step, n_levels - first)))
        here = np.flatnonzero((place >= first) & (place < first + step))
        counts[cell[here], place[here] - first] = own.count[here]
        yield first, counts


def _in_use(table: Crosstab) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The levels that occur, ascending, and the place among them of each entry."""
    if table.coded.n_codes > 4 * len(table.level):
        return np.unique(table.level, return_inverse=True)
    levels = np.flatnonzero(np.bincount(table.level))
    place = np.empty(int(levels[-1]) + 1, np.int64)
    place[levels] = np.arange(len(levels))
    return levels, place[table.level]
