"""How many values remain possible for a touched one that nothing tells for certain."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sdckit.attacks.recovery.clues import Clue
from sdckit.attacks.recovery.told_values import Restoring
from sdckit.numerics.array_types import Floats

EXPECTED = 15.0  # records expected of a value that none has: it does not occur with the clue
MOST_LEVELS = 500
SUPPORT = 50  # records whose range bounds that of a value suppressed beside them


def remaining_values(one: Restoring, clues: Sequence[Clue]) -> tuple[Floats, Floats]:
    """Values possible for each record before and after reading the release; NaN where they cannot be counted.

    Only of the touched values that were not put back.
    """
    numeric = one.numbers is not None  # not where numbers of the original are groups by name in the release
    if numeric and one.low is not None and one.high is not None and one.target.low is not None:
        assert one.target.high is not None
        before = _count(one, one.target.low, one.target.high)
        low, high = _ranges_beside(one, clues)
        return before, _count(one, np.fmax(one.low, low), np.fmin(one.high, high))
    return _levels_left(one, clues)


def _count(one: Restoring, low: Floats, high: Floats) -> Floats:
    """Whole numbers in bounded ranges, else the different known values in them."""
    found = np.full(len(low), np.nan)
    bounded = np.isfinite(low) & np.isfinite(high)
    if one.target.column.whole:
        found[bounded] = np.maximum(np.floor(high[bounded] + 1e-9) - np.ceil(low[bounded] - 1e-9) + 1, 1)
    assert one.numbers is not None
    values = np.unique(one.numbers[~np.isnan(one.numbers)])
    use = ~bounded if one.target.column.whole else np.ones(len(low), np.bool_)
    if len(values):
        inside = np.searchsorted(values, high[use], "right") - np.searchsorted(values, low[use], "left")
        found[use] = np.where(inside > 0, inside, np.nan)
    return np.where(one.open, found, np.nan)


def _ranges_beside(one: Restoring, clues: Sequence[Clue]) -> tuple[Floats, Floats]:
    """For suppressed numbers, the range of those known with the same value of a clue."""
    n = len(one.open)
    low, high = np.full(n, -np.inf), np.full(n, np.inf)
    blank = one.open & one.target.column.missing
    assert one.numbers is not None
    known = ~np.isnan(one.numbers)
    if not blank.any():
        return low, high
    for clue in clues:
        if one.name in clue.columns or not clue.joins or clue.n_levels > MOST_LEVELS:
            continue
        least, most = np.full(clue.n_levels + 1, np.inf), np.full(clue.n_levels + 1, -np.inf)
        np.minimum.at(least, clue.codes[known], one.numbers[known])
        np.maximum.at(most, clue.codes[known], one.numbers[known])
        few = np.bincount(clue.codes[known], minlength=clue.n_levels + 1) < SUPPORT
        few[0] = True
        least[few], most[few] = -np.inf, np.inf
        low = np.where(blank, np.fmax(low, least[clue.codes]), low)
        high = np.where(blank, np.fmin(high, most[clue.codes]), high)
    return low, high


def _levels_left(one: Restoring, clues: Sequence[Clue]) -> tuple[Floats, Floats]:
    """Categories less those that never stand with a clue though many would be expected."""
    n = len(one.open)
    before = np.full(n, np.nan)
    counts = np.bincount(one.known)[1:]
    levels = np.flatnonzero(counts) + 1
    before[one.open] = float(len(levels)) if len(levels) else np.nan
    rows = np.flatnonzero(one.open)
    if not 1 < len(levels) <= MOST_LEVELS or not len(rows):
        return before, before
    shares = counts[levels - 1] / counts.sum()
    possible = np.ones((len(rows), len(levels)), np.bool_)
    place = np.zeros(int(levels.max()) + 1, np.int64)
    place[levels] = np.arange(len(levels))
    known = one.known > 0
    for clue in clues:
        if one.name in clue.columns or not clue.joins or clue.n_levels > MOST_LEVELS:
            continue
        cell = clue.codes[known].astype(np.int64) * len(levels) + place[one.known[known]]
        seen = np.bincount(cell, minlength=(clue.n_levels + 1) * len(levels)).reshape(-1, len(levels))
        never = (seen == 0) & (seen.sum(axis=1, keepdims=True) * shares >= EXPECTED)
        never[0] = False
        possible &= ~never[clue.codes[rows]]
    after = before.copy()
    after[rows] = np.maximum(possible.sum(axis=1), 1)
    return before, after
