"""Which files are searched by what rows agree in, and the rows of such a file made ready for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.encode import Metric
from sdckit.numerics.search.agreement import Base, find_agreeing
from sdckit.numerics.search.agreement_pairs import Asked, NumberedRows, find_meeting, lead_column
from sdckit.numerics.search.agreement_sums import shares_agreeing, sums_agreeing
from sdckit.numerics.search.agreement_visit import visit_meeting
from sdckit.numerics.search.box_search import Found, Limits, Queries, Visited, in_place
from sdckit.numerics.search.column_sets import ColumnSets, Packed, column_sets, pack

SMALL = 2000  # so many different rows a tree searches as fast
ALIKE = 500  # so many rows with the categories of a row, on average, have too many numbers to be compared


class Distinct(NamedTuple):
    """Different rows of a file: numbers (K, p), categories (K, q), how many rows each stands for, the first of them."""

    numbers: Floats
    codes: NDArray[np.int32]
    sizes: Ints
    first_row: Ints


@dataclass(frozen=True, eq=False)
class Agreement:
    """Rows and queries packed for one another. `order` (K,): the place of each row in `Distinct`."""

    rows: NumberedRows
    order: Ints
    asked: Asked
    fields: NDArray[np.uint64]
    sets: ColumnSets
    metric: Metric

    def find(self, k: int, *, counted: bool = True) -> Found:
        """Find the k smallest sums of each query; `tied` is -1 for those that are left to another search."""
        if self.rows.numbers.shape[1]:
            order = np.argsort(self.asked.words, kind="stable")  # those alike meet the same rows
            asked = self.asked.take(order)
            found = find_meeting(self.rows, asked, self.fields, self.sets, self.metric, k)
            return Found(*(in_place(one, order) for one in found))
        return find_agreeing(self.rows.base, self.asked.words, self.asked.skip, self.sets, k, counted=counted)

    def sums(self, which: Ints, found: Found, values: Floats) -> Floats | None:
        """Sum `values` of `Distinct` over what was found for some queries; None where that takes a visit."""
        if self.rows.numbers.shape[1] or (self.asked.skip >= 0).any():
            return None
        words, fields = (self.rows.base.words, self.asked.words[which]), (self.fields, self.metric.weights)
        return sums_agreeing(words, fields, self.sets, found.take(which), values)

    def shares(self, which: Ints, found: Found, held: Floats, given: Floats) -> tuple[Floats, Floats] | None:
        """Sums of one value for some queries, and what these give to each row; None where that takes a visit."""
        sums = self.sums(which, found, held[:, None])
        if sums is None:
            return None
        words = self.rows.base.words, self.asked.words[which]
        return sums[:, 0], shares_agreeing(words, self.sets, found.take(which), given)

    def visit(
        self, which: Ints, limits: Limits, *, values: Floats | None = None, begins: Ints | None = None,
        n_listed: int = 0,
    ) -> Visited:  # fmt: skip
        """Do as `box_search.visit` does for some queries that were found here; `values` are of `Distinct`."""
        order = np.argsort(self.asked.words[which], kind="stable")
        found = visit_meeting(
            self.rows, self.asked.take(which[order]), self.fields, self.sets, self.metric,
            limits.take(which[order]), values=None if values is None else values[self.order],
            begins=None if begins is None else begins[order], n_listed=n_listed,
        )  # fmt: skip
        closer, tied, nearest, sums = (in_place(one, order) for one in found[:4])
        return Visited(closer, tied, nearest, sums, self.order[found.listed].astype(np.int32))


def by_agreement(rows: Distinct, queries: Queries, metric: Metric) -> Agreement | None:
    """Make files ready; None where their columns are not made for it. `queries.skip`: rows of `rows`."""
    numbered = rows.numbers.shape[1] > 0
    if len(rows.sizes) <= SMALL:
        return None
    packed = pack(rows.codes, queries.codes, metric.weights)
    sets = None if packed is None else column_sets(metric, packed.fields)
    if packed is None or sets is None or not _suits(packed, queries.skip, numbered=numbered):
        return None
    order = np.arange(len(rows.sizes))
    leading, asked, cap = np.zeros(len(order)), np.zeros(len(packed.query)), 0.0
    if numbered:
        lead = lead_column(rows.numbers, metric.caps)
        leading, asked, cap = rows.numbers[:, lead], queries.numbers[:, lead], float(metric.caps[lead])
        order = np.argsort(leading, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    base = Base(packed.base[order], rows.sizes[order], rows.first_row[order])
    return Agreement(
        NumberedRows(base, np.ascontiguousarray(rows.numbers[order]), np.ascontiguousarray(leading[order])), order,
        Asked(
            packed.query, queries.numbers, np.ascontiguousarray(asked),
            np.where(queries.skip >= 0, place[queries.skip], -1), cap, metric.tolerance,
        ),
        packed.fields, sets, metric,
    )  # fmt: skip


def _suits(packed: Packed, skip: Ints, *, numbered: bool) -> bool:
    """Whether few rows have the same categories; without numbers, whether a row that does not count is its query."""
    own, size = skip >= 0, np.unique(packed.base, return_counts=True)[1]
    if numbered:
        return float((size.astype(np.float64) ** 2).sum()) <= ALIKE * len(packed.base)
    alike = bool((packed.base[skip[own]] == packed.query[own]).all())
    return not own.any() or (alike and len(size) == len(packed.base))
