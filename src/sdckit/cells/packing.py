"""From coded columns to cells: pack the codes of each record into one word and group equal words."""

from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, TypeVar

import numpy as np

from sdckit.data.columns import ALL_VALID, Coded
from sdckit.numerics import coding, grouping
from sdckit.numerics.array_types import AnyInts, Bytes, Codes, Floats, Ints, Values, Words
from sdckit.numerics.wildcard_matches.matched_margins import add_up_field

WORD = 64
TABLE_SPAN = 1 << 22  # largest code that is looked up in a table
Field = tuple[Values, Bytes, int, int, int]
T = TypeVar("T")


def made_once(memo: MutableMapping[Any, Any], mark: Any, make: Callable[[], T]) -> T:
    """What was made under a mark before; else it is made and kept.

    >>> memo = {}
    >>> made_once(memo, "a", lambda: 1), made_once(memo, "a", lambda: 2), memo
    (1, 1, {'a': 1})
    """
    if mark not in memo:
        memo[mark] = make()
    kept: T = memo[mark]
    return kept


@dataclass(frozen=True)
class Layout:
    """First bit and width of the field of each key in a cell's word."""

    shifts: tuple[int, ...]
    bits: tuple[int, ...]

    def field(self, key: int) -> int:
        """Bit mask of one key."""
        return ((1 << self.bits[key]) - 1) << self.shifts[key]

    def decode(self, words: Words, key: int) -> Ints:
        """Codes of one key."""
        return ((words >> np.uint64(self.shifts[key])) & np.uint64((1 << self.bits[key]) - 1)).astype(np.int64)


class PackedCodes(Sequence[Ints]):
    """Codes of each key, unpacked on first use: frequencies and risk do not need them."""

    def __init__(self, words: Words, layout: Layout) -> None:
        self._words, self._layout = words, layout
        self._unpacked: dict[int, Ints] = {}

    def __len__(self) -> int:
        return len(self._layout.shifts)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return [self[j] for j in range(*key.indices(len(self)))]
        j = range(len(self))[key]
        if j not in self._unpacked:
            self._unpacked[j] = self._layout.decode(self._words, j)
        return self._unpacked[j]


@dataclass(frozen=True, eq=False)
class Tabulated:
    """Records grouped by their codes.

    `of_row` (n,): cell of each record. `size` and `weight` (K,): of each cell. `codes` (K,): key by key. `words`
    and `layout` (K,): the packed codes, where they fit into one word.
    """

    of_row: Codes
    size: Ints
    weight: Floats | None
    codes: Sequence[Ints]
    words: Words | None
    layout: Layout | None

    def level_sizes(self, j: int, span: int) -> tuple[Ints, Ints]:
        """Codes of key j in use, ascending, and the records with each; `span` is the largest possible code."""
        if span >= TABLE_SPAN:
            present, inverse = np.unique(self.codes[j], return_inverse=True)
            return present, np.bincount(inverse, self.size, len(present)).astype(np.int64)
        if self.words is not None and self.layout is not None:
            records = add_up_field(self.words, self.size, shift=self.layout.shifts[j], bits=self.layout.bits[j])
        else:
            records = np.bincount(self.codes[j], self.size, span + 1).astype(np.int64)
        present = np.flatnonzero(records)
        return present, records[present]


@dataclass(frozen=True, eq=False)
class SharedGroups:
    """Records of all files grouped by some columns, with one numbering.

    `of_row`: group of each record, file by file, the original first. `size` (K,): records of each file in each
    group; 0 where a file has none. `times`: records of each row of each file; None where a row is a record.
    """

    of_row: tuple[Codes, ...]
    size: tuple[Ints, ...]
    times: tuple[Ints, ...] | None = None

    @property
    def n_groups(self) -> int:
        """Groups over all files."""
        return len(self.size[0])


def tabulate(columns: Sequence[Coded], weight: Floats | None) -> Tabulated:
    """Group records that have equal codes in every column."""
    widths = [column.bits for column in columns]
    fields = [(c.values, c.valid, c.low, c.span, width) for c, width in zip(columns, widths, strict=True)]
    groups = _chain(fields, len(columns[0].values), weight)
    if sum(widths) <= WORD:
        layout = Layout(tuple(accumulate(widths[:-1], initial=0)), tuple(widths))
        codes = PackedCodes(groups.words, layout)
        return Tabulated(groups.of_row, groups.size, groups.weight, codes, groups.words, layout)
    first = grouping.first_of_groups(groups.of_row, len(groups.size))
    unpacked = tuple(column.codes(first) for column in columns)
    return Tabulated(groups.of_row, groups.size, groups.weight, unpacked, None, None)


def _chain(fields: Sequence[Field], n: int, weight: Floats | None) -> grouping.Groups:
    """Group by fields that may exceed one word: group numbers by the fields so far become a field of the next word."""
    pending: list[Field] = []
    used = 0
    for values, valid, low, missing, width in fields:
        if used + width > WORD:
            words = np.empty(n, np.uint64)
            coding.pack_into(words, pending)
            groups = grouping.group(words, bits=used)
            used = max(0, len(groups.size) - 1).bit_length()
            pending = [(groups.of_row, ALL_VALID, 0, 0, 0)]
        pending.append((values, valid, low, missing, used))
        used += width
    words = np.empty(n, np.uint64)
    coding.pack_into(words, pending)
    return grouping.group(words, bits=used, weight=weight)


def group_codes(codes: Sequence[AnyInts], n: int) -> grouping.Groups:
    """Group rows by several columns of non-negative codes; no column puts all rows into one group.

    >>> group_codes([np.array([0, 1, 0]), np.array([5, 5, 5])], 3).of_row.tolist()
    [0, 1, 0]
    """
    fields = [(c, ALL_VALID, 0, 0, int(c.max(initial=0)).bit_length()) for c in codes]
    if not fields:
        fields = [(np.zeros(n, np.int64), ALL_VALID, 0, 0, 0)]
    return _chain(fields, n, None)


def group_files(
    columns: Sequence[Sequence[Codes]], sizes: Sequence[int] | None = None,
    times: tuple[Ints, ...] | None = None,
) -> SharedGroups:  # fmt: skip
    """Group the records of all files by columns coded alike, one tuple of arrays per column.

    `times`: how many records each row stands for, where equal records are one row.

    >>> groups = group_files([(np.array([0, 1], np.int32), np.array([1], np.int32))])
    >>> [size.tolist() for size in groups.size]
    [[1, 1], [0, 1]]
    """
    ends = np.cumsum([len(part) for part in columns[0]] if sizes is None else sizes)
    groups = group_codes([np.concatenate(parts) for parts in columns], int(ends[-1]))
    parts, k = tuple(np.split(groups.of_row, ends[:-1])), len(groups.size)
    weights = [None] * len(parts) if times is None else times
    size = tuple(np.bincount(part, records, k).astype(np.int64) for part, records in zip(parts, weights, strict=True))
    return SharedGroups(parts, size, times)
