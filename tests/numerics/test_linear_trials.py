from __future__ import annotations

import numpy as np
from hypothesis import given, settings, strategies as st

from numerics.relation_cases import MOST, cases, relations_of
from sdckit.numerics.linear_bounds import make_room, narrow
from sdckit.numerics.linear_trials import Lookout, moved_by

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
