"""Released records that equal one original record alone with its values: in all columns, in some, or nearly."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import pairwise, takewhile

import numpy as np

from sdckit.cells.packing import group_codes
from sdckit.numerics import coding, grouping
from sdckit.numerics.array_types import Bools, Codes, Floats, Ints

KNOTS, FEWEST_BETWEEN = 64, 8  # places at which a number is put on a scale, and records between two of them


@dataclass(frozen=True)
class EqualRecords:
    """Records that equal one original record alone with its combination, and how often combinations occur.

    `copies`, `control`: records of the release, and of the control file, equal to a unique of the original. `once`,
    `twice`, `thrice`: combinations that one, two and three originals have.
    """

    copies: float
    control: float
    once: float
    twice: float
    thrice: float

    def over(self, cluster: float) -> EqualRecords:
        """The same where so many records count as one."""
        return EqualRecords(*(count / cluster for count in astuple(self)))


def count_equal(columns: Sequence[Codes], sizes: Sequence[int], times: Ints | None = None) -> list[EqualRecords]:
    """Count equal records by all columns, then without the first, the second and so on, where there are several.

    `columns`: codes of every column, the rows of original, release and control file one after the other; `sizes`:
    how many each file has, 0 for the control where there is none; `times`: the records of each row, one unless given.

    >>> codes = [np.array([1, 1, 2, 1, 2]), np.array([1, 2, 2, 1, 1])]
    >>> [(equal.copies, equal.once) for equal in count_equal(codes, (3, 2, 0))]
    [(1, 3), (2, 1), (1, 1)]
    """
    every = range(len(columns))
    but_one: list[EqualRecords] = []
    whole: list[EqualRecords] = []
    for at, rows in _but_one(_all_rows(columns, sizes, times), every):
        whole = whole or [_count(rows.within([at], []))]
        but_one.append(_count(rows))
    return [*whole, *but_one] if len(columns) > 1 else whole


NARROWED = 0.9  # share of the rows up to which it pays to copy the codes of those that are left


@dataclass(frozen=True)
class _Rows:
    """Rows by groups (`of_row`) of equal ones, without those that are like no other, whatever is still compared.

    `rows`: where they stand in the files; `columns`: their codes, by column; `alone`: how many of the others are one,
    two and three records of the original; `times`: of all rows.
    """

    rows: Ints
    of_row: Codes
    columns: Mapping[int, Codes]
    alone: tuple[int, int, int]
    sizes: Sequence[int]
    times: Ints | None

    @property
    def n_original(self) -> int:
        return int(np.searchsorted(self.rows, self.sizes[0]))

    def records(self, rows: Ints) -> Ints:
        """The records of some of all rows."""
        return np.ones(len(rows), np.int64) if self.times is None else self.times[rows]

    def within(self, compared: Sequence[int], later: Sequence[int]) -> _Rows:
        """The groups by some more columns; of the others only those compared `later` are kept.

        Rows in a group of their own, or of no original, stay so whatever else is compared.
        """
        codes = [self.columns[at] for at in compared]
        groups = group_codes([self.of_row, *codes], len(self.rows)) if codes else None
        of_row = self.of_row if groups is None else groups.of_row
        size = np.bincount(of_row) if groups is None else groups.size
        n_original = self.n_original
        some = np.zeros(len(size), np.bool_)
        some[of_row[:n_original]] = True
        left = (some & (size > 1))[of_row]
        if np.count_nonzero(left) > NARROWED * len(left):
            return replace(self, of_row=of_row, columns={at: self.columns[at] for at in later})
        records = self.records(self.rows[:n_original][size[of_row[:n_original]] == 1])
        once, twice, thrice = (self.alone[k - 1] + int((records == k).sum()) for k in (1, 2, 3))
        columns = {at: self.columns[at][left] for at in later}
        return replace(self, rows=self.rows[left], of_row=of_row[left], columns=columns, alone=(once, twice, thrice))


def _all_rows(columns: Sequence[Codes], sizes: Sequence[int], times: Ints | None) -> _Rows:
    n = sum(sizes)
    one_group = np.zeros(n, np.int32)
    return _Rows(np.arange(n), one_group, dict(enumerate(columns)), (0, 0, 0), sizes, times)


def _but_one(rows: _Rows, places: Sequence[int]) -> Iterator[tuple[int, _Rows]]:
    """The groups of rows by all columns at some places but one, for each of them in turn.

    The half without it is compared first: few rows are left after that, and it is done once for all of the other half.
    """
    if len(places) == 1:
        yield places[0], rows
        return
    halves = places[: len(places) // 2], places[len(places) // 2 :]
    for mine, others in (halves, halves[::-1]):
        yield from _but_one(rows.within(others, mine), mine)


def _count(rows: _Rows, alike: Callable[[Ints, Ints], Bools] | None = None) -> EqualRecords:
    """Count the records of groups; with `alike`, of those with one original and of twins those alike in more."""
    n_original, k = rows.n_original, int(rows.of_row.max(initial=0)) + 1
    original, others = rows.of_row[:n_original], rows.of_row[n_original:]
    here, there = rows.rows[:n_original], rows.rows[n_original:]
    size = np.bincount(original, None if rows.times is None else rows.times[here], k)
    once, twice, thrice = (alone + int((size == k).sum()) for k, alone in enumerate(rows.alone, 1))
    hits = np.flatnonzero(size[others] == 1)
    if alike is not None:
        first, last = np.empty(k, np.int64), np.empty(k, np.int64)
        last[original], first[original[::-1]] = here, here[::-1]
        hits = hits[alike(there[hits], last[others[hits]])]
        twice = rows.alone[1] + int(alike(first[size == 2], last[size == 2]).sum())
    hits = there[hits]
    records, released = rows.records(hits), hits < sum(rows.sizes[:2])
    return EqualRecords(int(records[released].sum()), int(records[~released].sum()), once, twice, thrice)


# Numbers that one person has, the largest and the smallest.


ENDS, TOWARDS_ENDS = 10, 50  # values of each end, and those by which chance is estimated


@dataclass(frozen=True)
class Extremes:
    """Of the largest and smallest values those that one original has; how many are given, and how many by chance."""

    single: int
    given: int
    by_chance: float


def given_extremes(values: Floats, codes: Codes, sizes: Sequence[int], times: Ints | None = None) -> Extremes:
    """How many of the largest and smallest values that one original has are in the release.

    By chance as many as other people would give: by Good and Turing 2 f2 / n of the people have one of the f1 values
    that one of n has, counted among a few more values; or as many as the control file gives, if that is more.

    >>> values = np.array([1, 2, 3, 9, 9, 9, 3, 9, 1.0])
    >>> given_extremes(values, values.astype(np.int32), (4, 5, 0))
    Extremes(single=4, given=3, by_chance=0.0)
    """
    n, edges = int(codes.max(initial=0)) + 1, [0, *np.cumsum(sizes).tolist()]
    files = [slice(*ends) for ends in pairwise(edges)]
    own, there, control = (np.bincount(codes[rows], None if times is None else times[rows], n) for rows in files)
    value = np.full(n, np.nan)
    value[codes] = values
    known = np.flatnonzero((own > 0) & np.isfinite(value))
    if len(known) > 2 * TOWARDS_ENDS:  # no others are looked at
        order = np.argpartition(value[known], [TOWARDS_ENDS - 1, -TOWARDS_ENDS])
        known = known[np.concatenate([order[:TOWARDS_ENDS], order[-TOWARDS_ENDS:]])]
    in_order = known[np.argsort(value[known])]
    ends = np.unique(np.concatenate([in_order[:ENDS], in_order[-ENDS:]]))
    single = ends[own[ends] == 1]
    near = own[np.unique(np.concatenate([in_order[:TOWARDS_ENDS], in_order[-TOWARDS_ENDS:]]))]
    chance = max(0.0, -math.expm1(-2 * (near == 2).sum() / max(own.sum() * (near == 1).sum(), 1) * there.sum()))
    if len(single) and control.any():
        aside = float((control[single] > 0).mean())
        chance = max(chance, 1 - (1 - aside) ** float(there.sum() / control.sum()))
    return Extremes(len(single), int((there[single] > 0).sum()), chance * len(single))


# Numbers that moved a little.


MOST_MOVING = 10  # columns of numbers of which pairs are left out
MOST_ROWS = 6_000_000  # of all files, times these pairs
APART = 10.0  # of two blocks on the axis that keeps them apart, in units of what is near
NEAREST = 4  # originals looked at: one, two and three are told from more
MOST_SOUGHT = 30_000  # rows of all files among which near ones are sought
RADII = (0.004, 0.012, 0.035, 0.1)  # shares of the originals between numbers that are near
MOST_STEP = 0.03  # from one value to the next, where there are few: as near as such a share
USUAL_STEP = 0.9  # share of the originals whose next value is not farther


def on_a_scale(numbers: Floats, own: Floats, times: Ints | None = None) -> Floats:
    """Where each number is among those of a file (`own`, so many `times` each), from 0 to 1; -1 for none.

    Between some numbers it is drawn as a line: of exact ranks no two would be nearer than others.

    >>> on_a_scale(np.array([5.0, 7.5, np.nan, 99]), np.arange(11.0)).tolist()
    [0.5, 0.75, -1.0, 1.0]
    """
    known = np.isfinite(own)
    values, until = own[known], np.arange(1, int(known.sum()) + 1)
    if times is None:
        values.sort()
    else:
        order = np.argsort(values)
        values, until = values[order], np.cumsum(times[known][order])
    shares = np.linspace(0, 1, min(KNOTS, max(2, int(until[-1]) // FEWEST_BETWEEN)) + 1)
    between, low = np.modf(shares * (until[-1] - 1))
    low, high = (values[np.searchsorted(until, np.minimum(at, until[-1] - 1), side="right")] for at in (low, low + 1))
    knots, of_share = np.unique(low + (high - low) * between, return_inverse=True)
    place, finite = np.full(len(numbers), -1.0), np.isfinite(numbers)
    place[finite] = np.interp(numbers[finite], knots, np.bincount(of_share, shares) / np.bincount(of_share))
    return place


def _step(places: Floats, times: Ints | None = None) -> float:
    """The distance from one place to the next that most records have, so many `times` each."""
    if times is None:
        seen, records = np.unique(places, return_counts=True)
    else:
        seen, of_row = np.unique(places, return_inverse=True)
        records = np.bincount(of_row, times)
    seen, records = seen[seen >= 0], records[seen >= 0]
    if len(seen) < 2:
        return 0.0
    gaps = np.diff(seen)
    farther = np.maximum(np.append(gaps, 0), np.insert(gaps, 0, 0))
    if times is None:
        usual = math.ceil(USUAL_STEP * records.sum()) - 1
        return float(np.partition(np.repeat(farther, records), usual)[usual])
    order = np.argsort(farther)
    return float(farther[order][np.searchsorted(np.cumsum(records[order]), USUAL_STEP * records.sum())])


def _of_most_values(places: Iterable[int], columns: Sequence[Codes]) -> list[int]:
    return sorted(places, key=lambda at: -int(columns[at].max(initial=0)))


def count_moved(
    columns: Sequence[Codes], places: Mapping[int, Floats], sizes: Sequence[int], times: Ints | None = None
) -> dict[tuple[int, int], EqualRecords]:
    """Count records equal in all columns but two of numbers (their places in `columns`), and in these not far.

    `places`: by column, where its numbers are on a scale. Of many rows only the pairs of the columns of most values.

    >>> codes, place = np.array([0, 1, 2, 0, 1]), np.array([0.1, 0.5, 0.9, 0.15, 0.3])
    >>> counted = count_moved([codes, codes + 1, codes], {0: place, 1: place}, (3, 2, 0))
    >>> {pair: equal.copies for pair, equal in counted.items()}
    {(0, 1): 1}
    """
    of_most = _of_most_values(places, columns)
    numbers = range(2, min(len(places), MOST_MOVING) + 1)
    most = list(takewhile(lambda k: k * (k - 1) // 2 * sum(sizes) <= MOST_ROWS, numbers))
    moving = sorted(of_most[: most[-1]]) if most else []
    if not moving:
        return {}
    still = [at for at in range(len(columns)) if at not in moving]
    rows, counted = _all_rows(columns, sizes, times).within(still, moving), {}
    for at, first in enumerate(moving[:-1]):
        later = moving[at + 1 :]
        for second, groups in _but_one(rows.within(moving[:at], later), later):
            own = places[first], places[second]

            def alike(here: Ints, there: Ints, own: Sequence[Floats] = own) -> Bools:
                return np.all([np.abs(place[here] - place[there]) <= RADII[-1] for place in own], axis=0)  # type: ignore[no-any-return]

            counted[first, second] = _count(groups, alike)
    return counted


def count_near(
    columns: Sequence[Codes], places: Mapping[int, Floats], sizes: Sequence[int], times: Ints | None = None
) -> dict[float, tuple[EqualRecords, tuple[int, int, int]]]:
    """Count records near one original in all numbers and equal in the other columns, by how far is near.

    With the records of the three files among which they were sought: of many rows, those of some values of the other
    columns, which do not hang on who is in a file.

    >>> place, sex = np.array([0.1, 0.5, 0.9, 0.105, 0.45]), np.array([0, 0, 1, 0, 0])
    >>> counted = count_near([sex, np.arange(5)], {1: place}, (3, 2, 0))
    >>> {radius: equal.copies for radius, (equal, _) in counted.items()}
    {0.004: 1.0, 0.012: 1.0, 0.035: 1.0, 0.1: 2.0}
    """
    from scipy.spatial import KDTree  # slow to load

    if not places:
        return {}
    block = group_codes([codes for at, codes in enumerate(columns) if at not in places], sum(sizes)).of_row
    rows = _sought(block, [places[at] for at in _of_most_values(places, columns)])
    of_row = group_codes([codes[rows] for codes in columns], len(rows)).of_row
    first = rows[grouping.first_of_groups(of_row, int(of_row.max(initial=0)) + 1)]
    file = np.repeat(np.arange(3), sizes)[rows]
    weight = np.ones(len(rows)) if times is None else times[rows]
    own, there, control = (np.bincount(of_row[file == f], weight[file == f], len(first)) for f in range(3))
    own_times = None if times is None else times[: sizes[0]]
    steps = [min(_step(place[: sizes[0]], own_times) * (1 + 1e-6), MOST_STEP) for place in places.values()]
    counted = {}
    for radius in RADII:
        near = [max(radius, step) for step in steps]
        scaled = (place[first] / most for place, most in zip(places.values(), near, strict=True))
        points = np.column_stack([APART * block[first], *scaled])
        tree = KDTree(points[own > 0], balanced_tree=False, compact_nodes=False)
        at = tree.query(points, k=NEAREST, p=np.inf, distance_upper_bound=1 + 1e-9)[1]
        originals = np.append(own[own > 0], 0)[at].sum(axis=1)
        once, twice, thrice = (float(own[originals == k].sum()) / k for k in (1, 2, 3))
        alone = originals == 1
        equal = EqualRecords(float(there[alone].sum()), float(control[alone].sum()), once, twice, thrice)
        counted[radius] = equal, (int(own.sum()), int(there.sum()), int(control.sum()))
    return counted


def _sought(block: Codes, places: Sequence[Floats]) -> Ints:
    """Rows of some blocks, which have nothing to do with their values; of a large block those in the middle of numbers.

    The people of these blocks and values are as any: who of them is in a file hangs on nothing else.
    """
    size = np.bincount(block)
    hashed = coding.hash_words(np.arange(len(size), dtype=np.uint64))
    first = np.arange(len(size))
    if len(first) > MOST_SOUGHT:  # no more blocks hold so many rows
        first = np.argpartition(hashed, MOST_SOUGHT)[: MOST_SOUGHT + 1]
    order = first[np.argsort(hashed[first], kind="stable")]
    chosen = np.zeros(len(size), np.bool_)
    chosen[order[: max(1, int(np.searchsorted(np.cumsum(size[order]), MOST_SOUGHT, side="right")))]] = True
    rows = np.flatnonzero(chosen[block])
    for place in places:
        if len(rows) > MOST_SOUGHT:
            inside = rows[np.abs(place[rows] - 0.5) <= MOST_SOUGHT / len(rows) / 2]
            rows = inside if len(inside) else rows
    return rows
