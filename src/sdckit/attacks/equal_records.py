"""Released records that equal one original record alone with its values: in all columns, in some, or nearly."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import takewhile

import numpy as np

from sdckit.cells.packing import group_codes
from sdckit.numerics.array_types import Bools, Codes, Floats, Ints
from sdckit.numerics.coding import hash_words
from sdckit.numerics.grouping import first_of_groups

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
    n = sum(sizes)
    counted = [_count(group_codes(columns, n).of_row, sizes, times)]
    if len(columns) > 1:
        but_one = _without(columns, group_codes([], n).of_row, 1)
        counted += [_count(groups, sizes, times) for _, groups in but_one]
    return counted


def _without(columns: Sequence[Codes], given: Codes, left_out: int) -> Iterator[tuple[tuple[int, ...], Codes]]:
    """The groups of rows, in `given` groups, without each set of so many columns, whose places come first.

    What stands before a column and what stands behind it are numbered once, so that each combination without a column
    is a pair of two numbers.
    """
    n = len(given)
    behind = [group_codes([], n).of_row]
    for codes in reversed(columns):
        behind.append(group_codes([codes, behind[-1]], n).of_row)
    behind.reverse()

    def from_place(first: int, before: Codes, more: int) -> Iterator[tuple[tuple[int, ...], Codes]]:
        for at in range(first, len(columns)):
            if more == 1:
                yield (at,), group_codes([before, behind[at + 1]], n).of_row
            else:
                for places, groups in from_place(at + 1, before, more - 1):
                    yield (at, *places), groups
            before = group_codes([before, columns[at]], n).of_row

    return from_place(0, given, left_out)


def _count(
    of_row: Codes, sizes: Sequence[int], times: Ints | None, alike: Callable[[Ints, Ints], Bools] | None = None
) -> EqualRecords:
    """Count the records of groups; with `alike`, of those with one original and of twins those alike in more."""
    original = of_row[: sizes[0]]
    own, there, others = np.split(np.ones(len(of_row), np.int64) if times is None else times, np.cumsum(sizes)[:-1])
    size = np.zeros(int(of_row.max(initial=0)) + 1, np.int64)
    np.add.at(size, original, own)
    once, twice, thrice = (int((size == k).sum()) for k in (1, 2, 3))
    hits = size[of_row[sizes[0] :]] == 1
    if alike is not None:
        first, last, rows = np.empty_like(size), np.empty_like(size), np.arange(sizes[0])
        last[original], first[original[::-1]] = rows, rows[::-1]
        some = np.flatnonzero(hits)
        hits[some] = alike(some + sizes[0], last[of_row[some + sizes[0]]])
        twice = int(alike(first[size == 2], last[size == 2]).sum())
    released, control = np.split(hits, [sizes[1]])
    return EqualRecords(int(there[released].sum()), int(others[control].sum()), once, twice, thrice)


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
    weight, n = np.ones(len(codes)) if times is None else times, int(codes.max(initial=0)) + 1
    files = np.split(np.arange(len(codes)), np.cumsum(sizes)[:-1])
    own, there, control = (np.bincount(codes[rows], weight[rows], n) for rows in files)
    value = np.full(n, np.nan)
    value[codes] = values
    known = np.flatnonzero((own > 0) & np.isfinite(value))
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
    known, finite = np.isfinite(own), np.isfinite(numbers)
    values, times = own[known], np.ones(int(known.sum()), np.int64) if times is None else times[known]
    order = np.argsort(values)
    values, until = values[order], np.cumsum(times[order])
    shares = np.linspace(0, 1, min(KNOTS, max(2, int(until[-1]) // FEWEST_BETWEEN)) + 1)
    between, low = np.modf(shares * (until[-1] - 1))
    low, high = (values[np.searchsorted(until, np.minimum(at, until[-1] - 1), side="right")] for at in (low, low + 1))
    knots, of_share = np.unique(low + (high - low) * between, return_inverse=True)
    place = np.full(len(numbers), -1.0)
    place[finite] = np.interp(numbers[finite], knots, np.bincount(of_share, shares) / np.bincount(of_share))
    return place


def _step(places: Floats, times: Ints | None = None) -> float:
    """The distance from one place to the next that most records have, so many `times` each."""
    seen, of_row = np.unique(places, return_inverse=True)
    records = np.bincount(of_row, times)[seen >= 0]
    seen = seen[seen >= 0]
    if len(seen) < 2:
        return 0.0
    gaps = np.diff(seen)
    farther = np.maximum(np.append(gaps, 0), np.insert(gaps, 0, 0))
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
    most = list(
        takewhile(lambda k: k * (k - 1) // 2 * sum(sizes) <= MOST_ROWS, range(2, min(len(places), MOST_MOVING) + 1))
    )
    moving = sorted(of_most[: most[-1]]) if most else []
    if not moving:
        return {}
    still = group_codes([codes for at, codes in enumerate(columns) if at not in moving], sum(sizes)).of_row
    counted = {}
    for left_out, groups in _without([columns[at] for at in moving], still, 2):
        pair = moving[left_out[0]], moving[left_out[1]]
        own = [places[at] for at in pair]

        def alike(here: Ints, there: Ints, own: Sequence[Floats] = own) -> Bools:
            return np.all([np.abs(place[here] - place[there]) <= RADII[-1] for place in own], axis=0)  # type: ignore[no-any-return]

        counted[pair] = _count(groups, sizes, times, alike)
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
    first = rows[first_of_groups(of_row, int(of_row.max(initial=0)) + 1)]
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
    order = np.argsort(hash_words(np.arange(len(size), dtype=np.uint64)), kind="stable")
    chosen = np.zeros(len(size), np.bool_)
    chosen[order[: max(1, int(np.searchsorted(np.cumsum(size[order]), MOST_SOUGHT, side="right")))]] = True
    rows = np.flatnonzero(chosen[block])
    for place in places:
        if len(rows) > MOST_SOUGHT:
            inside = rows[np.abs(place[rows] - 0.5) <= MOST_SOUGHT / len(rows) / 2]
            rows = inside if len(inside) else rows
    return rows
