"""Intervals under linear relations: what they leave of every number.

A relation is lower <= sum of factor x number <= upper. Narrowing goes relation by relation until nothing moves;
see `linear_points` for numbers that meet them all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.compiling import njit

TINY = 1e-9
# A bound that moves by less than this share of itself is not followed: endless halving ends here.
MOVES = 1e-7
# How often a relation is looked at, on average.
ROUNDS = 6


class Relations(NamedTuple):
    """Relations by rows, and for every number the relations it is in.

    `start` (R + 1,), `number` and `factor` (K,): the terms of relation r are those from start[r] on. `lower` and
    `upper` (R,). `first` (V + 1,) and `at` (K,): the relations of number v. `whole` (V,): takes whole numbers only.
    """

    start: NDArray[np.int64]
    number: NDArray[np.int64]
    factor: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    first: NDArray[np.int64]
    at: NDArray[np.int64]
    whole: NDArray[np.bool_]


class Room(NamedTuple):
    """Where narrowing works, so that nothing is allocated on the way.

    `queue` and `queued` (R,): the relations still to be looked at. `moved` (V,) holds the numbers that moved, `before`
    (2, V) their ends before that, `has_moved` (V,) says which they are; `n_moved` (1,) how many.
    """

    queue: NDArray[np.int64]
    queued: NDArray[np.bool_]
    moved: NDArray[np.int64]
    before: NDArray[np.float64]
    has_moved: NDArray[np.bool_]
    n_moved: NDArray[np.int64]


def make_room(relations: Relations) -> Room:
    """What `narrow_noting` works in; good for any number of calls, one at a time.

    Made outside the kernels, where making arrays takes long to compile.
    """
    r, v = len(relations.lower), len(relations.whole)
    return Room(
        np.empty(r, np.int64), np.zeros(r, np.bool_), np.empty(v, np.int64), np.empty((2, v)),
        np.zeros(v, np.bool_), np.zeros(1, np.int64),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def is_tidy(relations, low, high):  # type: ignore[no-untyped-def]
    """Whether what takes whole numbers only has whole ends: narrowing leaves it so."""
    for v in range(len(low)):
        if relations.whole[v] and (np.floor(low[v]) != low[v] or np.floor(high[v]) != high[v]):
            return False
    return True


def narrow(
    relations: Relations,
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    begin: int,
    room: Room | None = None,
) -> bool:
    """Narrow `low` and `high` (V,) in place, from the relations of number `begin` on (-1: all); False when empty."""
    return bool(narrow_within(relations, low, high, begin, room or make_room(relations)))


@njit(cache=True, nogil=True)
def narrow_within(relations, low, high, begin, room):  # type: ignore[no-untyped-def]
    """Do as `narrow` in a room that may be used again."""
    holds = narrow_noting(relations, low, high, begin, room, is_tidy(relations, low, high))
    forget(room)
    return holds


@njit(cache=True, nogil=True)
def narrow_noting(relations, low, high, begin, room, tidy):  # type: ignore[no-untyped-def]  # noqa: PLR0912, PLR0915
    """Do as `narrow`; `room` remembers what moved. `tidy`: whole numbers have whole ends."""
    n = len(relations.lower)
    queue, queued = room.queue, room.queued
    head, size = 0, 0
    if begin < 0:
        for r in range(n):
            queue[r], queued[r] = r, True
        size = n
    else:
        for i in range(relations.first[begin], relations.first[begin + 1]):
            queue[size], queued[relations.at[i]] = relations.at[i], True
            size += 1
    holds = True
    for _ in range(ROUNDS * (n + 1)):
        if size == 0:
            break
        r = queue[head]
        head, size = head + 1, size - 1
        if head == n:
            head = 0
        queued[r] = False
        from_, to = relations.start[r], relations.start[r + 1]
        least, most, open_down, open_up, widest = 0.0, 0.0, 0, 0, 0.0
        for i in range(from_, to):
            # Numbers without a sign: numba then looks for no index from the end.
            v, f = np.uintp(relations.number[i]), relations.factor[i]
            down, up = (f * low[v], f * high[v]) if f > 0 else (f * high[v], f * low[v])
            widest = max(widest, up - down)
            if down > -np.inf:
                least += down
            else:
                open_down += 1
            if up < np.inf:
                most += up
            else:
                open_up += 1
        # A term with room for itself at both ends cannot move: where the widest has it, none can.
        space = min(relations.upper[r] - least, most - relations.lower[r])
        if tidy and space >= widest:
            continue
        for i in range(from_, to):
            v, f = relations.number[i], relations.factor[i]
            down, up = (f * low[v], f * high[v]) if f > 0 else (f * high[v], f * low[v])
            if tidy and space >= up - down:
                continue
            rest_low = -_rest(-least, open_down, -down)
            rest_high = _rest(most, open_up, up)
            a, b = relations.lower[r] - rest_high, relations.upper[r] - rest_low
            if f != 1.0:  # dividing takes longer than all else
                a, b = a / f, b / f
            new_low, new_high = (a, b) if a <= b else (b, a)
            own_low, own_high = low[v], high[v]
            if tidy and new_low <= own_low and new_high >= own_high:
                continue
            moved, empty = _meet(low, high, v, new_low, new_high, relations.whole[v])
            if moved and not room.has_moved[v]:
                at = room.n_moved[0]
                room.has_moved[v], room.moved[at], room.n_moved[0] = True, v, at + 1
                room.before[0, at], room.before[1, at] = own_low, own_high
            if empty:
                holds = False
                break
            if moved:
                for j in range(relations.first[v], relations.first[v + 1]):
                    other = relations.at[j]
                    if not queued[other]:
                        last = head + size
                        queue[last - n if last >= n else last], queued[other] = other, True
                        size += 1
        if not holds:
            break
    for i in range(size):
        queued[queue[(head + i) % n]] = False
    return holds


@njit(cache=True, nogil=True)
def forget(room):  # type: ignore[no-untyped-def]
    """Keep what moved as it is now."""
    for i in range(room.n_moved[0]):
        room.has_moved[room.moved[i]] = False
    room.n_moved[0] = 0


@njit(cache=True, nogil=True)
def put_back(low, high, room):  # type: ignore[no-untyped-def]
    """Put back the ends of what moved."""
    for i in range(room.n_moved[0]):
        v = room.moved[i]
        low[v], high[v] = room.before[0, i], room.before[1, i]
    forget(room)


@njit(cache=True, nogil=True)
def _rest(total, n_open, own):  # type: ignore[no-untyped-def]
    """Largest sum of the others; endless where one of them has no end."""
    if np.isfinite(own):
        return total - own if n_open == 0 else np.inf
    return total if n_open == 1 else np.inf


@njit(cache=True, nogil=True)
def _meet(low, high, v, new_low, new_high, whole):  # type: ignore[no-untyped-def]
    slack = 1.0
    for end in (low[v], high[v], new_low, new_high):
        if np.isfinite(end):
            slack = max(slack, abs(end))
    slack *= TINY
    if whole:
        if np.isfinite(new_low):
            new_low = np.ceil(new_low - slack)
        if np.isfinite(new_high):
            new_high = np.floor(new_high + slack)
    moved = False
    if new_low > low[v] + max(slack, MOVES * abs(low[v]) if np.isfinite(low[v]) else 0.0):
        low[v], moved = new_low, True
    if new_high < high[v] - max(slack, MOVES * abs(high[v]) if np.isfinite(high[v]) else 0.0):
        high[v], moved = new_high, True
    return moved, low[v] > high[v] + slack
