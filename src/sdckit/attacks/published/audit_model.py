"""Released records and published counts as one system of whole numbers: who could have what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Bools, Floats, Ints
from sdckit.numerics.linear_bounds import Relations, narrow

# Published sums beside the values that a release shows: in whole units, and as relations of what is
# hidden.


MOST_DECIMALS = 6
MOST_WHOLE = 2.0**52  # all whole values together: their sums are exact
MOST_UNITS = 2.0**40  # all decimal values together: rounding on the way stays below a unit
MOST_FINE = 2.0**47  # all values together where each is rounded
ON_GRID = 1e-6  # units that a decimal number may miss a whole one by, held as a float
OFF = 0.25  # the same for a sum of many


class DisagreementError(Exception):
    """Sums that no file can have: `tables` that say so by number, in how many cells."""

    def __init__(self, tables: Sequence[int], cells: int) -> None:
        super().__init__()
        self.tables, self.cells = tuple(tables), cells


class Unit(NamedTuple):
    """What the values of a variable are counted in: `scale` parts are one, a unit `common` parts.

    A sum may miss by `slack` units.
    """

    scale: float
    common: float
    slack: float


@dataclass(frozen=True, eq=False)
class SummedCells:
    """A published table of sums: its `number`, the summed variable `of`, its `axes`, the ends of each cell in units."""

    number: int
    of: int
    axes: tuple[int, ...]
    lower: Floats
    upper: Floats


class SumTerms(NamedTuple):
    """Relations of unknowns: a term per `row`, `column` and `factor`; `lower`, `upper` and `given` by relation."""

    row: Ints
    column: Ints
    factor: Floats
    lower: Floats
    upper: Floats
    given: Bools


def unit_of(values: Floats) -> tuple[Unit, Floats]:
    """The largest unit in which all values (n,) are whole, and the values in it; NaN stays.

    Values with more than six decimals, or too large for exact sums, are rounded to a finer unit than their sums need,
    and `slack` says what that may add up to.
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
    """Ends of sums in whole units; `is_open`: an end itself is not reached."""
    low, high = lower * unit.scale, upper * unit.scale
    if is_open:
        low, high = np.floor(low + ON_GRID) + 1, np.ceil(high - ON_GRID) - 1
    else:
        low, high = np.ceil(low - OFF), np.floor(high + OFF)
    return np.ceil(low / unit.common) - unit.slack, np.floor(high / unit.common) + unit.slack


def apart(values: Floats, hidden: Bools) -> Ints:
    """A number for each record (n,): 0 where nothing that sums count by is hidden, else the same for the same values.

    Values (n, S) that are not known are alike.
    """
    found = np.zeros(len(values), np.int64)
    for one in values[hidden].T:
        _, own = np.unique(one, return_inverse=True)
        _, found[hidden] = np.unique(found[hidden] * (own.max(initial=0) + 1) + own, return_inverse=True)
    found[hidden] += 1
    return found


class _Margin(NamedTuple):
    lower: Floats
    upper: Floats
    tables: tuple[int, ...]
    given: bool


def _margins(sums: Sequence[SummedCells]) -> dict[tuple[int, tuple[int, ...]], _Margin]:
    """Every margin of the sums by variable and axes, what several tables say joined."""
    found: dict[tuple[int, tuple[int, ...]], _Margin] = {}
    for sum_ in sums:
        places = range(len(sum_.axes))
        for kept in (kept for size in range(len(sum_.axes), 0, -1) for kept in combinations(places, size)):
            rest = tuple(axis for axis in places if axis not in kept)
            own = _Margin(sum_.lower.sum(axis=rest), sum_.upper.sum(axis=rest), (sum_.number,), not rest)
            key = (sum_.of, tuple(sum_.axes[axis] for axis in kept))
            found[key] = _joined_margins(found[key], own) if key in found else own
    return found


def _joined_margins(one: _Margin, other: _Margin) -> _Margin:
    lower, upper = np.maximum(one.lower, other.lower), np.minimum(one.upper, other.upper)
    tables = tuple(dict.fromkeys((*one.tables, *other.tables)))
    return _Margin(lower, upper, tables, one.given or other.given)


class Shown(NamedTuple):
    """What patterns show: `groups` (P, A) on every axis, -1 where none is told; `totals` (P, S) of what is summed.

    A total is NaN where a value is not shown. `is_open` (P,): patterns with too many completions.
    """

    groups: Ints
    totals: Floats
    is_open: Bools


class Possible(NamedTuple):
    """Completions (X,): their `groups` (X, A), whether the pattern shows them (`told`, X, A), the `value` (X, S)."""

    groups: Ints
    told: Bools
    value: Floats


def sum_terms(sums: Sequence[SummedCells], shown: Shown, possible: Possible) -> SumTerms:
    """Say of every cell what the sum leaves to the records that may fall into it.

    A cell that a record without a shown value may fall into is told nothing of.

    Raises `DisagreementError`: a cell whose records are all shown has another sum, or tables differ.
    """
    rows, columns, factors, lower, upper, given, n = [], [], [], [], [], [], 0
    for (of, place), margin in _margins(sums).items():
        own = list(place)
        cells, low, high, at, here = _left_of_margin(margin, of, own, shown, possible)
        value = possible.value[here, of]
        kept = np.zeros(len(low), np.bool_)
        kept[at[value != 0]] = True
        kept &= np.isfinite(low) | np.isfinite(high)
        if bad := int((cells & ((low > high) | (~kept & ((low > 0) | (high < 0))))).sum()):
            raise DisagreementError(margin.tables, bad)
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
    return SumTerms(*(np.concatenate(one) for one in (rows, columns, factors, lower, upper, given)))


def no_terms() -> SumTerms:
    """What no sums say."""
    return SumTerms(*(np.zeros(0, kind) for kind in (np.int64, np.int64, float, float, float, np.bool_)))


def _left_of_margin(
    margin: _Margin, of: int, own: list[int], shown: Shown, possible: Possible
) -> tuple[Bools, Floats, Floats, Ints, Ints]:
    """Of each cell whether it is told of and what is left of its sum; of unknowns that may fall into one, the cell."""
    shape, size = margin.lower.shape, margin.lower.size
    groups = shown.groups[:, own]
    seen = (groups >= 0).all(axis=1)
    at = np.ravel_multi_index(tuple(groups[seen].T), shape)
    total = np.bincount(at, shown.totals[seen, of], size).astype(np.float64)
    here = np.flatnonzero(~possible.told[:, own].all(axis=1))
    cell = np.ravel_multi_index(tuple(possible.groups[here][:, own].T), shape)
    total[cell[np.isnan(possible.value[here, of])]] = np.nan
    lost = shown.totals[shown.is_open & ~seen, of]
    low = margin.lower.ravel() - total - np.maximum(lost, 0).sum()
    high = margin.upper.ravel() - total - np.minimum(lost, 0).sum()
    told = ~np.isnan(low)
    return told, np.where(told, low, -np.inf), np.where(told, high, np.inf), cell, here


MOST_COMPLETIONS = 400_000
LARGEST = 2**62
ENDLESS = 2**39  # a count up to which nothing is said


class ContradictionError(Exception):
    """No file of records can have made both; `tables` are those that say so, by number (`summed`: as published)."""

    def __init__(self, tables: Sequence[int], cells: int = 0, *, summed: bool = False) -> None:
        super().__init__()
        self.tables, self.cells, self.summed = tuple(tables), cells, summed


class Counts(NamedTuple):
    """Least and greatest number of records in each cell of some variables; `tables` it comes from, by number."""

    lower: Ints
    upper: Ints
    tables: tuple[int, ...]


Table = tuple[tuple[int, ...], Ints, Ints]  # axes in ascending order, least and greatest count of each cell


@dataclass(frozen=True, eq=False)
class Axis:
    """A variable as a table counts it: `group` (L,) of each of its finest levels, of `n` groups."""

    variable: int
    group: Ints
    n: int


@dataclass(frozen=True, eq=False)
class Patterns:
    """Records that show the same, once.

    `codes` (P, V): what each shows of every variable; `size` (P,): records; `of_row` (n,): the pattern of each record.
    `allowed`: of each variable, whether a code (row) may stand for a level (column). `axes` are those of the tables.
    `totals` (P, S): of each variable that tables sum, its sum over the records; NaN where a value is not shown.
    Records that hide what tables of sums count by are alike only if these values are.
    """

    codes: Ints
    size: Ints
    of_row: Ints
    allowed: tuple[Bools, ...]
    axes: tuple[Axis, ...]
    totals: Floats

    @cached_property
    def hidden(self) -> Bools:
        """(P, V): whether a value is not told."""
        width = [one.sum(axis=1) for one in self.allowed]
        return _columns([of[code] != 1 for of, code in zip(width, self.codes.T, strict=True)], len(self.size), np.bool_)

    @property
    def left_open(self) -> Bools:
        """(P,): whether any value is not told."""
        return np.asarray(self.hidden.any(axis=1))

    @cached_property
    def levels(self) -> Ints:
        """(P, V): the level shown; -1 where none is told."""
        first = [one.argmax(axis=1)[code] for one, code in zip(self.allowed, self.codes.T, strict=True)]
        return np.where(self.hidden, -1, _columns(first, len(self.size)))

    @cached_property
    def shown(self) -> Ints:
        """(P, A): the group shown on every axis; -1 where none is told."""
        found = []
        for axis in self.axes:
            code = self.codes[:, axis.variable]
            allowed = self.allowed[axis.variable]
            low = np.where(allowed, axis.group, axis.n).min(axis=1)
            high = np.where(allowed, axis.group, -1).max(axis=1)
            found.append(np.where(low == high, low, -1)[code])
        return _columns(found, len(self.size))

    def grouped(self, levels: Ints) -> Ints:
        """(X, A): the groups of completions (X, V) on every axis."""
        return _columns([axis.group[levels[:, axis.variable]] for axis in self.axes], len(levels))

    @property
    def shape(self) -> tuple[int, ...]:
        """Levels of each variable."""
        return tuple(one.shape[1] for one in self.allowed)


def _columns(found: Sequence[NDArray[Any]], n: int, kind: Any = np.int64) -> NDArray[Any]:
    """Columns side by side, also where there is none."""
    return np.column_stack(found) if found else np.zeros((n, 0), kind)


def patterns_of(
    codes: Ints,
    allowed: Sequence[Bools],
    axes: Sequence[Axis],
    values: Floats | None = None,
    apart: Ints | None = None,
) -> Patterns:
    """Put records (n, V) that show the same together, and are not kept `apart` (n,); `values` (n, S) are summed."""
    sizes = [len(one) for one in allowed]
    if apart is None:
        words = row_words(codes, sizes)
    else:
        words = row_words(np.column_stack([codes, apart]), [*sizes, int(apart.max(initial=0)) + 1])
    _, first, of_row, size = np.unique(words, return_index=True, return_inverse=True, return_counts=True)
    of_row = of_row.ravel()
    totals = np.zeros((len(size), 0 if values is None else values.shape[1]))
    for s in range(totals.shape[1]):
        totals[:, s] = np.bincount(of_row, None if values is None else values[:, s], len(size))
    return Patterns(codes[first], size.astype(np.int64), of_row, tuple(allowed), tuple(axes), totals)


def row_words(codes: Ints, sizes: Sequence[int]) -> Ints:
    """A number for each row of codes, the same for the same codes."""
    words, span = np.zeros(len(codes), np.int64), 1
    for column, size in zip(codes.T, sizes, strict=True):
        if span > LARGEST // max(size, 1):
            found, words = np.unique(words, return_inverse=True)
            words, span = words.ravel().astype(np.int64), len(found)
        words, span = words * size + column, span * max(size, 1)
    return words


def margins_of(tables: Sequence[Table]) -> dict[tuple[int, ...], Counts]:
    """Every margin of the tables (axes in ascending order, least and greatest counts), what several say joined.

    Raises `ContradictionError`: two tables say different things of one margin.
    """
    found: dict[tuple[int, ...], Counts] = {}
    for number, (variables, lower, upper) in enumerate(tables):
        for size in range(len(variables), 0, -1):
            for kept in combinations(range(len(variables)), size):
                rest = tuple(axis for axis in range(len(variables)) if axis not in kept)
                own = Counts(lower.sum(axis=rest), upper.sum(axis=rest), (number,))
                place = tuple(variables[axis] for axis in kept)
                found[place] = _joined(found[place], own) if place in found else own
    return found


def _joined(one: Counts, other: Counts) -> Counts:
    lower, upper = np.maximum(one.lower, other.lower), np.minimum(one.upper, other.upper)
    if bad := int((lower > upper).sum()):
        raise ContradictionError((one.tables[0], *other.tables), bad)
    return Counts(lower, upper, tuple(dict.fromkeys((*one.tables, *other.tables))))


@dataclass(frozen=True, eq=False)
class Completions:
    """What each pattern with a hidden value could be: `pattern` (X,), `levels` (X, V); patterns left `open` (P,)."""

    pattern: Ints
    levels: Ints
    open: Bools


@dataclass(frozen=True, eq=False)
class System:
    """Unknown numbers of records by completion, within `low` and `high` (X,), and what binds them.

    `relations` hold the patterns' sizes first, then the cells; `family` (R,) is the number of the variables of a cell
    in `places`, -1 for a pattern and a sum; `cell` (R,) is the cell. The others follow from those that are `given`
    (R,). `weight` (K,): the factors in the order of the relations' `at`.
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
    patterns: Patterns,
    tables: Sequence[Table],
    sums: Sequence[SummedCells] = (),
    *,
    most: int = MOST_COMPLETIONS,
) -> System:
    """Write down what release and tables say together, and narrow it relation by relation.

    Raises `ContradictionError`: nothing can meet it all.
    """
    families = margins_of(tables)
    left = {place: _left(patterns, place, counts) for place, counts in families.items()}
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
    """What sums say; an unknown counts the value that all records of its pattern show."""
    if not sums:
        return no_terms()
    value = (patterns.totals / patterns.size[:, None])[completions.pattern]
    told = patterns.shown[completions.pattern] >= 0
    shown = Shown(patterns.shown, patterns.totals, completions.open)
    try:
        return sum_terms(sums, shown, Possible(patterns.grouped(completions.levels), told, value))
    except DisagreementError as error:
        raise ContradictionError(error.tables, error.cells, summed=True) from None


def _left(patterns: Patterns, place: tuple[int, ...], counts: Counts) -> tuple[Ints, Ints]:
    """What the counts leave to records that do not show their cell."""
    groups, shape = patterns.shown[:, list(place)], counts.lower.shape
    shown = (groups >= 0).all(axis=1)
    at = np.ravel_multi_index(tuple(groups[shown].T), shape)
    seen = np.bincount(at, patterns.size[shown], counts.lower.size).astype(np.int64).reshape(shape)
    if bad := int((seen > counts.upper).sum()):
        raise ContradictionError(counts.tables, bad)
    return np.maximum(counts.lower - seen, 0), counts.upper - seen


def _complete(patterns: Patterns, left: Mapping[tuple[int, ...], tuple[Ints, Ints]], most: int) -> Completions:
    """List what every pattern could be: variable by variable, without what a margin has no room for."""
    hidden = patterns.hidden
    masks, of_mask = np.unique(hidden, axis=0, return_inverse=True)
    pattern, found, is_open = [], [], np.zeros(len(hidden), np.bool_)
    room = most
    for number in np.argsort(masks.sum(axis=1), kind="stable"):
        if not masks[number].any():
            continue
        rows = np.flatnonzero(of_mask.ravel() == number)
        one = _expand(patterns, rows, masks[number], left, room)
        if one is None:
            is_open[rows] = True
            continue
        room -= len(one[0])
        pattern.append(one[0])
        found.append(one[1])
    if not pattern:
        return Completions(np.zeros(0, np.int64), np.zeros((0, hidden.shape[1]), np.int64), is_open)
    return Completions(np.concatenate(pattern), np.concatenate(found), is_open)


def _expand(
    patterns: Patterns, rows: Ints, mask: Bools, left: Mapping[tuple[int, ...], tuple[Ints, Ints]], most: int
) -> tuple[Ints, Ints] | None:
    """Completions of patterns that hide the same variables; None where there are too many."""
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
            axes = [patterns.axes[one] for one in place]
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
    """The sizes of the patterns, then every cell that a completion may fall into, then the sums."""
    asked = np.flatnonzero(patterns.left_open & ~completions.open)
    rank = np.full(len(patterns.size), -1)
    rank[asked] = np.arange(len(asked))
    size = patterns.size[asked]
    rows, columns = [rank[completions.pattern]], [np.arange(len(completions.pattern))]
    lower, upper, family, cell = [size], [size], [np.full(len(asked), -1)], [asked]
    groups = patterns.grouped(completions.levels)
    told = patterns.shown[completions.pattern] >= 0
    n = len(asked)
    for number, (place, (least, most)) in enumerate(left.items()):
        own = list(place)
        here = np.flatnonzero(~told[:, own].all(axis=1))
        at = np.ravel_multi_index(tuple(groups[here][:, own].T), most.shape)
        cells = np.unique(np.concatenate([at, np.flatnonzero(least.ravel() > lost)]))
        rows.append(n + np.searchsorted(cells, at))
        columns.append(here)
        lower.append(np.maximum(least.ravel()[cells] - lost, 0))
        upper.append(most.ravel()[cells])
        family.append(np.full(len(cells), number))
        cell.append(cells)
        n += len(cells)
    factor = np.concatenate([*(np.ones(len(one)) for one in rows), sums.factor])
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
    """Relations by their terms, and the factors by number."""
    order = np.argsort(row, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(lower)))])
    back = np.argsort(column, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=n))])
    whole = np.ones(n, np.bool_)
    return Relations(start, column[order], factor[order], lower, upper, first, row[back], whole), factor[back]
