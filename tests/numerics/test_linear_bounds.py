from __future__ import annotations

import numpy as np
from hypothesis import given, settings, strategies as st

from numerics.relation_cases import MOST, cases, relations_of
from sdckit.numerics.linear_bounds import forget, is_tidy, make_room, narrow, narrow_noting, put_back


@settings(max_examples=150, deadline=None)
@given(cases())
def test_narrowing_loses_no_point(case: tuple) -> None:
    relations, _, points = case
    low, high = np.zeros(4), np.full(4, float(MOST))
    if not narrow(relations, low, high, -1):
        assert not points
    assert all((low <= point).all() and (point <= high).all() for point in map(np.array, points))


def test_an_open_end_is_no_end() -> None:
    relations = relations_of(np.array([[1.0, -1.0, 0.0 + 1, -1.0]]), [0.0], [0.0])
    low, high = np.zeros(4), np.array([3.0, np.inf, 2.0, np.inf])
    assert narrow(relations, low, high, -1)
    assert high.tolist() == [3.0, 5.0, 2.0, 5.0]


@settings(max_examples=150, deadline=None)
@given(cases(), st.integers(0, 3), st.integers(0, MOST))
def test_what_moved_can_be_put_back(case: tuple, v: int, value: int) -> None:
    relations, _, _points = case
    low, high = np.zeros(4), np.full(4, float(MOST))
    room = make_room(relations)
    narrow_noting(relations, low, high, -1, room, True)
    forget(room)
    before = low.copy(), high.copy()
    low[v] = high[v] = value
    holds = narrow_noting(relations, low, high, v, room, True)
    as_new = before[0].copy(), before[1].copy()
    as_new[0][v] = as_new[1][v] = value
    assert holds == narrow(relations, *as_new, v)
    if holds:
        assert (low == as_new[0]).all()
        assert (high == as_new[1]).all()
    put_back(low, high, room)
    low[v], high[v] = before[0][v], before[1][v]
    assert (low == before[0]).all()
    assert (high == before[1]).all()
    assert not room.queued.any()


def test_whole_numbers_with_other_ends_are_not_tidy() -> None:
    relations = relations_of(np.ones((1, 4)), [0.0], [2.9])
    low, high = np.zeros(4), np.array([1.0, 1.0, 2.5, 1.0])
    assert not is_tidy(relations, low, high)
    assert narrow(relations, low, high, -1)
    assert high[2] == 2.0
    assert is_tidy(relations, low, high)
