"""Nearest neighbours among rows of numbers and categories, compared where they agree in all but a few categories.

The sets of categories in which a base row may differ are visited by ascending weight. A query is finished when rows
that differ in heavier sets are too far, whatever their numbers; of the rows that agree in the other categories, those
near enough in one number (the lead) are compared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sdckit.numerics.array_types import Floats, Ints, Words
from sdckit.numerics.coding import Metric, find_word, hash_word, room_for
from sdckit.numerics.compiling import njit
from sdckit.numerics.search.agreement import FREE, SLICE, Base, ColumnSets, number_groups
from sdckit.numerics.search.box_search import Answers, Limits, Visited, add, farther, insert, room_of, tally, widened
from sdckit.numerics.threads import chunks, run

EXHAUSTED = 20_000  # rows compared with a query after which it is left to the tree
PAIRS = 1000  # pairs of rows by which the leading column is chosen


class NumberedRows(NamedTuple):
    """Distinct base rows sorted by one number, `lead` (K,); `numbers` (K, p) row by row."""

    base: Base
    numbers: Floats
    lead: Floats


@njit(cache=True, nogil=True)
def deal(words, kept, keys, number, groups, begins, group_of, order):  # type: ignore[no-untyped-def]
    """Sort base rows by the group of queries that they fall into (a stable counting sort), others are left out.

    `kept`, `keys`, `number`: bit mask and hash table of `number_groups`. Filled: `group_of` (K,), the group of each row
    or -1; `order`, row indices by group; `begins` (groups + 1,), start of each group in `order`.
    """
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
    """Add `copies` rows at a distance to the nearest few groups of equal distances, which are kept ascending.

    `low`, `high`, `size`, `first` (k + 1,): smallest and largest distance, rows and first row of each group.
    """
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
    """Set the counts of query q from its groups of equal distances; `tied` is -1 if rounding leaves them undecided."""
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
    """Bit mask in a packed row, and weight, of each column of a set given as bits."""
    n = 0
    bits, weight = np.empty(len(fields), np.uint64), np.empty(len(fields))
    for j in range(len(fields)):
        if (columns >> np.uint64(j)) & np.uint64(1):
            bits[n], weight[n] = fields[j], weights[j]
            n += 1
    return bits[:n], weight[:n]


@njit(cache=True, nogil=True, inline="always")
def differ(word, other, bits):  # type: ignore[no-untyped-def]
    """Whether two packed rows differ in each of some columns, given by their bit masks."""
    apart = word ^ other
    for j in range(len(bits)):  # noqa: SIM110 - compiled code has no generators
        if apart & bits[j] == 0:
            return False
    return True


@njit(cache=True, nogil=True, inline="always")
def away(row, other, metric, weight):  # type: ignore[no-untyped-def]
    """Sum of distance contributions of two rows (p,), added in the order of the tree search: equal to the last bit."""
    total, squared = 0.0, metric.power == 2
    for j in range(len(metric.caps)):
        apart = min(abs(row[j] - other[j]), metric.caps[j])
        total += apart * apart if squared else apart
    for j in range(len(weight)):
        total += weight[j]
    return total


@njit(cache=True, nogil=True, inline="always")
def first_from(lead, members, value):  # type: ignore[no-untyped-def]
    """Position of the first of the `members` (sorted by their lead) whose lead is not below a value; binary search."""
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
    """Compare query q with the `members` of its group, nearest in the lead first; return the number of comparisons.

    `parts`: bit masks and weights of the differing columns; `least`: their sum; `own`: index of the query in `state`.
    """
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
    """Whether rows at distances from `bound` on may still matter to query q; if not, its counts are set."""
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
    """Find the k smallest sums of queries begin to end; `answers` are filled, `tied` with -1 where undecided."""
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
    """Queries: packed words, numbers, leading number, and a base row of which one copy does not count (-1: none).

    `cap`: largest contribution of the leading number; distances that differ by at most `slack` are equal.
    """

    words: Words
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
    rows: NumberedRows, queries: PackedQueries, fields: Words, sets: ColumnSets, metric: Metric, k: int
) -> Answers:
    """Find the k smallest sums of each query; `tied` is -1 where another search must answer."""
    n = len(queries.words)
    answers = Answers.empty(n, k)

    def part(ends: tuple[int, int]) -> None:
        _find(rows, queries, sets, fields, metric, *ends, answers)

    run(part, chunks(n, minimum=SLICE))
    return answers


def lead_column(numbers: Floats, caps: Floats) -> int:
    """Index of the number in which rows (n, p) differ most.

    >>> lead_column(np.array([[0.0, 0.0], [0.0, 0.0], [0.1, 0.9], [0.1, 0.9]]), np.ones(2))
    1
    """
    half = len(numbers) // 2
    step = max(1, half // PAIRS)
    apart = np.abs(numbers[:half:step] - numbers[half : 2 * half : step])
    return int(np.minimum(apart, caps).sum(axis=0).argmax())


# Count, sum and list the rows within a known distance, found by the categories in which they agree.


class _Limits(NamedTuple):
    """The three sums of `Limits`, a lower bound of all sums, and the outer limit enlarged by rounding."""

    near: Floats
    inner: Floats
    outer: Floats
    lowest: Floats
    reach: Floats


@njit(cache=True, nogil=True)
def _look(q, rows, query, parts, least, metric, limits, members, held):  # type: ignore[no-untyped-def]
    """Count, sum and list the `members` of a group within the limits of query q, nearest in the lead first."""
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
    """Visit the rows within the limits of queries begin to end; `held`: values, next places in the list, results."""
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
                # without numbers no row lies below the smallest sum, so lighter sets need not be visited
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
    """Do as `box_search.visit`; `values` belong to `rows`, and indices into `rows` are listed."""
    n = len(queries.words)
    summed = np.empty((len(rows.lead), 0)) if values is None else values
    at = np.zeros(n, np.int64) if begins is None else begins.copy()
    out = room_of(n, summed, n_listed)
    lowest = widened(limits.near, -3 * metric.tolerance, metric.power)
    within = _Limits(*limits, lowest, widened(limits.outer, metric.tolerance, metric.power))

    def part(ends: tuple[int, int]) -> None:
        _visit(rows, queries, sets, fields, metric, within, (summed, at, out), *ends)

    run(part, chunks(n, minimum=SLICE))
    return out


# Sums over the nearest rows of categories, ties included, without visiting the ties one by one.
# For each set of columns at the k-th distance, the sum over the rows that agree in the other columns is taken once for
# all queries of a group. Nearer rows, fewer than k, occur in several of these sums; they are looked up and subtracted.


@njit(cache=True, nogil=True)
def _sum_groups(words, kept, keys, number, groups, values, sums):  # type: ignore[no-untyped-def]
    """Add the `values` (K, v) of base rows to the sums (groups, v) of the group of queries that they fall into."""
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
    """Index of the distinct weight (`ColumnSets.begins`) that a sum is equal to."""
    for c in range(len(begins) - 2):
        if total <= weight[begins[c + 1] - 1]:
            return c
    return len(begins) - 2


@njit(cache=True, nogil=True)
def _supersets(columns, sets, begin, end):  # type: ignore[no-untyped-def]
    """How many of the sets begin to end, given as bits, contain all of these columns."""
    n = 0
    for s in range(begin, end):
        n += (columns & ~sets[s]) == 0
    return n


@njit(cache=True, nogil=True)
def _wanted(c, begin, end, answers, step, sets, ties, nearer):  # type: ignore[no-untyped-def]
    """List queries whose k-th distance is number c, and queries with nearer rows at it; return both numbers.

    `step`: number of the k-th distance of each query; `ties` and `nearer`: filled with indices of queries.
    """
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
    """Sum `values` (K, v) over the nearest rows of queries begin to end, ties included, into `sums` (n, v)."""
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
                    for v in range(values.shape[1]):
                        sums[ties[t], v] += of_group[of[t], v]
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
                            for v in range(values.shape[1]):
                                sums[q, v] -= (often - 1) * values[order[i], v]


@njit(cache=True, nogil=True)
def _hand_out(base, query, sets, smallest, given, begin, end, received):  # type: ignore[no-untyped-def]
    """Add what each query gives (`given`) to each of its nearest rows, ties included, to `received` (K,)."""
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
    """What each base row receives from the queries it is nearest to, ties included; shape (K,).

    `given` (n,): what each query gives to each of its nearest rows. `answers` are of a search with k = 1.
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

    `words`: packed rows of base and queries. `fields`: bit masks and weights of the columns. `answers`: those of
    `find_agreeing` for these queries.
    """
    base, query = words
    sums = np.zeros((len(query), values.shape[1]))

    def part(ends: tuple[int, int]) -> None:
        _sum(base, query, sets, fields, answers, values, sums, *ends)

    run(part, chunks(len(query), minimum=SLICE))
    return sums
