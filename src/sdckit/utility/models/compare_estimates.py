"""F8: the same estimate from the original and from each of its releases.

Of files that stay on an engine, named statistics and their variance come from sums and distinct values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from sdckit.cells.pair import Pair, open_files, open_pair
from sdckit.cells.plans import count_cells, estimate_sums
from sdckit.cells.plans.pair_tables import PairTables, pair_tables
from sdckit.cells.shared_coding import SharedCoding
from sdckit.data import arguments, frames
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError, ScenarioError
from sdckit.numerics.array_types import Floats
from sdckit.utility import comparison
from sdckit.utility.comparison import CompareKind, FileEstimates, TermComparison
from sdckit.utility.models import model_design, statistics_of_file
from sdckit.utility.models.interval_overlap import VERSIONS, Version


def plan_estimates(
    pair: Pair, statistic: statistics_of_file.Statistic, variables: Sequence[str], weight: str | None, share: float,
    level: float,
) -> tuple[statistics_of_file.Estimates, list[str]] | None:  # fmt: skip
    """As `named_estimates` of files in memory, with the published names; None where their columns must come here.

    That is where a file is in memory, a column holds no numbers, or a quantile has more different values than fit.
    """
    numbers = [] if statistic == "proportion" else list(variables)
    if not estimate_sums.are_numbers(pair, [*numbers, *([] if weight is None else [weight])]):
        return None
    if any(name not in frames.column_names(frame) for frame in pair.frames for name in variables):
        return None
    if weight is not None:
        frames.built(lambda: estimate_sums.check_weights(pair, weight))
    if statistic == "proportion":
        return _proportions(pair, variables, weight)
    rows: list[list[statistics_of_file.Judged]]
    if statistic == "quantile":
        try:
            found = frames.built(lambda: estimate_sums.distinct_values(pair, variables, weight))
        except count_cells.TooManyCellsError:
            return None
        rows = [[_quantile(of, weight is not None, share, level) for of in of_file] for of_file in found]
    else:
        of_sums = _total if statistic == "total" else _mean
        sums = frames.built(lambda: estimate_sums.estimate_sums(pair, variables, weight))
        rows = [[(of_sums(of), _of_few(of, weight), of.n) for of in of_file] for of_file in sums]
    names = tuple(variables)
    return (names, [_file(row) for row in rows]), list(names)


def _file(rows: Sequence[statistics_of_file.Judged]) -> FileEstimates:
    value, variance, df = np.array([row[0] for row in rows], np.float64).reshape(-1, 3).T
    flags = np.array([row[1] for row in rows], bool).reshape(-1, 2).T
    return FileEstimates(value, variance, df, max((row[2] for row in rows), default=0), None, *flags)


# Means and totals.


def _mean(of: estimate_sums.EstimateSums) -> statistics_of_file.Estimated:
    if of.n == 0 or of.weights == 0:
        return statistics_of_file.UNDEFINED
    if of.n == 1:
        return of.mean, math.nan, math.nan
    return of.mean, of.about_mean * of.n / (of.n - 1) / of.weights**2, of.n - 1.0


def _total(of: estimate_sums.EstimateSums) -> statistics_of_file.Estimated:
    if of.n < 2:
        return (of.total if of.n else math.nan), math.nan, math.nan
    return of.total, of.n * of.about_total / (of.n - 1), of.n - 1.0


def _of_few(of: estimate_sums.EstimateSums, weight: str | None) -> tuple[bool, bool]:
    """As `sum_of_few`; the records with most are asked for only where the largest does not settle it."""
    if of.used < model_design.FEWEST:
        return True, True
    few = (
        (weight is not None and statistics_of_file.heavy(of.squares, of.heaviest, of.tops["w"]))
        or (0 < of.off < model_design.FEWEST <= of.used - of.off)
        or statistics_of_file.dominated(*of.apart, of.tops["apart"], model_design.PART)
    )
    return few, few or statistics_of_file.dominated(of.about_mean, of.furthest, of.tops["about"], 2 * model_design.PART)


# Quantiles.


def _quantile(
    of: estimate_sums.DistinctValues, weighted: bool, share: float, level: float
) -> statistics_of_file.Judged:
    """As `estimate_quantile` and `quantile_of_few`."""
    n = int(of.records.sum())
    if weighted and not of.weights.any():
        return statistics_of_file.UNDEFINED, (True, True), n
    quantile = _value_at(of, weighted, share)
    if n == 1:
        return (quantile, math.nan, math.nan), (True, True), n
    z = statistics_of_file.normal_reach(level)
    spread = share * (1 - share) / (n - 1)
    if weighted:
        below, total = of.values <= quantile, float(of.weights.sum())
        p = float(of.weights[below].sum()) / total
        about = float(of.squares[below].sum()) * (1 - p) ** 2 + float(of.squares[~below].sum()) * p**2
        spread = about * n / (n - 1) / total**2
    reach = z * math.sqrt(spread)
    low, high = (_value_at(of, weighted, min(max(end, 0.0), 1.0)) for end in (share - reach, share + reach))
    few = n < model_design.FEWEST or _few_beyond(of, quantile)
    estimate = quantile, ((high - low) / (2 * z)) ** 2, math.inf
    return estimate, (few, few or _few_beyond(of, low) or _few_beyond(of, high)), n


def _value_at(of: estimate_sums.DistinctValues, weighted: bool, share: float) -> float:
    """As `quantile_of`."""
    ends = np.cumsum(of.weights if weighted else of.records)
    if weighted:
        return float(of.values[np.argmax((ends / ends[-1] >= share * (1 - 1e-12)) & (of.weights > 0))])
    place = share * (ends[-1] - 1)
    low = math.floor(place)
    two = of.values[np.searchsorted(ends, [low, min(low + 1, ends[-1] - 1)], side="right")]
    return float(np.quantile(two, place - low))


def _few_beyond(of: estimate_sums.DistinctValues, quantile: float) -> bool:
    above, below = (float(of.records[side].sum()) for side in (of.values > quantile, of.values < quantile))
    return min(above, below) < model_design.FEWEST > float(of.records[of.values == quantile].sum())


# Proportions.


def _proportions(
    pair: Pair, variables: Sequence[str], weight: str | None
) -> tuple[statistics_of_file.Estimates, list[str]]:
    tables = frames.built(lambda: pair_tables(pair, variables))
    codings = [tables.coding(name) for name in variables]
    names: list[str] = []
    published: list[str] = []
    for coding in codings:
        own, safe = statistics_of_file.names_of_levels(statistics_of_file.checked_levels(coding))
        names, published = names + own, published + safe
    weights = frames.built(lambda: tables.level_weights(codings, weight)) if weight is not None else None
    rows: list[list[statistics_of_file.Judged]] = [[] for _ in pair.names]
    for at, coding in enumerate(codings):
        for file, row in enumerate(rows):
            records = coding.counts[file].astype(np.float64)
            sums = np.array([records, records > 0, records, records]) if weights is None else weights[at][file]
            largest = partial(_largest, tables, coding, file, weight)
            row += [
                statistics_of_file.estimate_proportion(records, sums, code, largest, weighted=weight is not None)
                for code in range(1, len(records))
            ]
    return (tuple(names), [_file(row) for row in rows]), published


def _largest(
    tables: PairTables, coding: SharedCoding, file: int, weight: str | None, k: int, code: int, *, off: bool
) -> Floats:
    if weight is None:
        records = coding.counts[file]
        return np.ones(min(k, int(records[1:].sum() - records[code] if off else records[code])))
    return frames.built(lambda: tables.largest_weights(coding, file, weight, k, code, off=off))


@dataclass(frozen=True, eq=False, repr=False)
class EstimateComparison(TermComparison):
    """Estimates from the original beside those from the releases, quantity by quantity.

    Attributes
    ----------
    n : int
        Records of the original.
    n_terms : int
        Quantities estimated.
    mean_overlap, min_overlap : float
        Mean and smallest interval overlap over the quantities; see `interval_overlap`.
    mean_standardised_difference, max_standardised_difference : float
        Mean and largest of the differences, in standard errors of the original, whatever their sign.
    sign_agreement, significance_agreement : float
        Share of the quantities whose sign, and whose difference from 0, is told alike by both.
    table : frame
        A row per quantity: ``term``, and estimate, standard error and interval from the original and from
        the releases together, ``overlap``, ``standardised_difference``, ``same_sign``,
        ``significant_original``, ``significant_released``, ``same_significance`` (1 or 0).
    by_release : frame
        A row per release: ``n_used``, ``estimate[...]`` and ``variance[...]`` of each quantity.
    """

    measure: ClassVar[str] = "compare_estimates"
    figures: ClassVar[tuple[str, ...]] = ("n", *comparison.FIGURES)
    statistic: str = ""
    variables: tuple[str, ...] = ()
    weighted: bool = False


# --- measure ------------------------------------------------------------------------------------------


def compare_estimates(
    original: Any,
    released: Any = None,
    *,
    statistic: statistics_of_file.Statistic | Callable[[Any], Any],
    variables: Sequence[str] | None = None,
    probability: float = 0.5,
    weight: str | None = None,
    kind: CompareKind = "observed",
    level: float = 0.95,
    version: Version = "snoke",
    scenario: Scenario | None = None,
) -> EstimateComparison:
    """Compare means, totals, proportions, quantiles or estimates of your own between original and releases.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        One release, or m of equal size; rows need not belong together.
    statistic : {"mean", "total", "proportion", "quantile"} or function
        What is estimated. A function takes a file and gives an estimate and its variance (the squared
        standard error): two numbers, two arrays, or two mappings from names to numbers.
    variables : sequence of str
        Of which columns; every level of a column for "proportion". Not needed for a function, unless the
        files are plans: then the columns it uses.
    probability : float
        Which quantile, between 0 and 1.
    weight : str, optional
        Survey weight; a column of every file.
    kind : {"observed", "partial", "full", "simple", "proper", "imputed"}
        How the releases are combined. "observed": mean of their estimates and of their variances, scaled to
        the size of the original: what an analyst of the original could expect to see. The others, for
        inference about the population: see `combine`.
    level : float
        Coverage of the intervals, between 0 and 1.
    version : {"snoke", "drechsler_reiter", "posterior"}
        Of the overlap; see `interval_overlap`.
    scenario : Scenario, optional
        Gives the numeric variables and the weight where they are not given here.

    Returns
    -------
    EstimateComparison
        ``table``, ``forest()``, ``mean_overlap``, ``mean_standardised_difference``.

    Raises
    ------
    ColumnError
        A column that a file does not have; a function that names other quantities for a release.
    DataError
        Releases of different sizes; one release with "partial" or "full"; weights missing or negative; a
        total without weights of files of different sizes; a function that fails on a file (named) or gives
        a negative variance; a level or probability out of range.
    ScenarioError
        No variables.

    Notes
    -----
    Missing values are left out. With x̄ the weighted mean of n values, its variance is
    ``n/(n-1) Σ w²(x - x̄)² / (Σ w)²``, s²/n with equal weights; that of a total is n times the variance of
    w·x; a quantile's follows from Woodruff's interval. Quantiles are of type 7 without weights and the
    smallest value that reaches the share with them. Intervals of means, totals and proportions use
    Student's t with n - 1 degrees of freedom, others the normal distribution. A design with strata and
    clusters needs a function of your own.

    References
    ----------
    Karr, A. F. et al. (2006). A framework for evaluating the utility of data altered to protect
    confidentiality. The American Statistician 60(3). Woodruff, R. S. (1952). Confidence intervals for medians
    and other position measures. JASA 47(260).

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"income": [10.0, 20.0, 30.0, 40.0]})
    >>> release = pl.DataFrame({"income": [12.0, 20.0, 30.0, 42.0]})
    >>> result = compare_estimates(survey, release, statistic="mean", variables=["income"])
    >>> result.table["estimate_released"].to_list(), round(result.mean_overlap, 3)
    ([26.0], 0.976)
    """
    if not callable(statistic) and statistic not in statistics_of_file.NAMED:
        known = ", ".join(map(repr, statistics_of_file.NAMED))
        words = f"statistic {statistic!r} is unknown; use {known}, or a function of a file"
        raise DataError(words, argument="statistic")
    arguments.level(level, says="is the coverage of the intervals")
    arguments.choice(version, "version", VERSIONS)
    arguments.level(probability, "probability", "says which quantile")
    scenario = arguments.scenario_or_none(scenario)
    arguments.column_or_none(weight, "weight")
    if callable(statistic):
        if weight is not None:
            raise DataError("a function weighs the records itself; leave weight= out", argument="weight")
    elif weight is None and scenario is not None:
        weight = scenario.weight
    opened, of_plans = open_files(original, released), None
    if not callable(statistic):
        of_plans = plan_estimates(opened, statistic, _variables(variables, scenario), weight, probability, level)
    pair = _opened(opened, statistic, variables, weight, scenario) if of_plans is None else opened
    ratio = comparison.size_ratio(pair, kind)
    notes: dict[str, str] = {}
    columns: tuple[str, ...] = ()
    if callable(statistic):
        names, files = statistics_of_file.called_estimates(pair, statistic)
        safe_names = [f"estimate {j + 1}" for j in range(len(names))]
    else:
        if statistic == "total" and weight is None and ratio != 1:
            raise DataError(
                f"the original has {pair.n} rows and a release {pair.sizes[0]}: a total without weights only tells "
                "that; give weight=, or use statistic='mean'"
            )
        columns = _variables(variables, scenario)
        if of_plans is None:
            names, files = statistics_of_file.named_estimates(pair, statistic, columns, weight, probability, level)
            safe_names = list(names)
            if statistic == "proportion":
                safe_names = [
                    safe for name in columns for safe in statistics_of_file.names_of_levels(pair.codes(name))[1]
                ]
            comparison.note_identical(notes, pair, columns)
        else:
            (names, files), safe_names = of_plans
        comparison.note_left_out(notes, pair, [file.n_used for file in files], ", at least")
    compared = comparison.compare_terms(
        names, files[0], files[1:], labels=pair.names[1:], kind=kind, level=level, version=version, ratio=ratio,
        notes=notes, told=safe_names,
    )  # fmt: skip
    rule = "" if callable(statistic) else "missing values are left out, variable by variable"
    return EstimateComparison(
        pair, missing_rule=rule, notes=notes, kind=kind, level=level, n=pair.n, variables=columns,
        statistic="function" if callable(statistic) else statistic, weighted=weight is not None, **compared,
    )  # fmt: skip


def _variables(variables: Sequence[str] | None, scenario: Scenario | None) -> tuple[str, ...]:
    names = arguments.names(variables, "variables")
    if names is None and scenario is not None:
        names = scenario.numeric
    if not names:
        raise ScenarioError("say what is estimated: variables=[...]", argument="variables")
    return names


def _opened(
    opened: Pair, statistic: statistics_of_file.Statistic | Callable[[Any], Any], variables: Sequence[str] | None,
    weight: str | None, scenario: Scenario | None,
) -> Pair:  # fmt: skip
    """Open the files with the columns used, as categories or as numbers."""
    if not callable(statistic):
        names = _variables(variables, scenario)
        counted = {"variables": names} if statistic == "proportion" else {}
        measured = {} if statistic == "proportion" else {"variables": names}
        weights = {} if weight is None else {"weight": (weight,)}
        return open_pair(opened, categories=counted, numeric={**measured, **weights})
    needed = arguments.names(variables, "variables") or ()
    if not needed and frames.is_lazy(opened.original):
        raise DataError(
            "of a plan only the columns named are brought here: variables=[...] says which the function uses"
        )
    return open_pair(opened, categories={"variables": needed})
