"""MDAV as its definition reads, comparing all with all: the oracle of the kernel."""

from __future__ import annotations

import math

import numpy as np


def _away(z, point):
    total = np.zeros(len(z))
    for j in range(z.shape[1]):
        total += (z[:, j] - point[j]) ** 2
    return total


def plain_mdav(z, k, ranking=None):
    """The group of each record; of records equally far the last is taken."""
    group, left, made = np.full(len(z), -1), list(range(len(z)))[::-1], 0

    def cut(extreme):
        nonlocal left, made
        others = [row for row in left if row != extreme]
        near = np.argsort(_away(z[others], z[extreme]), kind="stable")[: k - 1]
        rows = [extreme, *(others[t] for t in near)]
        group[rows] = made
        made += 1
        left = [row for row in left if row not in set(rows)]

    while len(left) >= 2 * k:
        both = ranking is None and len(left) >= 3 * k
        if ranking is None:
            centre = [math.fsum(z[left, j]) / len(left) for j in range(z.shape[1])]
            extreme = left[int(np.argmax(_away(z[left], centre)))]
        else:
            extreme = next(row for row in ranking if group[row] < 0)
        cut(extreme)
        if both:
            cut(left[int(np.argmax(_away(z[left], z[extreme])))])
    group[left] = made
    return group


def same_partition(a, b):
    """Whether two groupings put the same records together."""
    pairs = set(zip(a.tolist(), b.tolist(), strict=True))
    return len(pairs) == len(set(a.tolist())) == len(set(b.tolist()))
