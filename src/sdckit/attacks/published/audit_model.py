"""Release and published tables as one integer system: unknown counts of completions under linear constraints."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from sdckit.numerics.array_types import Bools, Floats, Ints, Values
from sdckit.numerics.grouping import places_among
from sdckit.numerics.linear_bounds import Relations, narrow

# Published sums: conversion to integer units, and as linear constraints on the unknowns.


MOST_DECIMALS = 6
MOST_WHOLE = 2.0**52  # largest total of integers whose sums are exact
MOST_UNITS = 2.0**40  # largest total of decimals, in units, so that rounding errors stay below a unit
MOST_FINE = 2.0**47  # largest total, in units, where each value is rounded
ON_GRID = 1e-6  # tolerance, in units, for a decimal held as a float to be an integer
OFF = 0.25  # the same for a sum of many values


class ContradictionError(Exception):
    """Release and tables are infeasible together; `tables`: the contradicting ones by number (`summed`: as given)."""

    def __init__(self, tables: Sequence[int], cells: int = 0, *, summed: bool = False) -> None:
        super().__init__()
        self.tables, self.cells, self.summed = tuple(tables), cells, summed


class Unit(NamedTuple):
    """Integer unit of a summed variable: values times `scale` are multiples of `common`.

    A sum may be off by `slack` units because of rounding.
    """

    scale: float
    common: float
    slack: float


@dataclass(frozen=True, eq=False)
class SummedCells:
    """A published table of sums: `number`, summed variable `of`, `axes`, and the bounds of each cell in units."""

    number: int
    of: int
    axes: tuple[int, ...]
    lower: Floats
    upper: Floats


class SumTerms(NamedTuple):
    """Linear constraints from sums in coordinate form: `row`, `column`, `factor` by term; bounds and `given` by row."""

    row: Ints
    column: Ints
    factor: Floats
    lower: Floats
    upper: Floats
    given: Bools


def unit_of(values: Floats) -> tuple[Unit, Floats]:
    """The largest unit in which all values (n,) are integers, and the values in that unit; NaN is kept.

    Values with more than six decimals, or too large for exact sums, are rounded to a fine unit, and `slack` bounds the
    accumulated rounding error.
    """
    known = values[np.isfinite(values)]
    total = float(np.abs(known).sum())
    for decimals in range(MOST_DECIMALS + 1):
        scale = 10.0**decimals
        if total * scale >= (MOST_UNITS if decimals else MOST_WHOLE):
            break
        whole = np.round(known * scale)
        if (np.abs(known * scale - whole) <= ON_GRID).all():
            common = float(np.gcd.reduce(whole.astype(np.int64), initial=0)) or 1.0
            return Unit(scale, common, 0.0), np.round(values * scale) / common
    scale = min(10.0**MOST_DECIMALS, MOST_FINE / max(total, 1.0))
    return Unit(scale, 1.0, float(len(values))), np.round(values * scale)


def in_units(lower: Floats, upper: Floats, unit: Unit, *, is_open: bool) -> tuple[Floats, Floats]:
    """Bounds of sums in integer units; `is_open`: the bounds are exclusive."""
    low, high = lower * unit.scale, upper * unit.scale
    if is_open:
        low, high = np.floor(low + ON_GRID) + 1, np.ceil(high - ON_GRID) - 1
    else:
        low, high = np.ceil(low - OFF), np.floor(high + OFF)
    return np.ceil(low / unit.common) - unit.slack, np.floor(high / unit.common) + unit.slack


def apart(values: Floats, hidden: Bools) -> Ints:
    """Label of each record (n,): 0 if `hidden` is false, else equal for equal summed values.

    Unknown values (NaN) in `values` (n, S) are treated as equal.
    """
    labels = np.zeros(len(values), np.int64)
    for column in values[hidden].T:
        _, own = np.unique(column, return_inverse=True)
        _, labels[hidden] = np.unique(labels[hidden] * (own.max(initial=0) + 1) + own, return_inverse=True)
    labels[hidden] += 1
    return labels


class _Margin(NamedTuple):
    lower: Floats
    upper: Floats
    tables: tuple[int, ...]
    given: bool


def _margins(sums: Sequence[SummedCells]) -> dict[tuple[int, tuple[int, ...]], _Margin]:
    """All margins of the sums by variable and axes; bounds from several tables are intersected."""
    margins: dict[tuple[int, tuple[int, ...]], _Margin] = {}
    for sum_ in sums:
        places = range(len(sum_.axes))
        for kept in (kept for size in range(len(sum_.axes), 0, -1) for kept in combinations(places, size)):
            rest = tuple(axis for axis in places if axis not in kept)
            own = _Margin(sum_.lower.sum(axis=rest), sum_.upper.sum(axis=rest), (sum_.number,), not rest)
            key = (sum_.of, tuple(sum_.axes[axis] for axis in kept))
            margins[key] = _joined_margins(margins[key], own) if key in margins else own
    return margins


def _joined_margins(margin: _Margin, other: _Margin) -> _Margin:
    lower, upper = np.maximum(margin.lower, other.lower), np.minimum(margin.upper, other.upper)
    return _Margin(lower, upper, tuple(dict.fromkeys((*margin.tables, *other.tables))), margin.given or other.given)


class Shown(NamedTuple):
    """What patterns show: `groups` (P, A) on every axis, -1 where hidden; `totals` (P, S) of the summed variables.

    A total is NaN if a value is hidden. `is_open` (P,): patterns with too many completions.
    """

    groups: Ints
    totals: Floats
    is_open: Bools


class Possible(NamedTuple):
    """Completions: `groups` (X, A), `is_shown` (X, A) whether the pattern shows the group, `value` (X, S) summed."""

    groups: Ints
    is_shown: Bools
    value: Floats


def sum_terms(sums: Sequence[SummedCells], shown: Shown, possible: Possible) -> SumTerms:
    """Constraints from sums: bounds of each cell's sum over the unknowns that may fall into it.

    A cell gives no constraint if a record with a hidden summed value may fall into it.

    Raises `DisagreementError`: a cell whose records are all shown has a different sum, or tables differ.
    """
    rows, columns, factors, lower, upper, given, n = [], [], [], [], [], [], 0
    for (of, place), margin in _margins(sums).items():
        cells, low, high, at, here = _left_of_margin(margin, of, list(place), shown, possible)
        value = possible.value[here, of]
        kept = np.zeros(len(low), np.bool_)
        kept[at[value != 0]] = True
        kept &= np.isfinite(low) | np.isfinite(high)
        if bad := int((cells & ((low > high) | (~kept & ((low > 0) | (high < 0))))).sum()):
            raise ContradictionError(margin.tables, bad, summed=True)
        number = np.cumsum(kept) - 1
        use = kept[at] & (value != 0)
        rows.append(n + number[at[use]])
        columns.append(here[use])
        factors.append(value[use])
        lower.append(low[kept])
        upper.append(high[kept])
        given.append(np.full(int(kept.sum()), margin.given))
        n += int(kept.sum())
    if not rows:
        return no_terms()
    return SumTerms(*(np.concatenate(parts) for parts in (rows, columns, factors, lower, upper, given)))


def no_terms() -> SumTerms:
    """Constraints of no sums: empty arrays."""
    return SumTerms(*(np.zeros(0, kind) for kind in (np.int64, np.int64, float, float, float, np.bool_)))


def _left_of_margin(
    margin: _Margin, of: int, own: list[int], shown: Shown, possible: Possible
) -> tuple[Bools, Floats, Floats, Ints, Ints]:
    """Bounds of each cell's sum after subtracting the shown records.

    Gives by cell whether it is bounded, its lower and upper bound; by unknown not shown on these axes its cell; and
    the indices of these unknowns.
    """
    shape, size = margin.lower.shape, margin.lower.size
    groups = shown.groups[:, own]
    seen = (groups >= 0).all(axis=1)
    at = np.ravel_multi_index(tuple(groups[seen].T), shape)
    total = np.bincount(at, shown.totals[seen, of], size).astype(np.float64)
    here = np.flatnonzero(~possible.is_shown[:, own].all(axis=1))
    cell = np.ravel_multi_index(tuple(possible.groups[here][:, own].T), shape)
    total[cell[np.isnan(possible.value[here, of])]] = np.nan
    lost = shown.totals[shown.is_open & ~seen, of]
    low = margin.lower.ravel() - total - np.maximum(lost, 0).sum()
    high = margin.upper.ravel() - total - np.minimum(lost, 0).sum()
    known = ~np.isnan(low)
    return known, np.where(known, low, -np.inf), np.where(known, high, np.inf), cell, here


MOST_COMPLETIONS = 400_000
LARGEST = 2**62
ENDLESS = 2**39  # an upper bound from here on counts as infinite


class Counts(NamedTuple):
    """Lower and upper bound of the count of each cell, and the numbers of the `tables` they come from."""

    lower: Ints
    upper: Ints
    tables: tuple[int, ...]


Table = tuple[tuple[int, ...], Ints, Ints]  # axes in ascending order, least and greatest count of each cell


@dataclass(frozen=True, eq=False)
class Axis:
    """A variable as classified by a table: `group` (L,) of each finest level, out of `n` groups."""

    variable: int
    group: Ints
    n: int


@dataclass(frozen=True, eq=False)
class Patterns:
    """Distinct patterns of released values.

    `codes` (P, V): released code of every variable; `size` (P,): records; `of_row` (n,): pattern index of each record.
    `allowed`: for each variable whether a code (row) may stand for a level (column). `axes` are those of the tables.
    `totals` (P, S): total of each summed variable over the records; NaN where a value is hidden. Records that hide a
    classifying variable of a table of sums share a pattern only if their summed values agree.
    """

    codes: Ints
    size: Ints
    of_row: Ints
    allowed: tuple[Bools, ...]
    axes: tuple[Axis, ...]
    totals: Floats

    @cached_property
    def hidden(self) -> Bools:
        """(P, V): whether the level is hidden."""
        width = [allowed.sum(axis=1) for allowed in self.allowed]
        return stacked([of[code] != 1 for of, code in zip(width, self.codes.T, strict=True)], len(self.size), np.bool_)

    @property
    def left_open(self) -> Bools:
        """(P,): whether any level is hidden."""
        return np.asarray(self.hidden.any(axis=1))

    @cached_property
    def levels(self) -> Ints:
        """(P, V): the level shown; -1 where it is hidden."""
        first = [allowed.argmax(axis=1)[code] for allowed, code in zip(self.allowed, self.codes.T, strict=True)]
        return np.where(self.hidden, -1, stacked(first, len(self.size)))

    @cached_property
    def shown(self) -> Ints:
        """(P, A): the group shown on every axis; -1 where it is hidden."""
        groups = []
        for axis in self.axes:
            code = self.codes[:, axis.variable]
            allowed = self.allowed[axis.variable]
            low = np.where(allowed, axis.group, axis.n).min(axis=1)
            high = np.where(allowed, axis.group, -1).max(axis=1)
            groups.append(np.where(low == high, low, -1)[code])
        return stacked(groups, len(self.size))

    def grouped(self, levels: Ints) -> Ints:
        """(X, A): the group of each completion, given its levels (X, V), on every axis."""
        return stacked([axis.group[levels[:, axis.variable]] for axis in self.axes], len(levels))

    @property
    def shape(self) -> tuple[int, ...]:
        """Levels of each variable."""
        return tuple(allowed.shape[1] for allowed in self.allowed)


def stacked(columns: Sequence[Values], n: int, kind: Any = np.int64) -> Values:
    """Stack columns to (n, columns), also if there are none."""
    return np.column_stack(columns) if columns else np.zeros((n, 0), kind)


def patterns_of(
    codes: Ints, allowed: Sequence[Bools], axes: Sequence[Axis], values: Floats | None = None, apart: Ints | None = None
) -> Patterns:
    """Group records with equal `codes` (n, V) and equal `apart` (n,) into patterns; `values` (n, S) are totalled."""
    sizes = [len(levels) for levels in allowed]
    if apart is None:
        words = row_words(codes, sizes)
    else:
        words = row_words(np.column_stack([codes, apart]), [*sizes, int(apart.max(initial=0)) + 1])
    _, first, of_row, size = np.unique(words, return_index=True, return_inverse=True, return_counts=True)
    of_row = of_row.ravel()
    summed = [] if values is None else [np.bincount(of_row, column, len(size)) for column in values.T]
    totals = stacked(summed, len(size), np.float64)
    return Patterns(codes[first], size.astype(np.int64), of_row, tuple(allowed), tuple(axes), totals)


def row_words(codes: Ints, sizes: Sequence[int]) -> Ints:
    """Pack each row of codes into one integer; equal rows get equal integers."""
    words, span = np.zeros(len(codes), np.int64), 1
    for column, size in zip(codes.T, sizes, strict=True):
        if span > LARGEST // max(size, 1):
            distinct, words = np.unique(words, return_inverse=True)
            words, span = words.ravel().astype(np.int64), len(distinct)
        words, span = words * size + column, span * max(size, 1)
    return words


def margins_of(tables: Sequence[Table]) -> dict[tuple[int, ...], Counts]:
    """All margins of the tables, with bounds; bounds from several tables are intersected.

    Raises `ContradictionError`: two tables contradict each other in a margin.
    """
    margins: dict[tuple[int, ...], Counts] = {}
    for number, (variables, lower, upper) in enumerate(tables):
        for size in range(len(variables), 0, -1):
            for kept in combinations(range(len(variables)), size):
                rest = tuple(axis for axis in range(len(variables)) if axis not in kept)
                own = Counts(lower.sum(axis=rest), upper.sum(axis=rest), (number,))
                place = tuple(variables[axis] for axis in kept)
                margins[place] = _joined(margins[place], own) if place in margins else own
    return margins


def _joined(counts: Counts, other: Counts) -> Counts:
    lower, upper = np.maximum(counts.lower, other.lower), np.minimum(counts.upper, other.upper)
    if bad := int((lower > upper).sum()):
        raise ContradictionError((counts.tables[0], *other.tables), bad)
    return Counts(lower, upper, tuple(dict.fromkeys((*counts.tables, *other.tables))))


@dataclass(frozen=True, eq=False)
class Completions:
    """Enumerated completions of patterns with hidden values: `pattern` (X,), `levels` (X, V).

    `open` (P,): patterns with too many completions to enumerate.
    """

    pattern: Ints
    levels: Ints
    open: Bools


@dataclass(frozen=True, eq=False)
class System:
    """The integer system: unknown counts of completions with bounds `low`, `high` (X,) and linear constraints.

    `relations`: constraints of the pattern sizes first, then of cells, then of sums. `family` (R,): index into `places`
    (the axes of a cell's margin), -1 for patterns and sums; `cell` (R,): the cell. `given` (R,): whether a constraint
    is stated directly; the others are implied. `weight` (K,): coefficients in the order of `relations.at`.
    """

    patterns: Patterns
    completions: Completions
    relations: Relations
    low: Floats
    high: Floats
    family: Ints
    cell: Ints
    places: tuple[tuple[int, ...], ...]
    given: Bools
    weight: Floats


def build(
    patterns: Patterns, tables: Sequence[Table], sums: Sequence[SummedCells] = (), *, most: int = MOST_COMPLETIONS
) -> System:
    """Build the system of release and tables and tighten its bounds by constraint propagation.

    Raises `ContradictionError`: the system is infeasible.
    """
    left = {place: _left(patterns, place, counts) for place, counts in margins_of(tables).items()}
    completions = _complete(patterns, left, most)
    lost = int(patterns.size[completions.open].sum())
    terms = _sums(patterns, completions, sums)
    relations, weight, family, cell = _relations(patterns, completions, left, lost, terms)
    low = np.zeros(len(completions.pattern))
    high = patterns.size[completions.pattern].astype(np.float64)
    if not narrow(relations, low, high, -1):
        raise ContradictionError(())
    places, named = tuple(left), {place for place, _, _ in tables}
    given = np.array([*(place in named for place in places), True])[family]
    given[len(given) - len(terms.given) :] = terms.given
    return System(patterns, completions, relations, low, high, family, cell, places, given, weight)


def _sums(patterns: Patterns, completions: Completions, sums: Sequence[SummedCells]) -> SumTerms:
    """Constraints from sums; the coefficient of an unknown is the value that all records of its pattern show."""
    if not sums:
        return no_terms()
    value = (patterns.totals / patterns.size[:, None])[completions.pattern]
    is_shown = patterns.shown[completions.pattern] >= 0
    shown = Shown(patterns.shown, patterns.totals, completions.open)
    return sum_terms(sums, shown, Possible(patterns.grouped(completions.levels), is_shown, value))


def _left(patterns: Patterns, place: tuple[int, ...], counts: Counts) -> tuple[Ints, Ints]:
    """Bounds of each cell of a margin after subtracting the records that show their cell."""
    groups, shape = patterns.shown[:, list(place)], counts.lower.shape
    shown = (groups >= 0).all(axis=1)
    at = np.ravel_multi_index(tuple(groups[shown].T), shape)
    seen = np.bincount(at, patterns.size[shown], counts.lower.size).astype(np.int64).reshape(shape)
    if bad := int((seen > counts.upper).sum()):
        raise ContradictionError(counts.tables, bad)
    return np.maximum(counts.lower - seen, 0), counts.upper - seen


def _complete(patterns: Patterns, left: Mapping[tuple[int, ...], tuple[Ints, Ints]], most: int) -> Completions:
    """Enumerate the completions of every pattern, pruned by margins whose upper bound is 0."""
    hidden = patterns.hidden
    masks, of_mask = np.unique(hidden, axis=0, return_inverse=True)
    pattern, levels, is_open = [], [], np.zeros(len(hidden), np.bool_)
    room = most
    for number in np.argsort(masks.sum(axis=1), kind="stable"):
        if not masks[number].any():
            continue
        rows = np.flatnonzero(of_mask.ravel() == number)
        expanded = _expand(patterns, rows, masks[number], left, room)
        if expanded is None:
            is_open[rows] = True
            continue
        room -= len(expanded[0])
        pattern.append(expanded[0])
        levels.append(expanded[1])
    if not pattern:
        return Completions(np.zeros(0, np.int64), np.zeros((0, hidden.shape[1]), np.int64), is_open)
    return Completions(np.concatenate(pattern), np.concatenate(levels), is_open)


def _expand(
    patterns: Patterns, rows: Ints, mask: Bools, left: Mapping[tuple[int, ...], tuple[Ints, Ints]], most: int
) -> tuple[Ints, Ints] | None:
    """Completions of patterns that hide the same variables, variable by variable; None if there are too many."""
    levels = patterns.levels[rows]
    known = set(np.flatnonzero(~mask).tolist())
    for v in sorted(np.flatnonzero(mask).tolist(), key=lambda v: patterns.shape[v]):
        which, level = np.nonzero(patterns.allowed[v][patterns.codes[rows, v]])
        if len(which) > 8 * most:
            return None
        rows, levels = rows[which], levels[which].copy()
        levels[:, v] = level
        known.add(v)
        for place, (_, upper) in left.items():
            axes = [patterns.axes[index] for index in place]
            own = {axis.variable for axis in axes}
            if v in own and own <= known:
                groups = tuple(axis.group[levels[:, axis.variable]] for axis in axes)
                fits = upper[groups] > 0
                if not fits.all():
                    rows, levels = rows[fits], levels[fits]
    return (rows, levels) if len(rows) <= most else None


def _relations(
    patterns: Patterns, completions: Completions, left: Mapping[tuple[int, ...], tuple[Ints, Ints]], lost: int,
    sums: SumTerms,
) -> tuple[Relations, Floats, Ints, Ints]:  # fmt: skip
    """Assemble the constraints: pattern sizes, then all cells a completion may fall into, then sums."""
    unresolved = np.flatnonzero(patterns.left_open & ~completions.open)
    rank = places_among(unresolved, len(patterns.size))
    size = patterns.size[unresolved]
    rows, columns = [rank[completions.pattern]], [np.arange(len(completions.pattern))]
    lower, upper, family, cell = [size], [size], [np.full(len(unresolved), -1)], [unresolved]
    groups = patterns.grouped(completions.levels)
    is_shown = patterns.shown[completions.pattern] >= 0
    n = len(unresolved)
    for number, (place, (least, most)) in enumerate(left.items()):
        own = list(place)
        here = np.flatnonzero(~is_shown[:, own].all(axis=1))
        at = np.ravel_multi_index(tuple(groups[here][:, own].T), most.shape)
        cells = np.unique(np.concatenate([at, np.flatnonzero(least.ravel() > lost)]))
        rows.append(n + np.searchsorted(cells, at))
        columns.append(here)
        lower.append(np.maximum(least.ravel()[cells] - lost, 0))
        upper.append(most.ravel()[cells])
        family.append(np.full(len(cells), number))
        cell.append(cells)
        n += len(cells)
    factor = np.concatenate([*(np.ones(len(part)) for part in rows), sums.factor])
    row, column = np.concatenate([*rows, n + sums.row]), np.concatenate([*columns, sums.column])
    most_of = np.concatenate(upper)
    ends = (
        np.concatenate([*lower, sums.lower]).astype(np.float64),
        np.concatenate([np.where(most_of >= ENDLESS, np.inf, most_of.astype(np.float64)), sums.upper]),
    )
    none = np.full(len(sums.lower), -1)
    relations, weight = _packed(row, column, factor, *ends, len(completions.pattern))
    return relations, weight, np.concatenate([*family, none]), np.concatenate([*cell, none])


def _packed(row: Ints, column: Ints, factor: Floats, lower: Floats, upper: Floats, n: int) -> tuple[Relations, Floats]:
    """Constraints in compressed form by row and by column, and the coefficients in column order."""
    order = np.argsort(row, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(lower)))])
    back = np.argsort(column, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=n))])
    whole = np.ones(n, np.bool_)
    return Relations(start, column[order], factor[order], lower, upper, first, row[back], whole), factor[back]
