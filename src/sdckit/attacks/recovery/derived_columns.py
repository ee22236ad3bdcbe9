"""Predictors of changed values: functional relations between numbers, household figures, and parts of ids."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Literal

import numpy as np

from sdckit.attacks.recovery.touched_cells import ReleasedColumn, apart
from sdckit.errors import sure
from sdckit.numerics.array_types import Bools, Codes, Floats, Ints
from sdckit.numerics.compiling import njit
from sdckit.numerics.grouping import extremes_of, gather, group

# Exact relations between numbers of one record: copies, linear rescaling, sums, products and quotients.


FEWEST = 10  # records that a relation must hold for
FEWEST_VALUES = 4  # distinct numbers among them
EXACT = 1e-7  # relative tolerance of each number, and
ROUNDING = 1e-11  # of the largest one, for rounding errors
CHANCE = math.log(1e-7)  # a copy at least this probable by chance is no copy
FEWEST_WITHIN = 50  # records with ranges that an offset is estimated from
SAMPLE = 4_000
PER_TERM = 4  # of it for each term of a sum, to which it is fitted first
LOOSELY = 1e-3
SLOPES = (1.0, -1.0, 10.0, 0.1, 100.0, 0.01, 1000.0, 0.001, 12.0, 1 / 12, 7.0, 1 / 7, 52.0, 1 / 52, 365.25, 1 / 365.25)
LEAST_OF_FEW, MOST_OF_FEW = 0.1, 0.7  # levels per record, of a column that counts rows
NARROWEST = 2.0  # times the usual range: least effect of x on y
WIDEST = 0.5  # of the usual range: a wider offset is of no use


@dataclass(frozen=True, eq=False)
class Relation:
    """Linear relation: constant + sum of factors times other numbers (on the log scale if `logs`)."""

    names: tuple[str, ...]
    constant: float
    factors: Floats
    logs: bool

    def values(self, columns: Mapping[str, ReleasedColumn]) -> Floats:
        """Fitted values by record; NaN where a term is missing."""

        def term(factor: float, name: str) -> Floats:
            part = sure(columns[name].numbers)
            if self.logs:
                with np.errstate(invalid="ignore", divide="ignore"):
                    part = np.where(part > 0, np.log(np.where(part > 0, part, 1.0)), np.nan)
            return np.asarray(factor * part)

        fitted = self.constant + sum(map(term, self.factors, self.names))
        return np.exp(fitted) if self.logs else np.asarray(fitted)


@dataclass(frozen=True)
class Offset:
    """Relation y = slope * x + offset with the offset between `low` and `high`."""

    slope: float
    low: float
    high: float


def scaled_copy(y: Floats, x: Floats) -> tuple[float, float] | None:
    """Slope and constant if y = constant + slope · x exactly for every record that has both; None otherwise.

    >>> scaled_copy(np.arange(20.0), 5 + 2 * np.arange(20.0))
    (0.5, -2.5)
    """
    if not could_be_scaled(y[:SAMPLE], x[:SAMPLE]):
        return None
    both = np.isfinite(y) & np.isfinite(x)
    if np.count_nonzero(both) < FEWEST:
        return None
    y, x = y[both], x[both]
    if y[0] == x[0] and _is_exact(y, x):
        return None if _by_chance(y) else (1.0, 0.0)  # an identical copy needs no fit and no minimum of values
    if _few_values(y) or _few_values(x):
        return None
    a, b = int(x.argmin()), int(x.argmax())
    slope = (y[b] - y[a]) / (x[b] - x[a])
    if slope == 0 or not np.isfinite(slope):
        return None
    constant = y[a] - slope * x[a]
    if not _is_exact(y, constant + slope * x) or _by_chance(y):
        return None
    return float(slope), float(constant)


def could_be_scaled(y: Floats, x: Floats) -> bool:
    """Cheap pre-check of `scaled_copy` on few records and with a wide tolerance; rejects most pairs of columns."""
    both = np.isfinite(y) & np.isfinite(x)
    y, x = y[both], x[both]
    if len(y) < FEWEST:
        return True
    a, b = int(x.argmin()), int(x.argmax())
    slope = (y[b] - y[a]) / (x[b] - x[a]) if x[a] < x[b] else 0.0
    off = np.abs(y - (y[a] + slope * (x - x[a])))
    return not np.isfinite(slope) or bool((off <= LOOSELY * max(float(np.abs(y).max()), 1e-300)).all())


def linear_relation(y: Floats, others: Mapping[str, ReleasedColumn], *, logs: bool = False) -> Relation | None:
    """Find an exact linear relation of numbers to two or more columns, over the records that have all of them.

    `logs`: on the log scale, which finds products and quotients.
    """
    known = ~np.isnan(y)
    if np.count_nonzero(known) < FEWEST or (logs and (y[known] <= 0).any()):
        return None
    names = [name for name, column in others.items() if _may_take_part(column, known, logs=logs)]

    def term(name: str) -> Floats:
        numbers = sure(others[name].numbers)
        return _logarithms(numbers) if logs else numbers

    own = _logarithms(y) if logs else y
    if len(names) < 2 or (fit := _fit(own, term, names)) is None:
        return None
    for other in list(names):  # backward elimination: collinear columns are redundant
        fewer = [column for column in names if column != other]
        if len(fewer) >= 1 and (less := _fit(own, term, fewer)) is not None:
            names, fit = fewer, less
    return None if len(names) < 2 else Relation(tuple(names), float(fit[0]), fit[1:], logs)


def _may_take_part(column: ReleasedColumn, known: Bools, *, logs: bool) -> bool:
    """Whether at least half of the records have a number in a column of several; of logarithms, all above 0."""
    x = column.numbers
    if x is None or _few_values(x[:SAMPLE]):
        return False
    there = known & ~np.isnan(x)
    return np.count_nonzero(there) >= known.sum() / 2 and not (logs and (x[there] <= 0).any())


def _logarithms(values: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.log(values))


def widest_offset(low: Floats, high: Floats) -> float:
    """A width that no offset of numbers known as ranges can have: no limit of `offset_of` is above it."""
    finite = np.isfinite(low) & np.isfinite(high)
    if not finite.any():
        return 0.0
    least, most = low[finite], high[finite]
    return WIDEST * max(float((most - least).max()), float(least.max() - least.min()) / 5) * (1 + EXACT)


def slopes_within(low: Floats, high: Floats, x: Floats, widest: float) -> Iterator[float]:
    """The slopes by which few records leave an offset as narrow: with more of them, it only becomes wider.

    >>> ages = np.arange(100.0)
    >>> [*slopes_within(ages, ages, ages + 3, 5.0)], [*slopes_within(ages, ages, ages**2, 5.0)]
    ([1.0], [])
    """
    some = slice(None, None, max(1, len(x) // SAMPLE))
    low, high, x = low[some], high[some], x[some]
    use = np.isfinite(low) & np.isfinite(high) & ~np.isnan(x)
    low, high, x = low[use], high[use], x[use]
    for slope in SLOPES:
        if not len(x) or float((low - slope * x).max()) - float((high - slope * x).min()) <= widest:
            yield slope


def offset_of(low: Floats, high: Floats, x: Floats) -> Offset | None:
    """Estimate the offset of numbers known as ranges from another number, if it is (nearly) the same for all.

    `low`, `high` (n,): range of each number, equal where it is known exactly. None if for no slope the offset is
    tighter than half of the usual range.
    """
    use = np.isfinite(low) & np.isfinite(high) & ~np.isnan(x)
    if np.count_nonzero(use) < FEWEST_WITHIN or _few_values(x[use]):
        return None
    low, high, x = low[use], high[use], x[use]
    usual = max(float(np.median(high - low)), 0.0)
    spread = _spread(low)
    limit = WIDEST * usual if usual > 0 else WIDEST * spread / 5
    slopes = [*slopes_within(low, high, x, limit)]
    range_, best = _spread(x) if slopes else 0.0, None
    for slope in slopes:
        if abs(slope) * range_ < max(NARROWEST * usual, spread / 2):
            continue  # x has hardly any effect on y: a range common to nearly all would fit trivially
        above, below = float((low - slope * x).max()), float((high - slope * x).min())
        # if no single offset fits all, its uncertainty is at least the gap between the two bounds
        offset = Offset(slope, min(above, below), max(above, below))
        open_ = offset.high - offset.low
        if open_ <= limit and (best is None or open_ < best.high - best.low):
            best = offset
    return best


def _spread(values: Floats) -> float:
    """How far all but the most extreme twentieths reach."""
    least, most = np.quantile(values, [0.05, 0.95])
    return float(most - least)


def _fit(y: Floats, term: Callable[[str], Floats], names: Sequence[str]) -> Floats | None:
    """Constant and factors by least squares if the fit is exact; estimated on a sample, checked on all records."""
    use = np.isfinite(y)
    for name in names:  # one after the other: columns of many records would not fit beside each other
        use &= np.isfinite(term(name))
    rows = np.flatnonzero(use)
    if len(rows) < FEWEST + 2 * len(names):
        return None
    some = rows[:: max(1, len(rows) // SAMPLE)]
    matrix = np.column_stack([term(name)[some] for name in names])
    centre, scale = matrix.mean(axis=0), matrix.std(axis=0)
    if (scale == 0).any() or _few_values(y[some]):
        return None
    counts = np.unique(y[some], return_counts=True)[1]
    if len(some) - int(counts.max()) < FEWEST + 2 * len(names):
        return None  # nearly constant: the few other values could be fitted by chance
    design = np.column_stack([np.ones(len(some)), (matrix - centre) / scale])
    size = max(float(np.abs(y[rows]).max()), 1e-300)
    few = slice(None, None, max(1, len(some) // (PER_TERM * len(design[0]))))
    if not fits_some(design[few], y[some][few], LOOSELY * size):
        return None
    solved, *_ = np.linalg.lstsq(design, y[some], rcond=1e-10)
    factors = solved[1:] / scale
    constant = solved[0] - float(centre @ factors)
    if len(some) < len(rows) and not _is_exact(y[some], constant + matrix @ factors, size):
        return None
    fitted = constant + sum(factor * term(name)[rows] for factor, name in zip(factors, names, strict=True))
    return np.concatenate([[constant], factors]) if _is_exact(y[rows], np.asarray(fitted), size) else None


def fits_some(terms: Floats, y: Floats, near: float) -> Bools:
    """Whether a sum of terms (m, t) is near numbers (m,) or (m, columns) of few records.

    Where it is exact in all records, it is in these; least squares on all take fifty times longer.
    """
    rest = terms @ np.linalg.lstsq(terms, y, rcond=None)[0] - y
    return np.asarray(np.abs(rest).max(axis=0) <= near)


def _is_exact(y: Floats, fitted: Floats, largest: float | None = None) -> bool:
    """Whether fitted values are right but for rounding; `largest`: the largest size, where these are some of more."""
    size = np.abs(y)
    largest = max(float(size.max()), 1e-300) if largest is None else largest
    return bool((np.abs(y - fitted) <= np.maximum(EXACT * size, ROUNDING * largest)).all())


def _by_chance(y: Floats) -> bool:
    """Whether an independent column with the same value shares could agree in all records by chance."""
    shares = np.unique(y, return_counts=True)[1] / len(y)
    return len(y) * math.log(float((shares**2).sum())) > CHANCE


def _few_values(values: Floats) -> bool:
    known = values[~np.isnan(values)]
    return len(known) == 0 or len(np.unique(known[:SAMPLE])) < FEWEST_VALUES


# What a rule uses: columns or values shared in a household, counts, values partitioned in a household, neighbours;
# arithmetic, part of a text, date or id, a code table, another row.
Kind = Literal["column", "counted", "divided", "order", "numbers", "text", "table", "linked", "cells", "beside"]
FEW_LEVELS = 12  # most levels of a column whose values are counted within households
MOST_AGES = 100  # most limits tried for counts of household members below a limit
ID_SHARE = 0.5  # distinct values per record from which on a column is taken as an id
SOME = 2_000  # records whose households are used for a pre-check
ALL = slice(None)

Rows = Ints | slice
Figures = Callable[[Rows], Floats]  # the numbers of some records: of most companions nobody asks for more


@dataclass(frozen=True, eq=False)
class Predictor:
    """Auxiliary information of every record: `codes` (n,) from 1 on, 0 where missing, and `numbers` if numeric.

    `columns` it is derived from, and its description in words. `values`: its numbers, the column that has them, or what
    makes them.
    """

    columns: tuple[str, ...]
    words: str
    codes: Codes
    n_levels: int
    values: Floats | ReleasedColumn | Figures | None = None
    joins: bool = False  # whether it is combined with others in pairs
    groups: bool = True  # whether records with equal codes are compared
    kind: Kind = "column"
    blank: bool = False  # whether a missing value is a level of its own, as that of a skipped question is
    marks: bool = False  # whether it says of which records a column has a value

    @property
    def numbers(self) -> Floats | None:
        """Its numbers (n,), NaN where missing; None if it has none."""
        return self.numbers_of(ALL)

    def numbers_of(self, rows: Rows) -> Floats | None:
        """The numbers of some records."""
        values = self.values.numbers if isinstance(self.values, ReleasedColumn) else self.values
        if values is None or callable(values):
            return None if values is None else values(rows)
        return values[rows]

    def of(self, rows: Rows) -> Predictor:
        """The same of some records."""
        if rows is ALL:
            return self
        codes = self.codes[rows] if len(self.codes) else self.codes
        return replace(self, codes=codes, values=self.numbers_of(rows))

    @property
    def numeric(self) -> bool:
        """Whether it has numbers."""
        return self.values.numeric if isinstance(self.values, ReleasedColumn) else self.values is not None

    @property
    def grouped(self) -> tuple[Codes, int]:
        """Group of each record from 0 on, -1 for none; and how many there are."""
        groups = self.codes.astype(np.int32, copy=False) - np.int32(1)
        if self.blank:
            groups[groups < 0] = self.n_levels
        return groups, self.n_levels + self.blank


@dataclass(frozen=True, eq=False)
class Household:
    """Household structure: household index of each record `of_row` (-1 for none) and household `sizes`."""

    name: str
    of_row: Codes
    sizes: Ints

    @classmethod
    def of(cls, column: ReleasedColumn) -> Household:
        """Group the records by the household column."""
        of_row = (column.codes - 1).astype(np.int32)
        return cls(column.name, of_row, np.bincount(of_row[of_row >= 0], minlength=column.n_levels))

    @property
    def n(self) -> int:
        """Households."""
        return len(self.sizes)

    def sums(self, values: Floats) -> Floats:
        """Sum over the members of each household."""
        return np.bincount(self.of_row + 1, values, minlength=self.n + 1)[1:].astype(np.float64)

    def spread(self, values: Floats) -> Floats:
        """Expand a figure of each household to its members; NaN without a household."""
        return self.figures(values)(ALL)

    def figures(self, values: Floats) -> Figures:
        """The same of some records, made when it is asked for."""
        table = np.append(values, np.nan)  # the last one: no household
        return lambda rows: gather([table], self.of_row[rows])[0]

    def sums_of_others(self, values: Floats) -> Floats:
        """Sum over the other members, by record; NaN where one of them has no number, or without a household."""
        unknown = np.isnan(values)
        own = np.where(unknown, 0.0, values)
        complete = self.spread(self.sums(unknown.astype(np.float64))) == unknown
        return np.where(complete, self.spread(self.sums(own)) - own, np.nan)

    def extremes(self, values: Floats) -> tuple[Floats, Floats]:
        """Minimum and maximum of each household; inf and -inf where no number is known."""
        low, high, _ = extremes_of(self.of_row, values, self.n + 1)  # the last one: no household
        return low[:-1], high[:-1]

    @cached_property
    def some(self) -> tuple[Ints, Household]:
        """Subset of the households of the first `SOME` records: the rows of their members, and the subset."""
        first = np.zeros(self.n + 1, np.bool_)
        first[self.of_row[:SOME]] = True
        first[-1] = False  # no household
        rows, place = np.flatnonzero(first[self.of_row]), np.cumsum(first, dtype=np.int32) - np.int32(1)
        of_row = place[self.of_row[rows]]
        return rows, Household(self.name, of_row, np.bincount(of_row))

    def positions(self) -> Floats:
        """Position of each record within its household, from 1, in file order; NaN without a household."""
        positions = np.empty(len(self.of_row))
        _count_up(self.of_row, np.zeros(self.n + 1, np.int64), positions)
        positions[self.of_row < 0] = np.nan
        return positions


@njit(nogil=True, cache=True)
def _count_up(of_row, seen, positions):  # type: ignore[no-untyped-def]
    """Number the records of each group from 1 on, in place; `seen` (groups + 1,): how many were there before."""
    for i in range(len(of_row)):
        seen[of_row[i]] += 1
        positions[i] = seen[of_row[i]]


def numbered(values: Floats) -> tuple[Codes, int]:
    """Code numbers from 1 on, 0 where missing; and how many codes there are."""
    known = ~np.isnan(values)
    codes = np.zeros(len(values), np.int32)
    if not known.any():
        return codes, 0
    groups = group(np.where(values[known] == 0, 0.0, values[known]).view(np.uint64))
    codes[known] = groups.of_row + 1
    return codes, len(groups.size)


def number_predictor(
    columns: Sequence[str], words: str, values: Floats, *, groups: bool = True, kind: Kind = "column"
) -> Predictor:
    """Numbers as auxiliary information; records with equal ones are not compared unless they are `groups`."""
    codes, n_levels = numbered(values) if groups else (np.zeros(0, np.int32), 0)
    return Predictor(tuple(columns), words, codes, n_levels, values, groups=groups, kind=kind)


def counted_rows(columns: Mapping[str, ReleasedColumn]) -> Iterator[Predictor]:
    """How many rows have the same value, of columns in which few have: the income of a household counts its members."""
    for name, column in columns.items():
        if LEAST_OF_FEW <= column.n_levels / max(len(column.codes), 1) <= MOST_OF_FEW and column.sizes[1:].max() > 1:
            rows = np.append(np.nan, column.sizes[1:])[column.codes]
            yield number_predictor((name,), f"the rows with the same {name} counted", rows, kind="counted")


def counted_predictor(
    columns: Sequence[str], words: str, counts: Ints, household: Household, *, joins: bool = False
) -> Predictor:
    """Counts of the households that occur as auxiliary information of their members; -1 where unknown."""
    known = np.where(household.sizes > 0, counts, -1) + 1
    present = np.flatnonzero(np.bincount(known, minlength=1)[1:])
    place = np.zeros(int(known.max(initial=0)) + 1, np.int32)
    place[present + 1] = np.arange(1, len(present) + 1)
    (of_row,) = gather([np.append(place[known], np.int32(0))], household.of_row)  # the last one: no household
    figures = household.figures(np.where(known > 0, known - 1.0, np.nan))
    return Predictor(tuple(columns), words, of_row, len(present), figures, joins, kind="counted")


Made = dict[tuple[str, str], tuple[tuple[ReleasedColumn, ...], list[Predictor]]]


def released_predictors(
    columns: Mapping[str, ReleasedColumn], household: str | None, made: Made | None = None
) -> list[Predictor]:
    """The columns of the release as predictors, and those from households.

    `made`: what was made of columns before, which is taken again where they are the same; in place.
    """
    parts: _Parts = {
        ("", name): ((column,), partial(column_predictors, {name: column}, household))
        for name, column in columns.items()
    }
    if household is not None:
        group, of = Household.of(columns[household]), columns[household]
        parts["household", household] = (of,), partial(_of_rows, group)
        parts |= {
            ("household", name): ((column, of), partial(_of_members, column, group))
            for name, column in columns.items()
            if name != household
        }
    return _listed(parts, {} if made is None else made)


_Parts = dict[tuple[str, str], tuple[tuple[ReleasedColumn, ...], Callable[[], Iterator[Predictor]]]]


def _listed(parts: _Parts, made: Made) -> list[Predictor]:
    """The predictors of all parts, made where they are not there already."""

    def is_there(part: tuple[str, str]) -> bool:
        before = made[part][0] if part in made else ()
        return bool(before) and all(map(operator.is_, before, parts[part][0]))

    fresh = [part for part in parts if not is_there(part)]
    n = max((len(of[0].codes) for of, _ in parts.values()), default=0)
    for part, own in zip(fresh, apart(lambda part: list(parts[part][1]()), fresh, n), strict=True):
        made[part] = parts[part][0], own
    return [predictor for part in parts for predictor in made[part][1]]


def column_predictors(columns: Mapping[str, ReleasedColumn], household: str | None) -> Iterator[Predictor]:
    """The columns of the release as predictors, and whether they have a value."""
    for name, column in columns.items():
        words = f"{name} (mates share it)" if name == household else name
        blank = name != household and bool(column.missing.any())
        yield Predictor((name,), words, column.codes, column.n_levels, column, joins=True, blank=blank)
        if blank:
            yield Predictor((name,), f"whether {name} is missing", (2 - column.missing).astype(np.int8), 2, marks=True)


def _of_rows(household: Household) -> Iterator[Predictor]:
    """Predictors from households themselves: size, and position."""
    name, sizes = household.name, household.sizes
    yield counted_predictor((name,), f"the rows of a household counted ({name})", sizes, household, joins=True)
    place = f"the place among the rows of a household ({name})"
    yield number_predictor((name,), place, household.positions(), kind="counted")


def _of_members(column: ReleasedColumn, household: Household) -> Iterator[Predictor]:
    """Predictors from a column of the members of a household: counts, sums and extremes."""
    if column.n_levels <= FEW_LEVELS:
        yield from _level_counts(column, household)
    numbers = column.numbers
    if numbers is not None and column.n_levels > 2:
        known = ~np.isnan(numbers)
        complete = household.sums(known.astype(np.float64)) == household.sizes
        total = np.where(complete, household.sums(np.where(known, numbers, 0.0)), np.nan)
        name, both = column.name, (column.name, household.name)
        yield _of_household(both, f"the sum of {name} over a household", total, household)
        low, high = household.extremes(numbers)
        for ends, words in ((low, "least"), (high, "greatest")):
            values = np.where(np.isfinite(ends), ends, np.nan)
            yield _of_household(both, f"the {words} {name} of a household", values, household)


def _of_household(
    columns: tuple[str, ...], words: str, values: Floats, household: Household, *, kind: Kind = "column"
) -> Predictor:
    """A figure of households as auxiliary information of their members, which are not compared by it."""
    return Predictor(columns, words, np.zeros(0, np.int32), 0, household.figures(values), groups=False, kind=kind)


def _level_counts(column: ReleasedColumn, household: Household) -> Iterator[Predictor]:
    width = column.n_levels + 1
    cell = (household.of_row.astype(np.int64) + 1) * width + column.codes
    counts = np.bincount(cell, minlength=(household.n + 1) * width).reshape(-1, width)[1:]
    words = f"the mates with one value of {column.name} counted"
    for code in range(1, width):
        known = np.where(counts[:, 0] == 0, counts[:, code], -1)  # of households that miss no value
        yield counted_predictor((column.name, household.name), words, known, household)


def below_counts(column: ReleasedColumn, household: Household, *, like: Floats | None = None) -> Iterator[Predictor]:
    """Number of household members below each of several limits, such as children or people of working age.

    If `like` is given, only counts that pass `could_be_scaled` for these numbers on some households.
    """
    numbers = column.numbers
    if numbers is None:
        return
    values = column.distinct
    if not 3 <= len(values) <= MOST_AGES * 10:
        return
    limits = values[1 :: max(1, len(values) // MOST_AGES)]
    if like is not None:
        rows, few = household.some
        limits = limits[_could_be_below(like[rows], few, numbers[rows], limits)]
    words = f"the mates below a limit of {column.name} counted"
    for limit in limits:
        counts = _below(household, numbers, limit)
        yield _of_household((column.name, household.name), words, counts, household, kind="counted")


def _could_be_below(y: Floats, few: Household, numbers: Floats, limits: Floats) -> Bools:
    """(limits,) `could_be_scaled` for the members below each of them, counted at once."""
    whole = few.spread(few.sums(np.isnan(numbers).astype(np.float64))) == 0
    use, width = np.flatnonzero(np.isfinite(y) & whole), len(limits) + 1
    if len(use) < FEWEST:
        return np.ones(len(limits), np.bool_)
    cells = few.of_row * width + np.searchsorted(limits, numbers, "right")
    below = np.bincount(cells, minlength=few.n * width).reshape(-1, width)[:, :-1].cumsum(axis=1).T
    y, x, at = y[use], below[:, few.of_row[use]].astype(np.float64), np.arange(len(limits))
    a, b = x.argmin(axis=1), x.argmax(axis=1)
    least, most = x[at, a], x[at, b]
    slope = np.divide(y[b] - y[a], most - least, out=np.zeros(len(limits)), where=least < most)
    off = np.abs(y - (y[a, None] + slope[:, None] * (x - least[:, None])))
    near = off <= LOOSELY * max(float(np.abs(y).max()), 1e-300)
    return np.asarray(~np.isfinite(slope) | near.all(axis=1))


def _below(household: Household, numbers: Floats, limit: float) -> Floats:
    """Members below a limit by household; NaN if the number of a member is missing."""
    with np.errstate(invalid="ignore"):
        below = np.where(np.isnan(numbers), np.nan, numbers < limit)
    return household.sums(below)


def id_predictors(columns: Mapping[str, ReleasedColumn], household: str | None, made: Made) -> list[Predictor]:
    """Predictors from ids: leading digits or letters, and the gap to the next id. `made` as above."""
    ids: _Parts = {
        ("id", name): ((column,), partial(_of_id, column))
        for name, column in columns.items()
        if name == household or column.n_levels >= ID_SHARE * len(column.codes)
    }
    return _listed(ids, made)


def _of_id(column: ReleasedColumn) -> Iterator[Predictor]:
    name, numbers = column.name, column.numbers
    if numbers is not None and column.whole:
        yield from _number_starts(name, numbers)
        yield number_predictor((name,), f"the gap to the next {name}", _gaps(column))
    elif not column.numeric and column.coded.kind in ("text", "category"):
        yield from _text_starts(column)


def _gaps(column: ReleasedColumn) -> Floats:
    """What lies between each number and the next one that occurs."""
    values, single = column.distinct, sure(column.single)
    place = np.clip(np.searchsorted(values, single), 0, len(values) - 1)
    gaps = np.append(np.diff(values), np.nan)[place]
    gaps[np.isnan(single)] = np.nan
    return np.asarray(gaps[column.codes])


def _number_starts(name: str, numbers: Floats) -> Iterator[Predictor]:
    n = len(numbers)
    for digits in range(1, 10):
        codes, n_levels = numbered(np.floor(numbers / 10.0**digits))
        if n_levels < 2:
            return
        if n_levels <= n / 3:
            yield Predictor((name,), f"the first digits of {name}", codes, n_levels)


def _text_starts(column: ReleasedColumn) -> Iterator[Predictor]:
    before = 1
    for of_level, n_levels in column.starts:
        if n_levels > before:
            yield Predictor((column.name,), f"the first letters of {column.name}", of_level[column.codes], n_levels)
        before = n_levels
