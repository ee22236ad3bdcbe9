"""Sums over the nearest rows of categories and all tied with them, without going through the ties one by one.

Of each set of columns at the last distance the sum over the rows that agree in the others is taken once for all queries
that ask for it. Rows nearer than that, fewer than are asked for, are in several of these sums; they are looked up and
taken off.
"""

from __future__ import annotations

import numpy as np

from sdckit.numerics.array_types import Floats, Words
from sdckit.numerics.compiling import njit
from sdckit.numerics.hashing import find_word, hash_word
from sdckit.numerics.search.agreement import FREE, SLICE, number_groups, room_for
from sdckit.numerics.search.agreement_pairs import deal, differ, parts_of
from sdckit.numerics.search.box_search import Found
from sdckit.numerics.search.column_sets import ColumnSets
from sdckit.numerics.threads import chunks, run


@njit(cache=True, nogil=True)
def _sum_groups(words, kept, keys, number, groups, values, sums):  # type: ignore[no-untyped-def]
    """Sum over the rows of the base in each group of queries."""
    sums[:groups] = 0.0
    for j in range(len(words)):
        word = words[j] & kept
        at = find_word(keys, FREE, word, hash_word(word))
        if keys[at] != FREE:
            g = number[at]
            for v in range(values.shape[1]):
                sums[g, v] += values[j, v]


@njit(cache=True, nogil=True)
def _step_of(total, weight, begins):  # type: ignore[no-untyped-def]
    """Which of the distances a sum is."""
    for c in range(len(begins) - 2):
        if total <= weight[begins[c + 1] - 1]:
            return c
    return len(begins) - 2


@njit(cache=True, nogil=True)
def _supersets(columns, sets, begin, end):  # type: ignore[no-untyped-def]
    """How many of some sets hold all of these columns."""
    n = 0
    for s in range(begin, end):
        n += (columns & ~sets[s]) == 0
    return n


@njit(cache=True, nogil=True)
def _wanted(c, begin, end, found, step, sets, ties, nearer):  # type: ignore[no-untyped-def]
    """Queries whose ties are at a distance, and those that have nearer rows there; how many of each."""
    weight, begins = sets.weight, sets.begins
    n_ties, n_nearer = 0, 0
    for q in range(begin, end):
        if step[q - begin] == c:
            ties[n_ties] = q
            n_ties += 1
        elif step[q - begin] > c:
            for i in range(found.closer[q]):
                if weight[begins[c]] <= found.smallest[q, i] <= weight[begins[c + 1] - 1]:
                    nearer[n_nearer] = q
                    n_nearer += 1
                    break
    return n_ties, n_nearer


@njit(cache=True, nogil=True)
def _sum(base, query, sets, fields, found, values, sums, begin, end):  # type: ignore[no-untyped-def]
    weight, columns, kept, begins, _ = sets
    n, k = end - begin, found.smallest.shape[1]
    keys, number = np.empty(room_for(n), np.uint64), np.empty(room_for(n), np.int32)
    of, members_begin = np.empty(n, np.int32), np.empty(n + 1, np.int32)
    group_of, order = np.empty(len(base), np.int32), np.empty(len(base), np.int32)
    ties, nearer, step = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    of_group = np.empty((n, values.shape[1]))
    for q in range(begin, end):
        step[q - begin] = _step_of(found.smallest[q, k - 1], weight, begins)
    for c in range(step.max() + 1):
        n_ties, n_nearer = _wanted(c, begin, end, found, step, sets, ties, nearer)
        for s in range(begins[c], begins[c + 1]):
            if n_ties > 0:
                places = room_for(n_ties)
                groups = number_groups(query, ties, n_ties, kept[s], keys[:places], number, of)
                _sum_groups(base, kept[s], keys[:places], number, groups, values, of_group)
                for t in range(n_ties):
                    sums[ties[t]] += of_group[of[t]]
            if n_nearer > 0:
                places = room_for(n_nearer)
                groups = number_groups(query, nearer, n_nearer, kept[s], keys[:places], number, of)
                deal(base, kept[s], keys[:places], number, groups, members_begin, group_of, order)
                bits, _ = parts_of(columns[s], fields[0], fields[1])
                for t in range(n_nearer):
                    q, g = nearer[t], of[t]
                    last = step[q - begin]
                    for i in range(members_begin[g], members_begin[g + 1]):
                        if differ(query[q], base[order[i]], bits):
                            often = _supersets(columns[s], columns, begins[last], begins[last + 1])
                            sums[q] -= (often - 1) * values[order[i]]


@njit(cache=True, nogil=True)
def _hand_out(base, query, sets, smallest, given, begin, end, received):  # type: ignore[no-untyped-def]
    """Give what each query has to every row that is nearest to it."""
    weight, _, kept, begins, _ = sets
    n = end - begin
    keys, number = np.empty(room_for(n), np.uint64), np.empty(room_for(n), np.int32)
    of, of_group = np.empty(n, np.int32), np.empty(n)
    ties, step = np.empty(n, np.int64), np.empty(n, np.int64)
    for q in range(begin, end):
        step[q - begin] = _step_of(smallest[q], weight, begins)
    for c in range(step.max() + 1):
        n_ties = 0
        for q in range(begin, end):
            if step[q - begin] == c:
                ties[n_ties] = q
                n_ties += 1
        if n_ties == 0:
            continue
        for s in range(begins[c], begins[c + 1]):
            places = room_for(n_ties)
            groups = number_groups(query, ties, n_ties, kept[s], keys[:places], number, of)
            of_group[:groups] = 0.0
            for t in range(n_ties):
                of_group[of[t]] += given[ties[t]]
            for j in range(len(base)):
                word = base[j] & kept[s]
                at = find_word(keys[:places], FREE, word, hash_word(word))
                if keys[at] != FREE:
                    received[j] += of_group[number[at]]


def shares_agreeing(words: tuple[Words, Words], sets: ColumnSets, found: Found, given: Floats) -> Floats:
    """Add up what the rows of the base are given by the queries they are nearest to, ties included; shape (K,).

    `given` (n,): what each query gives to each of its nearest rows. `found` is of one nearest row per query.
    """
    base, query = words
    smallest = np.ascontiguousarray(found.smallest[:, 0])

    def part(ends: tuple[int, int]) -> Floats:
        received = np.zeros(len(base))
        _hand_out(base, query, sets, smallest, given, *ends, received)
        return received

    total: Floats = np.sum(run(part, chunks(len(query), minimum=SLICE)), axis=0)
    return total


def sums_agreeing(
    words: tuple[Words, Words], fields: tuple[Words, Floats], sets: ColumnSets, found: Found, values: Floats
) -> Floats:
    """Sum `values` (K, v) over the nearest rows of each query, ties included; shape (n, v). No row is left out.

    `words`: packed rows of base and queries. `fields`: bits and weights of the columns. `found` is what `find_agreeing`
    found of these queries.
    """
    base, query = words
    sums = np.zeros((len(query), values.shape[1]))

    def part(ends: tuple[int, int]) -> None:
        _sum(base, query, sets, fields, found, values, sums, *ends)

    run(part, chunks(len(query), minimum=SLICE))
    return sums
