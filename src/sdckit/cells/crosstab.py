"""Cells by the levels of another variable: how often each of its values occurs in each cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.table import Cells
from sdckit.data.columns import Coded
from sdckit.errors import DataError
from sdckit.numerics.grouping import group

__all__ = ["Crosstab", "crosstab", "wildcard_crosstab"]

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


def _coded(cells: Cells, variable: str) -> Coded:
    coded = cells.code(variable)
    if coded.n_missing == cells.n:
        raise DataError(f"sensitive variable {variable!r} has no value in any record; leave it out")
    return coded


def crosstab(cells: Cells, variable: str) -> Crosstab:
    """Count the levels of a variable within each cell; once for all measures of the same cells.

    Raises DataError: the variable has no value in any record.
    """
    return cells.once(("crosstab", variable), lambda: _count(cells, variable))


def _count(cells: Cells, variable: str) -> Crosstab:
    coded, k = _coded(cells, variable), cells.n_cells
    bits = max(0, coded.n_codes - 1).bit_length()
    codes = coded.codes().astype(np.uint64)
    words = (cells.table.of_row.astype(np.uint64) << np.uint64(bits)) | codes
    pairs = group(words, bits=max(1, (k - 1).bit_length() + bits))
    order = np.argsort(pairs.words)
    word = pairs.words[order]
    cell = (word >> np.uint64(bits)).astype(np.int64)
    edges = np.zeros(k + 1, np.int64)
    np.cumsum(np.bincount(cell, minlength=k), out=edges[1:])
    level = (word & np.uint64((1 << bits) - 1)).astype(np.int64)
    return Crosstab(edges, level, pairs.size[order], coded.span if coded.n_missing else -1)


def wildcard_crosstab(cells: Cells, variable: str) -> Crosstab:
    """The same over the records that match each cell when a missing key may stand for any value.

    Raises DataError: the table of all cells by all levels is too large.
    """
    return cells.once(("crosstab", variable, cells.rules), lambda: _count_matching(cells, variable))


def _count_matching(cells: Cells, variable: str) -> Crosstab:
    from sdckit.cells.frequencies import wildcard_matches

    own, k = crosstab(cells, variable), cells.n_cells
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
