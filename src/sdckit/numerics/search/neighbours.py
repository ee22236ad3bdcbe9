"""Exact nearest neighbours of rows in another file: distances, indices, and numbers of ties.

Equal rows are searched for once. Memory is proportional to the number of rows, not to its square.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from sdckit.errors import DataError
from sdckit.numerics.array_types import AnyInts, Codes, Floats, Ints, Words
from sdckit.numerics.coding import Encoded, Metric, hash_rows
from sdckit.numerics.grouping import group, in_place, places_among
from sdckit.numerics.search import agreement_pairs, box_tree
from sdckit.numerics.search.agreement import Base, ColumnSets, Packed, column_sets, find_agreeing, pack
from sdckit.numerics.search.box_search import Answers, Limits, Queries, Visited, find, limits_of, visit

# Search by the categories in which rows agree, for files that suit it.


SMALL = 2000  # distinct rows up to which a tree is as fast
ALIKE = 500  # average number of rows with the categories of a row from which on a tree is faster


class Distinct(NamedTuple):
    """Distinct rows of a file: numbers (K, p), category codes (K, q), number of equal rows, index of the first one."""

    numbers: Floats
    codes: Codes
    sizes: Ints
    first_row: Ints


@dataclass(frozen=True, eq=False)
class Agreement:
    """Rows and queries packed for a search by agreement. `order` (K,): the place of each row in `Distinct`."""

    rows: agreement_pairs.NumberedRows
    order: Ints
    queries: agreement_pairs.PackedQueries
    fields: Words
    sets: ColumnSets
    metric: Metric

    def find(self, k: int, *, counted: bool = True) -> Answers:
        """Find the k smallest sums of each query; `tied` is -1 for queries that the tree must answer."""
        if self.rows.numbers.shape[1]:
            order = np.argsort(self.queries.words, kind="stable")  # equal ones are compared with the same rows
            ordered = self.queries.take(order)
            answers = agreement_pairs.find_meeting(self.rows, ordered, self.fields, self.sets, self.metric, k)
            return Answers(*(in_place(field, order) for field in answers))
        return find_agreeing(self.rows.base, self.queries.words, self.queries.skip, self.sets, k, counted=counted)

    def sums(self, which: Ints, answers: Answers, values: Floats) -> Floats | None:
        """Sum `values` of `Distinct` over the neighbours of some queries; None where `visit` must or should do it.

        Sums by groups of rows are taken of each value in each set of columns: thousands of levels of a target in
        thousands of sets, where few rows are nearest, take longer than to go from neighbour to neighbour.
        """
        farthest = float(answers.smallest[which, -1].max()) + self.metric.tolerance
        n_sums = int(np.searchsorted(self.sets.weight, farthest, "right")) * len(self.order) * values.shape[1]
        n_neighbours = int((answers.closer + answers.tied)[which].sum())
        if self.rows.numbers.shape[1] or n_sums > SUMS_PER_VISIT * n_neighbours:
            return None
        words, fields = (self.rows.base.words, self.queries.words[which]), (self.fields, self.metric.weights)
        return agreement_pairs.sums_agreeing(words, fields, self.sets, answers.take(which), values)

    def shares(self, which: Ints, answers: Answers, held: Floats, given: Floats) -> tuple[Floats, Floats] | None:
        """Sums of one value for some queries, and what these give to each row; None where that needs `visit`."""
        sums = self.sums(which, answers, held[:, None])
        if sums is None:
            return None
        words = self.rows.base.words, self.queries.words[which]
        return sums[:, 0], agreement_pairs.shares_agreeing(words, self.sets, answers.take(which), given)

    def visit(
        self, which: Ints, limits: Limits, *, values: Floats | None = None, begins: Ints | None = None,
        n_listed: int = 0,
    ) -> Visited:  # fmt: skip
        """Do as `box_search.visit` for some queries that were answered here; `values` are of `Distinct`."""
        order = np.argsort(self.queries.words[which], kind="stable")
        visited = agreement_pairs.visit_meeting(
            self.rows, self.queries.take(which[order]), self.fields, self.sets, self.metric,
            limits.take(which[order]), values=None if values is None else values[self.order],
            begins=None if begins is None else begins[order], n_listed=n_listed,
        )  # fmt: skip
        closer, tied, nearest, sums = (in_place(field, order) for field in visited[:4])
        return Visited(closer, tied, nearest, sums, self.order[visited.listed].astype(np.int32))


def by_agreement(rows: Distinct, queries: Queries, metric: Metric) -> Agreement | None:
    """Prepare a search by agreement; None if the columns do not suit it. `queries.skip`: indices into `rows`."""
    numbered = rows.numbers.shape[1] > 0
    if len(rows.sizes) <= SMALL:
        return None
    packed = pack(rows.codes, queries.codes, metric.weights)
    sets = None if packed is None else column_sets(metric, packed.fields)
    if packed is None or sets is None or not _suits(packed, queries.skip, numbered=numbered):
        return None
    order = np.arange(len(rows.sizes))
    leading, query_lead, cap = np.zeros(len(order)), np.zeros(len(packed.query)), 0.0
    if numbered:
        lead = agreement_pairs.lead_column(rows.numbers, metric.caps)
        leading, query_lead, cap = rows.numbers[:, lead], queries.numbers[:, lead], float(metric.caps[lead])
        order = np.argsort(leading, kind="stable")
    place = places_among(order, len(order))
    base = Base(packed.base[order], rows.sizes[order], rows.first_row[order])
    return Agreement(
        agreement_pairs.NumberedRows(
            base, np.ascontiguousarray(rows.numbers[order]), np.ascontiguousarray(leading[order])
        ), order,
        agreement_pairs.PackedQueries(
            packed.query, queries.numbers, np.ascontiguousarray(query_lead),
            np.where(queries.skip >= 0, place[queries.skip], -1), cap, metric.tolerance,
        ),
        packed.fields, sets, metric,
    )  # fmt: skip


def _suits(packed: Packed, skip: Ints, *, numbered: bool) -> bool:
    """Whether few rows have equal categories; without numbers, whether a row that does not count equals its query."""
    own, size = skip >= 0, np.unique(packed.base, return_counts=True)[1]
    if numbered:
        return float((size.astype(np.float64) ** 2).sum()) <= ALIKE * len(packed.base)
    alike = bool((packed.base[skip[own]] == packed.query[own]).all())
    return not own.any() or (alike and len(size) == len(packed.base))


SUMS_PER_VISIT = 4000  # additions of one row in one set, which take as long as to visit a neighbour
LISTED = 1 << 22  # nearest rows listed at once, where they need not all be in one list
PAIRS = 1 << 16  # distances that are computed at a time
FEW = 500  # queries that are compared with all rows in less time than a tree is built


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The nearest rows of the base for each query.

    `distance` (n, k): the k smallest distances, ascending. `index` (n,): the first nearest row of the base (if it is
    equal to a skipped row, another one). `n_closer` (n,): rows nearer than the k-th distance, fewer than k. `n_tied`
    (n,): rows at the k-th distance; `n_closer` + `n_tied` is at least k. `tolerance`: distances that differ by no more
    are equal.
    """

    distance: Floats
    index: Ints
    n_closer: Ints
    n_tied: Ints
    tolerance: float

    @property
    def k(self) -> int:
        """Number of neighbours."""
        return int(self.distance.shape[1])

    def chance(self, distance: Floats) -> Floats:
        """Probability that a row of the base at some distance is among the k, ties broken at random.

        `distance` (n,): from each query to the row of the base in question (see `paired`).

        >>> near = Neighbours(np.array([[0.0, 1.0]]), np.array([0]), np.array([1]), np.array([2]), 1e-12)
        >>> near.chance(np.array([1.0])).tolist(), near.chance(np.array([0.0])).tolist()
        ([0.5], [1.0])
        """
        last = self.distance[:, -1]
        share = (self.k - self.n_closer) / self.n_tied
        inside = np.where(distance < last - self.tolerance, 1.0, share)
        return np.where(distance > last + self.tolerance, 0.0, inside)


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows grouped by equality: group of each row (n,); first row, second row (or the first) and size of each group."""

    of_row: Ints
    first: Ints
    second: Ints
    size: Ints


class Planted(NamedTuple):
    """A tree; number of rows of the file at each of its places, and the first of them; place of each distinct row."""

    tree: box_tree.BoxTree
    sizes: Ints
    first_row: Ints
    place: Ints

    def with_places(self, queries: Queries) -> Queries:
        """The same queries, with rows that do not count given by their places in the tree."""
        return queries._replace(skip=np.where(queries.skip >= 0, self.place[queries.skip], -1))


@dataclass(frozen=True, eq=False)
class Index:
    """A file prepared for searching; one index answers any number of queries.

    `n`: number of rows. `distinct`: the distinct ones. `rows`: grouping of rows by equality.
    """

    n: int
    distinct: Distinct
    rows: Rows
    metric: Metric

    @cached_property
    def planted(self) -> Planted:
        """The tree, built on first use."""
        return self._plant(box_tree.LEAF)

    @cached_property
    def flat(self) -> Planted:
        """A tree of one leaf, so that every query is compared with all rows and no tree has to be built."""
        return self._plant(max(1, len(self.rows.size)))

    def _plant(self, leaf: int) -> Planted:
        numbers, codes, sizes, first_row = self.distinct
        tree = box_tree.build(numbers, codes, self.metric, leaf=leaf)
        return Planted(tree, sizes[tree.order], first_row[tree.order], places_among(tree.order, len(tree.order)))

    def nearest(self, query: Encoded, n_neighbors: int = 1, *, skip: Ints | None = None) -> Neighbours:
        """Find the nearest rows of each query.

        The query is encoded together with the base. `skip` (n,): for each query a row of the base that does not
        count: itself, when a file is searched in itself. Raises DataError: the base has fewer rows than neighbours
        are asked for.
        """
        search = self._search(query, n_neighbors, skip)
        index = search.answers.nearest[search.of_row]
        if skip is not None:  # equal rows are searched for once: each then leaves out itself
            index = np.where(index == skip, self.rows.second[self.rows.of_row[skip]], index)
        distance = search.answers.smallest[search.of_row]
        return Neighbours(
            np.sqrt(distance) if self.metric.power == 2 else distance, index,
            search.answers.closer[search.of_row], search.answers.tied[search.of_row], self.metric.tolerance,
        )  # fmt: skip

    def distances(self, query: Encoded, n_neighbors: int = 1, *, skip: Ints | None = None) -> Floats:
        """Only the distances of `nearest` (n, k), faster."""
        search = self._search(query, n_neighbors, skip, counted=False)
        sums = search.answers.smallest[search.of_row]
        return np.sqrt(sums) if self.metric.power == 2 else sums

    def totals(self, query: Encoded, n_neighbors: int, values: Floats) -> tuple[Floats, Ints]:
        """Sum values over the nearest rows of each query, all those tied at the k-th distance included.

        `values` (n_base, v): one row per row of the base: a target, or 0 and 1 for each of its levels. Returns sums
        (n, v), and the number of rows in each (n,).
        """
        held = self.held(values)
        search = self._search(query, n_neighbors, None, values=held)
        # A tree adds up while it searches.
        return search.by_query(search.answers.sums if search.agreed is None else self.sums(search, held))

    def within(self, query: Encoded, n_neighbors: int) -> Within:
        """The nearest rows of each query, all those tied at the k-th distance included, to sum several values over."""
        return Within(self, self._search(query, n_neighbors, None))

    def lists(self, query: Encoded, n_neighbors: int) -> tuple[Ints, Ints]:
        """List the nearest rows of each query, all those tied at the k-th distance included.

        The list is as long as there are ties: for some queries, not for a whole file.

        Returns ``begins`` (n + 1,) and ``rows``: the neighbours of query i are ``rows[begins[i]:begins[i + 1]]``,
        ascending.
        """
        search = self._search(query, n_neighbors, None)
        places = self._places(search)
        by_place = np.argsort(self.rows.of_row, kind="stable")
        starts = np.concatenate([[0], np.cumsum(self.rows.size)])
        neighbour_lists = [
            np.sort(np.concatenate([by_place[starts[place] : starts[place + 1]] for place in places[u]]))
            for u in search.of_row
        ]
        begins = np.concatenate([[0], np.cumsum([len(rows) for rows in neighbour_lists])]).astype(np.int64)
        return begins, np.concatenate([np.empty(0, np.int64), *neighbour_lists])

    def _search(
        self, query: Encoded, k: int, skip: Ints | None, *, counted: bool = True, values: Floats | None = None
    ) -> _Search:
        available = self.n - (skip is not None)
        if not 1 <= k <= available:
            raise DataError(f"{k} nearest rows are asked for, of {available} there are; ask for fewer, and at least 1")
        place = np.full(query.n, -1, np.int64) if skip is None else self.rows.of_row[skip]
        distinct = _group_rows(query.numbers, np.column_stack([query.codes, place]))
        queries = Queries(query.numbers, query.codes, place).take(distinct.first)
        agreed = by_agreement(self.distinct, queries, self.metric)
        if agreed is None:
            answers, left = self._find_in_tree(queries, k, values, counted=counted), np.arange(len(distinct.first))
        else:
            answers = agreed.find(k, counted=counted)
            left = np.flatnonzero(answers.tied < 0)
            if len(left):
                rest = self._find_in_tree(queries.take(left), k, few=len(left) <= FEW)
                for mine, theirs in zip(answers, rest, strict=True):
                    mine[left] = theirs
        return _Search(queries, distinct.of_row, answers, limits_of(answers.smallest, self.metric), agreed, left)

    def _find_in_tree(
        self, queries: Queries, k: int, values: Floats | None = None, *, few: bool = False, counted: bool = True
    ) -> Answers:
        planted = self.flat if few else self.planted
        held = None if values is None else values[planted.tree.order]
        return find(*planted[:3], planted.with_places(queries), k, values=held, counted=counted)[0]

    def held(self, values: Floats) -> Floats:
        """Sums of values (n_base, v) over equal rows; shape (K, v)."""
        n = len(self.rows.size)
        return np.stack([np.bincount(self.rows.of_row, column, n) for column in values.T], axis=1)

    def sums(self, search: _Search, held: Floats) -> Floats:
        """Sums of the values of distinct rows within the limits of each distinct query."""
        sums = np.empty((len(search.queries.skip), held.shape[1]))
        for part in self._parts(search):
            agreed = None if part.agreed is None else part.agreed.sums(part.which, search.answers, held)
            sums[part.which] = part.visited(values=held).sums if agreed is None else agreed
        return sums

    def handed(self, search: _Search, held: Floats, given: Floats) -> tuple[Floats, Floats]:
        """Sums of one value within the limits of each distinct query, and what queries give to each distinct row.

        `held` (K,); `given` (n,): what a query gives to each of its nearest rows, one in distance and none left out.
        """
        sums, received = np.empty(len(given)), np.zeros(len(held))
        columns = np.column_stack([held, np.ones(len(held))])
        for part in self._parts(search, listed=LISTED):
            which = part.which
            agreed = None if part.agreed is None else part.agreed.shares(which, search.answers, held, given[which])
            if agreed is not None:
                sums[which], shares = agreed
            else:
                sums[which], counts = part.visited(values=columns).sums.T
                many, listed = part.listed(counts)
                shares = np.bincount(listed, np.repeat(given[which], many), len(held)).astype(np.float64)
            received += shares
        return sums, received

    def _parts(self, search: _Search, *, listed: int | None = None) -> Iterator[_Part]:
        """Parts of the queries, each with the search that answered it and that visits the rows within its limits.

        A part has about `listed` rows at its k-th distances.
        """
        settled = np.ones(len(search.queries.skip), np.bool_)
        settled[search.left] = False
        for whole, agreed in ((np.flatnonzero(settled), search.agreed), (search.left, None)):
            for which in _cut(whole, search.answers.tied[whole], listed):
                if agreed is None:
                    yield _Part(which, None, partial(self._visit_tree, search, which))
                else:
                    yield _Part(which, agreed, partial(agreed.visit, which, search.limits))

    def _visit_tree(self, search: _Search, which: Ints, *, values: Floats | None = None, **listing: Any) -> Visited:
        few = search.agreed is not None and len(search.left) <= FEW
        planted = self.flat if few else self.planted
        tree, limits = planted.tree, search.limits.take(which)
        held = None if values is None else values[tree.order]
        queries = planted.with_places(search.queries.take(which))
        visited = visit(tree, planted.sizes, planted.first_row, queries, limits, values=held, **listing)
        return visited._replace(listed=tree.order[visited.listed].astype(np.int32))

    def _places(self, search: _Search) -> list[Ints]:
        """Distinct rows within the outer limit of each distinct query."""
        ones = np.ones((len(self.rows.size), 1))
        places_of = [np.empty(0, np.int64)] * len(search.queries.skip)
        for part in self._parts(search):
            many, listed = part.listed(part.visited(values=ones).sums[:, 0])
            for q, places in zip(part.which.tolist(), np.split(listed, np.cumsum(many)[:-1]), strict=True):
                places_of[q] = places
        return places_of


@dataclass(frozen=True, eq=False)
class Within:
    """The nearest rows of each query."""

    index: Index
    search: _Search

    def totals(self, values: Floats) -> tuple[Floats, Ints]:
        """As `Index.totals`."""
        return self.search.by_query(self.index.sums(self.search, self.index.held(values)))

    def balance(self, values: Floats) -> tuple[Floats, Floats]:
        """Mean of one value over the nearest rows of each query, and the weight of each row in the mean of these means.

        `values` (n_base,). For one nearest row of each query, ties included, where no row is left out.
        """
        index, search = self.index, self.search
        often = np.bincount(search.of_row, minlength=len(search.answers.tied))
        given = often / search.answers.tied / len(search.of_row)
        sums, received = index.handed(search, index.held(values[:, None])[:, 0], given)
        return (sums / search.answers.tied)[search.of_row], received[index.rows.of_row]


@dataclass(frozen=True, eq=False)
class _Search:
    """A finished search: distinct queries, that of each row, answers and limits; `left`: those answered by the tree."""

    queries: Queries
    of_row: Ints
    answers: Answers
    limits: Limits
    agreed: Agreement | None
    left: Ints

    def by_query(self, sums: Floats) -> tuple[Floats, Ints]:
        """The sums of each query, of those of distinct ones, and the number of rows in each."""
        return sums[self.of_row], (self.answers.closer + self.answers.tied)[self.of_row]


class _Part(NamedTuple):
    """Some distinct queries, the search by agreement that answered them (None: a tree), and a function to visit."""

    which: Ints
    agreed: Agreement | None
    visited: Callable[..., Visited]

    def listed(self, counts: Floats) -> tuple[Ints, Codes]:
        """Number of distinct rows within the limits of each query, and the list of them, query by query."""
        many = counts.astype(np.int64)
        ends = np.cumsum(many)
        return many, self.visited(begins=ends - many, n_listed=int(ends[-1])).listed


def _cut(which: Ints, size: Ints, most: int | None) -> list[Ints]:
    """Queries cut into parts whose sizes add up to about `most`; all in one part if it is None."""
    if len(which) == 0:
        return []
    if most is None:
        return [which]
    return np.split(which, np.flatnonzero(np.diff(np.cumsum(size) // most)) + 1)


def prepare(base: Encoded) -> Index:
    """Prepare a file for searching.

    >>> from sdckit.numerics.coding import gower
    >>> base, query = gower([(np.array([0.0, 4.0, 4.0, 8.0]), np.array([5.0]))])
    >>> near = prepare(base).nearest(query, 1)
    >>> near.distance.tolist(), near.index.tolist(), near.n_tied.tolist()
    ([[0.125]], [1], [2])
    """
    rows = _group_rows(base.numbers, base.codes)
    at = rows.first
    distinct = Distinct(base.numbers[at], np.ascontiguousarray(base.codes[at]), rows.size, at)
    return Index(base.n, distinct, rows, base.metric)


def paired(query: Encoded, base: Encoded) -> Floats:
    """Distance of each row of the query from the row of the base at the same position.

    >>> from sdckit.numerics.coding import differences
    >>> paired(*differences([(np.array([0.0, 5.0]), np.array([4.0, 5.0]))], power=1)).tolist()
    [4.0, 0.0]
    """
    sums = _sums(query, base)
    return np.sqrt(sums) if query.metric.power == 2 else sums


def pairwise(query: Encoded, base: Encoded) -> Floats:
    """All distances, shape (n_query, n_base): for small files only.

    >>> from sdckit.numerics.coding import differences
    >>> pairwise(*differences([(np.array([0.0, 5.0]), np.array([4.0]))], power=1)).tolist()
    [[4.0], [1.0]]
    """
    out = np.empty((query.n, base.n))
    step = max(1, PAIRS // max(1, base.n))
    for start in range(0, query.n, step):
        some = slice(start, start + step)
        out[some] = _sums(Encoded(query.numbers[some, None], query.codes[some, None], query.metric), base)
    return np.sqrt(out, out=out) if query.metric.power == 2 else out


def _sums(query: Encoded, base: Encoded) -> Floats:
    """Sums of paired rows, added column by column in the order of the search: equal to the last bit."""
    metric = query.metric
    total = np.zeros(np.broadcast_shapes(query.numbers.shape[:-1], base.numbers.shape[:-1]))
    for j, cap in enumerate(metric.caps):
        total += np.minimum(np.abs(base.numbers[..., j] - query.numbers[..., j]), cap) ** metric.power
    for j, weight in enumerate(metric.weights):
        total += np.where(base.codes[..., j] != query.codes[..., j], weight, 0.0)
    return total


def _group_rows(numbers: Floats, codes: AnyInts) -> Rows:
    positive = np.ascontiguousarray((numbers + 0.0).T)  # + 0.0: one zero, not two
    columns = [*positive.view(np.uint64), *codes.T.astype(np.uint64)]
    of_row = group(hash_rows(columns, len(numbers))).of_row.astype(np.int64)
    rows = _members(of_row)
    alike = rows.first[of_row]
    if any((column != column[alike]).any() for column in columns):  # a hash collision
        of_row = np.unique(np.column_stack(columns), axis=0, return_inverse=True)[1].reshape(-1)
        rows = _members(of_row)
    return rows


def _members(of_row: Ints) -> Rows:
    size = np.bincount(of_row)
    order = np.argsort(of_row, kind="stable")
    start = np.cumsum(size) - size
    return Rows(of_row, order[start], order[start + (size > 1)], size)
