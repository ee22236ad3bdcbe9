"""The greedy choice of suppressions."""

from __future__ import annotations

import numpy as np

from protect.suppression_files import draw_rows, free, frequencies, without, working
from sdckit.protect.suppression.suppression_choices import find_choices
from sdckit.protect.suppression.suppression_cover import cover


def solve(rows, k):
    """Records changed, as the cover says, one record of a cell after the other."""
    at = working(rows).situation(range(len(rows[0])))
    choices = find_choices(at, k, free(rows))
    cell, group = cover(choices, at.size[choices.cells], k - at.frequency[choices.cells])
    left, taken = [*rows], {}
    for c, g in zip(cell.tolist(), group.tolist(), strict=True):
        members = np.flatnonzero(at.of_row == choices.cells[c])
        row = int(members[taken.get(c, 0)])
        taken[c] = taken.get(c, 0) + 1
        left[row] = without(rows[row], {j for j in range(len(rows[0])) if int(choices.masks[g]) >> j & 1})
    return left


def test_one_value_mends_a_pair():
    left = solve([(1, 1), (1, 2), (2, 5), (2, 5)], 2)
    assert sum(value is None for row in left for value in row) == 1


def test_k_minus_one_values_mend_a_whole_row_of_singles():
    rows = [(1, j) for j in range(6)]
    for k in (2, 3, 4):
        left = solve(rows, k)
        assert min(frequencies(left)) >= k
        assert sum(row[1] is None for row in left) == k - 1


def test_every_cell_with_a_choice_reaches_k():
    for seed in range(6):
        rows = draw_rows(seed, 60, (3, 4, 5))
        for k in (2, 3, 5):
            assert min(frequencies(solve(rows, k))) >= k


def test_nothing_is_taken_where_nothing_lacks():
    assert solve([(1, 1), (1, 1)], 2) == [(1, 1), (1, 1)]
