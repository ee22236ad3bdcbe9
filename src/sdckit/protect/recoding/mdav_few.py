"""MDAV of few records by comparing all with all, with NumPy: nothing has to be compiled."""

from __future__ import annotations

import numpy as np

from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.compiling import njit


@njit(cache=True, nogil=True)
def add(total, rest, z, p, sign):  # type: ignore[no-untyped-def]
    """Add a record to the sums, which are kept to twice the digits: in any order the same centre."""
    for j in range(len(total)):
        value = sign * z[p, j]
        s = total[j] + value
        back = s - total[j]
        rest[j] += (total[j] - (s - back)) + (value - back)
        total[j] = s


def _measured(columns: Floats, here: Floats) -> Floats:
    """Squared distances of records, column by column, from a point."""
    far = np.zeros(columns.shape[1])
    for column, centre in zip(columns, here, strict=True):
        away = column - centre
        away *= away
        far += away
    return far


def _nearest(far: Floats, k: int) -> Ints:
    """The k smallest in ascending order; of equals the first."""
    near = np.flatnonzero(far <= np.partition(far, k - 1)[k - 1])
    return near[np.argsort(far[near], kind="stable")[:k]]


def _sums(columns: Floats) -> tuple[Floats, Floats]:
    """The sums of all records, and what rounding took from them: as `add` makes them, one after the other."""
    total = np.cumsum(columns, axis=1)
    before = np.concatenate([np.zeros((len(columns), 1)), total[:, :-1]], axis=1)
    back = total - before
    lost = (before - (total - back)) + (columns - back)
    return total[:, -1].copy(), np.cumsum(lost, axis=1)[:, -1].copy()


def _groups(columns: Floats, k: int, ranked: Ints, of_row: Ints) -> int:
    """Groups of k until fewer than 2k records are left, written into `of_row`; how many groups."""
    total, rest = _sums(columns)
    row, far = np.arange(columns.shape[1]), np.empty(0)
    group, at, again, less = 0, 0, False, add.py_func
    while len(row) >= 2 * k:
        if len(ranked) > 0:
            while of_row[ranked[at]] >= 0:
                at += 1
            extreme = int(np.searchsorted(row, ranked[at]))
        else:
            if not again:
                far = _measured(columns, (total + rest) / len(row))
            extreme = int(far.argmax())
            again = not again and len(row) >= 3 * k
        far = _measured(columns, columns[:, extreme])
        far[extreme] = -1.0
        who = _nearest(far, k)
        of_row[row[who]] = group
        for p in who.tolist():
            less(total, rest, columns.T, p, -1.0)
        left = np.ones(len(row), np.bool_)
        left[who] = False
        columns, row, far = columns[:, left], row[left], far[left]
        group += 1
    return group


def group_few(z: Floats, k: int, ranked: Ints) -> Ints:
    """Group records; of those equally far the first is taken.

    `z` (n, d): the records. `ranked` (n,): those around which groups are made in turn; empty for maximum
    distance to average. Returns the group of each, (n,).

    >>> group_few(np.array([[8.0], [2.0], [9.0], [1.0]]), 2, np.empty(0, np.int64)).tolist()
    [0, 1, 0, 1]
    """
    of_row = np.full(len(z), -1)
    with np.errstate(over="ignore", invalid="ignore"):  # numbers too large to square
        n_groups = _groups(np.ascontiguousarray(z.T), k, ranked, of_row)
    of_row[of_row < 0] = n_groups
    return of_row
