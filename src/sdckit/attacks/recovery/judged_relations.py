"""When a relation tells: judged on records it was not fitted to, against what the released value tells by itself."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sdckit.attacks.recovery.group_agreement import CHANCE, CONFIDENCE
from sdckit.numerics.array_types import Bools, Codes, Floats, Ints
from sdckit.numerics.compiling import njit
from sdckit.numerics.intervals import wilson

HITS, SURE_HITS = 0.9, 0.7  # least share of hits, and its lower bound (Wilson)
OF_THE_REST = 1 / 5  # most errors, of what the released value leaves open
FEWEST_CHANGED = 30  # changed records to judge on; below them all records are, as if all were hidden


@dataclass(frozen=True, eq=False)
class Halves:
    """The records to fit on and those to judge on: row numbers, drawn apart at random."""

    fit: Ints
    judge: Ints

    @classmethod
    def of(cls, known: Bools, seed: int) -> Halves:
        """Two halves of the records whose value is known."""
        rows = np.random.default_rng(seed).permutation(np.flatnonzero(known))
        fit = np.zeros(len(known), np.bool_)
        fit[rows[: len(rows) // 2]] = True
        return cls(np.flatnonzero(fit), np.flatnonzero(known & ~fit))


@njit(nogil=True, cache=True)
def _near_others(rows, fitted, near, group, first, ordered, own, shares):  # type: ignore[no-untyped-def]
    """Share of the other records of its group whose value lies near the fitted one of each row, in place.

    In: `rows` (m,), `fitted` (n,), `near`: largest distance, `group` (n,) from 0, `first` (groups + 1,) starts in
    `ordered` (n,), the values by group in ascending order, `own` (n,) the values. Out: `shares` (m,).
    """
    for i in range(len(rows)):
        row = rows[i]
        start, stop = first[group[row]], first[group[row] + 1]
        inside = ordered[start:stop]
        low = np.searchsorted(inside, fitted[row] - near, "left")
        high = np.searchsorted(inside, fitted[row] + near, "right")
        itself = 1 if abs(own[row] - fitted[row]) <= near else 0
        others = stop - start - 1
        shares[i] = (high - low - itself) / others if others > 0 else 0.0


class Judge:
    """Judges relations of one column: `tells` for what they give, in the records that are judged.

    Parameters
    ----------
    truth : ndarray of float, (n,)
        Original numbers, or codes; NaN where there is none.
    changed : ndarray of bool, (n,)
    released : ndarray of int, (n,)
        What is released of each record, as codes.
    rows : ndarray of int
        The half to judge on.

    Attributes
    ----------
    apart : bool
        Whether changed values are judged by themselves. Where they are too few all records are, as if the column were
        hidden: what is released of it is then no evidence.
    """

    def __init__(self, truth: Floats, changed: Bools, released: Codes, rows: Ints) -> None:
        among = rows[changed[rows]]
        self.apart = apart = len(among) >= FEWEST_CHANGED
        self.rows = among if apart else rows
        self.truth, self.released, self.judged = truth, released, rows
        known = ~np.isnan(truth)
        if apart:
            # a value that nobody else has tells nothing by itself: such records are compared with all of them
            use = known & changed
            counts = np.bincount(released[use], minlength=int(released.max(initial=0)) + 1)
            self.group = np.where(counts[released] > 1, released + 1, 0).astype(np.int64)
        else:
            use = known
            self.group = np.zeros(len(truth), np.int64)
        self._alone = apart and bool((self.group[use] == 0).any())
        n_groups = int(self.group.max(initial=0)) + 1
        at = np.flatnonzero(use)
        order = at[np.lexsort((truth[at], self.group[at]))]
        self._ordered = truth[order]
        self._first = np.searchsorted(self.group[order], np.arange(n_groups + 1))
        if self._alone:
            self._every = np.sort(truth[at])

    @cached_property
    def as_hidden(self) -> Judge:
        """One of all records, as if the column were hidden."""
        return Judge(self.truth, np.zeros_like(self.released, np.bool_), self.released, self.judged)

    def tells(self, fitted: Floats, near: float, tried: int, *, hidden: bool = False) -> bool:
        """Whether a relation tells: its fitted values (n,), NaN for none, are right within `near`.

        `hidden`: it does, too, where it is right about the changed values and tells the column if all of it is hidden.
        Only mothers may have lost their sex: that all of these are women is no measure of what a reader knows.
        """
        rows = self.rows[np.isfinite(fitted[self.rows])]
        n = len(rows)
        if not n:
            return False
        hits = int(np.count_nonzero(np.abs(fitted[rows] - self.truth[rows]) <= near))
        if hits < HITS * n or wilson(hits, n, CONFIDENCE).low < SURE_HITS:
            return False
        by_itself = self._by_itself(rows, fitted, near)
        beyond = 1.0 - hits / n <= OF_THE_REST * (1.0 - by_itself)
        if beyond and n * divergence(hits / n, by_itself) >= -CHANCE + math.log(max(tried, 1)):
            return True
        return hidden and self.apart and self.as_hidden.tells(fitted, near, tried)

    def _by_itself(self, rows: Ints, fitted: Floats, near: float) -> float:
        """Mean share of other records with the same released value that the fitted value would hit as well."""
        shares = np.empty(len(rows))
        _near_others(rows, fitted, near, self.group, self._first, self._ordered, self.truth, shares)
        if self._alone:
            at = np.flatnonzero(self.group[rows] == 0)
            values = fitted[rows[at]]
            between = np.searchsorted(self._every, values + near, "right") - np.searchsorted(self._every, values - near)
            own = np.abs(values - self.truth[rows[at]]) <= near
            shares[at] = (between - own) / max(len(self._every) - 1, 1)
        return float(shares.mean())


def divergence(share: float, chance: float) -> float:
    """Kullback-Leibler divergence of two binomials, whose multiple by n bounds the tail (Chernoff); 0 below chance.

    >>> divergence(0.5, 0.5), round(divergence(1.0, 0.5), 3), divergence(0.9, 0.0)
    (0.0, 0.693, inf)
    """
    if share <= chance:
        return 0.0
    if chance <= 0.0:
        return math.inf
    rest = (1 - share) * math.log((1 - share) / (1 - chance)) if share < 1 else 0.0
    return share * math.log(share / chance) + rest
