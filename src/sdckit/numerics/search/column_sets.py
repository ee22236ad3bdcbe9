"""Sets of categories in which two rows may differ, the lightest first, and rows packed into words to compare them."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Words
from sdckit.numerics.encode import Metric

MOST_BITS = 63  # of a packed row: the word of ones stands for a free place in a table
MOST_SETS = 4096


class Packed(NamedTuple):
    """Rows of two files with the codes of each row in one word; `fields` (q,): the bits of each column."""

    base: Words
    query: Words
    fields: Words


class ColumnSets(NamedTuple):
    """Sets of columns by ascending weight, as many as there are before the first that is not listed.

    `weight` (S,): what rows that differ in these columns alone are apart. `columns` (S,): the columns as bits.
    `kept` (S,): the bits of a packed row that agree. `begins` (C + 1,): where the sets of each weight begin; weights
    nearer to each other than rounding are one. `complete`: whether every set is listed.
    """

    weight: NDArray[np.float64]
    columns: Words
    kept: Words
    begins: NDArray[np.int64]
    complete: bool


def pack(base: NDArray[np.int32], query: NDArray[np.int32], weights: NDArray[np.float64]) -> Packed | None:
    """Put the codes (K, q) of columns that weigh anything into one word per row; None where they do not fit.

    >>> found = pack(np.array([[1, 5]], np.int32), np.array([[1, 2]], np.int32), np.ones(2))
    >>> [int(word) for word in (*found.base, *found.query, *found.fields)]
    [11, 5, 1, 14]
    """
    used = np.flatnonzero(weights > 0)
    if len(used) == 0 or min(base[:, used].min(initial=0), query[:, used].min(initial=0)) < 0:
        return None
    highest = np.maximum(base[:, used].max(axis=0, initial=0), query[:, used].max(axis=0, initial=0))
    bits = [max(int(one).bit_length(), 1) for one in highest]
    if sum(bits) > MOST_BITS:
        return None
    fields = np.zeros(len(weights), np.uint64)
    words = [np.zeros(len(one), np.uint64) for one in (base, query)]
    shift = 0
    for j, width in zip(used.tolist(), bits, strict=True):
        fields[j] = ((1 << width) - 1) << shift
        for f, codes in enumerate((base, query)):
            words[f] |= codes[:, j].astype(np.uint64) << np.uint64(shift)
        shift += width
    return Packed(words[0], words[1], fields)


def column_sets(metric: Metric, fields: Words) -> ColumnSets | None:
    """List sets of the columns that weigh anything; None where rounding could change the order of two of them.

    >>> found = column_sets(Metric(1, np.empty(0), np.array([1.0, 3.0])), np.array([1, 6], np.uint64))
    >>> found.weight.tolist(), found.kept.tolist(), found.begins.tolist(), found.complete
    ([0.0, 1.0, 3.0, 4.0], [7, 6, 1, 0], [0, 1, 2, 3, 4], True)
    """
    used = [j for j, weight in enumerate(metric.weights.tolist()) if weight > 0]
    # Else a set and one with a column more would be of one weight.
    if _least_step(metric, used) <= 2 * metric.tolerance:
        return None
    listed: list[tuple[int, ...]] = []
    largest = -1
    while largest < len(used):
        more = list(combinations(used, largest + 1))
        if len(listed) + len(more) > MOST_SETS:
            break
        listed += more
        largest += 1
    weight = np.array([_added(metric, one) for one in listed])
    order = np.argsort(weight, kind="stable")
    complete = largest == len(used)
    if not complete:  # none that is left out is lighter than the lightest columns together
        lightest = np.sort(metric.weights[used])[: largest + 1].sum() ** (1 / metric.power)
        order = order[weight[order] ** (1 / metric.power) < lightest - 4 * metric.tolerance]
    away = weight[order] ** (1 / metric.power)
    begins = _begins(away, metric.tolerance) if len(away) else None
    if begins is None:
        return None
    every = np.bitwise_or.reduce(fields)
    columns = [sum(1 << j for j in listed[at]) for at in order]
    gone = [int(np.bitwise_or.reduce(fields[list(listed[at])], initial=0)) for at in order]
    kept = every & ~np.array(gone, np.uint64)
    return ColumnSets(weight[order], np.array(columns, np.uint64), kept, begins, complete)


def _least_step(metric: Metric, used: list[int]) -> float:
    """By how much a column more moves two rows apart at least: the lightest one, where all others differ already."""
    weights = metric.weights[used]
    every, lightest, root = float(weights.sum()), float(weights.min()), 1 / metric.power
    return float(every**root - max(every - lightest, 0.0) ** root)


def _added(metric: Metric, columns: tuple[int, ...]) -> float:
    """As the search adds them: equal to the last bit."""
    total = 0.0
    for j in columns:
        total += float(metric.weights[j])
    return total


def _begins(away: NDArray[np.float64], tolerance: float) -> NDArray[np.int64] | None:
    """Where distances begin that are farther than the one before; None where that is a matter of rounding."""
    steps = np.diff(away)
    wide = steps > 2 * tolerance
    begins = np.concatenate([[0], np.flatnonzero(wide) + 1, [len(away)]]).astype(np.int64)
    spread: Any = away[begins[1:] - 1] - away[begins[:-1]]
    return begins if (spread <= tolerance / 4).all() else None
