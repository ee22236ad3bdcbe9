"""Group rows by equal 64-bit words: group of each row, size and weight of each group; sums and look-ups by group.

Words of few bits index a table directly. Others are first partitioned by their hash, so that the hash table of each
partition fits into the processor's cache; partitions are independent and are processed on threads.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from sdckit.numerics.array_types import AnyInts, Codes, Floats, Ints, Values, Words
from sdckit.numerics.coding import find_number, hash_word, hash_words, mix
from sdckit.numerics.compiling import FEW, is_few, njit
from sdckit.numerics.threads import chunks, run

# Arrays allocated in one large block of memory.
# A new array of a few megabytes costs more in page faults than in work; a large block is backed by huge pages where
# the system has them.


ALIGNMENT = 64
BY_CHANCE = math.log(1e-7)  # of a range of numbers in which all records have one code
FEW_EACH = 5  # records of a number, on average, that may be members of one household


def bytes_for(*arrays: tuple[int, DTypeLike]) -> int:
    """Bytes that an arena needs for arrays given as (length, dtype)."""
    return sum(-(-n * np.dtype(dtype).itemsize // ALIGNMENT) * ALIGNMENT for n, dtype in arrays)


class Arena:
    """A block of memory from which arrays are allocated; the arrays keep the block alive.

    >>> arena = Arena(bytes_for((3, np.int64), (2, np.float64)))
    >>> arena.take(3, np.int64).shape, arena.take(2, np.float64).dtype.name
    ((3,), 'float64')
    """

    def __init__(self, n_bytes: int) -> None:
        self._block = np.empty(n_bytes + ALIGNMENT, np.uint8)
        self._used = -self._block.ctypes.data % ALIGNMENT

    def take(self, n: int, dtype: DTypeLike) -> Values:
        """An uninitialised array of `n` elements."""
        start, size = self._used, n * np.dtype(dtype).itemsize
        self._used += -(-size // ALIGNMENT) * ALIGNMENT
        return self._block[start : start + size].view(dtype)


# Expand values of cells to records, in one pass over the records.


@njit(cache=True, nogil=True)
def _gather(table, of_row, start, stop, out):  # type: ignore[no-untyped-def]
    """Copy row of_row[i] of `table` (K, c) into column i of `out` (c, n), for rows start to stop."""
    n = table.shape[1]
    for i in range(start, stop):
        g = of_row[i]
        for c in range(n):
            out[c, i] = table[g, c]


@njit(cache=True, nogil=True)
def _interleave(columns, start, stop, table):  # type: ignore[no-untyped-def]
    """Copy `columns` (tuple of arrays (K,)) into the columns of `table` (K, c), for rows start to stop."""
    for c in range(len(columns)):
        values = columns[c]
        for g in range(start, stop):
            table[g, c] = values[g]


@njit(cache=True, nogil=True)
def _gather_one(values, of_row, start, stop, out):  # type: ignore[no-untyped-def]
    """Write values[of_row[i]] into out[i], for rows start to stop."""
    for i in range(start, stop):
        out[i] = values[of_row[i]]


@njit(cache=True, nogil=True)
def _extremes(of_row, numbers, least, most, seen):  # type: ignore[no-untyped-def]
    for i in range(len(of_row)):
        if not np.isnan(numbers[i]):
            group = of_row[i]
            least[group] = min(least[group], numbers[i])
            most[group] = max(most[group], numbers[i])
            seen[group] += 1


@njit(cache=True, nogil=True)
def _mark(values, low, used):  # type: ignore[no-untyped-def]
    """Set used[value - low] to 1 for each of the integer `values` (n,)."""
    for i in range(len(values)):
        used[np.int64(values[i]) - low] = 1


@njit(cache=True, nogil=True)
def _renumber(values, low, number, of_row):  # type: ignore[no-untyped-def]
    """Write number[value - low] of each of the integer `values` (n,) into `of_row` (n,)."""
    for i in range(len(values)):
        of_row[i] = number[np.int64(values[i]) - low]


def gather(columns: Sequence[Values], of_row: AnyInts) -> list[Values]:
    """Expand values of cells (K,), 8 bytes each, to records: ``[values[of_row] for values in columns]``.

    The values of a cell are interleaved first, so that reading a record's costs one cache line.

    >>> gather([np.array([1.5, 2.5])], np.array([1, 0, 1], np.int32))[0].tolist()
    [2.5, 1.5, 2.5]
    """
    n, c = len(of_row), len(columns)
    if n <= FEW:
        return [values[of_row] for values in columns]
    if c == 1:
        gathered = np.empty(n, columns[0].dtype)
        run(lambda part: _gather_one(columns[0], of_row, *part, gathered), chunks(n))
        return [gathered]
    k = len(columns[0])
    table = Arena(bytes_for((k * c, np.uint64))).take(k * c, np.uint64).reshape(k, c)
    run(lambda part: _interleave(tuple(v.view(np.uint64) for v in columns), *part, table), chunks(k))
    out = Arena(bytes_for((n * c, np.uint64))).take(n * c, np.uint64).reshape(c, n)
    run(lambda part: _gather(table, of_row, *part, out), chunks(n))
    return [out[j].view(values.dtype) for j, values in enumerate(columns)]


def count_short(f: Values, big_f: Floats) -> int:
    """Number of cells whose population frequency is below their sample frequency by more than rounding.

    >>> count_short(np.array([1, 2]), np.array([0.5, 2.0]))
    1
    """
    return int(np.count_nonzero(big_f < f * (1 - 1e-9)))


def weight_faults(weight: Floats) -> tuple[int, int, int]:
    """How many weights are missing, not positive, infinite.

    >>> weight_faults(np.array([1.0, np.nan, -2.0, np.inf]))
    (1, 1, 1)
    """
    missing, low, infinite = map(np.count_nonzero, (np.isnan(weight), weight <= 0, np.isposinf(weight)))
    return int(missing), int(low), int(infinite)


def sum_by(of_row: AnyInts, values: Values, k: int) -> Floats:
    """Sum of values (n,) in each of `k` groups.

    >>> sum_by(np.array([0, 1, 0]), np.array([1.0, 2.0, 3.0]), 2).tolist()
    [4.0, 2.0]
    """
    return np.bincount(of_row, values, k).astype(np.float64, copy=False)


def means_of(of_row: AnyInts, values: Floats, k: int) -> Floats:
    """Mean of the values (n,) of each of `k` groups, infinite where there is none.

    Summed from the smallest on: digits in common cost none, and the mean of equal values is exactly what they are.

    >>> means_of(np.array([0, 1, 0, 1, 1]), np.array([1.0, 0.1, 3.0, 0.1, 0.1]), 2).tolist()
    [2.0, 0.1]
    """
    low = np.full(k, np.inf)
    np.minimum.at(low, of_row, values)
    return low + sum_by(of_row, values - low[of_row], k) / np.maximum(np.bincount(of_row, minlength=k), 1)


def sum_of_equal(words: Ints, values: Values) -> tuple[Ints, Floats]:
    """The different words, ascending, and for each the sum of its values.

    >>> [side.tolist() for side in sum_of_equal(np.array([7, 2, 7]), np.array([1, 2, 3]))]
    [[2, 7], [2.0, 4.0]]
    """
    different, place = np.unique(words, return_inverse=True)
    return different, sum_by(place, values, len(different))


@njit(cache=True, nogil=True)
def sort_in_place(values):  # type: ignore[no-untyped-def]
    """Sort ascending in place by Shell's sort: numba takes two seconds to compile its own."""
    gap = len(values) // 2
    while gap > 0:
        for i in range(gap, len(values)):
            value, j = values[i], i
            while j >= gap and values[j - gap] > value:
                values[j] = values[j - gap]
                j -= gap
            values[j] = value
        gap = 1 if gap == 2 else gap * 5 // 11


@njit(cache=True, nogil=True)
def _tally(cell_of_row, codes, records, edges, level, count):  # type: ignore[no-untyped-def]
    """Put the codes and records of rows cell by cell, in order, and add up equal codes; return how many are left."""
    for i in range(len(cell_of_row)):
        edges[cell_of_row[i] + 1] += 1
    for k in range(len(edges) - 1):
        edges[k + 1] += edges[k]
    following = edges[:-1].copy()
    for i in range(len(cell_of_row)):
        at = following[cell_of_row[i]]
        following[cell_of_row[i]] = at + 1
        level[at] = codes[i]
        count[at] = records[i]
    left, start = 0, 0
    for k in range(len(edges) - 1):
        first, stop = left, edges[k + 1]
        gap = 1
        while 3 * gap < stop - start:
            gap = 3 * gap + 1
        while gap > 0:
            for i in range(start + gap, stop):
                code, n, j = level[i], count[i], i
                while j >= start + gap and level[j - gap] > code:
                    level[j], count[j] = level[j - gap], count[j - gap]
                    j -= gap
                level[j], count[j] = code, n
            gap //= 3
        for i in range(start, stop):
            if left > first and level[left - 1] == level[i]:
                count[left - 1] += count[i]
            else:
                level[left], count[left] = level[i], count[i]
                left += 1
        start, edges[k + 1] = stop, left
    return left


def tally(cell_of_row: AnyInts, codes: Ints, records: Ints, k: int) -> tuple[Ints, Ints, Ints]:
    """Where each of k cells begins among the entries, with the end; the codes in it, ascending; records of each.

    >>> [part.tolist() for part in tally(np.array([1, 1, 0, 1]), np.array([5, 2, 7, 5]), np.array([1, 1, 2, 3]), 2)]
    [[0, 1, 3], [7, 2, 5], [2, 1, 4]]
    """
    edges, level, count = np.zeros(k + 1, np.int64), np.empty(len(codes), np.int64), np.empty(len(codes), np.int64)
    if is_few(_tally, len(codes)):
        order = np.lexsort((codes, cell_of_row))
        cell, level = cell_of_row[order], codes[order]
        starts = np.flatnonzero(np.append(True, (cell[1:] != cell[:-1]) | (level[1:] != level[:-1]))[: len(cell)])
        np.cumsum(np.bincount(cell[starts], minlength=k), out=edges[1:])
        return edges, level[starts], np.add.reduceat(records[order], starts) if len(starts) else count
    left = _tally(cell_of_row, codes, records, edges, level, count)
    return edges, level[:left].copy(), count[:left].copy()


def first_of_groups(of_row: AnyInts, k: int) -> Ints:
    """First row of each of k groups, -1 where there is none.

    >>> first_of_groups(np.array([2, 0, 2, 0]), 3).tolist()
    [1, -1, 0]
    """
    first = np.full(k, -1, np.int64)
    first[of_row[::-1]] = np.arange(len(of_row) - 1, -1, -1)  # the last one written is the first
    return first


def places_among(chosen: AnyInts, n: int) -> Ints:
    """Place of each of the numbers below n among those chosen, -1 where it is none of them.

    >>> places_among(np.array([2, 0]), 3).tolist()
    [1, -1, 0]
    """
    place = np.full(n, -1, np.int64)
    place[chosen] = np.arange(len(chosen))
    return place


def refines(fine: AnyInts, coarse: Values) -> bool:
    """Whether every group of the finer grouping lies in one group of the coarser one.

    >>> refines(np.array([0, 0, 1, 2]), np.array([0, 0, 1, 1])), refines(np.array([0, 0, 1]), np.array([0, 1, 1]))
    (True, False)
    """
    above = np.zeros(int(fine.max(initial=0)) + 1, coarse.dtype)
    above[fine] = coarse  # of differing ones one is kept
    return bool((above[fine] == coarse).all())


def row_of_values(values: Values, listed: Values) -> Ints:
    """Row of each value among those listed, -1 where it is none of them.

    >>> row_of_values(np.array([5, 7, 6]), np.array([7, 5])).tolist()
    [1, 0, -1]
    """
    if not len(listed):
        return np.full(len(values), -1)
    order = np.argsort(listed)
    row = order[np.minimum(np.searchsorted(listed, values, sorter=order), len(listed) - 1)]
    return np.where(listed[row] == values, row, -1)


def in_place(values: Values, order: AnyInts) -> Values:
    """Values taken in some order, put back into the original order."""
    out = np.empty_like(values)
    out[order] = values
    return out


def extremes_of(of_row: Codes, numbers: Floats, k: int) -> tuple[Floats, Floats, Ints]:
    """Least and greatest number of each of k groups, infinite where there is none, and how many there are, NaN apart.

    >>> [figures.tolist() for figures in extremes_of(np.array([0, 0, 1], np.int32), np.array([3.0, 2.0, np.nan]), 2)]
    [[2.0, inf], [3.0, -inf], [2, 0]]
    """
    least, most, seen = np.full(k, np.inf), np.full(k, -np.inf), np.zeros(k, np.int64)
    _extremes(of_row, numbers, least, most, seen)
    return least, most, seen


def dense_codes(values: Values, low: int, span: int) -> tuple[Codes, int]:
    """Number the distinct values, ascending, by a table of all integers ``low`` to ``low + span - 1``.

    >>> of_row, n = dense_codes(np.array([7, 9, 7]), 7, 3)
    >>> of_row.tolist(), n
    ([0, 1, 0], 2)
    """
    used = np.zeros(span, np.uint8)
    if is_few(_mark, len(values)):
        at = values.astype(np.int64) - low
        used[at] = 1
        number = np.cumsum(used, dtype=np.int32) - np.int32(1)
        return number[at], int(number[-1]) + 1
    _mark(values, low, used)
    number = np.cumsum(used, dtype=np.int32) - np.int32(1)
    of_row = np.empty(len(values), np.int32)
    _renumber(values, low, number, of_row)
    return of_row, int(number[-1]) + 1


DIRECT_BITS = 16  # up to 65,536 possible words: a table with an entry for each
SMALL_FILE = 1 << 16
ROWS_PER_PARTITION = 1 << 12
MAX_PARTITION_BITS = 10
AT_ONCE = 1 << 10  # words whose first slots are read before any is compared, so that their cache misses overlap


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of equal words.

    `of_row` (n,): group of each row. `words` (K,): the word of each group. `size` (K,): rows in each group.
    `weight` (K,): sum of the weights of each group's rows.
    """

    of_row: Codes
    words: Words
    size: Ints
    weight: Floats | None


@njit(cache=True, nogil=True)
def _count_direct(words, weight, start, stop, size, total):  # type: ignore[no-untyped-def]
    """Add rows start to stop to the counts `size` and, unless `weight` is empty, weight sums `total`, by word."""
    weighted = len(weight) > 0
    for i in range(start, stop):
        size[words[i]] += 1
        if weighted:
            total[words[i]] += weight[i]


@njit(cache=True, nogil=True)
def _histogram(words, start, stop, shift, counts):  # type: ignore[no-untyped-def]
    """Add rows start to stop to `counts` (partitions,), by partition: the high bits of the word's hash."""
    for i in range(start, stop):
        counts[hash_word(words[i]) >> shift] += 1


@njit(cache=True, nogil=True)
def _deal(words, weight, start, stop, shift, position, part_words, part_rows, part_weight):  # type: ignore[no-untyped-def]
    """Scatter words, row numbers and weights of rows start to stop into partitions; `position`: next free index."""
    weighted = len(weight) > 0
    for i in range(start, stop):
        word = words[i]
        p = hash_word(word) >> shift
        at = position[p]
        position[p] = at + 1
        part_words[at] = word
        part_rows[at] = i
        if weighted:
            part_weight[at] = weight[i]


@njit(cache=True, nogil=True)
def _group_partition(words, weight, start, stop, label, size, slots):  # type: ignore[no-untyped-def]
    """Number the distinct words of a partition, rows start to stop, in order of appearance; return their number.

    `label` (n,): group of each row. The word, size and weight of group g are written to index start + g of `words`,
    `size` and `weight`, in place: never ahead of what is still to be read. `slots`: hash table, overwritten.
    """
    weighted, mine, n_groups = len(weight) > 0, words[start:stop], 0
    slots[:] = -1
    for i in range(start, stop):
        word = words[i]
        at = find_number(slots, mine, word, mix(word))
        g = slots[at]
        if g < 0:
            g = n_groups
            n_groups += 1
            slots[at] = g
            mine[g] = word
            size[start + g] = 1
            if weighted:
                weight[start + g] = weight[i]
        else:
            size[start + g] += 1
            if weighted:
                weight[start + g] += weight[i]
        label[i] = g
    return n_groups


@njit(cache=True, nogil=True)
def _group_partitions(edges, first, last, words, weight, label, size, n_groups):  # type: ignore[no-untyped-def]
    """Do `_group_partition` for partitions first to last, which begin at `edges`; numbers of groups into `n_groups`."""
    largest = 0
    for p in range(first, last):
        largest = max(largest, edges[p + 1] - edges[p])
    places = 64
    while places < 2 * largest:
        places *= 2
    slots = np.empty(places, np.int32)
    for p in range(first, last):
        start, stop = edges[p], edges[p + 1]
        places = 64
        while places < 2 * (stop - start):
            places *= 2
        n_groups[p] = _group_partition(words, weight, start, stop, label, size, slots[:places])


@njit(cache=True, nogil=True)
def _label_rows(edges, first, last, base, label, rows, of_row):  # type: ignore[no-untyped-def]
    """Write the group of each row into `of_row` (n,): its number within its partition plus the partition's base."""
    for p in range(first, last):
        for i in range(edges[p], edges[p + 1]):
            of_row[rows[i]] = base[p] + label[i]


@njit(cache=True, nogil=True)
def _collect(edges, first, last, base, words, weight, size, out_words, out_weight, out_size):  # type: ignore[no-untyped-def]
    """Copy words, weights and sizes of the groups of partitions first to last into arrays without gaps."""
    for p in range(first, last):
        start, n = edges[p], base[p + 1] - base[p]
        for g in range(n):
            out_words[base[p] + g] = words[start + g]
            out_size[base[p] + g] = size[start + g]
            if len(weight) > 0:
                out_weight[base[p] + g] = weight[start + g]


def group(words: Words, *, bits: int = 64, weight: Floats | None = None) -> Groups:
    """Group rows by equal words.

    `words` (n,) are below 2**bits; `weight` (n,) is summed within groups. The order of the groups depends on the
    words only, not on the number of threads.

    >>> groups = group(np.array([7, 3, 7], dtype=np.uint64), bits=3)
    >>> groups.size[groups.of_row].tolist()
    [2, 1, 2]
    """
    if is_few(_count_direct if bits <= DIRECT_BITS else _histogram, len(words)):
        return _group_few(words, weight, bits)
    w = np.empty(0) if weight is None else weight
    groups = _group_direct(words, w, bits) if bits <= DIRECT_BITS else _group_hashed(words, w)
    return groups if weight is not None else Groups(groups.of_row, groups.words, groups.size, None)


@njit(cache=True, nogil=True)
def _fill_places(listed, slots):  # type: ignore[no-untyped-def]
    """Fill the hash table `slots` with the indices of the distinct words `listed`."""
    for i in range(len(listed)):
        slots[find_number(slots, listed, listed[i], hash_word(listed[i]))] = i


@njit(cache=True, nogil=True)
def _look_up(words, start, stop, listed, slots, place):  # type: ignore[no-untyped-def]
    """Write the index of each word in `listed`, negative if it is not there, into `place`, for rows start to stop."""
    mask = np.uint64(len(slots) - 1)
    for b in range(start, stop, AT_ONCE):
        e = min(b + AT_ONCE, stop)
        for i in range(b, e):
            place[i] = slots[hash_word(words[i]) & mask]
        for i in range(b, e):
            at = place[i]
            if at >= 0 and listed[at] != words[i]:
                place[i] = slots[find_number(slots, listed, words[i], hash_word(words[i]))]


def look_up(words: Words, listed: Words) -> Codes:
    """Index of each word in a list of distinct ones; -1 if it is not there.

    >>> look_up(np.array([7, 3, 7, 1], np.uint64), np.array([3, 7], np.uint64)).tolist()
    [1, 0, 1, -1]
    """
    if len(listed) == 0:
        return np.full(len(words), -1, np.int32)
    if is_few(_look_up, len(words) + len(listed)):
        return row_of_values(words, listed).astype(np.int32)
    slots = np.full(1 << (4 * len(listed) - 1).bit_length(), -1, np.int32)
    _fill_places(listed, slots)
    place = np.empty(len(words), np.int32)
    run(lambda part: _look_up(words, *part, listed, slots, place), chunks(len(words)))
    return place


def ascending(words: Words, *, bits: int = 64) -> tuple[Words, Ints]:
    """Words below ``2 ** bits`` sorted ascending, and the row of each; a stable sort.

    Where a word and its row fit into 64 bits, both are sorted as one integer: a third of the time of `numpy.argsort`.

    >>> ascending(np.array([7, 2, 7], np.uint64), bits=3)
    (array([2, 7, 7], dtype=uint64), array([1, 0, 2]))
    """
    places = max(0, len(words) - 1).bit_length()
    if bits + places > 64:
        order = np.argsort(words, kind="stable")
        return words[order], order
    both = np.sort(words << np.uint64(places) | np.arange(len(words), dtype=np.uint64))
    return both >> np.uint64(places), (both & np.uint64((1 << places) - 1)).astype(np.int64)


def _partition_bits(n: int) -> int:
    return min(MAX_PARTITION_BITS, max(1, (n // ROWS_PER_PARTITION).bit_length()))


def _group_few(words: Words, weight: Floats | None, bits: int) -> Groups:
    """Do as `group` by sorting, with NumPy: the same groups in the same order."""
    distinct, first, inverse, size = np.unique(words, return_index=True, return_inverse=True, return_counts=True)
    place = np.arange(len(distinct))
    if bits > DIRECT_BITS:  # by partition, then in order of appearance
        part = hash_words(distinct) >> np.uint64(64 - _partition_bits(len(words)))
        order = np.lexsort((first, part))
        place[order] = np.arange(len(order))
        distinct, size = distinct[order], size[order]
    of_row = place[inverse.reshape(-1)].astype(np.int32)
    total = None if weight is None else np.bincount(of_row, weight, len(distinct)).astype(np.float64)
    return Groups(of_row, distinct, size.astype(np.int64), total)


def _group_direct(words: Words, weight: Floats, bits: int) -> Groups:
    n, width = len(words), 1 << bits
    parts = chunks(n)
    size = np.zeros((len(parts), width), np.int64)
    total = np.zeros((len(parts), width if len(weight) else 0))
    run(lambda t: _count_direct(words, weight, *parts[t], size[t], total[t]), range(len(parts)))
    all_sizes = size.sum(axis=0)
    present = np.flatnonzero(all_sizes)
    place = np.zeros(width, np.int32)
    place[present] = np.arange(len(present), dtype=np.int32)
    of_row = np.empty(n, np.int32)
    run(lambda part: _gather_one(place, words, *part, of_row), parts)
    sums = total.sum(axis=0)[present] if len(weight) else None
    return Groups(of_row, present.astype(np.uint64), all_sizes[present], sums)


def _group_hashed(words: Words, weight: Floats) -> Groups:
    n, n_weights = len(words), len(weight)
    p_bits = _partition_bits(n)
    shift, n_parts, parts = np.uint64(64 - p_bits), 1 << p_bits, chunks(n)
    counts = np.zeros((len(parts), n_parts), np.int64)
    run(lambda t: _histogram(words, *parts[t], shift, counts[t]), range(len(parts)))
    edges = np.append(0, np.cumsum(counts.sum(axis=0)))
    position = edges[:-1] + np.cumsum(counts, axis=0) - counts  # where each thread writes in each partition
    scratch = Arena(bytes_for((n, np.uint64), (n, np.uint32), (n_weights, np.float64), (n, np.int32), (n, np.int32)))
    p_words, p_rows = scratch.take(n, np.uint64), scratch.take(n, np.uint32)
    p_weight = scratch.take(n_weights, np.float64)
    label, size = scratch.take(n, np.int32), scratch.take(n, np.int32)
    run(lambda t: _deal(words, weight, *parts[t], shift, position[t], p_words, p_rows, p_weight), range(len(parts)))
    batched = 1 if n < SMALL_FILE else 8  # handing out work costs more than a small file takes
    n_groups, batches = np.zeros(n_parts, np.int64), chunks(n_parts, minimum=1, parts=batched)
    run(lambda b: _group_partitions(edges, *b, p_words, p_weight, label, size, n_groups), batches)
    base = np.append(0, np.cumsum(n_groups))
    k, k_weights = int(base[-1]), int(base[-1]) if n_weights else 0
    kept = Arena(bytes_for((n, np.int32), (k, np.uint64), (k, np.int64), (k_weights, np.float64)))
    of_row = kept.take(n, np.int32)
    run(lambda b: _label_rows(edges, *b, base, label, p_rows, of_row), batches)
    groups = Groups(of_row, kept.take(k, np.uint64), kept.take(k, np.int64), kept.take(k_weights, np.float64))
    run(lambda b: _collect(edges, *b, base, p_words, p_weight, size, groups.words, groups.weight, groups.size), batches)
    return groups


# Words in ascending order: distinct ones with their numbers of records, groups of several lists of them.


NONE = np.uint64(2**64 - 1)  # no word is as large


def distinct_words(words: Words, times: Ints | None = None) -> tuple[Words, Ints]:
    """Words in ascending order and the records of each; `times`: those of every row, one each unless given.

    Rows that are nearly in order are put in order in little more than one pass.

    >>> words, times = distinct_words(np.array([7, 2, 7], np.uint64))
    >>> words.tolist(), times.tolist()
    ([2, 7], [1, 2])
    """
    if times is None:
        words = np.sort(words)
    elif not (words[1:] >= words[:-1]).all():
        order = np.argsort(words, kind="stable")
        words, times = words[order], times[order]
    if len(words) == 0:
        return words, np.empty(0, np.int64)
    starts = np.append(0, np.flatnonzero(words[1:] != words[:-1]) + 1)
    if times is None:
        return words[starts], np.diff(np.append(starts, len(words)))
    return words[starts], np.add.reduceat(times, starts)


def merged_groups(
    words: Sequence[Words], times: Sequence[Ints], shift: int
) -> tuple[tuple[Codes, ...], tuple[Ints, ...]]:
    """Group the rows of several files, each in ascending order, by their words without the last `shift` bits.

    Of each file the group of every row, and its records in every group; groups are numbered in ascending order.

    >>> files = [np.array([2, 5], np.uint64), np.array([3], np.uint64)]
    >>> of_row, size = merged_groups(files, [np.ones(2), np.ones(1)], 1)
    >>> [rows.tolist() for rows in of_row], [records.tolist() for records in size]
    ([[0, 1], [0]], [[1, 1], [1, 0]])
    """
    together, records = np.concatenate(words), np.concatenate(times).astype(np.int64, copy=False)
    ends = np.cumsum([0, *map(len, words)])
    if is_few(_merge, len(together)):
        _, inverse = np.unique(together >> np.uint64(shift), return_inverse=True)
        of_row = inverse.reshape(-1).astype(np.int32)
        k = int(of_row.max(initial=-1)) + 1
        parts = list(itertools.pairwise(ends))
        size = np.array([np.bincount(of_row[a:b], records[a:b], k) for a, b in parts]).astype(np.int64)
    else:
        of_row, size = np.empty(len(together), np.int32), np.zeros((len(words), len(together)), np.int64)
        size = size[:, : _merge(together, records, ends, np.uint64(shift), of_row, size)]
    return tuple(np.split(of_row, ends[1:-1])), tuple(size)


@njit(cache=True, nogil=True)
def _merge(words, times, ends, shift, of_row, size):  # type: ignore[no-untyped-def]
    """Number the groups of rows from `ends[f]` to `ends[f + 1]` of each file f; fill `of_row` and `size`."""
    n_files, at, k = len(ends) - 1, ends[:-1].copy(), 0
    while True:
        least, done = NONE, True
        for f in range(n_files):
            if at[f] < ends[f + 1]:
                least, done = min(least, words[at[f]] >> shift), False
        if done:
            return k
        for f in range(n_files):
            i = at[f]
            while i < ends[f + 1] and words[i] >> shift == least:
                of_row[i] = k
                size[f, k] += times[i]
                i += 1
            at[f] = i
        k += 1


# Joint counts of two columns.


DENSE = 8  # cells for each record, up to which all of them are counted


def pair_counts(first: AnyInts, second: AnyInts, span: int) -> tuple[Ints, Ints, Ints]:
    """The pairs of two codes from 0 on that occur, ascending, and how often; the second ones are below `span`.

    >>> [part.tolist() for part in pair_counts(np.array([1, 0, 1]), np.array([2, 1, 2]), 3)]
    [[0, 1], [1, 2], [1, 2]]
    """
    cells = np.multiply(first, span, dtype=np.int64)
    cells += second
    if len(cells) and int(cells.max()) < DENSE * len(cells):
        size = np.bincount(cells)
        pairs = np.flatnonzero(size)
        counts = size[pairs]
    else:
        pairs, counts = np.unique(cells, return_counts=True)
    return pairs // span, pairs % span, counts


def uniform_ranges(numbers: Floats, codes: Ints) -> tuple[Floats, Floats, Ints]:
    """Ranges of ascending numbers in which all records have one code (from 0): their ends, and the code.

    No range that would come about by chance. Records of one number count as one where most numbers belong to few
    records, as those of a household do.

    >>> numbers, codes = np.arange(60.0), np.repeat([0, 1, 2], [25, 5, 30])
    >>> [own.tolist() for own in uniform_ranges(numbers, codes)]
    [[0.0, 30.0], [24.0, 59.0], [0, 2]]
    """
    if not len(numbers):
        return numbers, numbers, codes
    first = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1]))
    last = np.append(first[1:], len(numbers)) - 1
    least, most = np.minimum.reduceat(codes, first), np.maximum.reduceat(codes, first)
    own = np.where(least == most, least, -1)
    start = np.flatnonzero(np.append(True, own[1:] != own[:-1]))
    end = np.append(start[1:], len(own)) - 1
    n = end - start + 1 if len(first) * FEW_EACH > len(numbers) else last[end] - first[start] + 1
    share = (np.bincount(codes) / len(codes))[own[start]]
    sure = (own[start] >= 0) & (n * np.log(share) <= BY_CHANCE - math.log(len(numbers)))
    return numbers[first[start[sure]]], numbers[last[end[sure]]], own[start[sure]]


def joint_counts(first: Floats, second: Floats) -> tuple[Floats, Floats, Ints]:
    """Distinct pairs of two columns, ascending, and the rows that have each; rows with a NaN are left out.

    >>> first, second, n = joint_counts(np.array([1.0, 0, 1, np.nan]), np.array([2.0, 5, 2, 0]))
    >>> first.tolist(), second.tolist(), n.tolist()
    ([0.0, 1.0], [5.0, 2.0], [1, 2])
    """
    known = ~(np.isnan(first) | np.isnan(second))
    firsts, i = np.unique(first[known], return_inverse=True)
    seconds, j = np.unique(second[known], return_inverse=True)
    first_of, second_of, n = pair_counts(i, j, max(1, len(seconds)))
    return firsts[first_of], seconds[second_of], n
