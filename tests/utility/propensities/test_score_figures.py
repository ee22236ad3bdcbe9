"""Figures of scores, against all pairs of records."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdckit.utility.propensities.score_figures import mean_squared_error, score_figures

ROWS = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12)


@given(ROWS)
def test_against_pairs_of_records(rows):
    original = [score / 8 for score, n, _ in rows for _ in range(n)]
    released = [score / 8 for score, _, n in rows for _ in range(n)]
    if not original or not released:
        return
    score, n, n_released = (np.array(column, float) for column in zip(*rows, strict=True))
    found = score_figures(score / 8, n, n_released)
    both = len(original) + len(released)
    c = len(released) / both
    assert found["pmse"] == pytest.approx(sum((p - c) ** 2 for p in original + released) / both)
    pairs = [(s > o) + (s == o) / 2 for s in released for o in original]
    assert found["u"] == sum(pairs)
    assert found["auc"] == pytest.approx(np.mean(pairs))
    right = sum(p > 0.5 for p in released) + sum(p <= 0.5 for p in original)
    assert found["po50"] == pytest.approx(right / both - 0.5)
    below = lambda file, at: np.mean([p <= at for p in file])  # noqa: E731
    assert found["specks"] == pytest.approx(
        max(abs(below(original, at) - below(released, at)) for at in original + released)
    )


def test_scores_that_differ_by_rounding_are_tied():
    one, two = np.array([0.5, 0.5 + 1e-15]), np.array([1.0, 0.0])
    found = score_figures(one, two, 1 - two)
    assert (found["u"], found["specks"], found["po50"]) == (0.5, 0.0, 0.0)


def test_pmse_is_largest_where_all_are_told_apart():
    original, released = np.array([3.0, 0.0]), np.array([0.0, 1.0])
    assert mean_squared_error(np.array([0.0, 1.0]), original, released) == pytest.approx(0.25 * 0.75)
