"""Suppressed values that follow, hidden: the same keys are taken out of one more record with another value there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sdckit.numerics.array_types import Bools, Ints
from sdckit.protect.suppression.suppression_file import WorkingFile
from sdckit.protect.suppression.suppression_implied import Patterns, batches, implied, patterns_of
from sdckit.protect.suppression.suppression_requests import Requests

ROUNDS = 30  # what is taken out may make other values follow; each round deals with those


def hide_implied(
    file: WorkingFile, requests: Requests, alone: Sequence[int], rng: np.random.Generator,
    mend_again: Callable[[], None],
) -> Bools | None:  # fmt: skip
    """Take values out until none follows, or none can be hidden; the values that still follow, as `implied`.

    `mend_again` restores k, which more missing values may cost where alpha is below 1.

    The other record is drawn from all that agree with the first on what that still has and differ in the value that
    follows. Both then look alike, and no conclusion is right for both; by whatever rule it were chosen, a reader who
    knows the rule could tell which of the two had to lose its value.
    """
    found = implied(file, requests, alone)
    for _ in range(ROUNDS):
        if found is None or not found.any() or not _hide(file, found, alone, rng):
            break
        mend_again()
        found = implied(file, requests, alone)
    return found


def _hide(file: WorkingFile, found: Bools, alone: Sequence[int], rng: np.random.Generator) -> bool:
    """Give each cell with a value that follows one more record, or take one more key; whether any value went."""
    patterns = patterns_of(file.situation(range(len(found))))
    key, row = np.nonzero(found)
    cell = patterns.at.of_row[row].astype(np.int64)
    _, once = np.unique(cell, return_index=True)  # a record for one key of a cell is one for all it lacks
    key, row, cell = key[once], row[once], cell[once]
    before = int(np.count_nonzero(file.gone))
    taken = np.zeros(file.n, np.bool_)
    for j, mask, at in batches(patterns, cell, key):
        if not patterns.speaks(mask):
            continue  # a record that lacks all keys would no longer count for others
        left = _give_company(file, patterns, j, mask, cell[at], row[at], alone, rng, taken)
        own = [i for i in alone if mask >> i & 1]
        if len(left) and own and patterns.speaks(mask & ~(1 << own[0])):
            rows, _ = patterns.at.rows_of(np.sort(cell[at][left]))
            file.gone[own[int(rng.integers(len(own)))], rows] = True
    return int(np.count_nonzero(file.gone)) > before


def _give_company(
    file: WorkingFile, patterns: Patterns, j: int, mask: int, cells: Ints, like: Ints, alone: Sequence[int],
    rng: np.random.Generator, taken: Bools,
) -> Ints:  # fmt: skip
    """Take out of one more record what each of the cells lacks; places of the cells for which there is none.

    `like`: a record of each cell, `taken`: records that have been drawn already.
    """
    true, left = file.keys[j].codes(like), np.arange(len(cells))
    loose = sum(1 << i for i in alone)
    for other in sorted(patterns.cells, key=int.bit_count):
        if len(left) == 0 or other & mask != mask or not other >> j & 1 or (other & ~mask) & ~loose:
            continue
        rows, query = _like(patterns, cells[left], mask, patterns.cells[other])
        fits = ~taken[rows] & (file.keys[j].codes(rows) != true[left[query]])
        rows, query = rows[fits], query[fits]
        shuffled = rng.permutation(len(rows))
        served, first = np.unique(query[shuffled], return_index=True)
        chosen = rows[shuffled[first]]
        taken[chosen] = True
        for i in range(len(file.gone)):
            if (other & ~mask) >> i & 1:
                file.gone[i, chosen] = True
        left = np.delete(left, served)
    return left


def _like(patterns: Patterns, cells: Ints, mask: int, others: Ints) -> tuple[Ints, Ints]:
    """Records of other cells that agree with one of the cells on the keys of a mask, and the place of that cell."""
    words = patterns.word(cells, mask)
    order = np.argsort(words)
    there = patterns.word(others, mask)
    place = np.minimum(np.searchsorted(words[order], there), len(order) - 1)
    hit = words[order][place] == there
    rows, starts = patterns.at.rows_of(others[hit])
    return rows, np.repeat(order[place[hit]], np.diff(starts))
