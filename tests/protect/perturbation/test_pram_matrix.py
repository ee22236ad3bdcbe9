"""Transition matrices: checked, made, and made invariant."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.errors import DataError
from sdckit.protect.perturbation.pram_matrix import around_diagonal, given_matrix, invariant_of, staying

LEVELS = ["1", "2", "3"]
GIVEN = {1: {1: 0.9, 2: 0.1}, 2: {2: 1.0}, "3": {3.0: 0.5, 1: 0.5}}


def test_the_rest_of_a_row_is_spread_evenly():
    made = around_diagonal(np.array([0.8, 0.5, 1.0]))
    assert made == pytest.approx(np.array([[0.8, 0.1, 0.1], [0.25, 0.5, 0.25], [0, 0, 1]]))
    assert around_diagonal(np.array([0.3])).tolist() == [[1.0]]


def test_invariant_by_the_reverse():
    rng = np.random.default_rng(1)
    shares = np.array([0.7, 0.2, 0.1])
    matrix = rng.dirichlet([1, 1, 1], 3)
    found = invariant_of(matrix, shares)
    assert shares @ found == pytest.approx(shares)
    assert found.sum(axis=1) == pytest.approx(np.ones(3))
    back = np.array([[matrix[j, i] * shares[j] for j in range(3)] for i in range(3)])
    back /= back.sum(axis=1, keepdims=True)
    assert found == pytest.approx(matrix @ back)


def test_a_level_that_is_never_reached():
    found = invariant_of(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([0.5, 0.5]))
    assert found == pytest.approx(np.full((2, 2), 0.5))
    rows = invariant_of(np.eye(3), np.array([0.5, 0.5, 0.0]))
    assert rows == pytest.approx(np.eye(3))  # a level that nobody has is one too


def test_levels_by_any_spelling():
    expected = [[0.9, 0.1, 0], [0, 1, 0], [0.5, 0, 0.5]]
    assert given_matrix(GIVEN, LEVELS, True, "x").tolist() == expected
    texts = {str(float(a)): dict(row) for a, row in GIVEN.items()}
    assert given_matrix(texts, LEVELS, True, "x").tolist() == expected
    with pytest.raises(DataError, match="leads to a level that no record has"):
        given_matrix({"1": {"1.0": 1}}, LEVELS, False, "x")


def test_levels_of_nobody_may_stand_in_it():
    more = {**GIVEN, 4: {1: 1.0}, 2: {2: 1.0, 4: 0.0}}
    assert given_matrix(more, LEVELS, True, "x")[1].tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({1: {1: 0.9}}, "'x' is not stochastic: row 1 sums to 0.9, not to 1"),
        ({2: {1: 1.5, 2: -0.5}}, "row 2: a probability is a number from 0 to 1"),
        ({2: {2: "all"}}, "a probability is a number"),
        ({2: {2: float("nan")}}, "a probability is a number"),
        ({2: 1.0}, "write it as"),
        ({2: {9: 1.0}}, "row 2 leads to a level that no record has"),
    ],
)
def test_not_a_matrix(change, message):
    with pytest.raises(DataError, match=message):
        given_matrix({**GIVEN, **change}, LEVELS, True, "x")


def test_a_level_without_a_row():
    with pytest.raises(DataError, match="has no row for 2 of the 3 levels"):
        given_matrix({1: {1: 1}}, LEVELS, True, "x")


def test_the_chance_of_staying():
    rng = np.random.default_rng(1)
    drawn = staying(0.8, LEVELS * 100, True, rng)
    assert 0.8 <= drawn.min() < 0.81
    assert 0.99 < drawn.max() <= 1
    assert staying({1: 0.5, 2: 0.6, 3: 1, 9: 0}, LEVELS, True, rng).tolist() == [0.5, 0.6, 1.0]
    with pytest.raises(DataError, match="no chance of staying for 1 levels"):
        staying({1: 0.5, 2: 0.6}, LEVELS, True, rng)
