"""Probit regression with a normal prior on its coefficients, by Fisher scoring."""

from __future__ import annotations

import numpy as np

from sdckit.numerics.array_types import Floats

STEPS = 100
NEAR = 1e-9


def fit_probit(X: Floats, y: Floats, penalty: Floats) -> tuple[Floats, Floats, bool]:
    """The mode of the posterior, the information there (its precision), and whether it was reached.

    `X`: shape (n, p). `y`: 0 or 1. `penalty`: precision a priori, shape (p, p).

    >>> best, precision, converged = fit_probit(np.ones((4, 1)), np.array([0.0, 0, 1, 1]), np.zeros((1, 1)))
    >>> best.round(6).tolist(), precision.round(4).tolist(), converged
    ([0.0], [[2.5465]], True)
    """
    best = np.zeros(X.shape[1])
    value = _log_posterior(X, y, penalty, best)
    for _ in range(STEPS):
        slope, information = _derivatives(X, y, penalty, best)
        step = np.linalg.solve(information, slope)
        reach = float(np.sqrt(step @ slope))
        while (new := _log_posterior(X, y, penalty, best + step)) < value and reach > NEAR:
            step, reach = step / 2, reach / 2
        best, value = best + step, new
        if reach < NEAR:
            return best, _derivatives(X, y, penalty, best)[1], True
    return best, _derivatives(X, y, penalty, best)[1], False


def _log_posterior(X: Floats, y: Floats, penalty: Floats, at: Floats) -> float:
    from scipy.special import log_ndtr

    return float(log_ndtr((2 * y - 1) * (X @ at)).sum() - 0.5 * at @ penalty @ at)


def _derivatives(X: Floats, y: Floats, penalty: Floats, at: Floats) -> tuple[Floats, Floats]:
    """Slope of the log posterior, and the expected information."""
    from scipy.special import log_ndtr

    side = 2 * y - 1
    eta = side * (X @ at)
    density = -0.5 * eta**2 - 0.5 * np.log(2 * np.pi)
    pull = np.exp(density - log_ndtr(eta))
    weight = np.exp(2 * density - log_ndtr(eta) - log_ndtr(-eta))
    return X.T @ (side * pull) - penalty @ at, (X.T * weight) @ X + penalty
