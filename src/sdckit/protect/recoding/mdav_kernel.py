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

from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.compiling import is_little, njit

# MDAV of few records by comparing all with all, with NumPy: for a first run, which has the kernels of trees not yet.


@njit(cache=True, nogil=True)
def add(total, rest, z, p, sign):  # type: ignore[no-untyped-def]
    """Add a record to the sums, which are kept to twice the digits: in any order the same centre."""
    for j in range(len(total)):
        value = sign * z[p, j]
        s = total[j] + value
        back = s - total[j]
        rest[j] += (total[j] - (s - back)) + (value - back)
        total[j] = s


def _measured(columns: Floats, here: Floats) -> Floats:
    """Squared distances of records, column by column, from a point."""
    far = np.zeros(columns.shape[1])
    for column, centre in zip(columns, here, strict=True):
        away = column - centre
        away *= away
        far += away
    return far


def _nearest_rows(far: Floats, k: int) -> Ints:
    """The k smallest in ascending order; of equals the first."""
    near = np.flatnonzero(far <= np.partition(far, k - 1)[k - 1])
    return near[np.argsort(far[near], kind="stable")[:k]]


def _column_sums(columns: Floats) -> tuple[Floats, Floats]:
    """The sums of all records, and what rounding took from them: as `add` makes them, one after the other."""
    total = np.cumsum(columns, axis=1)
    before = np.concatenate([np.zeros((len(columns), 1)), total[:, :-1]], axis=1)
    back = total - before
    lost = (before - (total - back)) + (columns - back)
    return total[:, -1].copy(), np.cumsum(lost, axis=1)[:, -1].copy()


def _groups(columns: Floats, k: int, ranked: Ints, of_row: Ints) -> int:
    """Groups of k until fewer than 2k records are left, written into `of_row`; how many groups."""
    total, rest = _column_sums(columns)
    row, far = np.arange(columns.shape[1]), np.empty(0)
    group, at, again, less = 0, 0, False, add.py_func
    while len(row) >= 2 * k:
        if len(ranked) > 0:
            while of_row[ranked[at]] >= 0:
                at += 1
            extreme = int(np.searchsorted(row, ranked[at]))
        else:
            if not again:
                far = _measured(columns, (total + rest) / len(row))
            extreme = int(far.argmax())
            again = not again and len(row) >= 3 * k
        far = _measured(columns, columns[:, extreme])
        far[extreme] = -1.0
        who = _nearest_rows(far, k)
        of_row[row[who]] = group
        for p in who.tolist():
            less(total, rest, columns.T, p, -1.0)
        left = np.ones(len(row), np.bool_)
        left[who] = False
        columns, row, far = columns[:, left], row[left], far[left]
        group += 1
    return group


def group_few(z: Floats, k: int, ranked: Ints) -> Ints:
    """Group records; of those equally far the first is taken.

    `z` (n, d): the records. `ranked` (n,): those around which groups are made in turn; empty for maximum
    distance to average. Returns the group of each, (n,).

    >>> group_few(np.array([[8.0], [2.0], [9.0], [1.0]]), 2, np.empty(0, np.int64)).tolist()
    [0, 1, 0, 1]
    """
    of_row = np.full(len(z), -1)
    with np.errstate(over="ignore", invalid="ignore"):  # numbers too large to square
        n_groups = _groups(np.ascontiguousarray(z.T), k, ranked, of_row)
    of_row[of_row < 0] = n_groups
    return of_row


# Records in a tree of boxes that shrink as records leave; a leaf is a block whose columns stand in lines.


LEAF = 32  # records in a leaf at most
FREE_OF_NAN = {
    "nnan",
    "nsz",
}  # there is no NaN, so that smallest and largest of a line are found in any order


@njit(cache=True, nogil=True)
def _spread(y, low, high, node, first, last):  # type: ignore[no-untyped-def]
    """Fit the box of a node to records; its longest side."""
    widest = 0
    for j in range(y.shape[1]):
        low[node, j], high[node, j] = np.inf, -np.inf
    for p in range(first, last):
        for j in range(y.shape[1]):
            value = y[p, j]
            low[node, j], high[node, j] = min(low[node, j], value), max(high[node, j], value)
    for j in range(y.shape[1] - 1):
        if high[node, j] - low[node, j] > high[node, widest] - low[node, widest]:
            widest = j
    return widest


@njit(cache=True, nogil=True)
def _halve(y, row, j, start, stop, middle):  # type: ignore[no-untyped-def]
    """Put the records smaller in a column before `middle`; they are moved themselves: memory is read in one line."""
    low, high = start, stop - 1
    while low < high:
        a, b, c = y[low, j], y[(low + high) >> 1, j], y[high, j]
        pivot = max(min(a, b), min(max(a, b), c))
        p, q = low, high
        while p <= q:
            while y[p, j] < pivot:
                p += 1
            while y[q, j] > pivot:
                q -= 1
            if p <= q:
                row[p], row[q] = row[q], row[p]
                for i in range(y.shape[1]):
                    y[p, i], y[q, i] = y[q, i], y[p, i]
                p, q = p + 1, q - 1
        if middle <= q:
            high = q
        elif middle >= p:
            low = p
        else:
            return


@njit(cache=True, nogil=True)
def build(y, row):  # type: ignore[no-untyped-def]
    """Arrange records as a tree, in whose order `y` and `row` are put.

    Returns of each node its first record, records left, left child or -1, parent; further the boxes, the leaf of each
    block of records, and the blocks, columns of them in a line.
    """
    n, width = y.shape
    n_blocks = (n + LEAF - 1) // LEAF
    node = np.empty((2 * n_blocks, 4), np.int64)
    low, high = np.empty((2 * n_blocks, width)), np.empty((2 * n_blocks, width))
    leaf, block = np.empty(n_blocks, np.int64), np.zeros((n_blocks, width, LEAF))
    node[0, 0], node[0, 1], node[0, 3] = 0, n, -1
    used, i = 1, np.int64(0)  # a bare 0 has a type of its own, and `_spread` would be compiled twice
    while i < used:
        first, n_here = node[i, 0], node[i, 1]
        widest = _spread(y, low, high, i, first, first + n_here)
        node[i, 2] = -1
        if n_here <= LEAF:
            leaf[first // LEAF] = i
        else:
            half = ((n_here + LEAF - 1) // LEAF + 1) // 2 * LEAF
            _halve(y, row, widest, first, first + n_here, first + half)
            node[i, 2] = used
            node[used, 0], node[used, 1], node[used, 3] = first, half, i
            node[used + 1, 0], node[used + 1, 1], node[used + 1, 3] = first + half, n_here - half, i
            used += 2
        i += 1
    for p in range(n):
        for j in range(width):
            block[p // LEAF, j, p % LEAF] = y[p, j]
    return node, low, high, leaf, block


@njit(cache=True, nogil=True, fastmath=FREE_OF_NAN)
def _refit(own, m, low, high, node):  # type: ignore[no-untyped-def]
    """Fit the box of a leaf to the records it has left; whether it changed."""
    changed = False
    for j in range(own.shape[0]):
        line = own[j, :m]
        smallest, largest = np.inf, -np.inf
        for t in range(m):
            smallest, largest = min(smallest, line[t]), max(largest, line[t])
        changed |= smallest != low[node, j] or largest != high[node, j]
        low[node, j], high[node, j] = smallest, largest
    return changed


@njit(cache=True, nogil=True)
def remove(row, at, tree, record):  # type: ignore[no-untyped-def]
    """Take a record out: the last of its leaf gets its place, and the boxes around it shrink."""
    node, low, high, leaf, block = tree
    p = at[record]
    i, own = leaf[p // LEAF], block[p // LEAF]
    last = node[i, 0] + node[i, 1] - 1
    for j in range(own.shape[0]):
        own[j, p % LEAF] = own[j, last % LEAF]
    row[p] = row[last]
    at[row[p]], at[record] = p, -1
    node[i, 1] -= 1
    shrinking = _refit(own, node[i, 1], low, high, i)
    i = node[i, 3]
    while i >= 0:
        node[i, 1] -= 1
        if shrinking:
            left = node[i, 2]
            shrinking = False
            for j in range(low.shape[1]):
                smallest = min(low[left, j], low[left + 1, j])
                largest = max(high[left, j], high[left + 1, j])
                shrinking |= smallest != low[i, j] or largest != high[i, j]
                low[i, j], high[i, j] = smallest, largest
        i = node[i, 3]


WORN = 8  # records looked at along the list, per record in it, that make it worth a new one
FEW = 1 << 25  # distances times columns that NumPy has computed long before the kernels of trees are compiled
OFTEN = 4  # calls after which they are compiled all the same
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
                record = extreme if t == 0 else who[t - 1]
                of_row[record] = group
                add(total, rest, z, record, -1.0)
                remove(row, at, tree, record)
                there[place[record]] = False
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


def mdav_groups(values: NDArray[np.float64], k: int, *, ranking: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
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
    if _by_brute_force(len(z) ** 2 / k * z.shape[1]):
        return group_few(z, k, ranked)[::-1]
    total, rest = np.zeros(z.shape[1]), np.zeros(z.shape[1])
    _sums(z, total, rest)
    of_row, n_groups = np.empty(len(z), np.int64), 0
    while len(rows) >= 2 * k:
        middle = (total + rest) / len(rows)
        planted = _planted(z, middle)
        group, made, left = np.full(len(rows), -1), 0, len(rows)
        while left >= 2 * k and 2 * left >= len(rows):  # a list is worn out sooner than a tree, and is soon made
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


def _by_brute_force(steps: float) -> bool:
    """Whether all are compared with all: the kernels of trees are nowhere yet, and there is little to do."""
    per_call = FEW / OFTEN  # a call by itself
    return is_little(_grouped, steps + per_call, most=FEW + per_call, spent=FEW, loading=FEW / 8 + per_call)


def _listing(
    z: NDArray[np.float64], group: NDArray[np.int64], around: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """The records in no group, those farthest from a point first, and their distances from it."""
    rows = np.flatnonzero(group < 0)
    away = np.sqrt(((z[rows] - around) ** 2).sum(axis=1))
    order = np.argsort(-away)
    return rows[order], away[order], around
