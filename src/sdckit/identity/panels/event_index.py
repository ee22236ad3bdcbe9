"""Candidates for known events, any number of rows per person and time: persons by point, the rarest point first."""

import math
from collections.abc import Sequence
from math import comb
from typing import Any, NamedTuple

import numpy as np

from sdckit.cells.packing import group_codes
from sdckit.identity.panels.point_files import PointFile, PointFiles
from sdckit.identity.panels.regular_panel import Tally
from sdckit.numerics.array_types import Bools, Codes, Floats, Ints, Words
from sdckit.numerics.coding import GOLDEN, has_bit, ones_of, splitmix
from sdckit.numerics.compiling import njit, sparing
from sdckit.numerics.grouping import first_of_groups, places_among
from sdckit.numerics.threads import chunks, run

ROUNDING = 1e-9  # what rounding may add to a tolerance, as a part of it
FREQUENT = 128  # a point that one in so many has is kept as a bit for each person: at most 16 bytes a row
RARE = 64  # persons up to whom a point is not frequent in any file
NO_POINTS = np.empty(0, np.int64)


class Points(NamedTuple):
    """The distinct points of all files, sorted so that those that may match a point are neighbours of it.

    `low`, `high` (D,): where the neighbours of each begin and end; they are equal in all that must be. `open` (D, q):
    codes of keys that hold wildcards, 0 where missing. `near` (D, r): values that match within `tolerance` (r,).
    `exact`: whether a point matches itself only. `base` (D,): of a point that stands for the second such row of a
    person (the third, ...) the one that stands for the first; itself for others. `assigned`: whether each known point
    needs a row of its own that is found by trying, since rows that match are not equal.
    """

    low: Ints
    high: Ints
    open: Codes
    near: Floats
    tolerance: Floats
    exact: bool
    base: Codes
    assigned: bool


class Index(NamedTuple):
    """The points of one file, by person and by point.

    `first` (P + 1,) and `point`: those of each person, ascending. `begin` (D + 1,) and `person`: who has each. `bits`:
    who has each of the frequent points, in words of 64 persons; `frequent` (D,): the row there, -1 for others. `mine`
    and `whose`: the persons that a person of the original is, where those of each begin.
    """

    first: Ints
    point: Codes
    begin: Ints
    person: Codes
    bits: Words
    frequent: Codes
    mine: Ints
    whose: Ints


class Work(NamedTuple):
    """Work space of a thread.

    `stamp` (P,): the last query that looked at each person. `rows` (3, rows). `near` (rows, words): who has a match of
    each point of the person at hand, as bits, where `filled` (rows,).
    """

    stamp: Ints
    rows: Ints
    near: Words
    filled: Bools


# --- kernel -----------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _windows(group, near, tolerance, low, high):  # type: ignore[no-untyped-def]
    """Where the points within the tolerance of each begin and end; sorted by `group` (D,), then `near` (D,)."""
    start = stop = 0
    for i in range(len(group)):
        while group[start] != group[i] or near[start] < near[i] - tolerance:
            start += 1
        stop = max(stop, i)
        while stop < len(group) and group[stop] == group[i] and near[stop] <= near[i] + tolerance:
            stop += 1
        low[i], high[i] = start, stop


@njit(cache=True, nogil=True)
def _matches(points, u, v):  # type: ignore[no-untyped-def]
    """Whether two neighbouring points match."""
    for j in range(points.open.shape[1]):
        a, b = points.open[u, j], points.open[v, j]
        if a != b and min(a, b) > 0:
            return False
    near = True
    for j in range(points.near.shape[1]):
        near &= abs(points.near[u, j] - points.near[v, j]) <= points.tolerance[j]
    return near


@njit(cache=True, nogil=True)
def _first_at(values, start, stop, value):  # type: ignore[no-untyped-def]
    """Index of the first value that is not smaller, among ascending `values` from start to stop."""
    while start < stop:
        middle = (start + stop) >> 1
        if values[middle] < value:
            start = middle + 1
        else:
            stop = middle
    return start


@njit(cache=True, nogil=True)
def _has(points, index, candidate, u):  # type: ignore[no-untyped-def]
    """Whether a person of the file has a point that matches."""
    stop = index.first[candidate + 1]
    at = _first_at(index.point, index.first[candidate], stop, points.low[u])
    while at < stop and index.point[at] < points.high[u]:
        if _matches(points, u, index.point[at]):
            return True
        at += 1
    return False


@njit(cache=True, nogil=True)
def _assigned(points, index, candidate, known, queue, taken, before):  # type: ignore[no-untyped-def]
    """Whether each known point (p,) has a matching row of its own among those of a person (augmenting paths).

    `queue` (p,), `taken` and `before` (rows of a person at most): work space.
    """
    start, stop = index.first[candidate], index.first[candidate + 1]
    if stop - start < len(known):
        return False
    taken[: stop - start] = -1
    held = np.full(len(known), -1, np.int64)
    for k in range(len(known)):
        before[: stop - start] = -1
        queue[0], read, written, done = k, 0, 1, False
        while read < written and not done:
            x = queue[read]
            read += 1
            u = known[x]
            at = _first_at(index.point, start, stop, points.low[u])
            while at < stop and index.point[at] < points.high[u] and not done:
                row = at - start
                if before[row] < 0 and _matches(points, u, index.point[at]):
                    before[row] = x
                    if taken[row] >= 0:
                        queue[written] = taken[row]
                        written += 1
                    else:
                        done = True
                        while row >= 0:
                            x = before[row]
                            taken[row] = x
                            held[x], row = row, held[x]
                at += 1
        if not done:
            return False
    return True


@njit(cache=True, nogil=True)
def _is_candidate(points, index, candidate, known, work):  # type: ignore[no-untyped-def]
    """Whether a person of the file has the known points (p,)."""
    if points.assigned:
        return _assigned(points, index, candidate, known, work.rows[0], work.rows[1], work.rows[2])
    for k in range(len(known)):
        row = index.frequent[known[k]]
        if row >= 0:
            if not has_bit(index.bits[row], np.uint64(candidate)):
                return False
        elif not _has(points, index, candidate, known[k]):
            return False
    return True


@njit(cache=True, nogil=True)
def _in_all(index, known, rarest, left):  # type: ignore[no-untyped-def]
    """How many persons have all known points (p,), by intersecting their lists; `left`: work space for the shortest."""
    n = 0
    for at in range(index.begin[known[rarest]], index.begin[known[rarest] + 1]):
        left[n] = index.person[at]
        n += 1
    for k in range(len(known)):
        row, kept = index.frequent[known[k]], 0
        at, stop = index.begin[known[k]], index.begin[known[k] + 1]
        for i in range(n if k != rarest else 0):
            candidate = left[i]
            if row >= 0:
                has = has_bit(index.bits[row], np.uint64(candidate)) > 0
            else:
                while at < stop and index.person[at] < candidate:
                    at += 1
                has = at < stop and index.person[at] == candidate
            if has:
                left[kept] = candidate
                kept += 1
        n = kept if k != rarest else n
    return n


@njit(cache=True, nogil=True)
def _in_common(bits, rows):  # type: ignore[no-untyped-def]
    """How many bits are set in all of some rows (p,) of words."""
    n = 0
    for at in range(bits.shape[1]):
        word = bits[rows[0], at]
        for k in range(1, len(rows)):
            word &= bits[rows[k], at]
        if word:
            n += ones_of(word)
    return n


@njit(cache=True, nogil=True)
def _mark(points, index, u, place, work):  # type: ignore[no-untyped-def]
    """Set the bit of each person who has a match of a point of the person at hand, once."""
    if work.filled[place]:
        return
    work.filled[place] = True
    bits = work.near[place]
    bits[:] = 0
    for v in range(points.low[u], points.high[u]):
        if _matches(points, u, v):
            for at in range(index.begin[v], index.begin[v + 1]):
                candidate = index.person[at]
                bits[candidate >> 6] |= np.uint64(1) << np.uint64(candidate & 63)


@njit(cache=True, nogil=True)
def _candidates(points, index, known, places, query, work):  # type: ignore[no-untyped-def]
    """How many persons of the file have the known points (p,), which are those at `places` (p,) of their person.

    `query`: number of this query, stamped on each person looked at.
    """
    rarest, least, n = np.int64(0), index.begin[-1] + 1, 0
    for k in range(len(known)):
        having = index.begin[points.high[known[k]]] - index.begin[points.low[known[k]]]
        if having < least:
            rarest, least = np.int64(k), having
    u = known[rarest]
    if points.exact:
        if len(known) == 1:
            return least
        if index.frequent[u] < 0:
            return _in_all(index, known, rarest, work.rows[0])
        return _in_common(index.bits, index.frequent[known])  # all are frequent
    if not points.assigned and least > work.near.shape[1]:  # no point is rarer than a row of bits is long
        for k in range(len(known)):
            _mark(points, index, known[k], places[k], work)
        return _in_common(work.near, places)
    for v in range(points.low[u], points.high[u]):
        if not _matches(points, u, v):
            continue
        for at in range(index.begin[v], index.begin[v + 1]):
            candidate = np.int64(index.person[at])  # as in `mine`
            if work.stamp[candidate] != query:
                work.stamp[candidate] = query
                n += _is_candidate(points, index, candidate, known, work)
    return n


@njit(cache=True, nogil=True)
def _choose(chosen, of, state):  # type: ignore[no-untyped-def]
    """Draw distinct numbers below `of` into `chosen` (p,) by Floyd's algorithm; returns the next random state."""
    for k in range(len(chosen)):
        top = of - len(chosen) + k
        state += GOLDEN
        drawn = np.int64(splitmix(state) % np.uint64(top + 1))
        for j in range(k):
            if chosen[j] == drawn:
                drawn = top
                break
        chosen[k] = drawn
    return state


@njit(cache=True, nogil=True)
def _next(chosen, of):  # type: ignore[no-untyped-def]
    """Put the next ascending numbers below `of` into `chosen` (p,), in lexicographic order; False after the last."""
    j = len(chosen) - 1
    while j >= 0 and chosen[j] == of - len(chosen) + j:
        j -= 1
    if j < 0:
        return False
    chosen[j] += 1
    for after in range(j + 1, len(chosen)):
        chosen[after] = chosen[after - 1] + 1
    return True


@njit(cache=True, nogil=True)
def _look_up(points, index, known, places, person, k, query, work, sums):  # type: ignore[no-untyped-def]
    """Add the candidates for some known points (p,) of a person, at `places` among theirs, to their `sums` (7,)."""
    for j in range(len(known) * (not points.assigned)):  # so many such rows, not those that were drawn
        before = 0
        for other in range(j):
            before += points.base[known[other]] == points.base[known[j]]
        known[j] = points.base[known[j]] + before
    n, n_own = _candidates(points, index, known, places, query, work), 0
    for at in range(index.whose[person], index.whose[person + 1]):
        n_own += _is_candidate(points, index, index.mine[at], known, work)
    sums[0] += 1
    sums[1] += n == 1
    sums[2] += 1 / n if n > 0 else 0.0
    sums[3] += 0 < n < k
    sums[4] += n == 1 and n_own == 1
    sums[5] += n_own / n if n > 0 else 0.0
    sums[6] += n_own == 0


@njit(cache=True, nogil=True)
def _most_points(index):  # type: ignore[no-untyped-def]
    """The points of the person of a file who has most."""
    most = 0
    for at in range(len(index.first) - 1):
        most = max(most, index.first[at + 1] - index.first[at])
    return most


@njit(cache=True, nogil=True)
def _search(points, own, index, persons, known, draws, seed, k, out):  # type: ignore[no-untyped-def]
    """Look up the subsets of the points of some persons of the original (`own`) in a file (`index`).

    `known`: points of a subset; `draws` (P,): subsets to draw of each person, 0 for all. `out` (P, 7): the sums of
    `Tally` in its order. A person's draws depend on the seed and the person alone, not on the threads.
    """
    # No list is longer than this that is not kept as bits.
    rows = max(known, RARE, len(index.first) // FREQUENT, _most_points(index))
    n_bits = 0 if points.exact or points.assigned else 1 + (len(index.first) >> 6)
    most = _most_points(own)
    work = Work(
        np.full(len(index.first) - 1, -1, np.int64), np.empty((3, rows), np.int64), np.empty((most, n_bits), np.uint64),
        np.zeros(most, np.bool_),
    )  # fmt: skip
    chosen, subset = np.empty(known, np.int64), np.empty(known, np.int64)
    query = np.int64(0)
    for i in range(len(persons)):
        person = persons[i]
        start, n_points = own.first[person], own.first[person + 1] - own.first[person]
        state, left = splitmix(seed + np.uint64(person) * GOLDEN), draws[person]
        work.filled[:] = False
        for j in range(known):
            chosen[j] = j
        more = True
        while more:
            if draws[person] > 0:
                state = _choose(chosen, n_points, state)
                left -= 1
            for j in range(known):
                subset[j] = own.point[start + chosen[j]]
            _look_up(points, index, subset, chosen, person, k, query, work, out[person])
            query += 1
            more = left > 0 if draws[person] > 0 else _next(chosen, n_points)


# --- arrays in, sums out ----------------------------------------------------------------------------


class EventIndex:
    """The points of original and releases, numbered together, ready to be searched."""

    def __init__(self, files: PointFiles, tolerance: Sequence[float], *, timed: bool) -> None:
        """`tolerance`: of the values in `near` of each file; `timed`: points have a time, and count once a person."""
        ends = np.cumsum([len(file.person) for file in files.files])
        number, self._points = _numbered(files, tolerance, multiset=not timed)
        rows = [_sorted_rows(*side, timed) for side in zip(files.files, np.split(number, ends[:-1]), strict=True)]
        if not timed and self._points.exact:
            rows, self._points = _stacked(rows, self._points)
        self._own, *_ = indices = [
            _index(file, *row, self._points, files.files[0].n_persons)
            for file, row in zip(files.files, rows, strict=True)
        ]
        self._sought = indices[1:] or indices
        self._linked = [file.owner is not None and len(files.files) > 1 for file in files.sought]

    def tallies(self, points: int, most: int, most_persons: int, k: int, rng: np.random.Generator) -> list[Tally]:
        """Look the subsets of so many points of each person up, or of as many drawn persons as asked."""
        n_of = np.diff(self._own.first)
        able = np.flatnonzero(n_of >= points)
        seed = rng.integers(0, 1 << 62, dtype=np.uint64)
        persons = able if len(able) <= most_persons else np.sort(rng.choice(able, most_persons, replace=False))
        subsets = np.array([comb(n, points) for n in range(int(n_of.max(initial=0)) + 1)], np.float64)[n_of]
        draws = np.where(subsets > most, most, 0)
        steps = 20 * points * float(np.minimum(subsets, most)[persons].sum())
        tallies = []
        for index, linked in zip(self._sought, self._linked, strict=True):
            out = np.zeros((len(n_of), 7))
            _spread(sparing(_search, steps), (self._points, self._own, index), persons, (points, draws, seed, k, out))
            n, alone, expected, below_k, alone_right, success, lost = out.T.copy()
            tally = Tally(n.astype(np.int64), alone, expected, below_k, alone_right, success, lost, linked)
            tally.drawn = bool((draws[persons] > 0).any())
            tally.error = _standard_error(tally, draws > 0, len(able))
            tallies.append(tally)
        return tallies


def _spread(search: Any, files: Sequence[Any], persons: Ints, how: Sequence[Any]) -> None:
    """Search for the persons on threads."""
    run(lambda part: search(*files, persons[part[0] : part[1]], *how), chunks(len(persons), minimum=64))


def _standard_error(tally: Tally, drawn: Bools, n_able: int) -> float:
    """Of the mean share alone, of drawn persons, each with some drawn subsets (two stages, Cochran 1977, 10.3)."""
    there = tally.n > 0
    n = int(np.count_nonzero(there))
    if n < 2:
        return math.nan if n_able > n else 0.0
    share = tally.alone[there] / tally.n[there]
    within = np.where(drawn[there] & (tally.n[there] > 1), share * (1 - share) / np.maximum(tally.n[there] - 1, 1), 0.0)
    taken = n / n_able
    return math.sqrt((1 - taken) * float(share.var(ddof=1)) / n + taken * float(within.sum()) / n**2)


def _numbered(files: PointFiles, tolerance: Sequence[float], *, multiset: bool) -> tuple[Codes, Points]:
    """Number of the point of each row of all files, and the points."""
    every = files.files
    columns = [np.concatenate([file.keys[j] for file in every]) for j in range(len(every[0].keys))]
    columns += [np.concatenate([file.also[j][file.person] for file in every]) for j in range(len(every[0].also))]
    open_keys = [column for column, wild in zip(columns, files.wild, strict=True) if wild]
    closed = [column for column, wild in zip(columns, files.wild, strict=True) if not wild]
    closed += [] if every[0].time is None else [np.concatenate([file.time for file in every])]
    near = [np.concatenate([file.near[name] for file in every]) for name in every[0].near]
    n = sum(len(file.person) for file in every)
    group = group_codes(closed, n).of_row
    ranks = [np.unique(values, return_inverse=True)[1].astype(np.int64) for values in near]
    distinct = group_codes([group, *open_keys, *ranks], n)
    d = len(distinct.size)
    row = first_of_groups(distinct.of_row, d)
    leading = near[0][row] if near else np.zeros(d)
    order = np.lexsort((leading, group[row]))
    place = places_among(order, d).astype(np.int32)
    row, low, high = row[order], np.empty(d, np.int64), np.empty(d, np.int64)
    widths = np.array(tolerance, np.float64) * (1 + ROUNDING)
    windows = sparing(_windows, 4 * d)
    windows(group[row], leading[order], widths[0] if near else 0.0, low, high)
    exact = not (open_keys or near)
    points = Points(
        low, high, np.array([column[row] for column in open_keys], np.int32).reshape(len(open_keys), d).T.copy(),
        np.array([values[row] for values in near[1:]]).reshape(max(0, len(near) - 1), d).T.copy(), widths[1:], exact,
        np.arange(d, dtype=np.int32), multiset and not exact,
    )  # fmt: skip
    return place[distinct.of_row], points


def _sorted_rows(file: PointFile, point: Codes, timed: bool) -> tuple[Codes, Codes]:
    """Person and point of each row of a file, sorted; a point of a person once, if `timed`."""
    n_points = int(point.max()) + 1
    word = file.person.astype(np.int64) * n_points + point
    word.sort()
    if timed:
        word = word[np.concatenate([[True], word[1:] != word[:-1]])]
    return (word // n_points).astype(np.int32), (word % n_points).astype(np.int32)


def _stacked(rows: Sequence[tuple[Codes, Codes]], points: Points) -> tuple[list[tuple[Codes, Codes]], Points]:
    """A point of its own for the second, third, ... row of a person that is equal to the first."""
    heights, most = [], np.ones(len(points.low), np.int64)
    for person, point in rows:
        at = np.arange(len(point))
        new = np.concatenate([[True], (person[1:] != person[:-1]) | (point[1:] != point[:-1])])
        heights.append(at - np.maximum.accumulate(np.where(new, at, 0)))
        np.maximum.at(most, point, heights[-1] + 1)
    base = np.cumsum(most) - most
    d = int(most.sum())
    every = np.arange(d, dtype=np.int64)
    stacked = [(person, (base[point] + height).astype(np.int32))
               for (person, point), height in zip(rows, heights, strict=True)]  # fmt: skip
    none = np.empty((d, 0))
    return stacked, points._replace(
        low=every, high=every + 1, open=none.astype(np.int32), near=none, base=np.repeat(base, most).astype(np.int32)
    )


def _index(file: PointFile, person: Codes, point: Codes, points: Points, n_original: int) -> Index:
    """The sorted points of a file by person and by point."""
    n_points = len(points.low)
    begin = np.append(0, np.cumsum(np.bincount(point, minlength=n_points)))
    having = person[np.argsort(point, kind="stable")]
    often = np.flatnonzero(np.diff(begin) > max(RARE, file.n_persons // FREQUENT)) if points.exact else NO_POINTS
    bits, frequent = np.zeros((len(often), (file.n_persons + 63) // 64), np.uint64), np.full(n_points, -1, np.int32)
    frequent[often] = np.arange(len(often), dtype=np.int32)
    for row, at in enumerate(often.tolist()):
        marked = np.zeros(bits.shape[1] * 64, np.uint8)
        marked[having[begin[at] : begin[at + 1]]] = 1
        bits[row] = np.packbits(marked, bitorder="little").view("<u8")
    owner = np.full(file.n_persons, -1, np.int32) if file.owner is None else file.owner
    known = np.flatnonzero(owner >= 0)
    mine = known[np.argsort(owner[known], kind="stable")]
    whose = np.searchsorted(owner[mine], np.arange(n_original + 1))
    first = np.searchsorted(person, np.arange(file.n_persons + 1))
    return Index(first, point, begin, having, bits, frequent, mine, whose)
