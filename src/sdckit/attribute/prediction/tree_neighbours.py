"""The k nearest training records, of those equally far the ones that a k-d tree comes to first, as R's FNN does."""

from __future__ import annotations

import numpy as np

from sdckit.attribute.prediction.key_features import Features
from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.compiling import njit

ALIKE = 0.999  # sides of a box that are nearly the longest are cut where the points spread most


def tree_neighbours(features: Features, k: int, *, scaled: bool) -> Ints:
    """Places of the k nearest training records of each query, shape (n_query, k), nearest first.

    A k-d tree with one point in a leaf, cut at the middle of a box's longest side, or where that leaves a part empty
    at its outermost point (Maneewongvatana and Mount 1999). Euclidean; a different category counts 1.

    >>> one = (np.array([1.0, 3.0, 1.0]), np.array([2.0]))
    >>> tree_neighbours(Features((one,), (), (1.0,)), 2, scaled=False).tolist()
    [[1, 2]]
    """
    train, query = features.design()
    n_numbers = len(features.numbers)
    units = np.array([scale if scaled else 1.0 for scale in features.scale])
    for matrix in (train, query):
        matrix[:, :n_numbers] /= np.where(units > 0, units, np.inf)
        matrix[:, n_numbers:] *= np.sqrt(0.5)
    return np.asarray(_nearest(train, query, k), np.int64)


@njit(cache=True, nogil=True)
def _split(points: Floats, rows: Ints, low: Floats, high: Floats) -> tuple[int, float, int]:
    """Put rows in order around a cut: its column, where it is, and how many rows lie below."""
    n, longest = len(rows), (high - low).max()
    column, widest = 0, -1.0
    for at in range(points.shape[1]):
        if high[at] - low[at] >= ALIKE * longest:
            least, most = points[rows[0], at], points[rows[0], at]
            for row in rows:
                least, most = min(least, points[row, at]), max(most, points[row, at])
            if most - least > widest:
                column, widest = at, most - least
    least, most = points[rows[0], column], points[rows[0], column]
    for row in rows:
        least, most = min(least, points[row, column]), max(most, points[row, column])
    middle = (low[column] + high[column]) / 2
    cut = min(max(middle, least), most)
    below = _order(points, rows, column, cut, 0, strict=True)
    upto = _order(points, rows, column, cut, below, strict=False)
    if middle < least:
        return column, cut, 1
    if middle > most:
        return column, cut, n - 1
    return column, cut, min(max(n // 2, below), upto)


@njit(cache=True, nogil=True)
def _order(points: Floats, rows: Ints, column: int, cut: float, start: int, strict: bool) -> int:
    """Exchange rows from `start` on, until those below the cut (or at most at it) come first; how many these are."""
    left, right, n = start, len(rows) - 1, len(rows)
    while True:
        while left < n and (
            points[rows[left], column] < cut or (not strict and points[rows[left], column] == cut)
        ):
            left += 1
        while right >= start and (
            points[rows[right], column] > cut or (strict and points[rows[right], column] == cut)
        ):
            right -= 1
        if left > right:
            return left
        rows[left], rows[right] = rows[right], rows[left]
        left, right = left + 1, right - 1


@njit(cache=True, nogil=True)
def _tree(points: Floats) -> tuple[Ints, Ints, Floats]:
    """Nodes: column (or -1 and a row), children, and the cut with the ends of the box in its column."""
    n, p = points.shape
    size = 2 * n
    node, child, ends = np.full((size, 2), -1), np.full((size, 2), -1), np.zeros((size, 3))
    rows = np.arange(n)
    low, high = np.empty((size, p)), np.empty((size, p))
    first, last = np.zeros(size, np.int64), np.zeros(size, np.int64)
    for at in range(p):
        low[0, at], high[0, at] = points[:, at].min(), points[:, at].max()
    last[0], used = n, 1
    for now in range(size):
        if now >= used:
            break
        if last[now] - first[now] == 1:
            node[now, 1] = rows[first[now]]
            continue
        column, cut, below = _split(points, rows[first[now] : last[now]], low[now], high[now])
        node[now, 0] = column
        ends[now] = np.array([cut, low[now, column], high[now, column]])
        for side in range(2):
            child[now, side] = used
            low[used], high[used] = low[now], high[now]
            if side == 0:
                high[used, column] = cut
                first[used], last[used] = first[now], first[now] + below
            else:
                low[used, column] = cut
                first[used], last[used] = first[now] + below, last[now]
            used += 1
    return node, child, ends


@njit(cache=True, nogil=True)
def _nearest(train: Floats, query: Floats, k: int) -> Ints:
    node, child, ends = _tree(train)
    found = np.empty((len(query), k), np.int64)
    near, place = np.empty(k), np.empty(k, np.int64)
    waiting, away = np.empty(len(node), np.int64), np.empty(len(node))
    low = np.array([train[:, at].min() for at in range(train.shape[1])])
    high = np.array([train[:, at].max() for at in range(train.shape[1])])
    for one in range(len(query)):
        have, depth = 0, 1
        waiting[0], away[0] = 0, 0.0
        for at in range(train.shape[1]):
            outside = max(low[at] - query[one, at], query[one, at] - high[at], 0.0)
            away[0] += outside**2
        sure = 1  # the nearer child is entered whatever its distance
        while depth:
            depth -= 1
            now, distance = waiting[depth], away[depth]
            if not sure and have == k and distance >= near[k - 1]:
                continue
            sure = 0
            column = node[now, 0]
            if column < 0:
                have = _insert(train, query[one], node[now, 1], near, place, have, k)
                continue
            cut, start, stop = ends[now]
            value = query[one, column]
            off = value - cut
            nearer = 0 if off < 0 else 1
            outside = max(start - value, 0.0) if off < 0 else max(value - stop, 0.0)
            waiting[depth], away[depth] = child[now, 1 - nearer], distance + off**2 - outside**2
            waiting[depth + 1], away[depth + 1] = child[now, nearer], distance
            depth, sure = depth + 2, 1
        found[one] = place
    return found


@njit(cache=True, nogil=True)
def _insert(train: Floats, asked: Floats, row: int, near: Floats, place: Ints, have: int, k: int) -> int:
    """Put a training record among the nearest, behind those equally far."""
    distance = 0.0
    for at in range(len(asked)):
        distance += (asked[at] - train[row, at]) ** 2
    if have == k and distance >= near[k - 1]:
        return have
    at = have if have < k else k - 1
    while at > 0 and near[at - 1] > distance:
        near[at], place[at] = near[at - 1], place[at - 1]
        at -= 1
    near[at], place[at] = distance, row
    return min(have + 1, k)
