"""Which files are searched by what rows agree in, and the rows of such a file made ready for it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.encode import Metric
from sdckit.numerics.search.agreement import Base, find_agreeing
from sdckit.numerics.search.agreement_pairs import NumberedRows, find_meeting, lead_column
from sdckit.numerics.search.box_search import Found, Queries
from sdckit.numerics.search.column_sets import ColumnSets, Packed, column_sets, pack

__all__ = ["Distinct", "by_agreement"]

Ints = NDArray[np.int64]
SMALL = 1000  # so many different rows a tree searches as fast


class Distinct(NamedTuple):
    """Different rows of a file: numbers (K, p), categories (K, q), how many rows each stands for, the first of them."""

    numbers: NDArray[np.float64]
    codes: NDArray[np.int32]
    sizes: Ints
    first_row: Ints


def by_agreement(rows: Distinct, queries: Queries, metric: Metric, k: int) -> Found | None:
    """Find the k smallest sums of each query where its categories lead to them.

    `queries.skip`: rows of `rows`. None where the columns are not made for it; `tied` is -1 for single queries that
    are left to another search.
    """
    numbered = rows.numbers.shape[1] > 0
    if len(rows.sizes) <= SMALL or (numbered and metric.power != 1):
        return None
    packed = pack(rows.codes, queries.codes, metric.weights)
    sets = None if packed is None else column_sets(metric, packed.fields)
    if packed is None or sets is None:
        return None
    if numbered:
        return _numbered(rows, queries, metric, packed, sets, k)
    own = queries.skip >= 0
    if own.any() and not _are_in(packed, queries.skip, own):
        return None
    return find_agreeing(Base(packed.base, rows.sizes, rows.first_row), packed, queries.skip, sets, k)


def _numbered(
    rows: Distinct, queries: Queries, metric: Metric, packed: Packed, sets: ColumnSets, k: int
) -> Found:
    lead = lead_column(rows.numbers, metric.caps)
    order = np.argsort(rows.numbers[:, lead], kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    base = Base(packed.base[order], rows.sizes[order], rows.first_row[order])
    numbers = np.ascontiguousarray(rows.numbers[order])
    ready = NumberedRows(base, numbers, np.ascontiguousarray(numbers[:, lead]))
    skip = np.where(queries.skip >= 0, place[queries.skip], -1)
    return find_meeting(ready, packed, queries.numbers, lead, skip, sets, metric, k)


def _are_in(packed: Packed, skip: Ints, own: NDArray[np.bool_]) -> bool:
    """Whether each row that does not count is the one of the base that equals its query."""
    alike = bool((packed.base[skip[own]] == packed.query[own]).all())
    return alike and len(np.unique(packed.base)) == len(packed.base)
