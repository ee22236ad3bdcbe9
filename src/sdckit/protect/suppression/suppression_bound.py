"""A number of suppressions that no solution can go below.

Give every record at risk a price y, such that whichever values are taken out of one record, at most as many
as that record would need alone, the prices it earns never exceed the number of values: its own price, and
of each other record that comes to match it the price divided by the matches that one lacks. In any solution
every record at risk either loses a value itself or gains all matches it lacks from such records, so each
price is earned in full, and the sum of the prices is a lower bound (a dual solution of the covering problem).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.compiling import njit, sparing
from sdckit.numerics.grouping import group
from sdckit.protect.suppression.suppression_choices import Choices, Order, hash_values
from sdckit.protect.suppression.suppression_file import TINY, Situation
from sdckit.protect.suppression.suppression_near import nearest_sets

ROUNDS = 12
COMPARISONS = 1 << 28  # a search of moments


@dataclass(frozen=True, eq=False)
class Needs:
    """How many keys each cell at risk would have to lose if its record alone were changed."""

    cells: NDArray[np.int64]  # shape (C,); the cells at risk
    keys: NDArray[np.int64]  # shape (C,); at least as many keys as each needs
    # for cells that lack values: the complete cells at risk (counted as in `Choices`) that each of their
    # groups, one key left out, holds
    starts: NDArray[np.int64]
    members: NDArray[np.int64]
    # those among the cells that must lose several keys, and whose groups are nowhere listed
    far: NDArray[np.int64]


def needs_of(at: Situation, k: int, choices: Choices, order: Order) -> Needs:
    """Find how many keys each cell at risk needs to lose."""
    cells = at.at_risk(k)
    keys = np.zeros(len(at.size), np.int64)
    keys[choices.cells] = choices.needs
    pattern = (at.codes[cells] < 0) @ (1 << np.arange(at.codes.shape[1], dtype=np.int64))
    patterns = np.setdiff1d(pattern, [0])
    listed = len(patterns) * at.codes.shape[1] * len(at.size) <= 2 * COMPARISONS
    labels: list[NDArray[np.int64]] = []
    members: list[NDArray[np.int64]] = []
    for one in patterns.tolist() if listed else []:
        _list_groups(at, k, choices.cells, cells[pattern == one], one, keys, labels, members)
    far = cells[keys[cells] == 0]
    if listed and len(far) * len(at.size) <= COMPARISONS:
        masks = nearest_sets(at, far, k, 1.0, order, apply=False)
        keys[far] = [int(mask).bit_count() for mask in masks.tolist()]
    else:  # too long a search: they may lose all
        keys[far] = at.codes.shape[1]
    edges = np.cumsum([0, *(len(label) and int(label.max()) + 1 for label in labels)])
    label = np.concatenate([one + edge for one, edge in zip(labels, edges, strict=False)] or [edges[:0]])
    by_group = np.argsort(label, kind="stable")
    return Needs(
        cells=cells, keys=keys[cells],
        starts=np.concatenate([[0], np.cumsum(np.bincount(label, minlength=int(edges[-1])))]).astype(np.int64),
        members=np.concatenate(members or [edges[:0]])[by_group], far=far,
    )  # fmt: skip


def needs_unbounded(at: Situation, k: int) -> Needs:
    """Every cell at risk may lose all its keys: the bound then holds without condition, but is lower."""
    cells, none = at.at_risk(k), np.empty(0, np.int64)
    keys = np.full(len(cells), at.codes.shape[1])
    return Needs(cells=cells, keys=keys, starts=np.zeros(1, np.int64), members=none, far=cells)


def _list_groups(
    at: Situation, k: int, risky: NDArray[np.int64], lacking: NDArray[np.int64], pattern: int,
    keys: NDArray[np.int64], labels: list[NDArray[np.int64]], members: list[NDArray[np.int64]],
) -> None:  # fmt: skip
    """Groups of complete cells around cells of one pattern of missing keys, one more key left out."""
    whole = np.flatnonzero((at.codes >= 0).all(axis=1))
    rows = np.concatenate([whole, lacking])
    place = np.full(len(at.size), -1, np.int64)
    place[whole] = np.arange(len(whole))
    word = hash_values(at.stratum[rows], at.codes.shape[1])
    seen = [j for j in range(at.codes.shape[1]) if not pattern >> j & 1]
    words = [hash_values(at.codes[rows, j], j) for j in seen]
    for one in words:
        word += one
    for one in words:
        groups = group(word - one)
        sizes = np.bincount(groups.of_row[: len(whole)], at.size[whole], len(groups.size))
        theirs = groups.of_row[len(whole) :]
        keys[lacking[sizes[theirs] >= k]] = 1
        touched = np.bincount(theirs, minlength=len(groups.size)) > 0
        label = groups.of_row[place[risky]]
        inside = np.flatnonzero(touched[label])
        labels.append(np.unique(label[inside], return_inverse=True)[1].astype(np.int64))
        members.append(inside)


class _Priced(NamedTuple):
    """Cells at risk: records, matches lacked, weight of a match; their prices, and what these may grow by."""

    size: NDArray[np.float64]
    lacking: NDArray[np.float64]
    share: float
    price: NDArray[np.float64]
    limit: NDArray[np.float64]


@njit(cache=True, nogil=True)
def _limits(starts, members, costs, needs, outside, priced):  # type: ignore[no-untyped-def]
    """How much each price may be multiplied by: no group may earn more than it costs.

    `outside` says that a record without a price may lose its values in the group, too.
    """
    size, lacking, share, price, limit = priced
    for g in range(len(costs)):
        total, best, found = 0.0, 0.0, outside
        for e in range(starts[g], starts[g + 1]):
            c = members[e]
            theirs = share * size[c] * price[c] / lacking[c]
            total += theirs
            if needs[c] >= costs[g] and (not found or price[c] - theirs > best):
                best, found = price[c] - theirs, True
        if found and total + best > 0:
            most = costs[g] / (total + best)
            for e in range(starts[g], starts[g + 1]):
                limit[members[e]] = min(limit[members[e]], most)


@njit(cache=True, nogil=True)
def _limits_near(codes, stratum, cells, hard, needs, priced, fixed):  # type: ignore[no-untyped-def]
    """The same for records whose groups are unknown: all cells within reach are taken to be in one."""
    size, lacking, share, price, limit = priced
    far = np.empty(len(cells), np.int64)
    for h in range(len(hard)):
        c, total = hard[h], 0.0
        for i in range(len(cells)):
            far[i] = 0
            if stratum[cells[i]] != stratum[c]:
                continue
            for j in range(codes.shape[1]):
                a, b = codes[cells[i], j], codes[c, j]
                far[i] += a != b and a >= 0 and b >= 0
            if cells[i] == c:
                total += price[i]
            elif 0 < far[i] <= needs[h]:
                total += share * size[i] * price[i] / (lacking[i] * far[i])
        for i in range(len(cells)):
            if (cells[i] == c or 0 < far[i] <= needs[h]) and total > 0:
                limit[i] = min(limit[i], 1.0 / total)
                fixed[i] = True


def lower_bound(at: Situation, k: int, choices: Choices, needs: Needs, alpha: float = 1.0) -> int:
    """Suppressions that cannot be avoided.

    `at`: the file before anything was taken out. `choices`: groups of the complete cells at risk. `needs`:
    how many keys each cell at risk may lose. `alpha`: weight of a match through another record's missing
    value.

    Records that lack values from the start are given no price: others' losses reach them on all sides.
    """
    cells = choices.cells
    if len(cells) == 0:
        return int(len(needs.cells) > 0)
    size, price = at.size[cells], np.ones(len(cells))
    n_priced = COMPARISONS // 4 // max(1, len(needs.far))
    price[n_priced:] = 0  # a bound for some records is one for all
    priced = _Priced(size, k - at.frequency[cells], alpha, price, np.ones(len(cells)))
    fixed = np.zeros(len(cells), np.bool_)
    far_keys = needs.keys[np.isin(needs.cells, needs.far)]
    far = needs.cells[np.isin(needs.cells, needs.far)]
    near = sparing(_limits_near, len(far) * min(n_priced, len(cells)) * (at.codes.shape[1] + 2))
    near(at.codes, at.stratum, cells[:n_priced], far, far_keys, priced, fixed)
    single = np.ones(len(needs.starts) - 1, np.int64)
    limits = sparing(_limits, 4 * ROUNDS * (len(choices.members) + len(needs.members)))
    for _ in range(ROUNDS):
        limits(choices.starts, choices.members, choices.costs, choices.needs, False, priced)
        limits(needs.starts, needs.members, single, choices.needs, True, priced)
        price *= priced.limit
        priced.limit[:] = np.where(fixed, 1.0, 1.0 / np.maximum(price, TINY))
    return max(1, math.ceil(float(size @ price) - 1e-6))
