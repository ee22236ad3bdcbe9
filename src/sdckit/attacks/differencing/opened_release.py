"""A release as it is compared with others: its columns as values, its combinations, their keyed digests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.collect import columns_in_memory
from sdckit.cells.packing import group_codes
from sdckit.data.columns import code_column
from sdckit.data.ledger.canonical import Levels, canonical
from sdckit.data.ledger.digests import Digester
from sdckit.errors import DataError


@dataclass(frozen=True, eq=False)
class Combinations:
    """The combinations of some columns: of each its codes by column and its records; of each record its combination."""

    columns: tuple[str, ...]
    codes: tuple[NDArray[np.int32], ...]
    size: NDArray[np.int64]
    of_row: NDArray[np.int32]

    def among(self, columns: Sequence[str]) -> Combinations:
        """Those of fewer columns, from these and not from the records; `of_row` is that of these combinations."""
        chosen = [self.codes[self.columns.index(name)] for name in columns]
        groups = group_codes(chosen, len(self.size))
        k = len(groups.size)
        first = np.empty(k, np.int64)
        first[groups.of_row[::-1]] = np.arange(len(groups.of_row) - 1, -1, -1)
        size = np.bincount(groups.of_row, self.size, k).astype(np.int64)
        return Combinations(tuple(columns), tuple(one[first] for one in chosen), size, groups.of_row)


@dataclass(frozen=True, eq=False)
class OpenedRelease:
    """One release: the frame, the columns that are compared, and its id where it has one."""

    frame: Any
    n: int
    levels: dict[str, Levels]
    id: Levels | None
    memo: dict[Any, Any] = field(default_factory=dict)

    @property
    def whole(self) -> Combinations:
        """The combinations of all columns."""
        if "whole" not in self.memo:
            columns = tuple(sorted(self.levels))
            groups = group_codes([self.levels[name].codes for name in columns], self.n)
            first = np.empty(len(groups.size), np.int64)
            first[groups.of_row[::-1]] = np.arange(self.n - 1, -1, -1)
            codes = tuple(self.levels[name].codes[first] for name in columns)
            self.memo["whole"] = Combinations(columns, codes, groups.size, groups.of_row)
        found: Combinations = self.memo["whole"]
        return found

    def combinations(self, columns: Sequence[str]) -> Combinations:
        """Those of some columns, in the order of their names."""
        place = tuple(sorted(columns))
        if place not in self.memo:
            found = self.whole.among(place)
            self.memo[place] = Combinations(place, found.codes, found.size, found.of_row[self.whole.of_row])
        combined: Combinations = self.memo[place]
        return combined

    def digests(self, columns: Sequence[str], digester: Digester) -> NDArray[np.uint8]:
        """The digest of each of these combinations."""
        place = (digester, tuple(sorted(columns)))
        if place not in self.memo:
            self.memo[place] = self.digests_of(self.combinations(columns), digester)
        found: NDArray[np.uint8] = self.memo[place]
        return found

    def digests_of(self, combined: Combinations, digester: Digester) -> NDArray[np.uint8]:
        """The digests of combinations that may be no longer those of the file."""
        parts = [
            (self.level_digests(name, digester), codes)
            for name, codes in zip(combined.columns, combined.codes, strict=True)
        ]
        return digester.combinations(parts, len(combined.size))

    def level_digests(self, name: str, digester: Digester) -> NDArray[np.uint8]:
        """The digest of each level of a column."""
        place = (digester, name)
        if place not in self.memo:
            self.memo[place] = digester.levels(self.levels[name])
        found: NDArray[np.uint8] = self.memo[place]
        return found

    def id_digests(self, digester: Digester) -> NDArray[np.uint8]:
        """The digest of each record's id."""
        assert self.id is not None
        return digester.levels(self.id)[self.id.codes]


def open_release(data: Any, columns: Sequence[str], *, id: str | None, name: str, role: str) -> OpenedRelease:
    """Read the columns of a release.

    `name` is what the release is called in messages, `role` what its columns are. Raises ColumnError: a column is
    absent; DataError: no records, or records without an id of their own.
    """
    wanted: dict[str, Sequence[str]] = {role: tuple(columns), "id": () if id is None else (id,)}
    frame, _ = columns_in_memory(data, wanted)
    levels = {one: canonical(code_column(frame[one])) for one in dict.fromkeys(columns)}
    own = None if id is None else canonical(code_column(frame[id]))
    if own is not None and (own.counts()[1:].max(initial=0) > 1 or own.counts()[0]):
        raise DataError(
            f"{name}: several records share a value of the id, or have none; give a column that every record has a "
            "value of its own in, or leave id out",
            argument="id",
        )
    return OpenedRelease(frame, len(frame), levels, own)
