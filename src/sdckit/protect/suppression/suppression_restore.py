"""Give back values that, once all suppressions stand, nobody needs any more."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sdckit.protect.suppression.suppression_file import TINY, Situation

__all__ = ["restore"]

COMPARISONS = 1 << 28  # of records with records; a search of moments
WORD = 64


@njit(cache=True, nogil=True)
def _restore(words, there, kept, size, fields, frequency, sequence, keys, k):  # type: ignore[no-untyped-def]
    """`there` holds the fields of the values a record once had, `kept` those it still has.

    Records match when their words agree on the fields that both kept. The first `len(frequency)` are the
    records that were at risk; the others reach k whatever happens.
    """
    n_risky = len(frequency)
    hit = np.empty(n_risky, np.int64)
    for r in sequence:
        for key in keys:
            field = fields[key] & there[r] & ~kept[r]
            if field == 0:
                continue
            left, n, needed = frequency[r], 0, False
            for x in range(len(words)):
                apart = (words[r] ^ words[x]) & kept[x]
                if apart & field and apart & kept[r] == 0:
                    left -= size[x]
                    if x < n_risky:
                        hit[n] = x
                        n += 1
                        needed = frequency[x] - 1 < k
                    if needed or left < k:
                        needed = True
                        break
            if not needed:
                kept[r] |= field
                frequency[r] = left
                for i in range(n):
                    frequency[hit[i]] -= 1


def _bits(columns: Sequence[NDArray[np.int64]]) -> list[int]:
    return [int(column.max(initial=0)).bit_length() for column in columns]


def restore(
    at: Situation, k: int, cell: NDArray[np.int64], masks: NDArray[np.uint64], frequency: NDArray[np.float64],
    rank: tuple[float, ...],
) -> NDArray[np.uint64]:  # fmt: skip
    """Keys that still have to go from each record at risk, when a match counts in full (alpha = 1).

    Nothing is given back where the search would be long or the keys do not fit into a word.

    `at`: the file before anything was taken out. `cell` (shape (R,)): cell of each record that was at risk.
    `masks` (shape (R,)): keys it has lost, as bits. `frequency` (shape (R,)): records that match it now.
    `rank`: by key; values of the smaller numbers are given back first.
    """
    safe = np.ones(len(at.size), bool)
    safe[cell] = False
    records = np.concatenate([cell, np.flatnonzero(safe)])
    columns = [*at.codes.T, at.stratum]
    bits = _bits(columns)
    if sum(bits) > WORD:
        columns = [np.unique(column, return_inverse=True)[1] - (column.min() < 0) for column in columns]
        bits = _bits(columns)
    if sum(bits) > WORD or int(np.count_nonzero(masks)) * len(records) > COMPARISONS:
        return masks
    shifts = [sum(bits[:j]) for j in range(len(bits))]
    words, there = np.zeros(len(records), np.uint64), np.zeros(len(records), np.uint64)
    fields = np.array([((1 << b) - 1) << s for b, s in zip(bits, shifts, strict=True)], np.uint64)
    for column, shift, field in zip(columns, shifts, fields, strict=True):
        codes = column[records]
        words |= np.maximum(codes, 0).astype(np.uint64) << np.uint64(shift)
        there |= np.where(codes >= 0, field, np.uint64(0))
    kept = there.copy()
    for j, field in enumerate(fields[:-1]):
        kept[: len(cell)] &= ~np.where((masks >> np.uint64(j)) & np.uint64(1) == 1, field, np.uint64(0))
    n_gone = np.array([int(mask).bit_count() for mask in masks.tolist()])
    sequence = np.lexsort((-frequency, -n_gone))
    size = np.concatenate([np.ones(len(cell)), at.size[safe]])
    _restore(
        words, there, kept, size, fields, frequency.astype(np.float64), sequence[masks[sequence] > 0],
        np.argsort(rank, kind="stable"), k - TINY,
    )  # fmt: skip
    left = np.zeros(len(cell), np.uint64)
    for j, field in enumerate(fields[:-1]):
        gone = (there & ~kept & field)[: len(cell)] != 0
        left |= gone.astype(np.uint64) << np.uint64(j)
    return left
