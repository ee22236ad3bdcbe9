"""Categories that are told by sums of others: a reference category by its dummies, an item by the number of items."""

from collections.abc import Mapping, Sequence

import numpy as np

from sdckit.attacks.recovery.derived_columns import PER_TERM, fits_some
from sdckit.attacks.recovery.reconstruction_rules import FEW_PARTS, Reconstruction
from sdckit.attacks.recovery.touched_cells import ReleasedColumn
from sdckit.numerics.array_types import Bools, Codes, Floats, Ints

FIRST = 2000  # complete records to which a sum is fitted, before it is held against all
PER_COLUMN = 10  # records per column, below which a sum is no evidence
FEWEST_OF_KIND = 10  # records that have the category, and that have not
PRESENT = 0.8  # share of the records that have a value of a column that takes part
EXACT, LOOSELY = 1e-6, 1e-3  # in all records, and in some, where the sum is fitted to these alone


def by_indicators(state: Reconstruction, columns: Mapping[str, ReleasedColumn]) -> None:
    """Reconstruct a category that is an exact sum of other columns, where those of two values are read as 0 and 1."""
    levels = np.flatnonzero(state.shares)
    if not (1 < len(levels) <= FEW_PARTS and state.open.any()):
        return
    read = {name: numbers for name, numbers in _numbers(columns).items() if name != state.name}
    candidates = _candidates(state.known, levels, list(read.values())) if len(read) > 1 else levels[:0]
    if not len(candidates):
        return
    beside = {name: single[codes] for name, (codes, single) in read.items()}
    codes = np.zeros(len(state.known), np.int32)
    for level in candidates:
        own = np.where(state.known > 0, (state.known == level).astype(np.float64), np.nan)
        names, values = _exact_sum(own, beside)
        if not names:
            continue
        with np.errstate(invalid="ignore"):
            codes[np.abs(values - 1) < EXACT] = level
            if len(levels) == 2:
                codes[np.abs(values) < EXACT] = levels[levels != level][0]
        state.restore_codes(codes > 0, codes, names, f"a sum of {', '.join(names)}", "column")


_Numbers = tuple[Codes, Floats]  # the codes of the records, and the number of each code


def _numbers(columns: Mapping[str, ReleasedColumn]) -> dict[str, _Numbers]:
    """Columns as numbers, those of two categories as 0 and 1; without those that many records lack."""
    numbers = {}
    for name, column in columns.items():
        single = np.array([np.nan, 0.0, 1.0]) if column.ends is None and column.n_levels == 2 else column.single
        if single is not None and column.sizes[~np.isnan(single)].sum() / len(column.codes) >= PRESENT:
            numbers[name] = column.codes, single
    return numbers


def _candidates(known: Codes, levels: Ints, numbers: Sequence[_Numbers]) -> Ints:
    """The levels that are an exact sum in the first complete records, all fitted at once: mostly none."""
    for stop in (4 * FIRST, len(known)):
        there = known[:stop] > 0
        for codes, single in numbers:
            there &= ~np.isnan(single)[codes[:stop]]
        rows = np.flatnonzero(there)[:FIRST]
        if len(rows) == FIRST:
            break
    if len(rows) < PER_COLUMN * (len(numbers) + 1):
        return levels[:0]
    of_row = known[rows]
    count = np.bincount(of_row, minlength=int(levels[-1]) + 1)[levels]
    levels = levels[np.minimum(count, len(rows) - count) >= FEWEST_OF_KIND]
    terms = _terms([single[codes[rows]] for codes, single in numbers])[0]
    kinds = (of_row[:, None] == levels).astype(np.float64)
    if not fits_some(*_some_of_each(of_row, terms, kinds), LOOSELY).any():
        return levels[:0]
    rest = terms @ np.linalg.lstsq(terms, kinds, rcond=None)[0] - kinds
    exact: Ints = levels[np.abs(rest).max(axis=0) <= EXACT]
    return exact


def _complete(there: Bools, columns: Sequence[Floats]) -> Ints:
    """The first rows that have all values."""
    for numbers in columns:
        there = there & ~np.isnan(numbers)
    return np.flatnonzero(there)[:FIRST]


def _terms(columns: Sequence[Floats]) -> tuple[Floats, list[float]]:
    """A constant and the columns, each over its largest size; and these sizes."""
    scales = [float(np.abs(numbers).max()) or 1.0 for numbers in columns]
    scaled = [numbers / by for numbers, by in zip(columns, scales, strict=True)]
    return np.column_stack([np.ones(len(columns[0])), *scaled]), scales


def _some_of_each(kind: Ints | Codes, terms: Floats, numbers: Floats) -> tuple[Floats, Floats]:
    """The terms and numbers of the first records of each kind, of all together four for each term or more."""
    order, size = np.argsort(kind, kind="stable"), np.bincount(kind)
    place = np.arange(len(order)) - np.repeat(np.cumsum(size) - size, size)
    some = order[place < max(PER_TERM, PER_TERM * terms.shape[1] // int(np.count_nonzero(size)))]
    return terms[some], numbers[some]


def _exact_sum(own: Floats, beside: Mapping[str, Floats]) -> tuple[tuple[str, ...], Floats]:
    """The fewest columns of which the numbers are an exact sum of multiples, and that sum; none where there is none."""
    names = list(beside)
    if (values := _fitted(own, [beside[name] for name in names])) is None:
        return (), own
    for name in beside:
        fewer = [other for other in names if other != name]
        if fewer and (less := _fitted(own, [beside[other] for other in fewer])) is not None:
            names, values = fewer, less
    return tuple(names), values


def _fitted(own: Floats, columns: Sequence[Floats]) -> Floats | None:
    """The sum fitted to the first complete records, of all; None where it is not exact."""
    rows = _complete(~np.isnan(own), columns)
    if min(own[rows].sum(), (1 - own[rows]).sum()) < FEWEST_OF_KIND:
        return None
    terms, scales = _terms([numbers[rows] for numbers in columns])
    if not fits_some(*_some_of_each(own[rows].astype(np.int64), terms, own[rows]), LOOSELY):
        return None
    factors = np.linalg.lstsq(terms, own[rows], rcond=None)[0]
    if np.abs(terms @ factors - own[rows]).max() > EXACT:
        return None
    values = np.full(len(own), factors[0])
    for numbers, factor, by in zip(columns, factors[1:], scales, strict=True):
        values += factor * (numbers / by)
    return values if np.nanmax(np.abs(values - own)) <= EXACT else None
