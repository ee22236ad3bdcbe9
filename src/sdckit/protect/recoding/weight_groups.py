"""Groups of neighbouring weights in which no value of a hidden column prevails."""

from __future__ import annotations

import numpy as np

from sdckit.numerics.array_types import Ints
from sdckit.numerics.compiling import njit


@njit(cache=True, nogil=True)
def _hides(top, known, most):  # type: ignore[no-untyped-def]
    return not (top > most * known + 1e-9).any()


@njit(cache=True, nogil=True)
def _add(rows, codes, count, top, known):  # type: ignore[no-untyped-def]
    for r in rows:
        for d in range(len(codes)):
            level = codes[d, r]
            if level >= 0:
                known[d] += 1
                count[d, level] += 1
                top[d] = max(top[d], count[d, level])


@njit(cache=True, nogil=True)
def _groups(order, last, codes, count, k, most, group, starts):  # type: ignore[no-untyped-def]
    """Close a group as soon as it may be, join what is left over to those before it; how many there are."""
    top, known = np.zeros(len(codes), np.int64), np.zeros(len(codes), np.int64)
    n, begin, units = 0, 0, 0
    for t in range(len(order)):
        _add(order[t : t + 1], codes, count, top, known)
        units += last[t]
        if last[t] and units >= k and _hides(top, known, most):
            starts[n], begin, units = begin, t + 1, 0
            n += 1
            count[:] = 0
            top[:] = 0
            known[:] = 0
    end = len(order)
    if begin < end:
        while n > 0 and (units < k or not _hides(top, known, most) or begin == end):
            n -= 1
            _add(order[starts[n] : begin], codes, count, top, known)
            begin, units = starts[n], k
        starts[n] = begin
        n += 1
        if units < k or not _hides(top, known, most):
            return 0
    for g in range(n):
        stop = starts[g + 1] if g + 1 < n else end
        for t in range(starts[g], stop):
            group[order[t]] = g
    return n


def weight_groups(order: Ints, unit: Ints, codes: Ints, k: int, most: float) -> tuple[Ints, int]:
    """The group of each record and how many there are; 0 where not even all of them together hide what they shall.

    `order`: records by their weights, those of a unit together. `unit` (shape (n,)): unit of each record. `codes`
    (shape (columns, n)): level of each record in the columns to hide, -1 where missing.

    >>> order, region = np.arange(6), np.array([[0, 0, 0, 1, 1, 1]])
    >>> weight_groups(order, order, region, 2, 0.75)[0].tolist()
    [0, 0, 0, 0, 0, 0]
    >>> weight_groups(order, order, region, 2, 1.0)[0].tolist()
    [0, 0, 1, 1, 2, 2]
    """
    last = np.ones(len(order), np.bool_)
    last[:-1] = unit[order][1:] != unit[order][:-1]
    group, starts = np.full(int(order.max()) + 1, -1, np.int64), np.zeros(len(order) + 1, np.int64)
    count = np.zeros((len(codes), int(codes.max(initial=0)) + 1), np.int64)
    n = int(_groups(order, last, codes, count, k, most, group, starts))
    return group, n
