"""Nearest rows of numbers and categories: rows are compared where they agree in all categories but a few.

The sets of columns in which a row may differ are gone through by ascending weight. A query is finished where rows that
differ in more columns are too far, whatever their numbers; of rows that meet, those within reach in one number are
compared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Floats, Ints, Words
from sdckit.numerics.coding import Metric, find_word, hash_word
from sdckit.numerics.compiling import njit
from sdckit.numerics.search.agreement import FREE, SLICE, Base, ColumnSets, number_groups, room_for
from sdckit.numerics.search.box_search import Answers, Limits, Visited, add, farther, insert, tally, widened
from sdckit.numerics.threads import chunks, run

EXHAUSTED = 20_000  # rows compared with a query, after which the tree is asked
PAIRS = 1000  # by which the column is chosen whose values order the rows


class NumberedRows(NamedTuple):
    """Distinct rows by ascending values of one number, `lead`; `numbers` (K, p) row by row."""

    base: Base
    numbers: Floats
    lead: Floats


@njit(cache=True, nogil=True)
def deal(words, kept, keys, number, groups, begins, group_of, order):  # type: ignore[no-untyped-def]
    """Rows of the base by group of queries, in their own order within each; those in no group are left out."""
    begins[: groups + 1] = 0
    for j in range(len(words)):
        word = words[j] & kept
        at = find_word(keys, FREE, word, hash_word(word))
        group_of[j] = -1
        if keys[at] != FREE:
            group_of[j] = number[at]
            begins[number[at] + 1] += 1
    for g in range(groups):
        begins[g + 1] += begins[g]
    for j in range(len(words)):
        g = group_of[j]
        if g >= 0:
            order[begins[g]] = j
            begins[g] += 1
    for g in range(groups, 0, -1):
        begins[g] = begins[g - 1]
    begins[0] = 0


@njit(cache=True, nogil=True, inline="always")
def _note(total, copies, row, tolerance, low, high, size, first):  # type: ignore[no-untyped-def]
    """Put rows at a distance to those equally far, of which the nearest few are kept, ascending."""
    at = 0
    while at < len(low) and size[at] > 0 and total > high[at] + tolerance:
        at += 1
    if at == len(low):
        return
    if size[at] == 0 or total < low[at] - tolerance:
        for i in range(len(low) - 1, at, -1):
            low[i], high[i], size[i], first[i] = low[i - 1], high[i - 1], size[i - 1], first[i - 1]
        low[at], high[at], size[at], first[at] = total, total, copies, row
    else:
        low[at], high[at] = min(low[at], total), max(high[at], total)
        size[at] += copies
        first[at] = min(first[at], row)


@njit(cache=True, nogil=True)
def _settle(q, k, tolerance, low, high, size, first, answers):  # type: ignore[no-untyped-def]
    """Read the counts off; where distances are neither equal nor clearly apart the tree is asked."""
    before = 0
    for at in range(len(low)):
        apart = at + 1 == len(low) or size[at + 1] == 0 or low[at + 1] - high[at] > 2 * tolerance
        if high[at] - low[at] > tolerance / 4 or not apart:
            break
        if before + size[at] >= k:
            answers.closer[q], answers.tied[q], answers.nearest[q] = before, size[at], first[0]
            return
        before += size[at]
    answers.tied[q] = -1


@njit(cache=True, nogil=True)
def parts_of(columns, fields, weights):  # type: ignore[no-untyped-def]
    """The bits in a packed row and the weight of each column of a set."""
    n = 0
    bits, weight = np.empty(len(fields), np.uint64), np.empty(len(fields))
    for j in range(len(fields)):
        if (columns >> np.uint64(j)) & np.uint64(1):
            bits[n], weight[n] = fields[j], weights[j]
            n += 1
    return bits[:n], weight[:n]


@njit(cache=True, nogil=True, inline="always")
def differ(word, other, bits):  # type: ignore[no-untyped-def]
    """Whether two packed rows differ in each of some columns."""
    apart = word ^ other
    for j in range(len(bits)):  # noqa: SIM110 - compiled code has no generators
        if apart & bits[j] == 0:
            return False
    return True


@njit(cache=True, nogil=True, inline="always")
def away(row, other, metric, weight):  # type: ignore[no-untyped-def]
    """As the tree adds it: equal to the last bit."""
    total, squared = 0.0, metric.power == 2
    for j in range(len(metric.caps)):
        apart = min(abs(row[j] - other[j]), metric.caps[j])
        total += apart * apart if squared else apart
    for j in range(len(weight)):
        total += weight[j]
    return total


@njit(cache=True, nogil=True, inline="always")
def first_from(lead, members, value):  # type: ignore[no-untyped-def]
    """Where among rows by ascending leading number those begin that are not below a value."""
    a, b = 0, len(members)
    while a < b:
        middle = (a + b) // 2
        if lead[members[middle]] < value:
            a = middle + 1
        else:
            b = middle
    return a


@njit(cache=True, nogil=True)
def _scan(q, own, rows, query, parts, least, metric, members, state):  # type: ignore[no-untyped-def]
    """Compare a query with the rows it meets, those alike in the leading number first; with how many."""
    (words, sizes, first_row), numbers, lead = rows
    answers, (low, high, size, first) = state
    best, k, (bits, weight) = answers.smallest[q], answers.smallest.shape[1], parts
    value, cap, slack, squared = query.lead[q], query.cap, 2 * query.slack, metric.power == 2
    limit = farther(best[k - 1], slack, squared)
    right = first_from(lead, members, value)
    left, compared = right - 1, 0
    while left >= 0 or right < len(members):
        below = value - lead[members[left]] if left >= 0 else np.inf
        above = lead[members[right]] - value if right < len(members) else np.inf
        apart = min(below, above, cap)
        if least + (apart * apart if squared else apart) > limit:
            break
        j = members[left] if below < above else members[right]
        left, right = (left - 1, right) if below < above else (left, right + 1)
        compared += 1
        copies = sizes[j] - (j == query.skip[q])
        if copies == 0 or not differ(query.words[q], words[j], bits):
            continue
        total = away(query.numbers[q], numbers[j], metric, weight)
        if total <= limit:
            if total < best[k - 1]:
                insert(best, total, copies)
                limit = farther(best[k - 1], slack, squared)
            apart = np.sqrt(total) if squared else total
            _note(apart, copies, first_row[j], query.slack, low[own], high[own], size[own], first[own])
    return compared


@njit(cache=True, nogil=True)
def _still_open(q, bound, k, slack, squared, state, work, own):  # type: ignore[no-untyped-def]
    """Whether rows at a bound or more may matter to a query; if not, its counts are read off."""
    answers, (low, high, size, first) = state
    if work[own] > EXHAUSTED:
        answers.tied[q] = -1
        return False
    if bound > farther(answers.smallest[q, k - 1], 2 * slack, squared):
        _settle(q, k, slack, low[own], high[own], size[own], first[own], answers)
        return False
    return True


@njit(cache=True, nogil=True)
def _find(rows, query, sets, fields, metric, begin, end, answers):  # type: ignore[no-untyped-def]
    weight, columns, kept, begins_of, complete = sets
    words, k, n_live = rows.base.words, answers.smallest.shape[1], end - begin
    live, work = np.arange(begin, end), np.zeros(n_live, np.int64)
    keys, number = np.empty(room_for(n_live), np.uint64), np.empty(room_for(n_live), np.int32)
    of, begins = np.empty(n_live, np.int32), np.empty(n_live + 1, np.int32)
    group_of, order = np.empty(len(words), np.int32), np.empty(len(words), np.int32)
    low, high = np.empty((n_live, k + 1)), np.empty((n_live, k + 1))
    size, first = np.zeros((n_live, k + 1), np.int64), np.empty((n_live, k + 1), np.int64)
    state = (answers, (low, high, size, first))
    answers.smallest[begin:end] = np.inf
    for c in range(len(begins_of)):
        at_end = c + 1 == len(begins_of)
        bound = np.inf if at_end else weight[begins_of[c]]
        if at_end and not complete:
            break
        left = 0
        for t in range(n_live):
            if _still_open(live[t], bound, k, query.slack, metric.power == 2, state, work, live[t] - begin):
                live[left] = live[t]
                left += 1
        n_live = left
        if n_live < begins_of[c + 1] - begins_of[c]:  # as in `agreement`
            break
        for s in range(begins_of[c], begins_of[c + 1]):
            places = room_for(n_live)
            groups = number_groups(query.words, live, n_live, kept[s], keys[:places], number, of)
            deal(words, kept[s], keys[:places], number, groups, begins, group_of, order)
            parts = parts_of(columns[s], fields, metric.weights)
            for t in range(n_live):
                q, g = live[t], of[t]
                if begins[g] < begins[g + 1] and work[q - begin] <= EXHAUSTED:
                    members = order[begins[g] : begins[g + 1]]
                    work[q - begin] += _scan(q, q - begin, rows, query, parts, weight[s], metric, members, state)
    for t in range(n_live):
        answers.tied[live[t]] = -1


class PackedQueries(NamedTuple):
    """Queries: packed words, numbers, the leading number, a row of which one less counts (-1: none).

    `cap` is that of the leading number; sums that differ by no more than `slack` are equal.
    """

    words: NDArray[np.uint64]
    numbers: Floats
    lead: Floats
    skip: Ints
    cap: float
    slack: float

    def take(self, which: Ints) -> PackedQueries:
        """Some of them."""
        words, numbers, lead, skip, cap, slack = self
        return PackedQueries(words[which], numbers[which], lead[which], skip[which], cap, slack)


def find_meeting(
    rows: NumberedRows, queries: PackedQueries, fields: NDArray[np.uint64], sets: ColumnSets, metric: Metric, k: int
) -> Answers:
    """Find the k smallest sums of each query; `tied` is -1 where it is left to another search."""
    n = len(queries.words)
    answers = Answers.empty(n, k)

    def part(ends: tuple[int, int]) -> None:
        _find(rows, queries, sets, fields, metric, *ends, answers)

    run(part, chunks(n, minimum=SLICE))
    return answers


def lead_column(numbers: Floats, caps: Floats) -> int:
    """The number in which rows (n, p) differ most.

    >>> lead_column(np.array([[0.0, 0.0], [0.0, 0.0], [0.1, 0.9], [0.1, 0.9]]), np.ones(2))
    1
    """
    half = len(numbers) // 2
    step = max(1, half // PAIRS)
    apart = np.abs(numbers[:half:step] - numbers[half : 2 * half : step])
    return int(np.minimum(apart, caps).sum(axis=0).argmax())


# Counting, summing and listing the rows within a known distance, where categories lead to them.


class _Limits(NamedTuple):
    """Those of `Limits`, the sum below which no row is, and the third limit with room for rounding."""

    near: Floats
    inner: Floats
    outer: Floats
    lowest: Floats
    reach: Floats


@njit(cache=True, nogil=True)
def _look(q, rows, query, parts, least, metric, limits, members, held):  # type: ignore[no-untyped-def]
    """Take in what one query meets, from the rows alike in the leading number on."""
    (words, sizes, first_row), numbers, lead = rows
    values, at, (closer, tied, nearest, sums, listed) = held
    near, inner, outer, _, reach = limits
    bits, weight = parts
    value, cap, squared = query.lead[q], query.cap, metric.power == 2
    middle = first_from(lead, members, value)
    for step in (-1, 1):
        i = middle - 1 if step < 0 else middle
        while 0 <= i < len(members):
            j = members[i]
            i += step
            apart = min(abs(lead[j] - value), cap)
            if least + (apart * apart if squared else apart) > reach[q]:
                break
            copies = sizes[j] - (j == query.skip[q])
            if copies == 0 or not differ(query.words[q], words[j], bits):
                continue
            total = away(query.numbers[q], numbers[j], metric, weight)
            if total > outer[q]:
                continue
            tally(q, total, near[q], inner[q], first_row[j], copies, closer, tied, nearest)
            add(q, values[j], sums)
            if len(listed) > 0:
                listed[at[q]] = j
                at[q] += 1


@njit(cache=True, nogil=True)
def _visit(rows, query, sets, fields, metric, limits, held, begin, end):  # type: ignore[no-untyped-def]
    weight, columns, kept, begins_of, _ = sets
    words, no_numbers = rows.base.words, rows.numbers.shape[1] == 0
    n_live = end - begin
    live, chosen = np.arange(begin, end), np.empty(n_live, np.int64)
    keys, number = np.empty(room_for(n_live), np.uint64), np.empty(room_for(n_live), np.int32)
    of, begins = np.empty(n_live, np.int32), np.empty(n_live + 1, np.int32)
    group_of, order = np.empty(len(words), np.int32), np.empty(len(words), np.int32)
    for c in range(len(begins_of) - 1):
        left, n = 0, 0
        for t in range(n_live):
            q = live[t]
            if weight[begins_of[c]] <= limits.reach[q]:
                live[left] = q
                left += 1
                # without numbers no row is nearer than the nearest, so none need be looked for there
                if not no_numbers or weight[begins_of[c + 1] - 1] >= limits.lowest[q]:
                    chosen[n] = q
                    n += 1
        n_live = left
        if n_live == 0:
            break
        if n == 0:
            continue
        for s in range(begins_of[c], begins_of[c + 1]):
            places = room_for(n)
            groups = number_groups(query.words, chosen, n, kept[s], keys[:places], number, of)
            deal(words, kept[s], keys[:places], number, groups, begins, group_of, order)
            parts = parts_of(columns[s], fields, metric.weights)
            for t in range(n):
                g = of[t]
                if begins[g] < begins[g + 1]:
                    members = order[begins[g] : begins[g + 1]]
                    _look(chosen[t], rows, query, parts, weight[s], metric, limits, members, held)


def visit_meeting(
    rows: NumberedRows, queries: PackedQueries, fields: Words, sets: ColumnSets, metric: Metric, limits: Limits, *,
    values: Floats | None = None, begins: Ints | None = None, n_listed: int = 0,
) -> Visited:  # fmt: skip
    """Do as `box_search.visit` does: `values` are of `rows`, and rows of `rows` are listed."""
    n = len(queries.words)
    summed = np.empty((len(rows.lead), 0)) if values is None else values
    at = np.zeros(n, np.int64) if begins is None else begins.copy()
    out = Visited(
        np.zeros(n, np.int64), np.zeros(n, np.int64), np.full(n, -1, np.int64), np.zeros((n, summed.shape[1])),
        np.empty(n_listed, np.int32),
    )  # fmt: skip
    lowest = widened(limits.near, -3 * metric.tolerance, metric.power)
    within = _Limits(*limits, lowest, widened(limits.outer, metric.tolerance, metric.power))

    def part(ends: tuple[int, int]) -> None:
        _visit(rows, queries, sets, fields, metric, within, (summed, at, out), *ends)

    run(part, chunks(n, minimum=SLICE))
    return out


# Sums over the nearest rows of categories and all tied with them, without going through the ties one by
# one.
# Of each set of columns at the last distance the sum over the rows that agree in the others is taken once
# for all queries that ask for it. Rows nearer than that, fewer than are asked for, are in several of these
# sums; they are looked up and taken off.


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
def _wanted(c, begin, end, answers, step, sets, ties, nearer):  # type: ignore[no-untyped-def]
    """Queries whose ties are at a distance, and those that have nearer rows there; how many of each."""
    weight, begins = sets.weight, sets.begins
    n_ties, n_nearer = 0, 0
    for q in range(begin, end):
        if step[q - begin] == c:
            ties[n_ties] = q
            n_ties += 1
        elif step[q - begin] > c:
            for i in range(answers.closer[q]):
                if weight[begins[c]] <= answers.smallest[q, i] <= weight[begins[c + 1] - 1]:
                    nearer[n_nearer] = q
                    n_nearer += 1
                    break
    return n_ties, n_nearer


@njit(cache=True, nogil=True)
def _sum(base, query, sets, fields, answers, values, sums, begin, end):  # type: ignore[no-untyped-def]
    weight, columns, kept, begins, _ = sets
    n, k = end - begin, answers.smallest.shape[1]
    keys, number = np.empty(room_for(n), np.uint64), np.empty(room_for(n), np.int32)
    of, members_begin = np.empty(n, np.int32), np.empty(n + 1, np.int32)
    group_of, order = np.empty(len(base), np.int32), np.empty(len(base), np.int32)
    ties, nearer, step = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    of_group = np.empty((n, values.shape[1]))
    for q in range(begin, end):
        step[q - begin] = _step_of(answers.smallest[q, k - 1], weight, begins)
    for c in range(step.max() + 1):
        n_ties, n_nearer = _wanted(c, begin, end, answers, step, sets, ties, nearer)
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


def shares_agreeing(words: tuple[Words, Words], sets: ColumnSets, answers: Answers, given: Floats) -> Floats:
    """Add up what the rows of the base are given by the queries they are nearest to, ties included; shape (K,).

    `given` (n,): what each query gives to each of its nearest rows. `found` is of one nearest row per query.
    """
    base, query = words
    smallest = np.ascontiguousarray(answers.smallest[:, 0])

    def part(ends: tuple[int, int]) -> Floats:
        received = np.zeros(len(base))
        _hand_out(base, query, sets, smallest, given, *ends, received)
        return received

    total: Floats = np.sum(run(part, chunks(len(query), minimum=SLICE)), axis=0)
    return total


def sums_agreeing(
    words: tuple[Words, Words], fields: tuple[Words, Floats], sets: ColumnSets, answers: Answers, values: Floats
) -> Floats:
    """Sum `values` (K, v) over the nearest rows of each query, ties included; shape (n, v). No row is left out.

    `words`: packed rows of base and queries. `fields`: bits and weights of the columns. `found` is what `find_agreeing`
    found of these queries.
    """
    base, query = words
    sums = np.zeros((len(query), values.shape[1]))

    def part(ends: tuple[int, int]) -> None:
        _sum(base, query, sets, fields, answers, values, sums, *ends)

    run(part, chunks(len(query), minimum=SLICE))
    return sums
