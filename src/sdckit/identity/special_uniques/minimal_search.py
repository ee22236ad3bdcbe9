"""Kernels of the search for minimal sample uniques: lists of cells by group, bit sets of cells.

A list holds cell numbers, the cells of a group side by side. START marks the first cell of each group, and one
more entry that ends the list; SINGLE marks cells of one record.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.compiling import njit

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
    """What every subset is searched in: codes, also as bytes, and where the stacks of each byte begin."""

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
    """What one thread works in, and what it has counted."""

    table: NDArray[np.uint8]
    dealt: NDArray[np.uint64]
    ends: NDArray[np.int64]
    out: NDArray[np.uint32]
    alone: NDArray[np.uint32]
    allowed: NDArray[np.uint64]
    by_size: NDArray[np.uint32]
    level_counts: NDArray[np.float64]


class Level(NamedTuple):
    """Subsets of a size: their parents' rows of bit sets, the list each is made from and by which key, its own row.

    And how many cells are alone on each.
    """

    subsets: NDArray[np.int64]
    parents: NDArray[np.int64]
    listed: NDArray[np.int64]
    keys: NDArray[np.int64]
    own: NDArray[np.int64]
    found: NDArray[np.int64]


class Lists(NamedTuple):
    """Lists of subsets, end to end, where each begins and how long it is."""

    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    listed: NDArray[np.uint32]


@njit(cache=True, nogil=True)
def intersect(sets, out):  # type: ignore[no-untyped-def]
    """Cells that are in every one of some bit sets."""
    for b in range(len(out)):
        word = sets[0, b]
        for p in range(1, len(sets)):
            word &= sets[p, b]
        out[b] = word


@njit(cache=True, nogil=True)
def _deal(listed, allowed, code, begins, ends, dealt):  # type: ignore[no-untyped-def]
    """Deal the allowed cells of a list into stacks by code, each with where its group begins in the list.

    A stack has room for all cells with its code and one more, so that a cell can be written before it is asked
    whether it is allowed: a branch would be guessed wrong too often.
    """
    for stack in range(
        len(ends)
    ):  # a slice would bring numba's check of shapes, which takes seconds to compile
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
    """List the stacks' runs of one group: they are the groups of the subset with one more key.

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
    """Cells alone on a subset and allowed, by counting all cells in a table of 0, 1 and more; leaves it zero."""
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
    """Cells of two bit sets but for those found alone."""
    for b in range(len(out)):
        out[b] = cells[b] & present[b]
    for r in range(len(alone)):
        out[alone[r] >> 6] &= ~(np.uint64(1) << np.uint64(alone[r] & 63))


@njit(cache=True, nogil=True)
def book(alone, column, chosen, codes, offsets, by_size, level_counts):  # type: ignore[no-untyped-def]
    """Count the minimal uniques of one subset for their cells and for their levels."""
    for r in range(len(alone)):
        by_size[alone[r], column] += 1
    for j in range(len(chosen)):
        key = chosen[j]
        for r in range(len(alone)):
            level_counts[column, offsets[key] + codes[key, alone[r]]] += 1.0


@njit(cache=True, nogil=True)
def search_level(order, level, below, sets, keep, problem, work, made):  # type: ignore[no-untyped-def]
    """Some subsets of one size, from lists and the bit sets of their parts; theirs are kept, if asked for."""
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
        book(
            alone[:n_alone], size - 1, level.subsets[s], problem.codes, problem.offsets, by_size, level_counts
        )
        level.found[s] = n_alone
        if keep:
            made.lengths[s] = n_out
