from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings, strategies as st
from scipy.optimize import LinearConstraint

from numerics.relation_cases import MOST, cases, relations_of
from sdckit.numerics.linear_bounds import (
    SOLVER_FAILED,
    Lookout,
    _values_of_points,
    few_values,
    find_point,
    forget,
    is_tidy,
    make_room,
    moved_by,
    narrow,
    narrow_noting,
    put_back,
    solve_programme,
)


@settings(max_examples=150, deadline=None)
@given(cases())
def test_narrowing_loses_no_point(case: tuple) -> None:
    relations, _, points = case
    low, high = np.zeros(4), np.full(4, float(MOST))
    if not narrow(relations, low, high, -1):
        assert not points
    every = np.array(points).reshape(-1, 4)
    assert ((low <= every) & (every <= high)).all()


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
    narrow_noting(relations, low, high, -1, room, 1)
    forget(room)
    before = low.copy(), high.copy()
    low[v] = high[v] = value
    holds = narrow_noting(relations, low, high, v, room, 1)
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


# A programme is solved, or said to have no solution; where the solver fails it is tried in another way.


GOAL = np.array([1.0, 2.0])
MORE = {
    "integrality": np.ones(2),
    "bounds": (0.0, 9.0),
    "constraints": LinearConstraint(np.array([[2.0, 3.0]]), 7.0, 12.0),
}


def test_the_solution_is_that_of_all_points() -> None:
    points = [(x, y) for x in range(10) for y in range(10) if 7 <= 2 * x + 3 * y <= 12]
    found = solve_programme(GOAL, **MORE)
    assert found.fun == min(x + 2 * y for x, y in points)
    assert tuple(found.x.round()) in points


def test_what_cannot_be_is_said() -> None:
    none = LinearConstraint(np.array([[2.0, 2.0]]), 3.0, 3.0)
    assert solve_programme(GOAL, **{**MORE, "constraints": none}).status == 2


def test_where_the_solver_fails_it_is_asked_again_without_its_first_step(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    real = scipy.optimize.milp

    def stumbles(goal: Any, *, options: Any = None, **more: Any) -> Any:
        asked.append(dict(options))
        found = real(goal, options=options, **more)
        if len(asked) == 1:
            found.status, found.x = SOLVER_FAILED, None
        return found

    monkeypatch.setattr(scipy.optimize, "milp", stumbles)
    assert solve_programme(GOAL, options={"node_limit": 5}, **MORE).x is not None
    assert asked == [{"node_limit": 5}, {"node_limit": 5, "presolve": False}]


FLAGS = st.lists(st.booleans(), min_size=4, max_size=4).map(np.array)
LIMITS = np.array([3.0, 4.0])


def looking(always: np.ndarray, wide: np.ndarray, part: list[int]) -> Lookout:
    return Lookout(np.array([0, 2, 3]), np.array(part), always, wide, LIMITS)


@settings(max_examples=150, deadline=None)
@given(cases(), st.integers(0, 3), st.tuples(st.integers(0, MOST), st.integers(0, MOST)), FLAGS, FLAGS)
def test_those_are_looked_at_whose_ends_move_or_that_always_are(
    case: tuple, v: int, ends: tuple[int, int], always: np.ndarray, wide: np.ndarray
) -> None:
    relations, _, _points = case
    known = np.zeros(4), np.full(4, float(MOST))
    if not narrow(relations, *known, -1):
        return
    before = known[0].copy(), known[1].copy()
    tried = np.full(4, np.nan), np.full(4, np.nan)
    lookout, intervals = looking(always, wide, [0, 0, 0, 1]), np.array([ends], float)
    at, found = moved_by(relations, known, v, intervals, lookout, tried, make_room(relations))
    assert at == (not len(found))
    assert (known[0] == before[0]).all()
    assert (known[1] == before[1]).all()
    low, high = before[0].copy(), before[1].copy()
    low[v], high[v] = max(low[v], ends[0]), min(high[v], ends[1])
    if low[v] > high[v] or not narrow(relations, low, high, v):
        assert not len(found)
        return
    assert (tried[0] == low).all()
    assert (tried[1] == high).all()
    moved = (low != before[0]) | (high != before[1])
    linked = np.array([0, 0, 0, 1]) == [0, 0, 0, 1][v]
    open_ = (high > 0) & (low < LIMITS[0]) & (wide | (high - low <= LIMITS[1]))
    expected = moved[v] * (linked & open_ & (moved | always))
    assert found.tolist() == [w for w in (0, 2, 3) if expected[w]]


def test_what_is_known_or_cannot_be_moves_nobody() -> None:
    relations = relations_of(np.ones((1, 4)), [2.0], [2.0])
    known, tried = (np.zeros(4), np.full(4, 2.0)), (np.zeros(4), np.zeros(4))
    lookout = looking(np.ones(4, bool), np.ones(4, bool), [0] * 4)
    intervals = np.array([(0.0, 2.0), (3.0, 9.0), (2.0, 2.0), (1.0, 1.0), (0.0, 1.0)])
    at, found = moved_by(relations, known, 1, intervals, lookout, tried, make_room(relations))
    assert (at, found.tolist()) == (3, [0, 2, 3])
    assert tried[1].tolist() == [1, 1, 1, 1]
    at, found = moved_by(relations, known, 1, intervals[:3], lookout, tried, make_room(relations))
    assert (at, found.tolist()) == (3, [])


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


@pytest.mark.parametrize("outside", [-5.0, 5.0])
def test_a_remembered_point_counts_where_every_variable_is_within(outside: float) -> None:
    """Points outside in one variable each, the last one included, between two that are within."""
    points = np.zeros((7, 6))
    points[:, 0] = np.arange(7)  # a value of its own for each point
    points[np.arange(1, 6), np.arange(1, 6)] = outside
    low, high = np.zeros(6), np.array([9.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    seen, looked_at, inside = np.empty(3), np.zeros(7, np.bool_), np.zeros(7, np.bool_)
    for order in (np.arange(6), np.arange(6)[::-1].copy()):
        looked_at[:] = False
        n = _values_of_points(seen, 0, points, np.int64(7), looked_at, inside, low, high, order)
        assert sorted(seen[:n]) == [0.0, 6.0]


def test_a_number_without_an_upper_end_takes_many_values() -> None:
    relations = relations_of(np.array([[1.0, -1.0, 0.0, 0.0]]), [0.0], [np.inf])
    low, high = np.zeros(4), np.array([np.inf, 3.0, 0.0, 0.0])
    points = np.zeros((8, 4))
    points[0, 0] = 1.0  # a small value is known, and further ones are looked for
    used = np.array([1, 0])
    assert few_values(relations, low, high, np.array([0]), np.arange(4), points, used, (3, 5, 20)) == -1
    assert used[0] == 3
