"""Records in a tree of boxes that shrink as records leave; a leaf is a block whose columns stand in lines."""

from __future__ import annotations

import numpy as np

from sdckit.numerics.compiling import njit

LEAF = 32  # records in a leaf at most
FREE = {"nnan", "nsz"}  # there is no NaN, so that smallest and largest of a line are found in any order


@njit(cache=True, nogil=True)
def _spread(y, low, high, node, first, last):  # type: ignore[no-untyped-def]
    """Fit the box of a node to records; its longest side."""
    widest = 0
    for j in range(y.shape[1]):
        low[node, j], high[node, j] = np.inf, -np.inf
    for p in range(first, last):
        for j in range(y.shape[1]):
            value = y[p, j]
            low[node, j], high[node, j] = min(low[node, j], value), max(high[node, j], value)
    for j in range(y.shape[1] - 1):
        if high[node, j] - low[node, j] > high[node, widest] - low[node, widest]:
            widest = j
    return widest


@njit(cache=True, nogil=True)
def _halve(y, row, j, start, stop, middle):  # type: ignore[no-untyped-def]
    """Put the records smaller in a column before `middle`; they are moved themselves: memory is read in one line."""
    low, high = start, stop - 1
    while low < high:
        a, b, c = y[low, j], y[(low + high) >> 1, j], y[high, j]
        pivot = max(min(a, b), min(max(a, b), c))
        p, q = low, high
        while p <= q:
            while y[p, j] < pivot:
                p += 1
            while y[q, j] > pivot:
                q -= 1
            if p <= q:
                row[p], row[q] = row[q], row[p]
                for i in range(y.shape[1]):
                    y[p, i], y[q, i] = y[q, i], y[p, i]
                p, q = p + 1, q - 1
        if middle <= q:
            high = q
        elif middle >= p:
            low = p
        else:
            return


@njit(cache=True, nogil=True)
def build(y, row):  # type: ignore[no-untyped-def]
    """Arrange records as a tree, in whose order `y` and `row` are put.

    Returns of each node its first record, records left, left child or -1, parent; further the boxes, the leaf of each
    block of records, and the blocks, columns of them in a line.
    """
    n, width = y.shape
    n_blocks = (n + LEAF - 1) // LEAF
    node = np.empty((2 * n_blocks, 4), np.int64)
    low, high = np.empty((2 * n_blocks, width)), np.empty((2 * n_blocks, width))
    leaf, block = np.empty(n_blocks, np.int64), np.zeros((n_blocks, width, LEAF))
    node[0, 0], node[0, 1], node[0, 3] = 0, n, -1
    used, i = 1, np.int64(0)  # a bare 0 has a type of its own, and `_spread` would be compiled twice
    while i < used:
        first, n_here = node[i, 0], node[i, 1]
        widest = _spread(y, low, high, i, first, first + n_here)
        node[i, 2] = -1
        if n_here <= LEAF:
            leaf[first // LEAF] = i
        else:
            half = ((n_here + LEAF - 1) // LEAF + 1) // 2 * LEAF
            _halve(y, row, widest, first, first + n_here, first + half)
            node[i, 2] = used
            node[used, 0], node[used, 1], node[used, 3] = first, half, i
            node[used + 1, 0], node[used + 1, 1], node[used + 1, 3] = first + half, n_here - half, i
            used += 2
        i += 1
    for p in range(n):
        for j in range(width):
            block[p // LEAF, j, p % LEAF] = y[p, j]
    return node, low, high, leaf, block


@njit(cache=True, nogil=True, fastmath=FREE)
def _refit(own, m, low, high, node):  # type: ignore[no-untyped-def]
    """Fit the box of a leaf to the records it has left; whether it changed."""
    changed = False
    for j in range(own.shape[0]):
        line = own[j, :m]
        smallest, largest = np.inf, -np.inf
        for t in range(m):
            smallest, largest = min(smallest, line[t]), max(largest, line[t])
        changed |= smallest != low[node, j] or largest != high[node, j]
        low[node, j], high[node, j] = smallest, largest
    return changed


@njit(cache=True, nogil=True)
def remove(row, at, tree, one):  # type: ignore[no-untyped-def]
    """Take a record out: the last of its leaf gets its place, and the boxes around it shrink."""
    node, low, high, leaf, block = tree
    p = at[one]
    i, own = leaf[p // LEAF], block[p // LEAF]
    last = node[i, 0] + node[i, 1] - 1
    for j in range(own.shape[0]):
        own[j, p % LEAF] = own[j, last % LEAF]
    row[p] = row[last]
    at[row[p]], at[one] = p, -1
    node[i, 1] -= 1
    shrinking = _refit(own, node[i, 1], low, high, i)
    i = node[i, 3]
    while i >= 0:
        node[i, 1] -= 1
        if shrinking:
            left = node[i, 2]
            shrinking = False
            for j in range(low.shape[1]):
                smallest = min(low[left, j], low[left + 1, j])
                largest = max(high[left, j], high[left + 1, j])
                shrinking |= smallest != low[i, j] or largest != high[i, j]
                low[i, j], high[i, j] = smallest, largest
        i = node[i, 3]
