"""The file while values are taken out of it: its cells, and their frequencies by the rule of `cells/`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.packing import tabulate
from sdckit.cells.tabulate import frequency_columns_of
from sdckit.data.columns import Coded
from sdckit.numerics.grouping import gather

TINY = 1e-9  # a sum of fractions of alpha may miss k by rounding
GONE = -1  # code of a missing value in a situation


@dataclass(frozen=True, eq=False)
class Situation:
    """The cells of some keys as the file stands."""

    of_row: NDArray[np.int32]  # shape (n,); cell of each record
    size: NDArray[np.float64]  # shape (K,); records of each cell
    frequency: NDArray[np.float64]  # shape (K,); records that match it
    first: NDArray[np.int64]  # shape (K,); first record of each cell, ascending
    codes: NDArray[np.int64]  # shape (K, p); -1 where missing
    stratum: NDArray[np.int64]  # shape (K,)

    def at_risk(self, k: int) -> NDArray[np.int64]:
        """Cells whose frequency is below k, by their first records."""
        return np.flatnonzero(self.frequency < k - TINY)

    def rows_of(self, cells: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Records of some cells in ascending order, cell after cell, and where each cell's begin."""
        place = np.full(len(self.size), -1, np.int64)
        place[cells] = np.arange(len(cells))
        of_row = place[self.of_row]
        rows = np.flatnonzero(of_row >= 0)
        rows = rows[np.argsort(of_row[rows], kind="stable")]
        starts = np.concatenate([[0], np.cumsum(self.size[cells])]).astype(np.int64)
        return rows, starts


@dataclass(frozen=True, eq=False)
class WorkingFile:
    """The keys of a file, and which of their values have been taken out so far."""

    keys: tuple[Coded, ...]
    strata: Coded | None
    alpha: float
    gone: NDArray[np.bool_]  # keys x records
    # shape (n,); records that a row stands for, where not one each: k or more then, so that it is never at risk
    counts: NDArray[np.int64] | None = None

    @property
    def n(self) -> int:
        """Rows."""
        return int(self.gone.shape[1])

    def column(self, key: int) -> Coded:
        """A key without the values taken out."""
        coded, gone = self.keys[key], self.gone[key]
        if not gone.any():
            return coded
        present = ~gone if len(coded.valid) == 0 else (coded.valid != 0) & ~gone
        missing = self.n - int(np.count_nonzero(present))
        return replace(coded, valid=present.astype(np.uint8), n_missing=missing)

    def sizes(self, of_row: NDArray[Any], n_cells: int, rows: Any = slice(None)) -> NDArray[np.int64]:
        """Records of each cell, of some rows."""
        if self.counts is None:
            return np.bincount(of_row[rows], minlength=n_cells)
        found: NDArray[np.int64] = np.bincount(of_row[rows], self.counts[rows], n_cells).astype(np.int64)
        return found

    def situation(self, keys: Sequence[int]) -> Situation:
        """Tabulate some keys as they stand."""
        columns = [self.column(j) for j in keys]
        strata = [] if self.strata is None else [self.strata]
        table = tabulate([*columns, *strata], None)
        size = self.sizes(table.of_row, len(table.size))
        frequency = frequency_columns_of(
            table, counted=size, total=None,
            missing_codes=[column.span for column in [*columns, *strata]],
            wild=[column.n_missing > 0 for column in columns] + [False for _ in strata], alpha=self.alpha,
            sampling_fraction=None, n_strata=len(strata),
        )["sample_frequency"]  # fmt: skip
        first = np.empty(len(table.size), np.int64)
        first[table.of_row[::-1]] = np.arange(self.n - 1, -1, -1)
        order = np.argsort(first)  # whatever the engine's coding, cells come in the order of the file
        number = np.empty(len(order), np.int32)
        number[order] = np.arange(len(order), dtype=np.int32)
        codes = np.stack([table.codes[j][order] for j in range(len(columns))], axis=1)
        spans = np.array([column.span for column in columns])
        return Situation(
            of_row=gather([number], table.of_row)[0], size=size[order].astype(np.float64),
            frequency=np.asarray(frequency, np.float64)[order], first=first[order],
            codes=np.where(codes >= spans, GONE, codes),
            stratum=table.codes[len(columns)][order] if strata else np.zeros(len(order), np.int64),
        )  # fmt: skip

    def take_out(self, keys: Sequence[int], masks: NDArray[np.uint64], rows: NDArray[np.int64]) -> None:
        """Take values out: bit i of a record's mask stands for the i-th of the keys."""
        for i, j in enumerate(keys):
            hit = rows[(masks >> np.uint64(i)) & np.uint64(1) == 1]
            self.gone[j, hit] = True

    def new(self, key: int) -> NDArray[np.bool_]:
        """Values of a key that were there and have been taken out."""
        coded = self.keys[key]
        out: NDArray[Any] = self.gone[key]
        return out if len(coded.valid) == 0 else out & (coded.valid != 0)
