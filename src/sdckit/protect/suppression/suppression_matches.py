"""Further suppressions, so that at least k records match the true keys of whoever lost a value, not only what is left.

A record that lost a value matches all values that it may have had. A reader who knows the true one sets aside the
records that show another: what helps against that is a value taken out of those.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from sdckit.data.columns import ALL_VALID, Coded
from sdckit.numerics.array_types import Bools, Ints, Values
from sdckit.protect.suppression.suppression_choices import GONE, WorkingFile
from sdckit.protect.suppression.suppression_mend import differences

WORDS = 1 << 64
GOLDEN = 0x9E3779B97F4A7C15  # odd, its bits well mixed: its powers make a hash of several codes


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


def few_matches_of_truth(file: WorkingFile, keys: Sequence[int], k: int) -> tuple[Ints, Ints]:
    """The rows that lost a value and whose true keys fewer than k records match, and how many do."""
    rows = np.flatnonzero(file.gone[list(keys)].any(axis=0))  # others match as many as before, or more
    matches = matches_of_truth(file, keys, rows) if len(rows) else rows
    few = matches < k
    return rows[few], matches[few]


def match_truth(
    file: WorkingFile, keys: Sequence[int], k: int, rank: Sequence[float], linked: Bools, rng: np.random.Generator
) -> None:
    """Suppress values of records nearly like the true keys that fewer than k match, until k do or no record is left.

    Of the records that differ in the fewest keys those lose their values whose keys come first by `rank`; they are
    drawn among equals, so that a reader who knows the rule cannot tell who had to lose them. `linked` (keys, keys): the
    keys that lose their values together.
    """
    short, matches = few_matches_of_truth(file, keys, k)
    if not len(short):
        return
    stratum = np.zeros(len(short), np.int64) if file.strata is None else file.strata.codes(short)
    true = np.column_stack([*(_codes(file.keys[j], short) for j in keys), stratum])
    targets, first = np.unique(true, axis=0, return_index=True)
    order = rng.permutation(len(targets))
    lacking = k - matches[first[order]]
    _Cells(file, keys, linked, np.asarray(rank, np.float64), targets[order], lacking, rng).match()


def _masks(kept: Bools) -> Ints:
    """The places that are kept in each row, as bit masks."""
    return np.asarray(kept @ (1 << np.arange(kept.shape[-1])), np.int64)


def _codes(column: Coded, rows: Ints) -> Ints:
    codes = column.codes(rows)
    return np.where(codes == column.span, GONE, codes)


class _Cells:
    """Records that are alike in what is left of their keys, by cell, and those among them that lost a value for others.

    Codes are those of the keys, and the stratum. Cells that differ from a target in one key are found by a hash of the
    others, those that lack most keys first: what they lose helps most targets. Where there are too few, all cells are
    gone through. A record loses values for others once: few records without any value would match everybody, and
    protect nobody.
    """

    def __init__(
        self, file: WorkingFile, keys: Sequence[int], linked: Bools, rank: Values, targets: Ints, lacking: Ints,
        rng: np.random.Generator,
    ) -> None:  # fmt: skip
        at = file.situation(keys)
        self.file, self.keys, self.linked, self.rank, self.rng = file, keys, linked, rank, rng
        self.codes, self.targets = np.column_stack([at.codes, at.stratum]).astype(np.int64), targets
        self.lacking, self.size = lacking, at.size.astype(np.int64)  # matches that targets lack before any is gained
        self.open, self.whole = lacking > 0, (targets != GONE).all(axis=1)
        self.rows = np.split(np.argsort(at.of_row, kind="stable"), np.cumsum(self.size)[:-1])
        factors = np.array([pow(GOLDEN, j, WORDS) for j in range(1, len(keys) + 2)], np.uint64)
        both = (np.where(codes == GONE, 0, codes + 1).astype(np.uint64) for codes in (self.codes, targets))
        self.parts = [codes * factors for codes in both]  # what each key adds to the hash of a combination
        self.gains: dict[int, dict[int, int]] = {}  # by the keys left (a bit mask) and their hash: new matches
        self.kept = np.zeros((0, len(keys) + 1), np.bool_)  # the same keys, and the stratum, by mask

    def match(self) -> None:
        """Suppress values in the nearest records until no target lacks matches, or no record is left."""
        present, known = (_masks(codes != GONE) for codes in (self.codes, self.targets))
        by_rank = np.argsort(-self.rank, kind="stable").tolist()
        for mask in sorted(np.unique(present).tolist(), key=int.bit_count):
            cells = np.flatnonzero(present == mask)
            for j, both in product(by_rank, np.unique(known & mask).tolist()):
                if both >> j & 1:
                    targets = np.flatnonzero((known & mask == both) & self.open)
                    self._match_nearest(cells, both & ~(1 << j), j, targets)
        for i in np.flatnonzero(self.open).tolist():
            self._match_any(i)

    def _match_nearest(self, cells: Ints, mask: int, j: int, targets: Ints) -> None:
        """Let cells of one pattern that agree with targets on the keys of a mask lose key j."""
        same = [place for place in range(self.codes.shape[1]) if mask >> place & 1]
        hashed = (parts[some][:, same] for parts, some in zip(self.parts, (cells, targets), strict=True))
        there, here = (parts.sum(axis=1, dtype=np.uint64) for parts in hashed)
        order = np.argsort(there)
        start, end = (np.searchsorted(there[order], here, side=side) for side in ("left", "right"))
        for at in np.flatnonzero(end > start).tolist():
            i, near = int(targets[at]), cells[order[start[at] : end[at]]]
            target = self.targets[i]
            near = near[(self.size[near] > 0) & (self.codes[near, j] != target[j])]
            near = near[(self.codes[near][:, same] == target[same]).all(axis=1)]  # two combinations may share a hash
            if len(near):
                self._take(i, near, np.tile(self.linked[j], (len(near), 1)))

    def _match_any(self, i: int) -> None:
        """Let the cells that differ in the fewest keys lose them."""
        codes = np.vstack([self.codes, self.targets[i]])
        diff = np.empty(len(codes), np.uint64)
        differences(codes[:, :-1], codes[:, -1], len(codes) - 1, diff)
        n_keys = np.bitwise_count(diff[:-1])  # all 64 where the strata differ: no number of keys
        for n_differing in range(1, len(self.keys)):
            if not self.open[i]:
                return
            some = np.flatnonzero((self.size > 0) & (n_keys == n_differing))
            bits = diff[some, None] >> np.arange(len(self.keys), dtype=np.uint64) & np.uint64(1)
            self._take(i, some, bits.astype(np.bool_) @ self.linked)

    def _take(self, i: int, cells: Ints, lost: Bools) -> None:
        """Suppress keys (`lost`: cells x keys) in records of some cells, drawn, until a target lacks no match."""
        left = ((self.codes[cells, :-1] != GONE) & ~lost).any(axis=1)  # who lost all keys would count for nobody
        cells, lost = cells[left], lost[left]
        lacking = int(self.lacking[i]) - self._gained(i)
        for at in np.lexsort([self.rng.random(len(cells)), lost @ -self.rank]).tolist():
            if lacking <= 0:
                break
            cell = cells[at]
            rows = self.rng.permutation(self.rows[cell])
            taken, self.rows[cell] = rows[:lacking], rows[lacking:]
            self.size[cell] -= len(taken)
            for j in np.flatnonzero(lost[at]).tolist():
                self.file.gone[self.keys[j], taken] = True
            before = self.codes[cell] != GONE
            self._remember(cell, before, -len(taken))
            self._remember(cell, before & ~np.append(lost[at], False), len(taken))
            lacking -= len(taken)
        self.open[i] = lacking > 0
        if not self.whole[i]:
            self.lacking[i] = lacking

    def _remember(self, cell: int, kept: Bools, n: int) -> None:
        """Note that so many more records have the codes of a cell in the keys kept, and nothing else."""
        mask = int(_masks(kept))
        if mask not in self.gains:
            self.gains[mask], self.kept = {}, np.vstack([self.kept, kept])
        of_mask = self.gains[mask]
        hashed = int(self.parts[0][cell][kept].sum(dtype=np.uint64))
        of_mask[hashed] = of_mask.get(hashed, 0) + n

    def _gained(self, i: int) -> int:
        """Records that match a target since they lost a value; 0 where it lacks a key itself: it has no such hash."""
        if not self.whole[i]:
            return 0
        hashed = (self.kept * self.parts[1][i]).sum(axis=1, dtype=np.uint64).tolist()
        return sum(of_mask.get(number, 0) for number, of_mask in zip(hashed, self.gains.values(), strict=True))
