"""E7: swap each value with one of similar rank."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from sdckit.data import arguments, frames, replace, seeds
from sdckit.errors import DataError, sure
from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.coding import GOLDEN, splitmix
from sdckit.numerics.compiling import is_few, njit, sparing
from sdckit.numerics.threads import run
from sdckit.protect.by_household import in_two_parts
from sdckit.protect.change import Change, Protected, became_fractions, chosen, count_changed, key, numbers

# Sorting with ties in random order, and random swapping partners within a window of ranks.


DIGIT = 11  # bits sorted by at a time
DRAW = 16  # steps of a draw
TRIES = 64  # draws before the window is searched rank by rank


@njit(cache=True, nogil=True)
def _drawn(state, below):  # type: ignore[no-untyped-def]
    """Counter-based random numbers: the next state, and a random integer from 0 to below a bound."""
    state = state + GOLDEN
    return state, np.int64((splitmix(state) >> np.uint64(11)) * (below / 9007199254740992.0))


@njit(cache=True, nogil=True)
def _sort(word, row, other_word, other_row):  # type: ignore[no-untyped-def]
    """Radix sort of words with their rows, least significant digit first; whether the result is in the buffers.

    `word`, `row`: 64-bit words and their rows. `other_word`, `other_row`: buffers of the same length.
    """
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
    """Shuffle the rows of equal words (Fisher-Yates)."""
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
    """Draw one of the unswapped ranks among the `reach` ranks above j by counting them; -1 if there is none.

    Returns the next state of the random numbers, and the rank.
    """
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
    """Insert rank j into the swap of a lower rank in reach, as a cycle of three; else j keeps its own value.

    Returns the next state of the random numbers.
    """
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
    """Fill `lent` (n,), -1 on entry, with the rank whose value each rank gets, at most `window` ranks away."""
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


def ranked_rows(values: Floats, rows: Ints, key: np.uint64) -> Ints:
    """Rows in ascending order of their values, in random order where these are equal.

    `values` (shape (n,)): none missing. `rows` (shape (n,)): the row of each value; overwritten. `key`: start
    of the random numbers.

    >>> ranked_rows(np.array([5.0, 5.0, -1.0]), np.arange(3), np.uint64(1)).tolist()[0]
    2
    """
    bits = (values + 0.0).view(np.uint64)  # + 0.0: one zero, not two
    word = bits ^ np.where(values < 0, ~np.uint64(0), np.uint64(1) << np.uint64(63))  # ascends as they do
    other_word, other_row = np.empty_like(word), np.empty_like(rows)
    if is_few(_sort, len(word)):
        order = np.argsort(word, kind="stable")
        word, rows = word[order], rows[order]
    elif _sort(word, rows, other_word, other_row):
        word, rows = other_word, other_row
    sparing(_mix_ties, DRAW * len(word))(word, rows, key)
    return rows


def partners(n: int, window: int, key: np.uint64) -> Ints:
    """A random permutation in which ranks move within a window.

    `window`: how many ranks away a partner is at most. `key`: start of the random numbers. Returns shape (n,): the rank
    whose value each rank gets. From the lowest rank up each takes a partner among those free in its window; one that
    finds none joins a pair as a cycle of three.

    >>> partners(4, 1, np.uint64(7)).tolist()
    [1, 0, 3, 2]
    """
    lent = np.full(n, -1)
    sparing(_partners, DRAW * n)(n, window, key, lent)
    return lent


DEFAULT_P = 5.0


@dataclass(frozen=True)
class _Limit:
    """How far values may move: ranks in percent (p), correlation to be kept (r0) or relative change (k0)."""

    p: float | None
    r0: float | None
    k0: float | None

    def squared(self, values: Floats) -> float:
        """The mean squared change allowed."""
        if self.r0 is not None:
            return 2 * float(values.var()) * (1 - self.r0)
        return (sure(self.k0) * float(values.mean())) ** 2


@dataclass(frozen=True, eq=False)
class _Swapped:
    """Swap of one column: the row each value is taken from, the window, and rows whose value becomes a mean."""

    source: Ints
    window: int
    ends: list[tuple[Ints, float]]


def rank_swap(
    data: Any,
    *,
    columns: Sequence[str],
    p: float | None = None,
    r0: float | None = None,
    k0: float | None = None,
    top: float = 0.0,
    bottom: float = 0.0,
    household: str | None = None,
    household_variables: Sequence[str] | None = None,
    seed: arguments.Seed = None,
) -> Protected:
    """Swap each number with one of similar rank, column by column.

    Parameters
    ----------
    data : data frame
    columns : sequence of str
        Variables of numbers to change, each independently.
    p : float, optional
        Most ranks between partners, in percent of the values present; 0 to 100. Default 5, where neither
        `r0` nor `k0` is given.
    r0 : float, optional
        Instead of `p`: a window as wide as leaves at least this correlation between the values swapped and
        those before, 0 to 1. Correlations with other variables shrink to about this share.
    k0 : float, optional
        Instead of `p`: a window as wide as leaves the root mean square change at most this share of the
        absolute mean.
    top, bottom : float
        Percent of the largest and smallest values that are replaced by their mean instead of being swapped.
    household : str, optional
        Column that numbers the households; household variables among `columns` are then treated once for each
        household, and all its members get what came of it.
    household_variables : sequence of str, optional
        Variables that members share; default those found (`household_variables`). An empty list: none.
    seed : int or numpy.random.Generator, optional
        Whoever guesses it undoes what is drawn: leave it out for a release, ``change.secret`` keeps a long one.

    Returns
    -------
    Protected
        ``data`` and ``change``. With `top` and `bottom` 0 each column keeps exactly its values.

    Raises
    ------
    ColumnError
        A column that the data does not have.
    DataError
        Text, infinite values, a constant column; a window of less than one rank; more than one of `p`, `r0`
        and `k0`.

    Notes
    -----
    Ranks are taken in random order among equal values. From the lowest rank up, each that is not yet swapped
    takes a partner at random among those above it in its window that are not either; one that finds none is
    taken into a pair within reach. Only in windows of a few ranks may one find neither, and stay. Missing
    values stay and have no rank. Windows by `r0` and `k0` are found by trying them: the figure is that of the
    very swap that is made.

    References
    ----------
    Moore, R. A. (1996). Controlled data-swapping techniques for masking public use microdata sets.
    US Bureau of the Census, SRD Research Report RR 96-04.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"id": range(6), "income": [10, 60, 20, 50, 30, 40]})
    >>> found = rank_swap(survey, columns=["income"], p=20, seed=1)
    >>> found.data["income"].to_list(), found.change.changed
    ([20, 50, 10, 60, 40, 30], {'income': 6})
    """
    names = chosen(columns)
    limit = _check_options(p, r0, k0, top, bottom)
    method = partial(rank_swap, p=p, r0=r0, k0=k0, top=top, bottom=bottom)
    parted = in_two_parts(data, names, household, household_variables, seed, method)
    if parted is not None:
        return parted
    frame = replace.open_eager(data, {"columns": names})
    values = numbers(frame, names, constant="so there is nothing to swap")
    rng, secret = seeds.open_rng(seed)
    keys = [(key(rng), key(rng)) for _ in names]

    def swapped(work: tuple[str, tuple[np.uint64, np.uint64]]) -> _Swapped:
        return _swap(values[work[0]], work[0], limit, top / 100, bottom / 100, work[1])

    swaps = dict(zip(names, run(swapped, zip(names, keys, strict=True)), strict=True))
    made = {name: values[name][swap.source] for name, swap in swaps.items()}
    out = replace.take_rows(frame, {name: swap.source for name, swap in swaps.items()})
    averaged = {name: made[name] for name, swap in swaps.items() if swap.ends}
    for name, column in averaged.items():
        for rows, mean in swaps[name].ends:
            column[rows] = mean
    if averaged:
        out = replace.with_numbers(replace.open_eager(frames.open_frame(out), {}), averaged)
    change = Change(
        "rank_swap", len(frame), count_changed(values, made),
        parameters={
            "columns": list(names), "p": limit.p, "r0": r0, "k0": k0, "top": float(top), "bottom": float(bottom),
        },
        secret={"seed": secret, "window": {name: swap.window for name, swap in swaps.items()}},
        notes=became_fractions(frame, out, names),
    )  # fmt: skip
    return Protected(out, change)


def _swap(
    values: Floats, name: str, limit: _Limit, top: float, bottom: float, keys: tuple[np.uint64, np.uint64]
) -> _Swapped:
    rows = np.flatnonzero(~np.isnan(values))
    order = ranked_rows(values[rows] if len(rows) < len(values) else values, rows, keys[0])
    low, high = math.floor(bottom * len(order) + 1e-9), len(order) - math.floor(top * len(order) + 1e-9)
    middle = order[low:high]
    window = _window(values[middle], name, limit, len(order), keys[1])
    source = np.arange(len(values))
    source[middle] = middle[partners(len(middle), window, keys[1])]
    parts = [(part, values[part]) for part in (order[:low], order[high:]) if len(part)]
    ends = [(part, min(max(float(own.mean()), float(own[0])), float(own[-1]))) for part, own in parts]  # ascending
    return _Swapped(source, window, ends)


def _window(ordered: Floats, name: str, limit: _Limit, n: int, start: np.uint64) -> int:
    """Largest distance between the ranks of partners; for `r0` and `k0` found by bisection."""
    if limit.p is not None:
        window = math.floor(limit.p / 100 * n + 1e-9)
        if window < 1:
            raise DataError(
                f"p = {limit.p:g} % of the {n} values of {name!r} is less than one rank; "
                f"raise p to {math.ceil(1000 / n) / 10:g} or more"
            )
        return window
    allowed = limit.squared(ordered) * (1 + 1e-9)

    def holds(window: int) -> bool:
        moved = ordered[partners(len(ordered), window, start)] - ordered
        return float((moved**2).mean()) <= allowed

    low, high = 0, len(ordered)
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    if low < 1:
        given, todo = ("r0", "lower r0") if limit.r0 is not None else ("k0", "raise k0")
        raise DataError(
            f"column {name!r}: no two ranks can be swapped within {given}; {todo}, "
            "or leave out the extremes by top= and bottom="
        )
    return low


def _check_options(p: object, r0: object, k0: object, top: float, bottom: float) -> _Limit:
    given = {name: amount for name, amount in {"p": p, "r0": r0, "k0": k0}.items() if amount is not None}
    if len(given) > 1:
        says = f"give one of p, r0 and k0, not {' and '.join(given)}: each says how far values may move"
        raise DataError(says, argument=list(given)[-1])
    for name, percent in (("top", top), ("bottom", bottom)):
        arguments.within(percent, name, "is a percentage of the values", 0, 100, "[)")
    if top + bottom >= 100:
        raise DataError("top and bottom are percentages, together below 100", argument="top")
    if r0 is not None:
        return _Limit(None, arguments.within(r0, "r0", "is the correlation to be left", 0, 1, "[)"), None)
    if k0 is not None:
        return _Limit(None, None, arguments.amount_above(k0, "k0", "is a share of the mean"))
    says, ranks = "is how many ranks apart partners are, in percent", DEFAULT_P if p is None else p
    return _Limit(arguments.within(ranks, "p", says, 0, 100, "(]"), None, None)
