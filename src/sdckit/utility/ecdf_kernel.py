"""The difference of two distribution functions of several variables at every point of both files, exactly.

How much of a file lies at or below a point in every variable is counted by dividing (Bentley 1980): the points
are halved by one variable; within each half the same question is asked again, and between the lower half and
the queries in the upper one it no longer involves that variable. Time grows as n log(n)^(d-1), memory as n.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.compiling import njit
from sdckit.numerics.grouping import group
from sdckit.numerics.threads import n_threads, run

SMALL = 2048  # pairs of a point and a query that are compared one by one
SLICES = 4  # of the queries, per thread


@njit(cache=True, nogil=True)
def _merge(x, weight, points, queries, out):  # type: ignore[no-untyped-def]
    """Both are ordered by the one variable that is left."""
    total, i = np.int64(0), 0
    for q in queries:
        while i < len(points) and x[0, points[i]] <= x[0, q]:
            total += weight[points[i]]
            i += 1
        out[q] += total


@njit(cache=True, nogil=True)
def _compare(x, weight, points, queries, k, out):  # type: ignore[no-untyped-def]
    for q in queries:
        total = np.int64(0)
        for p in points:
            d = 0
            while d < k and x[d, p] <= x[d, q]:
                d += 1
            if d == k:
                total += weight[p]
        out[q] += total


@njit(cache=True, nogil=True)
def _span(row, items):  # type: ignore[no-untyped-def]
    lowest = highest = row[items[0]]
    for item in items:
        lowest = min(lowest, row[item])
        highest = max(highest, row[item])
    return lowest, highest


@njit(cache=True, nogil=True)
def _sum_below(x, weight, points, queries, k, out):  # type: ignore[no-untyped-def]
    """Add to each query the weight of the points not above it in the first k variables, k of 1 or more.

    Points and queries are ordered by the first variable, and stay so in every part.
    """
    n, m = len(points), len(queries)
    if n == 0 or m == 0:
        return
    if k == 1:
        _merge(x, weight, points, queries, out)
        return
    if n * m <= SMALL:
        _compare(x, weight, points, queries, k, out)
        return
    row = x[k - 1]
    lowest_point, highest_point = _span(row, points)
    lowest_query, highest_query = _span(row, queries)
    if lowest_point > highest_query:
        return
    if highest_point <= lowest_query:
        _sum_below(x, weight, points, queries, k - 1, out)
        return
    middle = (min(lowest_point, lowest_query) + max(highest_point, highest_query)) // 2
    low_points, high_points = points[row[points] <= middle], points[row[points] > middle]
    low_queries, high_queries = queries[row[queries] <= middle], queries[row[queries] > middle]
    _sum_below(x, weight, low_points, low_queries, k, out)
    _sum_below(x, weight, high_points, high_queries, k, out)
    _sum_below(x, weight, low_points, high_queries, k - 1, out)


def ranks_of(files: Sequence[Floats]) -> NDArray[np.int32]:
    """Place of each value among the different values of all files, one file after the other.

    >>> ranks_of([np.array([2.0, 1.0]), np.array([2.0, 7.5])]).tolist()
    [1, 0, 1, 2]
    """
    _, ranks = np.unique(np.concatenate(files), return_inverse=True)
    return ranks.astype(np.int32)


def _distinct(ranks: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The different rows of a matrix of ranks (variables by rows), and which of them each row is."""
    of_row, n_groups = np.zeros(ranks.shape[1], np.int32), 1
    for one in ranks:
        width = int(one.max()) + 1
        words = of_row.astype(np.uint64) * np.uint64(width) + one.astype(np.uint64)
        found = group(words, bits=max(1, (n_groups * width - 1).bit_length()))
        of_row, n_groups = found.of_row, len(found.size)
    some = np.empty(n_groups, np.int64)
    some[of_row] = np.arange(len(of_row))
    return ranks[:, some], of_row


def ecdf_difference(ranks: NDArray[np.int32], n: int, *, most: int | None = None) -> tuple[Ints, Ints] | None:
    """F_S - F_O, in units of 1 / (n n_s), at each distinct row, and how many rows of both files that is.

    `ranks` (d, n + n_s): places of the values, variable by variable; the original first. `n`: its rows. `most`:
    distinct rows of three and more variables that are worth the time. Both are whole numbers: nothing is rounded.
    None where there are more distinct rows than `most`.

    >>> difference, size = ecdf_difference(np.array([[0, 1, 1, 2]], np.int32), 2)
    >>> sorted(zip(difference.tolist(), size.tolist()))
    [(-2, 1), (-2, 2), (0, 1)]
    """
    d, both = ranks.shape
    x, of_row = _distinct(ranks)
    k = x.shape[1]
    if most is not None and d > 2 and k > most:
        return None
    original, size = np.bincount(of_row[:n], minlength=k), np.bincount(of_row, minlength=k)
    weight = n * (size - original) - (both - n) * original
    finest_first = np.argsort([-len(np.unique(row)) for row in x], kind="stable")  # the first is merged
    x = np.ascontiguousarray(x[finest_first])
    order = np.argsort(x[0], kind="stable").astype(np.int32)
    out = np.zeros(k, np.int64)
    if d == 1:
        _sum_below(x, weight, order, order, 1, out)
        return out, size
    last = x[-1][order]
    cuts = np.unique(np.quantile(last, np.linspace(0, 1, SLICES * n_threads() + 1)[1:-1], method="lower"))
    part = np.searchsorted(cuts, last, side="left")

    def slice_of(j: int) -> None:
        here = order[part == j]
        _sum_below(x, weight, here, here, d, out)
        _sum_below(x, weight, order[part < j], here, d - 1, out)

    run(slice_of, range(len(cuts) + 1))
    return out, size
