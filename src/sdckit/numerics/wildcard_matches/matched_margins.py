"""Figures of margins of a table of cells where a missing key stands for any value: keys left out or coarsened.

Margins that share some keys are counted in one round, over cells sorted by those keys. An incomplete cell is filled
in with every combination of levels and looked up among the complete ones; where that would be too many, complete
cells are looked up among the incomplete ones. A cell that neither merges nor matches keeps its risk.
The cell that lacks all of several fields counts for no other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.search.buckets import Weighed, deal
from sdckit.numerics.threads import run
from sdckit.numerics.wildcard_matches.few_matches import are_few, credit_few
from sdckit.numerics.wildcard_matches.merging import recode
from sdckit.numerics.wildcard_matches.sections import (
    Parts,
    Room,
    Sections,
    count,
    fill,
    merge_few,
    merge_sections,
    parts_of,
)
from sdckit.numerics.wildcard_matches.submargins import Branch, Counted, Sums
from sdckit.numerics.wildcard_matches.wildcards import (
    Credited,
    Laid,
    credit_complete,
    credit_incomplete,
    patterns_of,
)

COST_OF_FILLING = 5.0  # a look-up of a filled cell, in look-ups of a complete cell in a small table
PARTNERS = 4  # pairs counted by one thread at a time
WORD = 0xFFFFFFFFFFFFFFFF
NO_ROWS = np.empty(0, np.int32)
NOTHING = Sums(np.zeros(0, np.int64), 0.0)
Codes = Sequence[NDArray[np.int64] | None]


@dataclass(frozen=True, eq=False)
class Wild:
    """What a missing value of each field means.

    `missing`: its code in each field. `codes`: codes of the levels of a field whose missing values stand for any of
    them; None where they do not, or where there are none. `alpha`: weight of a match through the other cell's
    missing key, 0 to 1.
    """

    missing: Sequence[int]
    codes: Codes
    alpha: float

    @property
    def fields(self) -> list[int]:
        """The fields with a bit in a pattern."""
        return [j for j, codes in enumerate(self.codes) if codes is not None]


@dataclass(frozen=True, eq=False)
class _Layout:
    """Where each field begins in a word, its width and its missing values; the limits to count below."""

    shifts: Sequence[int]
    bits: Sequence[int]
    wild: Wild
    limits: NDArray[np.float64]

    def field(self, j: int) -> int:
        """The word with ones in the bits of a field."""
        return ((1 << self.bits[j]) - 1) << self.shifts[j]

    def bit(self, j: int) -> int:
        """The bit of a field in a pattern, 0 where it has none."""
        return 1 << self.wild.fields.index(j) if self.wild.codes[j] is not None else 0

    def lacking(self, pattern: int) -> list[int]:
        """The fields of a pattern."""
        return [j for i, j in enumerate(self.wild.fields) if pattern >> i & 1]


@dataclass(frozen=True, eq=False)
class _Round:
    """What the margins of a round have in common, and rooms of any round that no margin uses."""

    cells: Sections
    parts: Parts
    shared: frozenset[int]
    layout: _Layout
    rooms: list[Room]
    places: int

    def room(self) -> Room:
        """A room that a thread may use until it is put back: fresh memory costs more than it is used for."""
        try:
            return self.rooms.pop()
        except IndexError:
            n = len(self.cells.words)
            return Room(n, n - int(self.cells.edges[1]), self.places)


def _blank(of: _Round, cells: Sections, dropped: Sequence[int]) -> NDArray[np.int64]:
    """The cell that lacks every field but those dropped, where more than one is left."""
    layout, none = of.layout, np.empty(0, np.int64)
    left = [j for j in range(len(layout.shifts)) if j not in dropped]
    if len(left) < 2 or any(layout.wild.missing[j] >> layout.bits[j] for j in left):
        return none  # a code too large for its field: nothing is missing
    section = np.flatnonzero(cells.present == np.uint64(sum(layout.bit(j) for j in left)))
    if len(section) == 0:
        return none
    first, stop = cells.edges[section[0]], cells.edges[section[0] + 1]
    word = np.uint64(sum(layout.wild.missing[j] << layout.shifts[j] for j in left))
    found: NDArray[np.int64] = first + np.flatnonzero(cells.words[first:stop] == word)
    return found


def _counted(of: _Round, cells: Sections, room: Room, codes: Codes, dropped: Sequence[int] = ()) -> Sums:
    """Figures of cells merged into a room, given the levels of each field and the fields left out."""
    blank = _blank(of, cells, dropped)
    its_own = cells.sums[blank]  # a copy
    cells.sums[blank] = 0.0
    layout = of.layout
    lacking = [layout.lacking(int(pattern)) for pattern in cells.present]
    clears = [WORD & ~sum(layout.field(j) for j in fields) for fields in lacking]
    add = room.add[: len(cells.words)]
    add[:] = 0
    laid = Laid(
        Credited(cells.words, cells.sums, add),
        NO_ROWS,
        cells.present,
        np.array(clears, np.uint64),
        cells.edges,
    )
    if are_few(cells.edges):
        credit_few(*laid.cells, laid.clears, laid.edges, layout.wild.alpha)
    else:
        _credit_many(of, cells, room, codes, lacking, laid)
    cells.sums[blank] = its_own
    return count(cells, add, layout.limits)


def _credit_many(
    of: _Round, cells: Sections, room: Room, codes: Codes, lacking: Sequence[Sequence[int]], laid: Laid
) -> None:
    """Credit cells merged into a room, by the fields that each pattern lacks: fill some in, look the others up."""
    layout, alpha, n_complete = of.layout, of.layout.wild.alpha, int(cells.edges[1])
    probed = []
    for p in range(1, len(lacking)):
        n = int(cells.edges[p + 1] - cells.edges[p])
        levels = {j: found for j in lacking[p] if (found := codes[j]) is not None}
        if COST_OF_FILLING * n * math.prod(len(found) for found in levels.values()) > n_complete:
            probed.append(p)
            continue
        order = sorted(levels, key=lambda j: -len(levels[j]))  # the key with most levels turns fastest
        placed = {j: levels[j].astype(np.uint64) << np.uint64(layout.shifts[j]) for j in order}
        fill(
            cells, p, of.parts, room, clear=int(laid.clears[p]),
            inner=[placed[j] for j in order if j not in of.shared],
            outer=[placed[j] for j in order if j in of.shared], alpha=alpha, add=laid.cells.add,
        )  # fmt: skip
    if probed:
        credit_complete(laid, np.array(probed, np.int64), alpha)
    credit_incomplete(laid, alpha)


def _coarser(of: _Round, branch: Branch, room: Room) -> Sums | None:
    """Figures with the field of a branch coarser."""
    if branch.coarse is None:
        return None
    layout, codes = of.layout, list(of.layout.wild.codes)
    words = recode(
        of.cells.words, shift=layout.shifts[branch.field], bits=layout.bits[branch.field], table=branch.coarse
    )
    if (old := codes[branch.field]) is not None:
        codes[branch.field] = np.unique(branch.coarse[old]).astype(np.int64)
    merged = _merge(of, of.cells, words, room)
    return _counted(of, merged, room, codes)


def _merge(
    of: _Round, cells: Sections, words: NDArray[np.uint64], room: Room, *, clear: int = WORD, gone: int = 0
) -> Sections:
    if are_few(cells.edges):
        return merge_few(cells, words, clear=clear, gone=gone)
    return merge_sections(cells, words, of.parts, room, clear=clear, gone=gone)


def _without(of: _Round, cells: Sections, field: int, room: Room) -> Sections:
    clear, gone = WORD & ~of.layout.field(field), of.layout.bit(field)
    return _merge(of, cells, cells.words, room, clear=clear, gone=gone)


def _count(of: _Round, branch: Branch, partners: Sequence[int], *, alone: bool) -> Counted:
    """A branch with some of its partners; its own figures only where `alone`."""
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
    """The cells of each round: complete ones by the shared fields, then the others by pattern and those."""
    wild, free = layout.wild, layout.wild.fields
    pattern = patterns_of(
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
    """Count the margins of cells that leave fields out, missing values matching any.

    The cells are distinct, of whole records. `rounds`: fields that no branch of a round leaves out or coarsens, and
    its branches. `shifts` and `bits`: where each field begins in a word, and its width. `limits`: numbers of
    matches to count records with fewer of. Returns one per branch, round by round; there, the risk of a record is
    that of what matches it.

    >>> from sdckit.numerics.search.buckets import weigh
    >>> cells = weigh(np.array([0b00, 0b01, 0b10], np.uint64), np.array([1, 1, 2]), None)
    >>> wild = Wild([1, 1], [np.array([0]), None], 1.0)
    >>> ((found,),) = matched_sums(cells, [([0], [Branch(1)])], shifts=[0, 1], bits=[1, 1], limits=[2, 5], wild=wild)
    >>> found.alone.below.tolist(), found.alone.risk
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
    found = run(
        lambda task: _count(prepared[task[0]], rounds[task[0]][1][task[1]], task[2], alone=task[3]), tasks
    )
    out: list[list[Counted]] = [[] for _ in rounds]
    for (r, _, _, alone), counted in zip(tasks, found, strict=True):
        if alone:
            out[r].append(counted)
        else:
            before = out[r][-1]
            out[r][-1] = Counted(before.coarse, before.alone, before.together + counted.together)
    return out
