"""Hashes of 64-bit words, and looking words up by them.

Compiled functions, mixed into the kernels that call them. A look-up begins at the low bits of the hash and goes on to
the next place; tables have a power of two of places, so many that some stay free.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.compiling import njit

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2**64 by the golden ratio: spreads bits upwards when multiplied
FACTOR = np.uint64(0xD6E8FEB86659FD93)
SIXTH, LOW = np.uint64(6), np.uint64(63)


@njit(cache=True, nogil=True, inline="always")
def spread(word, factor=FACTOR):  # type: ignore[no-untyped-def]
    """A product whose high bits depend on all bits of the word."""
    return (word ^ (word >> np.uint64(32))) * factor


@njit(cache=True, nogil=True, inline="always")
def mix(word):  # type: ignore[no-untyped-def]
    """Spread the bits of a word; the high ones may choose a part, the low ones a place in it."""
    product = spread(word, GOLDEN)
    return product ^ (product >> np.uint64(29))


@njit(cache=True, nogil=True, inline="always")
def hash_word(word):  # type: ignore[no-untyped-def]
    """The same for words that differ in few bits, low or high."""
    return mix(word * FACTOR)


@njit(cache=True, nogil=True)
def splitmix(state):  # type: ignore[no-untyped-def]
    """Words that look random, of states GOLDEN apart (Steele, Lea and Flood 2014); of one state or an array."""
    word = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@njit(cache=True, nogil=True, inline="always")
def set_bit(bits, at):  # type: ignore[no-untyped-def]
    """Set a bit of a bit set."""
    bits[at >> SIXTH] |= np.uint64(1) << (at & LOW)


@njit(cache=True, nogil=True, inline="always")
def has_bit(bits, at):  # type: ignore[no-untyped-def]
    """A bit of a bit set, 0 or 1."""
    return (bits[at >> SIXTH] >> (at & LOW)) & np.uint64(1)


@njit(cache=True, nogil=True, inline="always")
def find_number(slots, words, word, hashed):  # type: ignore[no-untyped-def]
    """Where a table holds the number of a word in a list, or would: a negative number is a free place."""
    mask = np.uint64(len(slots) - 1)
    at = hashed & mask
    number = slots[at]
    while number >= 0 and words[number] != word:
        at = (at + np.uint64(1)) & mask
        number = slots[at]
    return at


@njit(cache=True, nogil=True, inline="always")
def find_word(keys, free, word, hashed):  # type: ignore[no-untyped-def]
    """Where a table holds a word itself, or would: larger than one of numbers, but a look saved at each word."""
    mask = np.uint64(len(keys) - 1)
    at = hashed & mask
    while keys[at] != free and keys[at] != word:
        at = (at + np.uint64(1)) & mask
    return at


def hash_words(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """`hash_word` of many words, by NumPy.

    >>> bool(hash_words(np.array([7], np.uint64))[0] == hash_word(np.uint64(7)))
    True
    """
    product: NDArray[np.uint64] = words * FACTOR
    product = (product ^ (product >> np.uint64(32))) * GOLDEN
    return product ^ (product >> np.uint64(29))


def hash_rows(columns: Iterable[NDArray[np.uint64]], n: int) -> NDArray[np.uint64]:
    """One word per row of n, almost surely different where any column differs.

    >>> words = hash_rows([np.array([1, 1, 2], np.uint64), np.array([5, 5, 5], np.uint64)], 3)
    >>> bool(words[0] == words[1]), bool(words[1] == words[2])
    (True, False)
    """
    words = np.zeros(n, np.uint64)
    for column in columns:
        words = (words ^ column) * GOLDEN
        words ^= words >> np.uint64(29)
    return words
