"""Numbers that meet linear relations: looked for by fixing one after the other, the narrowest first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.compiling import njit
from sdckit.numerics.linear_bounds import (
    Relations,
    Room,
    forget,
    is_tidy,
    make_room,
    narrow_noting,
    narrow_within,
    put_back,
)

# How often the search for a point begins anew.
TURNS = 2
# Searches given up, of all counts asked for, after which no other is begun.
MOST_GIVEN_UP = 2
# How many values of a number without an upper end are tried.
ENDLESS = 1000


@njit(cache=True, nogil=True)
def _copy(low, high, to_low, to_high):  # type: ignore[no-untyped-def]
    """Both bounds, one by one: numba compiles no check of shapes, with its messages, then."""
    for v in range(len(low)):
        to_low[v], to_high[v] = low[v], high[v]


@njit(cache=True, nogil=True)
def _fix_one_by_one(relations, low, high, members, style, room, tidy):  # type: ignore[no-untyped-def]
    """Fix the `members` in place, the narrowest first, at an end or in the middle; False when stuck."""
    left = members.copy()
    n = len(left)
    while True:
        v, n = _narrowest(relations, low, high, left, n)
        if v < 0:
            return True
        own_low, own_high = low[v], high[v]
        lower, _upper = _halves(own_low, own_high, relations.whole[v])
        fixed = False
        for trial in range(3):
            turn = (style + trial) % 3
            value = lower
            if turn == 0 and np.isfinite(own_low):
                value = own_low
            elif turn == 2 and np.isfinite(own_high):
                value = own_high
            low[v] = high[v] = value
            if narrow_noting(relations, low, high, v, room, tidy):
                forget(room)
                fixed = True
                break
            put_back(low, high, room)
            low[v], high[v] = own_low, own_high
        if not fixed:
            return False


def find_point(
    relations: Relations,
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    members: NDArray[np.int64],
    style: int,
    most: int,
    room: Room | None = None,
) -> int:
    """Fix the `members` in place so that all relations hold: 1 when done, 0 when nothing can, -1 when given up.

    `low` and `high` (V,) are narrowed already. The narrowest number is fixed first, at an end or in the middle; where
    that leads nowhere it lies below or above. `style` 0, 1 and 2 begin differently, and two are tried; each is given up
    after `most` dead ends.
    """
    return int(_find_point(relations, low, high, -1, members, style, most, room or make_room(relations)))


@njit(cache=True, nogil=True)
def _find_point(relations, low, high, begin, members, style, most, room):  # type: ignore[no-untyped-def]
    """Do as `find_point`, after narrowing from the relations of number `begin` on where that is one."""
    if begin >= 0 and not narrow_within(relations, low, high, begin, room):
        return 0
    tidy = is_tidy(relations, low, high)
    for turn in range(TURNS):
        own_low, own_high = low.copy(), high.copy()
        if _fix_one_by_one(relations, own_low, own_high, members, (style + turn) % 3, room, tidy):
            _copy(own_low, own_high, low, high)
            return 1
    for turn in range(TURNS):
        own_low, own_high = low.copy(), high.copy()
        found = _search(relations, own_low, own_high, members, (style + turn) % 3, most, room, tidy)
        if found >= 0:
            _copy(own_low, own_high, low, high)
            return found
    return -1


@njit(cache=True, nogil=True)
def _search(relations, low, high, members, style, most, room, tidy):  # type: ignore[no-untyped-def]
    height = 2 * len(members) + 3
    lows, highs = np.empty((height, len(low))), np.empty((height, len(low)))
    moved, left = np.full(height, -1), members.copy()
    _copy(low, high, lows[0], highs[0])
    depth, ends, all_tried = 1, 0, True
    while depth > 0:
        depth -= 1
        _copy(lows[depth], highs[depth], low, high)
        if moved[depth] >= 0:
            holds = narrow_noting(relations, low, high, moved[depth], room, tidy)
            forget(room)
            if not holds:
                ends += 1
                if ends > most:
                    return -1
                continue
        for i in range(len(members)):
            left[i] = members[i]
        v, _size = _narrowest(relations, low, high, left, len(left))
        if v < 0:
            return 1
        if depth + 3 > height:
            return -1
        least, largest, whole = low[v], high[v], relations.whole[v]
        value = _halves(least, largest, whole)[0]
        near, far = (least, value - 1), (value + 1, largest)
        if style == 0 and np.isfinite(least):
            cut = max(value, least + 1)
            value, near, far = least, (least + 1, cut - 1), (cut, largest)
        elif style == 2 and np.isfinite(largest):
            cut = min(value, largest - 1)
            value, near, far = largest, (cut + 1, largest - 1), (least, cut)
        all_tried &= whole
        # What is put on top is tried first: the value itself, then the half that lies farther from it.
        for from_, to in (near, far, (value, value)):
            if from_ == to == value or (whole and from_ <= to):
                _copy(low, high, lows[depth], highs[depth])
                moved[depth] = v
                lows[depth, v], highs[depth, v] = from_, to
                depth += 1
    return 0 if all_tried else -1


@njit(cache=True, nogil=True)
def _narrowest(relations, low, high, left, n):  # type: ignore[no-untyped-def]
    """The number of the narrowest open interval, -1 when all are closed, and how many are open; estimates come last.

    Of `left` the first `n` are looked at; those that are closed are taken out, the others keep their order.
    """
    chosen, width, last, last_width, size = -1, np.inf, -1, np.inf, 0
    for i in range(n):
        v = left[i]
        span = high[v] - low[v]
        if relations.whole[v]:
            if not span > 0.0:
                continue
            if chosen < 0 or span < width:
                chosen, width = v, span
        else:
            if not span > 1e-6 * max(1.0, abs(low[v])):
                continue
            if last < 0 or span < last_width:
                last, last_width = v, span
        left[size] = v
        size += 1
    return (chosen if chosen >= 0 else last), size


@njit(cache=True, nogil=True)
def _halves(low, high, whole):  # type: ignore[no-untyped-def]
    """End of the lower and start of the upper half."""
    if not np.isfinite(low):
        middle = min(high, 0.0) - 1000.0
    elif not np.isfinite(high):
        middle = max(low, 0.0) + 1000.0
    else:
        middle = (low + high) / 2
    if whole:
        middle = np.floor(middle)
        return middle, middle + 1.0
    return middle, middle


def few_values(
    relations: Relations,
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    asked: NDArray[np.int64],
    members: NDArray[np.int64],
    points: NDArray[np.float64],
    used: NDArray[np.int64],
    limits: tuple[int, float, int],
    room: Room | None = None,
) -> int:
    """Find the first of the `asked` that takes few whole values, a small one among them; -1 when none does.

    `limits` says how many values are enough, which number is no longer small, and how many dead ends a search for a
    point may meet. `points` (P, V) holds `used[0]` points that meet all relations; those found are added, over the
    oldest when full. Where the search for a point is given up, `used[1]` counts it.
    """
    (enough, small, most), room = limits, room or make_room(relations)
    looked_at, inside = np.zeros(len(points), np.bool_), np.zeros(len(points), np.bool_)
    seen = np.empty(enough)
    for v in map(int, asked):
        n = _seen_before(seen, v, points, used[0], looked_at, inside, low, high, members)
        last = high[v] if np.isfinite(high[v]) else low[v] + ENDLESS
        for value in range(int(low[v]), int(last) + 1):
            if n >= enough:
                break
            if value in seen[:n]:
                continue
            own_low, own_high = low.copy(), high.copy()
            own_low[v] = own_high[v] = value
            found = _find_point(relations, own_low, own_high, v, members, (value + v) % 3, most, room)
            if found == 1:
                p = int(used[0]) % len(points)
                points[p] = own_low
                looked_at[p] = inside[p] = True
                used[0] += 1
                seen[n] = value
                n += 1
            elif found < 0:
                used[1] += 1
                if used[1] >= MOST_GIVEN_UP:
                    return v
        if n < enough and (used[1] > 0 or ((seen[:n] > 0) & (seen[:n] < small)).any()):
            return v
    return -1


@njit(cache=True, nogil=True)
def _seen_before(seen, v, points, used, looked_at, inside, low, high, members):  # type: ignore[no-untyped-def]
    """How many values of `v`, put into `seen`, the points within the bounds have; no more than are enough.

    The newest points come first: they were found when most was known, and mostly a few of them will do.
    """
    n = 0
    for age in range(min(used, len(points))):
        p = (used - 1 - age) % len(points)
        if not looked_at[p]:
            looked_at[p], inside[p] = True, _is_inside(points[p], low, high, members)
        if not inside[p]:
            continue
        value, known = np.floor(points[p, v] + 0.5), False
        for i in range(n):
            known |= seen[i] == value
        if not known:
            seen[n] = value
            n += 1
            if n == len(seen):
                break
    return n


@njit(cache=True, nogil=True)
def _is_inside(point, low, high, members):  # type: ignore[no-untyped-def]
    """Whether a point lies within the bounds."""
    for v in members:
        # Far below what a sum stays under the end of its step: a point at the end is none of that step.
        slack = 1e-9 * max(1.0, abs(point[v]))
        if point[v] < low[v] - slack or point[v] > high[v] + slack:
            return False
    return True
