"""Count the points inside each of many boxes, bucket by bucket, without looking at every pair.

A point has two numbers per dimension and lies inside a box where the first is not below the box's lower
bound and the second not above its upper bound; for an ordinary point they are the same number. Few pairs
are compared one by one, so that small files need no other kernel. Else one dimension takes two binary searches,
two take a wavelet matrix (as many steps as the number of points has bits), three or more a k-d tree.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.compiling import FEW as FEW_ROWS, njit
from sdckit.numerics.search.count_plane import build_plane, count_line, count_plane
from sdckit.numerics.search.count_tree import build_tree, count_tree
from sdckit.numerics.threads import chunks, n_threads, run

PLANE, TREE = 2, 3  # dimensions that take a plane, and from which on a tree
FEW, FEW_BOXES = 64, 4  # points, and boxes, in a bucket that are compared one by one
LARGE = 1 << 14  # points in a bucket whose boxes are worth dealing to threads
PAIRS = 1 << 26  # numbers compared, of all buckets together, that need no line, plane or tree
BUCKETS = 64  # buckets of which all points are compared with all boxes, with NumPy
ROOM = 1 << 20  # pairs held at once
PARTS = 8  # slices of buckets per thread


class Dimension(NamedTuple):
    """One dimension of the points and of the boxes; for the kernels all of them, one below the other.

    `upper` and `lower` (points,): a point is inside where ``upper >= low`` and ``lower <= high``; both rise with
    `key`. `key` (points,): orders the points. `low` and `high` (boxes,): bounds of the boxes.
    """

    key: Floats
    upper: Floats
    lower: Floats
    low: Floats
    high: Floats


@njit(cache=True, nogil=True)
def _order_by_group(group, n_groups, edges, order):  # type: ignore[no-untyped-def]
    for i in range(len(group)):
        edges[group[i] + 1] += 1
    for g in range(n_groups):
        edges[g + 1] += edges[g]
    position = edges[:-1].copy()
    for i in range(len(group)):
        order[position[group[i]]] = i
        position[group[i]] += 1


def order_by_group(group: NDArray[np.integer], n_groups: int) -> tuple[Ints, Ints]:
    """Rows group by group, and where each group begins in them.

    >>> [part.tolist() for part in order_by_group(np.array([1, 0, 1]), 2)]
    [[1, 0, 2], [0, 1, 3]]
    """
    if len(group) <= FEW_ROWS:
        sizes = np.bincount(group, minlength=n_groups)
        return np.argsort(group, kind="stable"), np.concatenate([[0], np.cumsum(sizes)])
    edges, order = np.zeros(n_groups + 1, np.int64), np.empty(len(group), np.int64)
    _order_by_group(group, n_groups, edges, order)
    return order, edges


@njit(cache=True, nogil=True)
def _count_pairs(upper, lower, low, high, p0, p1, q0, q1, count):  # type: ignore[no-untyped-def]
    dims = upper.shape[0]
    for q in range(q0, q1):
        found = 0
        for p in range(p0, p1):
            inside = upper[0, p] >= low[0, q] and lower[0, p] <= high[0, q]
            for d in range(1, dims):
                inside &= upper[d, p] >= low[d, q] and lower[d, p] <= high[d, q]
            found += inside
        count[q] = found


@njit(cache=True, nogil=True)
def _is_few(p_edges, q_edges, g):  # type: ignore[no-untyped-def]
    """Whether the points of a bucket are compared one by one with its boxes."""
    return p_edges[g + 1] - p_edges[g] <= FEW or q_edges[g + 1] - q_edges[g] <= FEW_BOXES


@njit(cache=True, nogil=True)
def _is_skipped(p_edges, q_edges, g, large):  # type: ignore[no-untyped-def]
    n = p_edges[g + 1] - p_edges[g]
    return n == 0 or q_edges[g] == q_edges[g + 1] or n >= large


# A kernel for each kind of search, so that only the one that is needed is compiled.


@njit(cache=True, nogil=True)
def _count_all(first, last, p_edges, q_edges, rows, count):  # type: ignore[no-untyped-def]
    _key, upper, lower, low, high = rows
    for g in range(first, last):
        p0, p1, q0, q1 = p_edges[g], p_edges[g + 1], q_edges[g], q_edges[g + 1]
        _count_pairs(upper, lower, low, high, p0, p1, q0, q1, count)


@njit(cache=True, nogil=True)
def _count_lines(first, last, p_edges, q_edges, rows, _other, large, count):  # type: ignore[no-untyped-def]
    _key, upper, lower, low, high = rows
    for g in range(first, last):
        if _is_skipped(p_edges, q_edges, g, large):
            continue
        p0, p1, q0, q1 = p_edges[g], p_edges[g + 1], q_edges[g], q_edges[g + 1]
        if _is_few(p_edges, q_edges, g):
            _count_pairs(upper, lower, low, high, p0, p1, q0, q1, count)
        else:
            count_line(upper[0, p0:p1], lower[0, p0:p1], low[0], high[0], q0, q1, count)


@njit(cache=True, nogil=True)
def _count_planes(first, last, p_edges, q_edges, rows, other, large, count):  # type: ignore[no-untyped-def]
    _key, upper, lower, low, high = rows
    for g in range(first, last):
        if _is_skipped(p_edges, q_edges, g, large):
            continue
        p0, p1, q0, q1 = p_edges[g], p_edges[g + 1], q_edges[g], q_edges[g + 1]
        if _is_few(p_edges, q_edges, g):
            _count_pairs(upper, lower, low, high, p0, p1, q0, q1, count)
        else:
            words, zeros, above, below = build_plane(upper, lower, p0, other[p0:p1])
            count_plane(words, zeros, above, below, low, high, q0, q1, count)


@njit(cache=True, nogil=True)
def _count_trees(first, last, p_edges, q_edges, rows, _other, large, count):  # type: ignore[no-untyped-def]
    key, upper, lower, low, high = rows
    for g in range(first, last):
        if _is_skipped(p_edges, q_edges, g, large):
            continue
        p0, p1, q0, q1 = p_edges[g], p_edges[g + 1], q_edges[g], q_edges[g + 1]
        if _is_few(p_edges, q_edges, g):
            _count_pairs(upper, lower, low, high, p0, p1, q0, q1, count)
        else:
            above, below, _, bounds = build_tree(key, upper, lower, p0, p1)
            count_tree(bounds, above, below, low, high, q0, q1, count)


def count_in_boxes(
    dimensions: Sequence[Dimension],
    group_of_point: NDArray[np.int32],
    group_of_box: NDArray[np.int32],
    k: int,
) -> Ints:
    """For each box the points of its group inside it.

    There is one dimension at least. `group_of_point` and `group_of_box`: group of each point and box, 0 to k - 1.
    Returns (boxes,).

    >>> x = np.array([1.0, 2.0, 3.0])
    >>> line = Dimension(x, x, x, np.array([1.5, 5.0]), np.array([3.0, 6.0]))
    >>> count_in_boxes([line], np.zeros(3, np.int32), np.zeros(2, np.int32), 1).tolist()
    [2, 0]
    """
    q_order, q_edges = order_by_group(group_of_box, k)
    few = _are_few(group_of_point, np.diff(q_edges), len(dimensions))
    sort = len(dimensions) < TREE and not few
    p_order, p_edges = _sorted_by_group(dimensions[0].key, group_of_point, k, sort=sort)
    key = _rows([one.key for one in dimensions], p_order)
    upper, lower = (
        key
        if all(getattr(one, side) is one.key for one in dimensions)
        else _rows([getattr(one, side) for one in dimensions], p_order)
        for side in ("upper", "lower")
    )
    low, high = (_rows([getattr(one, side) for one in dimensions], q_order) for side in ("low", "high"))
    rows = Dimension(key, upper, lower, low, high)
    found = np.zeros(len(q_order), np.int64)
    if few and np.count_nonzero(np.diff(q_edges)) <= BUCKETS:
        _compare_all(rows, p_edges, q_edges, found)
    elif few:
        run(lambda part: _count_all(*part, p_edges, q_edges, rows, found), _slices(p_edges + q_edges))
    else:
        _count_many(rows, _second_order(dimensions, group_of_point, k, p_order), p_edges, q_edges, found)
    count = np.empty_like(found)
    count[q_order] = found
    return count


def _are_few(group_of_point: NDArray[np.int32], n_boxes: Ints, n_dimensions: int) -> bool:
    """Whether comparing every point with every box of its group is little work: then nothing else is compiled."""
    n_points = np.bincount(group_of_point, minlength=len(n_boxes))
    return bool(np.sum(n_points * n_boxes.astype(np.float64)) * n_dimensions <= PAIRS)


def _compare_all(rows: Dimension, p_edges: Ints, q_edges: Ints, found: Ints) -> None:
    """As `_count_all`, which has to be compiled."""
    _key, upper, lower, low, high = rows
    for g in np.flatnonzero((np.diff(p_edges) > 0) & (np.diff(q_edges) > 0)).tolist():
        points = slice(p_edges[g], p_edges[g + 1])
        step = max(1, ROOM // int(p_edges[g + 1] - p_edges[g]))
        for begin in range(int(q_edges[g]), int(q_edges[g + 1]), step):
            boxes = slice(begin, min(begin + step, int(q_edges[g + 1])))
            inside = np.ones((boxes.stop - begin, points.stop - points.start), np.bool_)
            for d in range(len(upper)):
                inside &= upper[d, points] >= low[d, boxes, None]
                inside &= lower[d, points] <= high[d, boxes, None]
            found[boxes] = np.count_nonzero(inside, axis=1)


def _count_many(rows: Dimension, other: Ints, p_edges: Ints, q_edges: Ints, found: Ints) -> None:
    """Count by the search that the number of dimensions takes."""
    kernel = (_count_lines, _count_planes, _count_trees)[min(len(rows.key), TREE) - 1]
    run(lambda part: kernel(*part, p_edges, q_edges, rows, other, LARGE, found), _slices(p_edges + q_edges))
    for g in np.flatnonzero((np.diff(p_edges) >= LARGE) & (np.diff(q_edges) > 0)).tolist():
        _count_large(rows, other, p_edges[g : g + 2], q_edges[g : g + 2], found)


def _sorted_by_group(values: Floats, group: NDArray[np.integer], k: int, *, sort: bool) -> tuple[Ints, Ints]:
    """Rows group by group, and by value within each where asked for, and where each group begins in them."""
    if not sort:
        return order_by_group(group, k)
    by_value = np.argsort(values)
    order, edges = order_by_group(group[by_value], k)
    return by_value[order], edges


def _second_order(dimensions: Sequence[Dimension], group: NDArray[np.integer], k: int, p_order: Ints) -> Ints:
    """In a plane: the places of the points by the second number, group by group, counted from its group's first."""
    if len(dimensions) != PLANE:
        return np.empty(0, np.int64)
    order, edges = _sorted_by_group(dimensions[1].key, group, k, sort=True)
    place = np.empty(len(p_order), np.int64)
    place[p_order] = np.arange(len(p_order))
    return place[order] - np.repeat(edges[:-1], np.diff(edges))


def _rows(columns: Sequence[Floats], order: Ints) -> Floats:
    """Columns in another order, one below the other."""
    out = np.empty((len(columns), len(order)))
    for row, values in zip(out, columns, strict=True):
        np.take(values, order, out=row, mode="clip")
    return out


def _slices(work: Ints) -> list[tuple[int, int]]:
    """Slices of buckets with about equal numbers of points and boxes; one where they are few."""
    parts = n_threads() * PARTS if work[-1] >= LARGE * PARTS else 1
    cuts = np.searchsorted(work, work[-1] * np.arange(1, parts) / parts)
    edges = np.unique(np.concatenate([[0], cuts, [len(work) - 1]])).tolist()
    return list(itertools.pairwise(edges))


def _count_large(rows: Dimension, other: Ints, p_edges: Ints, q_edges: Ints, count: Ints) -> None:
    """One bucket of many points: its boxes are dealt to the threads."""
    key, upper, lower, low, high = rows
    (p0, p1), (q0, q1) = p_edges.tolist(), q_edges.tolist()
    parts = [(q0 + a, q0 + b) for a, b in chunks(q1 - q0, minimum=1 << 10)]
    if len(key) == 1:
        above, below = upper[0, p0:p1], lower[0, p0:p1]
        run(lambda part: count_line(above, below, low[0], high[0], *part, count), parts)
    elif len(key) == PLANE:
        words, zeros, above, below = build_plane(upper, lower, p0, other[p0:p1])
        run(lambda part: count_plane(words, zeros, above, below, low, high, *part, count), parts)
    else:
        above, below, _, bounds = build_tree(key, upper, lower, p0, p1)
        low, high, order, _ = build_tree(low, low, high, q0, q1)  # boxes side by side open the same nodes
        found = np.empty(q1 - q0, np.int64)
        parts = [(a - q0, b - q0) for a, b in parts]
        run(lambda part: count_tree(bounds, above, below, low, high, *part, found), parts)
        count[order] = found
