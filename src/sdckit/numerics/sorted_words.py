"""Words of 64 bits in ascending order: distinct ones with their numbers of records, groups of several lists of them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Ints
from sdckit.numerics.compiling import is_few, njit

Words = NDArray[np.uint64]
NONE = np.uint64(2**64 - 1)  # no word is as large


def distinct_words(words: Words, times: Ints | None = None) -> tuple[Words, Ints]:
    """Words in ascending order and the records of each; `times`: those of every row, one each unless given.

    Rows that are nearly in order are put in order in little more than one pass.

    >>> words, times = distinct_words(np.array([7, 2, 7], np.uint64))
    >>> words.tolist(), times.tolist()
    ([2, 7], [1, 2])
    """
    if times is None:
        words = np.sort(words)
    elif not (words[1:] >= words[:-1]).all():
        order = np.argsort(words, kind="stable")
        words, times = words[order], times[order]
    if len(words) == 0:
        return words, np.empty(0, np.int64)
    starts = np.append(0, np.flatnonzero(words[1:] != words[:-1]) + 1)
    if times is None:
        return words[starts], np.diff(np.append(starts, len(words)))
    return words[starts], np.add.reduceat(times, starts)


def merged_groups(
    words: Sequence[Words], times: Sequence[Ints], shift: int
) -> tuple[tuple[NDArray[np.int32], ...], tuple[Ints, ...]]:
    """Group the rows of several files, each in ascending order, by their words without the last `shift` bits.

    Of each file the group of every row, and its records in every group; groups are numbered in ascending order.

    >>> files = [np.array([2, 5], np.uint64), np.array([3], np.uint64)]
    >>> of_row, size = merged_groups(files, [np.ones(2), np.ones(1)], 1)
    >>> [rows.tolist() for rows in of_row], [records.tolist() for records in size]
    ([[0, 1], [0]], [[1, 1], [1, 0]])
    """
    together, records = np.concatenate(words), np.concatenate(times).astype(np.int64, copy=False)
    ends = np.cumsum([0, *map(len, words)])
    if is_few(_merge, len(together)):
        _, inverse = np.unique(together >> np.uint64(shift), return_inverse=True)
        of_row = inverse.reshape(-1).astype(np.int32)
        k = int(of_row.max(initial=-1)) + 1
        parts = list(itertools.pairwise(ends))
        size = np.array([np.bincount(of_row[a:b], records[a:b], k) for a, b in parts]).astype(np.int64)
    else:
        of_row, size = np.empty(len(together), np.int32), np.zeros((len(words), len(together)), np.int64)
        size = size[:, : _merge(together, records, ends, np.uint64(shift), of_row, size)]
    return tuple(np.split(of_row, ends[1:-1])), tuple(size)


@njit(cache=True, nogil=True)
def _merge(words, times, ends, shift, of_row, size):  # type: ignore[no-untyped-def]
    """Number the groups of rows from `ends[f]` to `ends[f + 1]` of each file f; fill `of_row` and `size`."""
    n_files, at, k = len(ends) - 1, ends[:-1].copy(), 0
    while True:
        least, done = NONE, True
        for f in range(n_files):
            if at[f] < ends[f + 1]:
                least, done = min(least, words[at[f]] >> shift), False
        if done:
            return k
        for f in range(n_files):
            i = at[f]
            while i < ends[f + 1] and words[i] >> shift == least:
                of_row[i] = k
                size[f, k] += times[i]
                i += 1
            at[f] = i
        k += 1
