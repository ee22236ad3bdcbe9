"""MDAV of few records by comparing all with all: one short kernel, which compiles in a second."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.compiling import njit

__all__ = ["add", "group_few"]


@njit(cache=True, nogil=True)
def add(total, rest, z, p, sign):  # type: ignore[no-untyped-def]
    """Add a record to the sums, which are kept to twice the digits: in any order the same centre."""
    for j in range(len(total)):
        value = sign * z[p, j]
        s = total[j] + value
        back = s - total[j]
        rest[j] += (total[j] - (s - back)) + (value - back)
        total[j] = s


@njit(cache=True, nogil=True)
def _measure(z, left, here, far):  # type: ignore[no-untyped-def]
    """Squared distances of the records left to a point."""
    for p in range(left):
        far[p] = 0.0
        for j in range(len(here)):
            far[p] += (z[p, j] - here[j]) * (z[p, j] - here[j])


@njit(cache=True, nogil=True)
def _group(z, k, ranked, row, sums, places, of_row):  # type: ignore[no-untyped-def]  # noqa: PLR0912
    """Groups of k until fewer than 2k records are left; how many groups.

    `z` and `row` are moved up as records leave. `sums`: two rows of zeros, and a point.
    """
    (total, rest, here), (far, near, who) = sums, places
    for p in range(len(z)):
        add(total, rest, z, p, 1.0)
    left, group, at, again = len(z), 0, 0, False
    while left >= 2 * k:
        extreme = 0
        if len(ranked) > 0:
            while of_row[ranked[at]] >= 0:
                at += 1
            while row[extreme] != ranked[at]:
                extreme += 1
        else:
            if not again:
                for j in range(len(here)):
                    here[j] = (total[j] + rest[j]) / left
                _measure(z, left, here, far)
            for p in range(1, left):
                if far[p] > far[extreme]:
                    extreme = p
            again = not again and left >= 3 * k
        for j in range(len(here)):
            here[j] = z[extreme, j]
        _measure(z, left, here, far)
        far[extreme] = -1.0
        for p in range(left):
            t, away = min(p, k - 1), far[p]
            if p >= k and away >= near[t]:
                continue
            while t > 0 and near[t - 1] > away:
                near[t], who[t] = near[t - 1], who[t - 1]
                t -= 1
            near[t], who[t] = away, p
        for t in range(k):
            of_row[row[who[t]]] = group
            add(total, rest, z, who[t], -1.0)
        kept = 0
        for p in range(left):
            if of_row[row[p]] < 0:
                row[kept], far[kept] = row[p], far[p]
                for j in range(len(here)):
                    z[kept, j] = z[p, j]
                kept += 1
        left, group = kept, group + 1
    return group


def group_few(z: NDArray[np.float64], k: int, ranked: NDArray[np.int64]) -> NDArray[np.int64]:
    """Group records; of those equally far the first is taken.

    `z` (n, d): the records, not kept. `ranked` (n,): those around which groups are made in turn; empty for maximum
    distance to average. Returns the group of each, (n,).

    >>> group_few(np.array([[8.0], [2.0], [9.0], [1.0]]), 2, np.empty(0, np.int64)).tolist()
    [0, 1, 0, 1]
    """
    n, d = z.shape
    of_row = np.full(n, -1)
    sums, places = (np.zeros(d), np.zeros(d), np.empty(d)), (np.empty(n), np.empty(k), np.empty(k, np.int64))
    n_groups = _group(z, k, ranked, np.arange(n), sums, places, of_row)
    of_row[of_row < 0] = n_groups
    return of_row
