"""Estimates of a named statistic with their variance in files that stay on an engine, from sums and distinct values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from sdckit.cells.pair import Pair
from sdckit.cells.plans.count_cells import TooManyCellsError
from sdckit.cells.plans.estimate_sums import (
    DistinctValues,
    EstimateSums,
    are_numbers,
    check_weights,
    distinct_values,
    estimate_sums,
)
from sdckit.cells.plans.pair_tables import PairTables, pair_tables
from sdckit.cells.shared_coding import SharedCoding
from sdckit.data.frames import built, column_names
from sdckit.numerics.array_types import Floats
from sdckit.utility.comparison import FileEstimates
from sdckit.utility.models.model_design import FEWEST, PART
from sdckit.utility.models.statistics_of_file import (
    UNDEFINED,
    Estimated,
    Estimates,
    Judged,
    Statistic,
    check_levels,
    dominated,
    estimate_proportion,
    heavy,
    names_of_levels,
    normal_reach,
)


def plan_estimates(
    pair: Pair, statistic: Statistic, variables: Sequence[str], weight: str | None, share: float, level: float
) -> tuple[Estimates, list[str]] | None:
    """As `named_estimates` of files in memory, with the published names; None where their columns must come here.

    That is where a file is in memory, a column holds no numbers, or a quantile has more different values than fit.
    """
    numbers = [] if statistic == "proportion" else list(variables)
    if not are_numbers(pair, [*numbers, *([] if weight is None else [weight])]):
        return None
    if any(name not in column_names(frame) for frame in pair.frames for name in variables):
        return None
    if weight is not None:
        built(lambda: check_weights(pair, weight))
    if statistic == "proportion":
        return _proportions(pair, variables, weight)
    rows: list[list[Judged]]
    if statistic == "quantile":
        try:
            found = built(lambda: distinct_values(pair, variables, weight))
        except TooManyCellsError:
            return None
        rows = [[_quantile(of, weight is not None, share, level) for of in of_file] for of_file in found]
    else:
        of_sums = _total if statistic == "total" else _mean
        sums = built(lambda: estimate_sums(pair, variables, weight))
        rows = [[(of_sums(of), _of_few(of, weight), of.n) for of in of_file] for of_file in sums]
    names = tuple(variables)
    return (names, [_file(row) for row in rows]), list(names)


def _file(rows: Sequence[Judged]) -> FileEstimates:
    value, variance, df = np.array([row[0] for row in rows], np.float64).reshape(-1, 3).T
    flags = np.array([row[1] for row in rows], bool).reshape(-1, 2).T
    return FileEstimates(value, variance, df, max((row[2] for row in rows), default=0), None, *flags)


# Means and totals.


def _mean(of: EstimateSums) -> Estimated:
    if of.n == 0 or of.weights == 0:
        return UNDEFINED
    if of.n == 1:
        return of.mean, math.nan, math.nan
    return of.mean, of.about_mean * of.n / (of.n - 1) / of.weights**2, of.n - 1.0


def _total(of: EstimateSums) -> Estimated:
    if of.n < 2:
        return (of.total if of.n else math.nan), math.nan, math.nan
    return of.total, of.n * of.about_total / (of.n - 1), of.n - 1.0


def _of_few(of: EstimateSums, weight: str | None) -> tuple[bool, bool]:
    """As `sum_of_few`; the records with most are asked for only where the largest does not settle it."""
    if of.used < FEWEST:
        return True, True
    few = (
        (weight is not None and heavy(of.squares, of.heaviest, of.tops["w"]))
        or (0 < of.off < FEWEST <= of.used - of.off)
        or dominated(*of.apart, of.tops["apart"], PART)
    )
    return few, few or dominated(of.about_mean, of.furthest, of.tops["about"], 2 * PART)


# Quantiles.


def _quantile(of: DistinctValues, weighted: bool, share: float, level: float) -> Judged:
    """As `estimate_quantile` and `quantile_of_few`."""
    n = int(of.records.sum())
    quantile = _value_at(of, weighted, share)
    if n == 1:
        return (quantile, math.nan, math.nan), (True, True), n
    z = normal_reach(level)
    spread = share * (1 - share) / (n - 1)
    if weighted:
        below, total = of.values <= quantile, float(of.weights.sum())
        p = float(of.weights[below].sum()) / total
        about = float(of.squares[below].sum()) * (1 - p) ** 2 + float(of.squares[~below].sum()) * p**2
        spread = about * n / (n - 1) / total**2
    reach = z * math.sqrt(spread)
    low, high = (_value_at(of, weighted, min(max(share + sign * reach, 0.0), 1.0)) for sign in (-1, 1))
    few = n < FEWEST or _few_beyond(of, quantile)
    estimate = quantile, ((high - low) / (2 * z)) ** 2, math.inf
    return estimate, (few, few or _few_beyond(of, low) or _few_beyond(of, high)), n


def _value_at(of: DistinctValues, weighted: bool, share: float) -> float:
    """As `quantile_of`."""
    ends = np.cumsum(of.weights if weighted else of.records)
    if weighted:
        return float(of.values[np.argmax(ends / ends[-1] >= share * (1 - 1e-12))])
    place = share * (ends[-1] - 1)
    low = math.floor(place)
    two = of.values[np.searchsorted(ends, [low, min(low + 1, ends[-1] - 1)], side="right")]
    return float(np.quantile(two, place - low))


def _few_beyond(of: DistinctValues, quantile: float) -> bool:
    above, below = (float(of.records[side].sum()) for side in (of.values > quantile, of.values < quantile))
    return min(above, below) < FEWEST > float(of.records[of.values == quantile].sum())


# Proportions.


def _proportions(pair: Pair, variables: Sequence[str], weight: str | None) -> tuple[Estimates, list[str]]:
    tables = built(lambda: pair_tables(pair, variables))
    codings = [tables.coding(name) for name in variables]
    names: list[str] = []
    published: list[str] = []
    for coding in codings:
        check_levels(coding)
        own, safe = names_of_levels(coding)
        names, published = names + own, published + safe
    weights = built(lambda: tables.level_weights(codings, weight)) if weight is not None else None
    rows: list[list[Judged]] = [[] for _ in pair.names]
    for at, coding in enumerate(codings):
        for file, row in enumerate(rows):
            records = coding.counts[file].astype(np.float64)
            sums = np.array([records, records > 0, records, records]) if weights is None else weights[at][file]
            largest = partial(_largest, tables, coding, file, weight)
            row += [
                estimate_proportion(records, sums, code, largest, weighted=weight is not None)
                for code in range(1, len(records))
            ]
    return (tuple(names), [_file(row) for row in rows]), published


def _largest(
    tables: PairTables, coding: SharedCoding, file: int, weight: str | None, k: int, code: int, *, off: bool
) -> Floats:
    if weight is None:
        records = coding.counts[file]
        others = int(records[1:].sum() - records[code])
        return np.ones(min(k, others if off else int(records[code])))
    return built(lambda: tables.largest_weights(coding, file, weight, k, code, off=off))
