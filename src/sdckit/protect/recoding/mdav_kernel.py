"""Groups of k and more alike records, from the outside in: the exact MDAV without comparing all with all.

The records still to be grouped stand in a tree of boxes that shrink as records leave, in leaves of a block each,
whose distances are computed together. Bounds have some slack, so that rounding cannot put a box beyond a record
inside; the record farthest from the centre is looked for along a list sorted for an earlier centre. Of records at
one distance the last in the file is taken, as sdcMicro does: the kernels take the first of rows counted from the
end.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.compiling import njit
from sdckit.protect.recoding.mdav_few import add, group_few
from sdckit.protect.recoding.mdav_tree import LEAF, build, remove

WORN = 8  # records looked at along the list, per record in it, that make it worth a new one
FEW = 1 << 26  # distances times columns that are computed sooner than the kernels of trees compiled
SLACK = 1e-9  # relative; far above what rounding adds to a distance
FREE = {"reassoc", "contract", "nsz", "nnan"}  # sums whose order does not matter, since the result has slack


@njit(cache=True, nogil=True)
def _between(z, a, b):  # type: ignore[no-untyped-def]
    total = 0.0
    for j in range(len(b)):
        away = z[a, j] - b[j]
        total += away * away
    return total


@njit(cache=True, nogil=True, fastmath=FREE)
def _at_best(low, high, node, b):  # type: ignore[no-untyped-def]
    """Squared distance of a point to the box of a node."""
    total = 0.0
    for j in range(len(b)):
        away = max(low[node, j] - b[j], b[j] - high[node, j], 0.0)
        total += away * away
    return total * (1 - SLACK)


@njit(cache=True, nogil=True, fastmath=FREE)
def _at_worst(low, high, node, b, middle, out):  # type: ignore[no-untyped-def]
    """Squared distance that no record of a node exceeds: the lower of two bounds.

    One is that of the farthest corner of the box. It is far beyond all records where columns are many. The other
    looks for the farthest point in the box whose norm is no larger than that of the records (both from the middle, as
    is `out`, the point's own norm), by a Lagrange multiplier: any gives a bound, that of the whole ball a good one.
    """
    reach = high[node, len(b)]
    pull = out / reach if reach > 0.0 else 0.0
    over = reach / out if out > 0.0 else 0.0
    corner, along = 0.0, 0.0
    for j in range(len(b)):
        away = max(high[node, j] - b[j], b[j] - low[node, j])
        corner += away * away
        side = b[j] - middle[j]
        y = min(max(-side * over, low[node, j] - middle[j]), high[node, j] - middle[j])
        along -= y * (side + side + pull * y)
    norms = (reach * reach + out * out) * (1 + SLACK) + along + out * reach
    return min(corner * (1 + SLACK), norms)


@njit(cache=True, nogil=True)
def _apart(own, here, far):  # type: ignore[no-untyped-def]
    """Squared distances of the records of a leaf to a point, each summed as `_between` does, four columns a turn."""
    d, room = len(here), own.shape[1]
    far[:] = 0.0
    for j in range(0, d - 3, 4):
        a, b, c, e = own[j], own[j + 1], own[j + 2], own[j + 3]
        for t in range(room):
            w, x, y, z = a[t] - here[j], b[t] - here[j + 1], c[t] - here[j + 2], e[t] - here[j + 3]
            far[t] = far[t] + w * w + x * x + y * y + z * z
    for j in range(d // 4 * 4, d):
        a = own[j]
        for t in range(room):
            away = a[t] - here[j]
            far[t] += away * away


@njit(cache=True, nogil=True)
def _nearest(row, tree, here, near, who, far, stack, bound):  # type: ignore[no-untyped-def]
    """The records nearest to a point, by distance and then by row: as many as `near` has places."""
    node, low, high, _, block = tree
    k = len(near)
    for t in range(k):
        near[t], who[t] = np.inf, len(row)
    stack[0], bound[0] = 0, 0.0
    depth = 1
    while depth:
        depth -= 1
        i = stack[depth]
        if bound[depth] > near[k - 1]:
            continue
        left = node[i, 2]
        if left >= 0:
            a, b = left, left + 1
            far_a = _at_best(low, high, a, here) if node[a, 1] else np.inf
            far_b = _at_best(low, high, b, here) if node[b, 1] else np.inf
            if far_a < far_b:
                a, b, far_a, far_b = b, a, far_b, far_a
            for child, away in ((a, far_a), (b, far_b)):  # the nearer is looked at first
                if node[child, 1] and away <= near[k - 1]:
                    stack[depth], bound[depth] = child, away
                    depth += 1
            continue
        first, m = node[i, 0], node[i, 1]
        _apart(block[first // LEAF], here, far)
        if not _any_within(far, near[k - 1]):
            continue
        for p in range(first, first + m):
            away = far[p - first]
            if away > near[k - 1] or (away == near[k - 1] and row[p] > who[k - 1]):
                continue
            t = k - 1
            while t > 0 and (near[t - 1] > away or (near[t - 1] == away and who[t - 1] > row[p])):
                near[t], who[t] = near[t - 1], who[t - 1]
                t -= 1
            near[t], who[t] = away, row[p]


@njit(cache=True, nogil=True)
def _any_within(far, limit):  # type: ignore[no-untyped-def]
    count = 0
    for t in range(len(far)):
        count += far[t] <= limit
    return count > 0


@njit(cache=True, nogil=True)
def _any_beyond(far, limit):  # type: ignore[no-untyped-def]
    count = 0
    for t in range(len(far)):
        count += far[t] >= limit
    return count > 0


@njit(cache=True, nogil=True)
def _farthest(row, tree, here, middle, far, stack, bound):  # type: ignore[no-untyped-def]
    """The record farthest from a point; of several the first row."""
    node, low, high, _, block = tree
    best, who, out = -1.0, -1, 0.0
    for j in range(len(here)):
        out += (here[j] - middle[j]) ** 2
    out = np.sqrt(out)
    stack[0], bound[0] = 0, np.inf
    depth = 1
    while depth:
        depth -= 1
        i = stack[depth]
        if bound[depth] < best:
            continue
        left = node[i, 2]
        if left >= 0:
            a, b = left, left + 1
            far_a = _at_worst(low, high, a, here, middle, out) if node[a, 1] else -1.0
            far_b = _at_worst(low, high, b, here, middle, out) if node[b, 1] else -1.0
            if far_a > far_b:
                a, b, far_a, far_b = b, a, far_b, far_a
            for child, away in ((a, far_a), (b, far_b)):  # the farther is looked at first
                if node[child, 1] and away >= best:
                    stack[depth], bound[depth] = child, away
                    depth += 1
            continue
        first, m = node[i, 0], node[i, 1]
        _apart(block[first // LEAF], here, far)
        if not _any_beyond(far, best):
            continue
        for p in range(first, first + m):
            away = far[p - first]
            if away > best or (away == best and row[p] < who):
                best, who = away, row[p]
    return who


@njit(cache=True, nogil=True)
def _outermost(listed, there, ranked, away, centre, around, head):  # type: ignore[no-untyped-def]
    """The record farthest from the centre, by a list sorted around an earlier one; records looked at.

    `listed`, `there`: the values of the records in the order of the list, and which of them are in no group, so that
    memory is read in one line.
    """
    moved = 0.0
    for j in range(len(centre)):
        moved += (centre[j] - around[j]) ** 2
    moved = np.sqrt(moved)
    best, who, seen, reach = -1.0, -1, 0, -1.0
    for t in range(head, len(ranked)):
        if (away[t] + moved) * (1 + SLACK) < reach:
            break
        if not there[t]:
            continue
        seen += 1
        far = _between(listed, t, centre)
        if far > best or (far == best and ranked[t] < who):
            best, who, reach = far, ranked[t], np.sqrt(far)
    return who, seen


@njit(cache=True, nogil=True)
def _in_line(z, ranked):  # type: ignore[no-untyped-def]
    """The values in the order of the list, that all are there, and the place in it of each record that is in it."""
    n, d = len(ranked), z.shape[1]
    listed, there, place = np.empty((n, d)), np.ones(n, np.bool_), np.empty(len(z), np.int64)
    for t in range(n):
        place[ranked[t]] = t
        for j in range(d):
            listed[t, j] = z[ranked[t], j]
    return listed, there, place


@njit(cache=True, nogil=True)
def _planted(z, around):  # type: ignore[no-untyped-def]
    """The records in a tree, with their distances from a point; the record at each place, and the place of each."""
    n, d = z.shape
    y, row, at = np.empty((n, d + 1)), np.arange(n), np.empty(n, np.int64)
    for p in range(n):
        for j in range(d):
            y[p, j] = z[p, j]
        y[p, d] = np.sqrt(_between(z, p, around))
    tree = build(y, row)
    for p in range(n):
        at[row[p]] = p
    return tree, row, at


@njit(cache=True, nogil=True)
def _grouped(z, k, total, rest, planted, middle, listing, given, made, of_row):  # type: ignore[no-untyped-def]
    """Make groups until the list or the tree is worn out; how many there are, and how many records are left.

    `planted` is from `_planted` around the point `middle`; `listing`: the records that are left, those farthest from
    a point first, their distances, and the point.
    """
    (tree, row, at), (ranked, away, around) = planted, listing
    n, d = z.shape
    listed, there, place = _in_line(z, ranked)
    stack, bound, far = np.empty(256, np.int64), np.empty(256), np.empty(LEAF)
    near, who = np.empty(k - 1), np.empty(k - 1, np.int64)
    centre, here = np.empty(d), np.empty(d)
    left, group, head, spent = len(ranked), made, 0, 0
    while left >= 2 * k and 2 * left >= n and spent < WORN * len(ranked):
        while not there[head]:
            head += 1
        extreme = ranked[head]
        if not given:
            for j in range(d):
                centre[j] = (total[j] + rest[j]) / left
            extreme, seen = _outermost(listed, there, ranked, away, centre, around, head)
            spent += seen
        both = not given and left >= 3 * k
        for turn in range(2 if both else 1):
            for j in range(d):
                here[j] = z[extreme, j]
            for t in range(k):
                one = extreme if t == 0 else who[t - 1]
                of_row[one] = group
                add(total, rest, z, one, -1.0)
                remove(row, at, tree, one)
                there[place[one]] = False
                if t == 0 and k > 1:
                    _nearest(row, tree, here, near, who, far, stack, bound)
            group, left = group + 1, left - k
            if both and turn == 0:
                extreme = _farthest(row, tree, here, middle, far, stack, bound)
    return group, left


@njit(cache=True, nogil=True)
def _sums(z, total, rest):  # type: ignore[no-untyped-def]
    for p in range(len(z)):
        add(total, rest, z, p, 1.0)


def mdav_groups(
    values: NDArray[np.float64], k: int, *, ranking: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Group records by maximum distance to average.

    `values` (shape (n, d)): scaled to one unit, complete. `k`: records of a group at least. `ranking` (shape
    (n,)): all rows, the most outlying first: groups are then made around these in turn, instead of around the
    record farthest from the centre and the one farthest from it. Returns shape (n,): group of each record: k
    of them each, the last up to 2k - 1.

    Domingo-Ferrer, J. and Torra, V. (2005). Ordinal, continuous and heterogeneous k-anonymity through
    microaggregation. Data Mining and Knowledge Discovery 11, 195-212.

    >>> mdav_groups(np.array([[1.0], [9.0], [2.0], [8.0]]), 2).tolist()
    [1, 0, 1, 0]
    """
    z, rows = np.array(values[::-1], np.float64, order="C"), np.arange(len(values))[::-1]
    given = ranking is not None
    ranked = np.empty(0, np.int64) if ranking is None else len(z) - 1 - np.asarray(ranking, np.int64)
    if len(z) ** 2 / k * z.shape[1] <= FEW:
        return group_few(z, k, ranked)[::-1]
    total, rest = np.zeros(z.shape[1]), np.zeros(z.shape[1])
    _sums(z, total, rest)
    of_row, n_groups = np.empty(len(z), np.int64), 0
    while len(rows) >= 2 * k:
        middle = (total + rest) / len(rows)
        planted = _planted(z, middle)
        group, made, left = np.full(len(rows), -1), 0, len(rows)
        while left >= 2 * k and 2 * left >= len(
            rows
        ):  # a list is worn out sooner than a tree, and is soon made
            listing = (ranked, np.empty(0), middle) if given else _listing(z, group, (total + rest) / left)
            made, left = _grouped(z, k, total, rest, planted, middle, listing, given, made, group)
        done = group >= 0
        of_row[rows[done]] = group[done] + n_groups
        n_groups += made
        if given:  # the others by their new places
            ranked = (np.cumsum(~done) - 1)[ranked[~done[ranked]]]
        z, rows = z[~done], rows[~done]
    of_row[rows] = n_groups
    return of_row


def _listing(
    z: NDArray[np.float64], group: NDArray[np.int64], around: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """The records in no group, those farthest from a point first, and their distances from it."""
    rows = np.flatnonzero(group < 0)
    away = np.sqrt(((z[rows] - around) ** 2).sum(axis=1))
    order = np.argsort(-away)
    return rows[order], away[order], around
