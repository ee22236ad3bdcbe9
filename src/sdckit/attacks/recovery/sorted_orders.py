"""Order that tells: records that stand in the order of a value, in the file or by an id or a time stamp."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Floats

SORTED = 0.9  # rank correlation of a number with the order, from which on the file counts as sorted by it
MOST_RUNS = 0.25  # runs of one value per record, up to which it counts as sorted into groups


def by_position(truth: Floats, order: NDArray[np.int64], fit: NDArray[np.int64]) -> Iterator[Floats]:
    """Values (n,) that an order of the records (n,) gives, in two ways; none where it is not that of the values.

    The values in ascending or descending order put at the places of the order; and the value between those of the
    records before and after, of the half `fit`.

    >>> age = np.repeat(np.arange(20.0), 10)
    >>> [float((fitted == age).mean()) for fitted in by_position(age, np.arange(200), np.arange(0, 200, 2))]
    [1.0, 0.905]
    """
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    use = fit[np.argsort(places[fit])]
    known = truth[use]
    if len(known) < 2:
        return
    ranks = np.argsort(np.argsort(known, kind="stable"))
    trend = float(np.corrcoef(ranks, np.arange(len(ranks)))[0, 1]) if known.min() < known.max() else 0.0
    runs = 1 + np.count_nonzero(np.diff(known))
    if abs(trend) >= SORTED:
        there = order[~np.isnan(truth[order])]
        fitted = np.full(len(truth), np.nan)
        fitted[there] = np.sort(truth[there])[:: 1 if trend > 0 else -1]
        yield fitted
    if abs(trend) >= SORTED or 1 < runs <= MOST_RUNS * len(known):
        after = np.searchsorted(places[use], places)
        before = np.clip(after - 1, 0, len(use) - 1)
        # a record of the half itself stands between its neighbours, not beside itself
        itself = (after < len(use)) & (use[np.minimum(after, len(use) - 1)] == np.arange(len(places)))
        after = np.clip(after + itself, 0, len(use) - 1)
        low, high = known[before], known[after]
        yield np.where(low == high, low, np.floor((low + high) / 2) if abs(trend) >= SORTED else np.nan)
