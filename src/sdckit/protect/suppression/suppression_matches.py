"""Further suppressions, so that at least k records match the true keys of whoever lost a value, not only what is left.

A record that lost a value matches all values that it may have had. A reader who knows the true one sets aside the
records that show another: what helps against that is a value taken out of those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sdckit.data.columns import ALL_VALID, Coded
from sdckit.numerics.array_types import Bools, Ints, Values
from sdckit.numerics.compiling import njit
from sdckit.protect.suppression.suppression_choices import GONE, WorkingFile
from sdckit.protect.suppression.suppression_mend import count_bits, differences

OTHER_STRATUM = 255  # differences of a cell that must not match


@njit(cache=True, nogil=True)
def _count_differences(diff, out):  # type: ignore[no-untyped-def]
    """Number of keys in each bit mask; `OTHER_STRATUM` where all bits are set."""
    for i in range(len(diff)):
        out[i] = OTHER_STRATUM if diff[i] == ~np.uint64(0) else count_bits(diff[i])


def matches_of_truth(file: WorkingFile, keys: Sequence[int], rows: Ints) -> Ints:
    """The records that match the true keys of some rows, as they were before anything was suppressed.

    A record that lacks all keys counts for nobody.
    """
    columns = []
    for j in keys:
        now, true = file.column(j), file.keys[j]
        parts = [coded.valid if len(coded.valid) else np.ones(file.n, np.uint8) for coded in (now, true)]
        valid = np.concatenate([parts[0], parts[1][rows]])
        missing = int(np.count_nonzero(valid == 0))
        values = np.concatenate([true.values, true.values[rows]])
        columns.append(replace(true, values=values, valid=valid if missing else ALL_VALID, n_missing=missing))
    strata = file.strata and _taken(file.strata, np.concatenate([np.arange(file.n), rows]))
    counts = np.concatenate([np.ones(file.n, np.int64), np.zeros(len(rows), np.int64)])
    gone = np.zeros((len(keys), len(counts)), np.bool_)
    at = WorkingFile(tuple(columns), strata, 1.0, gone, counts).situation(range(len(keys)))
    return np.rint(at.frequency[at.of_row[file.n :]]).astype(np.int64)


def _taken(column: Coded, rows: Ints) -> Coded:
    return replace(column, values=column.values[rows])


def few_matches_of_truth(file: WorkingFile, keys: Sequence[int], k: int) -> Ints:
    """The rows that lost a value and whose true keys fewer than k records match."""
    rows = np.flatnonzero(file.gone[list(keys)].any(axis=0))  # others match as many as before, or more
    return rows[matches_of_truth(file, keys, rows) < k] if len(rows) else rows


def match_truth(
    file: WorkingFile, keys: Sequence[int], k: int, rank: Sequence[float], linked: Bools, rng: np.random.Generator
) -> None:
    """Suppress values of records nearly like the true keys that fewer than k match, until k do or no record is left.

    Of the records that differ in the fewest keys those lose their values whose keys come first by `rank`; they are
    drawn among equals, so that a reader who knows the rule cannot tell who had to lose them. `linked` (keys, keys): the
    keys that lose their values together.
    """
    short = few_matches_of_truth(file, keys, k)
    if not len(short):
        return
    true = np.stack([_codes(file.keys[j], short) for j in keys], axis=1)
    stratum = np.zeros(len(short), np.int64) if file.strata is None else file.strata.codes(short)
    targets = np.unique(np.column_stack([true, stratum]), axis=0)
    cells = _Cells(file, keys, linked)
    for target in targets[rng.permutation(len(targets))]:
        cells.match(target, k, np.asarray(rank, np.float64), rng)


def _codes(column: Coded, rows: Ints | slice = slice(None)) -> Ints:
    codes = column.codes(rows)
    return np.where(codes == column.span, GONE, codes)


class _Cells:
    """Records that are alike in what is left of their keys, by cell; records that lose a value make a new cell."""

    def __init__(self, file: WorkingFile, keys: Sequence[int], linked: Bools) -> None:
        at = file.situation(keys)
        n, spare = len(at.size), len(at.size) // 4 + 64
        self.file, self.keys, self.linked, self.n = file, keys, linked, n
        self.codes = np.concatenate([at.codes, np.full((spare, len(keys)), GONE)])
        self.stratum = np.concatenate([at.stratum, np.zeros(spare, np.int64)]).astype(np.int64)
        order = np.argsort(at.of_row, kind="stable")
        self.rows = np.split(order, np.cumsum(at.size.astype(np.int64))[:-1])
        self.size = np.concatenate([at.size, np.zeros(spare)]).astype(np.int64)

    def match(self, target: Ints, k: int, rank: Values, rng: np.random.Generator) -> None:
        """Suppress values in the nearest records until k match a target (its codes, then its stratum)."""
        self.codes[self.n], self.stratum[self.n] = target[:-1], target[-1]
        codes, size = self.codes[: self.n + 1], self.size[: self.n]
        diff, n_keys = np.empty(self.n + 1, np.uint64), np.empty(self.n, np.uint8)
        differences(codes, self.stratum[: self.n + 1], self.n, diff)
        _count_differences(diff[:-1], n_keys)
        present = codes[:-1] != GONE
        short = k - int(size[(n_keys == 0) & present.any(axis=1)].sum())
        for n_differing in range(1, len(self.keys)):
            if short <= 0:
                return
            some = np.flatnonzero((size > 0) & (n_keys == n_differing))
            lost = (diff[some, None] >> np.arange(len(rank), dtype=np.uint64) & np.uint64(1)).astype(np.bool_)
            lost = lost @ self.linked
            left = (present[some] & ~lost).any(axis=1)  # a record that lost all its keys would count for nobody
            some, lost = some[left], lost[left]
            order = np.lexsort([rng.random(len(some)), -(lost @ rank)])
            for cell, mask in zip(some[order].tolist(), lost[order], strict=True):
                if short <= 0:
                    return
                short -= self._take(cell, mask, short, rng)

    def _take(self, cell: int, mask: Bools, most: int, rng: np.random.Generator) -> int:
        """Suppress some keys in up to `most` records of a cell, drawn; how many they were."""
        rows = rng.permutation(self.rows[cell])
        taken, self.rows[cell] = rows[:most], rows[most:]
        self.size[cell] -= len(taken)
        for j in np.flatnonzero(mask):
            self.file.gone[self.keys[j], taken] = True
        if self.n + 1 == len(self.codes):
            self.codes, self.stratum, self.size = (
                np.concatenate([values, np.zeros_like(values)]) for values in (self.codes, self.stratum, self.size)
            )
        self.codes[self.n] = np.where(mask, GONE, self.codes[cell])
        self.stratum[self.n], self.size[self.n] = self.stratum[cell], len(taken)
        self.rows.append(taken)
        self.n += 1
        return len(taken)
