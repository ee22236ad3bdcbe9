"""Fewer or coarser keys: the cells that cells merge into, never from the records again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.frequencies import blank_cells, missing_patterns, wildcard_matches
from sdckit.cells.packing import TABLE_SPAN, Layout, Tabulated, group_codes
from sdckit.cells.table import Cells
from sdckit.errors import DataError
from sdckit.numerics.grouping import sum_by
from sdckit.numerics.wildcard_matches.matched_margins import NO_WEIGHT, Merged, match_merged, merge, recode
from sdckit.numerics.wildcard_matches.wildcards import Matched

NO_ROWS = np.empty(0, np.int32)


@dataclass(frozen=True, eq=False)
class Margin:
    """Cells of some keys, merged from cells of more.

    `keys`: those that are left. `size` and `weight` (K',): records of each merged cell, and their weight. `merged`:
    the packed words, where the keys of the cells fit into one; else `codes`, key by key.
    """

    cells: Cells = field(repr=False)
    keys: tuple[str, ...]
    size: NDArray[np.int64]
    weight: NDArray[np.float64] | None
    merged: Merged | None = None
    codes: Sequence[NDArray[np.int64]] = ()

    @property
    def _layout(self) -> Layout:
        layout = self.cells.table.layout
        assert layout is not None
        return layout

    def without(self, *dropped: str) -> Margin:
        """Leave keys out."""
        kept = tuple(key for key in self.keys if key not in dropped)
        if self.merged is None:
            left = tuple(code for key, code in zip(self.keys, self.codes, strict=True) if key in kept)
            return self._merged_codes(kept, left)
        keep = sum(self._layout.field(self.cells.keys.index(key)) for key in kept)
        return self._merged_words(kept, self.merged.words, keep)

    def coarser(self, key: str, codes: NDArray[np.int64], new: NDArray[np.int64]) -> Margin:
        """Give levels of a key new codes, which are codes that it has; levels with one code become one.

        `codes` and `new` (L,): codes in use, and what each becomes; those not listed stay as they are.
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

    def _merged_words(self, keys: tuple[str, ...], words: NDArray[np.uint64], keep: int) -> Margin:
        found: Merged = merge(words, self.size, NO_WEIGHT if self.weight is None else self.weight, keep=keep)
        weight = None if self.weight is None else found.weight
        return Margin(self.cells, keys, found.size, weight, found)

    def _merged_codes(self, keys: tuple[str, ...], codes: Sequence[NDArray[np.int64]]) -> Margin:
        groups = group_codes(codes, len(self.size))
        k = len(groups.size)
        one = np.empty(k, np.int64)
        one[groups.of_row[::-1]] = np.arange(len(self.size) - 1, -1, -1)
        size = np.bincount(groups.of_row, self.size, k).astype(np.int64)
        weight = None if self.weight is None else sum_by(groups.of_row, self.weight, k)
        return Margin(self.cells, keys, size, weight, codes=tuple(code[one] for code in codes))

    def frequencies(self) -> dict[str, NDArray[Any]]:
        """``sample_frequency`` and ``population_frequency`` of the merged cells, under the cells' rule."""
        cells = self.cells
        kept = [cells.keys.index(key) for key in self.keys]
        wild = [cells.wild[j] for j in kept]
        missing_codes = [cells.levels[j].span for j in kept]
        size: NDArray[Any] = self.size
        weight, columns = self.weight, {"cell_size": size}
        if any(wild):
            found = self._matched(kept, wild, missing_codes)
            size = size + found.size
            weight = None if weight is None else weight + found.weight
            columns["strict_frequency"] = np.rint(self.size + found.complete).astype(np.int64)
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


def _look_up(
    values: NDArray[np.int64], codes: NDArray[np.int64], new: NDArray[np.int64]
) -> NDArray[np.int64]:
    """New codes of values; those that have none keep theirs."""
    order = np.argsort(codes)
    at = np.minimum(np.searchsorted(codes[order], values), len(codes) - 1)
    known = codes[order][at] == values
    return np.where(known, new[order][at], values)
