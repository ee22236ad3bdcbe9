"""The names of a column's bands read together: ranges that do not overlap."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np

from sdckit.data.hierarchy import Band, read_band
from sdckit.protect.recoding.bands import Bands

SharedEdge: TypeAlias = Literal["left", "right"]
MOST = 2_000  # names of bands; a column with more different texts is no column of bands


def read_bands(labels: Sequence[str], *, shared: SharedEdge | None = None) -> Bands | None:
    """Read all names of a column; None where one is no band, all are single numbers, or two overlap.

    `shared` says to which band an edge belongs that stands in two names, as in "30-40" and "40-50"; without it
    such names overlap.

    Examples
    --------
    >>> read_bands(["18-39", "under 18", "40+"]).labels
    ('under 18', '18-39', '40+')
    >>> read_bands(["30-40", "40-50"]) is None, read_bands(["1", "2"]) is None
    (True, True)
    >>> read_bands(["30-40", "40-50"], shared="left").codes(np.array([40.0])).tolist()
    [1]
    """
    if not 0 < len(labels) <= MOST:
        return None
    found = []
    for label in labels:
        band = read_band(label)
        if band is None:
            return None
        found.append((band, label))
    if all(band.single for band, _ in found):
        return None
    found.sort(key=lambda one: one[0][:2])
    bands = [band for band, _ in found]
    if shared is not None:
        bands = _parted(bands, shared)
    for one, other in pairwise(bands):
        if one.high > other.low or (one.high == other.low and one.has_high and other.has_low):
            return None
    low, high = (np.array([band[i] for band in bands], np.float64) for i in (0, 1))
    has_low, has_high = (np.array([band[i] for band in bands], np.bool_) for i in (2, 3))
    return Bands(low, high, has_low, has_high, tuple(label for _, label in found))


def _parted(bands: Sequence[Band], shared: SharedEdge) -> list[Band]:
    """Give an edge that two dashed bands share to one of them."""
    made = list(bands)
    for i, (one, other) in enumerate(pairwise(bands)):
        if one.high == other.low and one.dashed and not one.single:
            if shared == "left":
                made[i] = made[i]._replace(has_high=False)
            elif other.dashed:
                made[i + 1] = made[i + 1]._replace(has_low=False)
    return made
