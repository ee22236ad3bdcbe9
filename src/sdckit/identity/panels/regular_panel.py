"""Candidates for known waves of a regular panel, at most one row per person and wave: cells of the waves' keys."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import comb

import numpy as np

from sdckit.cells import frequencies, packing
from sdckit.data.columns import ALL_VALID, Coded
from sdckit.errors import sure
from sdckit.identity.panels.point_files import PointFile, PointFiles
from sdckit.numerics.array_types import Bools, Codes, Floats, Ints
from sdckit.numerics.grouping import places_among

MOST_WAVES = 64
MOST_LISTED = 100_000  # subsets that are listed to draw some of them
ABSENT = 1  # code in place of a row that is not there: who has none is left out before it is looked at


@dataclass(eq=False)
class Tally:
    """Sums over the known subsets of each person of the original (P,), looked for in one of the files.

    `n`: subsets; `alone`: those with one candidate; `expected`: of 1 / candidates; `below_k`: those with fewer than k;
    `alone_right`: those whose one candidate is the person; `success`: of the chance that a candidate drawn is the
    person; `lost`: those where the person is no candidate. `linked`: whether the last three are known. `drawn`:
    whether some subsets are not looked at; `error`: the standard error of the share alone then. `of_wave` (2, T, P):
    `n` and `alone` of the subsets that hold each wave.
    """

    n: Ints
    alone: Floats
    expected: Floats
    below_k: Floats
    alone_right: Floats
    success: Floats
    lost: Floats
    linked: bool = False
    drawn: bool = False
    error: float = 0.0
    of_wave: Ints | None = None

    @classmethod
    def empty(cls, n_persons: int) -> Tally:
        """Nothing counted yet."""
        alone, expected, below_k, alone_right, success, lost = np.zeros((6, n_persons))
        return cls(np.zeros(n_persons, np.int64), alone, expected, below_k, alone_right, success, lost)

    def add(self, rows: Ints | slice, size: Floats, own: Floats | None, k: int) -> Bools:
        """Add one subset of each of some persons: how many candidates it has, and how many of them are the person.

        Returns who is alone.
        """
        alone: Bools = size == 1
        chance = np.divide(1.0, size, out=np.zeros(len(size)), where=size > 0)
        self.n[rows] += 1
        self.alone[rows] += alone
        self.expected[rows] += chance
        self.below_k[rows] += (size > 0) & (size < k)
        if own is not None:
            self.linked = True
            self.alone_right[rows] += alone & (own == 1)
            self.success[rows] += chance * own
            self.lost[rows] += own == 0
        return alone

    def without(self) -> Floats:
        """Share alone where nothing of each wave is known (T,)."""
        n, alone = self.n - sure(self.of_wave)[0], self.alone - sure(self.of_wave)[1]
        shares = np.divide(alone, n, out=np.full(n.shape, np.nan), where=n > 0)
        return np.array([share[~np.isnan(share)].mean() if (n_of > 0).any() else np.nan
                         for share, n_of in zip(shares, n, strict=True)])  # fmt: skip


@dataclass(frozen=True, eq=False)
class Column:
    """Codes (N,) of all persons of all files; `wild`: 0 is a missing value that matches any."""

    codes: Codes
    n_codes: int
    wild: bool

    def of(self, rows: Ints | slice) -> Coded:
        """As a column to be tabulated, of some persons."""
        return Coded("", self.codes[rows], ALL_VALID, 0, self.n_codes, 0, "integer", None, None)


@dataclass(frozen=True, eq=False)
class RegularPanel:
    """Persons of all files, one after the other, with the columns of each wave.

    `ends`: where the persons of each file end. `there` (T, N): who has a row in the wave; `complete`: all have.
    """

    files: tuple[PointFile, ...]
    ends: Ints
    there: Bools
    complete: bool
    waves: tuple[tuple[Column, ...], ...]
    also: tuple[Column, ...]

    def tallies(self, points: int, most: int, k: int, rng: np.random.Generator, *, by_wave: bool) -> list[Tally]:
        """Look all subsets of so many waves up, or as many drawn ones as asked, in each file that people are sought in.

        Drawn subsets are those of all persons: a standard error is over subsets.
        """
        n_persons, n_waves = int(self.ends[0]), len(self.waves)
        tallies = [Tally.empty(n_persons) for _ in self.ends[1:]] or [Tally.empty(n_persons)]
        for tally in tallies if by_wave else ():
            tally.of_wave = np.zeros((2, n_waves, n_persons), np.int64)
        n_subsets = comb(n_waves, points)
        shares = [self._add(subset, k, tallies) for subset in self._subsets(points, most, rng)]
        if n_subsets > most > 1:
            finite = math.sqrt(1 - most / n_subsets)
            for j, tally in enumerate(tallies):
                tally.drawn = True
                of_file = np.array([share[j] for share in shares])
                known = of_file[~np.isnan(of_file)]
                tally.error = float(known.std(ddof=1)) / math.sqrt(len(known)) * finite if len(known) > 1 else math.nan
        return tallies

    def _subsets(self, points: int, most: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
        n_waves = len(self.waves)
        n_subsets = comb(n_waves, points)
        if n_subsets <= MOST_LISTED:
            listed = list(combinations(range(n_waves), points))
            return listed if n_subsets <= most else [listed[at] for at in rng.choice(n_subsets, most, replace=False)]
        drawn: set[tuple[int, ...]] = set()
        while len(drawn) < most:
            drawn.add(tuple(sorted(rng.choice(n_waves, points, replace=False).tolist())))
        return sorted(drawn)

    def _add(self, subset: Sequence[int], k: int, tallies: Sequence[Tally]) -> list[float]:
        """Look a subset of the waves up for all who have them; the share alone in each file."""
        columns = [*self.also, *(column for wave in subset for column in self.waves[wave])]
        rows: Ints | slice = slice(None)
        ends = self.ends
        if not self.complete:
            rows = np.flatnonzero(self.there[list(subset)].all(axis=0))
            ends = np.searchsorted(rows, self.ends)
        if ends[0] == 0:
            return [math.nan for _ in tallies]
        table = packing.tabulate([column.of(rows) for column in columns], None)
        wild = [column.wild for column in columns]
        mine = slice(0, int(ends[0]))
        persons = slice(0, int(self.ends[0])) if isinstance(rows, slice) else rows[mine]
        shares = []
        for j, (tally, counted) in enumerate(zip(tallies, self._sizes(table, ends), strict=True)):
            size = counted
            if any(wild):
                matched = frequencies.wildcard_matches(
                    table, size=counted, weight=np.zeros(len(counted)), missing_codes=[0] * len(columns), wild=wild,
                    alpha=1.0, n_strata=len(columns),  # a person without any value in these waves is a candidate, too
                )  # fmt: skip
                size = np.rint(counted + matched.size)
            own = self._own(j, columns, rows, ends) if len(self.files) > 1 else None
            alone = tally.add(persons, size[table.of_row[mine]], own, k)
            shares.append(float(alone.mean()))
            if tally.of_wave is not None:
                for wave in subset:
                    tally.of_wave[0, wave, persons] += 1
                    tally.of_wave[1, wave, persons] += alone
        return shares

    def _sizes(self, table: packing.Tabulated, ends: Ints) -> Iterator[Floats]:
        """Persons of each file that people are looked for in, in each cell."""
        of_row, size = table.of_row, table.size
        if len(ends) == 1:
            yield size.astype(np.float64)
        for start, stop in pairwise(ends.tolist()):
            yield np.bincount(of_row[start:stop], minlength=len(size)).astype(np.float64)

    def _own(self, j: int, columns: Sequence[Column], rows: Ints | slice, ends: Ints) -> Floats | None:
        """How many candidates of release j each person of the original that has the waves is."""
        owner = self.files[j + 1].owner
        if owner is None:
            return None
        start, stop = int(ends[j]), int(ends[j + 1])
        every = np.arange(self.ends[-1]) if isinstance(rows, slice) else rows
        there, persons = every[start:stop], every[: int(ends[0])]
        whose = owner[there - self.ends[j]]
        place = places_among(persons, int(self.ends[0]))
        matches = (whose >= 0) & (place[whose] >= 0)
        for column in columns:
            theirs, original = column.codes[there], column.codes[whose]
            equal = theirs == original
            matches &= (equal | (theirs == 0) | (original == 0)) if column.wild else equal
        return np.bincount(place[whose[matches]], minlength=len(persons)).astype(np.float64)


def regular_panel(points: PointFiles) -> RegularPanel | None:
    """The panel; None where someone has two rows in a wave, or there are too many waves, or a tolerance."""
    n_waves = max(1, len(points.times))
    if n_waves > MOST_WAVES or points.files[0].near:
        return None
    places = []
    for file in points.files:
        slot = file.person.astype(np.int64)
        if file.time is not None:
            slot += (file.time.astype(np.int64) - 1) * file.n_persons
        place = np.full(n_waves * file.n_persons, -1, np.int32)
        place[slot] = np.arange(len(slot), dtype=np.int32)
        if (place[slot] != np.arange(len(slot))).any():
            return None
        places.append(place.reshape(n_waves, file.n_persons))
    there = np.concatenate([place >= 0 for place in places], axis=1)
    n_keys = len(points.files[0].keys)
    waves = []
    for wave in range(n_waves):
        wide = [
            np.concatenate([np.where(place[wave] >= 0, file.keys[j][place[wave]], ABSENT)
                            for file, place in zip(points.files, places, strict=True)])
            for j in range(n_keys)
        ]  # fmt: skip
        waves.append(_columns(wide, points.n_levels, points.wild))
    also = [np.concatenate([file.also[j] for file in points.files]) for j in range(len(points.files[0].also))]
    known = _columns(also, points.n_levels[n_keys:], points.wild[n_keys:])
    ends = np.cumsum([file.n_persons for file in points.files])
    return RegularPanel(points.files, ends, there, bool(there.all()), tuple(waves), known)


def _columns(codes: Sequence[Codes], n_codes: Sequence[int], wild: Sequence[bool]) -> tuple[Column, ...]:
    """One column for all keys that hold no wildcard here, and one for each of the others."""
    open_keys = [j for j, column in enumerate(codes) if wild[j] and (column == 0).any()]
    closed = [column for j, column in enumerate(codes) if j not in open_keys]
    columns = [Column(codes[j], max(2, n_codes[j]), wild=True) for j in open_keys]
    if closed:
        groups = packing.group_codes(closed, len(closed[0]))
        columns.insert(0, Column(groups.of_row, len(groups.size), wild=False))
    return tuple(columns)
