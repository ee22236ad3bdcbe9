"""Which cells match when missing keys stand for any value: bit sets of the cells that could have each value.

Cells stand in blocks. For every level of a key, a block holds a bit per cell: set where the cell has the level or
no value. What matches a cell is then the intersection of the sets of its values, a few words that are mostly
empty after some keys. The time is quadratic in the cells, but a block takes nanoseconds and the patterns of
missing keys cost nothing, however many they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.compiling import njit
from sdckit.numerics.hashing import GOLDEN
from sdckit.numerics.threads import run
from sdckit.numerics.wildcard_matches.wildcards import Matched

LEVELS = 64  # bit sets of a key; more levels share them, and what they find is compared
WORDS = 16
BLOCK = 64 * WORDS  # cells of a block
QUERIES = 1 << 11  # cells that look at a block while it is in the cache
BYTES = 1 << 24  # bit sets held at a time
SORTED_KEYS = 4  # cells sorted by these: most blocks then lack the first value that is asked for
NO_SET = -1

DE_BRUIJN = np.uint64(
    0x03F79D71B4CB0A89
)  # any six neighbouring bits differ, so a product tells a lone bit's place
PLACE_OF = np.argsort([(int(DE_BRUIJN) << place & 0xFFFFFFFFFFFFFFFF) >> 58 for place in range(64)])


@dataclass(frozen=True, eq=False)
class _Query:
    """Cells in sorted order, and which set each of their values asks for.

    `sets` (K, m): number of the set, the most telling key first; -1 where a missing value asks for none.
    `first_set` (m + 1,): first set of each key, and their number. `shared` (h, K): codes of the keys whose levels
    share sets, -1 where missing and free. `order` (K,): the original cell of each. `n_complete`: cells without a
    missing value that is free; they come first.
    """

    sets: NDArray[np.int32]
    first_set: NDArray[np.int32]
    shared: NDArray[np.int64]
    order: NDArray[np.int64]
    n_complete: int


@njit(cache=True, nogil=True)
def _build(sets, first_set, start, stop, bits):  # type: ignore[no-untyped-def]
    """The sets of cells start..stop."""
    n_keys = len(first_set) - 1
    for k in range(n_keys):
        low, high = first_set[k], first_set[k + 1]
        free = np.zeros(WORDS, np.uint64)
        for i in range(start, stop):
            if sets[i, k] < 0:
                at = i - start
                free[at >> 6] |= np.uint64(1) << np.uint64(at & 63)
        for s in range(low, high):
            for w in range(WORDS):
                bits[s, w] = free[w]
        for i in range(start, stop):
            s = sets[i, k]
            if s >= 0:
                at = i - start
                bits[s, at >> 6] |= np.uint64(1) << np.uint64(at & 63)


@njit(cache=True, nogil=True, inline="always")
def _agree(shared, i, j):  # type: ignore[no-untyped-def]
    for h in range(len(shared)):
        mine, other = shared[h, i], shared[h, j]
        if mine != other and mine >= 0 and other >= 0:
            return False
    return True


@njit(cache=True, nogil=True)
def _scan(sets, shared, start, stop, edges, bits, sums, add):  # type: ignore[no-untyped-def]
    """Add the sums of the cells of some blocks that match cells start..stop."""
    found, everybody = np.empty(WORDS, np.uint64), np.empty(WORDS, np.uint64)
    one = np.uint64(1)
    for b in range(len(edges) - 1):
        first, n = edges[b], edges[b + 1] - edges[b]
        block = bits[b]
        for w in range(WORDS):
            left = min(64, max(0, n - 64 * w))
            everybody[w] = ~np.uint64(0) if left == 64 else (one << np.uint64(left)) - one
        for i in range(start, stop):
            some = one
            for w in range(WORDS):
                found[w] = everybody[w]
            for k in range(sets.shape[1]):
                s = sets[i, k]
                if s >= 0:
                    some = np.uint64(0)
                    for w in range(WORDS):
                        found[w] &= block[s, w]
                        some |= found[w]
                    if some == 0:
                        break
            if some == 0:
                continue
            size, weight = 0.0, 0.0
            for w in range(WORDS):
                rest = found[w]
                while rest != 0:
                    lone = rest & (~rest + one)
                    rest ^= lone
                    j = first + 64 * w + PLACE_OF[(lone * DE_BRUIJN) >> np.uint64(58)]
                    if j != i and _agree(shared, i, j):
                        size += sums[j, 0]
                        weight += sums[j, 1]
            add[i, 0] += size
            add[i, 1] += weight


def _fields(
    codes: Sequence[NDArray[np.int64]], missing: Sequence[int | None]
) -> tuple[list[NDArray[np.int32]], list[bool], list[float]]:
    """The set of each cell among those of each key, whether levels share sets, and the share of pairs that agree."""
    fields, sharing, agreeing = [], [], []
    for column, gone in zip(codes, missing, strict=True):
        free = np.zeros(len(column), bool) if gone is None else column == gone
        shares = int(column.max(initial=0, where=~free)) >= LEVELS
        # the high bits of a product: codes are often a few apart
        mixed = (column.astype(np.uint64) * GOLDEN) >> np.uint64(58)
        field = (mixed if shares else column).astype(np.int32)
        field[free] = NO_SET
        part = np.bincount(field[~free], minlength=1) / len(column)
        fields.append(field)
        sharing.append(shares)
        agreeing.append(1 - (1 - free.mean()) ** 2 + float((part**2).sum()))
    return fields, sharing, agreeing


def _prepare(codes: Sequence[NDArray[np.int64]], missing: Sequence[int | None]) -> _Query:
    fields, sharing, agreeing = _fields(codes, missing)
    by_key = sorted(range(len(codes)), key=lambda j: agreeing[j])
    incomplete = np.zeros(len(codes[0]), bool)
    for field in fields:
        incomplete |= field == NO_SET
    order = np.lexsort([*(fields[j] for j in reversed(by_key[:SORTED_KEYS])), incomplete])
    sets = np.empty((len(order), len(codes)), np.int32)
    first_set = np.zeros(len(codes) + 1, np.int32)
    for k, j in enumerate(by_key):
        column = fields[j][order]
        first_set[k + 1] = first_set[k] + int(column.max(initial=0)) + 1
        sets[:, k] = np.where(column == NO_SET, NO_SET, column + first_set[k])
    shared = np.empty((sum(sharing), len(order)), np.int64)
    for h, j in enumerate([j for j in by_key if sharing[j]]):
        shared[h] = np.where(fields[j] == NO_SET, NO_SET, codes[j])[order]
    return _Query(sets, first_set, shared, order, int(len(order) - incomplete.sum()))


def _add_up(
    query: _Query, sums: NDArray[np.float64], start: int, blocks: tuple[int, int]
) -> NDArray[np.float64]:
    """For each cell from `start` on, the sums of the other cells of a range that match it."""
    n, n_sets = len(query.order), int(query.first_set[-1])
    add = np.zeros((n, 2))
    queries = [(i, min(i + QUERIES, n)) for i in range(start, n, QUERIES)]
    at_once = max(1, BYTES // (8 * WORDS * n_sets))
    for low in range(blocks[0], blocks[1], at_once * BLOCK):
        high = min(low + at_once * BLOCK, blocks[1])
        edges = np.append(np.arange(low, high, BLOCK), high)
        bits = np.empty((len(edges) - 1, n_sets, WORDS), np.uint64)
        run(lambda b: _build(query.sets, query.first_set, edges[b], edges[b + 1], bits[b]), range(len(bits)))  # noqa: B023
        run(lambda part: _scan(query.sets, query.shared, *part, edges, bits, sums, add), queries)  # noqa: B023
    return add


def match_bits(
    codes: Sequence[NDArray[np.int64]],
    size: NDArray[np.float64],
    weight: NDArray[np.float64],
    missing: Sequence[int | None],
    alpha: float,
) -> Matched:
    """Sums over the cells of other patterns that match each cell.

    `codes` (K,): the cells key by key, distinct, in codes from 0 on. `size` and `weight` (K,): records and sum of
    weights of each cell. `missing`: per key, the code of a missing value that stands for any value; None where
    there is none. `alpha`: weight of a match through the other cell's missing key, 0 to 1. The result is the same
    for any number of threads.

    Time proportional to the square of the cells, memory to cells times keys.

    >>> codes = [np.array([0, 0, 1]), np.array([0, 2, 2])]
    >>> match_bits(codes, np.ones(3), np.ones(3), [None, 2], 0.5).size.tolist()
    [0.5, 1.0, 0.0]
    """
    query = _prepare(codes, missing)
    sums = np.stack([size[query.order], weight[query.order]], axis=1)
    # a complete cell matches no other complete one
    add = _add_up(query, sums, query.n_complete, (0, query.n_complete))
    complete = add[:, 0].copy()
    if alpha > 0:
        add += alpha * _add_up(query, sums, 0, (query.n_complete, len(sums)))
    out = Matched(np.empty(len(sums)), np.empty(len(sums)), np.empty(len(sums)))
    out.size[query.order], out.weight[query.order], out.complete[query.order] = add[:, 0], add[:, 1], complete
    return out
