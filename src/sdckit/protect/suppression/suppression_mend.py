"""Take values out of a file until every record reaches k on some keys."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sdckit.protect.suppression.suppression_choices import Choices, Order, find_choices
from sdckit.protect.suppression.suppression_cover import cover
from sdckit.protect.suppression.suppression_file import TINY, Situation, WorkingFile
from sdckit.protect.suppression.suppression_near import nearest_sets, nested_sets, too_many
from sdckit.protect.suppression.suppression_restore import restore

__all__ = ["mend"]


def mend(
    file: WorkingFile, keys: Sequence[int], k: int, order: Order, start: Situation | None = None,
    choices: Choices | None = None,
) -> bool:  # fmt: skip
    """Take values out of `file` until k holds on the keys; whether any had to go.

    `start` and `choices` spare work where they are known: the file as it stands, and its groups. Every pass
    counts the frequencies afresh and takes at least one value, so there is an end: when all values of a
    stratum are gone its records are all alike.
    """
    before = file.gone.copy()
    at = start = file.situation(keys) if start is None else start
    while len(risky := at.at_risk(k)):
        if (at.codes[risky] >= 0).all(axis=1).any():
            choices = find_choices(at, k, order) if choices is None else choices
        if choices is not None and (choices.needs > 0).any():
            rows, masks = _released(at, k, choices, file.alpha)
            file.take_out(keys, masks, rows)
        elif not _mend_others(file, keys, at, risky, k, order):
            _blank(file, keys, at, risky, k)
        choices = None
        at = file.situation(keys)
    if at is start:
        return False
    if file.alpha == 1:
        _tidy(file, keys, k, start, at, before, order)
    return True


def _tidy(
    file: WorkingFile, keys: Sequence[int], k: int, start: Situation, now: Situation,
    before: NDArray[np.bool_], order: Order,
) -> None:  # fmt: skip
    """Give back what this call has taken out and nobody needs."""
    rows, _ = start.rows_of(start.at_risk(k))
    masks = np.zeros(len(rows), np.uint64)
    for i, j in enumerate(keys):
        masks |= (file.gone[j] & ~before[j])[rows].astype(np.uint64) << np.uint64(i)
    cell = start.of_row[rows].astype(np.int64)
    left = restore(start, k, cell, masks, now.frequency[now.of_row[rows]], order.rank)
    for i, j in enumerate(keys):
        back = ((masks ^ left) >> np.uint64(i)) & np.uint64(1) == 1
        file.gone[j, rows[back]] = False


def _released(
    at: Situation, k: int, choices: Choices, alpha: float
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Records to release into groups, and the keys each loses."""
    size = at.size[choices.cells]
    rows, starts = at.rows_of(choices.cells)
    if alpha < 1:  # others' missing values are no safe help: every record at risk is changed itself
        group, chosen = _own_groups(choices, size)
        count = np.where(chosen, size, 0).astype(np.int64)
        taken = np.repeat(chosen, size.astype(np.int64))
        return rows[taken], np.repeat(choices.masks[group], count)
    cell, group = cover(choices, size, np.ceil(k - TINY - at.frequency[choices.cells]))
    by_cell = np.argsort(cell, kind="stable")
    cell, group = cell[by_cell], group[by_cell]
    nth = np.arange(len(cell)) - np.searchsorted(cell, cell)
    return rows[starts[cell] + nth], choices.masks[group]


def _own_groups(choices: Choices, size: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """For each cell that reaches k somewhere, the group with most records that stay as they are."""
    group = np.repeat(np.arange(len(choices.masks)), np.diff(choices.starts))
    at_risk = np.bincount(group, size[choices.members], len(choices.masks))
    entries = np.flatnonzero(choices.own)
    stay = (choices.sizes - at_risk)[group[entries]]
    entries = entries[np.lexsort((entries, -stay))][::-1]
    best, chosen = np.zeros(len(size), np.int64), np.zeros(len(size), np.bool_)
    best[choices.members[entries]] = group[entries]  # the last one written is the best
    chosen[choices.members[entries]] = True
    return best, chosen


def _mend_others(
    file: WorkingFile, keys: Sequence[int], at: Situation, risky: NDArray[np.int64], k: int, order: Order
) -> bool:
    """Search the neighbours of cells that no group mends; whether any value was taken out."""
    risky = risky[np.argsort(at.frequency[risky], kind="stable")]
    if too_many(at, risky):
        masks = nested_sets(at, risky, k, order)
    else:
        masks = nearest_sets(at, risky, k, file.alpha, order, apply=True)
    rows, starts = at.rows_of(risky)
    before = int(np.count_nonzero(file.gone))
    file.take_out(keys, np.repeat(masks, np.diff(starts)), rows)
    return int(np.count_nonzero(file.gone)) > before


def _blank(file: WorkingFile, keys: Sequence[int], at: Situation, risky: NDArray[np.int64], k: int) -> None:
    """Where alpha leaves no other way: take out all values of the records at risk, and of others to make k alike."""
    missing = (at.codes < 0).sum(axis=1)
    for stratum in np.unique(at.stratum[risky]).tolist():
        rows = np.flatnonzero(at.stratum[at.of_row] == stratum)
        cells = at.of_row[rows]
        at_risk = np.isin(cells, risky)
        worst = rows[np.lexsort((rows, -missing[cells], ~at_risk))]
        n_blank = max(k, int(np.count_nonzero(at_risk)))
        if (missing[at.of_row[worst[:n_blank]]] == len(keys)).all():
            n_blank += 1  # one more than are blank already
        for j in keys:
            file.gone[j, worst[:n_blank]] = True
