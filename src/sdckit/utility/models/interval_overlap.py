"""F7: overlap of two confidence intervals."""

from __future__ import annotations

import warnings
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from sdckit.data import arguments
from sdckit.errors import DataError, SdcWarning
from sdckit.numerics.array_types import Floats

Version = Literal["snoke", "drechsler_reiter", "posterior"]
VERSIONS: tuple[Version, ...] = get_args(Version)


LEAST_DRAWS = 20  # fewer do not determine the bounds of an interval


# --- kernel: ends in, shares out ----------------------------------------------------------------------


def shared_part(confidential: Floats, released: Floats, version: Version, level: float = 0.95) -> Floats:
    """Mean of the shares of the intersection in each interval; NaN where one has no (finite) length.

    `confidential` and `released` are (p, 2). The shares are of length; in the version "posterior", of probability
    under the normal distribution of which each interval has the probability `level` in its middle.

    >>> one, other = np.array([[0.0, 2.0]]), np.array([[1.0, 3.0]])
    >>> shared_part(one, other, "snoke").tolist(), shared_part(one, other, "posterior").round(3).tolist()
    ([0.5], [0.5])
    """
    with np.errstate(invalid="ignore"):  # a bound may be infinite
        common = np.minimum(confidential[:, 1], released[:, 1]) - np.maximum(confidential[:, 0], released[:, 0])
        lengths = confidential[:, 1] - confidential[:, 0], released[:, 1] - released[:, 0]
    if version == "drechsler_reiter":
        common = np.maximum(common, 0.0)
    defined = np.isfinite(lengths[0]) & np.isfinite(lengths[1]) & (lengths[0] > 0) & (lengths[1] > 0)
    out = np.full(len(common), np.nan)
    if version == "posterior":
        ends = confidential[defined], released[defined]
        out[defined] = sum(_mass_between(*_common(*ends), interval, level) for interval in ends) / (2 * level)
        return out
    out[defined] = (common[defined] / lengths[0][defined] + common[defined] / lengths[1][defined]) / 2
    return out


def _common(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Lower and upper ends of the common parts; where there is none, the lower one twice."""
    low = np.maximum(one[:, 0], other[:, 0])
    return low, np.maximum(np.minimum(one[:, 1], other[:, 1]), low)


def _mass_between(low: Floats, high: Floats, interval: Floats, level: float) -> Floats:
    """Probability between two ends under the normal distribution with an interval of probability `level`."""
    from scipy.special import ndtr, ndtri

    middle, sd = interval.mean(axis=1), np.diff(interval, axis=1)[:, 0] / (2 * ndtri((1 + level) / 2))
    return np.asarray(ndtr((high - middle) / sd) - ndtr((low - middle) / sd), np.float64)


def _shared_draws(drawn: tuple[Floats, Floats], bounds: tuple[Floats, Floats], level: float) -> Floats:
    """Mean share of the draws in the common part of their credible intervals, as a share of `level`."""
    low, high = _common(*bounds)
    inside = [((rows >= low) & (rows <= high) & (low < high)).mean(axis=0) for rows in drawn]
    return np.asarray((inside[0] + inside[1]) / (2 * level), np.float64)


# --- measure ------------------------------------------------------------------------------------------


def interval_overlap(
    confidential: ArrayLike,
    released: ArrayLike,
    *,
    version: Version = "snoke",
    draws: bool = False,
    level: float = 0.95,
) -> float | Floats:
    """Say how much the interval from the original and that from the release overlap.

    Parameters
    ----------
    confidential : array, shape (2,) or (p, 2)
        Lower and upper end from the original, of one quantity or of p.
    released : array, shape (2,) or (p, 2)
        The same from the release.
    version : {"snoke", "drechsler_reiter", "posterior"}
        Whether the figure of intervals that do not meet is negative, the more so the farther apart they are;
        or 0. "posterior": the overlap of the posterior distributions, the probability that they share.
    draws : bool
        Whether both are draws from a posterior instead, shape (H,) of one quantity or (H, p) of p: the credible
        intervals between their quantiles are compared.
    level : float
        Probability of the credible intervals, between 0 and 1, the rest half above and half below; of intervals
        given, their coverage, which only "posterior" asks for.

    Returns
    -------
    float or ndarray, shape (p,)
        1 for equal intervals. NaN, with a warning that says why, where an interval has no length or no end.

    Raises
    ------
    DataError
        Not pairs of ends, different numbers of intervals, an upper end below the lower one, an unknown
        version.

    Notes
    -----
    With L and U the ends of the common part, half of the sum of ``(U - L)`` divided by the length of each
    interval. In the version "posterior" half of the sum of the probabilities of L to U under the two posteriors,
    divided by `level` so that equal ones have 1: times `level` it is the probability itself. Of draws these are their
    shares; of intervals those of the normal distribution with this interval. Probability is dense in the middle, so
    that it says less of small shifts than length does, and more of large ones.

    References
    ----------
    Karr, A. F., Kohnen, C. N., Oganian, A., Reiter, J. P. and Sanil, A. P. (2006). A framework for
    evaluating the utility of data altered to protect confidentiality. The American Statistician 60(3).
    Drechsler, J. and Reiter, J. P. (2009). Disclosure risk and data utility for partially synthetic data.
    Journal of Official Statistics 25(4). Snoke, J., Raab, G. M., Nowok, B., Dibben, C. and Slavkovic, A.
    (2018). General and specific utility measures for synthetic data. JRSS A 181(3).

    Examples
    --------
    >>> round(interval_overlap([9870.15, 10524.61], [9822.29, 10401.72]), 7)
    0.8648142
    >>> interval_overlap([[0, 1], [0, 1]], [[2, 3], [0, 1]]).tolist()
    [-1.0, 1.0]
    >>> interval_overlap([0, 1], [2, 3], version="drechsler_reiter")
    0.0
    >>> interval_overlap(np.arange(101.0), np.arange(101.0) + 9.5, draws=True)
    0.9
    >>> round(interval_overlap([9870.15, 10524.61], [9822.29, 10401.72], version="posterior"), 7)
    0.9413715
    """
    arguments.choice(version, "version", VERSIONS)
    arguments.flag(draws, "draws")
    arguments.level(level, says="is the probability of the credible intervals")
    drawn = None
    if draws:
        drawn = _draws(confidential, "confidential"), _draws(released, "released")
        confidential, released = (_credible_bounds(rows, level) for rows in drawn)
    known, shown = _interval_bounds(confidential, "confidential"), _interval_bounds(released, "released")
    if known.shape != shown.shape:
        raise DataError(
            f"confidential has shape {known.shape} and released {shown.shape}; give one interval of the release for "
            "each of the original"
        )
    ends = known.reshape(-1, 2), shown.reshape(-1, 2)
    out = shared_part(*ends, version, level)
    if drawn is not None and version == "posterior":
        columns = drawn[0].reshape(len(drawn[0]), -1), drawn[1].reshape(len(drawn[1]), -1)
        out = np.where(np.isnan(out), np.nan, _shared_draws(columns, ends, level))
    if undefined := int(np.isnan(out).sum()):
        warnings.warn(
            f"the overlap of {undefined} of {len(out)} pairs of intervals is undefined (NaN): an interval has length "
            "0 or no finite length",
            SdcWarning,
            stacklevel=2,
        )
    return float(out[0]) if known.ndim == 1 else out


def _draws(given: ArrayLike, name: str) -> Floats:
    """Draws as numbers, shape (H,) or (H, p)."""
    try:
        drawn = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} must be draws, H numbers or H rows of p") from None
    if drawn.ndim not in {1, 2} or len(drawn) < LEAST_DRAWS or not np.isfinite(drawn).all():
        raise DataError(f"{name}: give {LEAST_DRAWS} draws or more, finite, shape (H,) or (H, p)", argument=name)
    return drawn


def _credible_bounds(drawn: Floats, level: float) -> Floats:
    """Quantiles of draws as the bounds of intervals."""
    return np.asarray(np.moveaxis(np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0), 0, -1), np.float64)


def _interval_bounds(given: ArrayLike, name: str) -> Floats:
    try:
        ends = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} must be a lower and an upper end, or p rows of them, in numbers") from None
    if ends.ndim not in {1, 2} or ends.shape[-1] != 2:
        raise DataError(f"{name} has shape {ends.shape}; give (2,), a lower and an upper end, or (p, 2)")
    if len(crossed := np.flatnonzero(np.atleast_2d(ends)[:, 0] > np.atleast_2d(ends)[:, 1])):
        raise DataError(f"{name}: the upper end lies below the lower one in interval {crossed[0] + 1}")
    return ends
