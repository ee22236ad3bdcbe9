"""What a number in some interval would mean for others: their ends, and which of them would have to be looked at."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.compiling import njit
from sdckit.numerics.linear_bounds import Relations, Room, narrow_within


class Lookout(NamedTuple):
    """The numbers looked after, and when they are looked at.

    `numbers` (W,); of all numbers: `part` (V,), those that relations link; `always` (V,), looked at though their ends
    stay; `wide` (V,), looked at however many values are left. `limits` (2,): from where a number is no longer small,
    and how wide the interval of any other may be.
    """

    numbers: NDArray[np.int64]
    part: NDArray[np.int64]
    always: NDArray[np.bool_]
    wide: NDArray[np.bool_]
    limits: NDArray[np.float64]


def moved_by(
    relations: Relations,
    known: tuple[NDArray[np.float64], NDArray[np.float64]],
    v: int,
    intervals: NDArray[np.float64],
    lookout: Lookout,
    ends: tuple[NDArray[np.float64], NDArray[np.float64]],
    room: Room,
) -> tuple[int, NDArray[np.int64]]:
    """The first of the intervals in which `v` asks for a look at others, and the numbers to be looked at.

    None is to be looked at where `v` cannot lie in an interval, or where that is known; where that is so of all, the
    first is the number of `intervals` (M, 2). `known`: both ends of every number. `ends` (V,) twice are written over
    with those that the interval leaves.
    """
    found = np.empty(len(lookout.numbers), np.int64)
    at, n = _first_moved(relations, known, v, intervals, lookout, ends, room, found)
    return int(at), found[:n]


@njit(cache=True, nogil=True)
def _first_moved(relations, known, v, intervals, lookout, ends, room, found):  # type: ignore[no-untyped-def]
    for i in range(len(intervals)):
        n = _moved_by(relations, known, v, intervals[i, 0], intervals[i, 1], lookout, ends, room, found)
        if n > 0:
            return i, n
    return len(intervals), 0


@njit(cache=True, nogil=True)
def _moved_by(relations, known, v, least, largest, lookout, ends, room, found):  # type: ignore[no-untyped-def]
    low, high = ends
    for i in range(len(low)):
        low[i], high[i] = known[0][i], known[1][i]
    low[v], high[v] = max(low[v], least), min(high[v], largest)
    n = 0
    if low[v] > high[v] or not narrow_within(relations, low, high, v, room):
        return n
    if low[v] == known[0][v] and high[v] == known[1][v]:
        return n
    small, narrowest = lookout.limits
    for w in lookout.numbers:
        if lookout.part[w] != lookout.part[v] or not (high[w] > 0 and low[w] < small):
            continue
        if not lookout.wide[w] and high[w] - low[w] > narrowest:
            continue
        if lookout.always[w] or low[w] != known[0][w] or high[w] != known[1][w]:
            found[n] = w
            n += 1
    return n
