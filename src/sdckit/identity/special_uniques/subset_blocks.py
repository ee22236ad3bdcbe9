"""The order in which subsets of keys are searched: in blocks, so that few lists are kept at a time.

A subset needs the bit sets of its parts, which are small, and the list of one of them, which is long. The keys of
most levels are fixed: a block holds all subsets with the same of these. Blocks come in the order of binary numbers,
so that all parts of a subset lie in its own block or before it; its list is made from one in its own block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from sdckit.identity.special_uniques.minimal_search import Level, Lists, Problem, Work, search_level
from sdckit.numerics.threads import run

ROOM = 1 << 28  # bytes of the lists of a block, where blocks can be made so small
MOST_FIXED = 6  # keys: beyond, a block has hardly a subset
Subset = tuple[int, ...]


def _widest(n_keys: int, max_size: int) -> int:
    """Lists of two sizes that follow each other, at most."""
    kept = [comb(n_keys, k) for k in range(1, max_size)] or [1]
    return max(a + b for a, b in zip([0, *kept], kept, strict=False))


def n_fixed(n_keys: int, n_cells: int, max_size: int) -> int:
    """How many keys are fixed in a block, so that its lists find room.

    >>> n_fixed(10, 1000, 10), n_fixed(10, 843_000, 10), n_fixed(2, 10**9, 2)
    (0, 3, 1)
    """
    for fixed in range(min(MOST_FIXED, n_keys - 1) + 1):
        if 4 * n_cells * _widest(n_keys - fixed, max_size) <= ROOM:
            return fixed
    return min(MOST_FIXED, n_keys - 1)


def bytes_of_blocks(n_keys: int, n_cells: int, max_size: int) -> int:
    """Bytes of the lists and bit sets that are held at most, lists being as long as they can be."""
    fixed = n_fixed(n_keys, n_cells, max_size)
    lists = _widest(n_keys - fixed, max_size) + (1 << fixed)
    sets = 1 + sum(comb(n_keys, k) for k in range(1, max_size))
    return 4 * n_cells * lists + (n_cells // 8 + 8) * sets


@dataclass(eq=False)
class _Search:
    """What is searched, and what has been found: the bit set of each subset, the cells alone on it."""

    problem: Problem
    workers: list[Work]
    max_size: int
    sets: NDArray[np.uint64]
    rows: dict[Subset, int] = field(default_factory=lambda: {(): 0})
    counts: dict[Subset, int] = field(default_factory=dict)

    def level(self, subsets: list[Subset], below: dict[Subset, int], lists: Lists) -> Lists:
        """Search subsets of one size; `below` says which of the `lists` is that of a part."""
        size, keep = len(subsets[0]), len(subsets[0]) < self.max_size
        parts = [[one[:j] + one[j + 1 :] for j in range(size)] for one in subsets]
        shortest = [
            min((j for j in range(size) if of[j] in below), key=lambda j, of=of: lists.lengths[below[of[j]]])  # type: ignore[misc]
            for of in parts
        ]
        listed = np.array([below[of[j]] for of, j in zip(parts, shortest, strict=True)])
        length = lists.lengths[listed]
        room = np.concatenate([[0], np.cumsum(length)])  # a list is at most as long as that it is made from
        if keep:
            for one in subsets:
                self.rows[one] = len(self.rows)
        level = Level(
            np.array(subsets),
            np.array([[self.rows[part] for part in of] for of in parts]),
            listed,
            np.array([one[j] for one, j in zip(subsets, shortest, strict=True)]),
            np.array([self.rows.get(one, 0) for one in subsets]),
            np.zeros(len(subsets), np.int64),
        )
        lengths = np.zeros(len(subsets), np.int64)
        made = Lists(room, lengths, np.empty(room[-1] if keep else 0, np.uint32))
        order = np.argsort(-length, kind="stable")  # long ones first, so that the threads end together

        def search(t: int) -> None:
            mine = np.ascontiguousarray(
                order[t :: len(self.workers)]
            )  # one kind of array, one compiled kernel
            search_level(mine, level, lists, self.sets, keep, self.problem, self.workers[t], made)

        run(search, range(min(len(self.workers), len(subsets))))
        self.counts |= {one: int(n) for one, n in zip(subsets, level.found, strict=True) if n}
        return made


def search_blocks(
    problem: Problem, workers: list[Work], max_size: int, step: Callable[[str], None] | None
) -> dict[Subset, int]:
    """Search all subsets up to a size; how many cells are alone on each, where any are."""
    n_keys, n_cells = problem.codes.shape
    fixed = n_fixed(n_keys, n_cells, max_size)
    by_levels = np.argsort(-problem.spans, kind="stable").tolist()
    chosen, free = by_levels[:fixed], sorted(by_levels[fixed:])
    kept, words = 1 + sum(comb(n_keys, k) for k in range(1, max_size)), -(-n_cells // 64)
    sets = np.empty((kept, words), np.uint64)
    sets[0] = 0xFFFFFFFFFFFFFFFF
    search = _Search(problem, workers, max_size, sets)
    roots: dict[Subset, NDArray[np.uint32]] = {(): problem.everybody}
    blocks = [
        tuple(sorted(key for bit, key in enumerate(chosen) if one >> bit & 1)) for one in range(1 << fixed)
    ]
    blocks = [block for block in blocks if len(block) <= max_size]
    for number, block in enumerate(blocks, 1):
        if step is not None and len(blocks) > 1:
            step(f"key subsets, part {number} of {len(blocks)}")
        _search_block(search, block, free, roots, step if len(blocks) == 1 else None)
    return dict(sorted(search.counts.items(), key=lambda one: (len(one[0]), one[0])))


def _search_block(
    search: _Search, block: Subset, free: list[int], roots: dict[Subset, NDArray[np.uint32]],
    step: Callable[[str], None] | None,
) -> None:  # fmt: skip
    """All subsets that hold these of the fixed keys, size by size."""
    if block:
        parts = [part for part in (block[:j] + block[j + 1 :] for j in range(len(block))) if part in roots]
        lengths = np.array([len(roots[part]) for part in parts])
        lists = Lists(
            np.concatenate([[0], np.cumsum(lengths)]), lengths, np.concatenate([roots[one] for one in parts])
        )
        made = search.level([block], {part: at for at, part in enumerate(parts)}, lists)
        if len(block) == search.max_size:
            return
        roots[block] = made.listed[: made.lengths[0]].copy()
    lists = Lists(np.array([0, len(roots[block])]), np.array([len(roots[block])]), roots[block])
    below: dict[Subset, int] = {block: 0}
    for k in range(1, min(len(free), search.max_size - len(block)) + 1):
        if step is not None:
            step(f"key subsets of size {k}")
        subsets = [tuple(sorted((*block, *more))) for more in combinations(free, k)]
        lists = search.level(subsets, below, lists)
        below = {one: at for at, one in enumerate(subsets)}
