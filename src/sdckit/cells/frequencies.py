"""Sample and population frequencies of every cell under any rule for missing key values.

A missing value under the wildcard rule matches any value, but a record in which all of several keys are missing matches
no other record (`blank_cells`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from sdckit.cells.packing import TABLE_SPAN, Layout, Tabulated, group_codes
from sdckit.cells.table import Cells
from sdckit.errors import DataError, sure
from sdckit.numerics.array_types import Bools, Floats, Ints, Values, Words
from sdckit.numerics.grouping import Groups, first_of_groups, sum_by
from sdckit.numerics.wildcard_matches.matched_margins import NO_WEIGHT, Merged, match_merged, merge, recode
from sdckit.numerics.wildcard_matches.matching_pairs import compared_pairs, matching_pairs
from sdckit.numerics.wildcard_matches.wildcards import (
    CELLS_OF_BLOCK as BLOCK,
    Matched,
    match_bits,
    match_columns,
    match_packed,
    patterns_of,
)

NO_CELLS = np.empty(0, np.int64)
JOINS = 4  # ordered pairs of patterns that are joined in the time in which one kind is summed over all cells
PAIRS_PER_JOIN = 10_000  # pairs of cells that are compared in the time in which two patterns are joined
COMPARED = 2_000_000  # cells times kinds: with fewer, a first comparison takes longest to compile
CELLS_PER_KIND = 200  # cells for each kind: with so many, comparing every two takes as long as summing kind by kind


def wildcard_matches(
    table: Tabulated, *, size: Floats, weight: Floats, missing_codes: Sequence[int],
    wild: Sequence[bool], alpha: float, n_strata: int = 0,
) -> Matched:  # fmt: skip
    """Records and weights of the matching cells of other missingness patterns, for each cell.

    `size` and `weight` (K,): records (or persons) and weight of each cell. `missing_codes`: code of a missing
    value, per key. `wild`: which keys have missing values that match any value. `alpha`: weight of a match through
    the other cell's missing key, 0 to 1. `n_strata`: how many of the last columns are strata instead of keys.
    """
    keys = _wild_keys(wild)
    blank = blank_cells(missing_codes[: len(missing_codes) - n_strata], table.words, table.layout, table.codes)
    if len(blank):
        size, weight = size.copy(), weight.copy()
        size[blank], weight[blank] = 0.0, 0.0
    if (packed := _packed_patterns(table, missing_codes, keys)) is None:
        return _match_codes(table.codes, size, weight, [missing_codes[j] for j in keys], keys, alpha)
    words, pattern, clear_of = packed
    return match_packed(words, size, weight, pattern, clear_of, alpha)


def wildcard_counter(
    table: Tabulated, *, missing_codes: Sequence[int], wild: Sequence[bool]
) -> Callable[[Floats], Floats]:
    """Return a function that sums several counts over the matching cells of other missingness patterns.

    Arguments as for `wildcard_matches`, with alpha = 1. The function takes counts of records of each cell (K, L), and
    returns the sums over the cells that match it (K, L). Patterns are determined once.
    """
    keys = _wild_keys(wild)
    blank = blank_cells(missing_codes, table.words, table.layout, table.codes)
    packed = _packed_patterns(table, missing_codes, keys)

    def count(counts: Floats) -> Floats:
        if len(blank):
            counts = counts.copy()
            counts[blank] = 0.0
        if packed is not None:
            own, pattern, clear_of = packed
            return match_columns(own, counts, pattern, clear_of)
        matching = np.empty_like(counts)
        gone = [missing_codes[j] for j in keys]
        for a in range(0, counts.shape[1], 2):  # two at a time, in the places of size and weight
            b = min(a + 1, counts.shape[1] - 1)
            matched = _match_codes(table.codes, counts[:, a], counts[:, b], gone, keys, 1.0)
            matching[:, a], matching[:, b] = matched.size, matched.weight
        return matching

    return count


def wildcard_pairs(
    table: Tabulated, *, missing_codes: Sequence[int], wild: Sequence[bool], entries: Ints, kinds: int, most: int
) -> tuple[Ints, Ints] | None:
    """Cells, and the cells of other missingness patterns whose counts are added to each by `wildcard_counter`.

    `entries` (K,): counts above 0 that each cell has, of so many `kinds`. None where the pairs, and the counts to add
    up, are more than `most`, and where summing kind by kind takes less time than listing pairs. These are joined by
    pattern where patterns are few, and found among all pairs where cells are.
    """
    packed, counted = _packed_patterns(table, missing_codes, _wild_keys(wild)), entries.copy()
    counted[blank_cells(missing_codes, table.words, table.layout, table.codes)] = 0
    n, joins = len(entries), math.inf if packed is None else len(packed[2]) ** 2
    is_much = n * kinds >= COMPARED and n <= CELLS_PER_KIND * kinds
    if is_much and (joins > JOINS * kinds or n**2 <= PAIRS_PER_JOIN * joins):
        free = [code if is_wild else None for code, is_wild in zip(missing_codes, wild, strict=True)]
        return compared_pairs(table.codes, free, counted, most)
    return None if packed is None or joins > JOINS * kinds else matching_pairs(*packed, counted, most)


def _packed_patterns(
    table: Tabulated, missing_codes: Sequence[int], keys: Sequence[int]
) -> tuple[Words, Words, dict[int, int]] | None:
    """Cells as words, with the pattern of each; None where cells are no words."""
    if table.words is None or table.layout is None or len(keys) > 64:
        return None
    return table.words, *missing_patterns(table.words, table.layout, keys, missing_codes)


def _wild_keys(wild: Sequence[bool]) -> list[int]:
    return [j for j, is_wild in enumerate(wild) if is_wild]


def blank_cells(
    missing_codes: Sequence[int], words: Words | None, layout: Layout | None,
    codes: Sequence[Ints] = (),
) -> Ints:  # fmt: skip
    """Cells in which every key is missing, given the code of a missing value of each; none if there is one key only.

    With a single key its missing values stay wildcards, as in sdcMicro.

    >>> layout = Layout((0, 1), (1, 1))
    >>> blank_cells([1, 1], np.array([0b11, 0b01], np.uint64), layout).tolist()
    [0]
    """
    if len(missing_codes) < 2:
        return NO_CELLS
    cells: Ints | None = None
    for j, missing in enumerate(missing_codes):
        if words is not None and layout is not None:
            column = layout.decode(words if cells is None else words[cells], j)
        else:
            column = codes[j] if cells is None else codes[j][cells]
        hit = np.flatnonzero(column == missing)
        cells = hit if cells is None else cells[hit]
    return NO_CELLS if cells is None else cells


def missing_patterns(
    words: Words, layout: Layout, keys: Sequence[int], missing_codes: Sequence[int]
) -> tuple[Words, dict[int, int]]:
    """Bit set of the missing keys of each cell, and for each such pattern the bit mask of the keys that it has."""
    pattern = patterns_of(
        words,
        np.array([layout.shifts[j] for j in keys], np.uint64),
        np.array([(1 << layout.bits[j]) - 1 for j in keys], np.uint64),
        np.array([missing_codes[j] for j in keys], np.uint64),
    )
    clear_of = {}
    for bits in np.unique(pattern).tolist():
        gone = sum(layout.field(j) for i, j in enumerate(keys) if bits >> i & 1)
        clear_of[bits] = ~gone & 0xFFFFFFFFFFFFFFFF
    return pattern, clear_of


def _match_codes(
    codes: Sequence[Ints], size: Floats, weight: Floats,
    missing_codes: Sequence[int], keys: Sequence[int], alpha: float,
) -> Matched:  # fmt: skip
    """Wildcard matches for keys that do not fit into one word: by bit sets, or by pairs of patterns if few."""
    gone = [codes[j] == code for j, code in zip(keys, missing_codes, strict=True)]
    patterns = group_codes([lacking.view(np.uint8) for lacking in gone], len(size))
    n_incomplete = int(np.count_nonzero(np.logical_or.reduce(gone)))
    if _pairs_are_faster(len(patterns.size), len(codes), len(size), n_incomplete):
        return _match_pairs(codes, size, weight, patterns, gone, keys, alpha)
    free = dict(zip(keys, missing_codes, strict=True))
    return match_bits(codes, size, weight, [free.get(j) for j in range(len(codes))], alpha)


def _pairs_are_faster(n_patterns: int, n_keys: int, n: int, n_incomplete: int) -> bool:
    """Whether pairs of patterns take less time than bit sets, by a cost model in nanoseconds that was measured."""
    pairs = n_patterns * (9 * n * n_keys + 20_000 * n_patterns)
    looks = (n_incomplete * n + (n - n_incomplete) * n_incomplete) / BLOCK
    return pairs < 25 * n * n_keys + 30 * looks


def _match_pairs(
    codes: Sequence[Ints], size: Floats, weight: Floats, patterns: Groups,
    gone: Sequence[Bools], keys: Sequence[int], alpha: float,
) -> Matched:  # fmt: skip
    """Wildcard matches by grouping the cells of every two patterns by the keys that both have."""
    n = len(size)
    add = Matched(np.zeros(n), np.zeros(n), np.zeros(n))
    order = np.argsort(patterns.of_row, kind="stable")
    cells_of = np.split(order, np.cumsum(patterns.size)[:-1])
    lacks = [{j for j, missing in zip(keys, gone, strict=True) if missing[cells[0]]} for cells in cells_of]
    for a, b in combinations(range(len(cells_of)), 2):
        absent = lacks[a] | lacks[b]
        rows = np.concatenate([cells_of[a], cells_of[b]])
        group_of = group_codes([column[rows] for j, column in enumerate(codes) if j not in absent], len(rows)).of_row
        mine, other = group_of[: len(cells_of[a])], group_of[len(cells_of[a]) :]
        credit_a, credit_b = alpha if lacks[b] else 1.0, alpha if lacks[a] else 1.0
        k = int(group_of.max()) + 1
        for total, source in ((add.size, size), (add.weight, weight)):
            from_a = np.bincount(mine, source[cells_of[a]], k)
            from_b = np.bincount(other, source[cells_of[b]], k)
            total[cells_of[a]] += credit_a * from_b[mine]
            total[cells_of[b]] += credit_b * from_a[other]
            if total is add.size and not (lacks[a] and lacks[b]):
                complete, of_complete = (cells_of[b], from_a[other]) if lacks[b] else (cells_of[a], from_b[mine])
                add.complete[complete] += of_complete
    return add


# Margins: cells of fewer or recoded keys, merged from cells without another pass over the records.


NO_ROWS = np.empty(0, np.int32)


@dataclass(frozen=True, eq=False)
class Margin:
    """A margin: cells of some of the keys, merged from those of all keys.

    `keys`: the remaining keys. `size` and `weight` (K',): records of each merged cell, and their weight. `merged`: the
    packed words, if the keys of the cells fit into one; else `codes`, key by key.
    """

    cells: Cells = field(repr=False)
    keys: tuple[str, ...]
    size: Ints
    weight: Floats | None
    merged: Merged | None = None
    codes: Sequence[Ints] = ()

    @property
    def _layout(self) -> Layout:
        return sure(self.cells.table.layout)

    def without(self, *dropped: str) -> Margin:
        """Leave keys out."""
        kept = tuple(key for key in self.keys if key not in dropped)
        if self.merged is None:
            left = tuple(code for key, code in zip(self.keys, self.codes, strict=True) if key in kept)
            return self._merged_codes(kept, left)
        keep = sum(self._layout.field(self.cells.keys.index(key)) for key in kept)
        return self._merged_words(kept, self.merged.words, keep)

    def coarser(self, key: str, codes: Ints, new: Ints) -> Margin:
        """Recode a key: levels with the same new code are merged.

        `codes` and `new` (L,): codes in use, and the new code of each, one that the key has; others keep theirs.
        """
        j = self.cells.keys.index(key)
        if self.merged is None:
            at = self.keys.index(key)
            changed = _look_up(self.codes[at], codes, new)
            return self._merged_codes(self.keys, (*self.codes[:at], changed, *self.codes[at + 1 :]))
        layout = self._layout
        shift, bits = layout.shifts[j], layout.bits[j]
        if bits <= TABLE_SPAN.bit_length():
            table = np.arange(1 << bits, dtype=np.uint64)
            table[codes] = new.astype(np.uint64)
            words = recode(self.merged.words, shift=shift, bits=bits, table=table)
        else:
            changed = _look_up(layout.decode(self.merged.words, j), codes, new)
            words = (self.merged.words & np.uint64(~layout.field(j) & 0xFFFFFFFFFFFFFFFF)) | (
                changed.astype(np.uint64) << np.uint64(shift)
            )
        return self._merged_words(self.keys, words, 0xFFFFFFFFFFFFFFFF)

    def _merged_words(self, keys: tuple[str, ...], words: Words, keep: int) -> Margin:
        merged: Merged = merge(words, self.size, NO_WEIGHT if self.weight is None else self.weight, keep=keep)
        return Margin(self.cells, keys, merged.size, None if self.weight is None else merged.weight, merged)

    def _merged_codes(self, keys: tuple[str, ...], codes: Sequence[Ints]) -> Margin:
        groups = group_codes(codes, len(self.size))
        k = len(groups.size)
        first = first_of_groups(groups.of_row, k)
        size = np.bincount(groups.of_row, self.size, k).astype(np.int64)
        weight = None if self.weight is None else sum_by(groups.of_row, self.weight, k)
        return Margin(self.cells, keys, size, weight, codes=tuple(code[first] for code in codes))

    def frequencies(self) -> dict[str, Values]:
        """``sample_frequency`` and ``population_frequency`` of the merged cells, under the cells' rule."""
        cells = self.cells
        kept = [cells.keys.index(key) for key in self.keys]
        wild = [cells.wild[j] for j in kept]
        missing_codes = [cells.levels[j].span for j in kept]
        size: Values = self.size
        weight, columns = self.weight, {"cell_size": size}
        if any(wild):
            matched = self._matched(kept, wild, missing_codes)
            size = size + matched.size
            weight = None if weight is None else weight + matched.weight
            columns["strict_frequency"] = np.rint(self.size + matched.complete).astype(np.int64)
        columns["sample_frequency"] = size
        if weight is not None:
            columns["population_frequency"] = weight
        elif cells.roles.sampling_fraction is not None:
            columns["population_frequency"] = size / cells.roles.sampling_fraction
        return columns

    def _matched(self, kept: list[int], wild: list[bool], missing_codes: list[int]) -> Matched:
        alpha, free = self.cells.alpha, [i for i, is_free in enumerate(wild) if is_free]
        if self.merged is None:
            weight = np.zeros(len(self.size)) if self.weight is None else self.weight
            table = Tabulated(NO_ROWS, self.size, self.weight, self.codes, None, None)
            return wildcard_matches(
                table, size=self.size.astype(np.float64), weight=weight, missing_codes=missing_codes, wild=wild,
                alpha=alpha,
            )  # fmt: skip
        old = self._layout
        layout = Layout(tuple(old.shifts[j] for j in kept), tuple(old.bits[j] for j in kept))
        pattern, clear_of = missing_patterns(self.merged.words, layout, free, missing_codes)
        levels = [self.cells.level_sizes(self.keys[i])[0] for i in free]
        known = [codes[codes < missing_codes[i]] for codes, i in zip(levels, free, strict=True)]
        shifts, merged = [layout.shifts[i] for i in free], self.merged
        if len(merged.slots) == 0:  # the cells as they were given, not merged yet
            merged = merge(merged.words, merged.size, merged.weight)
        blank = blank_cells(missing_codes, merged.words, layout)
        if len(blank):
            size, weight = merged.size.copy(), merged.weight.copy()
            size[blank], weight[blank[: len(weight)]] = 0, 0.0
            merged = replace(merged, size=size, weight=weight)
        return match_merged(merged, pattern, shifts=shifts, codes=known, clear_of=clear_of, alpha=alpha)


def margin_of(cells: Cells) -> Margin:
    """The cells themselves, to be merged.

    Raises DataError: the cells count persons.
    """
    if cells.roles.person is not None:
        raise DataError("distinct persons cannot be counted from cells; leave person= out here")
    table = cells.table
    if table.words is None or table.layout is None:
        return Margin(cells, cells.keys, table.size, table.weight, codes=table.codes)
    return Margin(cells, cells.keys, table.size, table.weight,
        Merged(table.words, table.size, NO_WEIGHT if table.weight is None else table.weight, NO_ROWS),
    )  # fmt: skip


def _look_up(values: Ints, codes: Ints, new: Ints) -> Ints:
    """New code of each value; values without a new code keep their own."""
    order = np.argsort(codes)
    at = np.minimum(np.searchsorted(codes[order], values), len(codes) - 1)
    return np.where(codes[order][at] == values, new[order][at], values)
