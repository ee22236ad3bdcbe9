"""A tree of bounding boxes over rows of numbers and categories, for exact search without comparing all pairs.

A node holds the smallest and largest value of each number and a bit set of the levels of each category among its rows,
which give a lower bound of the distance to any of its rows; nodes beyond the limit are pruned. In a node whose rows
have equal categories only the numbers are compared: where many rows do, the tree splits by categories first.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from sdckit.numerics.array_types import Codes, Floats, Ints, Words
from sdckit.numerics.coding import Metric
from sdckit.numerics.compiling import is_early, njit
from sdckit.numerics.search.count_boxes import halve

LEAF = 32  # largest number of rows in a leaf, which are compared one by one
PAIRS = 48  # pairs of rows by which a node chooses the column to split
SMALL = 1 << 13  # rows of a tree that is built without a kernel, whose compilation takes seconds
SAMPLE = 4096  # rows by which it is decided whether many have equal categories
MANY = 16  # rows of the sample per combination of categories for that
SEED = 20_09  # of the shuffling of rows before the tree is built; the answers do not depend on it


class Nodes(NamedTuple):
    """Nodes of a tree.

    `place` (nodes, 5): first row, end, left child (-1: a leaf; the right child follows it), depth, whether all
    categories are equal. `low` and `high` (nodes, p): bounding box. `levels` (nodes, q): bit sets of categories.
    """

    place: Ints
    low: Floats
    high: Floats
    levels: Words


class BoxTree(NamedTuple):
    """Distinct rows in the order of the tree.

    `numbers` and `codes` (p, K) and (q, K): the rows, column by column. `order` (K,): index of the given row at each
    place of the tree.
    """

    numbers: Floats
    codes: Codes
    order: Ints
    nodes: Nodes
    metric: Metric


@njit(cache=True, nogil=True)
def _grow(nodes, n):  # type: ignore[no-untyped-def]
    """Copy the arrays of nodes into larger ones for n nodes."""
    place, low, high, levels = nodes
    new_place = np.empty((n, 5), np.int64)
    new_low, new_high = np.empty((n, low.shape[1])), np.empty((n, low.shape[1]))
    new_levels = np.empty((n, levels.shape[1]), np.uint64)
    for node in range(len(place)):  # value by value: for slices numba would compile a check with its messages
        for j in range(5):
            new_place[node, j] = place[node, j]
        for j in range(low.shape[1]):
            new_low[node, j], new_high[node, j] = low[node, j], high[node, j]
        for j in range(levels.shape[1]):
            new_levels[node, j] = levels[node, j]
    return new_place, new_low, new_high, new_levels


@njit(cache=True, nogil=True)
def _column_to_split(numbers, codes, metric, begin, start, stop, low, high):  # type: ignore[no-untyped-def]
    """Index of the column, from `begin` on, in which pairs of rows of a node differ most on average; -1: all are equal.

    Columns are the numbers, then the categories. `low` and `high` (p,): bounding box of the node, rows start to stop.
    """
    squared, caps, weights = metric.power == 2, metric.caps, metric.weights
    n_numbers, half = numbers.shape[1], (stop - start) // 2
    best, column = 0.0, -1
    step = max(1, half // PAIRS)
    for j in range(begin, n_numbers + codes.shape[1]):
        total = 0.0
        for t in range(start, start + half, step):
            if j >= n_numbers:
                if codes[t, j - n_numbers] != codes[t + half, j - n_numbers]:
                    total += weights[j - n_numbers]
            else:
                away = min(abs(numbers[t, j] - numbers[t + half, j]), caps[j])
                total += away * away if squared else away
        if total > best:
            best, column = total, j
    if column < 0:  # the sampled pairs are equal: take any column in which rows differ
        for j in range(begin, n_numbers):
            if high[j] > low[j]:
                return j
        for j in range(codes.shape[1]):
            first = codes[start, j]
            for t in range(start, stop):
                if codes[t, j] != first:
                    return n_numbers + j
    return column


@njit(cache=True, nogil=True)
def _split(numbers, codes, order, start, stop, column):  # type: ignore[no-untyped-def]
    """Partition rows start to stop in place by about the median of a column; return where the upper part begins."""
    n_numbers, n = numbers.shape[1], stop - start
    values = np.empty(n)
    for t in range(n):
        row = start + t
        values[t] = numbers[row, column] if column < n_numbers else codes[row, column - n_numbers]
    sample = np.arange(0, n, max(1, n // 101))
    middle = (len(sample) - 1) // 2
    halve(values, sample, np.int64(0), len(sample), middle)
    pivot, largest, below = np.inf, -np.inf, -np.inf
    for t in sample[middle:]:
        pivot = min(pivot, values[t])
    for t in range(n):
        largest = max(largest, values[t])
        if values[t] < pivot:
            below = max(below, values[t])
    if pivot >= largest and below > -np.inf:
        pivot = below
    left = 0
    for t in range(n):
        if values[t] <= pivot:
            values[t], values[left] = values[left], values[t]
            _swap(numbers, codes, order, start + t, start + left)
            left += 1
    return start + left


@njit(cache=True, nogil=True, inline="always")
def _swap(numbers, codes, order, a, b):  # type: ignore[no-untyped-def]
    """Swap two rows in place: the rows themselves are moved, so that those of a node are contiguous."""
    order[a], order[b] = order[b], order[a]
    for j in range(numbers.shape[1]):
        numbers[a, j], numbers[b, j] = numbers[b, j], numbers[a, j]
    for j in range(codes.shape[1]):
        codes[a, j], codes[b, j] = codes[b, j], codes[a, j]


@njit(cache=True, nogil=True)
def _alike(codes, start, stop):  # type: ignore[no-untyped-def]
    """Whether all rows start to stop have equal categories."""
    for row in range(start + 1, stop):
        for j in range(codes.shape[1]):
            if codes[row, j] != codes[start, j]:
                return False
    return True


@njit(cache=True, nogil=True)
def _build(numbers, codes, metric, order, leaf, parted):  # type: ignore[no-untyped-def]
    """Build the nodes, breadth first; the rows and `order` are permuted in place into the order of the tree.

    `leaf`: largest number of rows of a leaf; `parted`: whether nodes are split by categories first.
    """
    n_rows, n_numbers, n_codes = len(order), numbers.shape[1], codes.shape[1]
    room = 64 + 4 * n_rows // leaf
    place = np.empty((room, 5), np.int64)
    low, high = np.empty((room, n_numbers)), np.empty((room, n_numbers))
    levels = np.empty((room, n_codes), np.uint64)
    place[0, 0], place[0, 1], place[0, 3], place[0, 4] = 0, n_rows, 0, 0
    used, node = 1, 0
    while node < used:
        if used + 2 > room:
            room *= 2
            place, low, high, levels = _grow((place, low, high, levels), room)
        start, stop = place[node, 0], place[node, 1]
        for j in range(n_numbers):
            low[node, j], high[node, j] = np.inf, -np.inf
        for j in range(n_codes):
            levels[node, j] = np.uint64(0)
        for row in range(start, stop):
            for j in range(n_numbers):
                low[node, j] = min(low[node, j], numbers[row, j])
                high[node, j] = max(high[node, j], numbers[row, j])
            for j in range(n_codes):
                levels[node, j] |= np.uint64(1) << np.uint64(codes[row, j] & 63)
        alike = place[node, 4] == 1 or _alike(codes, start, stop)
        place[node, 4] = 1 if alike else 0
        column = -1
        if stop - start > leaf:
            column = _column_to_split(
                numbers, codes, metric, n_numbers if parted and not alike else 0, start, stop, low[node], high[node]
            )
        place[node, 2] = -1
        if column >= 0:
            middle = _split(numbers, codes, order, start, stop, column)
            place[node, 2] = used
            for child, begin, end in ((used, start, middle), (used + 1, middle, stop)):
                place[child, 0], place[child, 1], place[child, 3] = begin, end, place[node, 3] + 1
                place[child, 4] = place[node, 4]
            used += 2
        node += 1
    return Nodes(place[:used].copy(), low[:used].copy(), high[:used].copy(), levels[:used].copy())


def _build_small(numbers: Floats, codes: Codes, metric: Metric, order: Ints, leaf: int) -> Nodes:
    """Do as `_build` by a Python loop over the nodes, for small files: faster than compiling the kernel."""
    bits = np.uint64(1) << (codes & 63).astype(np.uint64)
    place, low, high, levels = [[0, len(order), -1, 0, 0]], [], [], []
    for node in place:  # the list grows during the loop
        start, stop, _, depth, _ = node
        rows = order[start:stop]
        node[4] = int((codes[rows] == codes[rows[:1]]).all())
        here = numbers[rows]
        low.append(here.min(axis=0, initial=np.inf))
        high.append(here.max(axis=0, initial=-np.inf))
        levels.append(np.bitwise_or.reduce(bits[rows], axis=0))
        if stop - start <= leaf:
            continue
        column = _most_different(here, codes[rows], metric)
        if column < 0:
            continue
        n_numbers = numbers.shape[1]
        values = here[:, column] if column < n_numbers else codes[rows, column - n_numbers]
        pivot = np.partition(values, (len(values) - 1) // 2)[(len(values) - 1) // 2]
        if pivot == values.max():
            pivot = values[values < pivot].max()
        left = values <= pivot
        order[start:stop] = np.concatenate([rows[left], rows[~left]])
        middle = start + int(left.sum())
        node[2] = len(place)
        place += [[start, middle, -1, depth + 1, 0], [middle, stop, -1, depth + 1, 0]]
    return Nodes(np.array(place), np.stack(low), np.stack(high), np.stack(levels))


def _many_alike(codes: Codes) -> bool:
    """Whether a sample of rows has few distinct combinations of categories."""
    return codes.shape[1] > 0 and MANY * len(np.unique(codes, axis=0)) <= len(codes)


def _most_different(numbers: Floats, codes: Codes, metric: Metric) -> int:
    """Index of the column in which pairs of rows differ most on average, else any in which rows differ; else -1."""
    half = len(numbers) // 2
    away = np.minimum(np.abs(numbers[:half] - numbers[half : 2 * half]), metric.caps) ** metric.power
    apart = (codes[:half] != codes[half : 2 * half]) * metric.weights
    total = np.concatenate([away.sum(axis=0), apart.sum(axis=0)])
    if not total.max(initial=0.0):
        total = np.concatenate([(numbers != numbers[0]).any(axis=0), (codes != codes[0]).any(axis=0)])
    return int(total.argmax()) if total.any() else -1


def build(numbers: Floats, codes: Codes, metric: Metric, *, leaf: int = LEAF) -> BoxTree:
    """Build a tree over distinct rows of numbers (K, p) and categories (K, q), with at most `leaf` rows in a leaf.

    >>> metric = Metric(1, np.array([1.0]), np.empty(0))
    >>> build(np.array([[0.0], [1.0]]), np.empty((2, 0), np.int32), metric).nodes[0][0, :2].tolist()
    [0, 2]
    """
    order = np.arange(len(numbers))
    if len(order) > leaf:
        np.random.default_rng(SEED).shuffle(order)
    if len(numbers) <= leaf or (len(numbers) <= SMALL and is_early(_build)):
        nodes = _build_small(numbers, codes, metric, order, leaf)
        there, levels = numbers[order], codes[order]
    else:
        there, levels = numbers[order], codes[order]
        nodes = _build(there, levels, metric, order, leaf, _many_alike(levels[:SAMPLE]))
    return BoxTree(np.ascontiguousarray(there.T), np.ascontiguousarray(levels.T), order, nodes, metric)


# Queries in blocks of neighbours, which descend a tree together.


MOST = 16  # queries of a block: the fastest of 8 to 64
CACHED = 1 << 13  # rows that fit into the processor's cache, so that the order of queries does not matter
NUMBERS = 4  # with more numbers, or more columns, neighbours share little of their path through the tree
COLUMNS = 8


@njit(cache=True, nogil=True)
def fit(queries, begin, end, low, high):  # type: ignore[no-untyped-def]
    """Bounding box of queries begin to end, into `low` and `high` (p,); return their categories if equal, else none."""
    numbers, codes = queries.numbers, queries.codes
    low[:], high[:] = np.inf, -np.inf
    alike = True
    for q in range(begin, end):
        for j in range(len(low)):
            low[j], high[j] = min(low[j], numbers[q, j]), max(high[j], numbers[q, j])
        for j in range(codes.shape[1]):
            alike &= codes[q, j] == codes[begin, j]
    return codes[begin] if alike else codes[begin, :0]


@njit(cache=True, nogil=True, fastmath=True)
def between(tree, node, low, high, codes):  # type: ignore[no-untyped-def]
    """Lower bound of the sums between any row of a node and any point in the box `low` to `high` (p,)."""
    (_, lowest, highest, levels), (power, caps, weights) = tree.nodes, tree.metric
    total = 0.0
    for j in range(len(low)):
        away = min(max(lowest[node, j] - high[j], low[j] - highest[node, j], 0.0), caps[j])
        total += away * away if power == 2 else away
    for j in range(len(codes)):
        if not (levels[node, j] >> np.uint64(codes[j] & 63)) & np.uint64(1):
            total += weights[j]
    return total


@njit(cache=True, nogil=True)
def push_near(tree, stack, bounds, top, node, limit, low, high, codes):  # type: ignore[no-untyped-def]
    """Push children of a node with a lower bound within the limit of a block, the nearer one on top; the new top."""
    near = tree.nodes.place[node, 2]
    far = near + 1
    a, b = between(tree, near, low, high, codes), between(tree, far, low, high, codes)
    if b < a:
        near, far, a, b = far, near, b, a
    if b <= limit:
        stack[top], bounds[top] = far, b
        top += 1
    if a <= limit:
        stack[top], bounds[top] = near, a
        top += 1
    return top


def blocks_of(tree: BoxTree, numbers: Floats, codes: Codes) -> tuple[Ints, Ints]:
    """An order of queries in which neighbours follow each other, and where each block begins in it.

    The queries are put into a tree of their own, whose leaves are the blocks. `numbers` (n, p) and `codes` (n, q): the
    queries. Returns shapes (n,) and (blocks + 1,).

    >>> from sdckit.numerics.coding import Metric
    >>> rows, none = np.array([[0.0], [1.0]]), np.empty((2, 0), np.int32)
    >>> order, begins = blocks_of(build(rows, none, Metric(1, np.ones(1), np.empty(0))), rows, none)
    >>> order.tolist(), begins.tolist()
    ([0, 1], [0, 1, 2])
    """
    n, n_rows = len(numbers), len(tree.order)
    if n_rows <= CACHED:
        return np.arange(n), np.arange(n + 1)
    together = numbers.shape[1] <= NUMBERS and numbers.shape[1] + codes.shape[1] <= COLUMNS
    size = max(1, MOST * min(n, n_rows) // n_rows) if together else 1
    of_queries = build(numbers, codes, tree.metric, leaf=MOST)
    place = of_queries.nodes.place
    ends = np.sort(place[place[:, 2] < 0, 1])
    return of_queries.order, _cut(np.concatenate([[0], ends[:-1]]), ends, size)


def _cut(starts: Ints, ends: Ints, size: int) -> Ints:
    """Start of blocks of at most `size` queries within the leaves, and the end of the last one."""
    many = (ends - starts + size - 1) // size
    first = np.repeat(starts, many)
    within = np.arange(len(first)) - np.repeat(np.cumsum(many) - many, many)
    return np.append(first + within * size, ends[-1])


# Points within a radius of others, in groups.


def count_in_balls(target: Floats, released: Floats, mine: Ints, theirs: Ints, radius: float, *, closed: bool) -> Ints:
    """Number of released records in the group and within the radius of each target, group by group."""
    from scipy.spatial import KDTree

    count = np.zeros(len(target), np.int64)
    if radius < 0 or (radius == 0 and not closed):
        return count
    reach = radius if closed else np.nextafter(radius, 0.0)
    order, others = np.argsort(mine, kind="stable"), np.argsort(theirs, kind="stable")
    own, there = mine[order], theirs[others]
    starts = np.flatnonzero(np.append(True, own[1:] != own[:-1])[: len(own)])
    for start, stop in pairwise([*starts.tolist(), len(own)]):
        low, high = np.searchsorted(there, [own[start], own[start] + 1])
        if low < high:
            rows = order[start:stop]
            tree = KDTree(released[others[low:high]])
            count[rows] = tree.query_ball_point(target[rows], reach, return_length=True, workers=-1)
    return count
