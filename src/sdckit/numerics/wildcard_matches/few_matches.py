"""Wildcard matches of few cells by NumPy, which is done before kernels are compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

PAIRS = 1 << 19  # of incomplete cells: all are compared
LOOKED_UP = 1 << 16  # complete cells, once for each pattern


def are_few(edges: NDArray[np.int64]) -> bool:
    """Whether cells are few, given where each of their patterns begins, complete cells first.

    >>> are_few(np.array([0, 9000, 9100])), are_few(np.array([0, 100, 9100]))
    (True, False)
    """
    n, incomplete = int(edges[-1]), int(edges[-1] - edges[1])
    return incomplete**2 <= PAIRS and n * len(edges) <= LOOKED_UP


def credit_few(
    words: NDArray[np.uint64],
    sums: NDArray[np.float64],
    add: NDArray[np.float64],
    clears: NDArray[np.uint64],
    edges: NDArray[np.int64],
    alpha: float,
) -> NDArray[np.float64]:
    """Add to each cell the sums of the cells of other patterns that match it, times alpha where these lack a key.

    `words` (K,), distinct, by pattern, complete ones first; `sums` and `add` (K, L). `clears` and `edges`: the word
    that keeps the fields that each pattern has, and where each begins. Also returns (K,) what complete cells add to
    the first sum.

    >>> words, sums, add = np.array([0b01, 0b10, 0b11], np.uint64), np.array([[1.0], [2.0], [4.0]]), np.zeros((3, 1))
    >>> complete = credit_few(words, sums, add, np.array([0b11, 0b10], np.uint64), np.array([0, 2, 3]), 0.5)
    >>> add[:, 0].tolist(), complete.tolist()
    ([0.0, 2.0, 2.0], [0.0, 0.0, 2.0])
    """
    first, by_complete = int(edges[1]), np.zeros(sums.shape)
    for p in range(1, len(clears)):
        keep, rows = clears[p], np.arange(edges[p], edges[p + 1])
        rows = rows[np.argsort(words[rows] & keep)]
        complete, theirs = words[:first] & keep, words[rows] & keep
        at = np.minimum(np.searchsorted(theirs, complete), len(rows) - 1)
        cells = np.flatnonzero(theirs[at] == complete)
        partners = rows[at[cells]]
        add[cells] += alpha * sums[partners]
        for column in range(sums.shape[1]):
            by_complete[:, column] += np.bincount(partners, sums[cells, column], len(words))
    add += by_complete
    number = np.repeat(np.arange(1, len(clears)), np.diff(edges[1:]))
    mine, clear = words[first:], clears[number]
    match = (mine[:, None] ^ mine) & clear[:, None] & clear == 0
    match &= number[:, None] != number
    add[first:] += alpha * (match @ sums[first:])
    return by_complete[:, 0]
