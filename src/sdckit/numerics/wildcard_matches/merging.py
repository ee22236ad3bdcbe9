"""Merge equal words and add up what they hold: cells of many keys to cells of fewer, one table at a time.

Many such tables are wanted at once, one per set of keys, so a merge stays on its thread and the threads
take different sets; `grouping.group` is the opposite, one large table on all threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.compiling import FEW, njit
from sdckit.numerics.hashing import find_number, hash_word

NO_WEIGHT = np.empty(0)


@dataclass(frozen=True, eq=False)
class Merged:
    """Distinct words and what they hold.

    `size` (K,): records of each word. `weight` (K,) or (0,): their weight, empty where there is none. `slots` (a
    power of two): hash table of the words: place of each, -1 where empty (`hashing.find_number`).
    """

    words: NDArray[np.uint64]
    size: NDArray[np.int64]
    weight: NDArray[np.float64]
    slots: NDArray[np.int32]


@njit(cache=True, nogil=True)
def _merge(words, size, weight, keep, slots, out_words, out_size, out_weight):  # type: ignore[no-untyped-def]
    """Fill the outputs and the table of their places; the number of distinct words."""
    weighted, n_out = len(weight) > 0, 0
    slots[:] = -1
    for i in range(len(words)):
        word = words[i] & keep
        at = find_number(slots, out_words, word, hash_word(word))
        g = slots[at]
        if g < 0:
            g = n_out
            n_out += 1
            slots[at] = g
            out_words[g], out_size[g] = word, 0
            if weighted:
                out_weight[g] = 0.0
        out_size[g] += size[i]
        if weighted:
            out_weight[g] += weight[i]
    return n_out


def merge(
    words: NDArray[np.uint64],
    size: NDArray[np.int64],
    weight: NDArray[np.float64] = NO_WEIGHT,
    *,
    keep: int = 0xFFFFFFFFFFFFFFFF,
) -> Merged:
    """Merge words that agree in the bits to keep, adding up sizes and weights.

    `words` and `size` are (n,), `weight` (n,) or (0,). `keep` has ones in the bits to keep; the others are cleared.
    The order of the words depends on the input only.

    >>> found = merge(np.array([5, 4, 6], np.uint64), np.array([1, 2, 4]), keep=0b110)
    >>> sorted(zip(found.words.tolist(), found.size.tolist()))
    [(4, 3), (6, 4)]
    """
    n = len(words)
    slots = np.empty(1 << max(4, (2 * n - 1).bit_length()), np.int32)
    out = Merged(np.empty(n, np.uint64), np.empty(n, np.int64), np.empty(len(weight)), slots)
    k = _merge(words, size, weight, np.uint64(keep), slots, out.words, out.size, out.weight)
    return Merged(out.words[:k], out.size[:k], out.weight[:k] if len(weight) else out.weight, slots)


@njit(cache=True, nogil=True)
def _recode(words, shift, mask, table, out):  # type: ignore[no-untyped-def]
    for i in range(len(words)):
        code = (words[i] >> shift) & mask
        out[i] = (words[i] & ~(mask << shift)) | (table[code] << shift)


def recode(
    words: NDArray[np.uint64], *, shift: int, bits: int, table: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """Replace the code in one field of every word by ``table[code]``.

    >>> recode(np.array([0b101, 0b111], np.uint64), shift=1, bits=2, table=np.array([0, 1, 0, 3], np.uint64)).tolist()
    [1, 7]
    """
    at, ones = np.uint64(shift), np.uint64((1 << bits) - 1)
    if len(words) <= FEW:
        recoded: NDArray[np.uint64] = words & ~(ones << at) | table[words >> at & ones] << at
        return recoded
    out = np.empty(len(words), np.uint64)
    _recode(words, at, ones, table, out)
    return out


@njit(cache=True, nogil=True)
def _add_up_field(words, size, shift, mask, out):  # type: ignore[no-untyped-def]
    turn = len(out) - 1  # a power of two less one
    for i in range(len(words)):
        out[i & turn, (words[i] >> shift) & mask] += size[i]


def add_up_field(
    words: NDArray[np.uint64], size: NDArray[np.int64], *, shift: int, bits: int
) -> NDArray[np.int64]:
    """Add up sizes by the code in one field.

    >>> add_up_field(np.array([0b101, 0b111, 0b010], np.uint64), np.array([1, 2, 4]), shift=1, bits=2).tolist()
    [0, 4, 1, 2]
    """
    if len(words) <= FEW:
        codes = (words >> np.uint64(shift) & np.uint64((1 << bits) - 1)).astype(np.int64)
        return np.bincount(codes, size, 1 << bits).astype(np.int64)
    # neighbours often have one code: in turn into several tables, none waits for the one before
    out = np.zeros((4 if bits < 12 else 1, 1 << bits), np.int64)
    _add_up_field(words, size, np.uint64(shift), np.uint64((1 << bits) - 1), out)
    total: NDArray[np.int64] = out.sum(axis=0)
    return total
