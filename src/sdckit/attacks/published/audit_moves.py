"""Other files that fit, on a walk from one that does: one record after the other is given another completion."""

from __future__ import annotations

import numpy as np

from sdckit.numerics.compiling import njit

SWEEPS = 30
FACTOR, SHIFT, SPAN = (
    1_103_515_245,
    12_345,
    2**31,
)  # a plain generator: what is found is right whatever it draws


@njit(cache=True, nogil=True)
def walk(relations, weight, active, point, pattern, order, begin, wanted):  # type: ignore[no-untyped-def]
    """(X,) which of the `wanted` unknowns are at least one in a file on a walk from `point`, changed in place.

    `weight` (K,): the factors in the order of `relations.at`. `active` (R,): the sums of the relations at `point` (X,).
    `order` (X,): unknowns by `pattern` (X,), of which those of pattern p stand from begin[p] on. Every step keeps all
    relations, so every file on the way fits.
    """
    found = np.zeros(len(wanted), np.bool_)
    drawn = 1
    for _ in range(SWEEPS):
        n_left = 0
        for j in range(len(wanted)):
            if not wanted[j] or found[j]:
                continue
            found[j] = (
                point[j] >= 1 or _donor(relations, weight, active, point, order, begin, pattern[j], j, 0) >= 0
            )
            n_left += not found[j]
        if n_left == 0:
            break
        for j in range(len(wanted)):
            if point[j] < 1:
                drawn = (drawn * FACTOR + SHIFT) % SPAN
                i = _donor(relations, weight, active, point, order, begin, pattern[j], j, drawn)
                if i >= 0:
                    _move(relations, weight, active, point, i, j)
    return found


@njit(cache=True, nogil=True)
def _donor(relations, weight, active, point, order, begin, p, j, start):  # type: ignore[no-untyped-def]
    """A completion of pattern p of which a record may become j; -1 where there is none."""
    size = begin[p + 1] - begin[p]
    for turn in range(size):
        i = order[begin[p] + (start + turn) % size]
        if i != j and point[i] >= 1 and _fits(relations, weight, active, i, j):
            return i
    return -1


@njit(cache=True, nogil=True)
def _move(relations, weight, active, point, i, j):  # type: ignore[no-untyped-def]
    point[i] -= 1
    point[j] += 1
    for a in range(relations.first[i], relations.first[i + 1]):
        active[relations.at[a]] -= weight[a]
    for b in range(relations.first[j], relations.first[j + 1]):
        active[relations.at[b]] += weight[b]


@njit(cache=True, nogil=True)
def _fits(relations, weight, active, i, j):  # type: ignore[no-untyped-def]
    """Whether all relations hold with one record less in i and one more in j; both lists are in ascending order.

    Both are of one pattern, so that in a relation of both they count the same.
    """
    a, b = relations.first[i], relations.first[j]
    end_a, end_b = relations.first[i + 1], relations.first[j + 1]
    while a < end_a or b < end_b:
        left = relations.at[a] if a < end_a else np.iinfo(np.int64).max
        right = relations.at[b] if b < end_b else np.iinfo(np.int64).max
        if left == right:
            a, b = a + 1, b + 1
        elif left < right:
            if not _may_move(relations, active, left, -weight[a]):
                return False
            a += 1
        else:
            if not _may_move(relations, active, right, weight[b]):
                return False
            b += 1
    return True


@njit(cache=True, nogil=True)
def _may_move(relations, active, r, by):  # type: ignore[no-untyped-def]
    after = active[r] + by
    return after >= relations.lower[r] if by < 0 else after <= relations.upper[r]
