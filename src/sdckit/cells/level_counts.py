"""How often each value of a variable occurs in each cell, from rows that stand for records."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sdckit.data.columns import Coded, code_column, to_arrow
from sdckit.errors import DataError
from sdckit.numerics.grouping import ascending, group, sum_by


@dataclass(frozen=True, eq=False)
class Crosstab:
    """The levels that occur in each cell, cell by cell.

    `edges` (K + 1,): entries ``edges[c]`` to ``edges[c + 1]`` belong to cell c. `level` (E,): code of the level.
    `count` (E,): records of the cell with that level, 1 or more. `missing`: code of a missing value, -1 where none
    is missing. `coded`: what the codes stand for, without the codes of the records. `ordered`: whether the column
    declares an order of its categories: that of the codes.
    """

    edges: NDArray[np.int64]
    level: NDArray[np.int64]
    count: NDArray[np.int64]
    missing: int
    coded: Coded = field(repr=False)
    ordered: bool = False


def count_levels(
    cell_of_row: NDArray[np.int32] | NDArray[np.int64],
    column: nw.Series[Any],
    k: int,
    records: NDArray[np.int64] | None = None,
) -> Crosstab:
    """Rows of k cells by their levels in a column; `records` behind each row, one where it is left out.

    Raises DataError: the variable has no value in any record.
    """
    coded = code_column(column)
    if coded.n_missing == len(cell_of_row):
        raise DataError(f"sensitive variable {coded.name!r} has no value in any record; leave it out")
    bits = max(0, coded.n_codes - 1).bit_length()
    codes = coded.codes().astype(np.uint64)
    words = (cell_of_row.astype(np.uint64) << np.uint64(bits)) | codes
    word, size = _distinct(words, max(1, (k - 1).bit_length() + bits), records)
    cell = (word >> np.uint64(bits)).astype(np.int64)
    edges = np.zeros(k + 1, np.int64)
    np.cumsum(np.bincount(cell, minlength=k), out=edges[1:])
    level = (word & np.uint64((1 << bits) - 1)).astype(np.int64)
    return Crosstab(
        edges, level, size, missing=coded.span if coded.n_missing else -1, coded=coded.without_rows(),
        ordered=coded.kind == "category" and _is_ordered(column),
    )  # fmt: skip


def _distinct(
    words: NDArray[np.uint64], bits: int, records: NDArray[np.int64] | None
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The distinct words, ascending, and the records with each."""
    if records is not None:  # mostly counted by an engine, each word once
        word, order = ascending(words, bits=bits)
        if (word[1:] != word[:-1]).all():
            return word, records[order]
    pairs = group(words, bits=bits)
    size = pairs.size
    if records is not None:
        size = np.rint(sum_by(pairs.of_row, records.astype(np.float64), len(size))).astype(np.int64)
    word, order = ascending(pairs.words, bits=bits)
    return word, size[order]


def _is_ordered(column: nw.Series[Any]) -> bool:
    import pyarrow.types as t

    kind = to_arrow(column).type
    return bool(t.is_dictionary(kind) and kind.ordered)
