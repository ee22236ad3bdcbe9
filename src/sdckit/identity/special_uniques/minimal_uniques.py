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

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdckit.errors import DataError
from sdckit.numerics.compiling import njit
from sdckit.numerics.threads import n_threads, run

# Kernels of the search for minimal sample uniques: lists of cells by group, bit sets of cells.
# A list holds cell numbers, the cells of a group side by side. START marks the first cell of each group,
# and one more entry that ends the list; SINGLE marks cells of one record.


START = np.uint32(1 << 31)
SINGLE = np.uint32(1 << 30)
CELL = np.uint32((1 << 30) - 1)  # the bits of the cell number

# Unsigned 64-bit numbers all through: an index that may be negative, and mixed widths, cost at each use.
ZERO, ONE, ALL = np.uint64(0), np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)
NUMBER, FLAGGED = np.uint64(CELL), np.uint64(CELL | SINGLE)
WORD, BIT, HALF = np.uint64(6), np.uint64(63), np.uint64(32)
ONLY, HEAD = np.uint64(30), np.uint64(31)  # the bits of SINGLE and START
NEVER = np.uint32(0xFFFFFFFF)  # larger than every entry of a list


class Problem(NamedTuple):
    """Input of the search: codes, the same as bytes, and where the stacks (buckets) of each byte begin."""

    codes: NDArray[Any]
    digits: NDArray[np.uint8]
    begins: NDArray[np.int64]
    digits_of: NDArray[np.int64]
    spans: NDArray[np.int64]
    offsets: NDArray[np.int64]
    single: NDArray[np.bool_]
    present: NDArray[np.uint64]
    everybody: NDArray[np.uint32]


class Work(NamedTuple):
    """Buffers of one thread, and its counts."""

    table: NDArray[np.uint8]
    dealt: NDArray[np.uint64]
    ends: NDArray[np.int64]
    out: NDArray[np.uint32]
    alone: NDArray[np.uint32]
    allowed: NDArray[np.uint64]
    by_size: NDArray[np.uint32]
    level_counts: NDArray[np.float64]


class Level(NamedTuple):
    """Subsets of one size: rows of their parents' bit sets, the list each is split from, by which key, its own row.

    `n_alone`: cells alone on each subset, filled in by the search.
    """

    subsets: NDArray[np.int64]
    parents: NDArray[np.int64]
    listed: NDArray[np.int64]
    keys: NDArray[np.int64]
    own: NDArray[np.int64]
    n_alone: NDArray[np.int64]


class Lists(NamedTuple):
    """Lists of several subsets end to end: start and length of each."""

    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    listed: NDArray[np.uint32]


@njit(cache=True, nogil=True)
def intersect(sets, out):  # type: ignore[no-untyped-def]
    """Intersect bit sets: rows of `sets` (P, W) into `out` (W,)."""
    for b in range(len(out)):
        word = sets[0, b]
        for p in range(1, len(sets)):
            word &= sets[p, b]
        out[b] = word


@njit(cache=True, nogil=True)
def _deal(listed, allowed, code, begins, ends, dealt):  # type: ignore[no-untyped-def]
    """Distribute the allowed cells of a list into stacks by code, each with the start of its group in the list.

    A stack has room for all cells with its code and one more, so that a cell can be written before it is asked
    whether it is allowed: a branch would be guessed wrong too often.
    """
    for stack in range(len(ends)):  # a slice would bring numba's check of shapes, which takes seconds to compile
        ends[stack] = begins[stack]
    group = ZERO
    for i in range(len(listed) - 1):
        entry = np.uint64(listed[i])
        cell = entry & NUMBER
        group = np.uint64(i) if entry >> HEAD else group
        stack = code[cell]
        end = np.uint64(ends[stack])
        dealt[end] = (group << HALF) | (entry & FLAGGED)
        ends[stack] = end + ((allowed[cell >> WORD] >> (cell & BIT)) & ONE)


@njit(cache=True, nogil=True)
def _collect(listed, whole, begins, ends, dealt, allowed, out, alone, n_alone):  # type: ignore[no-untyped-def]
    """Write the stacks' runs of one group to `out`: the groups of the subset with one more key.

    A run of one cell of one record is unique. A run of several goes on, unless no cell in it is of one record,
    so that none can become unique, or it is a whole group of the parent (what follows in the list is `whole` or
    more): on every larger subset these cells stay together just as much without the new key, so that no subset
    with it is minimal for them. All that do not go on leave the allowed.
    """
    n_out = ZERO
    for stack in range(len(begins)):
        first, stop = begins[stack], ends[stack]
        if first == stop:
            continue
        dealt[stop] = ALL
        start, marks, head, here = n_out, ZERO, ONE, dealt[first]
        for i in range(first, stop):
            after = dealt[np.uint64(i) + ONE]
            marks |= here
            out[n_out] = (here & FLAGGED) | (head << HEAD)
            n_out += ONE
            group = here >> HALF
            last = group != after >> HALF
            length = n_out - start
            ends_here = (marks >> ONLY) & ONE == ZERO
            ends_here |= length == ONE
            ends_here |= listed[group + length] >= whole
            if last & ends_here:
                if length == ONE and (here >> ONLY) & ONE:
                    alone[n_alone] = here & NUMBER
                    n_alone += ONE
                for r in range(start, n_out):
                    cell = np.uint64(out[r]) & NUMBER
                    allowed[cell >> WORD] &= ~(ONE << (cell & BIT))
                n_out = start
            head = np.uint64(last)
            marks = ZERO if last else marks
            start = n_out if last else start
            here = after
    return n_out, n_alone


@njit(cache=True, nogil=True)
def split(listed, prune, allowed, digits, begins, ends, dealt, out, alone):  # type: ignore[no-untyped-def]
    """Split the groups of a parent's list by one more key, among the cells allowed.

    They are allowed no more where they are found alone or can be left out from here on (`prune`: also for being
    a whole group of the parent). The key is given by the bytes of its codes, low ones first, and where the stacks
    of each byte begin. `out` may be as long as the list. Gives how much of it is used, and how many are alone.
    """
    n_out, n_alone = ZERO, ZERO
    whole = START if prune and len(digits) == 1 else NEVER
    for d in range(len(digits)):
        _deal(listed, allowed, digits[d], begins[d], ends, dealt)
        n_out, n_alone = _collect(listed, whole, begins[d], ends, dealt, allowed, out, alone, n_alone)
        out[n_out] = START
        listed = out[: n_out + ONE]
    return n_out + ONE, n_alone


@njit(cache=True, nogil=True)
def count_in_table(codes, chosen, strides, present, allowed, single, table, alone):  # type: ignore[no-untyped-def]
    """Write the allowed cells alone on a subset to `alone`; return their number.

    Counts all cells present in `table` (0, 1, more), indexed by the `strides` of the `chosen` keys; leaves it zero.
    """
    n_cells, n_alone = codes.shape[1], 0
    for i in range(n_cells):
        if (present[i >> 6] >> np.uint64(i & 63)) & np.uint64(1):
            at = 0
            for j in range(len(chosen)):
                at += codes[chosen[j], i] * strides[j]
            table[at] = min(2, table[at] + (1 if single[i] else 2))
    any_single = False
    for at in range(len(table)):
        any_single |= table[at] == 1
    if any_single:
        for i in range(n_cells):
            if single[i] and (present[i >> 6] & allowed[i >> 6]) >> np.uint64(i & 63) & np.uint64(1):
                at = 0
                for j in range(len(chosen)):
                    at += codes[chosen[j], i] * strides[j]
                if table[at] == 1:
                    alone[n_alone] = i
                    n_alone += 1
    table[:] = 0
    return n_alone


@njit(cache=True, nogil=True)
def without(cells, present, alone, out):  # type: ignore[no-untyped-def]
    """Intersect two bit sets into `out`, without the cell numbers in `alone`."""
    for b in range(len(out)):
        out[b] = cells[b] & present[b]
    for r in range(len(alone)):
        out[alone[r] >> 6] &= ~(np.uint64(1) << np.uint64(alone[r] & 63))


@njit(cache=True, nogil=True)
def book(alone, column, chosen, codes, offsets, by_size, level_counts):  # type: ignore[no-untyped-def]
    """Add the minimal uniques of one subset (`alone`, cell numbers) to the counts by cell and by level."""
    for r in range(len(alone)):
        by_size[alone[r], column] += 1
    for j in range(len(chosen)):
        key = chosen[j]
        for r in range(len(alone)):
            level_counts[column, offsets[key] + codes[key, alone[r]]] += 1.0


@njit(cache=True, nogil=True)
def search_level(order, level, below, sets, keep, problem, work, made):  # type: ignore[no-untyped-def]
    """Search subsets of one size, from the lists and bit sets of their parents; keep their own if asked (`keep`)."""
    _, dealt, ends, scratch, alone, left, by_size, level_counts = work
    size, digits_of = level.subsets.shape[1], problem.digits_of
    for s in order:
        parent, key = level.listed[s], level.keys[s]
        allowed = sets[level.own[s]] if keep else left
        for b in range(len(allowed)):
            allowed[b] = problem.present[key, b]
        for j in range(size):
            for b in range(len(allowed)):
                allowed[b] &= sets[level.parents[s, j], b]
        mine = below.listed[below.starts[parent] : below.starts[parent] + below.lengths[parent]]
        by = slice(digits_of[key], digits_of[key + 1])
        out = made.listed[made.starts[s] : made.starts[s + 1]] if keep else scratch
        digits, begins = problem.digits[by], problem.begins[by]
        n_out, n_alone = split(mine, True, allowed, digits, begins, ends, dealt, out, alone)
        book(alone[:n_alone], size - 1, level.subsets[s], problem.codes, problem.offsets, by_size, level_counts)
        level.n_alone[s] = n_alone
        if keep:
            made.lengths[s] = n_out


# The order in which subsets of keys are searched: in blocks, so that few lists are kept at a time.
# A subset needs the bit sets of its parts, which are small, and the list of one of them, which is long.
# The keys of most levels are fixed: a block holds all subsets with the same of these. Blocks come in the
# order of binary numbers, so that all parts of a subset lie in its own block or before it; its list is
# made from one in its own block.


ROOM = 1 << 28  # bytes of the lists of a block, where blocks can be made so small
MOST_FIXED = 6  # keys: beyond, a block has hardly a subset
Subset = tuple[int, ...]


def _widest(n_keys: int, max_size: int) -> int:
    """Largest number of lists of two consecutive sizes."""
    kept = [comb(n_keys, k) for k in range(1, max_size)] or [1]
    return max(a + b for a, b in zip([0, *kept], kept, strict=False))


def n_fixed(n_keys: int, n_cells: int, max_size: int) -> int:
    """Number of keys fixed in a block, so that its lists fit into memory.

    >>> n_fixed(10, 1000, 10), n_fixed(10, 843_000, 10), n_fixed(2, 10**9, 2)
    (0, 3, 1)
    """
    most = min(MOST_FIXED, n_keys - 1)
    return next((n for n in range(most) if 4 * n_cells * _widest(n_keys - n, max_size) <= ROOM), most)


def bytes_of_blocks(n_keys: int, n_cells: int, max_size: int) -> int:
    """Upper bound in bytes of the lists and bit sets held at a time."""
    fixed = n_fixed(n_keys, n_cells, max_size)
    lists = _widest(n_keys - fixed, max_size) + (1 << fixed)
    sets = 1 + sum(comb(n_keys, k) for k in range(1, max_size))
    return 4 * n_cells * lists + (n_cells // 8 + 8) * sets


@dataclass(eq=False)
class _Search:
    """State of the search: the problem, the bit set of each subset, the number of cells alone on it."""

    problem: Problem
    workers: list[Work]
    max_size: int
    sets: NDArray[np.uint64]
    rows: dict[Subset, int] = field(default_factory=lambda: {(): 0})
    counts: dict[Subset, int] = field(default_factory=dict)

    def level(self, subsets: list[Subset], below: dict[Subset, int], lists: Lists) -> Lists:
        """Search subsets of one size; `below` gives the index in `lists` of a parent's list."""
        size, keep = len(subsets[0]), len(subsets[0]) < self.max_size
        parts = [[subset[:j] + subset[j + 1 :] for j in range(size)] for subset in subsets]
        shortest = [
            min((j for j in range(size) if of[j] in below), key=lambda j, of=of: lists.lengths[below[of[j]]])  # type: ignore[misc]
            for of in parts
        ]
        listed = np.array([below[of[j]] for of, j in zip(parts, shortest, strict=True)])
        length = lists.lengths[listed]
        room = np.concatenate([[0], np.cumsum(length)])  # a list is at most as long as that it is made from
        if keep:
            for subset in subsets:
                self.rows[subset] = len(self.rows)
        level = Level(
            np.array(subsets),
            np.array([[self.rows[part] for part in of] for of in parts]),
            listed,
            np.array([subset[j] for subset, j in zip(subsets, shortest, strict=True)]),
            np.array([self.rows.get(subset, 0) for subset in subsets]),
            np.zeros(len(subsets), np.int64),
        )
        made = Lists(room, np.zeros(len(subsets), np.int64), np.empty(room[-1] if keep else 0, np.uint32))
        order = np.argsort(-length, kind="stable")  # long ones first, so that the threads end together

        def search(t: int) -> None:
            mine = np.ascontiguousarray(order[t :: len(self.workers)])  # one kind of array, one compiled kernel
            search_level(mine, level, lists, self.sets, keep, self.problem, self.workers[t], made)

        run(search, range(min(len(self.workers), len(subsets))))
        self.counts |= {subset: int(n) for subset, n in zip(subsets, level.n_alone, strict=True) if n}
        return made


def search_blocks(
    problem: Problem, workers: list[Work], max_size: int, step: Callable[[str], None] | None
) -> dict[Subset, int]:
    """Search all subsets up to a size; number of cells alone on each, where there are any."""
    n_keys, n_cells = problem.codes.shape
    fixed = n_fixed(n_keys, n_cells, max_size)
    by_levels = np.argsort(-problem.spans, kind="stable").tolist()
    chosen, free = by_levels[:fixed], sorted(by_levels[fixed:])
    kept, words = 1 + sum(comb(n_keys, k) for k in range(1, max_size)), -(-n_cells // 64)
    sets = np.empty((kept, words), np.uint64)
    sets[0] = 0xFFFFFFFFFFFFFFFF
    search = _Search(problem, workers, max_size, sets)
    roots: dict[Subset, NDArray[np.uint32]] = {(): problem.everybody}
    blocks = [tuple(sorted(key for bit, key in enumerate(chosen) if mask >> bit & 1)) for mask in range(1 << fixed)]
    blocks = [block for block in blocks if len(block) <= max_size]
    for number, block in enumerate(blocks, 1):
        if step is not None and len(blocks) > 1:
            step(f"key subsets, part {number} of {len(blocks)}")
        _search_block(search, block, free, roots, step if len(blocks) == 1 else None)
    return dict(sorted(search.counts.items(), key=lambda entry: (len(entry[0]), entry[0])))


def _search_block(
    search: _Search, block: Subset, free: list[int], roots: dict[Subset, NDArray[np.uint32]],
    step: Callable[[str], None] | None,
) -> None:  # fmt: skip
    """Search all subsets that contain exactly these of the fixed keys, size by size."""
    if block:
        parts = [part for part in (block[:j] + block[j + 1 :] for j in range(len(block))) if part in roots]
        lengths = np.array([len(roots[part]) for part in parts])
        starts = np.concatenate([[0], np.cumsum(lengths)])
        lists = Lists(starts, lengths, np.concatenate([roots[part] for part in parts]))
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
        below = {subset: at for at, subset in enumerate(subsets)}


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
    """Upper bound in bytes of what a search up to `max_size` holds at a time, in blocks where that needs less."""
    return min(_needed(n_keys, n_cells, max_size, n_levels, by_nodes=by_nodes) for by_nodes in (False, True))


def _needed(n_keys: int, n_cells: int, max_size: int, n_levels: int, *, by_nodes: bool) -> int:
    if by_nodes:
        lists = _widest(n_keys, max_size) * (4 * n_cells + n_cells // 8) if n_cells >= MANY_CELLS else sys.maxsize
    else:
        lists = bytes_of_blocks(n_keys, n_cells, max_size)
    return lists + n_threads() * ((4 * max_size + 24) * n_cells + 8 * max_size * n_levels) + 4 * n_keys * n_cells


def largest_size(n_keys: int, n_cells: int, limit: int = MEMORY_LIMIT, n_levels: int = 0) -> int:
    """The largest `max_size` that surely fits into memory, 0 if none does."""
    too_large = (k for k in range(1, n_keys + 1) if memory_needed(n_keys, n_cells, k, n_levels) > limit)
    return next(too_large, n_keys + 1) - 1


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
    """The cells that are not alone on a subset: as a bit set, and, on demand, as a list by group."""

    subset: tuple[int, ...]
    cells: NDArray[np.uint64]
    listed: NDArray[np.uint32] | None = None


def find_minimal_uniques(
    codes: NDArray[Any], size: NDArray[np.int64], *, max_size: int, absent: NDArray[np.bool_] | None = None,
    limit: int = MEMORY_LIMIT, step: Callable[[str], None] | None = None,
) -> MinimalUniques:  # fmt: skip
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
    by_nodes = _needed(n_keys, n_cells, max_size, n_levels, by_nodes=True) <= limit
    search = _by_nodes if by_nodes else search_blocks
    counts = search(problem, workers, max_size, step)
    by_size = workers[0].by_size
    for worker in workers[1:]:
        by_size += worker.by_size
    return MinimalUniques(by_size, counts, np.sum([worker.level_counts for worker in workers], axis=0))


def _by_nodes(
    problem: Problem, workers: list[Work], max_size: int, step: Callable[[str], None] | None
) -> dict[tuple[int, ...], int]:
    """Search subset by subset, by a counting table where that is faster; lists are made on demand."""
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

        reports = [report for share in run(search, range(len(workers))) for report in share]
        counts |= {s: n for s, n, _ in sorted(reports, key=lambda report: report[0]) if n}
        level = {s: node for s, _, node in reports if node is not None}
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
    subset: tuple[int, ...], level: dict[tuple[int, ...], _Node], problem: Problem, worker: Work, *, keep: bool
) -> tuple[tuple[int, ...], int, _Node | None]:
    """Report the minimal uniques of one subset; return also the cells still not alone, where `keep`."""
    parents = [subset[:j] + subset[j + 1 :] for j in range(len(subset))]
    if not all(parent in level for parent in parents):
        return subset, 0, None
    nodes = [level[parent] for parent in parents]
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
    listed: NDArray[np.uint32], key: int, allowed: NDArray[np.uint64], problem: Problem, worker: Work, *, prune: bool
) -> tuple[int, int]:
    mine = slice(problem.digits_of[key], problem.digits_of[key + 1])
    counts: tuple[int, int] = split(
        listed, prune, allowed, problem.digits[mine], problem.begins[mine], worker.ends, worker.dealt,
        worker.out, worker.alone,
    )  # fmt: skip
    return counts


def _list_by_group(node: _Node, problem: Problem, worker: Work) -> NDArray[np.uint32]:
    """The list of a node that was counted in a table: the list of all cells, split key by key.

    Only its own cells are in the list, so that groups on the way to it are not whole: none may be left out for
    not being split.
    """
    listed, cells = problem.everybody, node.cells.copy()
    for key in node.subset:
        n_out, _ = _split_by(listed, key, cells, problem, worker, prune=False)
        listed = worker.out[:n_out].copy()
    return listed


def _report(subset: tuple[int, ...], alone: NDArray[np.uint32], problem: Problem, worker: Work) -> None:
    book(alone, len(subset) - 1, np.array(subset), problem.codes, problem.offsets, worker.by_size, worker.level_counts)
