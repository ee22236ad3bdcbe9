"""Limits group by group against numpy and by hand; robust distances."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import chi2
from sklearn.covariance import MinCovDet

from sdckit.numerics import outlying
from sdckit.numerics.outlying import (
    _root_of_inverse,
    _smallest,
    consistency,
    deviation,
    mad_limits,
    minimum_covariance_determinant,
    percentile_limits,
    robust_distances,
    robust_estimate,
)

VALUES = st.lists(
    st.tuples(st.integers(0, 2), st.one_of(st.integers(-5, 5).map(float), st.just(float("nan")))), min_size=1
)


@given(VALUES, st.floats(0.01, 0.99))
def test_percentiles_agree_with_numpy(rows, share):
    group = np.array([g for g, _ in rows], np.int32)
    values = np.array([v for _, v in rows])
    low, high = percentile_limits(values, group, 3, lower=None, upper=share)
    assert np.isnan(low).all()
    for g in range(3):
        known = values[(group == g) & ~np.isnan(values)]
        if len(np.unique(known)) < 2:
            assert np.isnan(high[g])
        else:
            assert high[g] == pytest.approx(np.quantile(known, share), rel=1e-12, abs=1e-12)


@given(VALUES)
def test_mad_agrees_with_its_definition(rows):
    group = np.array([g for g, _ in rows], np.int32)
    values = np.array([v for _, v in rows])
    low, high = mad_limits(values, group, 3)
    for g in range(3):
        known = values[(group == g) & ~np.isnan(values)]
        deviation = np.median(np.abs(known - np.median(known))) if len(known) else 0.0
        if deviation == 0:
            assert np.isnan([low[g], high[g]]).all()
        else:
            reach = 3 * 1.4826 * deviation
            assert (low[g], high[g]) == pytest.approx((np.median(known) - reach, np.median(known) + reach))


def test_distances_do_not_depend_on_order_scale_or_the_outlier():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(300, 2)) @ np.array([[1.0, 0.8], [0.0, 0.6]])
    rows[7] = (8.0, -8.0)
    found = robust_distances(rows, 5)
    assert found is not None
    assert found.argmax() == 7
    assert found[7] > 10
    order = rng.permutation(300)
    assert robust_distances(rows[order], 5) == pytest.approx(found[order], rel=1e-9)
    assert robust_distances(rows * [1e6, 1e-3], 5) == pytest.approx(found, rel=1e-6)


@pytest.mark.parametrize(
    "rows",
    [
        np.ones((4, 2)),
        np.column_stack([np.arange(20.0), np.ones(20)]),
        np.column_stack([np.arange(20.0), 2 * np.arange(20.0)]),
        np.column_stack([np.arange(20.0), np.r_[np.zeros(19), 1.0]]),
    ],
)
def test_a_singular_covariance_has_no_distances(rows):
    assert robust_distances(rows, 1) is None


def test_many_rows_are_estimated_from_some_and_all_measured(monkeypatch):
    rng = np.random.default_rng(6)
    rows = rng.normal(size=(2000, 2))
    rows[11] = (9.0, 9.0)
    whole = robust_distances(rows, 2)
    monkeypatch.setattr(outlying, "FIT_ROWS", 500)
    found = robust_distances(rows, 2)
    assert found.argmax() == 11
    assert len(found) == 2000
    assert np.corrcoef(found, whole)[0, 1] > 0.99
    order = rng.permutation(2000)
    assert robust_distances(rows[order], 2) == pytest.approx(found[order], rel=1e-9)


def test_the_estimate_finds_the_bulk():
    rng = np.random.default_rng(5)
    root = np.array([[2.0, 1.0], [0.0, 1.0]])
    rows = rng.normal([10.0, -3.0], 1.0, size=(4000, 2)) @ root
    rows[:600] = rng.normal(60.0, 1.0, size=(600, 2))
    found = robust_estimate(rows, 1)
    assert found is not None
    assert found[0] == pytest.approx([20.0, 7.0], abs=0.15)
    expected = root.T @ root
    assert found[1] / found[1][1, 1] == pytest.approx(expected / expected[1, 1], rel=0.1)
    order = rng.permutation(4000)
    again = robust_estimate(rows[order] * [1e3, 1.0], 1)
    assert again is not None
    assert again[0] == pytest.approx(found[0] * [1e3, 1.0], rel=1e-9)


def test_rows_that_are_all_kept_have_their_own_covariance():
    even = np.stack(np.meshgrid(np.linspace(-1, 1, 20), np.linspace(-1, 1, 20)), axis=-1).reshape(-1, 2)
    found = robust_estimate(even, 1)
    assert found is not None
    assert found[1] == pytest.approx(np.cov(even.T), rel=1e-9, abs=1e-12)
    assert robust_estimate(even[:4], 1) is None


# The minimum covariance determinant beside scikit-learn's, which draws the same subsets.


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


def test_numbers_whose_squares_are_too_large_have_a_deviation_column_by_column():
    rows = np.random.default_rng(1).normal(size=(50, 2)) * [1e300, 1.0]
    assert (deviation(rows) / [1e300, 1.0]).tolist() == pytest.approx((rows / [1e300, 1.0]).std(axis=0, ddof=1))
    assert robust_estimate(rows, 1) is None
