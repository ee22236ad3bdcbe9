"""Points on a line or in a plane, counted inside intervals or boxes.

On the line two binary searches do. In the plane the points are sorted by the first number and the ranks of
the second are held in a wavelet matrix: one bit of the rank per level, from the highest, the points with a
zero before those with a one. How many of a stretch of points have a rank below a bound takes one look per
level (Claude & Navarro 2012). Boxes are taken a block at a time, step by step, so that the processor waits
for the memory of many of them at once instead of one by one.
"""

from __future__ import annotations

import numpy as np

from sdckit.numerics.compiling import njit

BLOCK = 64  # boxes taken together


@njit(cache=True, nogil=True)
def _search(values, bounds, above, at):  # type: ignore[no-untyped-def]
    """For each bound the first of the ascending values that is not below it (`above`: that is above it)."""
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
    """For boxes q0 to q1 the points between their bounds; `above` and `below` are sorted."""
    a, b = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
    for start in range(q0, q1, BLOCK):
        stop = min(start + BLOCK, q1)
        _search(above, low[start:stop], np.bool_(False), a)
        _search(below, high[start:stop], np.bool_(True), b)
        for j in range(stop - start):
            count[start + j] = max(0, b[j] - a[j])


@njit(cache=True, nogil=True)
def build_plane(upper, lower, first, other):  # type: ignore[no-untyped-def]
    """Wavelet matrix of the second numbers' ranks in the order of the first, and both bounds sorted.

    The points from `first` on stand in the order of their first number; `other` sorts them by the second. The matrix
    has, for every 64 points of a level, a word of bits and how many ones come before it.
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
    """Ones among the first i bits of a level."""
    at = i >> 6
    word = words[at, 0] & ((np.uint64(1) << np.uint64(i & 63)) - np.uint64(1))
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64(words[at, 1]) + np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True, nogil=True)
def _add_ranks_below(words, zeros, a, b, bound, sign, m, count):  # type: ignore[no-untyped-def]
    """Add to each count how many of the points a to b have a rank below the bound; a and b are used up."""
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
    """For boxes q0 to q1 the points inside."""
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
