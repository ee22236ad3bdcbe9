"""F8: the same regression on the original and on each of its releases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from sdckit.cells.pair import Pair, open_files, open_pair
from sdckit.cells.plans.model_cells import ModelCells, model_cells, outcome_cells
from sdckit.data import arguments, formula_text, frames
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ColumnError, DataError, sure
from sdckit.numerics.array_types import Floats, Ints
from sdckit.utility import comparison
from sdckit.utility.comparison import CompareKind, FileEstimates, TermComparison
from sdckit.utility.models import model_design, statistics_of_file
from sdckit.utility.models.interval_overlap import VERSIONS, Version
from sdckit.utility.models.model_design import FEWEST, RARE, Design, Mass, column_values, designs, published_text
from sdckit.utility.models.model_fits import FAMILIES, Family, fit_family, tellable

# Lack of fit: a joint test of the coefficients of the releases against those of the original.


SINGULAR = 1e-12  # a smaller eigenvalue may be what rounding left
DRAWN = ("full", "proper")  # kinds that draw parameters before records: the releases vary more


def lack_of_fit(
    original: FileEstimates, released: Sequence[FileEstimates], *, kind: CompareKind, ratio: float,
    notes: dict[str, str],
) -> dict[str, float]:  # fmt: skip
    """Test the hypothesis that the releases' mean coefficients differ from the original's by chance only.

    Both have covariances. `kind`: "partial" and "imputed" compare with the variation between the releases
    (Hotelling), others with the original's covariance. `ratio`: records of a release divided by those of the
    original. `notes`: told why the test is undefined. Returns ``lack_of_fit``, ``lack_of_fit_df`` and
    ``lack_of_fit_p_value``.
    """
    from scipy.stats import chi2, f

    undefined = {"lack_of_fit": math.nan, "lack_of_fit_df": math.nan, "lack_of_fit_p_value": math.nan}
    known = np.logical_and.reduce([~np.isnan(own) for own in (original.variance, *(file.value for file in released))])
    p, m = int(known.sum()), len(released)
    if p == 0 or original.covariance is None:
        notes["lack_of_fit"] = "no term is determined in every file"
        return undefined
    values = np.array([file.value[known] for file in released])
    difference = values.mean(axis=0) - original.value[known]
    if kind in {"partial", "imputed"}:
        if m <= p:
            notes["lack_of_fit"] = f"{p} terms need more than {p} releases of partially synthetic data; there are {m}"
            return undefined
        # with masked or imputed values releases deviate by the variation between imputations alone
        spread = 1 / m if kind == "partial" else 1 + 1 / m
        statistic = _quadratic(difference, np.atleast_2d(np.cov(values.T))) / spread
        p_value = float(f.sf(statistic * (m - p) / (p * (m - 1)), p, m - p))
    else:
        share = ratio / (1 + ratio) if kind in DRAWN else ratio
        statistic = _quadratic(difference, original.covariance[np.ix_(known, known)]) * m * share
        p_value = float(chi2.sf(statistic, p))
    if math.isnan(statistic):
        notes["lack_of_fit"] = "the covariance of the coefficients is singular"
        return undefined
    if p < len(known):
        notes["lack_of_fit"] = f"of the {p} terms of {len(known)} that every file determines"
    return {"lack_of_fit": statistic, "lack_of_fit_df": float(p), "lack_of_fit_p_value": p_value}


def _quadratic(difference: Floats, covariance: Floats) -> float:
    """``d' V⁻¹ d``; NaN for a singular V."""
    size = np.sqrt(np.diag(covariance))
    if not (size > 0).all():
        return math.nan
    scaled = covariance / np.outer(size, size)
    if np.linalg.eigvalsh(scaled)[0] < SINGULAR:
        return math.nan
    d = difference / size
    return float(d @ np.linalg.solve(scaled, d))


Outcomes = tuple[tuple[Floats, ...] | None, tuple[str, ...]]  # codes of each file, names of the outcomes
MISSING_RULE = "records with a missing value in a column of the formula are left out, file by file"


# --- result -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class ModelComparison(TermComparison):
    """A regression on the original beside the same on the releases, coefficient by coefficient.

    Attributes
    ----------
    n : int
        Records of the original.
    n_terms : int
        Coefficients.
    mean_overlap, min_overlap : float
        Mean and smallest interval overlap over the coefficients; see `interval_overlap`.
    mean_standardised_difference, max_standardised_difference : float
        Mean and largest of the differences, in standard errors of the original, whatever their sign.
    sign_agreement, significance_agreement : float
        Share of the coefficients with the same sign; share of those that both intervals, or neither, tell
        from 0.
    lack_of_fit, lack_of_fit_df, lack_of_fit_p_value : float
        All differences at once: a chi-square (Hotelling's for "partial"), its degrees of freedom, and how
        often chance gives as much.
    table : frame
        A row per coefficient: ``term``, and estimate, standard error and interval from the original and from
        the releases together, ``overlap``, ``standardised_difference``, ``same_sign``,
        ``significant_original``, ``significant_released``, ``same_significance`` (1 or 0).
    by_release : frame
        A row per release: ``n_used``, ``estimate[...]`` and ``variance[...]`` of each coefficient.
    """

    measure: ClassVar[str] = "compare_models"
    figures: ClassVar[tuple[str, ...]] = (
        "n", *comparison.FIGURES, "lack_of_fit", "lack_of_fit_df", "lack_of_fit_p_value",
    )  # fmt: skip
    formula: str = ""
    told_formula: str = ""
    family: Family = "linear"
    lack_of_fit: float = math.nan
    lack_of_fit_df: float = math.nan
    lack_of_fit_p_value: float = math.nan

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "formula": self.told_formula}


# --- measure ------------------------------------------------------------------------------------------


def compare_models(
    original: Any,
    released: Any = None,
    *,
    formula: str,
    family: Family = "linear",
    weight: str | None = None,
    kind: CompareKind = "observed",
    level: float = 0.95,
    version: Version = "snoke",
    scenario: Scenario | None = None,
) -> ModelComparison:
    """Fit a regression to the original and to each release, and compare it coefficient by coefficient.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        One release, or m of equal size; rows need not belong together.
    formula : str
        ``"log(income) ~ age + C(region) + sex:age"``: columns, ``+ - * : **``, ``C()``, ``I()``, splines
        (``bs``, ``cr``), ``poly`` and functions such as ``log``. A name that is no identifier stands in
        backticks. Text columns are categories; the first level, in alphabetical order, is the base unless
        ``C(edu, contr.treatment(base="low"))`` says another.
    family : {"linear", "logistic", "poisson", "multinomial"}
        Least squares; log-odds of the second of two outcomes (in ascending order); log of an expected count;
        log-odds of each outcome against the first.
    weight : str, optional
        Survey weight; a column of every file. Standard errors are sandwich estimates then. Not for
        "multinomial".
    kind : {"observed", "partial", "full", "simple", "proper", "imputed"}
        How the releases are combined. "observed": mean of their coefficients and of their variances, scaled
        to the size of the original: what an analyst of the original could expect to see. The others, for
        inference about the population: see `combine`.
    level : float
        Coverage of the intervals, between 0 and 1.
    version : {"snoke", "drechsler_reiter", "posterior"}
        Of the overlap; see `interval_overlap`.
    scenario : Scenario, optional
        Gives the weight where it is not given here.

    Returns
    -------
    ModelComparison
        ``table``, ``forest()``, ``mean_overlap``, ``lack_of_fit``.

    Raises
    ------
    ColumnError
        The formula names a column that a file does not have.
    DataError
        A formula that cannot be read or is not finite for some rows; outcomes that do not fit the family;
        separation, or a fit that fails, on a file (named); releases of different sizes; one release with
        "partial" or "full"; weights missing or negative, or given for "multinomial".

    Notes
    -----
    Each file is fitted by statsmodels on its complete records, with one coding of categories for all. A
    term that a file does not determine (a category without records, one that follows from others) is NaN,
    and the notes name it. The standardised difference is ``(β_released - β_original) / SE_original``; with d
    all differences, V the original's covariance and k the size of a release relative to the original, the
    lack of fit is ``m k d'V⁻¹d`` with p degrees of freedom ("observed", "simple"), times ``1/(1+k)`` for
    "full" and "proper", whose parameters were drawn; for "partial" ``m d'S⁻¹d`` with S the covariance
    between m > p releases, whose p-value is Hotelling's. It tests releases drawn from models; for masked
    files only its size counts. Intervals of linear models use Student's t, others the normal distribution.

    References
    ----------
    Karr, A. F. et al. (2006). A framework for evaluating the utility of data altered to protect
    confidentiality. The American Statistician 60(3). Raab, G. M., Nowok, B. and Dibben, C. (2016). Practical
    data synthesis for large samples. Journal of Privacy and Confidentiality 7(3).

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"x": [1, 2, 3, 4, 5, 6], "y": [1.1, 1.9, 3.2, 3.9, 5.1, 5.8]})
    >>> release = survey.with_columns(y=pl.Series([1.0, 2.1, 3.0, 4.2, 4.9, 6.1]))
    >>> result = compare_models(survey, release, formula="y ~ x")
    >>> result.table["term"].to_list(), result.table["estimate_released"].round(3).to_list()
    (['Intercept', 'x'], [0.04, 1.003])
    """
    arguments.choice(family, "family", FAMILIES)
    arguments.level(level, says="is the coverage of the intervals")
    arguments.choice(version, "version", VERSIONS)
    scenario = arguments.scenario_or_none(scenario)
    arguments.column_or_none(weight, "weight")
    notes: dict[str, str] = {}
    weight = _weight(weight, family, scenario, notes)
    pair, sides, cells = _opened(original, released, formula, family, weight)
    ratio = comparison.size_ratio(pair, kind)
    weights = statistics_of_file.weights_of(pair, weight) if cells is None else None
    codes, outcomes = _outcomes(pair, sides, family)
    inside = sides if codes is None else replace(sides, columns=sides.term_columns)
    known = [np.ones(len(frame), bool) for frame in pair.frames]
    if codes is not None:
        known = [~np.isnan(code) for code in codes]
    terms, safe_terms, files = designs(pair, inside, known)
    fits = []
    for j, (label, design) in enumerate(zip(pair.names, files, strict=True)):
        outcome = _of_file(design, None if codes is None else codes[j], family, len(outcomes), label)
        given = _mass(cells, j, design.rows) if cells else None if weights is None else weights[j][design.rows]
        fitted = fit_family(family, outcome, design.matrix, given, n_outcomes=max(len(outcomes), 1), label=label)
        may = tellable(family, outcome, design.matrix, given, fitted.value)
        fits.append(replace(fitted, few=may.few, few_spread=may.few_spread, steps=may.steps))
    names = terms
    if family == "multinomial":
        names = tuple(f"{outcome}: {term}" for outcome in outcomes[1:] for term in terms)
        shown = _published_outcomes(pair, sides, outcomes)
        safe_terms = tuple(f"{outcome}: {term}" for outcome in shown[1:] for term in safe_terms)
    comparison.note_left_out(notes, pair, [fit.n_used for fit in fits])
    _note_absent(notes, pair, safe_terms, fits)
    comparison.note_identical(notes, pair, sides.columns)
    compared = comparison.compare_terms(
        names, fits[0], fits[1:], labels=pair.names[1:], kind=kind, level=level, version=version, ratio=ratio,
        notes=notes, told=safe_terms,
    )  # fmt: skip
    compared.update(lack_of_fit(fits[0], fits[1:], kind=kind, ratio=ratio, notes=notes))
    return ModelComparison(
        pair, missing_rule=MISSING_RULE, notes=notes, kind=kind, level=level, n=pair.n, formula=formula,
        family=family, told_formula=published_text(formula, _common(pair, sides)), **compared,
    )  # fmt: skip


def _weight(weight: str | None, family: Family, scenario: Scenario | None, notes: dict[str, str]) -> str | None:
    if family == "multinomial":
        if weight is not None:
            raise DataError("the multinomial model takes no weights; leave weight= out")
        if scenario is not None and scenario.weight is not None:
            notes["weight"] = "the multinomial model takes no weights"
        return None
    return weight if weight is not None or scenario is None else scenario.weight


def _opened(
    original: Any, released: Any, formula: str, family: Family, weight: str | None
) -> tuple[Pair, formula_text.Sides, ModelCells | None]:
    """Open the files with the columns of the formula, numbers as numbers and others as categories; plans as cells."""
    opened = open_files(original, released)
    schema = opened.original.collect_schema()
    sides = formula_text.read_formula(formula, schema.names())
    numeric = [name for name in sides.columns if schema[name].is_numeric()]
    for file, label in zip(opened.released, opened.names[1:], strict=False):
        types = {name: str(kind).partition("(")[0] for name, kind in file.collect_schema().items()}
        if recoded := [name for name in numeric if types.get(name) in ("String", "Categorical", "Enum")]:
            raise DataError(
                f"{label}: numeric column of the formula {recoded[0]!r} is text or categories, not numbers; where it "
                "was recoded, recode the original alike and compare that",
                argument="formula",
            )
    others = [name for name in sides.columns if name not in numeric]
    wanted: Any = {
        "categories": {"formula": others}, "numeric": {"numeric column of the formula": numeric},
    }  # fmt: skip
    cells = None
    if family != "multinomial" and not formula_text.learns_from_records(formula):
        cells = frames.built(lambda: _cells(opened, sides, family, weight))
    if cells is not None:
        return open_pair(cells.pair, **wanted), sides, cells
    if weight is not None:
        wanted["numeric"]["weight"] = (weight,)
    return open_pair(opened, **wanted), sides, None


def _cells(opened: Pair, sides: formula_text.Sides, family: Family, weight: str | None) -> ModelCells | None:
    outcome = sides.outcome_column
    if family == "linear" and outcome is not None and outcome not in sides.term_columns:
        cells = outcome_cells(opened, outcome, sides.term_columns, weight)
        if cells is not None:
            return cells
    return model_cells(opened, sides.columns, weight)


def _mass(cells: ModelCells, j: int, rows: Ints) -> Mass:
    """What some cells of a file stand for."""
    times = sure(cells.pair.times)[j][rows]
    within = None if cells.within is None else cells.within[j].take(rows)
    if cells.weights is None:
        return replace(Mass.counted(times), within=within)
    own = cells.weights[j]
    mass = Mass(int(times.sum()), own.records, own.total, own.squares, own.tops, True).take(rows)
    return replace(mass, within=within)


def _outcomes(pair: Pair, sides: formula_text.Sides, family: Family) -> Outcomes:
    """Outcome codes in each file where the outcome is a column, and the names of its levels.

    Without a column (the left side is an expression) the first is None.
    """
    name = sides.outcome_column
    if name is None:
        if family == "multinomial":
            raise ColumnError(
                "formula: the outcome of a multinomial model must be a column; make one first", argument="formula"
            )
        return None, ()
    if family in {"linear", "poisson"}:
        values = column_values(pair, name)
        if not all(isinstance(value, np.ndarray) for value in values):
            raise DataError(
                f"formula: {name!r} holds categories; a {family} model needs numbers on the left", argument="formula"
            )
        return values, ()
    shared = pair.codes(name)
    if family == "logistic" and shared.n_levels != 2:
        raise DataError(
            f"formula: {name!r} takes {shared.n_levels} different values; a logistic model needs two, missing ones "
            "apart",
            argument="formula",
        )
    if not 2 <= shared.n_levels <= max(2, len(shared.codes[0]) // 2):
        raise DataError(
            f"formula: {name!r} takes {shared.n_levels} different values; it is no outcome of a model",
            argument="formula",
        )
    return tuple(np.where(code == 0, np.nan, code - 1.0) for code in shared.codes), tuple(shared.labels()[1:])


def _of_file(design: Design, codes: Floats | None, family: Family, n_outcomes: int, label: str) -> Floats:
    """Outcome of the records used, checked against the family."""
    outcome = sure(design.outcome) if codes is None else codes[design.rows]  # without a column there is an expression
    if (np.abs(outcome) > model_design.FURTHEST).any():
        raise DataError(f"{label}: the outcome has numbers beyond 1e150; limit them, or make them missing")
    if family == "poisson" and (outcome < 0).any():
        raise DataError(f"{label}: the outcome of a poisson model is a count, but some are negative")
    if family == "logistic" and codes is None and not np.isin(outcome, (0.0, 1.0)).all():
        raise DataError(f"{label}: the left side of a logistic model must be 0 or 1, or true or false")
    if family in {"logistic", "multinomial"}:
        wanted = 2 if family == "logistic" else n_outcomes
        if (present := len(np.unique(outcome))) < wanted:
            raise DataError(
                f"{label}: only {present} of {wanted} outcomes occur among its complete records: the {family} model "
                "has no finite estimate"
            )
    return outcome


def _common(pair: Pair, sides: formula_text.Sides) -> frozenset[str]:
    """Values of the columns of the formula that five or more records of the original have."""
    common: set[str] = set()
    for name in sides.columns:
        if ("codes", name) in pair.memo:
            shared = pair.codes(name)
            counts = shared.counts[0, 1:].tolist()
            common |= {label for label, n in zip(shared.labels()[1:], counts, strict=True) if n >= FEWEST}
    return frozenset(common)


def _published_outcomes(pair: Pair, sides: formula_text.Sides, outcomes: Sequence[str]) -> list[str]:
    # a multinomial model has a column of outcomes
    counts = np.bincount(pair.codes(sure(sides.outcome_column)).codes[0], minlength=len(outcomes) + 1)[1:]
    return [outcome if n >= FEWEST else f"({RARE})" for outcome, n in zip(outcomes, counts.tolist(), strict=True)]


def _note_absent(notes: dict[str, str], pair: Pair, names: Sequence[str], fits: Sequence[Any]) -> None:
    for label, fit in zip(pair.names, fits, strict=True):
        if absent := [name for name, value in zip(names, fit.value, strict=True) if math.isnan(value)]:
            shown = ", ".join(absent[:5]) + (f" and {len(absent) - 5} more" if len(absent) > 5 else "")
            notes[f"terms of {label}"] = f"not determined (no records, or they follow from others): {shown}"
