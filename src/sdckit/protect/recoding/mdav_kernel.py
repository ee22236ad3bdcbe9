"""Exact microaggregation by MDAV (maximum distance to average) without comparing all records with all.

The records still to be grouped stand in a tree of bounding boxes that shrink as records are removed; the distances to
the records of a leaf are computed together. Bounds have some slack, so that rounding cannot exclude the box of the
record looked for; the record farthest from the centre is searched along a list sorted by the distance to an earlier
centre. Of ties the last record in the file is taken, as sdcMicro does: the kernels take the first row of the reversed
file.
"""

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.compiling import is_little, njit

# MDAV of few records by brute force with NumPy: for a first run, when the tree kernels are not compiled yet.


@njit(cache=True, nogil=True)
def add(total, rest, z, p, sign):  # type: ignore[no-untyped-def]
    """Add record p times `sign` to the column sums; `rest` keeps the rounding errors (compensated summation).

    So the order of the records does not change the centre.
    """
    for j in range(len(total)):
        value = sign * z[p, j]
        s = total[j] + value
        back = s - total[j]
        rest[j] += (total[j] - (s - back)) + (value - back)
        total[j] = s


def _measured(columns: Floats, here: Floats) -> Floats:
    """Squared distances of records, (columns, n), from a point."""
    far = np.zeros(columns.shape[1])
    for column, centre in zip(columns, here, strict=True):
        away = column - centre
        away *= away
        far += away
    return far


def _nearest_rows(far: Floats, k: int) -> Ints:
    """Indices of the k smallest distances in ascending order; of ties the first."""
    near = np.flatnonzero(far <= np.partition(far, k - 1)[k - 1])
    return near[np.argsort(far[near], kind="stable")[:k]]


def _column_sums(columns: Floats) -> tuple[Floats, Floats]:
    """Column sums and their rounding errors, as calls of `add` one after the other make them."""
    total = np.cumsum(columns, axis=1)
    before = np.concatenate([np.zeros((len(columns), 1)), total[:, :-1]], axis=1)
    back = total - before
    lost = (before - (total - back)) + (columns - back)
    return total[:, -1].copy(), np.cumsum(lost, axis=1)[:, -1].copy()


def _groups(columns: Floats, k: int, ranked: Ints, of_row: Ints) -> int:
    """Make groups of k until fewer than 2k records are left, and write them into `of_row`; return their number."""
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
    """Group records by brute force; of ties the first is taken.

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


# A tree of bounding boxes that shrink as records are removed; a leaf is a block stored column by column.


LEAF = 32  # records in a leaf at most
FREE_OF_NAN = {"nnan", "nsz"}  # there is no NaN, so that smallest and largest of a line are found in any order


@njit(cache=True, nogil=True)
def _spread(y, low, high, node, first, last):  # type: ignore[no-untyped-def]
    """Fit the box of a node to records `first` to `last` of `y`; return the column of its longest side."""
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
    """Quickselect: move the records with the smaller values in column j before `middle`, within start to stop.

    `y` and `row` are permuted themselves, so that memory is read in sequence.
    """
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
    """Build the tree of records; `y` (n, width) and `row` (n,) are permuted into its order.

    Returns for each node its first record, number of records, left child (-1: a leaf) and parent; lower and upper
    bounds of the boxes; the leaf of each block; and the blocks, (blocks, width, LEAF).
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
    """Fit the box of a leaf to its remaining m records; return whether it changed."""
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
    """Remove a record: the last one of its leaf takes its place, and the boxes above are refitted."""
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


WORN = 8  # inspections along a list, per record in it, after which a new one is made
FEW = 1 << 25  # distances times columns that NumPy computes in far less time than compiling the tree kernels takes
OFTEN = 4  # calls after which they are compiled all the same
SLACK = 1e-9  # relative; far above what rounding adds to a distance
FREE = {"reassoc", "contract", "nsz", "nnan"}  # sums whose order does not matter, since the result has slack


@njit(cache=True, nogil=True)
def _between(z, a, b):  # type: ignore[no-untyped-def]
    """Squared distance between row a of z and a point."""
    total = 0.0
    for j in range(len(b)):
        away = z[a, j] - b[j]
        total += away * away
    return total


@njit(cache=True, nogil=True, fastmath=FREE)
def _at_best(low, high, node, b):  # type: ignore[no-untyped-def]
    """Lower bound of the squared distance from a point to the records of a node: that to its box."""
    total = 0.0
    for j in range(len(b)):
        away = max(low[node, j] - b[j], b[j] - high[node, j], 0.0)
        total += away * away
    return total * (1 - SLACK)


@njit(cache=True, nogil=True, fastmath=FREE)
def _at_worst(low, high, node, b, middle, out):  # type: ignore[no-untyped-def]
    """Upper bound of the squared distance from a point to the records of a node: the lower of two bounds.

    One is the distance to the farthest corner of the box, which is loose where columns are many. The other maximises
    the distance over the points of the box whose norm is no larger than that of the records (norms are taken from
    `middle`; `out` is that of the point) by a Lagrange multiplier: any value gives a bound, the one of the whole ball a
    good one.
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
    """Squared distances of the records of a leaf to a point into `far`; summed as by `_between`, 4 columns a turn."""
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
    """Nearest records to a point by branch and bound, in order of distance and row; as many as `near` has places.

    Fills `near` (squared distances) and `who` (rows). `far`, `stack`, `bound`: work space.
    """
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
    """Whether a distance is at most `limit`."""
    count = 0
    for t in range(len(far)):
        count += far[t] <= limit
    return count > 0


@njit(cache=True, nogil=True)
def _any_beyond(far, limit):  # type: ignore[no-untyped-def]
    """Whether a distance is at least `limit`."""
    count = 0
    for t in range(len(far)):
        count += far[t] >= limit
    return count > 0


@njit(cache=True, nogil=True)
def _farthest(row, tree, here, middle, far, stack, bound):  # type: ignore[no-untyped-def]
    """The row farthest from a point, by branch and bound; of ties the first."""
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
    """The record farthest from the centre, and the number of records inspected.

    The list `ranked` is sorted by the distance `away` from an earlier centre `around`: the search ends where the
    triangle inequality permits. `listed`, `there`: values of the records in the order of the list, so that memory is
    read in sequence, and which of them are in no group yet. `head`: where to begin.
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
    """Values in the order of the list, a mask of those in no group (all), and the place of each record in the list."""
    n, d = len(ranked), z.shape[1]
    listed, there, place = np.empty((n, d)), np.ones(n, np.bool_), np.empty(len(z), np.int64)
    for t in range(n):
        place[ranked[t]] = t
        for j in range(d):
            listed[t, j] = z[ranked[t], j]
    return listed, there, place


@njit(cache=True, nogil=True)
def _planted(z, around):  # type: ignore[no-untyped-def]
    """Tree of the records, with distances from a point as last column; the record at each place, and the inverse."""
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
    """Make groups until the list or the tree is outdated; return the number of groups and of records left.

    `planted`: from `_planted` around the point `middle`. `listing`: records that are left in descending distance from a
    point, these distances, and the point. `given`: whether that order is the ranking of the caller. `made`: groups made
    before. Fills `of_row` with groups.
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
    """Column sums of all records, compensated as in `add`."""
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
        while left >= 2 * k and 2 * left >= len(rows):  # a list is outdated sooner than a tree, and cheap to make
            listing = (ranked, np.empty(0), middle) if given else _listing(z, group, (total + rest) / left)
            made, left = _grouped(z, k, total, rest, planted, middle, listing, given, made, group)
        done = group >= 0
        of_row[rows[done]] = group[done] + n_groups
        n_groups += made
        if given:  # the ranking of the others by their new row numbers
            ranked = (np.cumsum(~done) - 1)[ranked[~done[ranked]]]
        z, rows = z[~done], rows[~done]
    of_row[rows] = n_groups
    return of_row


def _by_brute_force(steps: float) -> bool:
    """Whether to group by brute force: the tree kernels are not compiled yet, and there is little to do."""
    per_call = FEW / OFTEN  # a single call
    return is_little(_grouped, steps + per_call, most=FEW + per_call, spent=FEW, loading=FEW / 8 + per_call)


def _listing(
    z: NDArray[np.float64], group: NDArray[np.int64], around: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """The records in no group in descending distance from a point, these distances, and the point."""
    rows = np.flatnonzero(group < 0)
    away = np.sqrt(((z[rows] - around) ** 2).sum(axis=1))
    order = np.argsort(-away)
    return rows[order], away[order], around
