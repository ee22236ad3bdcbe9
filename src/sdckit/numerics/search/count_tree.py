"""Points in three or more dimensions, counted inside boxes with a k-d tree (Bentley 1975).

The points are halved at the median of one dimension after the other. A node whose points all lie inside a
box is counted at once, one whose points all lie outside is left; only those that a side of the box passes
through are opened.
"""

from __future__ import annotations

import numpy as np

from sdckit.numerics.compiling import njit

__all__ = ["build_tree", "count_tree", "halve"]

LEAF = 16  # points that are compared one by one
DEEPEST = 64  # nodes waiting to be opened: one per level, and 2**60 points fit nowhere


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
    bounds = np.empty(((1 << (depth + 1)) - 1, dims, 4))
    bounds[:, :, 0], bounds[:, :, 1] = np.inf, -np.inf
    bounds[:, :, 2], bounds[:, :, 3] = np.inf, -np.inf
    edges, node = np.array([0, n]), 0
    for level in range(depth + 1):
        halves = np.empty(2 * len(edges) - 1, np.int64)
        for part in range(len(edges) - 1):
            start, stop = edges[part], edges[part + 1]
            for d in range(dims):
                extremes = bounds[node, d]
                for i in range(start, stop):
                    a, b = upper[d, order[i]], lower[d, order[i]]
                    extremes[0], extremes[1] = min(extremes[0], a), max(extremes[1], a)
                    extremes[2], extremes[3] = min(extremes[2], b), max(extremes[3], b)
            middle = (start + stop) >> 1
            if level < depth:
                halve(key[level % dims], order, start, stop, middle)
            halves[2 * part], halves[2 * part + 1] = start, middle
            node += 1
        halves[-1] = n
        edges = halves
    above, below = np.empty((dims, n)), np.empty((dims, n))
    for d in range(dims):
        for i in range(n):
            above[d, i], below[d, i] = upper[d, order[i]], lower[d, order[i]]
    return above, below, order, bounds


@njit(cache=True, nogil=True)
def count_tree(bounds, upper, lower, low, high, q0, q1, count):  # type: ignore[no-untyped-def]
    """For boxes q0 to q1 the points inside; the points stand in the order of the tree."""
    dims, n = upper.shape
    stack = np.empty((DEEPEST, 3), np.int64)
    for q in range(q0, q1):
        found, top = 0, 1
        stack[0, 0], stack[0, 1], stack[0, 2] = 0, 0, n
        while top > 0:
            top -= 1
            node, start, stop = stack[top]
            outside, within = False, True
            for d in range(dims):
                s, t = low[d, q], high[d, q]
                outside |= bounds[node, d, 1] < s or bounds[node, d, 2] > t
                within &= bounds[node, d, 0] >= s and bounds[node, d, 3] <= t
            if outside:
                continue
            if within:
                found += stop - start
            elif 2 * node + 2 < len(bounds):
                middle = (start + stop) >> 1
                stack[top, 0], stack[top, 1], stack[top, 2] = 2 * node + 1, start, middle
                stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2] = 2 * node + 2, middle, stop
                top += 2
            else:
                for p in range(start, stop):
                    inside = True
                    for d in range(dims):
                        inside &= upper[d, p] >= low[d, q] and lower[d, p] <= high[d, q]
                    found += inside
        count[q] = found
