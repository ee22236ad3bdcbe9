"""Nearest neighbours among rows of categories, by hash tables of the columns in which two rows agree.

The sets of columns in which a base row may differ from a query are visited by ascending weight; for each set, the base
rows that agree in all other columns are counted in a hash table. Rows that differ in fewer columns were counted before
and are subtracted (inclusion-exclusion), so counts are exact and no two rows are ever compared.
"""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Ints, Words
from sdckit.numerics.coding import Metric, find_word, hash_word, room_for
from sdckit.numerics.compiling import njit
from sdckit.numerics.search.box_search import Answers, insert
from sdckit.numerics.threads import chunks, run

# Sets of columns in which two rows may differ, by ascending weight, and rows packed into 64-bit words.


MOST_BITS = 63  # of a packed row: the word of all ones marks a free slot of a hash table
MOST_SETS = 4096


class Packed(NamedTuple):
    """Rows of two files, the codes of each row packed into one word; `fields` (q,): bit mask of each column."""

    base: Words
    query: Words
    fields: Words


class ColumnSets(NamedTuple):
    """Sets of columns by ascending weight, up to the first set that is not listed.

    `weight` (S,): sum of the weights of a set, the distance of rows that differ in its columns alone. `columns` (S,):
    bit set of its columns. `kept` (S,): bit mask of the packed columns that agree. `begins` (C + 1,): start of the sets
    of each distinct weight; weights that differ by rounding only are one. `complete`: whether every set is listed.
    """

    weight: NDArray[np.float64]
    columns: Words
    kept: Words
    begins: NDArray[np.int64]
    complete: bool


def pack(base: NDArray[np.int32], query: NDArray[np.int32], weights: NDArray[np.float64]) -> Packed | None:
    """Pack the codes (K, q) of columns with positive weight into one word per row; None if they do not fit.

    >>> packed = pack(np.array([[1, 5]], np.int32), np.array([[1, 2]], np.int32), np.ones(2))
    >>> [int(word) for word in (*packed.base, *packed.query, *packed.fields)]
    [11, 5, 1, 14]
    """
    used = np.flatnonzero(weights > 0)
    if len(used) == 0 or min(base[:, used].min(initial=0), query[:, used].min(initial=0)) < 0:
        return None
    highest = np.maximum(base[:, used].max(axis=0, initial=0), query[:, used].max(axis=0, initial=0))
    bits = [max(int(code).bit_length(), 1) for code in highest]
    if sum(bits) > MOST_BITS:
        return None
    fields = np.zeros(len(weights), np.uint64)
    words = [np.zeros(len(rows), np.uint64) for rows in (base, query)]
    shift = 0
    for j, width in zip(used.tolist(), bits, strict=True):
        fields[j] = ((1 << width) - 1) << shift
        for f, codes in enumerate((base, query)):
            words[f] |= codes[:, j].astype(np.uint64) << np.uint64(shift)
        shift += width
    return Packed(words[0], words[1], fields)


def column_sets(metric: Metric, fields: Words) -> ColumnSets | None:
    """List sets of the columns with positive weight; None if rounding could change the order of two sets.

    >>> sets = column_sets(Metric(1, np.empty(0), np.array([1.0, 3.0])), np.array([1, 6], np.uint64))
    >>> sets.weight.tolist(), sets.kept.tolist(), sets.begins.tolist(), sets.complete
    ([0.0, 1.0, 3.0, 4.0], [7, 6, 1, 0], [0, 1, 2, 3, 4], True)
    """
    used = [j for j, weight in enumerate(metric.weights.tolist()) if weight > 0]
    # Else a set and the same with one column more could have equal weights.
    if _least_step(metric, used) <= 2 * metric.tolerance:
        return None
    listed: list[tuple[int, ...]] = []
    largest = -1
    while largest < len(used):
        more = list(combinations(used, largest + 1))
        if len(listed) + len(more) > MOST_SETS:
            break
        listed += more
        largest += 1
    weight = np.array([_added(metric, chosen) for chosen in listed])
    order = np.argsort(weight, kind="stable")
    complete = largest == len(used)
    if not complete:  # no unlisted set is lighter than the lightest columns together
        lightest = np.sort(metric.weights[used])[: largest + 1].sum() ** (1 / metric.power)
        order = order[weight[order] ** (1 / metric.power) < lightest - 4 * metric.tolerance]
    away = weight[order] ** (1 / metric.power)
    begins = _begins(away, metric.tolerance) if len(away) else None
    if begins is None:
        return None
    every = np.bitwise_or.reduce(fields)
    columns = [sum(1 << j for j in listed[at]) for at in order]
    gone = [int(np.bitwise_or.reduce(fields[list(listed[at])], initial=0)) for at in order]
    kept = every & ~np.array(gone, np.uint64)
    return ColumnSets(weight[order], np.array(columns, np.uint64), kept, begins, complete)


def _least_step(metric: Metric, used: list[int]) -> float:
    """Smallest increase of a distance by one more differing column: the lightest one, if all others differ already."""
    weights = metric.weights[used]
    every, lightest, root = float(weights.sum()), float(weights.min()), 1 / metric.power
    return float(every**root - max(every - lightest, 0.0) ** root)


def _added(metric: Metric, columns: tuple[int, ...]) -> float:
    """Sum of the weights of some columns, added in the order of the search: equal to the last bit."""
    total = 0.0
    for j in columns:
        total += float(metric.weights[j])
    return total


def _begins(away: NDArray[np.float64], tolerance: float) -> NDArray[np.int64] | None:
    """Start of each group of equal distances; None if rounding leaves open which are equal."""
    steps = np.diff(away)
    wide = steps > 2 * tolerance
    begins = np.concatenate([[0], np.flatnonzero(wide) + 1, [len(away)]]).astype(np.int64)
    spread: Any = away[begins[1:] - 1] - away[begins[:-1]]
    return begins if (spread <= tolerance / 4).all() else None


FREE = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
LARGEST = np.int64(2**62)
SLICE = 8192  # smallest number of queries that share their hash tables


class Base(NamedTuple):
    """Distinct base rows: packed words (K,), number of equal rows (K,) and index of the first of them (K,)."""

    words: NDArray[np.uint64]
    sizes: Ints
    first_row: Ints


@njit(cache=True, nogil=True, inline="always")
def number_groups(query, live, n_live, kept, keys, number, of):  # type: ignore[no-untyped-def]
    """Number the groups of active queries that agree in the bits `kept`; return the number of groups.

    `live`: indices of the active queries, of which the first `n_live` count; `keys` and `number`: hash table of the
    masked words and their groups, overwritten; `of` (n_live,): group of each active query, filled.
    """
    keys[:] = FREE
    groups = np.int64(0)  # a literal is a type of its own, for which what it is given to is compiled once more
    for t in range(n_live):
        word = query[live[t]] & kept
        at = find_word(keys, FREE, word, hash_word(word))
        if keys[at] == FREE:
            keys[at], number[at] = word, groups
            groups += 1
        of[t] = number[at]
    return groups


@njit(cache=True, nogil=True)
def _count(base, kept, keys, number, groups, count, row, other):  # type: ignore[no-untyped-def]
    """Count the base rows that fall into each group of queries.

    Filled for each group: `count`, the number of rows; `row`, the first of them; `other`, the first row of another
    distinct combination (LARGEST if there is none).
    """
    words, sizes, first_row = base
    count[:groups], row[:groups], other[:groups] = 0, LARGEST, LARGEST
    for j in range(len(words)):
        word = words[j] & kept
        at = find_word(keys, FREE, word, hash_word(word))
        if keys[at] != FREE:
            g = number[at]
            count[g] += sizes[j]
            if first_row[j] < row[g]:
                row[g], other[g] = first_row[j], row[g]
            else:
                other[g] = min(other[g], first_row[j])


@njit(cache=True, nogil=True, inline="always")
def _exactly(count, columns, of_set, of_size):  # type: ignore[no-untyped-def]
    """Number of rows that differ in all of these columns, given the `count` of those that differ at most in them.

    `of_set` and `of_size` (k,): sets of columns counted before for the query, as bits, and rows that differ in each.
    """
    for s in range(len(of_set)):
        if of_size[s] > 0 and of_set[s] & ~columns == 0:
            count -= of_size[s]
    return count


@njit(cache=True, nogil=True, inline="always")
def _credit(q, group, columns, weight, of_set, of_size, own_row, answers):  # type: ignore[no-untyped-def]
    """Add the rows of a group that differ from query q in all columns of a set to the answers of q.

    `group`: number of rows, first row, first of another combination; `of_set` and `of_size`: as in `_exactly`, updated;
    `own_row`: the row that does not count for the query, -1 if there is none.
    """
    here, row, other = group
    smallest, closer, tied, nearest, _ = answers
    if here > 0:
        here = _exactly(here, columns, of_set, of_size)
    if here <= 0:
        return
    for x in range(len(of_set)):
        if of_size[x] == 0:
            of_set[x], of_size[x] = columns, here
            break
    if own_row >= 0 and columns == 0:
        here -= 1
    elif own_row == row:  # it agrees in all columns, so in these
        row = other
    if here > 0:
        insert(smallest[q], weight, here)
        tied[q] += here
        if closer[q] == 0:
            nearest[q] = row if nearest[q] < 0 else min(nearest[q], row)


@njit(cache=True, nogil=True)
def _still_open(live, n_live, k, answers):  # type: ignore[no-untyped-def]
    """Keep the active queries with fewer than k rows so far, which all count as closer from now on; their number."""
    left = 0
    for t in range(n_live):
        q = live[t]
        if answers.closer[q] + answers.tied[q] < k:
            answers.closer[q] += answers.tied[q]
            answers.tied[q] = 0
            live[left] = q
            left += 1
    return left


@njit(cache=True, nogil=True)
def _find(base, query, skip, sets, counted, first, last, answers):  # type: ignore[no-untyped-def]
    """Find the k smallest sums of queries first to last; `answers` are filled, `tied` with -1 where undecided."""
    weight, columns, kept, begins, _ = sets
    k, n_live = answers.smallest.shape[1], last - first
    live = np.arange(first, last)
    keys, number = np.empty(room_for(n_live), np.uint64), np.empty(room_for(n_live), np.int32)
    of, count = np.empty(n_live, np.int32), np.empty(n_live, np.int64)
    row, other = np.empty(n_live, np.int64), np.empty(n_live, np.int64)
    # of the rows found so far for each query: the sets of columns in which they differ, and how many differ in each
    of_set, of_size = np.zeros((n_live, k), np.uint64), np.zeros((n_live, k), np.int64)
    answers.smallest[first:last] = np.inf
    for c in range(len(begins) - 1):
        if n_live < begins[c + 1] - begins[c]:  # a hash table takes as long as comparing one query with all rows
            break
        for s in range(begins[c], begins[c + 1]):
            places = room_for(n_live)
            groups = number_groups(query, live, n_live, kept[s], keys[:places], number, of)
            _count(base, kept[s], keys[:places], number, groups, count, row, other)
            left = 0
            for t in range(n_live):
                q, g = live[t], of[t]
                own, own_row = q - first, base.first_row[skip[q]] if skip[q] >= 0 else -1
                group = (count[g], row[g], other[g])
                _credit(q, group, columns[s], weight[s], of_set[own], of_size[own], own_row, answers)
                if counted or answers.closer[q] + answers.tied[q] < k:
                    live[left] = q
                    left += 1
            n_live = left
        n_live = _still_open(live, n_live, k, answers)
    for t in range(n_live):
        q = live[t]
        answers.closer[q], answers.tied[q], answers.nearest[q] = 0, -1, -1


def find_agreeing(
    base: Base, query: NDArray[np.uint64], skip: Ints, sets: ColumnSets, k: int, *, counted: bool = True
) -> Answers:
    """Find the k smallest sums of each query, for categories alone; `tied` is -1 where another search must answer.

    If rows need not be `counted`, only the smallest sums are valid: a query is finished as soon as it has k rows.

    `skip` (n,): index of a distinct base row, equal to the query, of which one copy does not count (-1: none).

    >>> from sdckit.numerics.coding import Metric
    >>> from sdckit.numerics.search.agreement import column_sets, pack
    >>> base, query = np.array([[1, 1], [1, 2], [2, 2]], np.int32), np.array([[1, 3], [1, 3]], np.int32)
    >>> packed = pack(base, query, np.ones(2))
    >>> sets = column_sets(Metric(1, np.empty(0), np.ones(2)), packed.fields)
    >>> rows = Base(packed.base, np.array([1, 1, 1]), np.array([0, 1, 2]))
    >>> answers = find_agreeing(rows, packed.query, np.array([-1, -1]), sets, 1)
    >>> answers.smallest.tolist(), answers.tied.tolist(), answers.nearest.tolist()
    ([[1.0], [1.0]], [2, 2], [0, 0])
    """
    n = len(query)
    answers = Answers.empty(n, k)

    def part(ends: tuple[int, int]) -> None:
        _find(base, query, skip, sets, counted, *ends, answers)

    run(part, chunks(n, minimum=SLICE))
    return answers
