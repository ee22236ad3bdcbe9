"""Published sums beside the values that a release shows: in whole units, and as relations of what is hidden."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from sdckit.numerics.array_types import Bools, Floats, Ints

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
    for one in sums:
        places = range(len(one.axes))
        for kept in (kept for size in range(len(one.axes), 0, -1) for kept in combinations(places, size)):
            rest = tuple(axis for axis in places if axis not in kept)
            own = _Margin(one.lower.sum(axis=rest), one.upper.sum(axis=rest), (one.number,), not rest)
            key = (one.of, tuple(one.axes[axis] for axis in kept))
            found[key] = _joined(found[key], own) if key in found else own
    return found


def _joined(one: _Margin, other: _Margin) -> _Margin:
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
        cells, low, high, at, here = _left(margin, of, own, shown, possible)
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


def _left(
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
