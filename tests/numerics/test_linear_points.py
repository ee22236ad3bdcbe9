from __future__ import annotations

import numpy as np
from hypothesis import given, settings, strategies as st

from numerics.relation_cases import MOST, cases, relations_of
from sdckit.numerics.linear_bounds import narrow
from sdckit.numerics.linear_points import few_values, find_point


@settings(max_examples=150, deadline=None)
@given(cases(), st.integers(0, 2))
def test_a_point_meets_all_relations_and_none_is_missed(case: tuple, style: int) -> None:
    relations, _, points = case
    low, high = np.zeros(4), np.full(4, float(MOST))
    if not narrow(relations, low, high, -1):
        return
    found = find_point(relations, low, high, np.arange(4), style, 20)
    if found == 1:
        assert tuple(low.astype(int)) in points
    elif found == 0:
        assert not points


@settings(max_examples=150, deadline=None)
@given(cases())
def test_few_values_are_told_as_trying_all_points_tells(case: tuple) -> None:
    relations, _, points = case
    low, high = np.zeros(4), np.full(4, float(MOST))
    if not points or not narrow(relations, low, high, -1):
        return
    used = np.zeros(2, np.int64)
    found = few_values(relations, low, high, np.arange(4), np.arange(4), np.empty((64, 4)), used, (3, 5, 20))
    few = [
        v for v in range(4)
        if len(values := {point[v] for point in points}) < 3 and any(0 < value < 5 for value in values)
    ]  # fmt: skip
    if used[1] == 0:
        assert found == (few[0] if few else -1)
    else:
        assert found >= 0


def test_a_remembered_point_at_the_end_of_a_step_is_outside_of_it() -> None:
    """A sum of less than 5 is 4 at most: the point with 5 shows no third value of the first number."""
    relations = relations_of(np.array([[1.0, 1.0, -1.0, 1.0]]), [0.0], [0.0])
    points = np.array([[1.0, 2.0, 3.0, 0.0], [2.0, 2.0, 4.0, 0.0], [3.0, 2.0, 5.0, 0.0]])
    low, high = np.array([1.0, 2.0, 0.0, 0.0]), np.array([4.0, 2.0, 5.0 - 1e-6, 0.0])
    used = np.array([3, 0])
    found = few_values(relations, low, high, np.array([0]), np.arange(4), points, used, (3, 5, 20))
    assert found == 0


def test_a_number_without_an_upper_end_takes_many_values() -> None:
    relations = relations_of(np.array([[1.0, -1.0, 0.0, 0.0]]), [0.0], [np.inf])
    low, high = np.zeros(4), np.array([np.inf, 3.0, 0.0, 0.0])
    points = np.zeros((8, 4))
    points[0, 0] = 1.0  # a small value is known, and further ones are looked for
    used = np.array([1, 0])
    assert few_values(relations, low, high, np.array([0]), np.arange(4), points, used, (3, 5, 20)) == -1
    assert used[0] == 3
