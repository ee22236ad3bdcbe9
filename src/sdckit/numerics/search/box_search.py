"""Searching a tree of boxes: the k smallest sums of each query, and what lies within a sum."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.compiling import njit
from sdckit.numerics.encode import Metric
from sdckit.numerics.search.box_few import is_few, parts_of, smallest_sums, visit_few
from sdckit.numerics.search.box_tree import BoxTree
from sdckit.numerics.threads import chunks, n_threads, run

__all__ = [
    "Found", "Limits", "Queries", "Visited", "add", "find", "insert", "limits_of", "tally", "visit", "widened",
]  # fmt: skip

KEPT = 64  # candidates remembered per query; with more ties than that they are counted in a second search
TOGETHER = 1024  # rows whose memory stays in the processor's cache
CACHED = 1 << 13  # rows that stay there whatever is asked next
SLICES = 16  # slices of the queries per thread, so that none waits long for the others
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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
def _compare(tree, start, stop, numbers, codes, total):  # type: ignore[no-untyped-def]
    """Sums of the rows of a leaf, column by column (so that the processor takes several rows at once)."""
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
        for i in range(n):
            total[i] += weight if levels[i] != c else 0.0


@njit(cache=True, nogil=True)
def _push(tree, stack, bounds, top, node, limit, numbers, codes):  # type: ignore[no-untyped-def]
    """Put the children of a node on the stack that may hold rows within the limit, the nearer one on top."""
    (place, low, high, levels), (power, caps, weights) = tree.nodes, tree.metric
    left, squared = place[node, 2], power == 2
    right = left + 1
    a = _nearest_possible(low[left], high[left], levels[left], numbers, codes, caps, weights, squared)
    b = _nearest_possible(low[right], high[right], levels[right], numbers, codes, caps, weights, squared)
    near, far = (left, right) if a <= b else (right, left)
    if max(a, b) <= limit:
        stack[top], bounds[top] = far, max(a, b)
        top += 1
    if min(a, b) <= limit:
        stack[top], bounds[top] = near, min(a, b)
        top += 1
    return top


@njit(cache=True, nogil=True, inline="always")
def _scratch(place):  # type: ignore[no-untyped-def]
    """A stack deep enough for the tree, and room for the sums of a leaf."""
    widest, deepest = 0, 0
    for node in range(len(place)):
        deepest = max(deepest, place[node, 3])
        if place[node, 2] < 0:
            widest = max(widest, place[node, 1] - place[node, 0])
    return np.empty(deepest + 2, np.int64), np.empty(deepest + 2), np.empty(widest)


@njit(cache=True, nogil=True, inline="always")
def insert(best, value, copies):  # type: ignore[no-untyped-def]
    """Put a value so many times into the ascending k smallest."""
    for _ in range(min(copies, len(best))):
        at = len(best) - 1
        if value >= best[at]:
            break
        while at > 0 and best[at - 1] > value:
            best[at] = best[at - 1]
            at -= 1
        best[at] = value


@njit(cache=True, nogil=True, inline="always")
def _farther(total, slack, squared):  # type: ignore[no-untyped-def]
    """The sum at a distance that is larger by `slack` (smaller where it is negative)."""
    if squared:
        return max(np.sqrt(total) + slack, 0.0) ** 2
    return max(total + slack, 0.0)


@njit(cache=True, nogil=True, inline="always")
def _still_near(kept, kept_at, limit):  # type: ignore[no-untyped-def]
    """Forget the candidates that have become too far; how many are left."""
    n = 0
    for c in range(len(kept)):
        if kept[c] <= limit:
            kept[n], kept_at[n] = kept[c], kept_at[c]
            n += 1
    return n


@njit(cache=True, nogil=True, inline="always")
def tally(q, total, near, inner, row, copies, closer, tied, nearest):  # type: ignore[no-untyped-def]
    """Count so many rows as closer or tied, and see whether theirs is the first nearest row."""
    if total < inner:
        closer[q] += copies
    else:
        tied[q] += copies
    if total <= near:
        nearest[q] = row if nearest[q] < 0 else min(nearest[q], row)


@njit(cache=True, nogil=True, inline="always")
def add(q, values, sums):  # type: ignore[no-untyped-def]
    """Add the values of a row to the sums of a query."""
    for v in range(len(values)):
        sums[q, v] += values[v]


@njit(cache=True, nogil=True)
def _find(tree, sizes, first_row, slack, queries, first, last, values, found):  # type: ignore[no-untyped-def]
    smallest, closer, tied, nearest, sums = found
    skip, squared = queries.skip, tree.metric.power == 2
    place, k = tree.nodes.place, smallest.shape[1]
    stack, bounds, total = _scratch(place)
    room = KEPT + 4 * k
    kept, kept_at = np.empty(room), np.empty(room, np.int64)
    for q in range(first, last):
        numbers, codes, best = queries.numbers[q], queries.codes[q], smallest[q]
        best[:], limit, n_kept, full = np.inf, np.inf, 0, False
        stack[0], bounds[0], top = 0, 0.0, 1
        while top > 0:
            top -= 1
            node = stack[top]
            if bounds[top] > limit:
                continue
            if place[node, 2] >= 0:
                top = _push(tree, stack, bounds, top, node, limit, numbers, codes)
                continue
            start, stop = place[node, 0], place[node, 1]
            _compare(tree, start, stop, numbers, codes, total)
            for i in range(stop - start):
                copies = sizes[start + i] - (start + i == skip[q])
                if total[i] > limit or copies == 0:
                    continue
                if total[i] < best[k - 1]:
                    insert(best, total[i], copies)
                    limit = _farther(best[k - 1], slack, squared)
                if n_kept == room and not full:
                    n_kept = _still_near(kept, kept_at, limit)
                    full = n_kept == room
                if not full:
                    kept[n_kept], kept_at[n_kept] = total[i], start + i
                    n_kept += 1
        if full:
            tied[q] = -1
            continue
        near, inner = _farther(best[0], slack, squared), _farther(best[k - 1], -slack, squared)
        for c in range(n_kept):
            if kept[c] <= limit:
                at = kept_at[c]
                tally(
                    q, kept[c], near, inner, first_row[at], sizes[at] - (at == skip[q]), closer, tied, nearest
                )
                add(q, values[at], sums)


@njit(cache=True, nogil=True)
def _visit(tree, sizes, first_row, queries, first, last, limits, values, begins, visited):  # type: ignore[no-untyped-def]
    closer, tied, nearest, sums, listed = visited
    near, inner, outer = limits
    skip, place = queries.skip, tree.nodes.place
    stack, bounds, total = _scratch(place)
    for q in range(first, last):
        numbers, codes, at = queries.numbers[q], queries.codes[q], begins[q]
        stack[0], bounds[0], top = 0, 0.0, 1
        while top > 0:
            top -= 1
            node = stack[top]
            if place[node, 2] >= 0:
                top = _push(tree, stack, bounds, top, node, limits.outer[q], numbers, codes)
                continue
            start, stop = place[node, 0], place[node, 1]
            _compare(tree, start, stop, numbers, codes, total)
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


@njit(cache=True, nogil=True)
def _go_home(tree, queries, first, last, home):  # type: ignore[no-untyped-def]
    """Where each query comes to by going to the nearer child, down to a node of few enough rows."""
    (place, low, high, levels), (power, caps, weights) = tree.nodes, tree.metric
    squared = power == 2
    for q in range(first, last):
        numbers, codes, node = queries.numbers[q], queries.codes[q], 0
        while place[node, 2] >= 0 and place[node, 1] - place[node, 0] > TOGETHER:
            node = place[node, 2]
            a = _nearest_possible(low[node], high[node], levels[node], numbers, codes, caps, weights, squared)
            other = node + 1
            b = _nearest_possible(
                low[other], high[other], levels[other], numbers, codes, caps, weights, squared
            )
            if b < a:
                node = other
        home[q] = place[node, 0]


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
    order = _order(tree, queries)
    there = queries.take(order)

    def part(ends: tuple[int, int]) -> None:
        _find(tree, sizes, first_row, m.tolerance, there, *ends, held, found)

    run(part, _slices(n))
    found = Found(*(_in_place(one, order) for one in found))
    limits = limits_of(found.smallest, m)
    many = np.flatnonzero(found.tied < 0)
    if len(many):
        again = visit(tree, sizes, first_row, queries.take(many), limits.take(many), values=held)
        found.closer[many], found.tied[many], found.nearest[many], found.sums[many] = again[:4]
    return found, limits


def _order(tree: BoxTree, queries: Queries) -> Ints:
    """The queries in an order in which those near each other follow each other: they read the same memory."""
    if len(tree.order) <= CACHED:
        return np.arange(len(queries.numbers))
    home = np.empty(len(queries.numbers), np.int64)
    run(lambda ends: _go_home(tree, queries, *ends, home), _slices(len(home)))
    return np.argsort(home, kind="stable")


def _in_place(found: NDArray[Any], order: Ints) -> NDArray[Any]:
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
    return chunks(n, minimum=64, parts=SLICES * n_threads())
