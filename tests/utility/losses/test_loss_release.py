"""The figures of one release, put together from plain numpy, and tables of means over the releases."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from sdckit import InformationLoss
from sdckit.cells.pair import open_pair
from sdckit.utility.losses.loss_release import (
    UNDEFINED,
    Release,
    paired_table,
    release_figures,
    variable_table,
)

RNG = np.random.default_rng(2)
X = RNG.multivariate_normal([5, 0, 1], [[1, 0.6, 0], [0.6, 1, 0.3], [0, 0.3, 1]], 300)
Y = X + RNG.normal(0, 0.4, X.shape)
NAMES = ("a", "b", "c")


def measured(x=X, y=Y, robust=False):
    frames = [pl.DataFrame(values, schema=list(NAMES)) for values in (x, y)]
    pair = open_pair(*frames, categories={}, numeric={"numeric": NAMES}, aligned=True)
    return release_figures(pair, 0, NAMES, (), {}, robust=robust, seed=1)


def test_against_numpy():
    found = measured().figures
    spread = X.std(axis=0, ddof=1)
    assert found["il1"] == pytest.approx((100 * np.abs(X - Y) / np.abs(X)).sum())
    assert found["il1_mean"] == pytest.approx(found["il1"] / 900)
    assert found["il1s"] == pytest.approx((np.abs(X - Y) / spread / math.sqrt(2)).sum())
    e, f = (np.sort(np.linalg.eigvalsh(np.corrcoef(one.T)))[::-1] for one in (X, Y))
    assert found["eigenvalues"] == pytest.approx((np.abs(e - f) / e).sum())
    upper = np.triu_indices(3, 1)
    apart = np.abs(np.corrcoef(X.T) - np.corrcoef(Y.T))[upper]
    assert found["correlation_difference"] == pytest.approx(apart.mean())
    whole = (np.abs(np.cov(X.T) - np.cov(Y.T)) / np.outer(spread, spread))[np.triu_indices(3)]
    assert found["covariance_difference"] == pytest.approx(whole.mean())
    assert found["il_variables"] == pytest.approx((np.arctan(np.abs(X - Y)) * 2 / math.pi).mean())
    assert found["mean_differences[a]"] == pytest.approx((Y - X)[:, 0].mean())
    assert found["median_differences[c]"] == pytest.approx(np.median(Y[:, 2]) - np.median(X[:, 2]))
    assert math.isnan(found["robust_eigenvalues"])


def test_a_few_wild_values_do_not_move_the_robust_eigenvalues():
    wild = X.copy()
    wild[:15] = [40.0, -40.0, 40.0]
    plain, robust = (
        measured(y=wild, robust=True).figures[one] for one in ("eigenvalues", "robust_eigenvalues")
    )
    assert robust < 0.3 < plain
    assert measured(y=X, robust=True).figures["robust_eigenvalues"] == 0.0
    assert measured(robust=True).figures["robust_eigenvalues"] < 1


def test_correlations_need_complete_records():
    gaps = Y.copy()
    gaps[:200, 1] = math.nan
    found = measured(y=gaps)
    assert found.n_incomplete == 200
    np.testing.assert_allclose(found.covariance[0], np.cov(X[200:].T))
    np.testing.assert_allclose(found.covariance[1], np.cov(Y[200:].T))
    assert found.centres[1, 0, 1] == pytest.approx(Y[200:, 1].mean())


@pytest.mark.parametrize("rows", [1, 2, 4])
def test_few_records(rows):
    found = measured(X[:rows], Y[:rows], robust=True).figures
    assert found["il1"] > 0
    assert math.isnan(found["robust_eigenvalues"])
    if rows == 1:
        assert math.isnan(found["il1s"])
        assert math.isnan(found["covariance_difference"])


def one(shift):
    centres = np.array([[[1.0, 2.0]] * 3, [[1.0 + shift, 2.0]] * 3])
    matrices = np.eye(2), np.eye(2) * (1 + shift)
    return Release({}, np.zeros(1), False, 0, centres, matrices, matrices)


def test_means_over_the_releases():
    found = variable_table(["a", "b"], [one(1.0), one(3.0)])
    assert found["variable"] == ["a", "b"]
    assert (found["mean_original"], found["mean_released"]) == ([1.0, 2.0], [3.0, 2.0])
    assert set(found) == {"variable"} | {
        f"{figure}_{part}" for figure in ("mean", "median", "sd") for part in ("original", "released")
    }


def test_pairs():
    found = paired_table(["a", "b"], [one(1.0), one(3.0)])
    assert list(zip(found["first"], found["second"], strict=True)) == [("a", "a"), ("a", "b"), ("b", "b")]
    assert found["covariance_original"] == [1.0, 0.0, 1.0]
    assert found["correlation_released"] == [3.0, 0.0, 3.0]


def test_only_figures_have_reasons():
    assert set(UNDEFINED) <= set(InformationLoss.figures)
    assert all(UNDEFINED.values())
