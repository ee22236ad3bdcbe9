"""Rules that make one estimate and one variance of those of m released files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Floats

Kind = Literal["partial", "full", "simple", "proper", "imputed"]
KINDS: tuple[Kind, ...] = ("partial", "full", "simple", "proper", "imputed")
Negative = Literal["adjusted", "zero"]
LARGEST = 1e150  # next to no degrees of freedom: beyond this the library's quantiles stop growing
STOPPED = 1e100  # where those of SciPy before 1.17 stop
NEEDS_SEVERAL = ("partial", "full", "imputed")  # their variance needs that between the files


@dataclass(frozen=True, eq=False)
class Pooled:
    """Combined estimates of p quantities.

    `estimate`, `variance`, `df`, `low` and `high` (p,): `df` is infinite where normal quantiles were used. `within`
    and `between` (p,): mean of the variances, and variance of the estimates (ddof 1; NaN for one file). `adjusted`
    (p,): where the variance came out at 0 or below and was replaced. `raw_variance` (p,): as it came out;
    `adjusted_variance` (p,): T*, what may replace it, NaN but for fully synthetic files.
    """

    estimate: Floats
    variance: Floats
    df: Floats
    low: Floats
    high: Floats
    within: Floats
    between: Floats
    adjusted: NDArray[np.bool_]
    raw_variance: Floats
    adjusted_variance: Floats


def limits(estimate: Floats, variance: Floats, df: Floats, level: float) -> tuple[Floats, Floats]:
    """Ends of the interval by Student's t, the normal distribution where `df` is infinite.

    >>> low, high = limits(np.array([1.0]), np.array([0.25]), np.array([np.inf]), 0.95)
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.02], [1.98])
    """
    from scipy.stats import norm, t

    share = (1 + level) / 2
    quantile = np.full(len(df), float(norm.ppf(share)))
    finite = np.isfinite(df)
    found = t.ppf(share, df[finite])
    quantile[finite] = np.where(found > np.minimum(LARGEST * np.sqrt(df[finite]), STOPPED / 2), np.inf, found)
    quantile[np.isnan(df)] = np.nan
    reach = np.where(variance == 0, 0.0, quantile * np.sqrt(variance))
    return estimate - reach, estimate + reach


def pool(
    estimates: Floats, variances: Floats, *, kind: Kind, level: float, ratio: float = 1.0,
    negative: Negative = "adjusted",
) -> Pooled:  # fmt: skip
    """Combine the estimates of m files (rows) of p quantities (columns).

    `estimates` and `variances` are (m, p). `level`: coverage of the interval. `ratio`: records of a released file
    divided by those of the original. `negative`: whether T* or 0 stands for a variance at 0 or below.

    >>> found = pool(np.array([[1.0], [2.0], [3.0]]), np.full((3, 1), 2.0), kind="simple", level=0.95, ratio=0.5)
    >>> found.variance.round(4).tolist()
    [1.6667]
    """
    m, p = estimates.shape
    estimate, within = estimates.mean(axis=0), variances.mean(axis=0)
    between = estimates.var(axis=0, ddof=1) if m > 1 else np.full(p, np.nan)
    adjusted = np.zeros(p, bool)
    df, star = np.full(p, np.inf), np.full(p, np.nan)
    raw: Floats | None = None
    if kind == "simple":
        variance = within * (ratio + 1 / m)
    elif kind == "proper":
        variance = within * (ratio + (1 + ratio) / m)
    elif kind == "partial":
        variance = between / m + within
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            df = np.where(between == 0, np.inf, (m - 1) * (1 + within / (between / m)) ** 2)
    elif kind == "imputed":
        spread = (1 + 1 / m) * between
        variance = within + spread
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            df = np.where(between == 0, np.inf, (m - 1) * (1 + within / spread) ** 2)
    else:
        spread = (1 + 1 / m) * between
        raw = variance = spread - within
        adjusted = variance <= 0
        with np.errstate(divide="ignore", invalid="ignore"):
            df = np.where(adjusted, m - 1.0, (m - 1) * (1 - within / spread) ** 2)
        star = ratio * within
        variance = np.where(adjusted, star if negative == "adjusted" else 0.0, variance)
    df = np.where(np.isnan(variance), np.nan, df)
    low, high = limits(estimate, variance, df, level)
    raw = variance if raw is None else raw
    return Pooled(estimate, variance, df, low, high, within, between, adjusted, raw, star)
