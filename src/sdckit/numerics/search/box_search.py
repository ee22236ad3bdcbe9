"""Search in a tree of bounding boxes: the k nearest rows of each query, and all rows within a distance.

Distances are handled as sums before the root is taken (see `Metric`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sdckit.numerics.array_types import Codes, Floats, Ints
from sdckit.numerics.coding import Metric
from sdckit.numerics.compiling import is_early, njit
from sdckit.numerics.grouping import in_place
from sdckit.numerics.search.box_tree import BoxTree, between, blocks_of, fit, push_near
from sdckit.numerics.threads import chunks, n_threads, run

# Building blocks of the searches: insert into the k smallest sums, count rows as closer or tied.


@njit(cache=True, nogil=True, inline="always")
def insert(best, value, copies):  # type: ignore[no-untyped-def]
    """Insert a value `copies` times into `best` (k,), the ascending k smallest values."""
    for _ in range(min(copies, len(best))):
        at = len(best) - 1
        if value >= best[at]:
            break
        while at > 0 and best[at - 1] > value:
            best[at] = best[at - 1]
            at -= 1
        best[at] = value


@njit(cache=True, nogil=True, inline="always")
def farther(total, slack, squared):  # type: ignore[no-untyped-def]
    """The sum that belongs to a distance larger by `slack` (which may be negative)."""
    return max(np.sqrt(total) + slack, 0.0) ** 2 if squared else max(total + slack, 0.0)


@njit(cache=True, nogil=True, inline="always")
def still_near(kept, kept_at, limit):  # type: ignore[no-untyped-def]
    """Remove candidates (sums `kept`, rows `kept_at`) beyond the limit, in place; return how many are left."""
    n = 0
    for c in range(len(kept)):
        if kept[c] <= limit:
            kept[n], kept_at[n] = kept[c], kept_at[c]
            n += 1
    return n


@njit(cache=True, nogil=True, inline="always")
def tally(q, total, near, inner, row, copies, closer, tied, nearest):  # type: ignore[no-untyped-def]
    """Count `copies` rows at a sum as closer (below `inner`) or tied; update the first nearest row (up to `near`)."""
    if total < inner:
        closer[q] += copies
    else:
        tied[q] += copies
    if total <= near:
        nearest[q] = row if nearest[q] < 0 else min(nearest[q], row)


@njit(cache=True, nogil=True, inline="always")
def add(q, values, sums):  # type: ignore[no-untyped-def]
    """Add the values (v,) of a row to row q of the sums (n, v)."""
    for v in range(len(values)):
        sums[q, v] += values[v]


# The same searches for few queries and few rows, with NumPy and one short kernel, which compiles fast.
# Each part of the tree is compared at once with all queries that may be near enough. Distances and counts are equal to
# the last bit; sums of values may differ in it, since they are added in another order.


PAIRS = 20_000_000  # queries times rows, at most
MOST = 8  # neighbours, at most
PART = 128  # largest number of rows of a part, where the tree could split them
NEAREST = 2  # nearest parts that each query visits first
ROOM = 1 << 19  # sums in memory at once


class Parts(NamedTuple):
    """Parts of the tree, as spans of its rows, and for each query a lower bound of the sums of each part."""

    spans: list[tuple[int, int]]
    bounds: Floats  # shape (parts, queries)


def is_few(tree: BoxTree, queries: Queries, k: int = 1) -> bool:
    """Whether comparing all pairs takes less time than compiling a kernel."""
    pairs = len(queries.numbers) * tree.numbers.shape[1]
    return pairs <= PAIRS and k <= MOST and is_early(_find)


def parts_of(tree: BoxTree, queries: Queries) -> Parts:
    """Cut a tree into parts, with a lower bound of the sums of each part for each query."""
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
    best = np.full((len(queries.numbers), k), np.inf)
    nearest = np.argsort(parts.bounds, axis=0)[:NEAREST]
    for once in nearest:
        for part in np.unique(once).tolist():
            _improve(best, tree, sizes, queries, np.flatnonzero(once == part), parts.spans[part])
    for part, bound in enumerate(parts.bounds):
        near = bound <= widened(best[:, -1], tree.metric.tolerance, tree.metric.power)
        near &= (nearest != part).all(axis=0)
        _improve(best, tree, sizes, queries, np.flatnonzero(near), parts.spans[part])
    return best


def _improve(best: Floats, tree: BoxTree, sizes: Ints, queries: Queries, which: Ints, span: tuple[int, int]) -> None:
    """Update the k smallest sums of some queries by the rows of a part."""
    k, (start, stop) = best.shape[1], span
    for some, sums in _compared(tree, queries, which, span):
        place = queries.skip[some] - start
        skips = np.flatnonzero((place >= 0) & (place < stop - start))
        place = place[skips]
        left = sizes[start + place] - 1  # copies that still count of a row of which one does not
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
        candidates = np.concatenate([best[which_best], *(copy[better] for copy in copies)], axis=1)
        best[which_best] = np.sort(np.partition(candidates, k - 1, axis=1)[:, :k], axis=1)


def visit_few(
    tree: BoxTree, sizes: Ints, first_row: Ints, queries: Queries, limits: Limits, parts: Parts, values: Floats,
    begins: Ints, out: Visited,
) -> None:  # fmt: skip
    """Do as `visit`, written into `out`."""
    closer, tied, nearest, sums, listed = out
    at = begins.copy()
    for part, bound in enumerate(parts.bounds):
        span = parts.spans[part]
        for some, part_sums in _compared(tree, queries, np.flatnonzero(bound <= limits.outer), span):
            copies = _copies(sizes, queries, some, span)
            i, row = np.nonzero((part_sums <= limits.outer[some, None]) & (copies > 0))
            total, many, q, row = part_sums[i, row], copies[i, row], some[i], row + span[0]
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


def _sums(tree: BoxTree, queries: Queries, which: Ints, span: tuple[int, int]) -> Floats:
    """Sums (queries, rows) of the rows of a part for the queries `which`, added column by column as in `_compare`."""
    start, stop = span
    power, caps, weights = tree.metric
    total = np.zeros((len(which), stop - start))
    for column, numbers, cap in zip(tree.numbers, queries.numbers.T, caps, strict=True):
        away = np.abs(column[start:stop] - numbers[which, None])
        np.minimum(away, cap, out=away)
        total += away * away if power == 2 else away
    for column, codes, weight in zip(tree.codes, queries.codes.T, weights, strict=True):
        total += np.where(column[start:stop] != codes[which, None], weight, 0.0)
    return total


def _compared(tree: BoxTree, queries: Queries, which: Ints, span: tuple[int, int]) -> Iterator[tuple[Ints, Floats]]:
    """Blocks of queries, with the sums (queries, rows) of the rows of a part."""
    start, stop = span
    step = max(1, ROOM // (stop - start))
    for begin in range(0, len(which), step):
        some = which[begin : begin + step]
        yield some, _sums(tree, queries, some, span)


def _copies(sizes: Ints, queries: Queries, some: Ints, span: tuple[int, int]) -> Ints:
    """How many equal rows each place of a part has for each query: one less where one does not count."""
    start, stop = span
    copies: Ints = sizes[start:stop] - (queries.skip[some, None] == np.arange(start, stop))
    return copies


KEPT = 64  # candidates kept per query; more ties than that are counted in a second search
LEAST = 64  # smallest number of queries in a slice
SLICES = 16  # slices of the queries per thread, so that threads finish at about the same time


@njit(cache=True, nogil=True)
def _compare(tree, start, stop, alike, numbers, codes, total):  # type: ignore[no-untyped-def]
    """Write the sums of rows start to stop, a leaf, into `total`, column by column so that the loop is vectorised.

    `alike`: whether all rows of the leaf have the same categories; `numbers` (p,) and `codes` (q,): the query.
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
    """Contribution of the categories to the sum if all rows of a node have the same ones; else -1."""
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
    """Push the children of a node whose lower bounds are within the limit, the nearer one on top; return the new top.

    `stack`, `bounds`, `fixed`: nodes, their lower bounds, and the contribution of their categories (-1: unknown). The
    node was just popped, so that `fixed[top]` is its own contribution.
    """
    left, added = tree.nodes.place[node, 2], fixed[top]
    right = left + 1
    if added >= 0.0:  # only the numbers still contribute
        of_left = of_right = added
        a = added + between(tree, left, numbers, numbers, codes[:0])
        b = added + between(tree, right, numbers, numbers, codes[:0])
    else:
        of_left, of_right = _of_categories(tree, left, codes), _of_categories(tree, right, codes)
        a, b = between(tree, left, numbers, numbers, codes), between(tree, right, numbers, numbers, codes)
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
    """Allocate stacks deep enough for the tree, and an array for the sums of its largest leaf."""
    widest, deepest = 0, 0
    for node in range(len(place)):
        deepest = max(deepest, place[node, 3])
        if place[node, 2] < 0:
            widest = max(widest, place[node, 1] - place[node, 0])
    return np.empty(deepest + 2, np.int64), np.empty(deepest + 2), np.empty(deepest + 2), np.empty(widest)


@njit(cache=True, nogil=True, inline="always")
def _look(q, own, start, total, tree_rows, slack, skip, best, candidates):  # type: ignore[no-untyped-def]
    """Update query q by the rows of a leaf, whose sums are in `total`: its k smallest sums and its candidates.

    `candidates`: sums and rows kept, their number (-1: too many), and the limit, of each query of a block; `own`: index
    of the query in its block.
    """
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
def _settle(q, own, tree_rows, slack, skip, candidates, values, answers):  # type: ignore[no-untyped-def]
    """Count the candidates of query q within its final limit; `tied` is -1 if there were too many to be kept."""
    (kept, kept_at, n_kept, limits), (smallest, closer, tied, nearest, sums) = candidates, answers
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
def _find(tree, tree_rows, queries, begins, first, last, tolerance, values, answers):  # type: ignore[no-untyped-def]
    """Search for the blocks of queries first to last, which begin at `begins`; `answers` are filled.

    A block descends the tree once; a leaf is compared with each query of the block for which it is near enough.
    """
    place, smallest, slack = tree.nodes.place, answers.smallest, (tolerance, tree.metric.power == 2)
    stack, bounds, _, total = _scratch(place)
    room, most = KEPT + 4 * smallest.shape[1], (begins[first + 1 : last + 1] - begins[first:last]).max()
    n_kept, limits = np.empty(most, np.int64), np.empty(most)
    candidates = np.empty((most, room)), np.empty((most, room), np.int64), n_kept, limits
    low, high = np.empty(len(tree.numbers)), np.empty(len(tree.numbers))
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
                if end - begin == 1 or limits[q - begin] >= between(tree, node, numbers, numbers, codes):
                    _compare(tree, start, stop, place[node, 4] == 1, numbers, codes, total)
                    here = total[: stop - start]
                    _look(q, q - begin, start, here, tree_rows, slack, queries.skip, smallest[q], candidates)
            widest = limits[: end - begin].max()
        for q in range(begin, end):
            _settle(q, q - begin, tree_rows, slack, queries.skip, candidates, values, answers)


@njit(cache=True, nogil=True)
def _visit(tree, sizes, first_row, queries, first, last, limits, values, begins, visited):  # type: ignore[no-untyped-def]
    """Count, sum and list the rows within the limits of queries first to last; `visited` is filled."""
    closer, tied, nearest, sums, listed = visited
    near, inner, outer = limits
    skip, place = queries.skip, tree.nodes.place
    stack, bounds, fixed, total = _scratch(place)
    for q in range(first, last):
        numbers, codes, at = queries.numbers[q], queries.codes[q], begins[q]
        stack[0], bounds[0], fixed[0], top = 0, 0.0, _of_categories(tree, np.int64(0), codes), 1
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
    """Queries: numbers (n, p), codes (n, q), and a place of the tree at which one row does not count (-1: none)."""

    numbers: Floats
    codes: Codes
    skip: Ints

    def take(self, which: Ints) -> Queries:
        """Some of them."""
        return Queries(self.numbers[which], self.codes[which], self.skip[which])


class Answers(NamedTuple):
    """Answers to nearest-neighbour queries.

    `smallest` (n, k): the k smallest sums, ascending. `closer` and `tied` (n,): number of rows below and at the k-th.
    `nearest` (n,): the first row of the file at the smallest sum. `sums` (n, v): of the values of rows closer or tied.
    """

    smallest: Floats
    closer: Ints
    tied: Ints
    nearest: Ints
    sums: Floats

    def take(self, which: Ints) -> Answers:
        """Those of some queries."""
        return Answers._make(field[which] for field in self)

    @classmethod
    def empty(cls, n: int, k: int, v: int = 0) -> Answers:
        """Arrays for n queries, k neighbours and v values, to be filled."""
        return cls(
            np.empty((n, k)), np.zeros(n, np.int64), np.zeros(n, np.int64), np.full(n, -1, np.int64), np.zeros((n, v))
        )


class Limits(NamedTuple):
    """Sums that classify rows: up to `near` nearest; below `inner` closer; from `inner` up to `outer` tied."""

    near: Floats
    inner: Floats
    outer: Floats

    def take(self, which: Ints) -> Limits:
        """Those of some queries."""
        return Limits(self.near[which], self.inner[which], self.outer[which])


class Visited(NamedTuple):
    """Rows within limits: numbers of closer and tied rows, first nearest row, sums of values, places in a list."""

    closer: Ints
    tied: Ints
    nearest: Ints
    sums: Floats
    listed: Codes


def find(
    tree: BoxTree, sizes: Ints, first_row: Ints, queries: Queries, k: int, *, values: Floats | None = None,
    counted: bool = True,
) -> tuple[Answers, Limits]:  # fmt: skip
    """Find the k smallest sums of each query.

    `sizes` and `first_row` (K,): how many rows of the file stand at each place of the tree, and the first of them.
    Sums are distances before the root is taken (`Metric`). `values` (K, v): summed over the rows closer or tied.
    Where they need not be `counted`, few rows are looked at once, and nothing but the sums is found.
    """
    n, m = len(queries.numbers), tree.metric
    held = np.empty((len(sizes), 0)) if values is None else values
    if is_few(tree, queries, k):
        parts = parts_of(tree, queries)
        smallest = smallest_sums(tree, sizes, queries, parts, k)
        limits = limits_of(smallest, m)
        seen = room_of(n, held)
        if counted:
            visit_few(tree, sizes, first_row, queries, limits, parts, held, np.zeros(n, np.int64), seen)
        return Answers(smallest, *seen[:4]), limits
    answers = Answers.empty(n, k, held.shape[1])
    order, begins = blocks_of(tree, queries.numbers, queries.codes)
    there = queries.take(order)

    def part(ends: tuple[int, int]) -> None:
        _find(tree, (sizes, first_row), there, begins, *ends, m.tolerance, held, answers)

    run(part, chunks(len(begins) - 1, minimum=LEAST // (n // max(len(begins) - 1, 1)), parts=SLICES * n_threads()))
    answers = Answers(*(in_place(field, order) for field in answers))
    limits = limits_of(answers.smallest, m)
    many = np.flatnonzero(answers.tied < 0)
    if len(many):
        again = visit(tree, sizes, first_row, queries.take(many), limits.take(many), values=held)
        answers.closer[many], answers.tied[many], answers.nearest[many], answers.sums[many] = again[:4]
    return answers, limits


def limits_of(smallest: Floats, metric: Metric) -> Limits:
    """The sums between which rows are nearest, closer or tied, of the k smallest of each query (n, k)."""
    first, last, slack = smallest[:, 0], smallest[:, -1], metric.tolerance
    ends = ((first, slack), (last, -slack), (last, slack))
    return Limits(*(widened(sums, by, metric.power) for sums, by in ends))


def visit(
    tree: BoxTree, sizes: Ints, first_row: Ints, queries: Queries, limits: Limits, *, values: Floats | None = None,
    begins: Ints | None = None, n_listed: int = 0,
) -> Visited:  # fmt: skip
    """Count, sum and list the rows within given sums of each query.

    The first four are as in `find`. `values` (K, v): summed over the places up to the third limit. `begins` (n,):
    where in a list of `n_listed` the places of each query begin.
    """
    n = len(queries.numbers)
    held = np.empty((len(sizes), 0)) if values is None else values
    starts = np.zeros(n, np.int64) if begins is None else begins
    out = room_of(n, held, n_listed)
    if is_few(tree, queries):
        visit_few(tree, sizes, first_row, queries, limits, parts_of(tree, queries), held, starts, out)
        return out

    def part(ends: tuple[int, int]) -> None:
        _visit(tree, sizes, first_row, queries, *ends, limits, held, starts, out)

    run(part, _slices(n))
    return out


def room_of(n: int, held: Floats, n_listed: int = 0) -> Visited:
    """Arrays for the rows within the limits of n queries, to be filled."""
    none = np.zeros(n, np.int64)
    return Visited(none, none.copy(), none - 1, np.zeros((n, held.shape[1])), np.empty(n_listed, np.int32))


def widened(sums: Floats, slack: float, power: int) -> Floats:
    """The sums that belong to distances larger by `slack`."""
    return np.maximum(sums ** (1 / power) + slack, 0.0) ** power


def _slices(n: int) -> list[tuple[int, int]]:
    """Slices of the queries, more than threads, since some take longer than others."""
    return chunks(n, minimum=LEAST, parts=SLICES * n_threads())
