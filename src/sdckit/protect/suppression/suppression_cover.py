"""Choose suppressions one by one, each time that which mends most per value, then take back what proved needless."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sdckit.protect.suppression.suppression_choices import Choices

__all__ = ["cover"]

STEPS = 60  # scores are gains per value in sixtieths: exact for 1 to 6 values
TOP = (1 << 16) - 1


@njit(cache=True, nogil=True)
def _look(g, starts, members, own, size, need):  # type: ignore[no-untyped-def]
    """Gain of one suppression in a group, and the cell whose record to take; -1 where there is none."""
    gain, best, chosen = 0, -(1 << 40), -1
    for e in range(starts[g], starts[g + 1]):
        c = members[e]
        if size[c] == 0:
            continue
        lacking = need[c] if need[c] > 0 else 0
        helped = size[c] if lacking > 0 else 0
        gain += helped
        if own[e] and lacking - helped > best:
            best, chosen = lacking - helped, c
    return gain + best, chosen


@njit(cache=True, nogil=True)
def _cover(starts, members, own, costs, size, need, out_cell, out_group):  # type: ignore[no-untyped-def]
    n_groups = len(costs)
    head = np.full(TOP + 1, -1, np.int64)
    after = np.empty(n_groups, np.int64)
    for g in range(n_groups - 1, -1, -1):
        gain, chosen = _look(g, starts, members, own, size, need)
        if chosen >= 0 and gain > 0:
            score = min(gain * STEPS // costs[g], TOP)
            after[g] = head[score]
            head[score] = g
    n, score = 0, TOP
    while score > 0:
        g = head[score]
        if g < 0:
            score -= 1
            continue
        head[score] = after[g]
        gain, chosen = _look(g, starts, members, own, size, need)
        if chosen < 0 or gain <= 0:
            continue
        now = min(gain * STEPS // costs[g], TOP)
        if now == score:
            size[chosen] -= 1
            for e in range(starts[g], starts[g + 1]):
                if members[e] != chosen:
                    need[members[e]] -= 1
            out_cell[n], out_group[n] = chosen, g
            n += 1
        after[g] = head[now]
        head[now] = g
    return n


@njit(cache=True, nogil=True)
def _take_back(n, starts, members, size, need, out_cell, out_group, kept):  # type: ignore[no-untyped-def]
    """Undo what all can do without, the latest first."""
    for a in range(n - 1, -1, -1):
        c, g = out_cell[a], out_group[a]
        needed = need[c] > 0
        for e in range(starts[g], starts[g + 1]):
            x = members[e]
            if needed:
                break
            needed = x != c and size[x] > 0 and need[x] >= 0
        kept[a] = needed
        if not needed:
            size[c] += 1
            for e in range(starts[g], starts[g + 1]):
                if members[e] != c:
                    need[members[e]] += 1


def cover(
    choices: Choices, size: NDArray[np.float64], lacking: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Cells, and the groups into which one record of each is released, so that all cells with a choice reach k.

    `size` (shape (C,)): records of each cell at risk. `lacking` (shape (C,)): matching records that each
    still lacks.

    The greedy rule for covering with multiplicities. The gain of a suppression is what it takes off the
    sum of what the records lack: all of it for the record itself, one for each other record of the group.
    Gains only fall as others are mended, so a group is looked at again when its turn comes.
    """
    left, need = size.astype(np.int64), lacking.astype(np.int64)
    most = int(left.sum())
    out_cell, out_group = np.empty(most, np.int64), np.empty(most, np.int64)
    n = _cover(choices.starts, choices.members, choices.own, choices.costs, left, need, out_cell, out_group)
    kept = np.ones(n, np.bool_)
    _take_back(n, choices.starts, choices.members, left, need, out_cell, out_group, kept)
    return out_cell[:n][kept], out_group[:n][kept]
