"""Searching a tree of boxes: the k smallest sums of each query, and what lies within a sum."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.compiling import njit
from sdckit.numerics.encode import Metric
from sdckit.numerics.search.box_blocks import blocks_of, fit, push_near
from sdckit.numerics.search.box_few import is_few, parts_of, smallest_sums, visit_few
from sdckit.numerics.search.box_steps import add, farther, insert, still_near, tally
from sdckit.numerics.search.box_tree import BoxTree
from sdckit.numerics.threads import chunks, n_threads, run

KEPT = 64  # candidates remembered per query; with more ties than that they are counted in a second search
LEAST = 64  # queries of a slice
SLICES = 16  # slices of the queries per thread, so that none waits long for the others


@njit(cache=True, nogil=True, fastmath=True)
def _nearest_possible(low, high, levels, numbers, codes, caps, weights, squared):  # type: ignore[no-untyped-def]
    """A sum that no row of a node falls short of (by more than rounding, which the limits allow for)."""
    total = 0.0
    for j in range(len(numbers)):
        away = min(max(low[j] - numbers[j], numbers[j] - high[j], 0.0), caps[j])
        total += away * away if squared else away
    for j in range(len(codes)):
        if not (levels[j] >> np.uint64(codes[j] & 63)) & np.uint64(1):
            total += weights[j]
    return total


@njit(cache=True, nogil=True)
def _compare(tree, start, stop, alike, numbers, codes, total):  # type: ignore[no-untyped-def]
    """Sums of the rows of a leaf, column by column (so that the processor takes several rows at once).

    `alike`: whether all have the same categories.
    """
    rows, row_codes, (power, caps, weights) = tree.numbers, tree.codes, tree.metric
    squared, n = power == 2, stop - start
    total[:n] = 0.0
    for j in range(len(numbers)):
        x, cap, column = numbers[j], caps[j], rows[j, start:stop]
        if squared:
            for i in range(n):
                away = abs(column[i] - x)
                away = cap if away > cap else away
                total[i] += away * away
        else:
            for i in range(n):
                away = abs(column[i] - x)
                total[i] += cap if away > cap else away
    for j in range(len(codes)):
        c, weight, levels = codes[j], weights[j], row_codes[j, start:stop]
        if alike and levels[0] == c:
            continue
        for i in range(n):
            total[i] += weight if levels[i] != c else 0.0


@njit(cache=True, nogil=True, inline="always")
def _of_categories(tree, node, codes):  # type: ignore[no-untyped-def]
    """What the categories of a node's rows add to the sum, where these are alike; else -1."""
    place, row_codes, weights = tree.nodes.place, tree.codes, tree.metric.weights
    if place[node, 4] == 0:
        return -1.0
    total, row = 0.0, place[node, 0]
    for j in range(len(codes)):
        if row_codes[j, row] != codes[j]:
            total += weights[j]
    return total


@njit(cache=True, nogil=True)
def _push(tree, stack, bounds, fixed, top, node, limit, numbers, codes):  # type: ignore[no-untyped-def]
    """Put the children of a node on the stack that may hold rows within the limit, the nearer one on top.

    The node was just taken off it, so that `fixed[top]` is what its categories add.
    """
    (place, low, high, levels), (power, caps, weights) = tree.nodes, tree.metric
    left, squared, added = place[node, 2], power == 2, fixed[top]
    right = left + 1
    if added >= 0.0:  # only the numbers are left
        of_left = of_right = added
        a = added + _nearest_possible(
            low[left], high[left], levels[left], numbers, codes[:0], caps, weights, squared
        )
        b = added + _nearest_possible(
            low[right], high[right], levels[right], numbers, codes[:0], caps, weights, squared
        )
    else:
        of_left, of_right = _of_categories(tree, left, codes), _of_categories(tree, right, codes)
        a = _nearest_possible(low[left], high[left], levels[left], numbers, codes, caps, weights, squared)
        b = _nearest_possible(low[right], high[right], levels[right], numbers, codes, caps, weights, squared)
    near, far = (left, right) if a <= b else (right, left)
    if max(a, b) <= limit:
        stack[top], bounds[top], fixed[top] = far, max(a, b), of_right if a <= b else of_left
        top += 1
    if min(a, b) <= limit:
        stack[top], bounds[top], fixed[top] = near, min(a, b), of_left if a <= b else of_right
        top += 1
    return top


@njit(cache=True, nogil=True, inline="always")
def _scratch(place):  # type: ignore[no-untyped-def]
    """Stacks deep enough for the tree, and room for the sums of a leaf."""
    widest, deepest = 0, 0
    for node in range(len(place)):
        deepest = max(deepest, place[node, 3])
        if place[node, 2] < 0:
            widest = max(widest, place[node, 1] - place[node, 0])
    return np.empty(deepest + 2, np.int64), np.empty(deepest + 2), np.empty(deepest + 2), np.empty(widest)


@njit(cache=True, nogil=True, inline="always")
def _look(q, own, start, total, tree_rows, slack, skip, best, candidates):  # type: ignore[no-untyped-def]
    """Take in the rows of a leaf whose sums are in `total`, as far as they are near enough."""
    kept, kept_at, n_kept, limits = candidates
    limit, n, room, k, sizes = limits[own], n_kept[own], kept.shape[1], len(best), tree_rows[0]
    for i in range(len(total)):
        if total[i] > limit:
            continue
        copies = sizes[start + i] - (start + i == skip[q])
        if copies == 0:
            continue
        if total[i] < best[k - 1]:
            insert(best, total[i], copies)
            limit = farther(best[k - 1], slack[0], slack[1])
        if n == room:
            n = still_near(kept[own], kept_at[own], limit)
            n = -1 if n == room else n
        if n >= 0:
            kept[own, n], kept_at[own, n] = total[i], start + i
            n += 1
    limits[own], n_kept[own] = limit, n


@njit(cache=True, nogil=True)
def _settle(q, own, tree_rows, slack, skip, candidates, values, found):  # type: ignore[no-untyped-def]
    """Count the candidates of a query that are near enough; `tied` is -1 where they were too many to be kept."""
    (kept, kept_at, n_kept, limits), (smallest, closer, tied, nearest, sums) = candidates, found
    if n_kept[own] < 0:
        tied[q] = -1
        return
    sizes, first_row = tree_rows
    near = farther(smallest[q, 0], slack[0], slack[1])
    inner = farther(smallest[q, smallest.shape[1] - 1], -slack[0], slack[1])
    for c in range(n_kept[own]):
        away, at = kept[own, c], kept_at[own, c]
        if away <= limits[own]:
            tally(q, away, near, inner, first_row[at], sizes[at] - (at == skip[q]), closer, tied, nearest)
            add(q, values[at], sums)


@njit(cache=True, nogil=True)
def _find(tree, tree_rows, queries, begins, first, last, tolerance, values, found):  # type: ignore[no-untyped-def]
    """Search for some blocks: each comes down the tree once, and is compared with the leaves that are near a query."""
    (place, lowest, highest, levels), (power, caps, weights) = tree.nodes, tree.metric
    smallest, squared, slack = found.smallest, power == 2, (tolerance, power == 2)
    stack, bounds, _, total = _scratch(place)
    room, most = KEPT + 4 * smallest.shape[1], (begins[first + 1 : last + 1] - begins[first:last]).max()
    n_kept, limits = np.empty(most, np.int64), np.empty(most)
    candidates = np.empty((most, room)), np.empty((most, room), np.int64), n_kept, limits
    low, high = np.empty(lowest.shape[1]), np.empty(lowest.shape[1])
    for b in range(first, last):
        begin, end = begins[b], begins[b + 1]
        alike = fit(queries, begin, end, low, high)
        smallest[begin:end], n_kept[:], limits[:] = np.inf, 0, np.inf
        stack[0], bounds[0], top, widest = 0, 0.0, 1, np.inf
        while top > 0:
            top -= 1
            node = stack[top]
            if bounds[top] > widest:
                continue
            if place[node, 2] >= 0:
                top = push_near(tree, stack, bounds, top, node, widest, low, high, alike)
                continue
            start, stop = place[node, 0], place[node, 1]
            for q in range(begin, end):
                numbers, codes = queries.numbers[q], queries.codes[q]
                if end - begin == 1 or limits[q - begin] >= _nearest_possible(
                    lowest[node], highest[node], levels[node], numbers, codes, caps, weights, squared
                ):
                    _compare(tree, start, stop, place[node, 4] == 1, numbers, codes, total)
                    here = total[: stop - start]
                    _look(q, q - begin, start, here, tree_rows, slack, queries.skip, smallest[q], candidates)
            widest = limits[: end - begin].max()
        for q in range(begin, end):
            _settle(q, q - begin, tree_rows, slack, queries.skip, candidates, values, found)


@njit(cache=True, nogil=True)
def _visit(tree, sizes, first_row, queries, first, last, limits, values, begins, visited):  # type: ignore[no-untyped-def]
    closer, tied, nearest, sums, listed = visited
    near, inner, outer = limits
    skip, place = queries.skip, tree.nodes.place
    stack, bounds, fixed, total = _scratch(place)
    for q in range(first, last):
        numbers, codes, at = queries.numbers[q], queries.codes[q], begins[q]
        stack[0], bounds[0], fixed[0], top = 0, 0.0, _of_categories(tree, 0, codes), 1
        while top > 0:
            top -= 1
            node = stack[top]
            if place[node, 2] >= 0:
                top = _push(tree, stack, bounds, fixed, top, node, limits.outer[q], numbers, codes)
                continue
            start, stop = place[node, 0], place[node, 1]
            _compare(tree, start, stop, fixed[top] >= 0.0, numbers, codes, total)
            for i in range(stop - start):
                row = start + i
                copies = sizes[row] - (row == skip[q])
                if total[i] > outer[q] or copies == 0:
                    continue
                tally(q, total[i], near[q], inner[q], first_row[row], copies, closer, tied, nearest)
                add(q, values[row], sums)
                if len(listed) > 0:
                    listed[at] = row
                    at += 1


class Queries(NamedTuple):
    """What is searched for: rows as in the tree, and a place of the tree where one row less counts (-1: none)."""

    numbers: Floats
    codes: NDArray[np.int32]
    skip: Ints

    def take(self, which: Ints) -> Queries:
        """Some of them."""
        return Queries(self.numbers[which], self.codes[which], self.skip[which])


class Found(NamedTuple):
    """For each query the k smallest sums, rows closer than the last, rows tied with it, the first nearest row.

    `sums` (n, v): of the values of the rows closer or tied.
    """

    smallest: Floats
    closer: Ints
    tied: Ints
    nearest: Ints
    sums: Floats

    def take(self, which: Ints) -> Found:
        """Those of some queries."""
        smallest, closer, tied, nearest, sums = self
        return Found(smallest[which], closer[which], tied[which], nearest[which], sums[which])

    @classmethod
    def none(cls, n: int, k: int, v: int = 0) -> Found:
        """Room for what is found of n queries, k neighbours and v values."""
        return cls(
            np.empty((n, k)),
            np.zeros(n, np.int64),
            np.zeros(n, np.int64),
            np.full(n, -1, np.int64),
            np.zeros((n, v)),
        )


class Limits(NamedTuple):
    """Rows up to the first sum are nearest; below the second closer; from there up to the third tied."""

    near: Floats
    inner: Floats
    outer: Floats

    def take(self, which: Ints) -> Limits:
        """Those of some queries."""
        return Limits(self.near[which], self.inner[which], self.outer[which])


class Visited(NamedTuple):
    """Rows closer, rows tied, the first row among the nearest, sums of values, places listed."""

    closer: Ints
    tied: Ints
    nearest: Ints
    sums: Floats
    listed: NDArray[np.int32]


def find(
    tree: BoxTree, sizes: Ints, first_row: Ints, queries: Queries, k: int, *, values: Floats | None = None
) -> tuple[Found, Limits]:
    """Find the k smallest sums of each query.

    `sizes` and `first_row` (K,): how many rows of the file stand at each place of the tree, and the first of them.
    Sums are distances before the root is taken (`Metric`). `values` (K, v): summed over the rows found.
    """
    n, m = len(queries.numbers), tree.metric
    held = np.empty((len(sizes), 0)) if values is None else values
    if is_few(tree, queries, k):
        parts = parts_of(tree, queries)
        smallest = smallest_sums(tree, sizes, queries, parts, k)
        limits = limits_of(smallest, m)
        seen = _room(n, held)
        visit_few(tree, sizes, first_row, queries, limits, parts, held, np.zeros(n, np.int64), seen)
        return Found(smallest, *seen[:4]), limits
    found = Found.none(n, k, held.shape[1])
    order, begins = blocks_of(tree, queries.numbers, queries.codes)
    there = queries.take(order)

    def part(ends: tuple[int, int]) -> None:
        _find(tree, (sizes, first_row), there, begins, *ends, m.tolerance, held, found)

    run(
        part,
        chunks(len(begins) - 1, minimum=LEAST // (n // max(len(begins) - 1, 1)), parts=SLICES * n_threads()),
    )
    found = Found(*(in_place(one, order) for one in found))
    limits = limits_of(found.smallest, m)
    many = np.flatnonzero(found.tied < 0)
    if len(many):
        again = visit(tree, sizes, first_row, queries.take(many), limits.take(many), values=held)
        found.closer[many], found.tied[many], found.nearest[many], found.sums[many] = again[:4]
    return found, limits


def in_place(found: NDArray[Any], order: Ints) -> NDArray[Any]:
    """What was found in some order, as the queries stood before."""
    out = np.empty_like(found)
    out[order] = found
    return out


def limits_of(smallest: Floats, metric: Metric) -> Limits:
    """The sums between which rows are nearest, closer or tied, of the k smallest of each query (n, k)."""
    first, last, slack = smallest[:, 0], smallest[:, -1], metric.tolerance
    ends = ((first, slack), (last, -slack), (last, slack))
    return Limits(*(widened(one, by, metric.power) for one, by in ends))


def visit(
    tree: BoxTree,
    sizes: Ints,
    first_row: Ints,
    queries: Queries,
    limits: Limits,
    *,
    values: Floats | None = None,
    begins: Ints | None = None,
    n_listed: int = 0,
) -> Visited:
    """Count, sum and list what lies within given sums of each query.

    The first four are as in `find`. `values` (K, v): summed over the places up to the third limit. `begins` (n,):
    where in a list of `n_listed` the places of each query begin.
    """
    n = len(queries.numbers)
    held = np.empty((len(sizes), 0)) if values is None else values
    starts = np.zeros(n, np.int64) if begins is None else begins
    out = _room(n, held, n_listed)
    if is_few(tree, queries):
        visit_few(tree, sizes, first_row, queries, limits, parts_of(tree, queries), held, starts, out)
        return out

    def part(ends: tuple[int, int]) -> None:
        _visit(tree, sizes, first_row, queries, *ends, limits, held, starts, out)

    run(part, _slices(n))
    return out


def _room(n: int, held: Floats, n_listed: int = 0) -> Visited:
    """Room for what is visited of n queries."""
    none = np.zeros(n, np.int64)
    return Visited(none, none.copy(), none - 1, np.zeros((n, held.shape[1])), np.empty(n_listed, np.int32))


def widened(sums: Floats, slack: float, power: int) -> Floats:
    """The sums at distances that are larger by `slack`."""
    found: Floats = np.maximum(sums ** (1 / power) + slack, 0.0) ** power
    return found


def _slices(n: int) -> list[tuple[int, int]]:
    """Slices of the queries, more than threads: some parts of a file take longer than others."""
    return chunks(n, minimum=LEAST, parts=SLICES * n_threads())
