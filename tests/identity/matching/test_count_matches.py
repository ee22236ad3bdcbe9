"""The kernel of B1 on cases small enough to see."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdckit.errors import DataError
from sdckit.identity.matching import count_matches as kernel
from sdckit.identity.matching.count_matches import Category, Interval, match, match_in_ball


def category(target, released, *, wild=False):
    return Category(np.array(target, np.int32), np.array(released, np.int32), wild)


def interval(target, released, **options):
    chosen = {
        "width": 0.1,
        "relative": True,
        "tol": 0.0,
        "closed": True,
        "around_target": True,
        "wild": False,
        **options,
    }
    return Interval(np.array(target, float), np.array(released, float), **chosen)


ALIGNED = np.arange(3)


def count_matches(categories, intervals, groups=None):
    n = len((*categories, *intervals)[0].target)
    return match(categories, intervals, np.arange(n), groups)[0]


def match_one(categories, intervals, own):
    return match(categories, intervals, own)[1]


def test_a_missing_category():
    codes = [0, 1, 2], [0, 0, 2]
    assert count_matches([category(*codes)], []).tolist() == [2, 0, 1]
    assert match_one([category(*codes)], [], ALIGNED).tolist() == [True, False, True]
    assert count_matches([category(*codes, wild=True)], []).tolist() == [3, 2, 3]
    assert match_one([category(*codes, wild=True)], [], ALIGNED).tolist() == [True, True, True]


def test_a_missing_number():
    values = [np.nan, 10, 10], [np.nan, np.nan, 11]
    assert count_matches([], [interval(*values)]).tolist() == [2, 1, 1]
    assert match_one([], [interval(*values)], ALIGNED).tolist() == [True, False, True]
    assert count_matches([], [interval(*values, wild=True)]).tolist() == [3, 3, 3]
    assert match_one([], [interval(*values, wild=True)], ALIGNED).all()


@pytest.mark.parametrize(
    ("options", "low", "high"),
    [
        ({}, [9, -11, 0], [11, -9, 0]),
        ({"relative": False, "width": 2.0}, [8, -12, -2], [12, -8, 2]),
        ({"tol": 0.5}, [8.5, -11.5, -0.5], [11.5, -8.5, 0.5]),
    ],
)
def test_closed_bounds(options, low, high):
    found = interval([], [], **options).bounds(np.array([10.0, -10.0, 0.0]))
    assert [one.tolist() for one in found] == [low, high]


def test_open_bounds_leave_the_ends_out_and_are_empty_below_zero():
    low, high = interval([], [], closed=False).bounds(np.array([10.0, -10.0, 0.0]))
    assert low[0] == np.nextafter(9.0, 10)
    assert high[0] == np.nextafter(11.0, 10)
    assert (low[1:] > high[1:]).all()


def test_a_wide_interval_around_the_released_value_is_two_conditions():
    values = [30.0, -4.0, 1.0], [10.0, -10.0, 2.0]
    wide = interval(*values, width=1.5, around_target=False)
    assert len(wide.dimensions(ALIGNED, ALIGNED)) == 2
    assert len(interval(*values, width=1.0, around_target=False).dimensions(ALIGNED, ALIGNED)) == 1
    inside = [[abs(x - y) <= 1.5 * abs(y) for y in values[1]] for x in values[0]]
    assert count_matches([], [wide]).tolist() == [sum(row) for row in inside]


def test_groups_given_and_groups_made_are_the_same():
    one = category([1, 2, 1], [1, 1, 2])
    given = np.array([5, 0, 5], np.int32), np.array([5, 5, 0], np.int32), 6
    number = interval([1, 2, 3], [1, 2, 3])
    assert count_matches([one], [number], given).tolist() == count_matches([one], [number]).tolist() == [1, 0, 0]


def test_too_many_patterns_of_missing_values(monkeypatch):
    monkeypatch.setattr(kernel, "MOST_PATTERN_PAIRS", 3)
    one = category([0, 1], [0, 1], wild=True)
    with pytest.raises(DataError, match="2 and 2 patterns of missing values, 4 pairs"):
        count_matches([one], [])
    with pytest.raises(DataError, match="64 variables have missing values, more than the 63"):
        count_matches([category([0, 1], [0, 1], wild=True) for _ in range(64)], [])


CODES = st.integers(0, 2)


@given(
    st.lists(st.tuples(CODES, CODES, CODES, CODES, st.integers(1, 9)), min_size=1, max_size=25),
    st.tuples(st.booleans(), st.booleans()),
    st.booleans(),
)
def test_cells_match_as_the_records_that_they_stand_for(rows, wild, with_number):
    """Rows that stand for several records, missing values that match any, and words beside pairs of patterns."""
    x, y, u, v, times = (np.array(column) for column in zip(*rows, strict=True))
    categories = [category(x, y, wild=wild[0]), category(u, v, wild=wild[1])]
    intervals = [interval(x, v, width=1.0, relative=False)] if with_number else []
    count, true = match(categories, intervals, np.arange(len(rows)), times=times)
    near = np.abs(x[:, None] - v) <= 1 if with_number else np.ones((len(rows), len(rows)), bool)
    for (target, released), any_value in zip(((x, y), (u, v)), wild, strict=True):
        alike = target[:, None] == released
        near &= alike | (any_value & ((target[:, None] == 0) | (released == 0)))
    assert count.tolist() == (near @ times).tolist()
    assert true.tolist() == near.diagonal().tolist()


def test_codes_that_are_no_word_together_match_by_pairs_of_patterns():
    wide = [category([0, 1 << 30, 7], [1 << 30, 1 << 30, 0], wild=True) for _ in range(3)]
    assert count_matches(wide, []).tolist() == [3, 3, 1]
    assert match_one(wide, [], ALIGNED).tolist() == [True, True, True]


# Numbers within a radius, group by group, beside a full table of distances.


WHOLE = st.integers(-3, 3) | st.none()


@given(
    st.lists(st.tuples(st.integers(0, 2), WHOLE, WHOLE, WHOLE, WHOLE), min_size=1, max_size=25),
    st.sampled_from([0.0, 1.0, 1.5, 2.5]),
    st.booleans(),
)
def test_counts_and_hits(rows, radius, closed):
    group = np.array([row[0] for row in rows], np.int32)
    x, y, u, v = (np.array([np.nan if row[at] is None else row[at] for row in rows], float) for at in range(1, 5))
    intervals = [Interval(one, other, radius, False, 0.0, closed, True, False) for one, other in ((x, u), (y, v))]
    units = [2.0, 1.0]
    count, true = match_in_ball([Category(group, group, False)], intervals, units, np.arange(len(rows)))
    near = np.zeros((len(rows), len(rows)))
    same = group[:, None] == group[None]
    for one, other, unit in ((x, u, 2.0), (y, v, 1.0)):
        gap = np.isnan(one)[:, None] != np.isnan(other)[None]
        same &= ~gap
        near += np.nan_to_num(((one[:, None] - other[None]) / unit) ** 2)
    within = same & (np.sqrt(near) <= radius if closed else np.sqrt(near) < radius)
    assert count.tolist() == within.sum(axis=1).tolist()
    assert true.tolist() == within.diagonal().tolist()


@pytest.mark.parametrize(("closed", "expected"), [(True, [2, 2]), (False, [0, 0])])
def test_a_radius_of_nothing_is_equality(closed, expected):
    one = Interval(np.array([1.0, 1.0]), np.array([1.0, 1.0]), 0.0, False, 0.0, closed, True, False)
    assert match_in_ball([], [one], [1.0], np.arange(2))[0].tolist() == expected
