"""Order that tells: records that stand in the order of a value, in the file or by an id or a time stamp."""

from collections.abc import Iterator

import numpy as np

from sdckit.numerics.array_types import Bools, Floats, Ints
from sdckit.numerics.grouping import places_among

SORTED = 0.9  # rank correlation of a number with the order, from which on the file counts as sorted by it
MOST_RUNS = 0.25  # runs of one value per record, up to which it counts as sorted into groups
# Runs per value of what no record shows: somebody may know where each value begins in a sorted file, but not where each
# of many runs does, as of people whose rows stand together.
RUNS_UNSEEN = 2


def neighbours(known: Bools, homes: Ints | None = None) -> tuple[Ints, Ints]:
    """The nearest places (n,) before and after each place whose value is known; n where there is none.

    `homes` (n,): number of the household at each place, below 0 for none. Its members are passed over: what mates tell
    each other is another rule, and where they stand side by side it would make this one look right of everybody.

    >>> [at.tolist() for at in neighbours(np.array([False, True, False, True]))]
    [[4, 4, 1, 1], [1, 3, 3, 4]]
    >>> [at.tolist() for at in neighbours(np.array([True, True, True, True]), np.array([7, 8, 8, -1]))]
    [[4, 0, 0, 2], [1, 3, 3, 4]]
    """
    n, at = len(known), np.flatnonzero(known)
    following = np.cumsum(known, dtype=np.int64)  # the number of the next known place, and of the last one
    last: Ints = following - known - 1
    ends = np.append(at, n)  # behind the last one, and as the place -1, there is none
    if homes is not None:
        home = homes[at]
        starts = np.append(True, home[1:] != home[:-1]) if len(at) else np.zeros(0, np.bool_)
        run = np.cumsum(starts) - 1
        first = np.flatnonzero(starts)
        ended = np.append(first[1:], len(at))
        own = np.append(home, -1)
        mate = (homes >= 0) & (own[last] == homes)
        last[mate] = first[run[last[mate]]] - 1
        mate = (homes >= 0) & (own[following] == homes)
        following[mate] = ended[run[following[mate]]]
    return ends[last], ends[following]


def by_position(
    truth: Floats, order: Ints, fit: Ints, homes: Ints | None = None, *, shown: bool = True
) -> Iterator[Floats]:
    """Values (n,) that an order of the records (n,) gives, in two ways; none where it is not that of the values.

    The values in ascending or descending order put at the places of the order; and the value between those of the
    records before and after, of the half `fit`; of other `homes`, see `neighbours`. `shown`: whether the values of some
    records are released, between which others lie.

    >>> age = np.repeat(np.arange(20.0), 10)
    >>> [float((fitted == age).mean()) for fitted in by_position(age, np.arange(200), np.arange(0, 200, 2))]
    [1.0, 0.905]
    """
    places = places_among(order, len(order))
    use = fit[np.argsort(places[fit])]
    known = truth[use]
    if len(known) < 2:
        return
    ranks = np.argsort(np.argsort(known, kind="stable")).astype(np.float64)
    if not shown:  # a rare value anywhere would do, were equal ones ranked as they stand
        _, of, counts = np.unique(known, return_inverse=True, return_counts=True)
        ranks = (np.cumsum(counts) - counts / 2)[of]
    trend = float(np.corrcoef(ranks, np.arange(len(ranks)))[0, 1]) if known.min() < known.max() else 0.0
    runs = 1 + np.count_nonzero(np.diff(known))
    if abs(trend) >= SORTED:
        there = order[~np.isnan(truth[order])]
        fitted = np.full(len(truth), np.nan)
        fitted[there] = np.sort(truth[there])[:: 1 if trend > 0 else -1]
        yield fitted
    most = MOST_RUNS * len(known)
    if not shown:
        most = min(most, RUNS_UNSEEN * len(np.unique(known)))
    if abs(trend) >= SORTED or 1 < runs <= most:
        half = np.zeros(len(truth), np.bool_)
        half[places[use]] = True
        last, following = (at[places] for at in neighbours(half, None if homes is None else homes[order]))
        values = np.append(truth[order], np.nan)
        none = len(truth)  # at an end the neighbour on the other side counts twice
        low = values[np.where(last == none, following, last)]
        high = values[np.where(following == none, last, following)]
        yield np.where(low == high, low, np.floor((low + high) / 2) if abs(trend) >= SORTED else np.nan)
