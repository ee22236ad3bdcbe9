"""F1: how well a model tells released records from original ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from sdckit.cells.pair import PairResult, mean_figures
from sdckit.data import arguments
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError
from sdckit.utility.chosen_variables import Chosen, chosen_variables
from sdckit.utility.propensities.classifiers import checked_classifier
from sdckit.utility.propensities.membership_tree import Tree
from sdckit.utility.propensities.propensity_null import NULLS
from sdckit.utility.propensities.propensity_release import Plan, Release, by_tree, classified, logistic
from sdckit.utility.propensities.stacking import stack

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
        known = [one.importance for one in self.releases if one.importance is not None]
        weight = {
            name: float(np.mean([one.get(name, 0.0) for one in known] or [math.nan]))
            for name in self.variables
        }
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
        rows = [(j, *row) for j, one in enumerate(self.releases, 1) for row in one.coefficients]
        columns = zip(*rows, strict=True) if rows else ((), (), ())
        return self.pair.table(dict(zip(("release", "term", "coefficient"), map(list, columns), strict=True)))

    def __getstate__(self) -> dict[str, Any]:
        """Without the coefficients: their terms are named after levels, which may be one record's."""
        return {
            **super().__getstate__(),
            "releases": tuple(replace(one, coefficients=()) for one in self.releases),
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
    name, estimator = checked_classifier(model, int(rng.integers(2**31 - 1)), seeded=seed is not None)
    null = _checked_null(name, estimator, null, interactions)
    aligned = arguments.flag(aligned, "aligned") or (scenario is not None and scenario.aligned)
    chosen = chosen_variables(
        original, released, variables=variables, numeric=numeric, scenario=scenario, aligned=aligned, id=id
    )
    plan = Plan(interactions, null, aligned, resamples, rng)
    found = []
    for release in range(chosen.pair.m):
        stacked = stack(chosen.pair, release, chosen.names, chosen.numeric, scale=estimator is None)
        if estimator is None:
            found.append(logistic(stacked, plan))
        elif isinstance(estimator, Tree):
            found.append(by_tree(stacked, plan, estimator))
        else:
            found.append(classified(stacked, plan, estimator))
    return _result(chosen, found, name, plan)


def _checked_null(name: str, estimator: Any, null: str | None, interactions: int) -> str:
    if estimator is None:
        return null or "fitted"
    if null not in (None, "permutation"):
        raise DataError(
            f"null={null!r} is a formula for model='logit'; for {name} leave it out (permutation)",
            argument="null",
        )
    if interactions != 1:
        raise DataError(
            f"interactions= is for model='logit'; {name} finds them by itself, leave it out",
            argument="interactions",
        )
    return "permutation"


def _result(chosen: Chosen, found: Sequence[Release], model: str, plan: Plan) -> Propensity:
    notes = dict(chosen.notes)
    many = len(found) > 1
    for j, one in enumerate(found, 1):
        for about, words in one.notes.items():
            same = many and not all(other.notes.get(about) == words for other in found)
            place = f"release {j}: {words}" if same else words
            if place not in notes.get(about, ""):
                notes[about] = f"{notes[about]}; {place}" if about in notes else place
    per_release = tuple(one.figures for one in found)
    return Propensity(
        pair=chosen.pair, per_release=per_release, missing_rule=MISSING_RULE, notes=notes,
        variables=chosen.names, model=model, null=plan.null, interactions=plan.interactions,
        releases=tuple(found), **mean_figures(per_release, notes),
    )  # fmt: skip
