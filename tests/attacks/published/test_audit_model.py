"""Release and counts as one system."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.attacks.published.audit_model import (
    Axis,
    ContradictionError,
    Possible,
    Shown,
    SummedCells,
    apart,
    build,
    in_units,
    margins_of,
    no_terms,
    patterns_of,
    row_words,
    sum_terms,
    unit_of,
)

SHOWN_OR_ANY = np.vstack([np.eye(2, dtype=bool), np.ones((1, 2), np.bool_)])
AXES = [Axis(0, np.arange(2), 2), Axis(1, np.arange(2), 2)]


def patterns(rows):
    return patterns_of(np.array(rows), [SHOWN_OR_ANY, SHOWN_OR_ANY], AXES)


def table(counts, axes=(0, 1)):
    return axes, np.array(counts), np.array(counts)


def test_records_that_show_the_same_are_one_pattern():
    found = patterns([(0, 1), (2, 1), (0, 1), (2, 2)])
    assert found.size.tolist() == [2, 1, 1]
    assert found.of_row.tolist() == [0, 1, 0, 2]
    assert found.hidden.tolist() == [[False, False], [True, False], [True, True]]
    assert found.levels.tolist() == [[0, 1], [-1, 1], [-1, -1]]
    assert found.shown.tolist() == found.levels.tolist()


def test_row_words_are_equal_where_rows_are_also_when_they_do_not_fit_one_word():
    rows = np.random.default_rng(1).integers(0, 3, (200, 60))
    rows[100:] = rows[:100]
    words = row_words(rows, [3] * 60)
    assert (words[:100] == words[100:]).all()
    assert len(np.unique(words)) == len(np.unique(rows, axis=0))


def test_every_margin_is_there_and_what_two_tables_say_is_joined():
    lower = np.array([[0, 1], [2, 3]])
    wide = ((0, 1), lower, lower + 1)
    exact = ((0,), np.array([2, 6]), np.array([2, 6]))
    found = margins_of([wide, exact])
    assert set(found) == {(0,), (1,), (0, 1)}
    assert (found[0,].lower.tolist(), found[0,].upper.tolist()) == ([2, 6], [2, 6])
    assert (found[1,].lower.tolist(), found[1,].upper.tolist()) == ([2, 4], [4, 6])
    with pytest.raises(ContradictionError):
        margins_of([wide, ((0,), np.array([9, 6]), np.array([9, 6]))])


def test_what_has_no_room_is_dropped_and_bounds_are_narrowed():
    rows = [(0, 0), (2, 0), (1, 2)]
    system = build(patterns(rows), [table([[1, 0], [1, 1]])])
    known = dict(
        zip(map(tuple, system.completions.levels.tolist()), zip(system.low, system.high, strict=True), strict=True)
    )
    assert known == {(1, 0): (1, 1), (1, 1): (1, 1)}


def test_patterns_with_too_many_completions_are_left_open_and_loosen_the_others():
    rows = [(2, 2), (2, 2), (2, 0), (0, 0)]
    system = build(patterns(rows), [table([[2, 1], [1, 0]])], most=2)
    assert system.completions.open.sum() == 1
    assert system.high.min() >= 0


def test_more_shown_than_counted_is_a_contradiction():
    with pytest.raises(ContradictionError) as error:
        build(patterns([(0, 0), (0, 0)]), [table([[1, 1], [0, 0]])])
    assert error.value.tables == (0,)


def test_counts_that_no_file_has_are_a_contradiction():
    with pytest.raises(ContradictionError):
        build(patterns([(2, 0)]), [table([1, 1], (0,)), table([1, 0], (1,))])


# Sums in whole units, and what they leave to what is hidden.


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
    with pytest.raises(ContradictionError):
        terms(([14, 20], [14, 20]), is_open=True)


def test_nothing_added_up_to_something_is_a_disagreement():
    with pytest.raises(ContradictionError) as error:
        terms(([11, 20], [11, 20]), value=(0.0,), total=(10, 20, 0))
    assert (error.value.tables, error.value.cells) == ((0,), 1)
    assert len(no_terms().lower) == 0
