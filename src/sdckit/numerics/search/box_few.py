"""The searches of `box_search` for few queries of few rows, with NumPy and one short kernel, which compiles soon.

Parts of the tree are held against all queries that may be near enough at once. Distances and counts are the same to
the last bit; sums of values may differ in it, as they are added up in another order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.compiling import njit

if TYPE_CHECKING:
    from sdckit.numerics.encode import Metric
    from sdckit.numerics.search.box_search import Limits, Queries, Visited
    from sdckit.numerics.search.box_tree import BoxTree


PAIRS = 20_000_000  # queries times rows
MOST = 8  # neighbours
PART = 128  # rows of a part at most, where the tree could split them
NEAREST = 2  # parts that each query looks at first
ROOM = 1 << 19  # sums held at once


class Parts(NamedTuple):
    """Rows of the tree that lie together, and for each query a sum that none of a part falls short of."""

    spans: list[tuple[int, int]]
    bounds: Floats  # shape (parts, queries)


def is_few(tree: BoxTree, queries: Queries, k: int = 1) -> bool:
    """Whether comparing is sooner done than a kernel compiled."""
    return len(queries.numbers) * tree.numbers.shape[1] <= PAIRS and k <= MOST


def parts_of(tree: BoxTree, queries: Queries) -> Parts:
    """Cut a tree into parts, and see how near each may be."""
    place, low, high, levels = tree.nodes
    caps, weights, power = tree.metric.caps, tree.metric.weights, tree.metric.power
    whole = place[:, 1] - place[:, 0] <= PART
    below = np.zeros(len(place), np.bool_)  # a child of a part
    for node in np.flatnonzero(place[:, 2] >= 0).tolist():
        left = place[node, 2]
        below[left : left + 2] = below[node] or whole[node]
    chosen = np.flatnonzero(~below & (whole | (place[:, 2] < 0)))
    bounds = np.zeros((len(chosen), len(queries.numbers)))
    for j, (x, cap) in enumerate(zip(queries.numbers.T, caps, strict=True)):
        away = np.maximum(low[chosen, j, None] - x, x - high[chosen, j, None])
        np.clip(away, 0.0, cap, out=away)
        bounds += away if power == 1 else away * away
    for j, (codes, weight) in enumerate(zip(queries.codes.T, weights, strict=True)):
        there = (levels[chosen, j, None] >> (codes & 63).astype(np.uint64)) & np.uint64(1)
        bounds += np.where(there == 0, weight, 0.0)
    return Parts([(int(a), int(b)) for a, b in place[chosen, :2]], bounds)


def smallest_sums(tree: BoxTree, sizes: Ints, queries: Queries, parts: Parts, k: int) -> Floats:
    """The k smallest sums of each query, ascending; `sizes` is as in `box_search.find`."""
    n = len(queries.numbers)
    best = np.full((n, k), np.inf)
    nearest = np.argsort(parts.bounds, axis=0)[:NEAREST]
    for once in nearest:
        for part in np.unique(once).tolist():
            _improve(best, tree, sizes, queries, np.flatnonzero(once == part), parts.spans[part])
    slack = tree.metric.tolerance
    for part, bound in enumerate(parts.bounds):
        near = bound <= _widened(best[:, -1], slack, tree.metric)
        near &= (nearest != part).all(axis=0)
        _improve(best, tree, sizes, queries, np.flatnonzero(near), parts.spans[part])
    return best


def _improve(
    best: Floats, tree: BoxTree, sizes: Ints, queries: Queries, which: Ints, span: tuple[int, int]
) -> None:
    """Take the rows of a part into account for some queries."""
    k, (start, stop) = best.shape[1], span
    for some, sums in _compared(tree, queries, which, span):
        place = queries.skip[some] - start
        skips = np.flatnonzero((place >= 0) & (place < stop - start))
        place = place[skips]
        left = sizes[start + place] - 1  # copies that count of a row that does not
        sums[skips[left == 0], place[left == 0]] = np.inf
        better = np.flatnonzero(sums.min(axis=1) < best[some, -1])
        if k == 1:
            best[some[better], 0] = sums[better].min(axis=1)
            continue
        copies = [sums]
        for c in range(1, min(k, int(sizes[start:stop].max()))):
            again = np.where(sizes[start:stop] > c, sums, np.inf)
            again[skips[left == c], place[left == c]] = np.inf
            copies.append(again)
        which_best = some[better]
        found = np.concatenate([best[which_best], *(one[better] for one in copies)], axis=1)
        best[which_best] = np.sort(np.partition(found, k - 1, axis=1)[:, :k], axis=1)


def visit_few(
    tree: BoxTree, sizes: Ints, first_row: Ints, queries: Queries, limits: Limits, parts: Parts, values: Floats,
    begins: Ints, out: Visited,
) -> None:  # fmt: skip
    """As `box_search.visit`, written into `out`."""
    closer, tied, nearest, sums, listed = out
    at = begins.copy()
    for part, bound in enumerate(parts.bounds):
        span = parts.spans[part]
        which = np.flatnonzero(bound <= limits.outer)
        for some, found in _compared(tree, queries, which, span):
            copies = _copies(sizes, queries, some, span)
            i, row = np.nonzero((found <= limits.outer[some, None]) & (copies > 0))
            total, many, q, row = found[i, row], copies[i, row], some[i], row + span[0]
            is_closer = total < limits.inner[q]
            np.add.at(closer, q[is_closer], many[is_closer])
            np.add.at(tied, q[~is_closer], many[~is_closer])
            near = total <= limits.near[q]
            unknown = nearest[q] < 0
            nearest[q[near & unknown]] = np.iinfo(np.int64).max
            np.minimum.at(nearest, q[near], first_row[row[near]])
            if values.shape[1]:
                np.add.at(sums, q, values[row])
            if len(listed):
                first = np.concatenate([[True], q[1:] != q[:-1]])[: len(q)]
                nth = np.arange(len(q)) - np.maximum.accumulate(np.where(first, np.arange(len(q)), 0))
                listed[at[q] + nth] = row
                np.add.at(at, q, 1)


@njit(cache=True, nogil=True)
def _add_up(rows, levels, start, numbers, codes, which, caps, weights, squared, total):  # type: ignore[no-untyped-def]
    """Sums column by column, as `box_search` adds them; without a slice, so that it compiles soon."""
    n = total.shape[1]
    for a in range(len(which)):
        q = which[a]
        for i in range(n):
            total[a, i] = 0.0
        for j in range(len(caps)):
            x, cap = numbers[q, j], caps[j]
            for i in range(n):
                away = abs(rows[j, start + i] - x)
                away = cap if away > cap else away
                total[a, i] += away * away if squared else away
        for j in range(len(weights)):
            c, weight = codes[q, j], weights[j]
            for i in range(n):
                total[a, i] += weight if levels[j, start + i] != c else 0.0


def _compared(
    tree: BoxTree, queries: Queries, which: Ints, span: tuple[int, int]
) -> Iterator[tuple[Ints, Floats]]:
    """Sums of the rows of a part for some queries, (queries, rows)."""
    start, stop = span
    (power, caps, weights), step = tree.metric, max(1, ROOM // (stop - start))
    for begin in range(0, len(which), step):
        some = which[begin : begin + step]
        total = np.empty((len(some), stop - start))
        _add_up(
            tree.numbers,
            tree.codes,
            start,
            queries.numbers,
            queries.codes,
            some,
            caps,
            weights,
            power == 2,
            total,
        )
        yield some, total


def _copies(sizes: Ints, queries: Queries, some: Ints, span: tuple[int, int]) -> Ints:
    """How many rows stand at each place of a part for each query: one less where one does not count."""
    start, stop = span
    found: Ints = sizes[start:stop] - (queries.skip[some, None] == np.arange(start, stop))
    return found


def _widened(sums: Floats, slack: float, metric: Metric) -> Floats:
    if metric.power == 1:
        return sums + slack
    return (np.sqrt(sums) + slack) ** 2
