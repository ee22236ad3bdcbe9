"""Who lends a record its values: the most similar records, by categories first and by numbers then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sdckit.cells.packing import group_codes
from sdckit.numerics.search.count_boxes import order_by_group
from sdckit.numerics.threads import chunks, run

__all__ = ["draw_donors"]

Ints = NDArray[np.int64]
SLICE = 64  # records whose donors a thread looks for at a time


class _File(NamedTuple):
    """Cells of equal categories: their codes, that of each record, the records of each; who lends, and the numbers."""

    codes: Ints
    cell: NDArray[np.int32]
    members: Ints
    edges: Ints
    lends: NDArray[np.bool_]
    numbers: NDArray[np.float64]


@njit(cache=True, nogil=True)
def _distance(numbers, i, j):  # type: ignore[no-untyped-def]
    """Squared distance; a missing number is at no distance from a missing one, infinitely far from others."""
    total = 0.0
    for d in range(len(numbers)):
        a, b = numbers[d, i], numbers[d, j]
        if np.isnan(a) or np.isnan(b):
            if np.isnan(a) != np.isnan(b):
                return np.inf
        else:
            total += (a - b) ** 2
    return total


@njit(cache=True, nogil=True)
def _best_cells(codes, mine, able, cells):  # type: ignore[no-untyped-def]
    """The cells with a record to lend that agree with cell `mine` on most variables; how many they are."""
    best, found = -1, 0
    for g in range(len(able)):
        if able[g] == 0:
            continue
        agree = 0
        for d in range(len(codes)):
            agree += codes[d, g] == codes[d, mine]
        if agree > best:
            best, found = agree, 0
        if agree == best:
            cells[found] = g
            found += 1
    return found


@njit(cache=True, nogil=True)
def _nearest(i, cells, file, near):  # type: ignore[no-untyped-def]
    """The smallest distances from record i to others of some cells, ascending; how many there are."""
    _, _, members, edges, lends, numbers = file
    found, k = 0, len(near)
    for g in cells:
        for j in members[edges[g] : edges[g + 1]]:
            if j == i or not lends[j]:
                continue
            far = _distance(numbers, i, j)
            if found == k and far >= near[k - 1]:
                continue
            at = min(found, k - 1)
            while at > 0 and near[at - 1] > far:
                near[at] = near[at - 1]
                at -= 1
            near[at] = far
            found = min(found + 1, k)
    return found


@njit(cache=True, nogil=True)
def _one_at(i, far, chance, cells, file):  # type: ignore[no-untyped-def]
    """One of the records at a distance from record i."""
    _, _, members, edges, lends, numbers = file
    n_there, chosen, donor = 0, -1, -1
    for again in range(2):  # how many there are, then which of them
        seen = 0
        for g in cells:
            for j in members[edges[g] : edges[g + 1]]:
                if j != i and lends[j] and _distance(numbers, i, j) == far:
                    if again and seen == chosen:
                        donor = j
                    seen += 1
        n_there = seen
        chosen = int(chance * n_there)
    return donor


@njit(cache=True, nogil=True)
def _draw(asked, first, last, file, able, k, chance, donor):  # type: ignore[no-untyped-def]
    codes, cell, _, _, lends, _ = file
    cells, near = np.empty(len(able), np.int64), np.empty(k)
    for t in range(first, last):
        i = asked[t]
        able[cell[i]] -= lends[i]  # never itself
        cells[0], n_cells = cell[i], 1
        if able[cell[i]] == 0:
            n_cells = _best_cells(codes, cell[i], able, cells)
        able[cell[i]] += lends[i]
        there = cells[:n_cells]
        n_near = _nearest(i, there, file, near)
        if n_near:
            far = near[int(chance[0, t] * n_near)]
            donor[t] = _one_at(i, far, chance[1, t], there, file)


def draw_donors(
    asked: Ints, categories: Sequence[NDArray[Any]], numbers: Sequence[NDArray[np.float64]],
    lends: NDArray[np.bool_], *, k: int, rng: np.random.Generator,
) -> Ints:  # fmt: skip
    """Draw a donor for each record asked for.

    Of the other records that may lend, those that agree with it on most categories are taken, of these the
    k with the smallest squared distance in the numbers, of these one at random. Records equally far share
    the last place: each of them is as likely as the others.

    `asked`: rows that need a donor. `categories`: codes of each categorical variable, shape (n,). `numbers`:
    shape (n,), NaN where missing. `lends`: which records may be donors. Returns the row of each donor, -1 where
    there is none.

    >>> rng = np.random.default_rng(0)
    >>> sex, age = np.array([0, 0, 1]), np.array([30.0, 40.0, 31.0])
    >>> draw_donors(np.array([0]), [sex], [age], np.ones(3, bool), k=1, rng=rng).tolist()
    [1]
    """
    n = len(lends)
    groups = group_codes(list(categories), n)
    members, edges = order_by_group(groups.of_row, len(groups.size))
    first = members[edges[:-1]]
    codes = np.array([column[first] for column in categories], np.int64).reshape(len(categories), len(first))
    matrix = np.array(list(numbers), np.float64).reshape(len(numbers), n)
    able = np.bincount(groups.of_row, weights=lends, minlength=len(first)).astype(np.int64)
    chance, donor = rng.random((2, len(asked))), np.full(len(asked), -1, np.int64)
    file = _File(codes, groups.of_row, members, edges, lends, matrix)
    parts = chunks(len(asked), minimum=SLICE)
    run(lambda part: _draw(asked, *part, file, able.copy(), k, chance, donor), parts)
    return donor
