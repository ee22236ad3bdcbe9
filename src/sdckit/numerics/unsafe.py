"""Count the cells of small tables and mark the large table's cells that fall into their rare ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.coding import find_number, hash_word
from sdckit.numerics.compiling import njit
from sdckit.numerics.wildcard_matches.matched_margins import merge

DIRECT = 1 << 20  # possible cells of a table that is counted in place
MOST = 1 << 62  # possible cells that a number still tells apart

SmallTable = tuple[int, int, int]


@njit(cache=True, nogil=True)
def _append(codes, levels, words):  # type: ignore[no-untyped-def]
    """One digit more, in base `levels`."""
    for i in range(len(words)):
        words[i] = words[i] * levels + np.uint64(codes[i])


@njit(cache=True, nogil=True)
def _direct(words, size, counts):  # type: ignore[no-untyped-def]
    for i in range(len(words)):
        counts[words[i]] += size[i]


@njit(cache=True, nogil=True)
def _mark(words, rare, variables, marks):  # type: ignore[no-untyped-def]
    """One more unsafe combination for each cell in a rare one: in all (last column) and per variable."""
    last = marks.shape[1] - 1
    for i in range(len(words)):
        if rare[words[i]]:
            marks[i, last] += 1
            for j in variables:
                marks[i, j] += 1


@njit(cache=True, nogil=True)
def _numbered(words, distinct, slots, out):  # type: ignore[no-untyped-def]
    for i in range(len(words)):
        out[i] = slots[find_number(slots, distinct, words[i], hash_word(words[i]))]


def count_unsafe(
    codes: NDArray[np.int32],
    levels: NDArray[np.int64],
    size: NDArray[np.int64],
    variables: Sequence[int],
    threshold: int,
    marks: NDArray[np.int32],
) -> SmallTable:
    """Count one table of some variables, and mark the cells in its rare cells.

    `codes` (p, K): of the cells, 0 to ``levels[j] - 1`` for variable j. `size` (K,): records of the cells.
    `threshold`: records up to which a cell of the table is rare. `marks` (K, p + 1): gains one in the columns of
    the variables, and in the last, where a cell is in a rare one. Returns how many cells of the table are not
    empty, how many of them are rare, and the records in those.

    >>> codes, marks = np.array([[0, 0, 1], [0, 1, 0]], np.int32), np.zeros((3, 3), np.int32)
    >>> count_unsafe(codes, np.array([2, 2]), np.array([1, 2, 3]), [0, 1], 2, marks)
    (3, 2, 3)
    >>> marks[:, 2].tolist()
    [1, 1, 0]
    """
    chosen = np.array(variables, np.int64)
    words, possible = np.zeros(len(size), np.uint64), 1
    for j in variables:
        if possible * int(levels[j]) > MOST:
            words, distinct = _renumber(words, size)
            possible = len(distinct)
        _append(codes[j], np.uint64(levels[j]), words)
        possible *= int(levels[j])
    if possible <= DIRECT:
        counts = np.zeros(possible, np.int64)
        _direct(words, size, counts)
    else:
        words, counts = _renumber(words, size)
    rare = (counts > 0) & (counts <= threshold)
    n_rare = int(np.count_nonzero(rare))
    if n_rare:
        _mark(words, rare, chosen, marks)
    return int(np.count_nonzero(counts)), n_rare, int(counts[rare].sum())


def _renumber(
    words: NDArray[np.uint64], size: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Number the words that occur; and the records of each."""
    merged = merge(words, size)
    number = np.empty(len(words), np.uint64)
    _numbered(words, merged.words, merged.slots, number)
    return number, merged.size
