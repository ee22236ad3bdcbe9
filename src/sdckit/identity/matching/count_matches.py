"""How many released records match each original one, and whether the right one does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sdckit.cells.packing import group_codes
from sdckit.errors import DataError
from sdckit.numerics.array_types import Bools, Codes, Floats, Ints
from sdckit.numerics.search.box_tree import count_in_balls
from sdckit.numerics.search.count_boxes import Dimension, count_in_boxes

Rows = Ints | slice

MOST_PATTERN_PAIRS = 1 << 16  # pairs of patterns of missing values, each worth a pass over its records
WORD = 63


@dataclass(frozen=True, eq=False)
class Category:
    """A variable matched for equality: joint codes of the targets and of the released records, 0 being missing."""

    target: Codes
    released: Codes
    wild: bool  # whether a missing value matches any

    def missing(self) -> tuple[Bools, Bools]:
        """Where each file lacks a value."""
        return self.target == 0, self.released == 0


@dataclass(frozen=True, eq=False)
class Interval:
    """A variable matched by an interval; NaN is a missing value."""

    target: Floats
    released: Floats
    width: float
    relative: bool  # whether the width is a share of the value that the interval is around
    tol: float  # slack at both ends
    closed: bool  # whether the bounds belong to it, with slack outwards; else they do not, with slack inwards
    around_target: bool  # whether the interval is around the original value or around the released one
    wild: bool  # whether a missing value matches any

    def missing(self) -> tuple[Bools, Bools]:
        """Where each file lacks a value."""
        return np.isnan(self.target), np.isnan(self.released)

    def bounds(self, centre: Floats) -> tuple[Floats, Floats]:
        """Smallest and largest value that match each centre."""
        half: Floats | float = self.width
        if self.relative:  # the peers take the share of the value with its sign
            half = self.width * (np.abs(centre) if self.closed else centre)
        if self.closed:
            return centre - half - self.tol, centre + half + self.tol
        low, high = centre - half + self.tol, centre + half - self.tol
        return np.nextafter(low, np.inf), np.nextafter(high, -np.inf)

    def dimensions(self, target: Rows, released: Rows) -> list[Dimension]:
        """The variable as bounds of boxes (targets) and points (released records).

        A missing value gets an open box and a point anywhere: the groups see to it that only missing
        values meet.
        """
        x, y = self.target[target], self.released[released]
        no_x, no_y = np.isnan(x), np.isnan(y)
        y = np.where(no_y, 0.0, y) if no_y.any() else y
        low, high = self.bounds(x) if self.around_target else (x.copy(), x.copy())
        low[no_x], high[no_x] = -np.inf, np.inf
        if self.around_target:
            return [Dimension(y, y, y, low, high)]
        lower, upper = self.bounds(y)
        if not self.relative or self.width <= 1:
            return [Dimension(y, upper, lower, low, high)]
        never = np.full(len(x), np.inf)  # past a width of 1 the two ends no longer rise together
        return [Dimension(upper, upper, upper, low, never), Dimension(lower, lower, lower, -never, high)]


def match(
    categories: Sequence[Category], intervals: Sequence[Interval], own: Ints,
    groups: tuple[Codes, Codes, int] | None = None, times: Ints | None = None,
) -> tuple[Ints, Bools]:  # fmt: skip
    """For each target the number of released records that match it, and whether its own one does.

    `own` (targets,) is the released record made from each target; `groups`, where known, the group of each target
    and of each released record by all categories, and how many there are. `times`: how many released records each row
    stands for, where equal ones are one row.
    """
    variables: list[Category | Interval] = [*categories, *intervals]
    wild = [variable for variable in variables if variable.wild and any(gap.any() for gap in variable.missing())]
    n, r = len(variables[0].target), len(variables[0].released)
    if not wild:
        return _match_rows(categories, intervals, slice(None), slice(None), r, own, groups, times)
    mine, theirs = _patterns(wild, n, r)
    count, true = np.zeros(n, np.int64), np.zeros(n, np.bool_)
    for gaps, target in mine:
        for other, released in theirs:
            gone = {id(variable) for bit, variable in enumerate(wild) if (gaps | other) >> bit & 1}
            place = np.full(r, -1)
            place[released] = np.arange(len(released))
            more, hit = _match_rows(
                [category for category in categories if id(category) not in gone],
                [interval for interval in intervals if id(interval) not in gone],
                target, released, len(released), place[own[target]], times=None if times is None else times[released],
            )  # fmt: skip
            count[target] += more
            true[target] |= hit
    return count, true


def _patterns(
    wild: Sequence[Category | Interval], n: int, r: int
) -> tuple[list[tuple[int, Ints]], list[tuple[int, Ints]]]:
    """Rows of both files by their pattern of missing variables (a bit mask)."""
    if len(wild) > WORD:
        words = f"{len(wild)} variables have missing values, more than the {WORD}"
        raise DataError(f"{words} that missing='wildcard' takes; choose 'category'")
    sides: tuple[list[tuple[int, Ints]], list[tuple[int, Ints]]] = ([], [])
    for side, size in enumerate((n, r)):
        word = np.zeros(size, np.int64)
        for bit, variable in enumerate(wild):
            word |= variable.missing()[side].astype(np.int64) << bit
        patterns, of_row = np.unique(word, return_inverse=True)
        order = np.argsort(of_row, kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(of_row))[:-1])
        sides[side].extend(zip(patterns.tolist(), parts, strict=True))
    if (pairs := len(sides[0]) * len(sides[1])) > MOST_PATTERN_PAIRS:
        words = f"the files have {len(sides[0])} and {len(sides[1])} patterns of missing values, {pairs} pairs of which"
        raise DataError(f"{words} missing='wildcard' would have to compare; choose 'category'")
    return sides


def _match_rows(
    categories: Sequence[Category], intervals: Sequence[Interval], target: Rows, released: Rows, n_released: int,
    own: Ints, groups: tuple[Codes, Codes, int] | None = None, times: Ints | None = None,
) -> tuple[Ints, Bools]:  # fmt: skip
    """Match some targets against some released records, a missing value matching only a missing one.

    `own` is -1 where a target's own record is not among these.
    """
    mine, theirs, k = groups or _groups(
        [(category.target[target], category.released[released]) for category in categories], len(own), n_released
    )
    gaps = [(a[target], b[released]) for a, b in (interval.missing() for interval in intervals)]
    if gaps := [(a, b) for a, b in gaps if a.any() or b.any()]:
        flags = [(a.astype(np.int32), b.astype(np.int32)) for a, b in gaps]
        mine, theirs, k = _groups([(mine, theirs), *flags], len(mine), len(theirs))
    dimensions = [dimension for interval in intervals for dimension in interval.dimensions(target, released)]
    hit = (own >= 0) & (mine == theirs[own])
    for dimension in dimensions:
        hit &= (dimension.upper[own] >= dimension.low) & (dimension.lower[own] <= dimension.high)
    if not dimensions:
        return np.bincount(theirs, times, k).astype(np.int64)[mine], hit
    if times is not None:
        dimensions, theirs = [_repeated(of, times) for of in dimensions], np.repeat(theirs, times)
    return count_in_boxes(dimensions, theirs, mine, k), hit


def _repeated(of: Dimension, times: Ints) -> Dimension:
    """The bounds with a point for every released record."""
    key = np.repeat(of.key, times)
    upper, lower = (key if side is of.key else np.repeat(side, times) for side in (of.upper, of.lower))
    return Dimension(key, upper, lower, of.low, of.high)


def _groups(columns: Sequence[tuple[Codes, Codes]], n: int, r: int) -> tuple[Codes, Codes, int]:
    groups = group_codes([np.concatenate(pair) for pair in columns], n + r)
    return groups.of_row[:n], groups.of_row[n:], len(groups.size)


# B1: numbers matched together, within a radius of standard deviations.


def match_in_ball(
    categories: Sequence[Category], intervals: Sequence[Interval], spreads: Sequence[float], own: Ints
) -> tuple[Ints, Bools]:
    """For each target the released records of its group within the radius, and whether its own is one of them.

    The numbers of a target and of the released records are in ``intervals``, all of one width, the radius; `spreads`:
    the standard deviation of each. `own` (targets,): the released record made from each.
    """
    first = intervals[0]
    radius = first.width + first.tol if first.closed else first.width - first.tol
    units = np.array([spread or 1.0 for spread in spreads])
    target = np.stack([interval.target for interval in intervals], axis=1) / units
    released = np.stack([interval.released for interval in intervals], axis=1) / units
    mine, theirs = _category_groups(categories, target, released)
    target, released = np.nan_to_num(target), np.nan_to_num(released)
    away = np.sqrt(((target - released[own]) ** 2).sum(axis=1))
    within = away <= radius if first.closed else away < radius
    return count_in_balls(target, released, mine, theirs, radius, closed=first.closed), (mine == theirs[own]) & within


def _category_groups(categories: Sequence[Category], target: Floats, released: Floats) -> tuple[Ints, Ints]:
    """Group number of each record: equal categories, and the same numbers missing."""
    n = len(target)
    columns = [np.concatenate([category.target, category.released]) for category in categories]
    gaps = np.isnan(np.vstack([target, released])).astype(np.int32)
    columns += [gap for gap in gaps.T if gap.any()]
    if not columns:
        return np.zeros(n, np.int64), np.zeros(len(released), np.int64)
    group = group_codes(columns, n + len(released)).of_row.astype(np.int64)
    return group[:n], group[n:]
