"""F1: how well a model tells released records from original ones (pMSE and related figures)."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from sdckit.cells.pair_result import PairResult, mean_figures
from sdckit.data import arguments
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError
from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.threads import linear_algebra, n_threads, run
from sdckit.utility.chosen_variables import Chosen, chosen_variables
from sdckit.utility.propensities import classifiers
from sdckit.utility.propensities.classifiers import ALIGNED, Stacked, Tree
from sdckit.utility.propensities.logit_fit import Design, fit_logit, lost_without, start_of
from sdckit.utility.tables.table_counts import sums_by_score

# The terms of a logistic model of membership.


COLUMNS = 4_000  # most columns of a design: their cross products must fit into memory


@dataclass(frozen=True, eq=False)
class Terms:
    """Products of atoms, the intercept first.

    `atoms`: of each term. `offset` and `width` (n_terms,): first column and number of columns of each term.
    """

    atoms: tuple[tuple[int, ...], ...]
    offset: Ints
    width: Ints

    @property
    def n_columns(self) -> int:
        """Columns of the design."""
        return int(self.width.sum())

    def variables(self, stacked: Stacked) -> list[frozenset[str]]:
        """The variables in the term of each column."""
        made = [frozenset(stacked.atoms[a].variable for a in atoms) for atoms in self.atoms]
        return [made_of for made_of, width in zip(made, self.width.tolist(), strict=True) for _ in range(width)]

    def labels(self, stacked: Stacked) -> list[str]:
        """The printed form of each column."""
        labels = []
        for atoms in self.atoms:
            parts = [[stacked.atoms[a].variable + label for label in stacked.atoms[a].labels] for a in atoms]
            labels += [":".join(combination) for combination in itertools.product(*parts)] if atoms else ["(intercept)"]
        return labels


def design_of(stacked: Stacked, interactions: int) -> tuple[Design, Terms]:
    """The design of all products of atoms of up to `interactions` different variables.

    Raises DataError: it has too many columns.

    >>> from sdckit.utility.propensities.classifiers import Atom
    >>> codes = np.array([[0, 1, 1], [0, 1, 2]], np.int32)
    >>> atoms = (Atom("x", "level", ("=b",), 0), Atom("y", "level", ("=q", "=r"), 1))
    >>> one = np.ones(3)
    >>> design, terms = design_of(Stacked(atoms, codes, np.empty((0, 3)), one, one, ()), 2)
    >>> terms.labels(Stacked(atoms, codes, np.empty((0, 3)), one, one, ()))
    ['(intercept)', 'x=b', 'y=q', 'y=r', 'x=b:y=q', 'x=b:y=r']
    """
    atoms = range(len(stacked.atoms))
    order = max(1, min(interactions, len(stacked.atoms)))
    widths = [len(atom.labels) for atom in stacked.atoms]
    n_columns = sum(_elementary(widths, order))
    if n_columns > COLUMNS:
        most = max(stacked.atoms, key=lambda atom: len(atom.labels))
        raise DataError(
            f"the model would have {n_columns} coefficients, more than {COLUMNS}: {most.variable!r} alone has "
            f"{len(most.labels) + 1} levels; leave it out by variables=[...], give numeric=[...] for numbers, group "
            "levels, or lower interactions="
        )
    terms = tuple(term for o in range(order + 1) for term in itertools.combinations(atoms, o))
    width = np.array([math.prod(widths[a] for a in term) for term in terms], np.int64)
    offset = np.concatenate([[0], np.cumsum(width)[:-1]]).astype(np.int64)
    filled = np.full((len(terms), order), -1, np.int64)
    for t, term in enumerate(terms):
        filled[t, : len(term)] = term
    of_value = [atom.kind == "value" for atom in stacked.atoms]
    design = Design(
        codes=stacked.codes,
        values=stacked.values,
        slot=np.array([atom.slot for atom in stacked.atoms], np.int64),
        width=np.array([0 if value else w for w, value in zip(widths, of_value, strict=True)], np.int64),
        terms=filled,
        offset=offset,
        n_columns=int(width.sum()),
    )
    return design, Terms(terms, offset, width)


def _elementary(widths: Sequence[int], order: int) -> list[int]:
    """Elementary symmetric polynomials of the widths, of degree 0 to `order`."""
    sums = [1] + [0] * order
    for width in widths:
        for o in range(order, 0, -1):
            sums[o] += width * sums[o - 1]
    return sums


# Figures of how well scores separate released records from original ones.


DIGITS = 12  # decimals to which equal scores agree


def mean_squared_error(score: Floats, original: Floats, released: Floats) -> float:
    """Mean squared distance of the scores from the share of released records (pMSE).

    >>> mean_squared_error(np.array([0.25, 0.75]), np.array([3.0, 1.0]), np.array([1.0, 3.0]))
    0.0625
    """
    total = original + released
    n = float(total.sum())
    c = float(released.sum()) / n
    return float(total @ (score - c) ** 2) / n


def score_figures(score: Floats, original: Floats, released: Floats) -> dict[str, float]:
    """All figures of one release.

    `score` (n_rows,): predicted probability of being released. `original` and `released` (n_rows,): records of each
    file with this score. Returns ``pmse``, ``specks``, ``po50``, ``u``, ``auc``.

    >>> found = score_figures(np.array([0.25, 0.75]), np.array([3.0, 1.0]), np.array([1.0, 3.0]))
    >>> found["specks"], found["po50"], found["u"], found["auc"]
    (0.5, 0.25, 12.0, 0.75)
    """
    n, n_released = float(original.sum()), float(released.sum())
    scores, of_original, of_released = sums_by_score(np.round(score, DIGITS), original, released)
    below = np.cumsum(of_original)
    apart = np.abs(below / n - np.cumsum(of_released) / n_released)
    u = math.fsum((of_released * (below - of_original / 2)).tolist())
    above = scores > 0.5
    right = float(of_released[above].sum() + of_original[~above].sum())
    return {
        "pmse": mean_squared_error(score, original, released),
        "specks": float(apart.max()),
        "po50": right / (n + n_released) - 0.5,
        "u": u,
        "auc": u / (n * n_released),
    }


# Null distribution of the pMSE: what it would be if the release were synthesised correctly.


NULLS = ("fitted", "proper", "permutation")
NOTHING = 1e-8  # a pMSE below this: the model found next to nothing
ZERO = 1e-14  # a pMSE below this is numerically 0


@dataclass(frozen=True)
class Null:
    """Mean and standard deviation of the pMSE under correct synthesis.

    `reason`: why they are undefined; "" where they are not.
    """

    expected: float
    sd: float
    reason: str = ""


def analytic_null(rank: int, n: int, n_released: int, *, proper: bool) -> Null:
    """Null distribution for a logistic model (Snoke et al. 2018).

    `rank`: parameters of the model, the intercept included. `n` and `n_released`: records. `proper`: whether the
    parameters of the synthesis were drawn from their posterior first.

    >>> analytic_null(11, 100, 100, proper=False).expected, analytic_null(11, 100, 100, proper=True).expected
    (0.00625, 0.0125)
    """
    if rank <= 1:
        return Null(math.nan, math.nan, "no variable varies: there is nothing to tell the files apart by")
    c = n_released / (n + n_released)
    unit = (1 - c) ** (1 if proper else 2) * c / (n + n_released)
    return Null((rank - 1) * unit, math.sqrt(2 * (rank - 1)) * unit)


def permuted(stacked: Stacked, rng: np.random.Generator) -> Floats:
    """Released records in each row after permuting the memberships of the records.

    `stacked` is in an order that depends on values only.

    >>> two = np.array([2.0, 2.0])
    >>> stacked = Stacked((), np.empty((0, 2), np.int32), np.empty((0, 2)), two, two, ())
    >>> float(permuted(stacked, np.random.default_rng(1)).sum())
    4.0
    """
    n = len(stacked.total)
    row = np.repeat(np.arange(n), stacked.total.astype(np.int64))
    drawn = rng.choice(len(row), int(stacked.released.sum()), replace=False, shuffle=False)
    return np.bincount(row[drawn], minlength=n).astype(np.float64)


def resampled_null(
    stacked: Stacked, scores: Callable[[Floats], Floats], resamples: int, rng: np.random.Generator, *, together: int = 1
) -> tuple[Null, int]:
    """Null distribution by permutation, and the number of permutations with a pMSE of next to 0.

    `stacked` is in an order that depends on values only; `scores` takes released records of each row to their
    scores, of `together` permutations at a time, on a thread each.
    """
    total = stacked.total

    def measured(released: Floats) -> float:
        return mean_squared_error(scores(released), total - released, released)

    values: list[float] = []
    while len(values) < resamples:
        values += run(measured, [permuted(stacked, rng) for _ in range(min(together, resamples - len(values)))])
    nothing = sum(value < NOTHING for value in values)
    if max(values) < ZERO:
        return Null(math.nan, math.nan, "the model finds nothing in any permutation"), nothing
    factor = 1 - stacked.share  # a permutation also varies the original: its pMSE is too large by 1 / (1 - c)
    return Null(factor * float(np.mean(values)), factor * float(np.std(values, ddof=1))), nothing


def null_figures(pmse: float, null: Null) -> dict[str, float]:
    """Expected pMSE, and the observed one as a ratio and standardised.

    >>> null_figures(0.75, Null(0.25, 0.125))
    {'expected_pmse': 0.25, 'ratio': 3.0, 'standardised': 4.0}
    """
    return {
        "expected_pmse": null.expected,
        "ratio": pmse / null.expected if null.expected > 0 else math.nan,
        "standardised": (pmse - null.expected) / null.sd if null.sd > 0 else math.nan,
    }


# One release against the original: fitted model, null distribution, importance of variables.


UNSAID = "only the logistic model has a number of parameters"


@dataclass(frozen=True, eq=False)
class Plan:
    """The options of the fit of each release."""

    interactions: int
    null: str
    aligned: bool
    resamples: int
    rng: np.random.Generator


@dataclass(frozen=True, eq=False)
class Release:
    """Results of one release.

    `importance`: by variable; None where the model does not say. `coefficients`: printed column and slope of a
    logistic model.
    """

    figures: dict[str, float]
    importance: dict[str, float] | None
    coefficients: tuple[tuple[str, float], ...] = ()
    notes: dict[str, str] = field(default_factory=dict)


def logistic(stacked: Stacked, plan: Plan) -> Release:
    """Fit and judge a logistic regression.

    Raises DataError: too many coefficients.
    """
    if plan.null == "permutation" and not plan.aligned:
        stacked = stacked.in_order()
    design, terms = design_of(stacked, plan.interactions)
    with linear_algebra(design.n_columns):
        return _fitted(stacked, plan, design, terms)


def _fitted(stacked: Stacked, plan: Plan, design: Design, terms: Terms) -> Release:
    start = start_of(design, stacked.total)
    fit = fit_logit(design, start, stacked.released)
    figures = {"n_parameters": float(start.rank), **score_figures(fit.score, stacked.original, stacked.released)}
    notes = _constant(stacked)
    if sure := float(stacked.total[fit.certain].sum()):
        notes["separation"] = (
            f"{sure:.0f} records are told apart for sure (scores of 0 or 1): some coefficients have no limit and the "
            "null does not hold; the figures from the scores are finite and stand"
        )
    if not fit.converged:
        notes["convergence"] = f"scores still changed by {fit.still:.1g} after {fit.steps} steps"
    if plan.null == "permutation":
        null, more = _resampled(stacked, plan, lambda released: fit_logit(design, start, released).score)
        notes |= more
    else:
        n, n_released = int(stacked.original.sum()), int(stacked.released.sum())
        null = analytic_null(start.rank, n, n_released, proper=plan.null == "proper")
    return Release(
        figures | _compared(figures["pmse"], null, plan, notes),
        {**dict.fromkeys(stacked.constant, 0.0), **lost_without(start, fit, terms.variables(stacked), stacked.share)},
        tuple(zip(terms.labels(stacked), fit.coefficients.tolist(), strict=True)),
        notes,
    )


def by_tree(stacked: Stacked, plan: Plan, tree: Tree) -> Release:
    """Fit and judge a classification tree."""
    stacked = stacked.in_order()
    columns, sized = classifiers.tree_columns(stacked), tree.sized(len(stacked.total))
    score, importance = classifiers.grow_tree(columns, sized, stacked.released)

    def scores(released: Floats) -> Floats:
        return classifiers.grow_tree(columns, sized, released)[0]

    return _without_parameters(stacked, plan, score, importance, scores, _constant(stacked), together=n_threads())


def classified(stacked: Stacked, plan: Plan, estimator: Any) -> Release:
    """Fit and judge a classifier of scikit-learn.

    Raises DataError: too many columns, or an estimator that fails.
    """
    stacked = stacked.in_order()  # some models depend on the order of the records
    features, variables = classifiers.features_of(stacked, np.float32 if _is_tree(estimator) else np.float64)
    notes = _constant(stacked)
    warned: Counter[str] = Counter()

    def scores(released: Floats) -> Floats:
        if not variables:
            return np.full(len(released), stacked.share)
        return classifiers.fit_scores(estimator, features, released > 0)[0]

    importance: dict[str, float] | None = {}
    score = np.full(len(stacked.total), stacked.share)
    if variables:
        score, fitted = classifiers.fit_scores(estimator, features, stacked.released > 0, warned)
        importance = classifiers.importances(fitted, features, variables)
    if warned:
        kinds = ", ".join(f"{name} ({count})" for name, count in sorted(warned.items()))
        notes["model"] = f"it warned while it was fitted: {kinds}"
    return _without_parameters(stacked, plan, score, importance, scores, notes)


def _without_parameters(
    stacked: Stacked, plan: Plan, score: Floats, importance: dict[str, float] | None,
    scores: Callable[[Floats], Floats], notes: dict[str, str], *, together: int = 1,
) -> Release:  # fmt: skip
    """Results of a model whose null distribution is known by permutation only."""
    figures = {"n_parameters": math.nan, **score_figures(score, stacked.original, stacked.released)}
    notes["n_parameters"] = UNSAID
    null, more = _resampled(stacked, plan, scores, together=together)
    notes |= more
    return Release(
        figures | _compared(figures["pmse"], null, plan, notes),
        None if importance is None else {**dict.fromkeys(stacked.constant, 0.0), **importance},
        notes=notes,
    )


def _constant(stacked: Stacked) -> dict[str, str]:
    if not stacked.constant:
        return {}
    return {"constant": f"a single value in both files, so of no use here: {', '.join(stacked.constant)}"}


def _is_tree(estimator: Any) -> bool:
    from sklearn.tree import DecisionTreeClassifier

    return isinstance(estimator, DecisionTreeClassifier)


def _resampled(
    stacked: Stacked, plan: Plan, scores: Callable[[Floats], Floats], *, together: int = 1
) -> tuple[Null, dict[str, str]]:
    if plan.aligned:
        return Null(math.nan, math.nan, ALIGNED), {}
    null, nothing = resampled_null(stacked, scores, plan.resamples, plan.rng, together=together)
    if not nothing:
        return null, {}
    return null, {"null": f"the model finds nothing in {nothing} of {plan.resamples} permutations (pMSE below 1e-8)"}


def _compared(pmse: float, null: Null, plan: Plan, notes: dict[str, str]) -> dict[str, float]:
    figures = null_figures(pmse, null)
    if null.reason:
        notes |= dict.fromkeys(figures, null.reason)
    if plan.aligned:
        figures |= {"ratio": math.nan, "standardised": math.nan}
        notes |= dict.fromkeys((name for name, value in figures.items() if math.isnan(value)), ALIGNED)
    return figures


MISSING_RULE = (
    "a missing category is a level of its own, a missing number 0 (or the mean) and a mark that it is missing"
)


@dataclass(frozen=True, eq=False, repr=False)
class Propensity(PairResult):
    """How well a model tells released records from original ones; every figure is a mean over the releases.

    Attributes
    ----------
    pmse : float
        Mean squared distance of the scores from the share c of released records: 0 (no difference found) to
        c(1 - c) (every record told apart).
    expected_pmse : float
        What it would be under correct synthesis.
    ratio : float
        `pmse` divided by that: 1 where the release is as good as a correct synthesis.
    standardised : float
        `pmse` minus the expected one, in its standard deviations.
    specks : float
        Largest distance between the two files' distributions of the score, 0 to 1.
    po50 : float
        Share of records classified correctly (released where the score exceeds one half), minus one half.
    u : float
        Pairs of a released and an original record in which the released one has the larger score, ties half.
    auc : float
        `u` as a share of all pairs: one half where the files cannot be told apart.
    n_parameters : float
        Rank of the logistic model, the intercept included; NaN for other models.
    model, null : str
        The model, and the null it is compared with.
    interactions : int
    variables : tuple of str
    """

    measure: ClassVar[str] = "propensity"
    figures: ClassVar[tuple[str, ...]] = (
        "pmse", "expected_pmse", "ratio", "standardised", "specks", "po50", "u", "auc", "n_parameters",
    )  # fmt: skip
    variables: tuple[str, ...] = ()
    model: str = "logit"
    null: str = "fitted"
    interactions: int = 1
    pmse: float = math.nan
    expected_pmse: float = math.nan
    ratio: float = math.nan
    standardised: float = math.nan
    specks: float = math.nan
    po50: float = math.nan
    u: float = math.nan
    auc: float = math.nan
    n_parameters: float = math.nan
    releases: tuple[Release, ...] = field(default=(), repr=False)

    @property
    def importance(self) -> Any:
        """Which variables give the release away, most telling first.

        Returns
        -------
        frame
            ``variable`` and ``importance``, the mean over the releases. Logistic model: the share of the
            variance of membership that a linear model of the same columns explains with the variable and not
            without it. Others: the share of the variable in what the model goes by; NaN where it does not say.
        """
        known = [release.importance for release in self.releases if release.importance is not None]
        weight = {name: float(np.mean([row.get(name, 0.0) for row in known] or [math.nan])) for name in self.variables}
        ordered = sorted(weight, key=lambda name: -weight[name] if known else 0.0)
        return self.pair.table({"variable": ordered, "importance": [weight[name] for name in ordered]})

    @property
    def coefficients(self) -> Any:
        """The logistic model of each release; no rows for other models.

        Returns
        -------
        frame
            ``release`` (from 1), ``term``, ``coefficient``: treatment coding, the smallest level being the
            baseline; numbers in standard deviations from the mean of both files; NaN for a column that is a
            combination of earlier ones, infinite for a level that tells its records apart for sure (the others
            are those of the model of all other records).
        """
        rows = [(j, *row) for j, release in enumerate(self.releases, 1) for row in release.coefficients]
        columns = zip(*rows, strict=True) if rows else ((), (), ())
        return self.pair.table(dict(zip(("release", "term", "coefficient"), map(list, columns), strict=True)))

    def __getstate__(self) -> dict[str, Any]:
        """State without the coefficients: their terms are named after levels, which may be of one record."""
        return {
            **super().__getstate__(),
            "releases": tuple(replace(release, coefficients=()) for release in self.releases),
        }


def propensity(
    original: Any,
    released: Any = None,
    *,
    variables: Sequence[str] | None = None,
    numeric: Sequence[str] | None = None,
    model: Any = "logit",
    interactions: int = 1,
    null: str | None = None,
    aligned: bool = False,
    resamples: int = 50,
    seed: int | np.random.Generator | None = None,
    scenario: Scenario | None = None,
    id: str | None = None,
) -> Propensity:
    """Measure by how much a model can tell released records from original ones.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        One release or several, of any size.
    variables : sequence of str, optional
        Columns to tell them apart by. All that the files have in common unless given, but for `id` and the
        scenario's weight, household, person and identifiers.
    numeric : sequence of str, optional
        Which of them are numbers. Default: those that the scenario declares; where it declares none, the
        columns stored as numbers. An empty list: none.
    model : {"logit", "cart"} or scikit-learn classifier
        Logistic regression; a classification tree of at most one leaf per 50 records and 64 in all, of at least
        5 records each; or an estimator with `fit` and `predict_proba`, which is cloned.
    interactions : int
        Highest order of a term of the logistic model: 1 main effects, 2 all pairs of variables, ...
    null : {"fitted", "proper", "permutation"}, optional
        What correct synthesis is: values drawn from a model fitted to the original; the same with the model's
        parameters drawn from their posterior first; or the first one by permutation instead of by formula.
        "fitted" for the logistic model and "permutation" for others unless given; others know no formula.
    aligned : bool
        Whether row i of the release was made from row i of the original (masking, partial synthesis): `ratio`
        and `standardised` are undefined then. Also where the scenario says so.
    resamples : int
        Permutations, 2 or more.
    seed : int, numpy.random.Generator or None
        For permutations and for models that draw random numbers.
    scenario : Scenario, optional
        Gives numeric variables and alignment where not given here.
    id : str, optional
        Column that says which rows belong together; not a variable.

    Returns
    -------
    Propensity
        ``pmse``, ``expected_pmse``, ``ratio``, ``standardised``, ``specks``, ``po50``, ``u``, ``auc``,
        ``n_parameters``; ``importance``, ``coefficients``, ``by_release``.

    Raises
    ------
    ColumnError
        No variable in common, columns absent in a file, text in one and numbers in another.
    DataError
        A number without any value in a file, or infinite; more than 4,000 coefficients; an unknown model or
        null, or one that does not go with the other; a classifier that fails.

    Notes
    -----
    With k parameters and c the share of released records among N, the mean of pMSE under correct synthesis is
    (k - 1)(1 - c)²c/N and its standard deviation the root of 2(k - 1) times (1 - c)²c/N; for "proper" both are
    divided by 1 - c. k is the rank of the design: constant columns and combinations of others do not count. A
    permutation draws both files anew, so that its mean is multiplied by 1 - c. Where some records are told
    apart for sure the likelihood has no maximum, but the scores converge: pMSE stays finite, and the notes say so.

    References
    ----------
    Woo, M.-J., Reiter, J. P., Oganian, A. and Karr, A. F. (2009). Global measures of data utility for microdata
    masked for disclosure limitation. Journal of Privacy and Confidentiality, 1(1). Snoke, J., Raab, G. M.,
    Nowok, B., Dibben, C. and Slavković, A. (2018). General and specific utility measures for synthetic data.
    Journal of the Royal Statistical Society A, 181(3). Bowen, C. M., Liu, F. and Su, B. (2021). Differentially
    private data release via statistical election to partition sequentially. METRON, 79.

    Examples
    --------
    >>> import polars as pl
    >>> original = pl.DataFrame({"sex": ["f", "f", "f", "m"]})
    >>> released = pl.DataFrame({"sex": ["f", "m", "m", "m"]})
    >>> result = propensity(original, released)
    >>> [round(value, 6) for value in (result.pmse, result.expected_pmse, result.ratio, result.specks, result.auc)]
    [0.0625, 0.015625, 4.0, 0.5, 0.75]
    """
    arguments.count(interactions, "interactions", "is the highest order of a term")
    arguments.count(resamples, "resamples", "counts random divisions", at_least=2)
    if null is not None:
        arguments.choice(null, "null", NULLS)
    scenario = arguments.scenario_or_none(scenario)
    rng = arguments.seed(seed)
    name, estimator = classifiers.checked_classifier(model, int(rng.integers(2**31 - 1)), seeded=seed is not None)
    null = _checked_null(name, estimator, null, interactions)
    aligned = arguments.flag(aligned, "aligned") or (scenario is not None and scenario.aligned)
    chosen = chosen_variables(
        original, released, variables, numeric, scenario, id, aligned=aligned, cells=estimator is None
    )
    plan = Plan(interactions, null, aligned, resamples, rng)
    releases = []
    for release in range(chosen.pair.m):
        stacked = classifiers.stack(chosen.pair, release, chosen.names, chosen.numeric, scale=estimator is None)
        if estimator is None:
            releases.append(logistic(stacked, plan))
        elif isinstance(estimator, Tree):
            releases.append(by_tree(stacked, plan, estimator))
        else:
            releases.append(classified(stacked, plan, estimator))
    return _result(chosen, releases, name, plan)


def _checked_null(name: str, estimator: Any, null: str | None, interactions: int) -> str:
    if estimator is None:
        return null or "fitted"
    if null not in (None, "permutation"):
        raise DataError(
            f"null={null!r} is a formula for model='logit'; for {name} leave it out (permutation)", argument="null"
        )
    if interactions != 1:
        raise DataError(
            f"interactions= is for model='logit'; {name} finds them by itself, leave it out", argument="interactions"
        )
    return "permutation"


def _result(chosen: Chosen, releases: Sequence[Release], model: str, plan: Plan) -> Propensity:
    notes = dict(chosen.notes)
    for j, release in enumerate(releases, 1):
        for about, words in release.notes.items():
            alike = len(releases) == 1 or all(other.notes.get(about) == words for other in releases)
            place = words if alike else f"release {j}: {words}"
            if place not in notes.get(about, ""):
                notes[about] = f"{notes[about]}; {place}" if about in notes else place
    per_release = tuple(release.figures for release in releases)
    return Propensity(
        pair=chosen.pair, per_release=per_release, missing_rule=MISSING_RULE, notes=notes,
        variables=chosen.names, model=model, null=plan.null, interactions=plan.interactions,
        releases=tuple(releases), **mean_figures(per_release, notes),
    )  # fmt: skip
