"""What a release says beside its columns: rows of a household counted, mates, starts of ids, the order of the rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.recovery.touched_cells import ReleasedColumn
from sdckit.numerics.array_types import Codes, Floats
from sdckit.numerics.grouping import group

# Numbers that follow from other numbers of the same record: copies, scales, sums and parts, products.


FEWEST = 10  # records that a relation must hold for
FEWEST_VALUES = 4  # different numbers among them
EXACT = 1e-7  # of a number, and
ROUNDING = 1e-11  # of the largest one: what computing may leave
CHANCE = math.log(1e-7)  # a copy this probable by chance alone is none
FEWEST_WITHIN = 50  # records whose ranges show how far two numbers lie apart
SAMPLE = 4_000
LOOSELY = 1e-3
SLOPES = (
    1.0, -1.0, 10.0, 0.1, 100.0, 0.01, 1000.0, 0.001, 12.0, 1 / 12, 7.0, 1 / 7, 52.0, 1 / 52, 365.25, 1 / 365.25,
)  # fmt: skip
NARROWEST = 2.0  # times the usual range: x must move y by so much
WIDEST = 0.5  # of the usual range: an offset less certain tells nothing


@dataclass(frozen=True, eq=False)
class Relation:
    """A number as a constant and a sum of others times factors (their logarithms, where `logs`)."""

    names: tuple[str, ...]
    constant: float
    factors: Floats
    logs: bool

    def values(self, numbers: Mapping[str, Floats]) -> Floats:
        """What it gives for every record; NaN where a part is missing."""
        parts = [numbers[name] for name in self.names]
        if self.logs:
            with np.errstate(invalid="ignore", divide="ignore"):
                parts = [np.where(part > 0, np.log(np.where(part > 0, part, 1.0)), np.nan) for part in parts]
        fitted = self.constant + sum(f * part for f, part in zip(self.factors, parts, strict=True))
        return np.exp(fitted) if self.logs else np.asarray(fitted)


@dataclass(frozen=True)
class Offset:
    """A number is `slope` times another plus something from `low` to `high`."""

    slope: float
    low: float
    high: float


def scaled_copy(y: Floats, x: Floats) -> tuple[float, float] | None:
    """Slope and constant where y = constant + slope · x for every record that has both; None otherwise.

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
        return None if _by_chance(y) else (1.0, 0.0)  # two different values suffice: nothing is fitted
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
    """Whether some records leave it open, far more loosely than is asked of all: most pairs of columns end here."""
    both = np.isfinite(y) & np.isfinite(x)
    y, x = y[both], x[both]
    if len(y) < FEWEST:
        return True
    a, b = int(x.argmin()), int(x.argmax())
    slope = (y[b] - y[a]) / (x[b] - x[a]) if x[a] < x[b] else 0.0
    off = np.abs(y - (y[a] + slope * (x - x[a])))
    return not np.isfinite(slope) or bool((off <= LOOSELY * max(float(np.abs(y).max()), 1e-300)).all())


def linear_relation(name: str, numbers: Mapping[str, Floats], *, logs: bool = False) -> Relation | None:
    """The column as a sum of two or more others times factors, exact for every record that has all of them.

    `logs`: the same of logarithms, so that products and quotients are found.
    """
    y = numbers[name]
    others = [other for other in numbers if other != name and not _few_values(numbers[other][:SAMPLE])]
    known = ~np.isnan(y)
    if np.count_nonzero(known) < FEWEST:
        return None
    present = [other for other in others if np.count_nonzero(known & ~np.isnan(numbers[other])) >= known.sum() / 2]
    design = {other: numbers[other] for other in present}
    if logs:
        if (y[known] <= 0).any():
            return None
        design = {other: x for other, x in design.items() if (x[known & ~np.isnan(x)] > 0).all()}
        with np.errstate(invalid="ignore", divide="ignore"):
            design = {other: np.log(x) for other, x in design.items()}
            y = np.log(y)
    names = list(design)
    if len(names) < 2 or (fit := _fit(y, [design[column] for column in names])) is None:
        return None
    for other in list(names):  # the fewest that suffice: collinear columns share their factors
        fewer = [column for column in names if column != other]
        if len(fewer) >= 1 and (less := _fit(y, [design[column] for column in fewer])) is not None:
            names, fit = fewer, less
    return None if len(names) < 2 else Relation(tuple(names), float(fit[0]), fit[1:], logs)


def offset_of(low: Floats, high: Floats, x: Floats) -> Offset | None:
    """How far numbers known as ranges lie from another number: the same for all, or nearly.

    `low`, `high` (n,): the range of each number, equal where it is known exactly. None where no slope leaves less than
    half of the usual range open.
    """
    with np.errstate(invalid="ignore"):
        use = np.isfinite(low) & np.isfinite(high) & ~np.isnan(x)
    if np.count_nonzero(use) < FEWEST_WITHIN or _few_values(x[use]):
        return None
    low, high, x = low[use], high[use], x[use]
    usual = max(float(np.median(high - low)), 0.0)
    spread, range_ = (float(np.quantile(values, 0.95) - np.quantile(values, 0.05)) for values in (low, x))
    best: Offset | None = None
    for slope in SLOPES:
        if abs(slope) * range_ < max(NARROWEST * usual, spread / 2):
            continue  # x hardly moves y: any range that nearly all share would do
        above, below = float((low - slope * x).max()), float((high - slope * x).min())
        # where no one offset fits all, it is at least as uncertain as the two ends are apart
        offset = Offset(slope, min(above, below), max(above, below))
        open_ = offset.high - offset.low
        limit = WIDEST * usual if usual > 0 else WIDEST * spread / 5
        if open_ <= limit and (best is None or open_ < best.high - best.low):
            best = offset
    return best


def _fit(y: Floats, parts: list[Floats]) -> Floats | None:
    """Constant and factors where the fit is exact; judged on all records, estimated on some."""
    use = np.isfinite(y) & np.logical_and.reduce([np.isfinite(part) for part in parts])
    rows = np.flatnonzero(use)
    if len(rows) < FEWEST + 2 * len(parts):
        return None
    some = rows[:: max(1, len(rows) // SAMPLE)]
    matrix = np.column_stack([part[some] for part in parts])
    centre, scale = matrix.mean(axis=0), matrix.std(axis=0)
    if (scale == 0).any() or _few_values(y[some]):
        return None
    counts = np.unique(y[some], return_counts=True)[1]
    if len(some) - int(counts.max()) < FEWEST + 2 * len(parts):
        return None  # nearly all are one number: the others could be fitted by chance
    standard = (matrix - centre) / scale
    solved, *_ = np.linalg.lstsq(np.column_stack([np.ones(len(some)), standard]), y[some], rcond=1e-10)
    factors = solved[1:] / scale
    constant = solved[0] - float(centre @ factors)
    fitted = constant + np.column_stack([part[rows] for part in parts]) @ factors
    return np.concatenate([[constant], factors]) if _is_exact(y[rows], fitted) else None


def _is_exact(y: Floats, fitted: Floats) -> bool:
    size = np.abs(y)
    return bool((np.abs(y - fitted) <= np.maximum(EXACT * size, ROUNDING * max(float(size.max()), 1e-300))).all())


def _by_chance(y: Floats) -> bool:
    """Whether a column with the same shares of values could well agree with all of these."""
    shares = np.unique(y, return_counts=True)[1] / len(y)
    return len(y) * math.log(float((shares**2).sum())) > CHANCE


def _few_values(values: Floats) -> bool:
    known = values[~np.isnan(values)]
    return len(known) == 0 or len(np.unique(known[:SAMPLE])) < FEWEST_VALUES


# How values are told: by columns or what mates share, by counting, by what mates divide among them, by neighbours.
Kind = Literal["column", "counted", "divided", "order"]
FEW_LEVELS = 12  # of a column whose values are counted within households
MOST_AGES = 100  # limits tried to count the mates below them
ID_SHARE = 0.5  # of the records that have a value of their own: the column is an id
LONGEST_START = 6
SOME = 2_000  # records whose households are looked at before all are


@dataclass(frozen=True, eq=False)
class Predictor:
    """Something every record shows: `codes` (n,) from 1 on, 0 where it shows nothing, and numbers where it is one.

    `columns` it is made of, and how it is called in words.
    """

    columns: tuple[str, ...]
    words: str
    codes: Codes
    n_levels: int
    numbers: Floats | None = None
    joins: bool = False  # whether it is tried together with others
    groups: bool = True  # whether records that show the same are compared
    kind: Kind = "column"


@dataclass(frozen=True, eq=False)
class Household:
    """Records by household: number of each (-1 without one), sizes, and the records in the order of households."""

    name: str
    of_row: Codes
    sizes: NDArray[np.int64]

    @classmethod
    def of(cls, column: ReleasedColumn) -> Household:
        """Group the records by the column of the household."""
        of_row = (column.codes - 1).astype(np.int32)
        return cls(column.name, of_row, np.bincount(of_row[of_row >= 0], minlength=column.n_levels))

    @property
    def n(self) -> int:
        """Households."""
        return len(self.sizes)

    def sums(self, values: Floats) -> Floats:
        """Sum over the members of each household."""
        has = self.of_row >= 0
        return np.bincount(self.of_row[has], values[has], minlength=self.n).astype(np.float64)

    def spread(self, values: Floats) -> Floats:
        """A figure of each household to its members; NaN without a household."""
        if not self.n:
            return np.full(len(self.of_row), np.nan)
        return np.where(self.of_row >= 0, values[self.of_row], np.nan)

    def extremes(self, values: Floats) -> tuple[Floats, Floats]:
        """Least and greatest number of each household; infinite where none is known."""
        known = (self.of_row >= 0) & ~np.isnan(values)
        low, high = np.full(self.n, np.inf), np.full(self.n, -np.inf)
        np.minimum.at(low, self.of_row[known], values[known])
        np.maximum.at(high, self.of_row[known], values[known])
        return low, high

    def some(self) -> tuple[NDArray[np.int64], Household]:
        """All members of the households of the first records: their rows, and these households by themselves."""
        first = np.zeros(self.n + 1, np.bool_)
        first[self.of_row[:SOME]] = True
        first[-1] = False  # no household
        rows = np.flatnonzero(first[self.of_row])
        _, of_row = np.unique(self.of_row[rows], return_inverse=True)
        return rows, Household(self.name, of_row.astype(np.int32), np.bincount(of_row))

    def positions(self) -> Floats:
        """Place of each record among those of its household, from 1, in the order of the file."""
        order = np.argsort(self.of_row, kind="stable")
        positions = np.empty(len(order))
        starts = np.concatenate([[0], np.cumsum(np.bincount(self.of_row + 1, minlength=self.n + 1))])
        positions[order] = np.arange(len(order)) - starts[self.of_row[order] + 1] + 1
        return np.where(self.of_row >= 0, positions, np.nan)


def numbered(values: Floats) -> tuple[Codes, int]:
    """Codes of numbers, 0 where they are missing."""
    known = ~np.isnan(values)
    codes = np.zeros(len(values), np.int32)
    if known.any():
        plain = np.where(values[known] == 0, 0.0, values[known])
        groups = group(np.ascontiguousarray(plain).view(np.uint64))
        codes[known] = groups.of_row + 1
        return codes, len(groups.size)
    return codes, 0


def _number_predictor(
    columns: Sequence[str],
    words: str,
    values: Floats,
    *,
    joins: bool = False,
    groups: bool = True,
    kind: Kind = "column",
) -> Predictor:
    codes, n_levels = numbered(values) if groups else (np.zeros(0, np.int32), 0)
    return Predictor(tuple(columns), words, codes, n_levels, values, joins, groups, kind)


def column_predictors(columns: Mapping[str, ReleasedColumn], household: str | None) -> Iterator[Predictor]:
    """The columns themselves."""
    for name, column in columns.items():
        words = f"{name} (mates share it)" if name == household else name
        yield Predictor((name,), words, column.codes, column.n_levels, column.numbers, joins=True)


def household_predictors(columns: Mapping[str, ReleasedColumn], household: Household) -> Iterator[Predictor]:
    """What members of a household show together."""
    name = household.name
    counted = household.spread(household.sizes.astype(np.float64))
    yield _number_predictor((name,), f"the rows of a household counted ({name})", counted, joins=True, kind="counted")
    place = f"the place among the rows of a household ({name})"
    yield _number_predictor((name,), place, household.positions(), kind="counted")
    for other, column in columns.items():
        if other == name:
            continue
        if column.n_levels <= FEW_LEVELS:
            yield from _level_counts(column, household)
        numbers = column.numbers
        if numbers is not None and column.n_levels > 2:
            known = ~np.isnan(numbers)
            complete = household.sums(known.astype(np.float64)) == household.sizes
            total = np.where(complete, household.sums(np.where(known, numbers, 0.0)), np.nan)
            both = (other, name)
            yield _number_predictor(both, f"the sum of {other} over a household", household.spread(total), groups=False)
            low, high = household.extremes(numbers)
            for ends, words in ((low, "least"), (high, "greatest")):
                values = np.where(np.isfinite(ends), ends, np.nan)
                named = f"the {words} {other} of a household"
                yield _number_predictor(both, named, household.spread(values), groups=False)


def _level_counts(column: ReleasedColumn, household: Household) -> Iterator[Predictor]:
    complete = household.sums(column.missing.astype(np.float64)) == 0
    for code in range(1, column.n_levels + 1):
        counts = np.where(complete, household.sums((column.codes == code).astype(np.float64)), np.nan)
        words = f"the mates with one value of {column.name} counted"
        yield _number_predictor((column.name, household.name), words, household.spread(counts), kind="counted")


def below_counts(column: ReleasedColumn, household: Household, *, like: Floats | None = None) -> Iterator[Predictor]:
    """Members of a household below each of some limits: children, people of working age.

    Only counts that some households leave possible as a scale of the numbers `like`, where these are given.
    """
    numbers = column.numbers
    if numbers is None:
        return
    values = np.unique(numbers[~np.isnan(numbers)])
    if not 3 <= len(values) <= MOST_AGES * 10:
        return
    rows, few = household.some()
    for limit in values[1 :: max(1, len(values) // MOST_AGES)]:
        if like is not None and not could_be_scaled(like[rows], few.spread(_below(few, numbers[rows], limit))):
            continue
        counts = _below(household, numbers, limit)
        words = f"the mates below a limit of {column.name} counted"
        yield _number_predictor(
            (column.name, household.name), words, household.spread(counts), groups=False, kind="counted"
        )


def _below(household: Household, numbers: Floats, limit: float) -> Floats:
    """Members below a limit; NaN where the number of one is missing."""
    with np.errstate(invalid="ignore"):
        below = np.where(np.isnan(numbers), np.nan, numbers < limit)
    return household.sums(below)


def id_predictors(columns: Mapping[str, ReleasedColumn], household: str | None) -> Iterator[Predictor]:
    """What ids begin with, and the gaps between them."""
    for name, column in columns.items():
        n = len(column.codes)
        if name != household and column.n_levels < ID_SHARE * n:
            continue
        numbers = column.numbers
        if numbers is not None and column.whole:
            yield from _number_starts(name, numbers)
            values = np.unique(numbers[~np.isnan(numbers)])
            gaps = np.append(np.diff(values), np.nan)
            place = np.clip(np.searchsorted(values, numbers), 0, len(values) - 1)
            gap = np.where(np.isnan(numbers), np.nan, gaps[place])
            yield _number_predictor((name,), f"the gap to the next {name}", gap)
        elif column.low is None and column.coded.kind in ("text", "category"):
            yield from _text_starts(column)


def _number_starts(name: str, numbers: Floats) -> Iterator[Predictor]:
    n = len(numbers)
    for digits in range(1, 10):
        starts = np.floor(numbers / 10.0**digits)
        codes, n_levels = numbered(starts)
        if n_levels < 2:
            return
        if n_levels <= n / 3:
            yield Predictor((name,), f"the first digits of {name}", codes, n_levels)


def _text_starts(column: ReleasedColumn) -> Iterator[Predictor]:
    labels = column.labels()
    n, before = len(column.codes), 1
    for length in range(1, LONGEST_START + 1):
        starts: dict[str, int] = {}
        of_level = np.array([0, *(starts.setdefault(label[:length], len(starts) + 1) for label in labels)], np.int32)
        if len(starts) > n / 3:
            return
        if len(starts) > before:
            yield Predictor((column.name,), f"the first letters of {column.name}", of_level[column.codes], len(starts))
        before = len(starts)
