"""Means, totals, proportions and quantiles of one file, with their variances."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["Found", "estimate_mean", "estimate_quantile", "estimate_total", "quantile_of"]

Floats = NDArray[np.float64]
Found = tuple[float, float, float]  # estimate, variance, degrees of freedom
UNDEFINED = (math.nan, math.nan, math.nan)


def estimate_mean(values: Floats, weights: Floats) -> Found:
    """Weighted mean, its variance by linearisation, and the degrees of freedom.

    With equal weights the variance is that of the values (ddof 1) divided by their number.

    >>> estimate_mean(np.array([1.0, 2.0, 3.0]), np.ones(3))
    (2.0, 0.3333333333333333, 2.0)
    """
    n, total = len(values), float(weights.sum())
    if n == 0 or total == 0:
        return UNDEFINED
    mean = float(weights @ values) / total
    if n == 1:
        return mean, math.nan, math.nan
    residual = weights * (values - mean)
    return mean, float(residual @ residual) * n / (n - 1) / total**2, n - 1.0


def estimate_total(values: Floats, weights: Floats) -> Found:
    """Weighted total, its variance as if drawn with replacement, and the degrees of freedom.

    >>> estimate_total(np.array([1.0, 2.0, 3.0]), np.ones(3))
    (6.0, 3.0, 2.0)
    """
    n = len(values)
    expanded = weights * values
    if n < 2:
        return (float(expanded.sum()) if n else math.nan), math.nan, math.nan
    return float(expanded.sum()), float(n * expanded.var(ddof=1)), n - 1.0


def quantile_of(values: Floats, weights: Floats | None, share: float) -> float:
    """A quantile: of type 7 without weights, the smallest value that reaches the share with them.

    >>> quantile_of(np.array([1.0, 2.0, 4.0]), None, 0.25), quantile_of(np.array([1.0, 2.0]), np.array([3.0, 1.0]), 0.5)
    (1.5, 1.0)
    """
    if weights is None:
        return float(np.quantile(values, share))
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    held = reached / reached[-1] >= share * (1 - 1e-12)  # a share may be short by rounding
    return float(values[order][np.argmax(held)])


def estimate_quantile(values: Floats, weights: Floats | None, share: float, level: float) -> Found:
    """A quantile, and the variance that Woodruff's interval of the level stands for.

    >>> median, variance, _ = estimate_quantile(np.arange(101.0), None, 0.5, 0.95)
    >>> median, round(variance, 2)
    (50.0, 25.0)
    """
    from scipy.stats import norm

    if len(values) == 0:
        return UNDEFINED
    found = quantile_of(values, weights, share)
    if len(values) == 1:
        return found, math.nan, math.nan
    below = (values <= found).astype(np.float64)
    given = np.ones(len(values)) if weights is None else weights
    spread = share * (1 - share) / (len(values) - 1)
    if weights is not None:
        spread = estimate_mean(below, given)[1]
    z = float(norm.ppf((1 + level) / 2))
    reach = z * math.sqrt(spread)
    low, high = (quantile_of(values, weights, min(max(share + sign * reach, 0.0), 1.0)) for sign in (-1, 1))
    return found, ((high - low) / (2 * z)) ** 2, math.inf
