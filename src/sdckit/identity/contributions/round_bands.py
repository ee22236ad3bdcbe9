"""Edges of bands at round numbers, which tell nothing of anybody's value."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Floats

MOST = 20  # bands
ENOUGH = 5  # records, at least, in the outermost bands
SHARE = 0.01  # of the records, at least, in the outermost bands


def round_edges(values: Floats, size: NDArray[np.int64]) -> Floats:
    """Inner edges of bands: multiples of 1, 2 or 5 times a power of ten, the outermost bands being open.

    `values` (L,): distinct numbers, ascending; `size` (L,): the records of each. The outermost bands hold 5 records
    and 1 % of them at least. There are at most 20 bands, and half as many as steps between those, where a step is
    the smallest gap between values of 5 records. Neither the smallest nor the largest value decides on an edge.
    Empty where one band would be left.

    >>> round_edges(np.arange(0.0, 100.0), np.full(100, 10)).tolist()[:4]
    [5.0, 10.0, 15.0, 20.0]
    """
    need = max(ENOUGH, math.ceil(SHARE * int(size.sum())))
    below = np.cumsum(size)
    above = below[-1] - below + size  # records of this value or a larger one
    if below[-1] < 2 * need:
        return np.empty(0)
    low = float(values[np.searchsorted(below, need)])
    high = float(values[np.flatnonzero(above >= need)[-1]])
    if high <= low:
        return np.empty(0)
    whole = bool((values == np.floor(values)).all())
    usual = values[size >= ENOUGH]
    gap = float(np.diff(usual).min()) if len(usual) > 1 else float(whole)
    most = min(MOST, max(2, math.ceil(((high - low) / gap + 1) / 2))) if gap else MOST
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    if whole:
        power = max(power, 1.0)
    found: Floats = np.empty(0)
    for factor in (1, 2, 5, 10, 20, 50):
        step = factor * power
        # an edge belongs to the band above it: the first has records below it, the last on it or above
        first, last = math.floor(low / step) + 1, math.floor(high / step)
        if last < first:
            break
        digits = max(0, 1 - math.floor(math.log10(step)))
        found = np.round(np.arange(first, last + 1) * step, digits)
        if len(found) < most:
            break
    return found
