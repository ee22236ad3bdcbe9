"""The k smallest sums, and rows counted as closer or tied."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdckit.numerics.search.box_search import add, farther, insert, still_near, tally


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 3)), min_size=1), st.integers(1, 4))
def test_the_smallest_are_kept_as_often_as_they_occur(drawn, k):
    best = np.full(k, np.inf)
    for value, copies in drawn:
        insert(best, float(value), copies)
    every = sorted(float(value) for value, copies in drawn for _ in range(copies))
    assert best.tolist() == (every + [np.inf] * k)[:k]


@pytest.mark.parametrize(("total", "slack", "squared", "expected"), [
    (2.0, 0.5, False, 2.5), (2.0, -3.0, False, 0.0), (4.0, 1.0, True, 9.0), (4.0, -1.0, True, 1.0),
    (np.inf, 1.0, True, np.inf),
])  # fmt: skip
def test_a_sum_at_a_larger_distance(total, slack, squared, expected):
    assert farther(total, slack, squared) == expected


def test_candidates_that_are_too_far_are_forgotten():
    kept, at = np.array([3.0, 1.0, 2.0]), np.array([7, 8, 9])
    assert still_near(kept, at, 2.0) == 2
    assert kept[:2].tolist() == [1.0, 2.0]
    assert at[:2].tolist() == [8, 9]


def test_rows_are_counted_as_closer_or_tied_and_the_first_nearest_is_kept():
    closer, tied, nearest = np.zeros(1, np.int64), np.zeros(1, np.int64), np.full(1, -1)
    for total, row, copies in ((1.0, 5, 2), (1.0, 3, 1), (2.0, 1, 4)):
        tally(0, total, 1.0, 1.5, row, copies, closer, tied, nearest)
    assert (closer[0], tied[0], nearest[0]) == (3, 4, 3)


def test_values_are_added_up():
    sums = np.ones((2, 2))
    add(1, np.array([2.0, 3.0]), sums)
    assert sums.tolist() == [[1.0, 1.0], [3.0, 4.0]]
