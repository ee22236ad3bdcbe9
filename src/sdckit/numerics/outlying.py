"""Limits beyond which a value is extreme, group by group, and robust distances."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.covariance_determinant import RobustEstimate, consistency, minimum_covariance_determinant

MAD_FACTOR = 1.4826  # makes the median absolute deviation estimate a standard deviation
MAD_WIDTH = 3.0
FIT_ROWS = 20_000  # rows that the robust estimate is made from, whatever the file
Limits = tuple[NDArray[np.float64], NDArray[np.float64]]


def _sorted_groups(
    values: NDArray[np.float64], group: NDArray[np.int32], n_groups: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Values present, sorted within groups; where each group begins; how many it has."""
    known = ~np.isnan(values)
    order = np.lexsort((values[known], group[known]))
    size = np.bincount(group[known], minlength=n_groups)
    return values[known][order], np.cumsum(size) - size, size


def _quantile(
    ordered: NDArray[np.float64], first: NDArray[np.int64], size: NDArray[np.int64], share: float
) -> NDArray[np.float64]:
    """Type 7 quantile of each group; NaN where it is empty."""
    out = np.full(len(size), np.nan)
    held = size > 0
    at = share * (size[held] - 1)
    low = np.floor(at).astype(np.int64)
    high = np.minimum(low + 1, size[held] - 1)
    a, b = ordered[first[held] + low], ordered[first[held] + high]
    out[held] = a + (b - a) * (at - low)
    return out


def percentile_limits(
    values: NDArray[np.float64],
    group: NDArray[np.int32],
    n_groups: int,
    *,
    lower: float | None,
    upper: float | None,
) -> Limits:
    """Lower and upper limit of each group: quantiles of type 7; NaN where its values are all equal.

    >>> low, high = percentile_limits(np.arange(11.0), np.zeros(11, np.int32), 1, lower=None, upper=0.95)
    >>> high.tolist()
    [9.5]
    """
    ordered, first, size = _sorted_groups(values, group, n_groups)
    nothing = np.full(n_groups, np.nan)
    ends = [_quantile(ordered, first, size, share) for share in (0.0, 1.0)]
    flat = ends[0] == ends[1]
    found = [
        nothing if share is None else np.where(flat, np.nan, _quantile(ordered, first, size, share))
        for share in (lower, upper)
    ]
    return found[0], found[1]


def mad_limits(values: NDArray[np.float64], group: NDArray[np.int32], n_groups: int) -> Limits:
    """Median minus and plus three robust standard deviations; NaN where more than half are equal.

    >>> low, high = mad_limits(np.array([1.0, 2, 3, 4, 100]), np.zeros(5, np.int32), 1)
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([-1.4478], [7.4478])
    """
    ordered, first, size = _sorted_groups(values, group, n_groups)
    median = _quantile(ordered, first, size, 0.5)
    away = np.abs(values - median[group])
    deviation = _quantile(*_sorted_groups(away, group, n_groups), 0.5)
    reach = np.where(deviation > 0, MAD_WIDTH * MAD_FACTOR * deviation, np.nan)
    return median - reach, median + reach


def robust_estimate(
    values: NDArray[np.float64], seed: int | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Centre and covariance by the minimum covariance determinant (Rousseeuw & Van Driessen 1999).

    `values` (n, p): complete rows, in any order: the draw does not depend on it. Of more than 20,000 so many are
    drawn. Returns arrays (p,) and (p, p), or None where the covariance is singular: too few rows, or variables that
    determine each other.

    Mean and covariance (ddof 1) of the rows that the estimate does not weigh 0, scaled by the consistency
    factor of their share (Croux & Haesbroeck 1999) as robustbase does. That factor supposes normal data: with
    many true outliers the covariance comes out large.
    """
    fitted = _fitted(values, seed)
    if fitted is None:
        return None
    found, fit, _, _, spread = fitted
    kept = fit[found.support] * spread
    covariance = np.atleast_2d(np.cov(kept.T)) * consistency(len(kept) / len(fit), values.shape[1])
    if np.linalg.matrix_rank(covariance / np.outer(spread, spread)) < len(spread):
        return None
    return kept.mean(axis=0), covariance


def robust_distances(values: NDArray[np.float64], seed: int | None) -> NDArray[np.float64] | None:
    """Mahalanobis distances from the minimum covariance determinant estimate.

    `values` (n, p) are as in `robust_estimate`; every row is measured. Returns (n,), or None where the covariance
    is singular.
    """
    fitted = _fitted(values, seed)
    if fitted is None:
        return None
    found, _, order, scaled, _ = fitted
    away = scaled - found.center
    out = np.empty(len(values))
    out[order] = np.sqrt(np.maximum((away * np.linalg.solve(found.covariance, away.T).T).sum(axis=1), 0.0))
    return out


def _fitted(
    values: NDArray[np.float64], seed: int | None
) -> (
    tuple[
        RobustEstimate, NDArray[np.float64], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]
    ] | None
):  # fmt: skip
    """The estimate, the rows it was made from, the order of all, all scaled in that order, and their scale."""
    n, p = values.shape
    if n < 2 * (p + 1):
        return None
    order = np.lexsort(values.T)
    rows = values[order]
    spread = rows.std(axis=0)
    if not (spread > 0).all() or np.linalg.matrix_rank((rows - rows.mean(axis=0)) / spread) < p:
        return None
    scaled = rows / spread
    fitted = scaled
    if n > FIT_ROWS:
        fitted = scaled[np.sort(np.random.default_rng(seed).choice(n, FIT_ROWS, replace=False))]
    found = minimum_covariance_determinant(fitted, seed)
    if found is None:  # a column without spread in the best half
        return None
    if min(np.linalg.matrix_rank(one) for one in (found.raw_covariance, found.covariance)) < p:
        return None
    return found, fitted, order, scaled, spread
