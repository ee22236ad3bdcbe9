"""Records at risk that no group helps, or that lack values already: search the cells most like them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.compiling import njit, sparing
from sdckit.numerics.grouping import group
from sdckit.protect.suppression.suppression_choices import Order, hash_values
from sdckit.protect.suppression.suppression_file import TINY, Situation

COMPARISONS = 1 << 32  # of cells with cells; beyond, one nested chain of keys serves all
KINDS = 1 << 6  # differences told apart at one distance


class _Cells(NamedTuple):
    """Codes and stratum of all cells, their records, and what of these counts as a match."""

    codes: NDArray[np.int64]
    stratum: NDArray[np.int64]
    size: NDArray[np.float64]
    worth: NDArray[np.float64]


@njit(cache=True, nogil=True, inline="always")
def _count(mask):  # type: ignore[no-untyped-def]
    n = 0
    while mask:
        mask &= mask - np.uint64(1)
        n += 1
    return n


@njit(cache=True, nogil=True)
def _differences(codes, stratum, c, diff):  # type: ignore[no-untyped-def]
    """Keys on which each cell differs from cell c, as bits; all bits for another stratum."""
    for i in range(len(codes)):
        found = np.uint64(0)
        if stratum[i] != stratum[c]:
            diff[i] = ~found
            continue
        for j in range(codes.shape[1]):
            if codes[i, j] != codes[c, j] and codes[i, j] >= 0 and codes[c, j] >= 0:
                found |= np.uint64(1) << np.uint64(j)
        diff[i] = found


@njit(cache=True, nogil=True)
def _closest(diff, worth, gone, kinds, weights):  # type: ignore[no-untyped-def]
    """Records matched when some keys are gone; what keys the nearest others differ on, and how many they are."""
    got, nearest, n = 0.0, 99, 0
    for i in range(len(diff)):
        if diff[i] == 0 or diff[i] == ~np.uint64(0):
            continue
        rest = diff[i] & ~gone
        if rest == 0:
            got += worth[i]
            continue
        far = _count(rest)
        if far > nearest:
            continue
        if far < nearest:
            nearest, n = far, 0
        at = 0
        while at < n and kinds[at] != rest:
            at += 1
        if at == n:
            if n == len(kinds):
                continue
            kinds[n], weights[n] = rest, 0.0
            n += 1
        weights[at] += worth[i]
    return got, n


@njit(cache=True, nogil=True)
def _better(one, other, weight_one, weight_other, lacking, rank, strict):  # type: ignore[no-untyped-def]
    """Whether to take one set of keys out rather than another of the same size."""
    if (weight_one >= lacking) != (weight_other >= lacking):
        return weight_one >= lacking
    low_one, low_other, sum_one, sum_other = np.inf, np.inf, 0.0, 0.0
    for j in range(len(rank)):
        bit = np.uint64(1) << np.uint64(j)
        if one & bit:
            low_one, sum_one = min(low_one, rank[j]), sum_one + rank[j]
        if other & bit:
            low_other, sum_other = min(low_other, rank[j]), sum_other + rank[j]
    if strict or weight_one == weight_other:
        if low_one != low_other:
            return low_one > low_other
        if sum_one != sum_other:
            return sum_one > sum_other
        return one < other
    return weight_one > weight_other


@njit(cache=True, nogil=True)
def _search(cells, hard, frequency, k, alpha, rank, strict, apply, masks):  # type: ignore[no-untyped-def]
    codes, stratum, size, worth = cells
    diff, kinds, weights = np.empty(len(codes), np.uint64), np.empty(KINDS, np.uint64), np.empty(KINDS)
    for h in range(len(hard)):
        if apply and frequency[h] >= k:
            continue
        c, gone = hard[h], np.uint64(0)
        _differences(codes, stratum, c, diff)
        while True:
            got, n = _closest(diff, worth, gone, kinds, weights)
            lacking = k - frequency[h] - got
            if lacking <= 0 or n == 0:
                break
            best = 0
            for a in range(1, n):
                if _better(kinds[a], kinds[best], weights[a], weights[best], lacking, rank, strict):
                    best = a
            gone |= kinds[best]
        masks[h] = gone
        if apply:
            for other in range(len(hard)):
                theirs = diff[hard[other]]
                if theirs != 0 and theirs & ~gone == 0:
                    frequency[other] += alpha * size[c]


def too_many(at: Situation, hard: NDArray[np.int64]) -> bool:
    """Whether a search for these cells' neighbours would take minutes."""
    return len(hard) * len(at.size) > COMPARISONS


def nearest_sets(
    at: Situation, hard: NDArray[np.int64], k: int, alpha: float, order: Order, *, apply: bool
) -> NDArray[np.uint64]:
    """Keys to take out of all records of some cells at risk, as bits.

    Starting from nothing, the keys on which the nearest cells differ are added until k records match. With
    `apply` the cells are mended one after the other, and one that earlier ones have helped to k gets 0;
    without, each is looked at as if it alone were to be changed.
    """
    masks = np.zeros(len(hard), np.uint64)
    worth = np.where((at.codes >= 0).all(axis=1), at.size, alpha * at.size)
    cells, rank = _Cells(at.codes, at.stratum, at.size, worth), np.array(order.rank, np.float64)
    search = sparing(_search, len(hard) * len(at.size) * (3 * len(rank) + 8))
    search(cells, hard, at.frequency[hard], k - TINY, alpha, rank, order.strict, apply, masks)
    return masks


def nested_sets(at: Situation, hard: NDArray[np.int64], k: int, order: Order) -> NDArray[np.uint64]:
    """The same without a search: keys are taken out in one order until the group has k records."""
    keys = [one[0] for one in order.sets(1)]
    masks, word = np.zeros(len(hard), np.uint64), hash_values(at.stratum, len(keys))
    for j in keys:
        word += hash_values(at.codes[:, j], j)
    gone, left = 0, np.ones(len(hard), bool)
    for j in keys:
        gone |= 1 << j
        word -= hash_values(at.codes[:, j], j)
        groups = group(word)
        sizes = np.bincount(groups.of_row, at.size, len(groups.size))[groups.of_row[hard]]
        reached = left & (sizes >= k)
        masks[reached] = gone
        left &= ~reached
    return masks
