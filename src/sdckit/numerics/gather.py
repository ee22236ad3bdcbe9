"""Take values of cells to records, and check weights, in one pass over the records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.arena import Arena, bytes_for
from sdckit.numerics.compiling import FEW, njit
from sdckit.numerics.threads import chunks, run


@njit(cache=True, nogil=True)
def _gather(table, of_row, start, stop, out):  # type: ignore[no-untyped-def]
    n = table.shape[1]
    for i in range(start, stop):
        g = of_row[i]
        for c in range(n):
            out[c, i] = table[g, c]


@njit(cache=True, nogil=True)
def _interleave(columns, start, stop, table):  # type: ignore[no-untyped-def]
    for c in range(len(columns)):
        values = columns[c]
        for g in range(start, stop):
            table[g, c] = values[g]


@njit(cache=True, nogil=True)
def _count_short(f, big_f, start, stop, counts):  # type: ignore[no-untyped-def]
    for g in range(start, stop):
        counts[0] += big_f[g] < f[g] * (1 - 1e-9)


@njit(cache=True, nogil=True)
def _gather_one(values, of_row, start, stop, out):  # type: ignore[no-untyped-def]
    for i in range(start, stop):
        out[i] = values[of_row[i]]


@njit(cache=True, nogil=True)
def _weight_faults(weight, start, stop, counts):  # type: ignore[no-untyped-def]
    for i in range(start, stop):
        w = weight[i]
        if np.isnan(w):
            counts[0] += 1
        elif w <= 0:
            counts[1] += 1
        elif np.isinf(w):
            counts[2] += 1


@njit(cache=True, nogil=True)
def _sum_through(values, cell_of_row, group_of_row, sums):  # type: ignore[no-untyped-def]
    for i in range(len(cell_of_row)):
        sums[group_of_row[i]] += values[cell_of_row[i]]


@njit(cache=True, nogil=True)
def _min_through(values, cell_of_row, group_of_row, smallest):  # type: ignore[no-untyped-def]
    for i in range(len(cell_of_row)):
        smallest[group_of_row[i]] = min(smallest[group_of_row[i]], values[cell_of_row[i]])


@njit(cache=True, nogil=True)
def _mark(values, low, used):  # type: ignore[no-untyped-def]
    for i in range(len(values)):
        used[np.int64(values[i]) - low] = 1


@njit(cache=True, nogil=True)
def _renumber(values, low, number, of_row):  # type: ignore[no-untyped-def]
    for i in range(len(values)):
        of_row[i] = number[np.int64(values[i]) - low]


def gather(columns: Sequence[NDArray[Any]], of_row: NDArray[np.integer[Any]]) -> list[NDArray[Any]]:
    """Values of shape (K,), 8 bytes each, to rows: ``[values[of_row] for values in columns]``.

    The values of a cell lie side by side while they are read, so that a row costs one cache line.

    >>> gather([np.array([1.5, 2.5])], np.array([1, 0, 1], np.int32))[0].tolist()
    [2.5, 1.5, 2.5]
    """
    n, c = len(of_row), len(columns)
    if n <= FEW:
        return [values[of_row] for values in columns]
    if c == 1:
        one = np.empty(n, columns[0].dtype)
        run(lambda part: _gather_one(columns[0], of_row, *part, one), chunks(n))
        return [one]
    k = len(columns[0])
    table = Arena(bytes_for((k * c, np.uint64))).take(k * c, np.uint64).reshape(k, c)
    run(lambda part: _interleave(tuple(v.view(np.uint64) for v in columns), *part, table), chunks(k))
    out = Arena(bytes_for((n * c, np.uint64))).take(n * c, np.uint64).reshape(c, n)
    run(lambda part: _gather(table, of_row, *part, out), chunks(n))
    return [out[j].view(values.dtype) for j, values in enumerate(columns)]


def count_short(f: NDArray[Any], big_f: NDArray[np.float64]) -> int:
    """Cells whose population frequency falls short of their sample frequency, rounding set aside.

    >>> count_short(np.array([1, 2]), np.array([0.5, 2.0]))
    1
    """
    if len(f) <= FEW:
        return int(np.count_nonzero(big_f < f * (1 - 1e-9)))
    parts = chunks(len(f))
    counts = np.zeros((len(parts), 8), np.int64)  # a cache line for each thread
    run(lambda t: _count_short(f, big_f, *parts[t], counts[t]), range(len(parts)))
    return int(counts[:, 0].sum())


def weight_faults(weight: NDArray[np.float64]) -> tuple[int, int, int]:
    """How many weights are missing, not positive, infinite.

    >>> weight_faults(np.array([1.0, np.nan, -2.0, np.inf]))
    (1, 1, 1)
    """
    if len(weight) <= FEW:
        found = np.isnan(weight), weight <= 0, np.isposinf(weight)
        missing, low, infinite = map(np.count_nonzero, found)
        return int(missing), int(low), int(infinite)
    parts = chunks(len(weight))
    counts = np.zeros((len(parts), 3), np.int64)
    run(lambda t: _weight_faults(weight, *parts[t], counts[t]), range(len(parts)))
    missing, low, infinite = counts.sum(axis=0)
    return int(missing), int(low), int(infinite)


def sum_by(of_row: NDArray[np.integer[Any]], values: NDArray[Any], k: int) -> NDArray[np.float64]:
    """Sum values within groups.

    >>> sum_by(np.array([0, 1, 0]), np.array([1.0, 2.0, 3.0]), 2).tolist()
    [4.0, 2.0]
    """
    return np.bincount(of_row, values, k).astype(np.float64, copy=False)


def sum_through(
    values: NDArray[np.float64],
    cell_of_row: NDArray[np.int32],
    group_of_row: NDArray[np.int32],
    n_groups: int,
) -> NDArray[np.float64]:
    """Sum a figure of cells over the records of each group: ``sum_by(group_of_row, values[cell_of_row])``.

    >>> of_row = np.array([0, 1, 1], np.int32)
    >>> sum_through(np.array([0.5, 2.0]), of_row, np.array([0, 0, 1], np.int32), 2).tolist()
    [2.5, 2.0]
    """
    if len(cell_of_row) <= FEW:
        return sum_by(group_of_row, values[cell_of_row], n_groups)
    sums = np.zeros(n_groups)
    _sum_through(values, cell_of_row, group_of_row, sums)
    return sums


def dense_codes(values: NDArray[Any], low: int, span: int) -> tuple[NDArray[np.int32], int]:
    """Number the values in use, ascending, by a table of all ``low`` to ``low + span - 1``.

    >>> of_row, n = dense_codes(np.array([7, 9, 7]), 7, 3)
    >>> of_row.tolist(), n
    ([0, 1, 0], 2)
    """
    used = np.zeros(span, np.uint8)
    if len(values) <= FEW:
        at = values.astype(np.int64) - low
        used[at] = 1
        number = np.cumsum(used, dtype=np.int32) - np.int32(1)
        return number[at], int(number[-1]) + 1
    _mark(values, low, used)
    number = np.cumsum(used, dtype=np.int32) - np.int32(1)
    of_row = np.empty(len(values), np.int32)
    _renumber(values, low, number, of_row)
    return of_row, int(number[-1]) + 1


def min_through(
    values: NDArray[np.float64],
    cell_of_row: NDArray[np.int32],
    group_of_row: NDArray[np.int32],
    n_groups: int,
) -> NDArray[np.float64]:
    """Smallest figure of a cell over the records of each group.

    >>> of_row = np.array([0, 1, 1], np.int32)
    >>> min_through(np.array([0.5, 2.0]), of_row, np.array([0, 0, 1], np.int32), 2).tolist()
    [0.5, 2.0]
    """
    smallest = np.full(n_groups, np.inf)
    if len(cell_of_row) <= FEW:
        np.minimum.at(smallest, group_of_row, values[cell_of_row])
        return smallest
    _min_through(values, cell_of_row, group_of_row, smallest)
    return smallest
