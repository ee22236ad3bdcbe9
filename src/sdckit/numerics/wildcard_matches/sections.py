"""Cells in sections, one per pattern of missing keys: merge them when keys are left out, match them, count them.

The complete cells are the first section and have a hash table. It is partitioned by the values of some keys: cells
sorted by those keys are looked up in the same partition one after the other, mostly in the processor's cache.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.coding import find_number, has_bit, hash_word, set_bit, spread
from sdckit.numerics.compiling import is_few, njit, sparing
from sdckit.numerics.grouping import Arena, bytes_for, sum_by
from sdckit.numerics.risk_kernel import mean_inverse
from sdckit.numerics.wildcard_matches.submargins import Sums

CELLS_PER_PART = 1 << 9
MAX_PART_BITS = 10
LIKELY = 256  # completed cells collected before they are looked up
IN_CACHE = 1 << 10  # cells that stay in the processor's cache while the limits pass
TERMS = 4  # steps of the risk of one cell, about: most are of few records, or as they were
WORD = 0xFFFFFFFFFFFFFFFF


class Parts(NamedTuple):
    """Partitions of a hash table: bit mask of the fields that choose the partition; start and slot mask of each."""

    keep: np.uint64
    starts: NDArray[np.int64]
    masks: NDArray[np.uint64]


class Table(NamedTuple):
    """Hash table of the indices of cells, by their words, and a bit set of the hashes."""

    slots: NDArray[np.int32]
    bitmap: NDArray[np.uint64]


class _Levels(NamedTuple):
    """Levels of some fields, of field k codes[starts[k] : starts[k + 1]]; the first `n_inner` vary within a cell."""

    starts: NDArray[np.int64]
    codes: NDArray[np.uint64]
    n_inner: int


class Sections(NamedTuple):
    """Cells by pattern of missing keys, complete ones first.

    `words`, `sums` and `risk` (K,), (K, 2), (K,): packed codes; records and weight; sum of the risks of the records of
    a cell without matches, NaN if unknown. `present` and `edges` (P,), (P + 1,): the patterns, ascending from 0, and
    the start of each.
    """

    words: NDArray[np.uint64]
    sums: NDArray[np.float64]
    risk: NDArray[np.float64]
    present: NDArray[np.uint64]
    edges: NDArray[np.int64]


class Room:
    """Working memory that one margin after another is merged into: new arrays would cost more in page faults."""

    def __init__(self, n: int, n_incomplete: int, n_places: int) -> None:
        n_slots = n_places + (1 << max(4, (2 * n_incomplete).bit_length()))
        arena = Arena(
            bytes_for(
                (n, np.uint64), (2 * n, np.float64), (n, np.float64), (2 * n, np.float64),
                (n_slots, np.int32), (n_places // 8, np.uint64),
            )
        )  # fmt: skip
        self.words, self.sums = arena.take(n, np.uint64), arena.take(2 * n, np.float64).reshape(n, 2)
        self.risk, self.add = arena.take(n, np.float64), arena.take(2 * n, np.float64).reshape(n, 2)
        self.table = Table(arena.take(n_slots, np.int32), arena.take(n_places // 8, np.uint64))


# --- kernels ----------------------------------------------------------------------------------------


@njit(cache=True, nogil=True, inline="always")
def _part(word, n_parts):  # type: ignore[no-untyped-def]
    """Partition of a word, given its shared fields."""
    return np.int64((spread(word) >> np.uint64(40)) & np.uint64(n_parts - 1))


@njit(cache=True, nogil=True)
def _count_parts(words, keep, counts):  # type: ignore[no-untyped-def]
    """Add the number of words (n,) in each partition to `counts`; `keep`: bit mask of the shared fields."""
    for i in range(len(words)):
        counts[_part(words[i] & keep, len(counts))] += 1


@njit(cache=True, nogil=True, inline="always")
def _bit(h, base, mask):  # type: ignore[no-untyped-def]
    """Index of the bit of a hash h; a partition that starts at slot `base` has eight bits for each slot."""
    return np.uint64(8 * base) + ((h >> np.uint64(16)) & (np.uint64(8) * mask + np.uint64(7)))


@njit(cache=True, nogil=True)
def _merge_section(cells, start, stop, clear, parts, table, to, n_out):  # type: ignore[no-untyped-def]
    """Merge cells start to stop, with some fields cleared, into the `n_out` cells of `to`; return their new number.

    `clear`: bit mask of the fields to keep. A bit for the hash of each word is set in the bit set, if there is one:
    most look-ups end there.
    """
    keep, starts, masks = parts
    words, sums, risk, _, _ = cells
    to_words, to_sums, to_risk, _, _ = to
    for i in range(start, stop):
        word = words[i] & clear
        h, part = hash_word(word), _part(word & keep, len(masks))
        base, mask = starts[part], masks[part]
        slots = table.slots[base : starts[part + 1]]
        at = find_number(slots, to_words, word, h)
        g = slots[at]
        if g >= 0:
            to_risk[g] = np.nan
            to_sums[g, 0] += sums[i, 0]
            to_sums[g, 1] += sums[i, 1]
            continue
        slots[at] = n_out
        to_words[n_out], to_risk[n_out] = word, risk[i]
        to_sums[n_out, 0], to_sums[n_out, 1] = sums[i, 0], sums[i, 1]
        n_out += 1
        if len(table.bitmap) > 0:
            set_bit(table.bitmap, _bit(h, base, mask))
    return n_out


@njit(cache=True, nogil=True)
def _merge_sections(cells, sources, first_source, clear, parts, whole, table, to):  # type: ignore[no-untyped-def]
    """Merge cells that agree in the fields left; section q of `to` from sources[first_source[q] : first_source[q + 1]].

    The table and bit set of the first section are kept for look-ups; those of the others use the end of `slots`.
    `whole`: a single partition, overwritten.
    """
    slots, bitmap = table
    n_places, n_out = parts.starts[-1], np.int64(0)  # a literal 0 has another type and would compile twice
    bitmap[: n_places // 8] = 0
    whole.starts[0] = n_places
    for q in range(len(to.edges) - 1):
        to.edges[q] = n_out
        some = sources[first_source[q] : first_source[q + 1]]
        if q == 0:
            slots[:n_places] = -1
            by, held = parts, table
        else:
            total, places = 0, 16
            for source in some:
                total += cells.edges[source + 1] - cells.edges[source]
            while places < 2 * total:
                places *= 2
            slots[n_places : n_places + places] = -1
            whole.starts[1], whole.masks[0] = n_places + places, np.uint64(places - 1)
            by, held = whole, Table(slots, bitmap[:0])
        for source in some:
            first, stop = cells.edges[source], cells.edges[source + 1]
            n_out = _merge_section(cells, first, stop, clear, by, held, to, n_out)
    to.edges[-1] = n_out


@njit(cache=True, nogil=True)
def next_levels(turn, starts, first, stop):  # type: ignore[no-untyped-def]
    """Advance `turn` (keys,) to the next combination of levels of the keys first to stop; False after the last."""
    for k in range(first, stop):
        turn[k] += 1
        if turn[k] < starts[k + 1] - starts[k]:
            return True
        turn[k] = 0
    return False


@njit(cache=True, nogil=True)
def _meet(cells, parts, all_slots, likely, rows, n, alpha, add):  # type: ignore[no-untyped-def]
    """Add the sums of incomplete cells `rows` and of the complete cells with their completed words to each other.

    `likely` (n,): completed words that the bit set contains; those not in the table are skipped. `add` (K, 2): updated.
    """
    keep, starts, masks = parts
    words, sums = cells.words, cells.sums
    for c in range(n):
        word, r = likely[c], rows[c]
        part = _part(word & keep, len(masks))
        slots = all_slots[starts[part] : starts[part + 1]]
        g = slots[find_number(slots, words, word, hash_word(word))]
        if g >= 0:
            add[g, 0] += alpha * sums[r, 0]
            add[g, 1] += alpha * sums[r, 1]
            add[r, 0] += sums[g, 0]
            add[r, 1] += sums[g, 1]


@njit(cache=True, nogil=True)
def _fill(cells, number, clear, parts, table, levels, alpha, scratch, add):  # type: ignore[no-untyped-def]
    """Add the sums of the cells of section `number` and of the complete cells they match to each other.

    `levels`: those of the missing keys, shifted to their fields; the first key varies fastest, those from `n_inner` on
    are shared and vary in the outermost loop. `clear`: bit mask of the keys present. `add` (K, 2): updated.
    """
    words, first, stop = cells.words, cells.edges[number], cells.edges[number + 1]
    keep, part_starts, masks = parts
    starts, codes, n_inner = levels
    slots, bitmap = table
    turn, likely, rows = scratch
    n_keys, n = len(turn), np.int64(0)
    n_innermost = starts[1] if n_inner > 0 else 1
    while True:
        outer = np.uint64(0)
        for k in range(n_inner, n_keys):
            outer |= codes[starts[k] + turn[k]]
        for r in range(first, stop):
            base = (words[r] & clear) | outer
            part = _part(base & keep, len(masks))
            place, mask = part_starts[part], masks[part]
            more = True
            while more:
                partial = base
                for k in range(1, n_inner):
                    partial |= codes[starts[k] + turn[k]]
                for c0 in range(0, n_innermost, LIKELY):
                    for c in range(c0, min(c0 + LIKELY, n_innermost)):
                        word = partial | codes[c] if n_inner > 0 else partial
                        likely[n], rows[n] = word, r
                        n += np.int64(has_bit(bitmap, _bit(hash_word(word), place, mask)))
                    if n >= LIKELY:
                        _meet(cells, parts, slots, likely, rows, n, alpha, add)
                        n = np.int64(0)
                more = next_levels(turn, starts, np.int64(1), n_inner)
        if not next_levels(turn, starts, n_inner, n_keys):
            break
    _meet(cells, parts, slots, likely, rows, n, alpha, add)


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def _below(sums, add, limit):  # type: ignore[no-untyped-def]
    """Records of the cells whose frequency (own records plus matches) is below a limit."""
    total = 0.0
    for i in range(len(sums)):
        total += sums[i, 0] if sums[i, 0] + add[i, 0] < limit else 0.0
    return total


@njit(cache=True, nogil=True)
def _figures(sums, add, risk, limits, below):  # type: ignore[no-untyped-def]
    """Add records in cells of a frequency below each limit to `below` (L,); return the sum of the risks of all records.

    `sums` and `add` (K, 2): own and matching records and weights; `risk` (K,): of unmatched cells, filled where NaN.
    """
    total = 0.0
    for b in range(0, len(sums), IN_CACHE):
        for k in range(len(limits)):
            below[k] += _below(sums[b : b + IN_CACHE], add[b : b + IN_CACHE], limits[k])
    for i in range(len(sums)):
        f = sums[i, 0] + add[i, 0]
        if f > sums[i, 0]:
            total += mean_inverse(f, sums[i, 1] + add[i, 1]) * sums[i, 0]
        else:
            if np.isnan(risk[i]):
                risk[i] = mean_inverse(f, sums[i, 1]) * f
            total += risk[i]
    return total


# --- sections ---------------------------------------------------------------------------------------


def parts_of(words: NDArray[np.uint64], keep: int) -> Parts:
    """Partitions of a hash table that these words, or those they merge into, fill to one half at most.

    >>> keep, starts, masks = parts_of(np.arange(8, dtype=np.uint64), 0b100)
    >>> int(starts[-1]) >= 16, np.diff(starts).tolist() == (masks + 1).tolist()
    (True, True)
    """
    counts = np.zeros(1 << min(MAX_PART_BITS, max(1, (len(words) // CELLS_PER_PART).bit_length())), np.int64)
    if is_few(_count_parts, len(words)):
        part = (spread.py_func(words & np.uint64(keep)) >> np.uint64(40)) & np.uint64(len(counts) - 1)
        np.add.at(counts, part.astype(np.int64), 1)
    else:
        _count_parts(words, np.uint64(keep), counts)
    places = np.array([1 << max(3, (2 * int(count) - 1).bit_length()) for count in counts], np.int64)
    starts = np.concatenate([[0], np.cumsum(places)])
    return Parts(np.uint64(keep), starts, (places - 1).astype(np.uint64))


def merge_sections(
    cells: Sections, words: NDArray[np.uint64], parts: Parts, room: Room, *, clear: int, gone: int
) -> Sections:
    """Merge cells that agree when some fields are cleared.

    `words` (K,): words in place of those of the cells. `parts` are by fields that are not cleared. `room` holds the
    result, and the table and bit set of its complete cells, until it is used again. `clear`: bit mask of the fields to
    keep. `gone`: bits of the cleared fields in a pattern.
    """
    present, section = np.unique(cells.present & np.uint64(WORD & ~gone), return_inverse=True)
    sources = np.argsort(section, kind="stable")
    first_source = np.searchsorted(section[sources], np.arange(len(present) + 1))
    to = Sections(room.words, room.sums, room.risk, present, np.empty(len(present) + 1, np.int64))
    whole = Parts(parts.keep, np.zeros(2, np.int64), np.zeros(1, np.uint64))
    _merge_sections(cells._replace(words=words), sources, first_source, np.uint64(clear), parts, whole, room.table, to)
    n = int(to.edges[-1])
    return Sections(room.words[:n], room.sums[:n], room.risk[:n], present, to.edges)


def merge_few(cells: Sections, words: NDArray[np.uint64], *, clear: int, gone: int) -> Sections:
    """Do as `merge_sections` with NumPy, for few cells: sorted by their words, without a hash table."""
    words = words & np.uint64(clear)
    present, section = np.unique(cells.present & np.uint64(WORD & ~gone), return_inverse=True)
    of_cell = np.repeat(section, np.diff(cells.edges))
    order = np.lexsort((words, of_cell))
    begins = np.ones(len(words), bool)
    begins[1:] = np.diff(of_cell[order]) > 0
    begins[1:] |= words[order][1:] != words[order][:-1]
    group = np.empty(len(words), np.int64)
    group[order] = np.cumsum(begins) - 1
    first, n = order[begins], int(begins.sum())
    sums = np.stack([sum_by(group, column, n) for column in cells.sums.T], axis=1)
    risk = np.where(np.bincount(group, minlength=n) == 1, cells.risk[first], np.nan)
    edges = np.searchsorted(of_cell[first], np.arange(len(present) + 1))
    return Sections(words[first], sums, risk, present, edges)


def fill(
    cells: Sections,
    number: int,
    parts: Parts,
    room: Room,
    *,
    clear: int,
    inner: Sequence[NDArray[np.uint64]],
    outer: Sequence[NDArray[np.uint64]],
    alpha: float,
    add: NDArray[np.float64],
) -> None:
    """Add the sums of the cells of a section and of the complete cells they match to each other.

    The cells are those merged into the room; `number`: index of the section. `clear`: bit mask of the fields that the
    section has. `inner` and `outer`: levels of the missing fields, shifted to their fields; the outer ones, by which
    the table is partitioned, vary in the outermost loop. `alpha`: weight of a match through the other cell's missing
    key. `add` (K, 2): matching records and weights, updated.
    """
    every = [*inner, *outer]
    levels = _Levels(np.cumsum([0] + [len(some) for some in every]), np.concatenate(every), len(inner))
    scratch = np.zeros(len(every), np.int64), np.empty(2 * LIKELY, np.uint64), np.empty(2 * LIKELY, np.int64)
    _fill(cells, number, np.uint64(clear), parts, room.table, levels, alpha, scratch, add)


def count(cells: Sections, add: NDArray[np.float64], limits: NDArray[np.float64]) -> Sums:
    """Records in cells of a frequency below each limit, and the sum of the risks of all records."""
    below = np.zeros(len(limits))
    kernel = sparing(_figures, len(add) * (len(limits) + TERMS))
    total = kernel(cells.sums, add, cells.risk, limits, below)
    return Sums(below.astype(np.int64), float(total))
