"""Risk figures of margins of a contingency table with wildcards: keys left out or recoded.

Margins that share some keys are counted in one round, over cells sorted by those keys. An incomplete cell (with missing
keys) is completed by every combination of levels and looked up among the complete cells; where these are too many,
complete cells are looked up among the incomplete ones instead. A cell that neither merges nor matches keeps its risk.
The cell in which all of several keys are missing matches no other.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.coding import find_number, has_bit, hash_word, set_bit
from sdckit.numerics.compiling import is_few, njit
from sdckit.numerics.threads import run
from sdckit.numerics.wildcard_matches import wildcards
from sdckit.numerics.wildcard_matches.sections import (
    Parts,
    Room,
    Sections,
    count,
    fill,
    merge_few,
    merge_sections,
    next_levels,
    parts_of,
)
from sdckit.numerics.wildcard_matches.submargins import Branch, Counted, Sums, Weighed, deal

# Merge equal words and add up their records and weights: from cells of many keys to cells of fewer.
# Many such margins are computed at once, one per set of keys, so a merge runs on one thread and the threads take
# different sets; `grouping.group` is the opposite, one large table on all threads.


NO_WEIGHT = np.empty(0)


@dataclass(frozen=True, eq=False)
class Merged:
    """Distinct words with their records and weights.

    `size` (K,): records of each word. `weight` (K,) or (0,): their weight, empty if there is none. `slots` (a power of
    two): hash table of the words: index of each, -1 where free (`coding.find_number`).
    """

    words: NDArray[np.uint64]
    size: NDArray[np.int64]
    weight: NDArray[np.float64]
    slots: NDArray[np.int32]


@njit(cache=True, nogil=True)
def _merge(words, size, weight, keep, slots, out_words, out_size, out_weight):  # type: ignore[no-untyped-def]
    """Merge words (n,) that agree in the bit mask `keep`, adding sizes and weights.

    Return the number of distinct words; the outputs (n,) and the hash table `slots` are filled; `weight` may be empty.
    """
    weighted, n_out = len(weight) > 0, 0
    slots[:] = -1
    for i in range(len(words)):
        word = words[i] & keep
        at = find_number(slots, out_words, word, hash_word(word))
        g = slots[at]
        if g < 0:
            g = n_out
            n_out += 1
            slots[at] = g
            out_words[g], out_size[g] = word, 0
            if weighted:
                out_weight[g] = 0.0
        out_size[g] += size[i]
        if weighted:
            out_weight[g] += weight[i]
    return n_out


def merge(
    words: NDArray[np.uint64],
    size: NDArray[np.int64],
    weight: NDArray[np.float64] = NO_WEIGHT,
    *,
    keep: int = 0xFFFFFFFFFFFFFFFF,
) -> Merged:
    """Merge words that agree in the bits to keep, adding up sizes and weights.

    `words` and `size` are (n,), `weight` (n,) or (0,). `keep` has ones in the bits to keep; the others are cleared.
    The order of the words depends on the input only.

    >>> merged = merge(np.array([5, 4, 6], np.uint64), np.array([1, 2, 4]), keep=0b110)
    >>> sorted(zip(merged.words.tolist(), merged.size.tolist()))
    [(4, 3), (6, 4)]
    """
    n = len(words)
    slots = np.empty(1 << max(4, (2 * n - 1).bit_length()), np.int32)
    out = Merged(np.empty(n, np.uint64), np.empty(n, np.int64), np.empty(len(weight)), slots)
    k = _merge(words, size, weight, np.uint64(keep), slots, out.words, out.size, out.weight)
    return Merged(out.words[:k], out.size[:k], out.weight[:k] if len(weight) else out.weight, slots)


@njit(cache=True, nogil=True)
def _recode(words, shift, mask, table, out):  # type: ignore[no-untyped-def]
    """Replace the code in the field given by `shift` and `mask` by table[code], for each of the words (n,)."""
    for i in range(len(words)):
        code = (words[i] >> shift) & mask
        out[i] = (words[i] & ~(mask << shift)) | (table[code] << shift)


def recode(words: NDArray[np.uint64], *, shift: int, bits: int, table: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Replace the code in one field of every word by ``table[code]``.

    >>> recode(np.array([0b101, 0b111], np.uint64), shift=1, bits=2, table=np.array([0, 1, 0, 3], np.uint64)).tolist()
    [1, 7]
    """
    at, ones = np.uint64(shift), np.uint64((1 << bits) - 1)
    if is_few(_recode, len(words)):
        recoded: NDArray[np.uint64] = words & ~(ones << at) | table[words >> at & ones] << at
        return recoded
    out = np.empty(len(words), np.uint64)
    _recode(words, at, ones, table, out)
    return out


@njit(cache=True, nogil=True)
def _add_up_field(words, size, shift, mask, out):  # type: ignore[no-untyped-def]
    """Add `size` (n,) by the code in a field to `out` (tables, codes), word i to table i modulo their number."""
    turn = len(out) - 1  # a power of two less one
    for i in range(len(words)):
        out[i & turn, (words[i] >> shift) & mask] += size[i]


def add_up_field(words: NDArray[np.uint64], size: NDArray[np.int64], *, shift: int, bits: int) -> NDArray[np.int64]:
    """Sums of sizes by the code in one field.

    >>> add_up_field(np.array([0b101, 0b111, 0b010], np.uint64), np.array([1, 2, 4]), shift=1, bits=2).tolist()
    [0, 4, 1, 2]
    """
    if is_few(_add_up_field, len(words)):
        codes = (words >> np.uint64(shift) & np.uint64((1 << bits) - 1)).astype(np.int64)
        return np.bincount(codes, size, 1 << bits).astype(np.int64)
    # neighbours often have the same code: alternating between tables avoids waiting for the previous addition
    out = np.zeros((4 if bits < 12 else 1, 1 << bits), np.int64)
    _add_up_field(words, size, np.uint64(shift), np.uint64((1 << bits) - 1), out)
    total: NDArray[np.int64] = out.sum(axis=0)
    return total


# Wildcard frequencies of merged cells: incomplete cells are completed and looked up.
# `wildcards.match_packed` looks every complete cell up among the incomplete cells of each pattern of missing keys.
# Where keys have few levels it is cheaper to complete an incomplete cell by every combination of levels and look these
# up among the complete cells. The cheaper way is chosen for each pattern.


BITS_PER_CELL = 3  # log2 of the bits per cell of a bit set: 8 to 16 bits
COST_OF_FILLING = 2.0  # cost of looking up a completed cell, relative to that of a complete cell in a small table


class _Table(NamedTuple):
    """Hash table of all cells, bit set of the hashes of complete ones, and position of each cell by pattern."""

    words: NDArray[np.uint64]
    slots: NDArray[np.int32]
    bitmap: NDArray[np.uint64]
    position: NDArray[np.int32]


@njit(cache=True, nogil=True)
def _mark(words, bitmap):  # type: ignore[no-untyped-def]
    """Set a bit for the hash of each word: most look-ups end there, since most completed cells do not exist."""
    mask = np.uint64(64 * len(bitmap) - 1)
    for i in range(len(words)):
        set_bit(bitmap, (hash_word(words[i]) >> np.uint64(8)) & mask)


@njit(cache=True, nogil=True)
def _fill(table, cells, first, stop, clear, starts, codes, alpha):  # type: ignore[no-untyped-def]
    """Add the sums of incomplete cells first to stop, of one pattern, and of complete cells they match to each other.

    `codes[starts[k] : starts[k + 1]]` are the levels of the k-th missing key, shifted to its field; the first key
    varies fastest. `clear`: bit mask of the keys that are present; `alpha`: weight of the incomplete cells.
    """
    words, slots, bitmap, position = table
    incomplete, sums, add = cells
    n_keys, bit_mask = len(starts) - 1, np.uint64(64 * len(bitmap) - 1)
    turn = np.zeros(n_keys, np.int64)
    for r in range(first, stop):
        base = incomplete[r] & clear
        more = True
        while more:
            partial = base
            for k in range(1, n_keys):
                partial |= codes[starts[k] + turn[k]]
            for c in range(starts[0], starts[1]):
                word = partial | codes[c]
                h = hash_word(word)
                if has_bit(bitmap, (h >> np.uint64(8)) & bit_mask):
                    g = slots[find_number(slots, words, word, h)]
                    if g >= 0:
                        s = position[g]
                        add[s, 0] += alpha * sums[r, 0]
                        add[s, 1] += alpha * sums[r, 1]
                        add[r, 0] += sums[s, 0]
                        add[r, 1] += sums[s, 1]
            more = next_levels(turn, starts, np.int64(1), n_keys)


def match_merged(
    cells: Merged,
    pattern: NDArray[np.uint64],
    *,
    shifts: Sequence[int],
    codes: Sequence[NDArray[np.int64]],
    clear_of: dict[int, int],
    alpha: float,
) -> wildcards.Matched:
    """Sums of records and weights over the cells of other patterns that match each cell.

    `pattern` (K,): bit set of the wildcard keys that are missing in each cell. `shifts` and `codes`: for each wildcard
    key, first bit of its field and codes of its levels. `clear_of`: for each pattern present, bit mask of the fields
    that are not missing. `alpha`: weight of a match through the other cell's missing key, 0 to 1.
    """
    weight = cells.weight if len(cells.weight) else np.zeros(len(cells.size))
    sums = np.column_stack([cells.size, weight]).astype(np.float64, copy=False)
    laid = wildcards.lay_out(cells.words, sums, pattern, clear_of)
    n_complete, probed = int(laid.edges[1]), []
    bitmap = np.zeros(max(1, (1 << n_complete.bit_length() + BITS_PER_CELL) // 64), np.uint64)
    _mark(laid.cells.words[:n_complete], bitmap)
    table = _Table(cells.words, cells.slots, bitmap, laid.position)
    for p in range(1, len(laid.clears)):
        gone = [k for k in range(len(shifts)) if int(laid.present[p]) >> k & 1]
        fills = float(np.prod([float(len(codes[k])) for k in gone]))
        first, stop = int(laid.edges[p]), int(laid.edges[p + 1])
        if COST_OF_FILLING * fills * (stop - first) > n_complete:
            probed.append(p)
            continue
        gone.sort(key=lambda k: -len(codes[k]))  # the key with most levels varies fastest
        starts = np.cumsum([0] + [len(codes[k]) for k in gone]).astype(np.int64)
        levels = np.concatenate([codes[k].astype(np.uint64) << np.uint64(shifts[k]) for k in gone])
        _fill(table, laid.cells, first, stop, laid.clears[p], starts, levels, alpha)
    if probed:
        wildcards.credit_complete(laid, np.array(probed, np.int64), alpha)
    return laid.credited(alpha)


COST_OF_FILLED_MARGINS = 5.0  # the same as `COST_OF_FILLING`, for cells in sections
PARTNERS = 4  # pairs counted by one thread at a time
WORD = 0xFFFFFFFFFFFFFFFF
NO_ROWS = np.empty(0, np.int32)
NOTHING = Sums(np.zeros(0, np.int64), 0.0)
Codes = Sequence[NDArray[np.int64] | None]


@dataclass(frozen=True, eq=False)
class Wild:
    """Which fields have wildcards.

    `missing`: code of a missing value in each field. `codes`: codes of the levels of a field whose missing values match
    any of them; None where they do not, or where none is missing. `alpha`: weight of a match through the other cell's
    missing key, 0 to 1.
    """

    missing: Sequence[int]
    codes: Codes
    alpha: float

    @property
    def fields(self) -> list[int]:
        """Indices of the fields with wildcards, which have a bit in a pattern."""
        return [j for j, codes in enumerate(self.codes) if codes is not None]


@dataclass(frozen=True, eq=False)
class _Layout:
    """First bit and width of each field in a word, its wildcards, and the limits of frequencies to count below."""

    shifts: Sequence[int]
    bits: Sequence[int]
    wild: Wild
    limits: NDArray[np.float64]

    def field(self, j: int) -> int:
        """Bit mask of a field."""
        return ((1 << self.bits[j]) - 1) << self.shifts[j]

    def bit(self, j: int) -> int:
        """The bit of a field in a pattern, 0 if it has no wildcards."""
        return 1 << self.wild.fields.index(j) if self.wild.codes[j] is not None else 0

    def lacking(self, pattern: int) -> list[int]:
        """Indices of the fields that are missing in a pattern."""
        return [j for i, j in enumerate(self.wild.fields) if pattern >> i & 1]


@dataclass(frozen=True, eq=False)
class _Round:
    """Data shared by the margins of a round; `rooms` are working memories not in use, of all rounds."""

    cells: Sections
    parts: Parts
    shared: frozenset[int]
    layout: _Layout
    rooms: list[Room]
    places: int

    def room(self) -> Room:
        """Working memory for a thread, from the pool: newly allocated memory would cost more than the work in it."""
        try:
            return self.rooms.pop()
        except IndexError:
            n = len(self.cells.words)
            return Room(n, n - int(self.cells.edges[1]), self.places)


def _blank(of: _Round, cells: Sections, dropped: Sequence[int]) -> NDArray[np.int64]:
    """Index of the cell in which all fields but those dropped are missing; empty unless two or more fields are left."""
    layout, none = of.layout, np.empty(0, np.int64)
    left = [j for j in range(len(layout.shifts)) if j not in dropped]
    if len(left) < 2 or any(layout.wild.missing[j] >> layout.bits[j] for j in left):
        return none  # a code too large for its field: nothing is missing
    section = np.flatnonzero(cells.present == np.uint64(sum(layout.bit(j) for j in left)))
    if len(section) == 0:
        return none
    first, stop = cells.edges[section[0]], cells.edges[section[0] + 1]
    word = np.uint64(sum(layout.wild.missing[j] << layout.shifts[j] for j in left))
    blank: NDArray[np.int64] = first + np.flatnonzero(cells.words[first:stop] == word)
    return blank


def _counted(of: _Round, cells: Sections, room: Room, codes: Codes, dropped: Sequence[int] = ()) -> Sums:
    """Risk figures of cells merged into a room, given the levels of each field and the fields left out."""
    blank = _blank(of, cells, dropped)
    its_own = cells.sums[blank]  # a copy
    cells.sums[blank] = 0.0
    layout = of.layout
    lacking = [layout.lacking(int(pattern)) for pattern in cells.present]
    clears = [WORD & ~sum(layout.field(j) for j in fields) for fields in lacking]
    add = room.add[: len(cells.words)]
    add[:] = 0
    laid = wildcards.Laid(
        wildcards.Credited(cells.words, cells.sums, add),
        NO_ROWS,
        cells.present,
        np.array(clears, np.uint64),
        cells.edges,
    )
    if wildcards.are_few(cells.edges):
        wildcards.credit_few(*laid.cells, laid.clears, laid.edges, layout.wild.alpha)
    else:
        _credit_many(of, cells, room, codes, lacking, laid)
    cells.sums[blank] = its_own
    return count(cells, add, layout.limits)


def _credit_many(
    of: _Round, cells: Sections, room: Room, codes: Codes, lacking: Sequence[Sequence[int]], laid: wildcards.Laid
) -> None:
    """Add the sums of matching cells to each other: complete incomplete cells of some patterns, look up the others."""
    layout, alpha, n_complete = of.layout, of.layout.wild.alpha, int(cells.edges[1])
    probed = []
    for p in range(1, len(lacking)):
        n = int(cells.edges[p + 1] - cells.edges[p])
        levels = {j: field_codes for j in lacking[p] if (field_codes := codes[j]) is not None}
        if COST_OF_FILLED_MARGINS * n * math.prod(len(level) for level in levels.values()) > n_complete:
            probed.append(p)
            continue
        order = sorted(levels, key=lambda j: -len(levels[j]))  # the key with most levels varies fastest
        placed = {j: levels[j].astype(np.uint64) << np.uint64(layout.shifts[j]) for j in order}
        fill(
            cells, p, of.parts, room, clear=int(laid.clears[p]),
            inner=[placed[j] for j in order if j not in of.shared],
            outer=[placed[j] for j in order if j in of.shared], alpha=alpha, add=laid.cells.add,
        )  # fmt: skip
    if probed:
        wildcards.credit_complete(laid, np.array(probed, np.int64), alpha)
    wildcards.credit_incomplete(laid, alpha)


def _coarser(of: _Round, branch: Branch, room: Room) -> Sums | None:
    """Risk figures with the field of a branch recoded, None if it is not."""
    if branch.coarse is None:
        return None
    layout, codes = of.layout, list(of.layout.wild.codes)
    words = recode(
        of.cells.words, shift=layout.shifts[branch.field], bits=layout.bits[branch.field], table=branch.coarse
    )
    if (old := codes[branch.field]) is not None:
        codes[branch.field] = np.unique(branch.coarse[old]).astype(np.int64)
    merged = _merge_margins(of, of.cells, words, room)
    return _counted(of, merged, room, codes)


def _merge_margins(
    of: _Round, cells: Sections, words: NDArray[np.uint64], room: Room, *, clear: int = WORD, gone: int = 0
) -> Sections:
    if wildcards.are_few(cells.edges):
        return merge_few(cells, words, clear=clear, gone=gone)
    return merge_sections(cells, words, of.parts, room, clear=clear, gone=gone)


def _without(of: _Round, cells: Sections, field: int, room: Room) -> Sections:
    clear, gone = WORD & ~of.layout.field(field), of.layout.bit(field)
    return _merge_margins(of, cells, cells.words, room, clear=clear, gone=gone)


def _count(of: _Round, branch: Branch, partners: Sequence[int], *, alone: bool) -> Counted:
    """Risk figures of a branch with some of its partners; its own figures only if `alone`."""
    room, other_room, codes = of.room(), of.room(), of.layout.wild.codes
    coarse = _coarser(of, branch, room) if alone else None
    single = _without(of, of.cells, branch.field, room)
    own = _counted(of, single, room, codes, [branch.field]) if alone else NOTHING
    together = [
        _counted(of, _without(of, single, other, other_room), other_room, codes, [branch.field, other])
        for other in partners
    ]
    of.rooms.extend((room, other_room))
    return Counted(coarse, own, tuple(together))


def _select(cells: Weighed, rows: NDArray[np.bool_] | NDArray[np.int64]) -> Weighed:
    return Weighed(cells.words[rows], cells.size[rows], cells.weight[rows], cells.risk[rows])


def _prepared(cells: Weighed, layout: _Layout, rounds: Sequence[Sequence[int]]) -> list[_Round]:
    """The cells of each round: complete ones sorted by the shared fields, then others by pattern and these fields."""
    wild, free = layout.wild, layout.wild.fields
    pattern = wildcards.patterns_of(
        cells.words,
        np.array([layout.shifts[j] for j in free], np.uint64),
        np.array([(1 << layout.bits[j]) - 1 for j in free], np.uint64),
        np.array([wild.missing[j] for j in free], np.uint64),
    )
    complete, others = _select(cells, pattern == 0), _select(cells, pattern != 0)
    lacks = pattern[pattern != 0]
    present, sizes = np.unique(lacks, return_counts=True)
    edges = np.concatenate([[0], np.cumsum([len(complete.words), *sizes])]).astype(np.int64)
    keeps = [sum(layout.field(j) for j in shared) for shared in rounds]
    parts = [parts_of(cells.words, keep) for keep in keeps]
    places = max((int(starts[-1]) for _, starts, _ in parts), default=0)
    rooms: list[Room] = []
    out = []
    for shared, keep, part in zip(rounds, keeps, parts, strict=True):
        first, _ = deal(complete, keep)
        rest = _select(others, np.lexsort((others.words & np.uint64(keep), lacks)))
        sections = Sections(
            np.concatenate([first.words, rest.words]),
            np.stack([np.append(first.size, rest.size), np.append(first.weight, rest.weight)], axis=1),
            np.concatenate([first.risk, rest.risk]),
            np.append(np.uint64(0), present),
            edges,
        )
        out.append(_Round(sections, part, frozenset(shared), layout, rooms, places))
    return out


def matched_sums(
    cells: Weighed,
    rounds: Sequence[tuple[Sequence[int], Sequence[Branch]]],
    *,
    shifts: Sequence[int],
    bits: Sequence[int],
    limits: Sequence[float],
    wild: Wild,
) -> list[list[Counted]]:
    """Risk figures of margins in which fields are left out or recoded, with wildcards.

    The cells are distinct, of whole records. `rounds`: fields that no branch of a round leaves out or recodes, and its
    branches. `shifts` and `bits`: first bit and width of each field. `limits`: frequencies below which records are
    counted. Returns one result per branch, round by round; the risk of a record is that of all cells it matches.

    >>> from sdckit.numerics.wildcard_matches.submargins import weigh
    >>> cells = weigh(np.array([0b00, 0b01, 0b10], np.uint64), np.array([1, 1, 2]), None)
    >>> wild = Wild([1, 1], [np.array([0]), None], 1.0)
    >>> ((sums,),) = matched_sums(cells, [([0], [Branch(1)])], shifts=[0, 1], bits=[1, 1], limits=[2, 5], wild=wild)
    >>> sums.alone.below.tolist(), sums.alone.risk
    ([0, 4], 1.0)
    """
    layout = _Layout(shifts, bits, wild, np.array(limits, np.float64))
    prepared = _prepared(cells, layout, [shared for shared, _ in rounds])
    tasks = [
        (r, b, branch.partners[at : at + PARTNERS], at == 0)
        for r, (_, branches) in enumerate(rounds)
        for b, branch in enumerate(branches)
        for at in range(0, max(1, len(branch.partners)), PARTNERS)
    ]
    counts = run(lambda task: _count(prepared[task[0]], rounds[task[0]][1][task[1]], task[2], alone=task[3]), tasks)
    out: list[list[Counted]] = [[] for _ in rounds]
    for (r, _, _, alone), counted in zip(tasks, counts, strict=True):
        if alone:
            out[r].append(counted)
        else:
            before = out[r][-1]
            out[r][-1] = Counted(before.coarse, before.alone, before.together + counted.together)
    return out
