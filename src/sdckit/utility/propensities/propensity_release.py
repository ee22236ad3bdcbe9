"""One release against the original: the fitted model, its null, and which variables it goes by."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sdckit.numerics.array_types import Floats
from sdckit.numerics.threads import n_threads
from sdckit.utility.propensities.classifiers import fit_scores, importances
from sdckit.utility.propensities.logit_fit import fit_logit, lost_without, start_of
from sdckit.utility.propensities.membership_tree import Tree, grow_tree, tree_columns
from sdckit.utility.propensities.propensity_design import design_of
from sdckit.utility.propensities.propensity_null import Null, analytic_null, null_figures, resampled_null
from sdckit.utility.propensities.score_figures import score_figures
from sdckit.utility.propensities.stacking import Stacked, features_of

ALIGNED = "rows correspond (aligned=True): correct synthesis is not what this release would be compared with"
UNSAID = "only the logistic model has a number of parameters"


@dataclass(frozen=True, eq=False)
class Plan:
    """What is done with each release."""

    interactions: int
    null: str
    aligned: bool
    resamples: int
    rng: np.random.Generator


@dataclass(frozen=True, eq=False)
class Release:
    """What was found.

    `importance`: by variable; None where the model does not say. `coefficients`: printed column and slope of a
    logistic model.
    """

    figures: dict[str, float]
    importance: dict[str, float] | None
    coefficients: tuple[tuple[str, float], ...] = ()
    notes: dict[str, str] = field(default_factory=dict)


def logistic(stacked: Stacked, plan: Plan) -> Release:
    """By logistic regression.

    Raises DataError: too many coefficients.
    """
    if plan.null == "permutation" and not plan.aligned:
        stacked = stacked.in_order()
    design, terms = design_of(stacked, plan.interactions)
    start = start_of(design, stacked.total)
    fit = fit_logit(design, start, stacked.released)
    figures = {
        "n_parameters": float(start.rank),
        **score_figures(fit.score, stacked.original, stacked.released),
    }
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
        {
            **dict.fromkeys(stacked.constant, 0.0),
            **lost_without(start, fit, terms.variables(stacked), stacked.share),
        },
        tuple(zip(terms.labels(stacked), fit.coefficients.tolist(), strict=True)),
        notes,
    )


def by_tree(stacked: Stacked, plan: Plan, tree: Tree) -> Release:
    """By a classification tree."""
    stacked = stacked.in_order()
    columns, sized = tree_columns(stacked), tree.sized(len(stacked.total))
    score, found = grow_tree(columns, sized, stacked.released)

    def scores(released: Floats) -> Floats:
        return grow_tree(columns, sized, released)[0]

    return _without_parameters(stacked, plan, score, found, scores, _constant(stacked), together=n_threads())


def classified(stacked: Stacked, plan: Plan, estimator: Any) -> Release:
    """By a classifier of scikit-learn.

    Raises DataError: too many columns, or an estimator that fails.
    """
    stacked = stacked.in_order()  # some models go by the order of their records
    features, variables = features_of(stacked, np.float32 if _is_tree(estimator) else np.float64)
    notes = _constant(stacked)
    warned: Counter[str] = Counter()

    def scores(released: Floats) -> Floats:
        if not variables:
            return np.full(len(released), stacked.share)
        return fit_scores(estimator, features, released > 0)[0]

    found: dict[str, float] | None = {}
    score = np.full(len(stacked.total), stacked.share)
    if variables:
        score, fitted = fit_scores(estimator, features, stacked.released > 0, warned)
        found = importances(fitted, features, variables)
    if warned:
        kinds = ", ".join(f"{name} ({count})" for name, count in sorted(warned.items()))
        notes["model"] = f"it warned while it was fitted: {kinds}"
    return _without_parameters(stacked, plan, score, found, scores, notes)


def _without_parameters(
    stacked: Stacked,
    plan: Plan,
    score: Floats,
    found: dict[str, float] | None,
    scores: Callable[[Floats], Floats],
    notes: dict[str, str],
    *,
    together: int = 1,
) -> Release:
    """What is found by a model that only permutations know a null of."""
    figures = {"n_parameters": math.nan, **score_figures(score, stacked.original, stacked.released)}
    notes["n_parameters"] = UNSAID
    null, more = _resampled(stacked, plan, scores, together=together)
    notes |= more
    constant = dict.fromkeys(stacked.constant, 0.0)
    return Release(
        figures | _compared(figures["pmse"], null, plan, notes),
        None if found is None else {**constant, **found},
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
    return null, {
        "null": f"the model finds nothing in {nothing} of {plan.resamples} permutations (pMSE below 1e-8)"
    }


def _compared(pmse: float, null: Null, plan: Plan, notes: dict[str, str]) -> dict[str, float]:
    found = null_figures(pmse, null)
    if null.reason:
        notes |= dict.fromkeys(found, null.reason)
    if plan.aligned:
        found |= {"ratio": math.nan, "standardised": math.nan}
        notes |= dict.fromkeys((name for name, value in found.items() if math.isnan(value)), ALIGNED)
    return found
