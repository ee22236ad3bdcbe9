"""Points in three or more dimensions, counted inside boxes with a k-d tree (Bentley 1975).

The points are halved at the median of one dimension after the other. A node whose points all lie inside a
box is counted at once, one whose points all lie outside is left; only those that a side of the box passes
through are opened.
"""

from __future__ import annotations

import numpy as np

from sdckit.numerics.compiling import njit

LEAF = 64  # points that are compared one by one
DEEPEST = 64  # nodes waiting to be opened: one per level, and 2**60 points fit nowhere
LAST = 62  # the bit of this dimension and of all that follow


@njit(cache=True, nogil=True)
def halve(values, order, start, stop, middle):  # type: ignore[no-untyped-def]
    """Put the smaller values of order[start:stop] before `middle`, the others from it on."""
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
    """The first dimension from `axis` on, in turn, in which points differ; `axis` where they are all equal."""
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
    """Put points into the order of the tree, halving by one dimension after the other; where its leaves begin."""
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
    """The extremes of both numbers of the points of each node: of the leaves, and from these upwards."""
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
    """Points `first` to `last` in the order of the tree, and what each node holds.

    Returns both numbers of the points in that order, the order, and for each node the extremes of both
    numbers in each dimension. Node i has the children 2 i + 1 and 2 i + 2, which halve its points.
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
    """The points of a leaf in a box, a dimension at a time, so that the processor compares several at once."""
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
    found = 0
    for i in range(m):
        found += inside[i]
    return found


@njit(cache=True, nogil=True)
def count_tree(bounds, upper, lower, low, high, q0, q1, count):  # type: ignore[no-untyped-def]
    """For boxes q0 to q1 the points inside; the points stand in the order of the tree.

    A dimension in which all points of a node are inside is not looked at again below it.
    """
    dims, n = upper.shape
    stack, inside = np.empty((DEEPEST, 4), np.int64), np.empty(LEAF, np.int64)
    for q in range(q0, q1):
        found, top = 0, 1
        stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, 0, n, -1
        while top > 0:
            top -= 1
            node, start, stop, left = stack[top]
            outside, open_dims = False, np.int64(0)  # a bare 0 has a type of its own, and is compiled apart
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
                found += stop - start
            elif 2 * node + 2 < len(bounds):
                middle = (start + stop) >> 1
                for side in range(2):
                    stack[top, 0], stack[top, 3] = 2 * node + 1 + side, open_dims
                    stack[top, 1], stack[top, 2] = (middle, stop) if side else (start, middle)
                    top += 1
            else:
                found += _count_leaf(upper, lower, low, high, q, start, stop, open_dims, inside)
        count[q] = found
