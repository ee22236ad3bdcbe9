"""The order of numbers with equal ones mixed, and swapping partners for ranks within a window."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Ints
from sdckit.numerics.coding import GOLDEN, splitmix
from sdckit.numerics.compiling import FEW, njit, sparing

DIGIT = 11  # bits sorted by at a time
DRAW = 16  # steps of a draw
TRIES = 64  # draws before the window is searched rank by rank


@njit(cache=True, nogil=True)
def _drawn(state, below):  # type: ignore[no-untyped-def]
    """The next state of a counter, and a number below a bound from its well-mixed bits."""
    state = state + GOLDEN
    return state, np.int64((splitmix(state) >> np.uint64(11)) * (below / 9007199254740992.0))


@njit(cache=True, nogil=True)
def _sort(word, row, other_word, other_row):  # type: ignore[no-untyped-def]
    """Sort words with their rows, digit by digit from the last; whether the result is in the other arrays."""
    n, digits = len(word), (64 + DIGIT - 1) // DIGIT
    mask = np.uint64((1 << DIGIT) - 1)
    count = np.zeros((digits, 1 << DIGIT), np.int64)
    for i in range(n):
        rest = word[i]
        for d in range(digits):
            count[d, rest & mask] += 1
            rest >>= np.uint64(DIGIT)
    swapped = False
    for d in range(digits):
        shift = np.uint64(d * DIGIT)
        if count[d, (word[0] >> shift) & mask] == n:
            continue
        total = 0
        for b in range(1 << DIGIT):
            total, count[d, b] = total + count[d, b], total
        for i in range(n):
            b = (word[i] >> shift) & mask
            to = count[d, b]
            other_word[to], other_row[to] = word[i], row[i]
            count[d, b] = to + 1
        word, other_word = other_word, word
        row, other_row = other_row, row
        swapped = not swapped
    return swapped


@njit(cache=True, nogil=True)
def _mix_ties(word, order, state):  # type: ignore[no-untyped-def]
    n, first = len(order), 0
    while first < n:
        last = first + 1
        while last < n and word[last] == word[first]:
            last += 1
        for t in range(last - 1, first, -1):
            state, other = _drawn(state, t - first + 1)
            order[t], order[first + other] = order[first + other], order[t]
        first = last


@njit(cache=True, nogil=True)
def _searched(lent, j, reach, state):  # type: ignore[no-untyped-def]
    """A rank not yet swapped in the window above rank j, found one by one; -1 where there is none."""
    free = np.int64(0)  # a bare 0 has a type of its own, and `_drawn` would be compiled twice
    for t in range(j + 1, j + 1 + reach):
        free += lent[t] < 0
    state, skip = _drawn(state, free)
    for t in range(j + 1, j + 1 + reach):
        if lent[t] < 0:
            if skip == 0:
                return state, t
            skip -= 1
    return state, -1


@njit(cache=True, nogil=True)
def _join_pair(lent, j, window, state):  # type: ignore[no-untyped-def]
    """Rank j joins a pair of lower ranks that are both in reach, and three change places."""
    lower = min(window, j)
    state, start = _drawn(state, lower)
    lent[j] = j
    for t in range(lower):
        a = j - 1 - (start + t) % lower
        if lent[a] != a and abs(lent[a] - j) <= window:
            lent[j], lent[a] = lent[a], j
            break
    return state


@njit(cache=True, nogil=True)
def _partners(n, window, state, lent):  # type: ignore[no-untyped-def]
    """Whose value each rank gets: -1 until it is swapped."""
    for j in range(n):
        if lent[j] >= 0:
            continue
        reach, other = min(window, n - 1 - j), -1
        for _ in range(TRIES if reach else 0):
            state, ahead = _drawn(state, reach)
            if lent[j + 1 + ahead] < 0:
                other = j + 1 + ahead
                break
        if other < 0:
            state, other = _searched(lent, j, reach, state)
        if other >= 0:
            lent[j], lent[other] = other, j
            continue
        state = _join_pair(lent, j, window, state)


def ranked_rows(values: NDArray[np.float64], rows: Ints, key: np.uint64) -> Ints:
    """Rows in ascending order of their values, in random order where these are equal.

    `values` (shape (n,)): none missing. `rows` (shape (n,)): the row of each value; overwritten. `key`: start
    of the random numbers.

    >>> ranked_rows(np.array([5.0, 5.0, -1.0]), np.arange(3), np.uint64(1)).tolist()[0]
    2
    """
    bits = (values + 0.0).view(np.uint64)  # + 0.0: one zero, not two
    word = bits ^ np.where(values < 0, ~np.uint64(0), np.uint64(1) << np.uint64(63))  # ascends as they do
    other_word, other_row = np.empty_like(word), np.empty_like(rows)
    if len(word) <= FEW:
        order = np.argsort(word, kind="stable")
        word, rows = word[order], rows[order]
    elif _sort(word, rows, other_word, other_row):
        word, rows = other_word, other_row
    sparing(_mix_ties, DRAW * len(word))(word, rows, key)
    return rows


def partners(n: int, window: int, key: np.uint64) -> Ints:
    """Exchange ranks at random within a window.

    `window`: how many ranks away a partner is at most. `key`: start of the random numbers.
    Returns shape (n,): a permutation: the rank whose value each rank gets. From the lowest rank up each takes
    a partner among those free in its window; one that finds none makes three of a pair.

    >>> partners(4, 1, np.uint64(7)).tolist()
    [1, 0, 3, 2]
    """
    lent = np.full(n, -1)
    sparing(_partners, DRAW * n)(n, window, key, lent)
    return lent
