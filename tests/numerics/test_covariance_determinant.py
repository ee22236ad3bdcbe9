"""The minimum covariance determinant beside scikit-learn's, which draws the same subsets."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.stats import chi2
from sklearn.covariance import MinCovDet

from sdckit.numerics.covariance_determinant import (
    _root_of_inverse,
    _smallest,
    consistency,
    minimum_covariance_determinant,
)


def rows(n, p, seed=1):
    """Skewed, correlated columns with a cluster of outlying rows."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + rng.exponential(size=(n, 1))
    values[: n // 10] += 12
    return values[rng.permutation(n)]


@pytest.mark.parametrize(
    "shape", [(8, 2), (60, 1), (300, 4), (500, 3), (501, 3), (1499, 2), (1500, 2), (1501, 2), (4000, 5)]
)
def test_the_half_of_scikit_learn(shape):
    values = rows(*shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = MinCovDet(random_state=3).fit(values)
    found = minimum_covariance_determinant(values, 3)
    assert found is not None
    np.testing.assert_allclose(found.raw_covariance, peer.raw_covariance_, rtol=1e-9, atol=1e-12)
    # what follows from it by its definition: peers of other versions scale it otherwise
    away = values - peer.raw_location_
    squared = (away @ np.linalg.inv(peer.raw_covariance_) * away).sum(axis=1)
    near = squared / consistency(peer.raw_support_.mean(), shape[1]) < chi2(shape[1]).isf(0.025)
    np.testing.assert_array_equal(found.support, near)
    np.testing.assert_allclose(found.center, values[near].mean(axis=0), rtol=1e-12)
    expected = np.cov(values[near].T, ddof=0) * consistency(0.975, shape[1])
    np.testing.assert_allclose(found.covariance, np.atleast_2d(expected), rtol=1e-9)


def test_numbers_that_many_rows_share():
    """Half of a subset may not vary in a column: the pseudo-inverse takes its place, as in scikit-learn."""
    values = np.random.default_rng(4).integers(0, 3, (900, 3)).astype(float)
    values[:, 2] = np.where(np.arange(900) % 5 < 2, values[:, 2], 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = MinCovDet(random_state=1).fit(values)
    found = minimum_covariance_determinant(values, 1)
    assert found is not None
    size = np.linalg.matrix_rank(peer.raw_covariance_)
    assert np.linalg.matrix_rank(found.raw_covariance) == size == 2


def test_rows_that_do_not_vary():
    assert minimum_covariance_determinant(np.ones((20, 2)), 1) is None
    assert minimum_covariance_determinant(np.r_[np.zeros(19), 1.0][:, None], 1) is None


def test_the_seed_decides():
    values = rows(3000, 3)
    found = [minimum_covariance_determinant(values, seed).covariance for seed in (1, 1, None)]
    np.testing.assert_array_equal(found[0], found[1])
    assert np.abs(found[2] - found[0]).max() < 0.05 * found[0].max()


@pytest.mark.parametrize("h", [1, 7, 20, 39, 40])
def test_the_h_th_smallest(h):
    values = np.random.default_rng(h).integers(0, 9, 40).astype(float)
    assert _smallest(values, h, np.empty(40)) == np.sort(values)[h - 1]


def test_the_inverse_of_a_singular_matrix():
    singular = np.array([[2.0, 2, 0], [2, 2, 0], [0, 0, 5]])
    root = _root_of_inverse(singular)
    np.testing.assert_allclose(root.T @ root, np.linalg.pinv(singular), atol=1e-12)
