"""Release and counts as one system."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.attacks.published.audit_model import (
    Axis,
    ContradictionError,
    build,
    margins_of,
    patterns_of,
    row_words,
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
        zip(
            map(tuple, system.completions.levels.tolist()),
            zip(system.low, system.high, strict=True),
            strict=True,
        )
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
