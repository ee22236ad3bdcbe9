"""Groups of k and more alike records, from the outside in: the exact MDAV without comparing all with all.

The records still to be grouped stand in a tree of boxes that shrink as records leave. The distance to a box
is added up as the distance to a record is, so that rounding cannot put it beyond a record inside; the record
farthest from the centre is looked for along a list sorted for an earlier centre. Of records at one distance
the last in the file is taken, as sdcMicro does: the kernels take the first of rows counted from the end.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["mdav_groups"]

LEAF = 8  # records in a leaf at most
WORN = 1  # records looked at along the list, per record in it, that make it worth a new one
SLACK = 1e-9  # relative; far above what rounding adds to a distance


@njit(cache=True, nogil=True)
def _between(z, a, b):  # type: ignore[no-untyped-def]
    total = 0.0
    for j in range(z.shape[1]):
        away = z[a, j] - b[j]
        total += away * away
    return total


@njit(cache=True, nogil=True)
def _at_best(low, high, node, b):  # type: ignore[no-untyped-def]
    """Squared distance of a point to the box of a node."""
    total = 0.0
    for j in range(low.shape[1]):
        away = max(low[node, j] - b[j], b[j] - high[node, j], 0.0)
        total += away * away
    return total


@njit(cache=True, nogil=True)
def _at_worst(low, high, node, b):  # type: ignore[no-untyped-def]
    """Squared distance of a point to the farthest corner of the box of a node."""
    total = 0.0
    for j in range(low.shape[1]):
        away = max(high[node, j] - b[j], b[j] - low[node, j])
        total += away * away
    return total


@njit(cache=True, nogil=True)
def _exchange(z, row, a, b):  # type: ignore[no-untyped-def]
    row[a], row[b] = row[b], row[a]
    for j in range(z.shape[1]):
        z[a, j], z[b, j] = z[b, j], z[a, j]


@njit(cache=True, nogil=True)
def _halve(z, row, first, last, middle, j):  # type: ignore[no-untyped-def]
    """Put the smallest values of column j before `middle`, the largest behind it."""
    last -= 1
    while first < last:
        a, b, c = z[first, j], z[(first + last) // 2, j], z[last, j]
        pivot = max(min(a, b), min(max(a, b), c))
        left, right = first, last
        while left <= right:
            while z[left, j] < pivot:
                left += 1
            while z[right, j] > pivot:
                right -= 1
            if left <= right:
                _exchange(z, row, left, right)
                left, right = left + 1, right - 1
        if middle <= right:
            last = right
        elif middle >= left:
            first = left
        else:
            return


@njit(cache=True, nogil=True)
def _fit(z, low, high, node, first, last):  # type: ignore[no-untyped-def]
    """Fit the box of a node to its records; whether it changed."""
    changed = False
    for j in range(z.shape[1]):
        smallest, largest = np.inf, -np.inf
        for p in range(first, last):
            smallest, largest = min(smallest, z[p, j]), max(largest, z[p, j])
        changed |= smallest != low[node, j] or largest != high[node, j]
        low[node, j], high[node, j] = smallest, largest
    return changed


@njit(cache=True, nogil=True)
def _build(z, row, n):  # type: ignore[no-untyped-def]
    """Arrange the first n records as a tree: first record, records left, left child or -1, parent; boxes."""
    room = 4 * n // LEAF + 4
    node = np.empty((room, 4), np.int64)
    low, high = np.empty((room, z.shape[1])), np.empty((room, z.shape[1]))
    leaf = np.empty(n, np.int64)
    node[0, 0], node[0, 1], node[0, 3] = 0, n, -1
    used, i = 1, 0
    while i < used:
        first, n_here = node[i, 0], node[i, 1]
        _fit(z, low, high, i, first, first + n_here)
        node[i, 2] = -1
        if n_here <= LEAF:
            for p in range(first, first + n_here):
                leaf[p] = i
        else:
            widest = 0
            for j in range(1, z.shape[1]):
                if high[i, j] - low[i, j] > high[i, widest] - low[i, widest]:
                    widest = j
            half = n_here // 2
            _halve(z, row, first, first + n_here, first + half, widest)
            node[i, 2] = used
            node[used, 0], node[used, 1], node[used, 3] = first, half, i
            node[used + 1, 0], node[used + 1, 1], node[used + 1, 3] = first + half, n_here - half, i
            used += 2
        i += 1
    return node, low, high, leaf


@njit(cache=True, nogil=True)
def _remove(z, row, at, tree, one):  # type: ignore[no-untyped-def]
    """Take a record out: it goes behind the others of its leaf, and the boxes around it shrink."""
    node, low, high, leaf = tree
    p = at[one]
    i = leaf[p]
    last = node[i, 0] + node[i, 1] - 1
    _exchange(z, row, p, last)
    at[row[p]], at[one] = p, -1
    node[i, 1] -= 1
    shrinking = _fit(z, low, high, i, node[i, 0], last)
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


@njit(cache=True, nogil=True)
def _nearest(z, row, tree, here, near, who, stack, bound):  # type: ignore[no-untyped-def]
    """The records nearest to a point, by distance and then by row: as many as `near` has places."""
    node, low, high, _ = tree
    k, found = len(near), 0
    stack[0], bound[0] = 0, 0.0
    depth = 1
    while depth:
        depth -= 1
        i = stack[depth]
        if found == k and bound[depth] > near[k - 1]:
            continue
        left = node[i, 2]
        if left >= 0:
            a, b = left, left + 1
            far_a = _at_best(low, high, a, here) if node[a, 1] else np.inf
            far_b = _at_best(low, high, b, here) if node[b, 1] else np.inf
            if far_a < far_b:
                a, b, far_a, far_b = b, a, far_b, far_a
            for child, far in ((a, far_a), (b, far_b)):  # the nearer is looked at first
                if node[child, 1] and not (found == k and far > near[k - 1]):
                    stack[depth], bound[depth] = child, far
                    depth += 1
            continue
        for p in range(node[i, 0], node[i, 0] + node[i, 1]):
            far = _between(z, p, here)
            if found == k and (far > near[k - 1] or (far == near[k - 1] and row[p] > who[k - 1])):
                continue
            t = min(found, k - 1)
            while t > 0 and (near[t - 1] > far or (near[t - 1] == far and who[t - 1] > row[p])):
                near[t], who[t] = near[t - 1], who[t - 1]
                t -= 1
            near[t], who[t] = far, row[p]
            found = min(found + 1, k)


@njit(cache=True, nogil=True)
def _farthest(z, row, tree, here, stack, bound):  # type: ignore[no-untyped-def]
    """The record farthest from a point; of several the first row."""
    node, low, high, _ = tree
    best, who = -1.0, -1
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
            far_a = _at_worst(low, high, a, here) if node[a, 1] else -1.0
            far_b = _at_worst(low, high, b, here) if node[b, 1] else -1.0
            if far_a > far_b:
                a, b, far_a, far_b = b, a, far_b, far_a
            for child, far in ((a, far_a), (b, far_b)):  # the farther is looked at first
                if node[child, 1] and far >= best:
                    stack[depth], bound[depth] = child, far
                    depth += 1
            continue
        for p in range(node[i, 0], node[i, 0] + node[i, 1]):
            far = _between(z, p, here)
            if far > best or (far == best and row[p] < who):
                best, who = far, row[p]
    return who


@njit(cache=True, nogil=True)
def _outermost(z, at, centre, around, ranked, away, head):  # type: ignore[no-untyped-def]
    """The record farthest from the centre, by a list sorted around an earlier one; records looked at."""
    moved = 0.0
    for j in range(len(centre)):
        moved += (centre[j] - around[j]) ** 2
    moved = np.sqrt(moved)
    best, who, seen, reach = -1.0, -1, 0, -1.0
    for t in range(head, len(ranked)):
        if (away[t] + moved) * (1 + SLACK) < reach:
            break
        one = ranked[t]
        if at[one] < 0:
            continue
        seen += 1
        far = _between(z, at[one], centre)
        if far > best or (far == best and one < who):
            best, who, reach = far, one, np.sqrt(far)
    return who, seen


@njit(cache=True, nogil=True)
def _add(total, rest, z, p, sign):  # type: ignore[no-untyped-def]
    """Add a record to the sums, which are kept to twice the digits: in any order the same centre."""
    for j in range(len(total)):
        value = sign * z[p, j]
        s = total[j] + value
        back = s - total[j]
        rest[j] += (total[j] - (s - back)) + (value - back)
        total[j] = s


@njit(cache=True, nogil=True)
def _phase(z, k, total, rest, around, ranked, away, given, of_row):  # type: ignore[no-untyped-def]
    """Make groups until the list and the tree are worn out; how many groups."""
    n, d = z.shape
    row, at = np.arange(n), np.empty(n, np.int64)
    tree = _build(z, row, n)
    for p in range(n):
        at[row[p]] = p
    stack, bound = np.empty(256, np.int64), np.empty(256)
    near, who = np.empty(k - 1), np.empty(k - 1, np.int64)
    centre, here = np.empty(d), np.empty(d)
    left, group, head, spent = n, 0, 0, 0
    while left >= 2 * k and 2 * left >= n and spent < WORN * n:
        while at[ranked[head]] < 0:
            head += 1
        extreme = ranked[head]
        if not given:
            for j in range(d):
                centre[j] = (total[j] + rest[j]) / left
            extreme, seen = _outermost(z, at, centre, around, ranked, away, head)
            spent += seen
        for _ in range(1 if given or left < 3 * k else 2):
            for j in range(d):
                here[j] = z[at[extreme], j]
            for t in range(k):
                one = extreme if t == 0 else who[t - 1]
                of_row[one] = group
                _add(total, rest, z, at[one], -1.0)
                _remove(z, row, at, tree, one)
                if t == 0 and k > 1:
                    _nearest(z, row, tree, here, near, who, stack, bound)
            group, left = group + 1, left - k
            if left >= 2 * k and not given:
                extreme = _farthest(z, row, tree, here, stack, bound)
    return group


@njit(cache=True, nogil=True)
def _sums(z, total, rest):  # type: ignore[no-untyped-def]
    for p in range(len(z)):
        _add(total, rest, z, p, 1.0)


def mdav_groups(
    values: NDArray[np.float64], k: int, *, ranking: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Group records by maximum distance to average.

    Parameters
    ----------
    values : ndarray, float64, shape (n, d)
        Scaled to one unit, complete.
    k : int
        Records of a group at least.
    ranking : ndarray, int64, shape (n,), optional
        All rows, the most outlying first: groups are then made around these in turn, instead of around the
        record farthest from the centre and the one farthest from it.

    Returns
    -------
    ndarray, int64, shape (n,)
        Group of each record: k of them each, the last up to 2k - 1.

    References
    ----------
    Domingo-Ferrer, J. and Torra, V. (2005). Ordinal, continuous and heterogeneous k-anonymity through
    microaggregation. Data Mining and Knowledge Discovery 11, 195-212.

    Examples
    --------
    >>> mdav_groups(np.array([[1.0], [9.0], [2.0], [8.0]]), 2).tolist()
    [1, 0, 1, 0]
    """
    z, rows = np.array(values[::-1], np.float64, order="C"), np.arange(len(values))[::-1]
    given = ranking is not None
    ranked = np.empty(0, np.int64) if ranking is None else len(z) - 1 - np.asarray(ranking, np.int64)
    total, rest = np.zeros(z.shape[1]), np.zeros(z.shape[1])
    _sums(z, total, rest)
    of_row, n_groups = np.empty(len(z), np.int64), 0
    while len(rows) >= 2 * k:
        around = (total + rest) / len(rows)
        away = np.empty(0)
        if not given:
            away = np.sqrt(((z - around) ** 2).sum(axis=1))
            ranked = np.argsort(-away)
            away = away[ranked]
        group = np.full(len(rows), -1)
        made = _phase(z.copy(), k, total, rest, around, ranked, away, given, group)
        done = group >= 0
        of_row[rows[done]] = group[done] + n_groups
        n_groups += made
        if given:  # the others by their new places
            ranked = (np.cumsum(~done) - 1)[ranked[~done[ranked]]]
        z, rows = z[~done], rows[~done]
    of_row[rows] = n_groups
    return of_row
