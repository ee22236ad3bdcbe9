"""Values changed into others (PRAM, swaps, draws): what most records of a group say of those that differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.recovery.clues import Clue
from sdckit.attacks.recovery.told_values import Restoring

__all__ = ["by_majority"]

OF_THE_USUAL = 1 / 3  # of what the most frequent value leaves wrong may a majority leave wrong
SUPPORT = 3
FEWEST = 30  # records that a majority is judged by


@dataclass(frozen=True, eq=False)
class _Majority:
    """The most frequent code of each group, its records, and those of the next most frequent one."""

    code: NDArray[np.int32]
    votes: NDArray[np.int64]
    next_votes: NDArray[np.int64]
    size: NDArray[np.int64]


def by_majority(one: Restoring, clues: Sequence[Clue]) -> None:
    """Put back the value that most records of a group have, where that is nearly a rule.

    Nobody sees which values were changed: all of them take part in the vote, each judged by the votes of the others.
    """
    codes = one.target.column.codes
    counts = np.bincount(codes)[1:].astype(np.float64)
    usual_wrong = 1.0 - counts.max(initial=0.0) / max(counts.sum(), 1.0)
    one.known = codes
    if one.numbers is not None:
        one.numbers = one.target.column.numbers
    for clue in clues:
        if one.name in clue.columns or not clue.groups:
            continue
        group = clue.codes
        found = _majority(group, codes, clue.n_levels)
        told = (group > 0) & (codes > 0) & (found.size[group] >= SUPPORT)
        if np.count_nonzero(told) < FEWEST:
            continue
        same = found.code[group] == codes
        lead = found.votes[group] - same - found.next_votes[group]
        right = np.where(same, np.where(lead > 0, 1.0, np.where(lead == 0, 0.5, 0.0)), 0.0)
        if 1.0 - float(right[told].mean()) > usual_wrong * OF_THE_USUAL:
            continue
        differs = told & ~same & (found.votes > found.next_votes)[group]
        one.tell_codes(differs, found.code[group], clue.columns, f"most records alike in {clue.words}")


def _majority(group: NDArray[np.int32], codes: NDArray[np.int32], n_groups: int) -> _Majority:
    span = int(codes.max(initial=0)) + 1
    words, counts = np.unique(group.astype(np.int64) * span + codes, return_counts=True)
    of, code = words // span, words % span
    counts = np.where(code == 0, 0, counts)
    order = np.lexsort((counts, of))
    of, code, counts = of[order], code[order], counts[order]
    last = np.flatnonzero(np.append(of[1:] != of[:-1], True))
    size = np.bincount(of, counts, n_groups + 1).astype(np.int64)
    found = _Majority(np.zeros(n_groups + 1, np.int32), np.zeros_like(size), np.zeros_like(size), size)
    found.code[of[last]], found.votes[of[last]] = code[last], counts[last]
    second = last - 1
    second = second[(second >= 0)]
    second = second[~np.isin(second, last)]
    found.next_votes[of[second]] = counts[second]
    return found
