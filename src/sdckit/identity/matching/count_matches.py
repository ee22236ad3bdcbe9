"""How many released records match each original one, and whether the right one does."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from sdckit.cells import frequencies, packing
from sdckit.data.columns import ALL_VALID
from sdckit.errors import DataError
from sdckit.numerics.array_types import Bools, Codes, Floats, Ints
from sdckit.numerics.coding import pack_into
from sdckit.numerics.grouping import group, places_among
from sdckit.numerics.search.box_tree import count_in_balls
from sdckit.numerics.search.count_boxes import Dimension, count_in_boxes
from sdckit.numerics.wildcard_matches.wildcards import match_columns

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
    if not intervals and (count := _match_words(categories, wild, times)) is not None:
        return count, _own_matches(categories, own)
    mine, theirs = _patterns(wild, n, r)
    count, true = np.zeros(n, np.int64), np.zeros(n, np.bool_)
    for gaps, target in mine:
        for other, released in theirs:
            gone = {id(variable) for bit, variable in enumerate(wild) if (gaps | other) >> bit & 1}
            place = places_among(released, r)
            more, hit = _match_rows(
                [category for category in categories if id(category) not in gone],
                [interval for interval in intervals if id(interval) not in gone],
                target, released, len(released), place[own[target]], times=None if times is None else times[released],
            )  # fmt: skip
            count[target] += more
            true[target] |= hit
    return count, true


def _match_words(categories: Sequence[Category], wild: Sequence[Any], times: Ints | None) -> Ints | None:
    """The released records that match each target by categories, cells instead of rows; None where a word is too short.

    Cells are those of both files together, with the released records of each.
    """
    bits = [max(int(c.target.max(initial=0)), int(c.released.max(initial=0))).bit_length() for c in categories]
    if sum(bits) > WORD + 1 or len(wild) > WORD:
        return None
    layout, n = packing.Layout(tuple(accumulate(bits[:-1], initial=0)), tuple(bits)), len(categories[0].target)
    words = np.empty(n + len(categories[0].released), np.uint64)
    for file, side in enumerate((words[:n], words[n:])):
        codes = ((c.target, c.released)[file] for c in categories)
        pack_into(side, [(own, ALL_VALID, 0, 0, shift) for own, shift in zip(codes, layout.shifts, strict=True)])
    cells = group(words, bits=sum(bits))
    mine, theirs, k = cells.of_row[:n], cells.of_row[n:], len(cells.words)
    del words
    released = np.bincount(theirs, times, k).astype(np.float64, copy=False)
    at = [j for j, category in enumerate(categories) if any(category is other for other in wild)]
    pattern, clear_of = frequencies.missing_patterns(cells.words, layout, at, [0] * len(bits))
    _check_patterns(len(np.unique(pattern[np.bincount(mine, minlength=k) > 0])), len(np.unique(pattern[released > 0])))
    matching = match_columns(cells.words, released[:, None], pattern, clear_of)[:, 0] + released
    return matching.astype(np.int64)[mine]


def _own_matches(categories: Sequence[Category], own: Ints) -> Bools:
    """Whether the released record made from each target matches it in every category."""
    hit = np.ones(len(own), np.bool_)
    for category in categories:
        target, released = category.target, category.released[own]
        alike = target == released
        hit &= alike | (target == 0) | (released == 0) if category.wild else alike
    return hit


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
        parts = np.split(np.argsort(of_row, kind="stable"), np.cumsum(np.bincount(of_row))[:-1])
        sides[side].extend(zip(patterns.tolist(), parts, strict=True))
    _check_patterns(len(sides[0]), len(sides[1]))
    return sides


def _check_patterns(mine: int, theirs: int) -> None:
    if (pairs := mine * theirs) > MOST_PATTERN_PAIRS:
        words = f"the files have {mine} and {theirs} patterns of missing values, {pairs} pairs of which"
        raise DataError(f"{words} missing='wildcard' would have to compare; choose 'category'")


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
    if times is None:
        return count_in_boxes(dimensions, theirs, mine, k), hit
    return _add_digits(dimensions, theirs, mine, k, times), hit


def _add_digits(dimensions: Sequence[Dimension], theirs: Codes, mine: Codes, k: int, times: Ints) -> Ints:
    """`count_in_boxes` of points that stand for several records: once for each binary digit of their numbers.

    A point for every record would take as much room as the records, which were counted because they do not fit.
    """
    count = np.zeros(len(mine), np.int64)
    for digit in range(int(times.max(initial=0)).bit_length()):
        points = np.flatnonzero(times >> digit & 1)
        held = np.zeros(k, np.bool_)
        held[theirs[points]] = True
        boxes = np.flatnonzero(held[mine])
        some = [_of(dimension, points, boxes) for dimension in dimensions]
        count[boxes] += count_in_boxes(some, theirs[points], mine[boxes], k) << digit
    return count


def _of(dimension: Dimension, points: Ints, boxes: Ints) -> Dimension:
    key = dimension.key[points]
    upper, lower = (key if side is dimension.key else side[points] for side in (dimension.upper, dimension.lower))
    return Dimension(key, upper, lower, dimension.low[boxes], dimension.high[boxes])


def _groups(columns: Sequence[tuple[Codes, Codes]], n: int, r: int) -> tuple[Codes, Codes, int]:
    groups = packing.group_codes([np.concatenate(pair) for pair in columns], n + r)
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
    group = packing.group_codes(columns, n + len(released)).of_row.astype(np.int64)
    return group[:n], group[n:]
