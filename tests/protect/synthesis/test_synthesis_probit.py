"""Probit regression beside statsmodels."""

from __future__ import annotations

import numpy as np
from statsmodels.api import Probit

from sdckit.protect.synthesis.synthesis_probit import fit_probit

RNG = np.random.default_rng(3)
N = 700
X = np.c_[np.ones(N), RNG.normal(0, 1, (N, 2))]
Y = (X @ [0.3, 1.0, -0.5] + RNG.normal(0, 1, N) > 0).astype(float)


def test_without_a_prior_it_is_maximum_likelihood():
    best, _, converged = fit_probit(X, Y, np.zeros((3, 3)))
    np.testing.assert_allclose(best, Probit(Y, X).fit(disp=0, tol=1e-10).params, rtol=1e-7)
    assert converged


def test_the_precision_is_the_expected_information():
    best, precision, _ = fit_probit(X, Y, np.zeros((3, 3)))
    information = -Probit(Y, X).hessian(best)  # the observed one, near it in a file of this size
    np.testing.assert_allclose(precision, information, rtol=0.1, atol=0.05 * np.abs(information).max())


def test_a_prior_holds_where_the_data_say_too_much():
    side = np.c_[np.ones(40), np.repeat([-1.0, 1.0], 20)]
    best, precision, converged = fit_probit(side, (side[:, 1] > 0).astype(float), np.diag([1e-8, 0.01]))
    assert converged
    assert 2 < best[1] < 30
    assert np.linalg.eigvalsh(precision).min() > 0


def test_with_a_constant_alone_the_share_comes_back():
    from scipy.special import ndtr

    best, _, _ = fit_probit(np.ones((N, 1)), Y, np.zeros((1, 1)))
    np.testing.assert_allclose(ndtr(best[0]), Y.mean(), rtol=1e-9)
