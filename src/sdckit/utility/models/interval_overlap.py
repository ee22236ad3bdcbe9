"""F7: overlap of two confidence intervals."""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sdckit.data import arguments
from sdckit.errors import DataError, SdcWarning
from sdckit.numerics.array_types import Floats

Version = Literal["snoke", "drechsler_reiter"]
VERSIONS = ("snoke", "drechsler_reiter")


LEAST_DRAWS = 20  # fewer do not determine the bounds of an interval


# --- kernel: ends in, shares out ----------------------------------------------------------------------


def shared_part(confidential: Floats, released: Floats, version: Version) -> Floats:
    """Mean of the shares of the intersection in each interval; NaN where one has no (finite) length.

    `confidential` and `released` are (p, 2).

    >>> shared_part(np.array([[0.0, 2.0]]), np.array([[1.0, 3.0]]), "snoke").tolist()
    [0.5]
    """
    with np.errstate(invalid="ignore"):  # a bound may be infinite
        common = np.minimum(confidential[:, 1], released[:, 1]) - np.maximum(confidential[:, 0], released[:, 0])
        lengths = confidential[:, 1] - confidential[:, 0], released[:, 1] - released[:, 0]
    if version == "drechsler_reiter":
        common = np.maximum(common, 0.0)
    defined = np.isfinite(lengths[0]) & np.isfinite(lengths[1]) & (lengths[0] > 0) & (lengths[1] > 0)
    out = np.full(len(common), np.nan)
    out[defined] = (common[defined] / lengths[0][defined] + common[defined] / lengths[1][defined]) / 2
    return out


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
    version : {"snoke", "drechsler_reiter"}
        Whether the figure of intervals that do not meet is negative, the more so the farther apart they are;
        or 0.

    draws : bool
        Whether both are draws from a posterior instead, shape (H,) of one quantity or (H, p) of p: the credible
        intervals between their quantiles are compared.
    level : float
        Probability of the credible intervals, between 0 and 1, the rest half above and half below.

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
    interval.

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
    """
    arguments.choice(version, "version", VERSIONS)
    arguments.flag(draws, "draws")
    arguments.level(level, says="is the probability of the credible intervals")
    if draws:
        confidential, released = (
            _credible_bounds(confidential, "confidential", level),
            _credible_bounds(released, "released", level),
        )
    known, shown = _interval_bounds(confidential, "confidential"), _interval_bounds(released, "released")
    if known.shape != shown.shape:
        raise DataError(
            f"confidential has shape {known.shape} and released {shown.shape}; give one interval of the release for "
            "each of the original"
        )
    out = shared_part(known.reshape(-1, 2), shown.reshape(-1, 2), version)
    if undefined := int(np.isnan(out).sum()):
        warnings.warn(
            f"the overlap of {undefined} of {len(out)} pairs of intervals is undefined (NaN): an interval has length "
            "0 or no finite length",
            SdcWarning,
            stacklevel=2,
        )
    return float(out[0]) if known.ndim == 1 else out


def _credible_bounds(given: ArrayLike, name: str, level: float) -> Floats:
    """Quantiles of draws as the bounds of intervals."""
    try:
        drawn = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} must be draws, H numbers or H rows of p") from None
    if drawn.ndim not in {1, 2} or len(drawn) < LEAST_DRAWS or not np.isfinite(drawn).all():
        raise DataError(f"{name}: give {LEAST_DRAWS} draws or more, finite, shape (H,) or (H, p)", argument=name)
    return np.asarray(np.moveaxis(np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0), 0, -1), np.float64)


def _interval_bounds(given: ArrayLike, name: str) -> Floats:
    try:
        ends = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} must be a lower and an upper end, or p rows of them, in numbers") from None
    if ends.ndim not in {1, 2} or ends.shape[-1] != 2:
        raise DataError(f"{name} has shape {ends.shape}; give (2,), a lower and an upper end, or (p, 2)")
    crossed = np.flatnonzero(np.atleast_2d(ends)[:, 0] > np.atleast_2d(ends)[:, 1])
    if len(crossed):
        raise DataError(f"{name}: the upper end lies below the lower one in interval {crossed[0] + 1}")
    return ends
