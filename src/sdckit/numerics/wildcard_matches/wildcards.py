"""Frequencies with wildcards: cells matched with cells of other patterns of missing keys.

A cell's pattern is the set of its missing keys. Two cells of one pattern match only if they are equal; cells of
different patterns match if they agree on the keys that both have. For a pair of patterns that is a comparison of two
words with the fields of the missing keys cleared, hence a hash look-up.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Words
from sdckit.numerics.coding import GOLDEN, find_word, has_bit, mix, room_for, set_bit
from sdckit.numerics.compiling import is_few, njit
from sdckit.numerics.grouping import Arena, bytes_for, group
from sdckit.numerics.threads import chunks, n_threads, run

# Wildcard matches of few cells with NumPy, which takes less time than compiling kernels.


PAIRS = 1 << 19  # pairs of incomplete cells, at most
LOOKED_UP = 1 << 16  # look-ups of complete cells, one for each pattern, at most


def are_few(edges: NDArray[np.int64]) -> bool:
    """Whether cells are few, given the edges of their patterns (P + 1,), complete cells first.

    >>> are_few(np.array([0, 9000, 9100])), are_few(np.array([0, 100, 9100]))
    (True, False)
    """
    n, incomplete = int(edges[-1]), int(edges[-1] - edges[1])
    return incomplete**2 <= PAIRS and n * len(edges) <= LOOKED_UP


def credit_few(
    words: NDArray[np.uint64],
    sums: NDArray[np.float64],
    add: NDArray[np.float64],
    clears: NDArray[np.uint64],
    edges: NDArray[np.int64],
    alpha: float,
) -> NDArray[np.float64]:
    """Add to each cell the sums of the cells of other patterns that match it, times alpha if these have a missing key.

    `words` (K,), distinct, by pattern, complete ones first; `sums` and `add` (K, L). `clears` and `edges`: bit mask of
    the fields that each pattern has, and its start. Returns (K,) what complete cells add to the first sum.

    >>> words, sums, add = np.array([0b01, 0b10, 0b11], np.uint64), np.array([[1.0], [2.0], [4.0]]), np.zeros((3, 1))
    >>> complete = credit_few(words, sums, add, np.array([0b11, 0b10], np.uint64), np.array([0, 2, 3]), 0.5)
    >>> add[:, 0].tolist(), complete.tolist()
    ([0.0, 2.0, 2.0], [0.0, 0.0, 2.0])
    """
    first, by_complete = int(edges[1]), np.zeros(sums.shape)
    for p in range(1, len(clears)):
        keep, rows = clears[p], np.arange(edges[p], edges[p + 1])
        rows = rows[np.argsort(words[rows] & keep)]
        complete, theirs = words[:first] & keep, words[rows] & keep
        at = np.minimum(np.searchsorted(theirs, complete), len(rows) - 1)
        cells = np.flatnonzero(theirs[at] == complete)
        partners = rows[at[cells]]
        add[cells] += alpha * sums[partners]
        for column in range(sums.shape[1]):
            by_complete[:, column] += np.bincount(partners, sums[cells, column], len(words))
    add += by_complete
    number = np.repeat(np.arange(1, len(clears)), np.diff(edges[1:]))
    mine, clear = words[first:], clears[number]
    match = (mine[:, None] ^ mine) & clear[:, None] & clear == 0
    match &= number[:, None] != number
    add[first:] += alpha * (match @ sums[first:])
    return by_complete[:, 0]


SMALL = 1 << 12  # incomplete cells from which on threads are used
FEW = 1 << 13  # pairs of cells that are compared one by one
BLOCK = 1 << 11  # cells whose words and sums stay in the first-level cache while the patterns pass
EVERYTHING = 0xFFFFFFFFFFFFFFFF  # the mask that keeps all fields


@dataclass(frozen=True, eq=False)
class Matched:
    """Sums over the matching cells of other patterns, for each cell.

    `size` and `weight` (K,): their records and weights, each multiplied by alpha if the matching cell has a missing
    key. `complete` (K,): records of those without a missing key, which is the size for alpha = 0.
    """

    size: NDArray[np.float64]
    weight: NDArray[np.float64]
    complete: NDArray[np.float64]


@njit(cache=True, nogil=True)
def _patterns(words, shifts, masks, missing, start, stop, pattern):  # type: ignore[no-untyped-def]
    """Write the bit set of the fields whose code is `missing` into `pattern` (K,), for cells start to stop."""
    for i in range(start, stop):
        bits = np.uint64(0)
        for j in range(len(shifts)):
            if (words[i] >> shifts[j]) & masks[j] == missing[j]:
                bits |= np.uint64(1) << np.uint64(j)
        pattern[i] = bits


def patterns_of(words: Words, shifts: Words, masks: Words, missing: Words) -> Words:
    """Bit set of the missing wildcard keys of each cell, over the fields given; shape (K,)."""
    if is_few(_patterns, len(words)):
        lacks = ((words[:, None] >> shifts) & masks) == missing
        return np.asarray(lacks @ (np.uint64(1) << np.arange(len(shifts), dtype=np.uint64)), np.uint64)
    pattern = np.empty(len(words), np.uint64)
    run(lambda part: _patterns(words, shifts, masks, missing, *part, pattern), chunks(len(words)))
    return pattern


class Credited(NamedTuple):
    """Cells: packed codes (K,); sums, as records and weight (K, L); sums over matching cells so far (K, L)."""

    words: Words
    sums: NDArray[np.float64]
    add: NDArray[np.float64]


class _Table(NamedTuple):
    """A hash table: words, number of each, and a bit set of their hashes."""

    keys: Words
    slots: NDArray[np.int32]
    bitmap: Words


class _Tables(NamedTuple):
    """Hash tables of all incomplete patterns, concatenated, and the start of each."""

    table: _Table
    starts: NDArray[np.int64]
    bit_starts: NDArray[np.int64]


@njit(cache=True, nogil=True)
def _part(tables, p):  # type: ignore[no-untyped-def]
    """The hash table of pattern p, as views."""
    at = slice(tables.starts[p], tables.starts[p + 1])
    bit_at = slice(tables.bit_starts[p], tables.bit_starts[p + 1])
    return _Table(tables.table.keys[at], tables.table.slots[at], tables.table.bitmap[bit_at])


@njit(cache=True, nogil=True)
def _fill_table(words, clear, table, group_of):  # type: ignore[no-untyped-def]
    """Fill a hash table with the words (n,) masked by `clear`, and `group_of` (n,) with their numbers; how many differ.

    A free slot holds ~clear, which no masked word equals.
    """
    keys, slots, bitmap = table
    bit_mask, empty = np.uint64(64 * len(bitmap) - 1), ~clear
    keys[:] = empty
    bitmap[:] = 0
    n_groups = 0
    for r in range(len(words)):
        word = words[r] & clear
        h = mix(word)
        at = find_word(keys, empty, word, h)
        if keys[at] == empty:
            keys[at] = word
            slots[at] = n_groups
            n_groups += 1
            set_bit(bitmap, h & bit_mask)
        group_of[r] = slots[at]
    return n_groups


@njit(cache=True, nogil=True)
def _fill_tables(words, edges, clears, chosen, tables):  # type: ignore[no-untyped-def]
    """Fill the hash tables of the `chosen` patterns with the words of their cells."""
    for p in chosen:
        mine = words[edges[p] : edges[p + 1]]
        _fill_table(mine, clears[p], _part(tables, p), np.empty(len(mine), np.int32))


@njit(cache=True, nogil=True)
def _probe(cells, start, stop, clear, table, theirs, credit, back, candidates):  # type: ignore[no-untyped-def]
    """Look cells start to stop up in a table; add `credit` times `theirs` to them, and their sums to `back`, per entry.

    The bit set decides most look-ups without a branch; only the others, `candidates`, are looked up in the table.
    """
    words, sums, add = cells
    keys, slots, bitmap = table
    bit_mask, n = np.uint64(64 * len(bitmap) - 1), np.int64(0)
    for i in range(start, stop):
        candidates[n] = i
        n += np.int64(has_bit(bitmap, mix(words[i] & clear) & bit_mask))
    for k in range(n):
        i = candidates[k]
        word = words[i] & clear
        at = find_word(keys, ~clear, word, mix(word))
        if keys[at] == word:
            g = slots[at]
            for c in range(sums.shape[1]):
                add[i, c] += credit * theirs[g, c]
                back[g, c] += sums[i, c]


@njit(cache=True, nogil=True)
def _scan_complete(cells, start, stop, edges, clears, alpha, chosen, tables, back):  # type: ignore[no-untyped-def]
    """Match complete cells start to stop with the chosen incomplete patterns; `back`: sums for incomplete cells."""
    candidates = np.empty(BLOCK, np.int64)
    for b in range(start, stop, BLOCK):
        e = min(b + BLOCK, stop)
        for p in chosen:
            theirs = cells.sums[edges[p] : edges[p + 1]]
            of_theirs = back[edges[p] - edges[1] : edges[p + 1] - edges[1]]
            _probe(cells, b, e, clears[p], _part(tables, p), theirs, alpha, of_theirs, candidates)


@njit(cache=True, nogil=True)
def _room(n, width):  # type: ignore[no-untyped-def]
    """Working memory for matching up to n cells with `width` sums; new arrays for every pair would cost page faults."""
    places = room_for(n)
    table = _Table(np.empty(places, np.uint64), np.empty(places, np.int32), np.empty(max(1, places // 16), np.uint64))
    return table, np.empty(n, np.int32), np.empty((n, width)), np.empty((n, width)), np.empty(BLOCK, np.int64)


@njit(cache=True, nogil=True)
def _match_pair(cells, small, large, clear, alpha, room):  # type: ignore[no-untyped-def]
    """Add alpha times the sums of matching cells of two incomplete patterns, slices of the cells, to each other."""
    words, sums, add = cells
    n = small[1] - small[0]
    places, ((keys, slots, bitmap), group_of, theirs, back, candidates) = room_for(n), room
    table = _Table(keys[:places], slots[:places], bitmap[: max(1, places // 16)])
    n_groups = _fill_table(words[small[0] : small[1]], clear, table, group_of)
    width = sums.shape[1]
    theirs[:n_groups], back[:n_groups] = 0.0, 0.0
    for r in range(n):
        for c in range(width):
            theirs[group_of[r], c] += sums[small[0] + r, c]
    for b in range(large[0], large[1], BLOCK):
        e = min(b + BLOCK, large[1])
        _probe(cells, b, e, clear, table, theirs, alpha, back, candidates)
    for r in range(n):
        for c in range(width):
            add[small[0] + r, c] += alpha * back[group_of[r], c]


@njit(cache=True, nogil=True)
def _match_few(cells, small, large, clear, alpha):  # type: ignore[no-untyped-def]
    """Do as `_match_pair` comparing all pairs of cells, which is faster for a handful of cells than a hash table."""
    words, sums, add = cells
    for r in range(small[0], small[1]):
        mine = words[r] & clear
        for i in range(large[0], large[1]):
            if words[i] & clear == mine:
                for c in range(sums.shape[1]):
                    add[i, c] += alpha * sums[r, c]
                    add[r, c] += alpha * sums[i, c]


@njit(cache=True, nogil=True)
def _match_pairs(cells, edges, clears, first, step, alpha):  # type: ignore[no-untyped-def]
    """Match every `step`-th pair of incomplete patterns, from number `first` on."""
    number, largest = 0, np.int64(1)  # a literal 1 has another type, and `_room` would be compiled twice
    for a in range(1, len(clears)):
        largest = max(largest, edges[a + 1] - edges[a])
    room = _room(largest, cells.sums.shape[1])
    for a in range(1, len(clears)):
        for b in range(a + 1, len(clears)):
            if number % step == first:
                small, large = (edges[a], edges[a + 1]), (edges[b], edges[b + 1])
                if small[1] - small[0] > large[1] - large[0]:
                    small, large = large, small
                if (small[1] - small[0]) * min(large[1] - large[0], FEW) <= FEW:
                    _match_few(cells, small, large, clears[a] & clears[b], alpha)
                else:
                    _match_pair(cells, small, large, clears[a] & clears[b], alpha, room)
            number += 1


@njit(cache=True, nogil=True)
def _sort_cells(group_of, rank, next_free, words, given, out_words, sums, add, position):  # type: ignore[no-untyped-def]
    """Counting sort of cells by pattern, complete ones first; words, sums and `position` are filled, `add` set to 0."""
    for i in range(len(words)):
        p = rank[group_of[i]]
        at = next_free[p]
        next_free[p] = at + 1
        position[i] = at
        out_words[at] = words[i]
        for c in range(sums.shape[1]):
            sums[at, c], add[at, c] = given[i, c], 0.0


@njit(cache=True, nogil=True)
def _unsort(add, by_complete, position, start, stop, size, weight, complete):  # type: ignore[no-untyped-def]
    """Write the sums of cells start to stop into the outputs (K,), in the original order of the cells."""
    for i in range(start, stop):
        size[i] = add[position[i], 0]
        weight[i] = add[position[i], 1]
        complete[i] = by_complete[position[i]]


@dataclass(frozen=True, eq=False)
class Laid:
    """Cells sorted by their pattern of missing keys, complete ones first.

    `position` (K,): index of each original cell among them. `present`, `clears` and `edges` (P,), (P,), (P + 1,): the
    patterns, bit mask of the fields that each has, and its start.
    """

    cells: Credited
    position: NDArray[np.int32]
    present: Words
    clears: Words
    edges: NDArray[np.int64]

    def credited(self, alpha: float) -> Matched:
        """Match incomplete cells with each other too, and return the sums in the order of the original cells."""
        n, first = len(self.position), int(self.edges[1])
        by_complete = np.zeros(n)
        by_complete[first:] = self.cells.add[first:, 0]
        credit_incomplete(self, alpha)
        out = Matched(np.empty(n), np.empty(n), np.empty(n))
        into = out.size, out.weight, out.complete
        run(lambda part: _unsort(self.cells.add, by_complete, self.position, *part, *into), chunks(n))
        return out


def _tables(laid: Laid, chosen: NDArray[np.int64]) -> _Tables:
    places = np.zeros(len(laid.clears), np.int64)
    for p in chosen.tolist():
        places[p] = max(16, 2 << int(laid.edges[p + 1] - laid.edges[p]).bit_length())
    starts = np.concatenate([[0], np.cumsum(places)]).astype(np.int64)
    bit_starts = starts // 8  # 64 bits to 8 places: at least 16 bits to an entry
    whole = _Table(np.empty(starts[-1], np.uint64), np.empty(starts[-1], np.int32), np.empty(bit_starts[-1], np.uint64))
    tables = _Tables(whole, starts, bit_starts)
    _fill_tables(laid.cells.words, laid.edges, laid.clears, chosen, tables)
    return tables


def match_packed(
    words: Words,
    size: NDArray[np.float64],
    weight: NDArray[np.float64],
    pattern: Words,
    clear_of: dict[int, int],
    alpha: float,
) -> Matched:
    """Sums of records and weights over the cells of other patterns that match each cell.

    `words` (K,): the cells, distinct. `size` and `weight` (K,): records and sum of weights of each cell. `pattern`
    (K,): bit set of the missing wildcard keys of each cell. `clear_of`: for each pattern present, bit mask of the
    fields that it has. `alpha`: weight of a match through the other cell's missing key, 0 to 1.

    Time proportional to cells times incomplete patterns, memory to cells.
    """
    laid = lay_out(words, np.column_stack([size, weight]).astype(np.float64, copy=False), pattern, clear_of)
    if are_few(laid.edges):
        complete = credit_few(*laid.cells, laid.clears, laid.edges, alpha)[laid.position]
        sums = laid.cells.add[laid.position].T.copy()
        return Matched(sums[0], sums[1], complete)
    credit_complete(laid, np.arange(1, len(laid.clears)), alpha)
    return laid.credited(alpha)


def match_columns(
    words: Words, sums: NDArray[np.float64], pattern: Words, clear_of: dict[int, int]
) -> NDArray[np.float64]:
    """Several sums over the cells of other patterns that match each cell (K, L), with alpha = 1.

    `sums` (K, L); the other arguments as `match_packed`. Which cells match is looked up once for all sums.

    >>> words, lacks = np.array([0b01, 0b10, 0b11], np.uint64), np.array([0, 0, 1], np.uint64)
    >>> match_columns(words, np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 4.0]]), lacks, {0: 0b11, 1: 0b10}).tolist()
    [[0.0, 0.0], [0.0, 4.0], [2.0, 0.0]]
    """
    laid = lay_out(words, np.ascontiguousarray(sums), pattern, clear_of)
    if are_few(laid.edges):
        credit_few(*laid.cells, laid.clears, laid.edges, 1.0)
    else:
        credit_complete(laid, np.arange(1, len(laid.clears)), 1.0)
        credit_incomplete(laid, 1.0)
    return laid.cells.add[laid.position]


def _kept(present: Words, clear_of: dict[int, int]) -> Words:
    """Bit mask of the fields that each pattern has."""
    return np.array([clear_of[int(p)] if p else EVERYTHING for p in present], np.uint64)


def lay_out(words: Words, sums: NDArray[np.float64], pattern: Words, clear_of: dict[int, int]) -> Laid:
    """Sort cells by pattern; arguments as `match_columns`."""
    if is_few(_sort_cells, len(words)):
        return _lay_out_few(words, sums, pattern, clear_of)
    groups = group(pattern, bits=max(clear_of).bit_length())
    by_pattern = np.argsort(groups.words)
    present, counts = groups.words[by_pattern], groups.size[by_pattern]
    rank = np.empty(len(present), np.int32)
    rank[by_pattern] = np.arange(len(present), dtype=np.int32)
    if present[0] != 0:  # no complete cell: an empty slice in its place
        present, counts, rank = np.append(np.uint64(0), present), np.append(0, counts), rank + np.int32(1)
    n, edges = len(words), np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    clears, held = _kept(present, clear_of), sums.size
    memory = Arena(bytes_for((n, np.uint64), (held, np.float64), (held, np.float64), (n, np.int32)))
    sorted_words, position = memory.take(n, np.uint64), memory.take(n, np.int32)
    ordered, add = (memory.take(held, np.float64).reshape(sums.shape) for _ in range(2))
    _sort_cells(groups.of_row, rank, edges.copy(), words, sums, sorted_words, ordered, add, position)
    return Laid(Credited(sorted_words, ordered, add), position, present, clears, edges)


def _lay_out_few(words: Words, sums: NDArray[np.float64], pattern: Words, clear_of: dict[int, int]) -> Laid:
    order = np.argsort(pattern, kind="stable")
    present, counts = np.unique(np.append(pattern, np.uint64(0)), return_counts=True)
    counts[0] -= 1  # an empty slice where there is no complete cell
    position = np.empty(len(words), np.int32)
    position[order] = np.arange(len(words), dtype=np.int32)
    edges = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    cells = Credited(words[order], sums[order], np.zeros(sums.shape))
    return Laid(cells, position, present, _kept(present, clear_of), edges)


def credit_incomplete(laid: Laid, alpha: float) -> None:
    """Add the sums of matching incomplete cells of different patterns to each other."""
    if len(laid.present) <= 2 or alpha == 0:
        return
    first = int(laid.edges[1])  # only the incomplete ones
    words, sums, edges = laid.cells.words[first:], laid.cells.sums[first:], laid.edges - first
    step = n_threads() if len(words) > SMALL else 1
    more = np.zeros((step, *sums.shape))
    run(lambda t: _match_pairs(Credited(words, sums, more[t]), edges, laid.clears, t, step, alpha), range(step))
    laid.cells.add[first:] += more.sum(axis=0)


def credit_complete(laid: Laid, chosen: NDArray[np.int64], alpha: float) -> None:
    """Add the sums of complete cells and of the matching incomplete cells of the chosen patterns to each other."""
    tables, first = _tables(laid, chosen), int(laid.edges[1])
    parts = chunks(first)
    back = np.zeros((len(parts), len(laid.cells.words) - first, laid.cells.sums.shape[1]))
    run(
        lambda t: _scan_complete(laid.cells, *parts[t], laid.edges, laid.clears, alpha, chosen, tables, back[t]),
        range(len(parts)),
    )
    laid.cells.add[first:] += back.sum(axis=0)


# Wildcard matches by bit sets of the cells that may have each value.
# For every level of a key, a block of cells has a bit per cell, set if the cell has the level or the key is missing.
# The matches of a cell are the intersection of the bit sets of its values, mostly empty after a few keys. The time is
# quadratic in the cells, but a block takes nanoseconds, and the number of patterns does not matter.


LEVELS = 64  # bit sets of a key; more levels share them, and candidates are then compared
WORDS = 16
CELLS_OF_BLOCK = 64 * WORDS  # cells of a block
QUERIES = 1 << 11  # cells that are matched with a block while it is in the cache
BYTES = 1 << 24  # memory of bit sets at a time
SORTED_KEYS = 4  # keys by which cells are sorted, so that most blocks have no cell with the first value of a query
NO_SET = -1

DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)  # every six neighbouring bits are unique: gives the index of a single bit
PLACE_OF = np.argsort([(int(DE_BRUIJN) << place & 0xFFFFFFFFFFFFFFFF) >> 58 for place in range(64)])


@dataclass(frozen=True, eq=False)
class _Query:
    """Cells in sorted order, and the bit set of each of their values.

    `sets` (K, m): number of the bit set, the most selective key first; -1 for a wildcard. `first_set` (m + 1,): first
    bit set of each key, and their number. `shared` (h, K): codes of the keys whose levels share bit sets, -1 for a
    wildcard. `order` (K,): index of the original cell. `n_complete`: number of cells without wildcards, which come
    first.
    """

    sets: NDArray[np.int32]
    first_set: NDArray[np.int32]
    shared: NDArray[np.int64]
    order: NDArray[np.int64]
    n_complete: int


@njit(cache=True, nogil=True)
def _build(sets, first_set, start, stop, bits):  # type: ignore[no-untyped-def]
    """Fill the bit sets (sets, words) of a block, cells start to stop; wildcards are in every set of their key."""
    n_keys = len(first_set) - 1
    for k in range(n_keys):
        low, high = first_set[k], first_set[k + 1]
        free = np.zeros(WORDS, np.uint64)
        for i in range(start, stop):
            if sets[i, k] < 0:
                at = i - start
                free[at >> 6] |= np.uint64(1) << np.uint64(at & 63)
        for s in range(low, high):
            for w in range(WORDS):
                bits[s, w] = free[w]
        for i in range(start, stop):
            s = sets[i, k]
            if s >= 0:
                at = i - start
                bits[s, at >> 6] |= np.uint64(1) << np.uint64(at & 63)


@njit(cache=True, nogil=True, inline="always")
def _agree(shared, i, j):  # type: ignore[no-untyped-def]
    """Whether cells i and j agree in the keys whose levels share bit sets, wildcards matching any."""
    for h in range(len(shared)):
        mine, other = shared[h, i], shared[h, j]
        if mine != other and mine >= 0 and other >= 0:
            return False
    return True


@njit(cache=True, nogil=True)
def _scan(sets, shared, start, stop, edges, bits, sums, add):  # type: ignore[no-untyped-def]
    """Add the sums (K, 2) of the matching cells in some blocks to `add` (K, 2), for cells start to stop.

    `edges`: start of each block; `bits` (blocks, sets, words): their bit sets.
    """
    matching, everybody = np.empty(WORDS, np.uint64), np.empty(WORDS, np.uint64)
    unit = np.uint64(1)
    for b in range(len(edges) - 1):
        first, n = edges[b], edges[b + 1] - edges[b]
        block = bits[b]
        for w in range(WORDS):
            left = min(64, max(0, n - 64 * w))
            everybody[w] = ~np.uint64(0) if left == 64 else (unit << np.uint64(left)) - unit
        for i in range(start, stop):
            some = unit
            for w in range(WORDS):
                matching[w] = everybody[w]
            for k in range(sets.shape[1]):
                s = sets[i, k]
                if s >= 0:
                    some = np.uint64(0)
                    for w in range(WORDS):
                        matching[w] &= block[s, w]
                        some |= matching[w]
                    if some == 0:
                        break
            if some == 0:
                continue
            size, weight = 0.0, 0.0
            for w in range(WORDS):
                rest = matching[w]
                while rest != 0:
                    lone = rest & (~rest + unit)
                    rest ^= lone
                    j = first + 64 * w + PLACE_OF[(lone * DE_BRUIJN) >> np.uint64(58)]
                    if j != i and _agree(shared, i, j):
                        size += sums[j, 0]
                        weight += sums[j, 1]
            add[i, 0] += size
            add[i, 1] += weight


def _fields(
    codes: Sequence[NDArray[np.int64]], missing: Sequence[int | None]
) -> tuple[list[NDArray[np.int32]], list[bool], list[float]]:
    """For each key: bit set of each cell, whether levels share bit sets, and the share of pairs of cells that agree."""
    fields, sharing, agreeing = [], [], []
    for column, gone in zip(codes, missing, strict=True):
        free = np.zeros(len(column), bool) if gone is None else column == gone
        shares = int(column.max(initial=0, where=~free)) >= LEVELS
        # the high bits of a product, since codes are often multiples of a small number
        mixed = (column.astype(np.uint64) * GOLDEN) >> np.uint64(58)
        field = (mixed if shares else column).astype(np.int32)
        field[free] = NO_SET
        part = np.bincount(field[~free], minlength=1) / len(column)
        fields.append(field)
        sharing.append(shares)
        agreeing.append(1 - (1 - free.mean()) ** 2 + float((part**2).sum()))
    return fields, sharing, agreeing


def _prepare(codes: Sequence[NDArray[np.int64]], missing: Sequence[int | None]) -> _Query:
    fields, sharing, agreeing = _fields(codes, missing)
    by_key = sorted(range(len(codes)), key=lambda j: agreeing[j])
    incomplete = np.zeros(len(codes[0]), bool)
    for field in fields:
        incomplete |= field == NO_SET
    order = np.lexsort([*(fields[j] for j in reversed(by_key[:SORTED_KEYS])), incomplete])
    sets = np.empty((len(order), len(codes)), np.int32)
    first_set = np.zeros(len(codes) + 1, np.int32)
    for k, j in enumerate(by_key):
        column = fields[j][order]
        first_set[k + 1] = first_set[k] + int(column.max(initial=0)) + 1
        sets[:, k] = np.where(column == NO_SET, NO_SET, column + first_set[k])
    shared = np.empty((sum(sharing), len(order)), np.int64)
    for h, j in enumerate([j for j in by_key if sharing[j]]):
        shared[h] = np.where(fields[j] == NO_SET, NO_SET, codes[j])[order]
    return _Query(sets, first_set, shared, order, int(len(order) - incomplete.sum()))


def _add_up(query: _Query, sums: NDArray[np.float64], start: int, blocks: tuple[int, int]) -> NDArray[np.float64]:
    """Sums over the cells of a range that match each cell from `start` on (K, 2)."""
    n, n_sets = len(query.order), int(query.first_set[-1])
    add = np.zeros((n, 2))
    queries = [(i, min(i + QUERIES, n)) for i in range(start, n, QUERIES)]
    at_once = max(1, BYTES // (8 * WORDS * n_sets))
    for low in range(blocks[0], blocks[1], at_once * CELLS_OF_BLOCK):
        high = min(low + at_once * CELLS_OF_BLOCK, blocks[1])
        edges = np.append(np.arange(low, high, CELLS_OF_BLOCK), high)
        bits = np.empty((len(edges) - 1, n_sets, WORDS), np.uint64)
        run(lambda b: _build(query.sets, query.first_set, edges[b], edges[b + 1], bits[b]), range(len(bits)))  # noqa: B023
        run(lambda part: _scan(query.sets, query.shared, *part, edges, bits, sums, add), queries)  # noqa: B023
    return add


def match_bits(
    codes: Sequence[NDArray[np.int64]],
    size: NDArray[np.float64],
    weight: NDArray[np.float64],
    missing: Sequence[int | None],
    alpha: float,
) -> Matched:
    """Sums over the cells of other patterns that match each cell.

    `codes` (K,): the cells key by key, distinct, in codes from 0 on. `size` and `weight` (K,): records and sum of
    weights of each cell. `missing`: per key, the code of a missing value that stands for any value; None where
    there is none. `alpha`: weight of a match through the other cell's missing key, 0 to 1. The result is the same
    for any number of threads.

    Time proportional to the square of the cells, memory to cells times keys.

    >>> codes = [np.array([0, 0, 1]), np.array([0, 2, 2])]
    >>> match_bits(codes, np.ones(3), np.ones(3), [None, 2], 0.5).size.tolist()
    [0.5, 1.0, 0.0]
    """
    query = _prepare(codes, missing)
    sums = np.stack([size[query.order], weight[query.order]], axis=1)
    # a complete cell matches no other complete one
    add = _add_up(query, sums, query.n_complete, (0, query.n_complete))
    complete = add[:, 0].copy()
    if alpha > 0:
        add += alpha * _add_up(query, sums, 0, (query.n_complete, len(sums)))
    out = Matched(np.empty(len(sums)), np.empty(len(sums)), np.empty(len(sums)))
    out.size[query.order], out.weight[query.order], out.complete[query.order] = add[:, 0], add[:, 1], complete
    return out
