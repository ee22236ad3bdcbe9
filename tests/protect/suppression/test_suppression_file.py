"""The file while values are taken out: frequencies by the rule of `cells/`."""

from __future__ import annotations

import numpy as np
import pytest

from protect.suppression_files import draw_rows, frequencies, without, working


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_frequencies_follow_what_is_taken_out(alpha):
    rows = draw_rows(1, 30, (2, 3, 3), missing=0.1)
    file = working(rows, alpha)
    at = file.situation([0, 1, 2])
    assert at.frequency[at.of_row].tolist() == pytest.approx(frequencies(rows, alpha))
    file.take_out([0, 1, 2], np.array([0b101, 0b010], np.uint64), np.array([4, 7]))
    after = [*rows]
    after[4], after[7] = without(rows[4], {0, 2}), without(rows[7], {1})
    at = file.situation([0, 1, 2])
    assert at.frequency[at.of_row].tolist() == pytest.approx(frequencies(after, alpha))
    assert [int(file.new(j).sum()) for j in range(3)] == [
        sum(a[j] != b[j] for a, b in zip(rows, after, strict=True)) for j in range(3)
    ]


def test_some_keys_and_strata():
    rows = [(1, 5), (1, 6), (1, 5), (2, 5)]
    at = working(rows, strata=["a", "a", "b", "b"]).situation([0])
    assert at.frequency[at.of_row].tolist() == [2, 2, 1, 1]
    assert at.codes.shape == (3, 1)


def test_cells_at_risk_and_their_rows_come_in_the_order_of_the_file():
    rows = [(9,), (1,), (5,), (5,), (9,), (9,)]
    at = working(rows).situation([0])
    risky = at.at_risk(3)
    assert at.first[risky].tolist() == [1, 2]
    found, starts = at.rows_of(risky)
    assert (found.tolist(), starts.tolist()) == ([1, 2, 3], [0, 1, 3])


def test_missing_values_have_no_code():
    at = working([(1, None), (None, 2)]).situation([0, 1])
    assert sorted((at.codes < 0).tolist()) == [[False, True], [True, False]]
