"""Sums in whole units, and what they leave to what is hidden."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.attacks.published.audit_sums import (
    DisagreementError,
    Possible,
    Shown,
    SummedCells,
    apart,
    in_units,
    no_terms,
    sum_terms,
    unit_of,
)


def test_the_largest_unit_in_which_all_values_are_whole():
    unit, whole = unit_of(np.array([1200.0, 300.0, np.nan, -900.0]))
    assert (unit.scale, unit.common, unit.slack) == (1, 300, 0)
    assert whole[[0, 1, 3]].tolist() == [4, 1, -3]
    assert np.isnan(whole[2])
    unit, whole = unit_of(np.array([0.1, 0.25, 7.0]))
    assert (unit.scale, unit.common) == (100, 5)
    assert whole.tolist() == [2, 5, 140]
    assert unit_of(np.zeros(3))[1].tolist() == [0, 0, 0]


def test_values_that_no_unit_holds_are_rounded_and_their_sums_widened():
    values = np.exp(np.random.default_rng(1).normal(10, 1, 50))
    unit, whole = unit_of(values)
    assert unit.slack == 50
    low, high = in_units(np.array([values.sum()]), np.array([values.sum()]), unit, is_open=False)
    assert low[0] <= whole.sum() <= high[0]
    assert high[0] - low[0] < 200
    huge, _ = unit_of(np.array([2.0**52, 2.0**51 + 1]))
    assert huge.slack == 2


@pytest.mark.parametrize(
    ("ends", "is_open", "expected"),
    [
        ((4, 8), True, (1, 1)), ((5, 10), False, (1, 2)), ((6, 9), False, (2, 1)), ((-8, -4), True, (-1, -1)),
        ((-np.inf, np.inf), True, (-np.inf, np.inf)), ((9.9999999, 10.0000001), False, (2, 2)),
    ],
)  # fmt: skip
def test_ends_of_sums_in_units(ends, is_open, expected):
    unit, _ = unit_of(np.array([5.0, 10.0]))
    low, high = in_units(*(np.array([float(one)]) for one in ends), unit, is_open=is_open)
    assert (low[0], high[0]) == expected


def test_records_are_kept_apart_where_something_is_hidden_only():
    values = np.array([[1.0, 5], [1, 5], [2, 5], [np.nan, 5], [np.nan, 5], [1, 6]])
    hidden = np.array([True, False, True, True, True, True])
    found = apart(values, hidden)
    assert found[1] == 0
    assert found[3] == found[4]
    assert len(set(found.tolist())) == 5


def terms(told, *, value=(3.0,), total=(10.0, 20.0, 3.0), is_open=False):
    """Two cells with one record shown in each, and one that may be in either."""
    table = SummedCells(0, 0, (0,), *(np.array(one, float) for one in told))
    shown = Shown(np.array([[0], [1], [-1]]), np.array(total)[:, None], np.array([False, False, is_open]))
    n = 0 if is_open else 2
    possible = Possible(np.array([[0], [1]])[:n], np.zeros((n, 1), np.bool_), np.full((n, 1), value[0]))
    return sum_terms([table], shown, possible)


def test_what_a_sum_leaves_to_the_records_that_may_fall_into_its_cell():
    found = terms(([13, 20], [13, 20]))
    assert found.row.tolist() == [0, 1]
    assert found.column.tolist() == [0, 1]
    assert found.factor.tolist() == [3, 3]
    assert (found.lower.tolist(), found.upper.tolist()) == ([3, 0], [3, 0])
    assert found.given.all()


def test_cells_of_records_without_a_value_are_told_nothing_of():
    assert len(terms(([13, 20], [13, 20]), value=(np.nan,), total=(10, 20, np.nan)).lower) == 0
    one = terms(([13, 20], [13, 20]), total=(np.nan, 20, 3))
    assert (one.column.tolist(), one.upper.tolist()) == ([1], [0])


def test_records_with_too_many_completions_loosen_every_cell():
    assert len(terms(([10, 20], [10, 20]), is_open=True).lower) == 0
    with pytest.raises(DisagreementError):
        terms(([14, 20], [14, 20]), is_open=True)


def test_nothing_added_up_to_something_is_a_disagreement():
    with pytest.raises(DisagreementError) as error:
        terms(([11, 20], [11, 20]), value=(0.0,), total=(10, 20, 0))
    assert (error.value.tables, error.value.cells) == ((0,), 1)
    assert len(no_terms().lower) == 0
