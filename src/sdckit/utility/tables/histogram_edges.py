"""Bins of a histogram with round edges: no value of the data is an edge because somebody has it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sdckit.errors import DataError
from sdckit.numerics.array_types import Floats

BULK = (0.01, 0.99)  # quantiles of the pooled values between which the bins lie


def round_edges(values: Sequence[Floats], bins: int = 20) -> Floats:
    """Multiples of 1, 2 or 5 times a power of ten that span all but the outermost values of the files.

    `values` are the numbers of each file, NaN where missing; there are at most `bins` bins.

    >>> round_edges([np.array([1.0, 7.0]), np.array([22.0, np.nan])], 5).tolist()
    [0.0, 5.0, 10.0, 15.0, 20.0, 25.0]
    """
    pooled = np.concatenate(values)
    pooled = pooled[~np.isnan(pooled)]
    low, high = (float(one) for one in np.quantile(pooled, BULK))
    power = 10.0 ** math.floor(math.log10((high - low) / bins)) if high > low else 1.0
    if (pooled == np.floor(pooled)).all():
        power = max(power, 1.0)
    for factor in (1, 2, 5, 10, 20, 50):
        step = factor * power
        first, last = math.floor(low / step), math.floor(high / step) + 1
        if last - first <= bins:
            break
    digits = max(0, 1 - math.floor(math.log10(step)))
    return np.round(np.arange(first, last + 1) * step, digits)


def checked_edges(edges: Sequence[float]) -> Floats:
    """Edges as given, checked.

    Raises DataError: fewer than two, or not ascending, or not finite.
    """
    try:
        found = np.asarray(list(edges), np.float64)
    except (TypeError, ValueError):
        raise DataError("edges must be a list of ascending numbers") from None
    if found.ndim != 1 or len(found) < 2 or not np.isfinite(found).all() or (np.diff(found) <= 0).any():
        raise DataError("edges must be two or more ascending finite numbers")
    return found


def counts_between(values: Floats, edges: Floats) -> NDArray[np.int64]:
    """Values below the first edge, in each bin [a, b), and from the last edge on; missing ones are left out.

    >>> counts_between(np.array([-1.0, 0.0, 2.0, 3.0, np.nan]), np.array([0.0, 1.0, 3.0])).tolist()
    [1, 1, 1, 1]
    """
    place = np.searchsorted(edges, values[~np.isnan(values)], side="right")
    return np.bincount(place, minlength=len(edges) + 1)
