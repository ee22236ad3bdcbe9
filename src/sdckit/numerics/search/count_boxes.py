"""Count the points inside each of many boxes, group by group, without comparing every pair.

A point has two numbers per dimension and lies inside a box if the first is not below the box's lower bound and the
second not above its upper bound; for an ordinary point both are the same number. Few pairs are compared one by one, so
that small files need no other kernel. Otherwise one dimension takes two binary searches, two dimensions a wavelet
matrix (as many steps as the number of points has bits), three or more a k-d tree.
"""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sdckit.numerics.array_types import AnyInts, Codes, Floats, Ints
from sdckit.numerics.coding import ones_of
from sdckit.numerics.compiling import is_few, njit
from sdckit.numerics.grouping import in_place, places_among
from sdckit.numerics.threads import chunks, n_threads, run

# Points in one or two dimensions, counted inside intervals or boxes.
# In one dimension two binary searches suffice. In two, the points are sorted by the first number and the ranks of the
# second are stored in a wavelet matrix: one bit of the rank per level, from the highest, the points with a zero before
# those with a one. Counting the ranks below a bound in a range of points takes one step per level (Claude & Navarro
# 2012). Boxes are processed in blocks, step by step, so that their cache misses overlap.


BLOCK = 64  # boxes processed together


@njit(cache=True, nogil=True)
def _search(values, bounds, above, at):  # type: ignore[no-untyped-def]
    """Binary search: index of the first of the ascending values not below (`above`: above) each bound, into `at`."""
    m, length = len(bounds), len(values)
    at[:m] = 0
    while length > 1:
        half = length >> 1
        if above:
            for j in range(m):
                at[j] += half * (values[at[j] + half - 1] <= bounds[j])
        else:
            for j in range(m):
                at[j] += half * (values[at[j] + half - 1] < bounds[j])
        length -= half
    for j in range(m):
        at[j] += (values[at[j]] <= bounds[j]) if above else (values[at[j]] < bounds[j])


@njit(cache=True, nogil=True)
def count_line(above, below, low, high, q0, q1, count):  # type: ignore[no-untyped-def]
    """Count the points in the intervals q0 to q1 into `count`; `above` and `below` (n,): both bounds, each sorted."""
    a, b = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
    for start in range(q0, q1, BLOCK):
        stop = min(start + BLOCK, q1)
        _search(above, low[start:stop], np.bool_(False), a)
        _search(below, high[start:stop], np.bool_(True), b)
        for j in range(stop - start):
            count[start + j] = max(0, b[j] - a[j])


@njit(cache=True, nogil=True)
def build_plane(upper, lower, first, other):  # type: ignore[no-untyped-def]
    """Wavelet matrix of the ranks by the second number, in the order of the first, and both bounds sorted.

    The points from `first` on are sorted by their first number; `other` (n,) is the sorting order by the second. The
    matrix `words` (levels, n // 64 + 1, 2) has, for every 64 points of a level, a word of bits and the number of ones
    before it; `zeros` (levels,) is the number of zeros of each level.
    """
    n = len(other)
    levels = 1
    while (1 << levels) <= n:
        levels += 1
    rank, now, then = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    above, below = np.empty((2, n)), np.empty((2, n))
    for i in range(n):
        rank[other[i]] = i
        above[0, i], below[0, i] = upper[0, first + i], lower[0, first + i]
        above[1, i], below[1, i] = upper[1, first + other[i]], lower[1, first + other[i]]
    for i in range(n):
        now[i] = rank[i]
    words = np.zeros((levels, (n >> 6) + 1, 2), np.uint64)
    zeros = np.zeros(levels, np.int64)
    for level in range(levels):
        shift = levels - 1 - level
        n_zeros, n_ones = 0, 0
        for i in range(n):
            if (i & 63) == 0:
                words[level, i >> 6, 1] = np.uint64(n_ones)
            if (now[i] >> shift) & 1:
                words[level, i >> 6, 0] |= np.uint64(1) << np.uint64(i & 63)
                rank[n_ones] = now[i]
                n_ones += 1
            else:
                then[n_zeros] = now[i]
                n_zeros += 1
        if (n & 63) == 0:
            words[level, n >> 6, 1] = np.uint64(n_ones)
        for i in range(n_ones):
            then[n_zeros + i] = rank[i]
        zeros[level] = n_zeros
        now, then = then, now
    return words, zeros, above, below


@njit(cache=True, nogil=True, inline="always")
def _ones_before(words, i):  # type: ignore[no-untyped-def]
    """Number of ones among the first i bits of a level (rank query), by a population count."""
    at = i >> 6
    return np.int64(words[at, 1]) + ones_of(words[at, 0] & ((np.uint64(1) << np.uint64(i & 63)) - np.uint64(1)))


@njit(cache=True, nogil=True)
def _add_ranks_below(words, zeros, a, b, bound, sign, m, count):  # type: ignore[no-untyped-def]
    """Add `sign` times the number of points a to b with a rank below the bound, for each of m boxes.

    `a`, `b`, `bound`, `count` (m,); `a` and `b` are overwritten.
    """
    levels = len(zeros)
    for level in range(levels):
        shift, ones, n_zeros = levels - 1 - level, words[level], zeros[level]
        for j in range(m):
            ones_a, ones_b = _ones_before(ones, a[j]), _ones_before(ones, b[j])
            if (bound[j] >> shift) & 1:
                count[j] += sign * ((b[j] - a[j]) - (ones_b - ones_a))
                a[j], b[j] = n_zeros + ones_a, n_zeros + ones_b
            else:
                a[j] -= ones_a
                b[j] -= ones_b


@njit(cache=True, nogil=True)
def count_plane(words, zeros, above, below, low, high, q0, q1, count):  # type: ignore[no-untyped-def]
    """Count the points in the boxes q0 to q1 of the plane into `count`, given the results of `build_plane`."""
    room = np.empty((6, BLOCK), np.int64)
    a, b, c, d, e, f = room[0], room[1], room[2], room[3], room[4], room[5]
    for start in range(q0, q1, BLOCK):
        stop = min(start + BLOCK, q1)
        _search(above[0], low[0, start:stop], np.bool_(False), a)
        _search(below[0], high[0, start:stop], np.bool_(True), b)
        _search(above[1], low[1, start:stop], np.bool_(False), c)
        _search(below[1], high[1, start:stop], np.bool_(True), d)
        m = stop - start
        for j in range(m):
            count[start + j] = 0
            if a[j] >= b[j] or c[j] >= d[j]:
                a[j] = b[j] = 0
            e[j], f[j] = a[j], b[j]
        _add_ranks_below(words, zeros, a, b, c, np.int64(-1), m, count[start:stop])
        _add_ranks_below(words, zeros, e, f, d, np.int64(1), m, count[start:stop])


# Points in three or more dimensions, counted inside boxes with a k-d tree (Bentley 1975).
# The points are halved at the median of one dimension after the other. A node inside a box is counted at once, one
# outside is skipped; only nodes that intersect the boundary of the box are opened.


LEAF = 64  # points that are compared one by one
DEEPEST = 64  # size of the stack of nodes: one per level, enough for 2**60 points
LAST = 62  # the bit shared by this dimension and all that follow


@njit(cache=True, nogil=True)
def halve(values, order, start, stop, middle):  # type: ignore[no-untyped-def]
    """Quickselect: permute order[start:stop] so that the smaller values come before `middle`, the others from it on."""
    low, high = start, stop - 1
    while low < high:
        a, b, c = values[order[low]], values[order[(low + high) >> 1]], values[order[high]]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high
        while i <= j:
            while values[order[i]] < pivot:
                i += 1
            while values[order[j]] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@njit(cache=True, nogil=True)
def _next_axis(key, order, start, stop, axis):  # type: ignore[no-untyped-def]
    """The first dimension from `axis` on, cyclically, in which points start to stop differ; `axis` if none."""
    dims = len(key)
    for turn in range(dims):
        d = (axis + turn) % dims
        values, first = key[d], key[d, order[start]]
        for i in range(start + 1, stop):
            if values[order[i]] != first:
                return d
    return axis


@njit(cache=True, nogil=True)
def _arrange(key, order, depth):  # type: ignore[no-untyped-def]
    """Permute `order` into the order of a tree of some depth, halving by each dimension in turn; return leaf edges."""
    edges, axes = np.array([0, len(order)]), np.zeros(1, np.int64)
    for _ in range(depth):
        parts = len(axes)
        halves, further = np.empty(2 * parts + 1, np.int64), np.empty(2 * parts, np.int64)
        for part in range(parts):
            start, stop = edges[part], edges[part + 1]
            middle = (start + stop) >> 1
            axis = _next_axis(key, order, start, stop, axes[part])
            halve(key[axis], order, start, stop, middle)
            halves[2 * part], halves[2 * part + 1] = start, middle
            further[2 * part] = further[2 * part + 1] = (axis + 1) % len(key)
        halves[-1] = len(order)
        edges, axes = halves, further
    return edges


@njit(cache=True, nogil=True)
def _fit(above, below, edges):  # type: ignore[no-untyped-def]
    """Minimum and maximum of both numbers of the points of each node (nodes, dims, 4), from the leaves upwards."""
    dims, leaves = len(above), len(edges) - 1
    bounds = np.empty((2 * leaves - 1, dims, 4))
    for leaf in range(leaves):
        for d in range(dims):
            extremes = bounds[leaves - 1 + leaf, d]
            extremes[0], extremes[1], extremes[2], extremes[3] = np.inf, -np.inf, np.inf, -np.inf
            for i in range(edges[leaf], edges[leaf + 1]):
                a, b = above[d, i], below[d, i]
                extremes[0], extremes[1] = min(extremes[0], a), max(extremes[1], a)
                extremes[2], extremes[3] = min(extremes[2], b), max(extremes[3], b)
    for node in range(leaves - 2, -1, -1):
        for d in range(dims):
            left, right = bounds[2 * node + 1, d], bounds[2 * node + 2, d]
            for j in range(4):
                bounds[node, d, j] = max(left[j], right[j]) if j & 1 else min(left[j], right[j])
    return bounds


@njit(cache=True, nogil=True)
def build_tree(key, upper, lower, first, last):  # type: ignore[no-untyped-def]
    """Build a k-d tree of points `first` to `last`.

    Returns both numbers of the points in the order of the tree (dims, n), the order (n,), and for each node the minimum
    and maximum of both numbers in each dimension. Node i has the children 2 i + 1 and 2 i + 2, which halve its points.
    """
    dims, n = len(key), last - first
    depth = 0
    while (n >> depth) > LEAF:
        depth += 1
    order = np.arange(first, last)
    edges = _arrange(key, order, depth)
    above, below = np.empty((dims, n)), np.empty((dims, n))
    for d in range(dims):
        for i in range(n):
            above[d, i], below[d, i] = upper[d, order[i]], lower[d, order[i]]
    return above, below, order, _fit(above, below, edges)


@njit(cache=True, nogil=True)
def _count_leaf(upper, lower, low, high, q, start, stop, open_dims, inside):  # type: ignore[no-untyped-def]
    """Count the points of a leaf in box q, a dimension at a time so that the loops are vectorised.

    `open_dims`: bit set of the dimensions to compare; `inside`: working memory.
    """
    m, first = stop - start, True
    for d in range(len(upper)):
        if (open_dims >> min(d, LAST)) & 1:
            s, t = low[d, q], high[d, q]
            a, b = upper[d, start:stop], lower[d, start:stop]
            if first:
                for i in range(m):
                    inside[i] = (a[i] >= s) & (b[i] <= t)
            else:
                for i in range(m):
                    inside[i] &= (a[i] >= s) & (b[i] <= t)
            first = False
    n_inside = 0
    for i in range(m):
        n_inside += inside[i]
    return n_inside


@njit(cache=True, nogil=True)
def count_tree(bounds, upper, lower, low, high, q0, q1, count):  # type: ignore[no-untyped-def]
    """Count the points in the boxes q0 to q1 into `count`, given the results of `build_tree`.

    A dimension in which a whole node lies inside the box is not compared again below the node.
    """
    dims, n = upper.shape
    stack, inside = np.empty((DEEPEST, 4), np.int64), np.empty(LEAF, np.int64)
    for q in range(q0, q1):
        n_inside, top = 0, 1
        stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, 0, n, -1
        while top > 0:
            top -= 1
            node, start, stop, left = stack[top]
            outside, open_dims = False, np.int64(0)  # a literal 0 has another type and would compile twice
            for d in range(dims):
                if (left >> min(d, LAST)) & 1:
                    s, t = low[d, q], high[d, q]
                    if bounds[node, d, 1] < s or bounds[node, d, 2] > t:
                        outside = True
                        break
                    if bounds[node, d, 0] < s or bounds[node, d, 3] > t:
                        open_dims |= 1 << min(d, LAST)
            if outside:
                continue
            if open_dims == 0:
                n_inside += stop - start
            elif 2 * node + 2 < len(bounds):
                middle = (start + stop) >> 1
                for side in range(2):
                    stack[top, 0], stack[top, 3] = 2 * node + 1 + side, open_dims
                    stack[top, 1], stack[top, 2] = (middle, stop) if side else (start, middle)
                    top += 1
            else:
                n_inside += _count_leaf(upper, lower, low, high, q, start, stop, open_dims, inside)
        count[q] = n_inside


PLANE, TREE = 2, 3  # dimensions that take a wavelet matrix, and from which on a tree
FEW, FEW_BOXES = 64, 4  # points, and boxes, in a group that are compared one by one
LARGE = 1 << 14  # points in a group whose boxes are distributed to threads
PAIRS = 1 << 26  # comparisons, of all groups together, up to which all pairs are compared
BUCKETS = 64  # groups up to which NumPy compares all pairs
ROOM = 1 << 20  # pairs in memory at once
PARTS = 8  # slices of groups per thread


class Dimension(NamedTuple):
    """One dimension of the points and of the boxes; in the kernels all dimensions, stacked as rows of matrices.

    `upper` and `lower` (points,): a point is inside if ``upper >= low`` and ``lower <= high``; both increase with
    `key`. `key` (points,): sorting key of the points. `low` and `high` (boxes,): bounds of the boxes.
    """

    key: Floats
    upper: Floats
    lower: Floats
    low: Floats
    high: Floats


@njit(cache=True, nogil=True)
def _order_by_group(group, n_groups, edges, order):  # type: ignore[no-untyped-def]
    """Stable counting sort of rows by group: `order` (n,) and `edges` (n_groups + 1,), zeros before, are filled."""
    for i in range(len(group)):
        edges[group[i] + 1] += 1
    for g in range(n_groups):
        edges[g + 1] += edges[g]
    position = edges[:-1].copy()
    for i in range(len(group)):
        order[position[group[i]]] = i
        position[group[i]] += 1


def order_by_group(group: AnyInts, n_groups: int) -> tuple[Ints, Ints]:
    """Row indices sorted by group (stable), and where each group begins in them.

    >>> [part.tolist() for part in order_by_group(np.array([1, 0, 1]), 2)]
    [[1, 0, 2], [0, 1, 3]]
    """
    if is_few(_order_by_group, len(group)):
        sizes = np.bincount(group, minlength=n_groups)
        return np.argsort(group, kind="stable"), np.concatenate([[0], np.cumsum(sizes)])
    edges, order = np.zeros(n_groups + 1, np.int64), np.empty(len(group), np.int64)
    _order_by_group(group, n_groups, edges, order)
    return order, edges


@njit(cache=True, nogil=True)
def _count_pairs(upper, lower, low, high, p0, p1, q0, q1, count):  # type: ignore[no-untyped-def]
    """Count the points p0 to p1 in the boxes q0 to q1 into `count`, comparing all pairs."""
    dims = upper.shape[0]
    for q in range(q0, q1):
        n_inside = 0
        for p in range(p0, p1):
            inside = upper[0, p] >= low[0, q] and lower[0, p] <= high[0, q]
            for d in range(1, dims):
                inside &= upper[d, p] >= low[d, q] and lower[d, p] <= high[d, q]
            n_inside += inside
        count[q] = n_inside


@njit(cache=True, nogil=True)
def _is_done(p_edges, q_edges, g, large, rows, count):  # type: ignore[no-untyped-def]
    """Whether group g needs no search: nothing in it, few that are compared here, or `large` and counted apart."""
    p0, p1, q0, q1 = p_edges[g], p_edges[g + 1], q_edges[g], q_edges[g + 1]
    if p0 == p1 or q0 == q1 or p1 - p0 >= large:
        return True
    few = p1 - p0 <= FEW or q1 - q0 <= FEW_BOXES
    if few:
        _count_pairs(rows[1], rows[2], rows[3], rows[4], p0, p1, q0, q1, count)
    return few


# A kernel for each kind of search, so that only the one that is needed is compiled. They count for groups first to
# last, whose points and boxes begin at `p_edges` and `q_edges`; `rows` is a `Dimension` of matrices.


@njit(cache=True, nogil=True)
def _count_all(first, last, p_edges, q_edges, rows, count):  # type: ignore[no-untyped-def]
    """Count by comparing all pairs."""
    _key, upper, lower, low, high = rows
    for g in range(first, last):
        p0, p1, q0, q1 = p_edges[g], p_edges[g + 1], q_edges[g], q_edges[g + 1]
        _count_pairs(upper, lower, low, high, p0, p1, q0, q1, count)


@njit(cache=True, nogil=True)
def _count_lines(first, last, p_edges, q_edges, rows, _other, large, count):  # type: ignore[no-untyped-def]
    """Count in one dimension by binary searches; groups of `large` and more points are left out."""
    _key, upper, lower, low, high = rows
    for g in range(first, last):
        if not _is_done(p_edges, q_edges, g, large, rows, count):
            p0, p1, q0, q1 = p_edges[g], p_edges[g + 1], q_edges[g], q_edges[g + 1]
            count_line(upper[0, p0:p1], lower[0, p0:p1], low[0], high[0], q0, q1, count)


@njit(cache=True, nogil=True)
def _count_planes(first, last, p_edges, q_edges, rows, other, large, count):  # type: ignore[no-untyped-def]
    """Count in two dimensions by wavelet matrices; `other` (points,) sorts each group by the second number."""
    _key, upper, lower, low, high = rows
    for g in range(first, last):
        if not _is_done(p_edges, q_edges, g, large, rows, count):
            p0, p1, q0, q1 = p_edges[g], p_edges[g + 1], q_edges[g], q_edges[g + 1]
            words, zeros, above, below = build_plane(upper, lower, p0, other[p0:p1])
            count_plane(words, zeros, above, below, low, high, q0, q1, count)


@njit(cache=True, nogil=True)
def _count_trees(first, last, p_edges, q_edges, rows, _other, large, count):  # type: ignore[no-untyped-def]
    """Count in three or more dimensions by k-d trees; groups of `large` and more points are left out."""
    key, upper, lower, low, high = rows
    for g in range(first, last):
        if not _is_done(p_edges, q_edges, g, large, rows, count):
            p0, p1, q0, q1 = p_edges[g], p_edges[g + 1], q_edges[g], q_edges[g + 1]
            above, below, _, bounds = build_tree(key, upper, lower, p0, p1)
            count_tree(bounds, above, below, low, high, q0, q1, count)


def count_in_boxes(dimensions: Sequence[Dimension], group_of_point: Codes, group_of_box: Codes, k: int) -> Ints:
    """Number of points of its group inside each box; shape (boxes,).

    There is at least one dimension. `group_of_point` and `group_of_box`: group of each point and box, 0 to k - 1.

    >>> x = np.array([1.0, 2.0, 3.0])
    >>> line = Dimension(x, x, x, np.array([1.5, 5.0]), np.array([3.0, 6.0]))
    >>> count_in_boxes([line], np.zeros(3, np.int32), np.zeros(2, np.int32), 1).tolist()
    [2, 0]
    """
    q_order, q_edges = order_by_group(group_of_box, k)
    few = _are_few(group_of_point, np.diff(q_edges), len(dimensions))
    sort = len(dimensions) < TREE and not few
    p_order, p_edges = _sorted_by_group(dimensions[0].key, group_of_point, k, sort=sort)
    key = _rows([dimension.key for dimension in dimensions], p_order)
    upper, lower = (
        key
        if all(getattr(dimension, side) is dimension.key for dimension in dimensions)
        else _rows([getattr(dimension, side) for dimension in dimensions], p_order)
        for side in ("upper", "lower")
    )
    low, high = (_rows([getattr(dimension, side) for dimension in dimensions], q_order) for side in ("low", "high"))
    rows = Dimension(key, upper, lower, low, high)
    sorted_count = np.zeros(len(q_order), np.int64)
    if few and (np.count_nonzero(np.diff(q_edges)) <= BUCKETS or is_few(_count_all, len(q_order))):
        _compare_all(rows, p_edges, q_edges, sorted_count)
    elif few:
        run(lambda part: _count_all(*part, p_edges, q_edges, rows, sorted_count), _slices(p_edges + q_edges))
    else:
        _count_many(rows, _second_order(dimensions, group_of_point, k, p_order), p_edges, q_edges, sorted_count)
    return in_place(sorted_count, q_order)


def _are_few(group_of_point: Codes, n_boxes: Ints, n_dimensions: int) -> bool:
    """Whether comparing all pairs of points and boxes of a group is little work, so that no search is compiled."""
    n_points = np.bincount(group_of_point, minlength=len(n_boxes))
    return bool(np.sum(n_points * n_boxes.astype(np.float64)) * n_dimensions <= PAIRS)


def _compare_all(rows: Dimension, p_edges: Ints, q_edges: Ints, count: Ints) -> None:
    """Do as `_count_all` with NumPy, without compiling."""
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
            count[boxes] = np.count_nonzero(inside, axis=1)


def _count_many(rows: Dimension, other: Ints, p_edges: Ints, q_edges: Ints, count: Ints) -> None:
    """Count by the search for the number of dimensions, large groups one by one."""
    kernel = (_count_lines, _count_planes, _count_trees)[min(len(rows.key), TREE) - 1]
    run(lambda part: kernel(*part, p_edges, q_edges, rows, other, LARGE, count), _slices(p_edges + q_edges))
    for g in np.flatnonzero((np.diff(p_edges) >= LARGE) & (np.diff(q_edges) > 0)).tolist():
        _count_large(rows, other, p_edges[g : g + 2], q_edges[g : g + 2], count)


def _sorted_by_group(values: Floats, group: AnyInts, k: int, *, sort: bool) -> tuple[Ints, Ints]:
    """Row indices sorted by group, within it by value if `sort`, and where each group begins in them."""
    if not sort:
        return order_by_group(group, k)
    by_value = np.argsort(values)
    order, edges = order_by_group(group[by_value], k)
    return by_value[order], edges


def _second_order(dimensions: Sequence[Dimension], group: AnyInts, k: int, p_order: Ints) -> Ints:
    """In two dimensions: positions of the points sorted by the second number, within each group, from 0; else empty."""
    if len(dimensions) != PLANE:
        return np.empty(0, np.int64)
    order, edges = _sorted_by_group(dimensions[1].key, group, k, sort=True)
    return places_among(p_order, len(p_order))[order] - np.repeat(edges[:-1], np.diff(edges))


def _rows(columns: Sequence[Floats], order: Ints) -> Floats:
    """Columns reordered and stacked as rows of a matrix."""
    out = np.empty((len(columns), len(order)))
    for row, values in zip(out, columns, strict=True):
        np.take(values, order, out=row, mode="clip")
    return out


def _slices(work: Ints) -> list[tuple[int, int]]:
    """Slices of groups with about equal numbers of points and boxes; a single one if there are few."""
    parts = n_threads() * PARTS if work[-1] >= LARGE * PARTS else 1
    cuts = np.searchsorted(work, work[-1] * np.arange(1, parts) / parts)
    edges = np.unique(np.concatenate([[0], cuts, [len(work) - 1]])).tolist()
    return list(itertools.pairwise(edges))


def _count_large(rows: Dimension, other: Ints, p_edges: Ints, q_edges: Ints, count: Ints) -> None:
    """Count for one group of many points, with its boxes distributed to threads."""
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
        tree_count = np.empty(q1 - q0, np.int64)
        parts = [(a - q0, b - q0) for a, b in parts]
        run(lambda part: count_tree(bounds, above, below, low, high, *part, tree_count), parts)
        count[order] = tree_count
