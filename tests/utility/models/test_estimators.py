"""Estimates of one file, against plain formulas and by counting."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from sdckit.utility.models.estimators import estimate_mean, estimate_quantile, estimate_total, quantile_of

RNG = np.random.default_rng(3)
X, W = np.round(RNG.normal(10, 3, 40), 1), RNG.uniform(1, 9, 40)
ONES = np.ones(40)


def test_a_mean():
    mean, variance, df = estimate_mean(X, ONES)
    assert (mean, df) == (pytest.approx(X.mean()), 39.0)
    assert variance == pytest.approx(X.var(ddof=1) / 40)


def test_a_weighted_mean_by_linearisation():
    mean, variance, _ = estimate_mean(X, W)
    assert mean == pytest.approx(np.average(X, weights=W))
    score = W * (X - mean) / W.sum()
    assert variance == pytest.approx(40 * score.var(ddof=1) + 40**2 * score.mean() ** 2 / 39, rel=1e-9)
    assert estimate_mean(X, 7 * W)[:2] == pytest.approx((mean, variance))


def test_a_total():
    total, variance, df = estimate_total(X, W)
    assert (total, df) == (pytest.approx(W @ X), 39.0)
    assert variance == pytest.approx(40 * (W * X).var(ddof=1))


def test_a_proportion_is_a_mean():
    share, variance, _ = estimate_mean((X > 10).astype(float), ONES)
    assert variance == pytest.approx(share * (1 - share) / 39)


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5, 0.9])
def test_quantiles(share):
    assert quantile_of(X, None, share) == np.quantile(X, share)
    weighted = quantile_of(X, W, share)
    assert W[weighted >= X].sum() >= share * W.sum() > W[weighted > X].sum()
    assert quantile_of(X, ONES, share) == np.quantile(X, share, method="inverted_cdf")


def test_woodruffs_interval():
    found, variance, df = estimate_quantile(X, None, 0.25, 0.9)
    z = norm.ppf(0.95)
    reach = z * math.sqrt(0.25 * 0.75 / 39)
    low, high = np.quantile(X, [0.25 - reach, 0.25 + reach])
    assert (found, df) == (np.quantile(X, 0.25), math.inf)
    assert math.sqrt(variance) == pytest.approx((high - low) / (2 * z))
    weighted = estimate_quantile(X, W, 0.25, 0.9)
    assert weighted[0] == quantile_of(X, W, 0.25)
    assert weighted[1] > 0


def test_too_few_values():
    for one in (estimate_mean, estimate_total):
        value, variance, df = one(X[:1], ONES[:1])
        assert value == X[0]
        assert math.isnan(variance)
        assert math.isnan(df)
        assert all(map(math.isnan, one(X[:0], ONES[:0])))
    assert estimate_quantile(X[:1], None, 0.5, 0.9)[0] == X[0]
    assert math.isnan(estimate_quantile(X[:1], None, 0.5, 0.9)[1])
    assert all(map(math.isnan, estimate_quantile(X[:0], None, 0.5, 0.9)))
    assert math.isnan(estimate_mean(X, 0 * W)[0])


def test_the_variances_are_right_under_repeated_sampling():
    rng = np.random.default_rng(4)
    samples, weights = rng.normal(size=(3000, 60)), np.tile([1.0, 3.0], 30)
    for one in (estimate_mean, estimate_total):
        found = np.array([one(sample, weights)[:2] for sample in samples])
        assert found[:, 1].mean() == pytest.approx(found[:, 0].var(ddof=1), rel=0.1)
