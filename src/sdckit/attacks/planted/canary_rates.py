"""How far planted records stand out from such that were held back: numbers in, numbers out."""

from __future__ import annotations

import math

import numpy as np

from sdckit.numerics.array_types import Floats


def _places(planted: Floats, held_out: Floats, tolerance: float) -> tuple[Floats, Floats]:
    """For each planted record how many held back are nearer, and how many as near."""
    order = np.sort(held_out)
    nearer = np.searchsorted(order, planted - tolerance, side="left")
    equal = np.searchsorted(order, planted + tolerance, side="right") - nearer
    return nearer.astype(np.float64), equal.astype(np.float64)


def exposures(planted: Floats, held_out: Floats, tolerance: float = 0.0) -> Floats:
    """Exposure in bits of each planted record: log2 of the number of candidates over its rank among them.

    A planted record competes with all that were held back; equally near ones share their ranks.

    Examples
    --------
    >>> exposures(np.array([0.0, 0.4]), np.array([0.1, 0.2, 0.3])).tolist()
    [2.0, 0.0]
    """
    nearer, equal = _places(planted, held_out, tolerance)
    bits: Floats = math.log2(len(held_out) + 1) - np.log2(1 + nearer + equal / 2)
    return bits


def stand_out(planted: Floats, held_out: Floats, tolerance: float = 0.0) -> tuple[float, float]:
    """How often a planted record is nearer to the release than one held back, and how likely so much is by chance.

    Gives the area under the curve (1/2: no difference), and the one-sided p-value of Mann and Whitney.

    Examples
    --------
    >>> stand_out(np.array([0.0, 0.1]), np.array([0.2, 0.3]))[0]
    1.0
    """
    from scipy.stats import mannwhitneyu

    nearer, equal = _places(planted, held_out, tolerance)
    area = float(1 - (nearer + equal / 2).mean() / len(held_out))
    together = np.concatenate([planted, held_out])
    if np.ptp(together) <= tolerance:
        return area, 1.0
    # what is equal within the tolerance must be equal to the bit for the test
    distinct = np.sort(together)
    step = np.cumsum(np.concatenate([[0], np.diff(distinct) > tolerance]))
    place = step[np.searchsorted(distinct, together)]
    test = mannwhitneyu(place[: len(planted)], place[len(planted) :], alternative="less")
    return area, float(test.pvalue)


def auc_interval(area: float, n_planted: int, n_held_out: int, level: float = 0.95) -> tuple[float, float]:
    """Interval of an area under the curve, within 0 and 1 and right near both (Newcombe 2006, method 5).

    Examples
    --------
    >>> [round(end, 3) for end in auc_interval(1.0, 20, 20)]
    [0.899, 1.0]
    """
    from statistics import NormalDist

    from scipy.optimize import brentq

    z2, extra = NormalDist().inv_cdf((1 + level) / 2) ** 2, (n_planted + n_held_out) / 2 - 1

    def away(theta: float) -> float:
        spread = 1 + extra * ((1 - theta) / (2 - theta) + theta / (1 + theta))
        variance = theta * (1 - theta) * spread / (n_planted * n_held_out)
        return float((area - theta) ** 2 - z2 * variance)

    tiny = 1e-9  # an end itself solves the equation where it is the estimate
    low = 0.0 if area <= 2 * tiny or away(tiny) <= 0 else brentq(away, tiny, area - tiny)
    high = 1.0 if area >= 1 - 2 * tiny or away(1 - tiny) <= 0 else brentq(away, area + tiny, 1 - tiny)
    return float(low), float(high)
