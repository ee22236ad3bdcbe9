"""The integer programme finds the fewest suppressions."""

from __future__ import annotations

import numpy as np
import pytest

from protect.suppression_files import draw_rows, fewest, free, frequencies, without, working
from sdckit.protect.suppression import suppression_exact
from sdckit.protect.suppression.suppression_bound import needs_of
from sdckit.protect.suppression.suppression_choices import find_choices
from sdckit.protect.suppression.suppression_exact import solve


def solved(rows, k, nodes=1000, least=0):
    at = working(rows).situation(range(len(rows[0])))
    found = needs_of(at, k, find_choices(at, k, free(rows)), free(rows))
    return solve(at, k, found.cells, found.keys, least, nodes)


@pytest.mark.parametrize(
    ("seed", "k", "missing"), [(1, 2, 0.0), (2, 3, 0.0), (3, 2, 0.2), (4, 2, 0.0), (5, 3, 0.1)]
)
def test_fewest(seed, k, missing):
    rows = draw_rows(seed, 6, (2, 3, 3), missing)
    solution = solved(rows, k)
    assert solution.total == solution.bound == fewest(rows, k)
    left = [*rows]
    for i, mask in zip(solution.rows.tolist(), solution.masks.tolist(), strict=True):
        left[i] = without(rows[i], {j for j in range(3) if mask >> j & 1})
    assert min(frequencies(left)) >= k
    assert (
        sum(a != b for old, new in zip(rows, left, strict=True) for a, b in zip(old, new, strict=True))
        == solution.total
    )


def test_a_large_problem_is_not_tried(monkeypatch):
    rows = draw_rows(1, 12, (3, 4, 5))
    monkeypatch.setattr(suppression_exact, "MOST_RECORDS", 3)
    assert solved(rows, 3) is None
    monkeypatch.setattr(suppression_exact, "MOST_RECORDS", 100)
    monkeypatch.setattr(suppression_exact, "MOST_PAIRS", 10)
    assert solved(rows, 3) is None


def test_strata_do_not_match():
    rows = [(1, 1), (1, 2), (1, 1), (1, 2)]
    at = working(rows, strata=["a", "a", "b", "b"]).situation([0, 1])
    solution = solve(at, 2, at.at_risk(2), np.ones(4, np.int64), 0, 100)
    assert solution.total == 2
