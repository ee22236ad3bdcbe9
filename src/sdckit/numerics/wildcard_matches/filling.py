"""Wildcard frequencies of merged cells: an incomplete cell is filled in and looked up.

`wildcards.match_packed` asks every complete cell whether a pattern of missing keys has a match for it. Where
a key has few levels it is cheaper to go the other way: to fill the missing keys of an incomplete cell with
every combination of levels and look each up among the cells. This chooses per pattern.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.compiling import njit
from sdckit.numerics.hashing import find_number, has_bit, hash_word, set_bit
from sdckit.numerics.wildcard_matches.merging import Merged
from sdckit.numerics.wildcard_matches.sections import next_levels
from sdckit.numerics.wildcard_matches.wildcards import Matched, credit_complete, lay_out

BITS_PER_CELL = 3  # a bit set of 8 to 16 bits a cell
COST_OF_FILLING = 2.0  # a look-up of a filled cell, in look-ups of a complete cell in a small table


class _Table(NamedTuple):
    """The hash table of all cells, a bit set of the complete ones, and where each is among the cells by pattern."""

    words: NDArray[np.uint64]
    slots: NDArray[np.int32]
    bitmap: NDArray[np.uint64]
    position: NDArray[np.int32]


@njit(cache=True, nogil=True)
def _mark(words, bitmap):  # type: ignore[no-untyped-def]
    """A bit for the hash of each word: most look-ups end there, since most filled cells do not exist."""
    mask = np.uint64(64 * len(bitmap) - 1)
    for i in range(len(words)):
        set_bit(bitmap, (hash_word(words[i]) >> np.uint64(8)) & mask)


@njit(cache=True, nogil=True)
def _fill(table, cells, first, stop, clear, starts, codes, alpha):  # type: ignore[no-untyped-def]
    """Credit cells first..stop of one pattern and the complete cells that match them, both ways.

    `codes[starts[k] : starts[k + 1]]` are the levels of the k-th missing key, in its field; the first key
    turns fastest.
    """
    words, slots, bitmap, position = table
    incomplete, sums, add = cells
    n_keys, bit_mask = len(starts) - 1, np.uint64(64 * len(bitmap) - 1)
    turn = np.zeros(n_keys, np.int64)
    for r in range(first, stop):
        base = incomplete[r] & clear
        more = True
        while more:
            partial = base
            for k in range(1, n_keys):
                partial |= codes[starts[k] + turn[k]]
            for c in range(starts[0], starts[1]):
                word = partial | codes[c]
                h = hash_word(word)
                if has_bit(bitmap, (h >> np.uint64(8)) & bit_mask):
                    g = slots[find_number(slots, words, word, h)]
                    if g >= 0:
                        s = position[g]
                        add[s, 0] += alpha * sums[r, 0]
                        add[s, 1] += alpha * sums[r, 1]
                        add[r, 0] += sums[s, 0]
                        add[r, 1] += sums[s, 1]
            more = next_levels(turn, starts, 1, n_keys)


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

    `pattern` (K,): which wildcard keys each cell lacks. `shifts` and `codes`: for each wildcard key, where its
    field begins and the codes of its levels. `clear_of`: for each pattern present, the word that keeps the fields
    it has. `alpha`: weight of a match through the other cell's missing key, 0 to 1.
    """
    weight = cells.weight if len(cells.weight) else np.zeros(len(cells.size))
    sums = np.column_stack([cells.size, weight]).astype(np.float64, copy=False)
    laid = lay_out(cells.words, sums, pattern, clear_of)
    n_complete, probed = int(laid.edges[1]), []
    bitmap = np.zeros(max(1, (1 << n_complete.bit_length() + BITS_PER_CELL) // 64), np.uint64)
    _mark(laid.cells.words[:n_complete], bitmap)
    table = _Table(cells.words, cells.slots, bitmap, laid.position)
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
        _fill(table, laid.cells, first, stop, laid.clears[p], starts, levels, alpha)
    if probed:
        credit_complete(laid, np.array(probed, np.int64), alpha)
    return laid.credited(alpha)
