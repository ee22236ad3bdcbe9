"""F8: the same estimate from the original and from each of its releases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from sdckit.cells.pair import Pair, open_files, open_pair
from sdckit.data import arguments
from sdckit.data.frames import is_lazy
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError, ScenarioError
from sdckit.utility import comparison
from sdckit.utility.comparison import CompareKind, TermComparison
from sdckit.utility.models.interval_overlap import VERSIONS, Version
from sdckit.utility.models.statistics_of_file import (
    NAMED,
    Statistic,
    called_estimates,
    named_estimates,
    names_of_levels,
)
from sdckit.utility.models.statistics_of_plans import plan_estimates

# --- result -------------------------------------------------------------------------------------------


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
    statistic: Statistic | Callable[[Any], Any],
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
    if not callable(statistic) and statistic not in NAMED:
        raise DataError(
            f"statistic {statistic!r} is unknown; use {', '.join(map(repr, NAMED))}, or a function of a file",
            argument="statistic",
        )
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
        names, files = called_estimates(pair, statistic)
        safe_names = [f"estimate {j + 1}" for j in range(len(names))]
    else:
        if statistic == "total" and weight is None and ratio != 1:
            raise DataError(
                f"the original has {pair.n} rows and a release {pair.sizes[0]}: a total without weights only tells "
                "that; give weight=, or use statistic='mean'"
            )
        columns = _variables(variables, scenario)
        if of_plans is None:
            names, files = named_estimates(pair, statistic, columns, weight, probability, level)
            safe_names = list(names)
            if statistic == "proportion":
                safe_names = [safe for name in columns for safe in names_of_levels(pair.codes(name))[1]]
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
    opened: Pair, statistic: Statistic | Callable[[Any], Any], variables: Sequence[str] | None, weight: str | None,
    scenario: Scenario | None,
) -> Pair:  # fmt: skip
    """Open the files with the columns used, as categories or as numbers."""
    if not callable(statistic):
        names = _variables(variables, scenario)
        counted = {"variables": names} if statistic == "proportion" else {}
        measured = {} if statistic == "proportion" else {"variables": names}
        weights = {} if weight is None else {"weight": (weight,)}
        return open_pair(opened, categories=counted, numeric={**measured, **weights})
    needed = arguments.names(variables, "variables") or ()
    if not needed and is_lazy(opened.original):
        raise DataError(
            "of a plan only the columns named are brought here: variables=[...] says which the function uses"
        )
    return open_pair(opened, categories={"variables": needed})
