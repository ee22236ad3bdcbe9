"""Wildcard frequencies of merged cells: an incomplete cell is filled in and looked up.

`wildcards.match_packed` asks every complete cell whether a pattern of missing keys has a match for it. Where
a key has few levels it is cheaper to go the other way: to fill the missing keys of an incomplete cell with
every combination of levels and look each up among the cells. This chooses per pattern.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sdckit.numerics.merging import Merged
from sdckit.numerics.wildcards import Matched, credit_complete, credit_incomplete, lay_out

__all__ = ["match_merged"]

BITS_PER_CELL = 3  # a bit set of 8 to 16 bits a cell
COST_OF_FILLING = 2.0  # a look-up of a filled cell, in look-ups of a complete cell in a small table


@njit(cache=True, nogil=True, inline="always")
def _hash(x):  # type: ignore[no-untyped-def]
    """The hash of `merging`: compiled kernels do not share code across files."""
    x = x * np.uint64(0xD6E8FEB86659FD93)
    x = (x ^ (x >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    return x ^ (x >> np.uint64(29))


@njit(cache=True, nogil=True)
def _mark(words, bitmap):  # type: ignore[no-untyped-def]
    """A bit for the hash of each word: most look-ups end there, since most filled cells do not exist."""
    mask = np.uint64(64 * len(bitmap) - 1)
    for i in range(len(words)):
        bit = (_hash(words[i]) >> np.uint64(8)) & mask
        bitmap[bit >> np.uint64(6)] |= np.uint64(1) << (bit & np.uint64(63))


@njit(cache=True, nogil=True)
def _fill(  # type: ignore[no-untyped-def]
    words, slots, bitmap, position, incomplete, sums, first, stop, clear, starts, codes, alpha, add
):
    """Credit cells first..stop of one pattern and the complete cells that match them, both ways.

    `codes[starts[k] : starts[k + 1]]` are the levels of the k-th missing key, in its field; the first key
    turns fastest.
    """
    n_keys, mask, bit_mask = len(starts) - 1, np.uint64(len(slots) - 1), np.uint64(64 * len(bitmap) - 1)
    turn = np.zeros(n_keys, np.int64)
    for r in range(first, stop):
        base = incomplete[r] & clear
        turn[:] = 0
        while True:
            partial = base
            for k in range(1, n_keys):
                partial |= codes[starts[k] + turn[k]]
            for c in range(starts[0], starts[1]):
                word = partial | codes[c]
                h = _hash(word)
                bit = (h >> np.uint64(8)) & bit_mask
                if (bitmap[bit >> np.uint64(6)] >> (bit & np.uint64(63))) & np.uint64(1):
                    at = h & mask
                    g = slots[at]
                    while g >= 0 and words[g] != word:
                        at = (at + np.uint64(1)) & mask
                        g = slots[at]
                    if g >= 0:
                        s = position[g]
                        add[s, 0] += alpha * sums[r, 0]
                        add[s, 1] += alpha * sums[r, 1]
                        add[r, 0] += sums[s, 0]
                        add[r, 1] += sums[s, 1]
            k = 1
            while k < n_keys:
                turn[k] += 1
                if turn[k] < starts[k + 1] - starts[k]:
                    break
                turn[k] = 0
                k += 1
            if k >= n_keys:
                break


def match_merged(
    cells: Merged,
    pattern: NDArray[np.uint64],
    *,
    shifts: Sequence[int],
    codes: Sequence[NDArray[np.int64]],
    clear_of: dict[int, int],
    alpha: float,
) -> Matched:
    """Sums over the cells of other patterns that match each cell.

    Parameters
    ----------
    cells : Merged
    pattern : ndarray, uint64, shape (K,)
        Which wildcard keys each cell lacks.
    shifts, codes : sequences
        For each wildcard key, where its field begins and the codes of its levels.
    clear_of : dict
        For each pattern present, the word that keeps the fields it has.
    alpha : float
        Weight of a match through the other cell's missing key, 0 to 1.

    Returns
    -------
    Matched
        As `wildcards.match_packed`.
    """
    weight = cells.weight if len(cells.weight) else np.zeros(len(cells.size))
    laid = lay_out(cells.words, cells.size.astype(np.float64), weight, pattern, clear_of)
    n_complete, probed = int(laid.edges[1]), []
    bitmap = np.zeros(max(1, (1 << n_complete.bit_length() + BITS_PER_CELL) // 64), np.uint64)
    _mark(laid.words[:n_complete], bitmap)
    for p in range(1, len(laid.clears)):
        gone = [k for k in range(len(shifts)) if int(laid.present[p]) >> k & 1]
        fills = float(np.prod([float(len(codes[k])) for k in gone]))
        first, stop = int(laid.edges[p]), int(laid.edges[p + 1])
        if COST_OF_FILLING * fills * (stop - first) > n_complete:
            probed.append(p)
            continue
        gone.sort(key=lambda k: -len(codes[k]))  # the key with most levels turns fastest
        starts = np.cumsum([0] + [len(codes[k]) for k in gone]).astype(np.int64)
        levels = np.concatenate([codes[k].astype(np.uint64) << np.uint64(shifts[k]) for k in gone])
        _fill(
            cells.words, cells.slots, bitmap, laid.position, laid.words, laid.sums, first, stop, laid.clears[p],
            starts, levels, alpha, laid.add,
        )  # fmt: skip
    if probed:
        credit_complete(laid, np.array(probed, np.int64), alpha)
    credit_incomplete(laid, alpha)
    return laid.unsorted()
