"""How often each value of a variable occurs in each cell, from rows that stand for records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdckit.data.columns import Coded
from sdckit.errors import DataError
from sdckit.numerics.gather import sum_by
from sdckit.numerics.grouping import group

__all__ = ["Crosstab", "count_levels"]


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


def count_levels(
    cell_of_row: NDArray[np.int32] | NDArray[np.int64],
    coded: Coded,
    k: int,
    records: NDArray[np.int64] | None = None,
) -> Crosstab:
    """Rows of k cells by their levels; `records` behind each row, one where it is left out.

    Raises DataError: the variable has no value in any record.
    """
    if coded.n_missing == len(cell_of_row):
        raise DataError(f"sensitive variable {coded.name!r} has no value in any record; leave it out")
    bits = max(0, coded.n_codes - 1).bit_length()
    codes = coded.codes().astype(np.uint64)
    words = (cell_of_row.astype(np.uint64) << np.uint64(bits)) | codes
    pairs = group(words, bits=max(1, (k - 1).bit_length() + bits))
    size = pairs.size
    if records is not None:
        size = np.rint(sum_by(pairs.of_row, records.astype(np.float64), len(size))).astype(np.int64)
    order = np.argsort(pairs.words)
    word = pairs.words[order]
    cell = (word >> np.uint64(bits)).astype(np.int64)
    edges = np.zeros(k + 1, np.int64)
    np.cumsum(np.bincount(cell, minlength=k), out=edges[1:])
    level = (word & np.uint64((1 << bits) - 1)).astype(np.int64)
    return Crosstab(edges, level, size[order], coded.span if coded.n_missing else -1)
