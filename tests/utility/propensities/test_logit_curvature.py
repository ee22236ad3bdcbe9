"""Independent columns and steps, against numpy's rank and inverse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdckit.utility.propensities import logit_curvature
from sdckit.utility.propensities.logit_curvature import Curvature, independent_columns


def rank(x):
    return np.linalg.matrix_rank(x) if x.size else 0  # NumPy before 2.4 refuses a matrix without columns


@given(st.lists(st.lists(st.integers(-2, 2), min_size=4, max_size=4), min_size=1, max_size=6))
def test_independent_columns_are_as_many_as_the_rank(rows):
    x = np.array(rows, float)
    kept, root = independent_columns(np.tril(x.T @ x), 1e-10)  # what is above is not read
    assert len(kept) == rank(x) == rank(x[:, kept])
    for j in range(x.shape[1]):  # each column is kept unless those before it give it
        before = rank(x[:, :j])
        assert (j in kept) == (rank(x[:, : j + 1]) > before)
    part = x[:, kept] / np.linalg.norm(x[:, kept], axis=0)
    assert root @ root.T == pytest.approx(part.T @ part)


def test_a_step_is_nothing_where_nothing_curves():
    curvature = Curvature.of(np.diag([2.0, 0.0, 4.0]), np.arange(3), 3)
    assert curvature.solve(np.array([1.0, 5.0, 1.0])).tolist() == pytest.approx([0.5, 0.0, 0.25])
    assert sorted(np.diag(curvature.inverse())) == pytest.approx([0.25, 0.5])
    assert Curvature.of(np.zeros((2, 2)), np.arange(2), 2).solve(np.ones(2)).tolist() == [0.0, 0.0]


def test_steps_and_the_inverse():
    x = np.random.default_rng(3).normal(size=(30, 4))
    kept = np.array([0, 2, 3, 4])
    curvature, gradient = Curvature.of(np.tril(x.T @ x), kept, 5), np.arange(5.0)
    assert curvature.solve(gradient)[kept] == pytest.approx(np.linalg.solve(x.T @ x, gradient[kept]))
    assert curvature.solve(gradient)[1] == 0.0
    order = np.searchsorted(kept, curvature.at)
    assert curvature.inverse() == pytest.approx(np.linalg.inv(x.T @ x)[np.ix_(order, order)])


def test_a_root_that_is_known_gives_the_same_steps_and_inverse():
    x = np.random.default_rng(4).normal(size=(300, 150))
    cross, gradient = x.T @ x, np.arange(150.0)
    kept, root = independent_columns(cross, 1e-10)
    known = Curvature(root.T, np.sqrt(np.diag(cross)), kept, 150)
    assert known.solve(gradient) == pytest.approx(np.linalg.solve(cross, gradient))
    assert known.inverse() == pytest.approx(np.linalg.inv(cross))


def test_nothing_has_no_inverse():
    assert Curvature.of(np.zeros((2, 2)), np.arange(2), 2).inverse().shape == (0, 0)


def test_columns_that_others_give_have_no_step_of_their_own():
    x = np.random.default_rng(3).normal(size=(30, 2))
    x = np.column_stack([x, x.sum(axis=1)])
    curvature, gradient = Curvature.of(x.T @ x, np.arange(3), 3), x.T @ np.ones(30)
    assert len(curvature.at) == 2
    assert x.T @ x @ curvature.solve(gradient) == pytest.approx(gradient)


@pytest.mark.parametrize("block", [1, 3, 64])
def test_blocks_are_cut_anywhere(block, monkeypatch):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(90, 30))
    follow = [4, 5, 11, 20, 29]
    for j in follow:
        x[:, j] = x[:, :j] @ rng.integers(-1, 2, j)
    monkeypatch.setattr(logit_curvature, "BLOCK", block)
    kept, root = independent_columns(x.T @ x, 1e-10)
    np.testing.assert_array_equal(kept, np.setdiff1d(np.arange(30), follow))
    part = x[:, kept] / np.linalg.norm(x[:, kept], axis=0)
    assert root @ root.T == pytest.approx(part.T @ part, abs=1e-12)
    assert not np.triu(root, 1).any()
