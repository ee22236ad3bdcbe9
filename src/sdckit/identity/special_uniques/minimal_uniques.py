"""Minimal sample uniques: every key subset on which a cell is alone while it is not on any smaller one.

Level by level over subset sizes. A cell that is alone on a subset is alone on every larger one: there it
neither is a *minimal* unique nor keeps another cell from being one. So for a subset S only the cells that
share their values on every subset of size |S| - 1 matter, the intersection of |S| bit sets, and among those
the ones alone on S are exactly its minimal uniques. The cells of one parent lie side by side by its groups.
They are dealt into stacks by the codes of one more key, in their order, so that in each stack the cells of
one group of the parent still follow each other: these runs are the groups of S. No hashing, no sorting of
groups one by one, hardly a branch. Groups without a cell of a single record are dropped, as nobody in them will
ever be unique, and so are groups that the new key does not split: they look the same without it from there on.
Where the cells are very many and a subset has few possible combinations, all cells are counted in a table of the
combinations instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.errors import DataError
from sdckit.identity.special_uniques.minimal_search import (
    SINGLE,
    START,
    Problem,
    Work,
    book,
    count_in_table,
    intersect,
    split,
    without,
)
from sdckit.identity.special_uniques.subset_blocks import bytes_of_blocks, search_blocks
from sdckit.numerics.threads import n_threads, run

MEMORY_LIMIT = 1_800_000_000  # bytes of lists, bit sets and counts
TABLE = 1 << 20  # combinations that are counted in a table
BYTE = 256  # codes a byte can have; longer ones are split byte by byte
MANY_CELLS = 1 << 20  # from so many cells on the lists outgrow the cache, and tables are faster


@dataclass(frozen=True, eq=False)
class MinimalUniques:
    """Minimal sample uniques found.

    `level_counts` (M, total levels) is, per size, how many minimal uniques hold each level of each key, the keys laid
    end to end.
    """

    by_size: NDArray[np.uint32]  # (K, M) how many minimal uniques of size 1, 2, ... each cell has
    subset_counts: dict[tuple[int, ...], int]  # cells alone on each subset of key numbers that has any
    level_counts: NDArray[np.float64]


def memory_needed(n_keys: int, n_cells: int, max_size: int, n_levels: int = 0) -> int:
    """Bytes that a search up to `max_size` may hold at its widest, lists being as long as they can be."""
    if n_cells < MANY_CELLS:
        lists = bytes_of_blocks(n_keys, n_cells, max_size)
    else:
        kept = [comb(n_keys, k) for k in range(1, max_size)] or [1]
        widest = max(a + b for a, b in zip([0, *kept], kept, strict=False))
        lists = widest * (4 * n_cells + n_cells // 8)
    return (
        lists + n_threads() * ((4 * max_size + 24) * n_cells + 8 * max_size * n_levels) + 4 * n_keys * n_cells
    )


def largest_size(n_keys: int, n_cells: int, limit: int = MEMORY_LIMIT, n_levels: int = 0) -> int:
    """The largest `max_size` that surely fits into memory, 0 if none does."""
    for k in range(1, n_keys + 1):
        if memory_needed(n_keys, n_cells, k, n_levels) > limit:
            return k - 1
    return n_keys


def _work(n_cells: int, max_size: int, n_levels: int) -> Work:
    return Work(
        table=np.zeros(TABLE, np.uint8),
        dealt=np.empty(n_cells + BYTE, np.uint64),
        ends=np.empty(BYTE, np.int64),
        out=np.empty(n_cells + 1, np.uint32),
        alone=np.empty(n_cells, np.uint32),
        allowed=np.empty(-(-n_cells // 64), np.uint64),
        by_size=np.zeros((n_cells, max_size), np.uint32),
        level_counts=np.zeros((max_size, n_levels)),
    )


@dataclass(eq=False)
class _Node:
    """The cells that are not alone on a subset: as a bit set, and, once asked for, listed by group."""

    subset: tuple[int, ...]
    cells: NDArray[np.uint64]
    listed: NDArray[np.uint32] | None = None


def find_minimal_uniques(
    codes: NDArray[Any],
    size: NDArray[np.int64],
    *,
    max_size: int,
    absent: NDArray[np.bool_] | None = None,
    limit: int = MEMORY_LIMIT,
    step: Callable[[str], None] | None = None,
) -> MinimalUniques:
    """Find all minimal sample uniques up to a size.

    `codes` (n_keys, K) are the cells, distinct combinations of codes from 0, and `size` (K,) their records; `absent`
    (n_keys, K) is True where the value of a key takes no part. `limit` are the bytes that the search may hold: where
    it may not fit, it refuses and names the largest `max_size` that does. `step` is told the size being searched.

    Examples
    --------
    >>> codes = np.array([[0, 0, 1], [0, 1, 1]])
    >>> find_minimal_uniques(codes, np.array([1, 1, 1]), max_size=2).subset_counts
    {(0,): 1, (1,): 1, (0, 1): 1}
    """
    n_keys, n_cells = codes.shape
    n_levels = int(np.sum(codes.max(axis=1, initial=0) + 1))
    needed = memory_needed(n_keys, n_cells, max_size, n_levels)
    if needed > limit:
        fits = largest_size(n_keys, n_cells, limit, n_levels)
        words = f"subsets of up to {max_size} of {n_keys} keys may need {needed / 1e9:.1f} GB"
        way_out = f"max_size={fits} fits" if fits else "no max_size fits: give fewer or coarser keys"
        raise DataError(f"{words} for {n_cells} cells; {way_out}")
    problem = _problem(codes, size, absent)
    workers = [_work(n_cells, max_size, int(problem.offsets[-1])) for _ in range(n_threads())]
    search = search_blocks if n_cells < MANY_CELLS else _by_nodes
    counts = search(problem, workers, max_size, step)
    by_size = workers[0].by_size
    for worker in workers[1:]:
        by_size += worker.by_size
    return MinimalUniques(by_size, counts, np.sum([worker.level_counts for worker in workers], axis=0))


def _by_nodes(
    problem: Problem, workers: list[Work], max_size: int, step: Callable[[str], None] | None
) -> dict[tuple[int, ...], int]:
    """Subset by subset, by a table where it pays; lists are made when they are asked for."""
    n_keys, n_cells = problem.codes.shape
    level = {(): _Node((), np.full(-(-n_cells // 64), 0xFFFFFFFFFFFFFFFF, np.uint64), problem.everybody)}
    counts: dict[tuple[int, ...], int] = {}
    for k in range(1, max_size + 1):
        if step is not None:
            step(f"key subsets of size {k}")
        subsets = list(combinations(range(n_keys), k))
        shares = [subsets[t :: len(workers)] for t in range(len(workers))]

        def search(t: int, k: int = k, level: Any = level, shares: Any = shares) -> list[Any]:
            return [_one_subset(s, level, problem, workers[t], keep=k < max_size) for s in shares[t]]

        found = [one for share in run(search, range(len(workers))) for one in share]
        counts |= {s: n for s, n, _ in sorted(found, key=lambda one: one[0]) if n}
        level = {s: node for s, _, node in found if node is not None}
    return counts


def _problem(codes: NDArray[Any], size: NDArray[np.int64], absent: NDArray[np.bool_] | None) -> Problem:
    n_cells, spans = codes.shape[1], (codes.max(axis=1, initial=0) + 1).astype(np.int64)
    largest = int(spans.max(initial=1))
    dtype: Any = np.uint8 if largest <= BYTE else np.uint16 if largest <= 1 << 16 else np.int32
    short = np.ascontiguousarray(codes.astype(dtype))
    n_digits = [max(1, -(-int(span - 1).bit_length() // 8)) for span in spans]
    digits = short if largest <= BYTE else _digits(short, n_digits)
    room = np.stack([np.bincount(digit, minlength=BYTE) + 1 for digit in digits])
    everybody = np.full(n_cells + 1, START)
    everybody[:-1] = np.where(size == 1, SINGLE, 0) | np.arange(n_cells, dtype=np.uint32)
    everybody[0] |= START
    gone = np.zeros(codes.shape, bool) if absent is None else absent
    return Problem(
        short,
        digits,
        np.cumsum(room, axis=1) - room,
        np.concatenate([[0], np.cumsum(n_digits)]),
        spans,
        np.concatenate([[0], np.cumsum(spans)]).astype(np.int64),
        size == 1,
        np.stack([_bit_set(~row) for row in gone]),
        everybody,
    )


def _digits(codes: NDArray[Any], n_digits: list[int]) -> NDArray[np.uint8]:
    """The bytes of the codes, low ones first, as many for each key as it has."""
    parts = [code >> (8 * d) & 0xFF for code, n in zip(codes, n_digits, strict=True) for d in range(n)]
    return np.stack(parts).astype(np.uint8)


def _bit_set(flags: NDArray[np.bool_]) -> NDArray[np.uint64]:
    padded = np.zeros(-(-len(flags) // 64) * 64, np.uint8)
    padded[: len(flags)] = flags
    return np.packbits(padded, bitorder="little").view(np.uint64)


def _one_subset(
    subset: tuple[int, ...],
    level: dict[tuple[int, ...], _Node],
    problem: Problem,
    worker: Work,
    *,
    keep: bool,
) -> tuple[tuple[int, ...], int, _Node | None]:
    """Report the minimal uniques of one subset; those still to be told apart, if asked to keep them."""
    parents = [subset[:j] + subset[j + 1 :] for j in range(len(subset))]
    if not all(one in level for one in parents):
        return subset, 0, None
    nodes = [level[one] for one in parents]
    intersect(np.stack([node.cells for node in nodes]), worker.allowed)
    shortest = min(range(len(nodes)), key=lambda j: _length(nodes[j]))
    if _length(nodes[shortest]) * 4 > len(problem.everybody) and _fits_table(subset, problem):
        return _by_table(subset, problem, worker, keep=keep)
    parent, key = nodes[shortest], subset[shortest]
    if parent.listed is None:
        parent.listed = _list_by_group(parent, problem, worker)
    np.bitwise_and(worker.allowed, problem.present[key], out=worker.allowed)
    n_out, n_alone = _split_by(parent.listed, key, worker.allowed, problem, worker, prune=True)
    _report(subset, worker.alone[:n_alone], problem, worker)
    if not keep or n_out == 1:
        return subset, n_alone, None
    return subset, n_alone, _Node(subset, worker.allowed.copy(), worker.out[:n_out].copy())


def _length(node: _Node) -> float:
    return np.inf if node.listed is None else len(node.listed)


def _fits_table(subset: tuple[int, ...], problem: Problem) -> bool:
    return float(np.prod(problem.spans[list(subset)].astype(float))) <= TABLE


def _by_table(
    subset: tuple[int, ...], problem: Problem, worker: Work, *, keep: bool
) -> tuple[tuple[int, ...], int, _Node | None]:
    chosen = np.array(subset)
    strides = np.concatenate([[1], np.cumprod(problem.spans[chosen])]).astype(np.int64)
    present = np.bitwise_and.reduce(problem.present[chosen], axis=0)
    n_alone = count_in_table(
        problem.codes, chosen, strides[:-1], present, worker.allowed, problem.single,
        worker.table[: strides[-1]], worker.alone,
    )  # fmt: skip
    alone = worker.alone[:n_alone]
    _report(subset, alone, problem, worker)
    if not keep:
        return subset, n_alone, None
    node = _Node(subset, np.empty_like(worker.allowed))
    without(worker.allowed, present, alone, node.cells)
    return subset, n_alone, node


def _split_by(
    listed: NDArray[np.uint32],
    key: int,
    allowed: NDArray[np.uint64],
    problem: Problem,
    worker: Work,
    *,
    prune: bool,
) -> tuple[int, int]:
    mine = slice(problem.digits_of[key], problem.digits_of[key + 1])
    found: tuple[int, int] = split(
        listed, prune, allowed, problem.digits[mine], problem.begins[mine], worker.ends, worker.dealt,
        worker.out, worker.alone,
    )  # fmt: skip
    return found


def _list_by_group(node: _Node, problem: Problem, worker: Work) -> NDArray[np.uint32]:
    """The list of a node that was counted in a table: everybody, split key by key.

    Only its own cells are in the list, so that groups on the way to it are not whole: none may be left out for
    not being split.
    """
    listed, cells = problem.everybody, node.cells.copy()
    for key in node.subset:
        n_out, _ = _split_by(listed, key, cells, problem, worker, prune=False)
        listed = worker.out[:n_out].copy()
    return listed


def _report(subset: tuple[int, ...], alone: NDArray[np.uint32], problem: Problem, worker: Work) -> None:
    book(
        alone, len(subset) - 1, np.array(subset), problem.codes, problem.offsets, worker.by_size,
        worker.level_counts,
    )  # fmt: skip
