"""Queries in blocks of neighbours, which come down a tree of boxes together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Ints
from sdckit.numerics.compiling import njit
from sdckit.numerics.search.box_tree import BoxTree, build

MOST = 16  # queries of a block; of 8 to 64 they take the least time
CACHED = 1 << 13  # rows that stay in the processor's cache whatever is asked next
NUMBERS = 4  # with more, or more columns, neighbours are far apart and have little of their way in common
COLUMNS = 8


@njit(cache=True, nogil=True)
def fit(queries, begin, end, low, high):  # type: ignore[no-untyped-def]
    """The box of a block of queries; its categories where they are alike, else none."""
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
def _between(tree, node, low, high, codes):  # type: ignore[no-untyped-def]
    """A sum that no row of a node falls short of, from whichever point in a box."""
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
    """Put the children of a node on the stack that may hold rows within the limit of a block, the nearer one on top."""
    near = tree.nodes.place[node, 2]
    far = near + 1
    a, b = _between(tree, near, low, high, codes), _between(tree, far, low, high, codes)
    if b < a:
        near, far, a, b = far, near, b, a
    if b <= limit:
        stack[top], bounds[top] = far, b
        top += 1
    if a <= limit:
        stack[top], bounds[top] = near, a
        top += 1
    return top


def blocks_of(tree: BoxTree, numbers: NDArray[np.float64], codes: NDArray[np.int32]) -> tuple[Ints, Ints]:
    """Put queries in an order in which those near each other follow each other, and where in it each block begins.

    They are put in a tree of their own, and a block is a leaf of it: about as wide as one of the rows. `numbers` (n, p)
    and `codes` (n, q): the queries. Returns shapes (n,) and (blocks + 1,).

    >>> from sdckit.numerics.encode import Metric
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
    starts = np.concatenate([[0], ends[:-1]])
    return of_queries.order, _cut(starts, ends, size)


def _cut(starts: Ints, ends: Ints, size: int) -> Ints:
    """Where blocks of so many at most begin, and where the last one ends."""
    many = (ends - starts + size - 1) // size
    first = np.repeat(starts, many)
    within = np.arange(len(first)) - np.repeat(np.cumsum(many) - many, many)
    return np.append(first + within * size, ends[-1])
