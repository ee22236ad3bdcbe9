"""Numbers that follow from other numbers of the same record: copies, scales, sums and parts, products."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sdckit.numerics.array_types import Floats

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
                parts = [np.where(one > 0, np.log(np.where(one > 0, one, 1.0)), np.nan) for one in parts]
        found = self.constant + sum(f * one for f, one in zip(self.factors, parts, strict=True))
        return np.exp(found) if self.logs else np.asarray(found)


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
    present = [
        other for other in others if np.count_nonzero(known & ~np.isnan(numbers[other])) >= known.sum() / 2
    ]
    design = {other: numbers[other] for other in present}
    if logs:
        if (y[known] <= 0).any():
            return None
        design = {other: x for other, x in design.items() if (x[known & ~np.isnan(x)] > 0).all()}
        with np.errstate(invalid="ignore", divide="ignore"):
            design = {other: np.log(x) for other, x in design.items()}
            y = np.log(y)
    names = list(design)
    if len(names) < 2 or (found := _fit(y, [design[one] for one in names])) is None:
        return None
    for other in list(names):  # the fewest that suffice: collinear columns share their factors
        fewer = [one for one in names if one != other]
        if len(fewer) >= 1 and (less := _fit(y, [design[one] for one in fewer])) is not None:
            names, found = fewer, less
    return None if len(names) < 2 else Relation(tuple(names), float(found[0]), found[1:], logs)


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
    spread, range_ = (float(np.quantile(one, 0.95) - np.quantile(one, 0.05)) for one in (low, x))
    best: Offset | None = None
    for slope in SLOPES:
        if abs(slope) * range_ < max(NARROWEST * usual, spread / 2):
            continue  # x hardly moves y: any range that nearly all share would do
        above, below = float((low - slope * x).max()), float((high - slope * x).min())
        # where no one offset fits all, it is at least as uncertain as the two ends are apart
        found = Offset(slope, min(above, below), max(above, below))
        open_ = found.high - found.low
        limit = WIDEST * usual if usual > 0 else WIDEST * spread / 5
        if open_ <= limit and (best is None or open_ < best.high - best.low):
            best = found
    return best


def _fit(y: Floats, parts: list[Floats]) -> Floats | None:
    """Constant and factors where the fit is exact; judged on all records, estimated on some."""
    use = np.isfinite(y) & np.logical_and.reduce([np.isfinite(one) for one in parts])
    rows = np.flatnonzero(use)
    if len(rows) < FEWEST + 2 * len(parts):
        return None
    some = rows[:: max(1, len(rows) // SAMPLE)]
    matrix = np.column_stack([one[some] for one in parts])
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
    fitted = constant + np.column_stack([one[rows] for one in parts]) @ factors
    return np.concatenate([[constant], factors]) if _is_exact(y[rows], fitted) else None


def _is_exact(y: Floats, fitted: Floats) -> bool:
    size = np.abs(y)
    return bool(
        (np.abs(y - fitted) <= np.maximum(EXACT * size, ROUNDING * max(float(size.max()), 1e-300))).all()
    )


def _by_chance(y: Floats) -> bool:
    """Whether a column with the same shares of values could well agree with all of these."""
    shares = np.unique(y, return_counts=True)[1] / len(y)
    return len(y) * math.log(float((shares**2).sum())) > CHANCE


def _few_values(values: Floats) -> bool:
    known = values[~np.isnan(values)]
    return len(known) == 0 or len(np.unique(known[:SAMPLE])) < FEWEST_VALUES
