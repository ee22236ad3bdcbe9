"""The records of two files as words of their codes, dealt out to parts by their keys, in one reading of each file.

The engine is not asked to group: a word is 8 bytes, and words of a part are put in order here in a fraction of the
time. Where an id names each row once in every file, the words of the original say as well which columns a release
changed, so that no rows are joined.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.cells.packing import Layout
from sdckit.cells.plans import count_cells
from sdckit.cells.plans.spilled import BLOCK, Spilled, dealt
from sdckit.cells.shared_coding import EXACT, SharedCoding
from sdckit.data.columns import ALL_VALID, code_column
from sdckit.data.frames import blocks, is_far
from sdckit.data.memory import bytes_here
from sdckit.numerics.array_types import Codes, Ints, Words
from sdckit.numerics.coding import pack_into
from sdckit.numerics.grouping import NONE, distinct_words
from sdckit.numerics.wildcard_matches.matched_margins import add_up_field

MOST_BITS = 63
SHARE_OF_IDS = 4  # words by id may take what is left here divided by this
WIDEST = 1 << 16  # values of a `Span`
NEAR = 4  # ids are dense where their range is up to so many times as wide as there are records
FREE = NONE
ROWS = 12  # words of so many rows take what a cell takes, in order or not


@dataclass(frozen=True)
class Span:
    """A column of whole numbers from `low` on; the code of each is its place among these, from 1."""

    low: int
    n_levels: int


def spans_of(frames: Sequence[Any], names: Sequence[str]) -> dict[str, Span]:
    """The columns whose values are whole numbers of a narrow range in every file, asked for in one pass of each."""
    if any(not isinstance(frame, nw.LazyFrame) or is_far(frame) for frame in frames):
        return {}
    schemas = [frame.collect_schema() for frame in frames]
    own = [name for name in names if all(_is_whole(schema[name]) for schema in schemas)]
    ranges = count_cells.whole_ranges(frames, own) if own else {}
    return {name: Span(low, high - low + 1) for name, (low, high) in ranges.items() if high - low < WIDEST}


def _is_whole(kind: Any) -> bool:
    """Whether a type is that of whole numbers, which Arrow has as such."""
    return bool(kind.is_integer()) and kind not in (nw.Int128, nw.UInt128)


@dataclass(frozen=True, eq=False)
class DealtWords:
    """Words of the cells of some files, in parts that lie in files, ascending in each.

    Attributes
    ----------
    names : tuple of str
        The columns, that of the highest bits first.
    layout : Layout
        Where the code of each lies in a word; a missing value is 0.
    n_changed : ndarray, int64, shape (m, columns), or None
        Where rows belong together: rows in which a release changed each column. Words of the original have a bit for
        each of these below those of the codes, the first release in the lowest ones.
    levels : dict of str to ndarray, int32
        Of columns whose codes are places in a `Span`, some of them of no value, the level at each place.
    """

    names: tuple[str, ...]
    layout: Layout
    spilled: Spilled = field(repr=False)
    n_parts: int
    n_changed: Ints | None = None
    levels: dict[str, Codes] = field(default_factory=dict, repr=False)
    memo: dict[Any, int] = field(default_factory=dict, repr=False)

    @property
    def flags(self) -> int:
        """Bits of the words of the original below their codes."""
        return 0 if self.n_changed is None else self.n_changed.size

    def cells(self, part: int, file: int, names: Sequence[str], *, changed: bool = False) -> tuple[Words, Ints]:
        """The cells of some columns in a part, their codes where they are in all words, and the records of each.

        `changed`: cells of the original are those of rows in which the same of these columns were changed, and have
        its bits.
        """
        mark = tuple(sorted(names)), changed and file == 0
        place = f"{part}-{file}-view-{self.memo.setdefault(mark, len(self.memo))}"
        if self.spilled.has(f"{place}-cells"):
            return self._read(place)
        made = self._made(part, file, names, changed=changed and file == 0)
        return self._written(place, *made)

    def _made(self, part: int, file: int, names: Sequence[str], *, changed: bool) -> tuple[Words, Ints]:
        words, times = self._read(f"{part}-{file}")
        below = self.flags if file == 0 else 0
        if not changed and below:
            words = words >> np.uint64(below)
        mask = sum(self.layout.field(j) for j in [self.names.index(name) for name in names])
        if changed:
            mask = (mask << below) | sum(1 << j for j in self.bits_of(names).ravel().tolist())
        return distinct_words(words & np.uint64(mask), times)

    def codes(self, name: str, words: Words) -> Codes:
        """The levels of a column in some words."""
        codes = self.layout.decode(words, self.names.index(name)).astype(np.int32)
        return self.levels[name][codes] if name in self.levels else codes

    def counted(self, name: str, file: int) -> Ints:
        """The records of a file with each code of a column."""
        j = self.names.index(name)
        shift, bits = self.layout.shifts[j] + (self.flags if file == 0 else 0), self.layout.bits[j]
        cells = (self._read(f"{part}-{file}") for part in range(self.n_parts))
        counts = np.zeros(1 << bits, np.int64)
        for words, times in cells:
            counts += add_up_field(words, times, shift=shift, bits=bits)
        return counts

    def bits_of(self, names: Sequence[str]) -> Ints:
        """The bits, below the codes of the original, that say that a release changed a column (m, names)."""
        assert self.n_changed is not None
        k = len(self.names)
        own = np.array([self.names.index(name) for name in names], np.int64)
        return np.arange(len(self.n_changed))[:, None] * k + own

    def put(self, part: int, file: int, cells: tuple[Words, Ints]) -> None:
        """Write the cells of all columns of a part."""
        self._written(f"{part}-{file}", *cells)

    def _read(self, place: str) -> tuple[Words, Ints]:
        return self.spilled.appended(f"{place}-cells", np.uint64), self.spilled.appended(f"{place}-n", np.int64)

    def _written(self, place: str, words: Words, times: Ints) -> tuple[Words, Ints]:
        try:
            self.spilled.append(f"{place}-n", times)
            self.spilled.append(f"{place}-cells", words)
        except BaseException:  # half a file would be read as a whole one
            for name in ("n", "cells"):
                self.spilled.remove(f"{place}-{name}")
            raise
        return words, times


def layout_of(levels: Mapping[str, SharedCoding | Span]) -> Layout | None:
    """Where the codes of columns lie in a word, the first in the highest bits; None where a word has no room."""
    bits = [coding.n_levels.bit_length() for coding in levels.values()]
    if sum(bits) > MOST_BITS:
        return None
    return Layout(tuple(sum(bits) - end for end in accumulate(bits)), tuple(bits))


def deal_words(
    frames: Sequence[Any], levels: Mapping[str, SharedCoding | Span], layout: Layout, split: int, n_parts: int,
    id: str | None, sizes: Sequence[int], most: int, as_given: Sequence[Any] = (),
) -> DealtWords:  # fmt: skip
    """Deal the records of some files out by the codes of their first `split` columns.

    `id`: the column that may say which rows belong together; `sizes`: records of each file; `most`: cells that a part
    may have; `as_given`: files with the same ids that are read faster.

    Raises TooManyCellsError: a part has more.
    """
    spilled, names = Spilled(), tuple(levels)
    keys = layout.shifts[split - 1]
    rows = _Rows.of(as_given or frames, id, sizes, sum(layout.bits), len(names))
    changed = np.zeros((len(frames) - 1, len(names)), np.int64)
    n_rows = np.zeros((len(frames), n_parts), np.int64)
    for file in reversed(range(len(frames))):  # the original comes last
        if rows is not None and file == 0:
            rows.check(sizes[0])
        for piece in _pieces(frames[file], names, None if rows is None else rows.id):
            words = _packed(piece, levels, layout)
            order, ends = dealt([words >> np.uint64(keys)], len(words), n_parts)
            if rows is not None and rows.fits and file:
                rows.put(file, piece, words)
            elif rows is not None and rows.fits:
                words = rows.compared(piece, words, layout, changed)
            n_rows[file] += np.diff(ends)
            spilled.append_parts(f"{file}-words", words[order], ends)
            if count_cells.SIZE in piece.columns:
                spilled.append_parts(f"{file}-times", count_cells.sizes_of(piece)[order], ends)
    together = rows is not None and rows.all_found()
    if rows is not None and not together:  # an id that does not name each row: what was written of it is left out
        return deal_words(frames, levels, layout, split, n_parts, None, sizes, most)
    made = DealtWords(names, layout, spilled, n_parts, changed if together else None)
    _check_parts(n_rows, ROWS * most, len(names), frames)
    for part in range(n_parts):
        for file in range(len(frames)):
            here = f"{part}-{file}"
            times = spilled.appended(f"{here}-times", np.int64)
            own = distinct_words(spilled.appended(f"{here}-words", np.uint64), times if len(times) else None)
            made.put(part, file, own)
            for name in ("words", "times"):
                spilled.remove(f"{here}-{name}")
            n_rows[file, part] = len(own[0])
    _check_parts(n_rows, 2 * most, len(names), frames)
    return made


def _check_parts(n_rows: Ints, most: int, n_columns: int, frames: Sequence[Any]) -> None:
    if (largest := int(n_rows.max())) > most:
        plan = next(frame for frame in frames if isinstance(frame, nw.LazyFrame))
        raise count_cells.too_many(
            largest * n_rows.shape[1], n_columns, most, plan, "; nor do they fall into parts that fit"
        )


@dataclass(frozen=True, eq=False)
class _Rows:
    """Words of the rows of each release by their id, a whole number within a range."""

    id: str
    low: int
    by_id: list[Words]
    memo: dict[str, bool]

    @staticmethod
    def of(frames: Sequence[Any], id: str | None, sizes: Sequence[int], bits: int, columns: int) -> _Rows | None:
        """The same before a file is read; None where ids are no such numbers, or words by id do not fit here."""
        plans = [frame for frame in frames if isinstance(frame, nw.LazyFrame)]
        if id is None or len(plans) < len(frames) or any(map(is_far, plans)) or len(set(sizes)) > 1:
            return None
        m = len(frames) - 1
        whole = all(id in (schema := frame.collect_schema()) and _is_whole(schema[id]) for frame in plans)
        if not whole or bits + m * columns > MOST_BITS:
            return None
        ends = [
            count_cells.aggregate(frame, nw.col(id).min(), nw.col(id).max(), count_cells.count(nw.col(id).is_null()))
            for frame in plans
        ]
        if any(missing for *_, missing in ends):
            return None
        low, high = int(min(end[0] for end in ends)), int(max(end[1] for end in ends))
        here = bytes_here(plans[0])
        width = high - low + 1
        if max(map(abs, (low, high))) >= EXACT or width > NEAR * sizes[0]:
            return None
        if here is not None and 8 * width * m > here // SHARE_OF_IDS:
            return None
        return _Rows(id, low, [np.full(width, FREE, np.uint64) for _ in range(m)], {"fits": True})

    @property
    def fits(self) -> bool:
        """Whether every row so far was the only one with its id."""
        return self.memo["fits"]

    def check(self, n: int) -> None:
        """Look whether each of n rows of a release had an id of its own."""
        self.memo["fits"] &= all(int(np.count_nonzero(by_id != FREE)) == n for by_id in self.by_id)

    def put(self, file: int, piece: nw.DataFrame[Any], words: Words) -> None:
        """Keep the words of some rows of a release."""
        self.by_id[file - 1][self._at(piece)] = words

    def compared(self, piece: nw.DataFrame[Any], words: Words, layout: Layout, changed: Ints) -> Words:
        """Words of rows of the original, and a bit for each column that a release changed; these are counted."""
        at, k = self._at(piece), len(layout.bits)
        out = words << np.uint64(changed.size)
        for j, by_id in enumerate(self.by_id):
            other = by_id[at]
            self.memo["fits"] &= bool((other != FREE).all())
            by_id[at] = FREE
            differs = words ^ other
            for column in range(k):
                differing = (differs & np.uint64(layout.field(column))) != 0
                changed[j, column] += np.count_nonzero(differing)
                out |= differing.astype(np.uint64) << np.uint64(j * k + column)
        return out

    def all_found(self) -> bool:
        """Whether every row of the original had its own in every release, and none is left."""
        return self.fits and all(bool((by_id == FREE).all()) for by_id in self.by_id)

    def _at(self, piece: nw.DataFrame[Any]) -> Ints:
        return piece.get_column(self.id).to_numpy().astype(np.int64) - self.low


def _pieces(frame: Any, names: Sequence[str], id: str | None) -> Iterator[nw.DataFrame[Any]]:
    """Records of a file in blocks; on a cluster, where records are far, cells."""
    if not isinstance(frame, nw.LazyFrame):
        yield from blocks(frame, names, BLOCK)
    elif is_far(frame):
        yield from count_cells.blocks_by(frame, names, BLOCK)
    else:
        others = [] if id is None or id in names else [nw.col(id)]
        chosen = frame.select(*(key.present.alias(key.name) for key in count_cells.key_columns(frame, names)), *others)
        yield from blocks(chosen, chosen.collect_schema().names(), BLOCK)


def _packed(piece: nw.DataFrame[Any], levels: Mapping[str, SharedCoding | Span], layout: Layout) -> Words:
    """The codes of some rows in words."""
    fields = []
    for (name, coding), shift in zip(levels.items(), layout.shifts, strict=True):
        coded = code_column(piece.get_column(name))
        if isinstance(coding, Span):
            fields.append((coded.values, coded.valid, coding.low - 1, 0, shift))
        else:
            codes = coding.with_file(coded, ("",) * (len(coding.codes) + 1)).codes[-1]
            fields.append((codes, ALL_VALID, 0, 0, shift))
    words = np.empty(len(piece), np.uint64)
    pack_into(words, fields)
    return words
