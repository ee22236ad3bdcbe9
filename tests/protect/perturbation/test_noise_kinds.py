"""Kinds of noise: how large, how correlated, and what it keeps."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.errors import DataError
from sdckit.protect.draws import key
from sdckit.protect.perturbation.noise_kinds import (
    additive,
    correlated,
    moments_kept,
    on_outliers,
    outlying,
    rotated,
)

N = 20_000
RNG = np.random.default_rng(11)
SCALE = np.array([[1.0, 0.8], [0.0, 0.6]]) * [2.0, 50.0]
DATA = list((RNG.normal(size=(N, 2)) @ SCALE + [100.0, -20.0]).T)
COVARIANCE = np.cov(DATA)


def rng(seed=1):
    return np.random.default_rng(seed)


def noise(made):
    return np.array(made) - np.array(DATA)


def test_additive():
    found = np.cov(noise(additive(DATA, 0.3, rng())))
    assert np.diagonal(found) == pytest.approx(0.09 * np.diagonal(COVARIANCE), rel=0.05)
    assert abs(found[0, 1]) < 0.02 * 0.09 * 100


def test_correlated():
    assert np.cov(noise(correlated(DATA, 0.3, rng()))) == pytest.approx(0.09 * COVARIANCE, rel=0.06)
    one = correlated(DATA[:1], 0.3, rng())
    assert (one[0] == additive(DATA[:1], 0.3, rng())[0]).all()


def test_means_and_covariances_kept_in_expectation():
    made = moments_kept(DATA, 0.6, rng())
    assert np.cov(made) == pytest.approx(COVARIANCE, rel=0.04)
    assert np.mean(made, axis=1) == pytest.approx(np.mean(DATA, axis=1), abs=1.5)
    kept = [np.corrcoef(a, b)[0, 1] for a, b in zip(made, DATA, strict=True)]
    assert kept == pytest.approx([0.8, 0.8], abs=0.01)  # the square root of 1 - 0.36


def test_missing_values_stay():
    gaps = [np.where(RNG.random(1000) < 0.2, np.nan, one[:1000]) for one in DATA]
    for kind in (additive, correlated, moments_kept, rotated):
        for before, after in zip(gaps, kind(gaps, 0.3, rng()), strict=True):
            assert (np.isnan(before) == np.isnan(after)).all()
    made, _, _ = on_outliers(gaps, 0.3, rng())
    assert (np.isnan(made) == np.isnan(gaps)).all()
    with pytest.raises(DataError, match="fewer than two records are complete"):
        correlated([np.array([1.0, 2, np.nan]), np.array([np.nan, np.nan, 1.0])], 0.1, rng())


def test_outliers_only():
    columns, n = [one[:2000].copy() for one in DATA], 2000
    columns[0][5], columns[1][5] = 100.0, 300.0  # far from the others in the second only
    made, count, said = on_outliers(columns, 0.5, rng())
    far, _ = outlying(columns, int(key(rng()) >> np.uint64(33)))
    assert said is None
    assert far[0][5]
    assert far[1][5]
    changed = [(a != b) for a, b in zip(made, columns, strict=True)]
    assert all((one == where).all() for one, where in zip(changed, far, strict=True))
    assert count == sum(one.sum() for one in far)
    assert 0.02 * n < far[0].sum() < 0.06 * n
    away = np.abs(columns[1] - np.median(columns[1]))[far[1]]
    assert np.std((made[1] - columns[1])[far[1]] / away) == pytest.approx(0.5, rel=0.25)


def test_a_singular_covariance_is_said():
    _, _, said = on_outliers([DATA[0][:99], 2 * DATA[0][:99]], 0.1, rng())
    assert "single columns only" in said


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_rotations_keep_moments_exactly(share):
    made = rotated(DATA, share, rng())
    assert np.mean(made, axis=1) == pytest.approx(np.mean(DATA, axis=1), rel=1e-12)
    assert np.cov(made) == pytest.approx(COVARIANCE, rel=1e-11)
    assert noise(made).std(axis=1) == pytest.approx(share * np.std(DATA, axis=1), rel=0.05)


def test_rotations_with_gaps():
    first, second = DATA[0][:9].copy(), DATA[1][:9].copy()
    second[:4] = np.nan
    made = rotated([first, second], 0.3, rng())
    for rows in (slice(0, 4), slice(4, 9)):
        assert made[0][rows].mean() == pytest.approx(first[rows].mean())
        assert made[0][rows].var() == pytest.approx(first[rows].var())
    assert np.cov(made[0][4:], made[1][4:]) == pytest.approx(np.cov(first[4:], second[4:]))
    second[4] = 1.0
    first[3] = np.nan  # all missing: no matter
    assert np.isnan(rotated([first, second], 0.3, rng())[0][3])
    first[5] = np.nan
    with pytest.raises(DataError, match="1 records miss values"):
        rotated([first, second], 0.3, rng())
