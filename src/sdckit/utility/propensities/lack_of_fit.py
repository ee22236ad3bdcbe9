"""Whether the coefficients of the releases, all together, are those of the original."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sdckit.numerics.array_types import Floats
from sdckit.utility.comparison import CompareKind, FileEstimates

DRAWN = ("full", "proper")  # parameters drawn before the records: the releases vary more


def lack_of_fit(
    original: FileEstimates,
    released: Sequence[FileEstimates],
    *,
    kind: CompareKind,
    ratio: float,
    notes: dict[str, str],
) -> dict[str, float]:
    """Test that the releases' mean coefficients differ from the original's by chance only.

    Both have covariances. `kind`: "partial" and "imputed" compare with the variation between the releases
    (Hotelling), others with the original's covariance. `ratio`: records of a release divided by those of the
    original. `notes`: told why the test is undefined. Returns ``lack_of_fit``, ``lack_of_fit_df`` and
    ``lack_of_fit_p_value``.
    """
    from scipy.stats import chi2, f

    undefined = {"lack_of_fit": math.nan, "lack_of_fit_df": math.nan, "lack_of_fit_p_value": math.nan}
    known = ~np.isnan(original.variance)
    for one in released:
        known &= ~np.isnan(one.value)
    p, m = int(known.sum()), len(released)
    if p == 0 or original.covariance is None:
        notes["lack_of_fit"] = "no term is determined in every file"
        return undefined
    values = np.array([one.value[known] for one in released])
    difference = values.mean(axis=0) - original.value[known]
    if kind in {"partial", "imputed"}:
        if m <= p:
            notes["lack_of_fit"] = (
                f"{p} terms need more than {p} releases of partially synthetic data; there are {m}"
            )
            return undefined
        # masked copies lead astray by no more than the imputations vary
        spread = 1 / m if kind == "partial" else 1 + 1 / m
        statistic = _quadratic(difference, np.atleast_2d(np.cov(values.T))) / spread
        p_value = float(f.sf(statistic * (m - p) / (p * (m - 1)), p, m - p))
    else:
        share = ratio / (1 + ratio) if kind in DRAWN else ratio
        statistic = _quadratic(difference, original.covariance[np.ix_(known, known)]) * m * share
        p_value = float(chi2.sf(statistic, p))
    if math.isnan(statistic):
        notes["lack_of_fit"] = "the covariance of the coefficients is singular"
        return undefined
    if p < len(known):
        notes["lack_of_fit"] = f"of the {p} terms of {len(known)} that every file determines"
    return {"lack_of_fit": statistic, "lack_of_fit_df": float(p), "lack_of_fit_p_value": p_value}


def _quadratic(difference: Floats, covariance: Floats) -> float:
    """``d' V⁻¹ d``; NaN for a singular V."""
    size = np.sqrt(np.diag(covariance))
    if not (size > 0).all():
        return math.nan
    scaled = covariance / np.outer(size, size)
    if np.linalg.eigvalsh(scaled)[0] < 1e-14:
        return math.nan
    d = difference / size
    return float(d @ np.linalg.solve(scaled, d))
