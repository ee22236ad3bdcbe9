"""By how much a release moves weighted totals, means and the counts of large levels: each file with its own weights."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sdckit.cells.pair import Pair, open_pair
from sdckit.cells.plans.pair_sums import NumberSums, check_numbers, total_numbers
from sdckit.cells.plans.pair_tables import pair_tables
from sdckit.cells.shared_coding import SharedCoding
from sdckit.data import columns, frames
from sdckit.numerics.array_types import Floats

BEYOND = 0.05  # change from which on documents warn, and recipes to start from leave weights alone; our choice
MOST_LEVELS = 3  # of a key
FEWEST_RECORDS = 50  # of a level
Counts = Callable[[int], Sequence[tuple[float, float]]]


@dataclass(frozen=True)
class MovedFigure:
    """A total, mean or count of which a release gives another value.

    `figure`: "total", "mean" or "count", of a `level` of a key; `change`: relative to the original's, of the release
    that moves it most; `n`: its records in the original; `largest`: the largest share of one record in it.
    """

    variable: str
    level: str
    figure: str
    change: float
    n: int
    largest: float


def moved_figures(
    pair: Pair, *, weight: str | None, numeric: Sequence[str], keys: Sequence[str]
) -> tuple[MovedFigure, ...]:
    """Compare weighted totals and means of numbers, and the weighted counts of the largest levels of keys.

    Numbers are those of the original as collected, levels those of the original recoded as the release is. Without a
    `weight` every record counts 1. Totals and counts that are 0 or of files of different size without weights are left
    out. Raises DataError: a column holds no numbers.

    >>> import polars as pl
    >>> from sdckit.cells.pair import open_files
    >>> original = pl.DataFrame({"pay": [10.0, 10.0, 100.0], "w": [3.0, 3.0, 1.0]})
    >>> release = original.with_columns(w=pl.lit(7 / 3))
    >>> total, mean = moved_figures(open_files(original, release), weight="w", numeric=["pay"], keys=[])
    >>> total.figure, round(total.change, 2), round(total.largest, 2), round(mean.change, 2)
    ('total', 0.75, 1.46, 0.75)
    """
    if any(map(frames.is_lazy, pair.frames)):
        return _of_plans(pair, weight, numeric, keys)
    if pair.plans:
        numbers = {"numeric": [name for name in (weight, *numeric) if name]}
        raw = pair.raw if pair.source is None else None
        first = pair.plans[0] if raw is None else pair.original  # recoded here, beside what was collected
        whole = (first, [*pair.plans[1:]]) if pair.source is None else (pair.source,)
        pair = open_pair(*whole, categories={"keys": keys}, numeric=numbers)
        pair = pair if raw is None else replace(pair, raw=raw)
    weights = _of_files(pair, weight) if weight else None
    sums = weight is not None or all(size == pair.n for size in pair.sizes)
    figures: list[MovedFigure] = []
    for name in numeric:
        figures += _of_number(name, _sums_of(_of_files(pair, name), weights), sums=sums)
    for name in keys if sums else ():
        figures += _of_levels(name, pair.codes(name), _counts_of(pair.codes(name), weights))
    return tuple(figure for figure in figures if math.isfinite(figure.change))


def _of_plans(pair: Pair, weight: str | None, numeric: Sequence[str], keys: Sequence[str]) -> tuple[MovedFigure, ...]:
    """The same of plans: their engines add up."""
    sums, figures = weight is not None or all(size == pair.n for size in pair.sizes), []
    held = [name for name in (weight, *numeric) if name is not None]
    collected = pair if pair.raw is None else replace(pair, original=pair.raw, memo={})
    check_numbers(collected, held)
    for name, of_files in zip(numeric, frames.built(lambda: total_numbers(collected, numeric, weight)), strict=True):
        figures += _of_number(name, of_files, sums=sums)
    if sums and keys:
        tables = frames.built(lambda: pair_tables(pair, keys, "keys"))
        codings = [tables.coding(name) for name in keys]
        counts = frames.built(lambda: tables.level_totals(codings, weight))
        for coding, of_key in zip(codings, counts, strict=True):
            figures += _of_levels(coding.name, coding, of_key)
    return tuple(figure for figure in figures if math.isfinite(figure.change))


def _of_files(pair: Pair, name: str) -> list[Floats]:
    """A column as numbers, in the original as collected and in the releases."""
    numbers = list(pair.numbers(name))
    if pair.raw is not None:
        numbers[0] = columns.float_values(pair.raw.get_column(name), name)
    return numbers


def _sums_of(numbers: Sequence[Floats], weights: Sequence[Floats] | None) -> list[NumberSums]:
    """Sums of a number in each file, weighted if there are `weights`."""
    weighed = numbers if weights is None else [own * weight for own, weight in zip(numbers, weights, strict=True)]
    known = [~np.isnan(own) for own in weighed]
    if weights is None:
        bases = [float(np.count_nonzero(there)) for there in known]
    else:
        bases = [float(weight[there].sum()) for weight, there in zip(weights, known, strict=True)]
    return [
        NumberSums(int((~np.isnan(own)).sum()), float(part.sum()), base, float(np.abs(part).max(initial=0.0)))
        for own, part, base in zip(numbers, map(np.nan_to_num, weighed), bases, strict=True)
    ]


def _of_number(name: str, of_files: Sequence[NumberSums], *, sums: bool) -> list[MovedFigure]:
    """Totals and means of a number."""
    totals = [of_file.total for of_file in of_files]
    means = [of_file.total / of_file.base if of_file.base else math.nan for of_file in of_files]
    n, largest = of_files[0].n, _share_of_one([of_file.largest for of_file in of_files], totals[0])
    named = [*([("total", totals)] if sums else []), ("mean", means)]
    return [MovedFigure(name, "", figure, _worst_change(values), n, largest) for figure, values in named]


def _counts_of(coding: SharedCoding, weights: Sequence[Floats] | None) -> Counts:
    """The function that counts the records of a level in each file, weighted if there are `weights`."""

    def counts(code: int) -> list[tuple[float, float]]:
        if weights is None:
            return [(float(of_file[code]), 1.0) for of_file in coding.counts]
        parts = [np.nan_to_num(weight[codes == code]) for codes, weight in zip(coding.codes, weights, strict=True)]
        return [(float(part.sum()), float(np.abs(part).max(initial=0.0))) for part in parts]

    return counts


def _of_levels(name: str, coding: SharedCoding, counts_of: Counts) -> list[MovedFigure]:
    """Counts of the largest levels that every file has; `counts_of`: of a level by file, with its largest weight."""
    records = coding.counts[0]
    shared = np.min(coding.counts, axis=0) > 0
    large = [code for code in range(1, len(records)) if records[code] >= FEWEST_RECORDS and shared[code]]
    chosen = sorted(large, key=lambda code: (-((int(records[code]) + 2) // 5), coding.label(code)))[:MOST_LEVELS]
    figures = []
    for code in chosen:
        counts, most = zip(*counts_of(code), strict=True)
        figures.append(
            MovedFigure(
                name, coding.label(code), "count", _worst_change(counts), int(records[code]),
                _share_of_one(most, counts[0]),
            )
        )  # fmt: skip
    return figures


def _worst_change(values: Sequence[float]) -> float:
    """Change of the release furthest from the original's value, relative to it; NaN where that is 0."""
    if not values[0]:
        return math.nan
    return max(((value - values[0]) / abs(values[0]) for value in values[1:]), key=abs)


def _share_of_one(largest: Sequence[float], total: float) -> float:
    """Largest contribution of one record in any file, as a share of the original's total."""
    return max(largest) / abs(total) if total else math.inf
