"""How far values, records and correlations of two aligned files lie apart."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Floats

SINGULAR = 1e-12  # an eigenvalue of a correlation matrix below this is 0 but for rounding


def relative_loss(original: Floats, released: Floats) -> tuple[float, int]:
    """Sum of the differences in per cent of the original value, and how many were summed.

    Cells whose original value is 0, or with a missing value in either file, are left out.

    >>> relative_loss(np.array([10.0, 0.0, -4.0]), np.array([11.0, 5.0, -4.0]))
    (10.0, 2)
    """
    known = ~(np.isnan(original) | np.isnan(released)) & (original != 0)
    x, y = original[known], released[known]
    return float((100 * np.abs(x - y) / np.abs(x)).sum()), int(known.sum())


def scaled_loss(original: Floats, released: Floats) -> tuple[float, int]:
    """Sum of the differences in standard deviations (ddof 1) of the original times √2, and their number.

    NaN where the original has no spread.
    """
    present = original[~np.isnan(original)]
    spread = float(present.std(ddof=1)) if len(present) > 1 else 0.0
    apart = np.abs(original - released)
    known = ~np.isnan(apart)
    if spread == 0:
        return math.nan, int(known.sum())
    return float((apart[known] / (math.sqrt(2) * spread)).sum()), int(known.sum())


def covariances(values: Floats) -> Floats:
    """Covariance matrix (ddof 1) of complete rows; NaN for fewer than two."""
    if len(values) < 2:
        return np.full((values.shape[1],) * 2, np.nan)
    return np.atleast_2d(np.cov(values.T))


def correlations(covariance: Floats) -> Floats:
    """The correlation matrix of a covariance matrix; NaN where a variable has no spread."""
    size = np.sqrt(np.diag(covariance))
    size = np.where(size > 0, size, np.nan)
    found: Floats = np.clip(covariance / np.outer(size, size), -1.0, 1.0)
    np.fill_diagonal(found, np.where(np.isnan(size), np.nan, 1.0))
    return found


def eigenvalue_loss(original: Floats, released: Floats) -> float:
    """Sum of the relative differences of the eigenvalues, largest first.

    NaN where one of the original is 0, or there is one variable only.

    >>> eigenvalue_loss(np.eye(2), np.array([[1.0, 0.5], [0.5, 1.0]]))
    1.0
    """
    if len(original) < 2 or not (np.isfinite(original).all() and np.isfinite(released).all()):
        return math.nan
    e, f = np.linalg.eigvalsh(original), np.linalg.eigvalsh(released)
    if e[0] <= SINGULAR * e[-1]:
        return math.nan
    return float((np.abs(e - f) / e).sum())


def inverse_correlation_loss(original: Floats, released: Floats) -> float:
    """Distance, from 0 to 1, of the diagonals of the inverse correlation matrices, each of length 1.

    NaN where a matrix is singular or there is one variable only.
    """
    units = []
    for one in (original, released):
        if len(one) < 2 or not np.isfinite(one).all() or np.linalg.eigvalsh(one)[0] <= SINGULAR:
            return math.nan
        diagonal = np.diag(np.linalg.inv(one))
        units.append(diagonal / np.linalg.norm(diagonal))
    return float(np.linalg.norm(units[0] - units[1]) / math.sqrt(2))


def angle_distance(original: Floats, released: Floats) -> Floats:
    """Of each record 2/π times the arc tangent of the difference, between 0 and 1.

    A value missing in one file counts as the largest difference between the files; in both, as none.

    >>> angle_distance(np.array([1.0, np.nan]), np.array([2.0, np.nan])).tolist()
    [0.5, 0.0]
    """
    gone = np.isnan(original), np.isnan(released)
    apart = np.abs(original - released)
    if (gone[0] != gone[1]).any() and not gone[0].all() and not gone[1].all():
        ends = [(float(np.nanmin(one)), float(np.nanmax(one))) for one in (original, released)]
        apart = np.where(gone[0] != gone[1], max(ends[0][1] - ends[1][0], ends[1][1] - ends[0][0]), apart)
    apart = np.where(gone[0] & gone[1], 0.0, apart)
    angle: Floats = np.arctan(apart) * (2 / math.pi)
    return angle


def category_distance(original: NDArray[np.int32], released: NDArray[np.int32]) -> Floats:
    """1 where the codes differ, else 0; a missing value (code 0) is a value."""
    apart: Floats = (original != released).astype(np.float64)
    return apart


def rank_distance(original: NDArray[np.int32], released: NDArray[np.int32], n_levels: int) -> Floats:
    """Places between two levels divided by the most there can be; 1 where one is missing (code 0), 0 for both.

    >>> rank_distance(np.array([1, 1, 0], np.int32), np.array([3, 2, 2], np.int32), 3).tolist()
    [1.0, 0.5, 1.0]
    """
    apart = np.abs(original.astype(np.float64) - released) / max(n_levels - 1, 1)
    gone = original == 0, released == 0
    return np.where(gone[0] & gone[1], 0.0, np.where(gone[0] | gone[1], 1.0, apart))
