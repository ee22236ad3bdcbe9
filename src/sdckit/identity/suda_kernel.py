"""Kernels of the search for minimal sample uniques: lists of cells by group, bit sets of cells."""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["START", "book", "count_in_table", "intersect", "mark", "search_level", "split", "without"]

START = np.int32(-(1 << 31))  # marks the first cell of a group in a list
SMALL = 24  # groups up to this size are sorted by insertion, larger ones by counting


@njit(cache=True, nogil=True)
def intersect(sets, out):  # type: ignore[no-untyped-def]
    """Cells that are in every one of some bit sets."""
    for b in range(len(out)):
        word = sets[0, b]
        for p in range(1, len(sets)):
            word &= sets[p, b]
        out[b] = word


@njit(cache=True, nogil=True)
def _sort_small(members, codes, n):  # type: ignore[no-untyped-def]
    for r in range(1, n):
        cell, code, at = members[r], codes[r], r
        while at > 0 and codes[at - 1] > code:
            members[at], codes[at] = members[at - 1], codes[at - 1]
            at -= 1
        members[at], codes[at] = cell, code


@njit(cache=True, nogil=True)
def _sort_large(members, codes, n, counts, spare):  # type: ignore[no-untyped-def]
    """Counting sort; `counts` is all zero before and after."""
    top = 0
    for r in range(n):
        counts[codes[r] + 1] += 1
        top = max(top, codes[r] + 1)
    for c in range(1, top + 1):
        counts[c] += counts[c - 1]
    for r in range(n):
        spare[counts[codes[r]]] = members[r]
        counts[codes[r]] += 1
    start = 0
    for c in range(top):
        stop = counts[c]
        for r in range(start, stop):
            members[r], codes[r] = spare[r], c
        start = stop
    counts[: top + 1] = 0


@njit(cache=True, nogil=True)
def _keep_or_report(members, codes, n, single, out, n_out, alone, n_alone):  # type: ignore[no-untyped-def]
    """Runs of equal codes: one cell of one record is unique, runs with such a cell go on, others are dropped."""
    r = 0
    while r < n:
        end, any_single = r + 1, single[members[r]]
        while end < n and codes[end] == codes[r]:
            any_single |= single[members[end]]
            end += 1
        if any_single:
            if end - r == 1:
                alone[n_alone] = members[r]
                n_alone += 1
            else:
                out[n_out] = members[r] | START
                for q in range(r + 1, end):
                    out[n_out + q - r] = members[q]
                n_out += end - r
        r = end
    return n_out, n_alone


@njit(cache=True, nogil=True)
def split(listed, allowed, code, single, members, codes, counts, spare, out, alone):  # type: ignore[no-untyped-def]
    """Split the groups of a parent's list by one more key, among the cells allowed."""
    n_out, n_alone, i = 0, 0, 0
    while i < len(listed):
        n, first = 0, True
        while i < len(listed) and (first or listed[i] >= 0):
            cell = listed[i] & np.int32(0x7FFFFFFF)
            if (allowed[cell >> 6] >> np.uint64(cell & 63)) & np.uint64(1):
                members[n], codes[n] = cell, code[cell]
                n += 1
            first = False
            i += 1
        if n == 2:
            if codes[0] == codes[1]:
                if single[members[0]] | single[members[1]]:
                    out[n_out], out[n_out + 1] = members[0] | START, members[1]
                    n_out += 2
            else:
                for r in range(2):
                    if single[members[r]]:
                        alone[n_alone] = members[r]
                        n_alone += 1
            continue
        if n > SMALL:
            _sort_large(members, codes, n, counts, spare)
        elif n > 1:
            _sort_small(members, codes, n)
        n_out, n_alone = _keep_or_report(members, codes, n, single, out, n_out, alone, n_alone)
    return n_out, n_alone


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
def mark(listed, out):  # type: ignore[no-untyped-def]
    """Bit set of the cells of a list."""
    out[:] = 0
    for r in range(len(listed)):
        cell = listed[r] & np.int32(0x7FFFFFFF)
        out[cell >> 6] |= np.uint64(1) << np.uint64(cell & 63)


@njit(cache=True, nogil=True)
def book(alone, column, chosen, codes, offsets, by_size, level_counts):  # type: ignore[no-untyped-def]
    """Count the minimal uniques of one subset for their cells and for their levels."""
    for r in range(len(alone)):
        by_size[alone[r], column] += 1
        for j in range(len(chosen)):
            level_counts[column, offsets[chosen[j]] + codes[chosen[j], alone[r]]] += 1.0


@njit(cache=True, nogil=True)
def search_level(  # type: ignore[no-untyped-def]
    first, step, subsets, parents, starts, lengths, listed, sets, codes, present, single, offsets, keep, room,
    members, member_codes, counts, spare, scratch, alone, allowed, by_size, level_counts,
    new_lengths, new_listed, new_sets, found,
):  # fmt: skip
    """Every `step`-th subset of one size from number `first` on, from the lists and sets of the size below."""
    size = subsets.shape[1]
    for s in range(first, len(subsets), step):
        shortest = 0
        for j in range(1, size):
            if lengths[parents[s, j]] < lengths[parents[s, shortest]]:
                shortest = j
        parent, key = parents[s, shortest], subsets[s, shortest]
        for b in range(len(allowed)):
            word = present[key, b]
            for j in range(size):
                word &= sets[parents[s, j], b]
            allowed[b] = word
        mine = listed[starts[parent] : starts[parent] + lengths[parent]]
        out = new_listed[room[s] : room[s + 1]] if keep else scratch
        n_out, n_alone = split(
            mine, allowed, codes[key], single, members, member_codes, counts, spare, out, alone
        )
        book(alone[:n_alone], size - 1, subsets[s], codes, offsets, by_size, level_counts)
        found[s] = n_alone
        if keep:
            new_lengths[s] = n_out
            mark(out[:n_out], new_sets[s])
