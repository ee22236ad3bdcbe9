"""Values changed into others (PRAM, swaps, draws): what most records of a group say of those that differ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sdckit.attacks.recovery.clues import Clue
from sdckit.attacks.recovery.tells import majorities_of
from sdckit.attacks.recovery.told_values import Restoring

OF_THE_USUAL = 1 / 3  # of what the most frequent value leaves wrong may a majority leave wrong
SUPPORT = 3
FEWEST = 30  # records that a majority is judged by


def by_majority(one: Restoring, clues: Sequence[Clue]) -> None:
    """Put back the value that most records of a group have, where that is nearly a rule.

    Nobody sees which values were changed: all of them take part in the vote, each judged by the votes of the others.
    """
    codes = one.target.column.codes
    one.known = codes
    if one.numbers is not None:
        one.numbers = one.target.column.numbers
    for clue in clues:
        if one.name in clue.columns or not clue.groups:
            continue
        group = clue.codes
        found = majorities_of(group, codes, clue.n_levels)
        told = (group > 0) & (codes > 0) & (found.size[group] >= SUPPORT)
        if np.count_nonzero(told) < FEWEST:
            continue
        same = found.code[group] == codes
        lead = found.votes[group] - same - found.next_votes[group]
        right = np.where(same, np.where(lead > 0, 1.0, np.where(lead == 0, 0.5, 0.0)), 0.0)
        if 1.0 - float(right[told].mean()) > one.usual_wrong * OF_THE_USUAL:
            continue
        differs = told & ~same & (found.votes > found.next_votes)[group]
        one.tell_codes(
            differs, found.code[group], clue.columns, f"most records alike in {clue.words}", clue.kind
        )
