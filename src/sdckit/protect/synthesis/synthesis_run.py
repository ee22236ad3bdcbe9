"""The sequence of synthesis: fit every variable's model on the original, then draw release by release."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.packing import group_codes
from sdckit.numerics.array_types import Ints
from sdckit.numerics.threads import run
from sdckit.protect.synthesis.synthesis_design import seen
from sdckit.protect.synthesis.synthesis_formulas import Predicted
from sdckit.protect.synthesis.synthesis_models import Chosen, Fitted, Settings, fit_model
from sdckit.protect.synthesis.synthesis_rules import Rule
from sdckit.protect.synthesis.synthesis_variables import NEW, Values, Variable


@dataclass(frozen=True, eq=False)
class Plan:
    """What is to be synthesised, and how."""

    variables: Mapping[str, Variable]
    order: tuple[str, ...]  # variables to synthesise, one after the other
    predictors: Mapping[str, tuple[str, ...]]  # by variable to synthesise
    chosen: Mapping[str, Chosen]
    rules: Mapping[str, list[Rule]]
    rows: Ints  # records to synthesise
    fit_rows: Ints  # those the models are fitted to
    settings: Settings
    formulas: Mapping[str, Predicted] = field(default_factory=dict)  # of variables that have one
    shared: tuple[str, ...] = ()  # those of them that are drawn once per household
    n_made: int | None = None  # records of another number than those to synthesise
    first: NDArray[np.bool_] | None = None  # shape (n,); the first records of households
    lead: Ints | None = (
        None  # shape (len(rows),); place in `rows` of the first member of each one's household
    )


Fits = dict[tuple[str, int], Fitted]


def fit_all(plan: Plan, m: int, rng: np.random.Generator) -> Fits:
    """Fit the model of each variable; models that releases share stand under the first.

    Models see the original's values only, so that they are fitted side by side.
    """
    # before the threads start: those that import scikit-learn at the same time may find it half made
    import sklearn.linear_model
    import sklearn.tree  # noqa: F401

    generators = rng.spawn(len(plan.order))
    tasks = []
    for name, own in zip(plan.order, generators, strict=True):
        several = plan.settings.proper and not plan.chosen[name].has_posterior
        tasks += [(name, release, part) for release, part in enumerate(own.spawn(m if several else 1))]

    def fit(task: tuple[str, int, np.random.Generator]) -> tuple[tuple[str, int], Fitted]:
        name, release, own = task
        predictors = [plan.variables[one] for one in plan.predictors[name]]
        fit_rows, settings = _fit_rows(plan, name), plan.settings
        found = fit_model(
            plan.variables[name],
            plan.chosen[name],
            predictors,
            fit_rows,
            settings,
            own,
            plan.formulas.get(name),
        )
        return (name, release), found

    linear = [task for task in tasks if plan.chosen[task[0]].is_linear]
    with warnings.catch_warnings():  # not on threads: they share the filters. What did not converge is noted
        warnings.simplefilter("ignore")
        found = dict([fit(task) for task in linear])
    # the longest fits begin first: the later a variable, the more predictors it has
    rest = [task for task in reversed(tasks) if not plan.chosen[task[0]].is_linear]
    return {**found, **dict(run(fit, rest))}


def _fit_rows(plan: Plan, name: str) -> Ints:
    """Records that no rule of the variable says the value of."""
    free = np.ones(len(plan.fit_rows), np.bool_)
    held = {one: plan.variables[one].held.take(plan.fit_rows) for one in _tested(plan, name)}
    for rule in plan.rules.get(name, []):
        free &= ~rule.holds(held, len(free))
    if name in plan.shared and plan.first is not None:
        free &= plan.first[plan.fit_rows]
    return plan.fit_rows[free] if free.any() else plan.fit_rows


def _tested(plan: Plan, name: str) -> set[str]:
    return {test.column for rule in plan.rules.get(name, []) for test in rule.tests}


def draw_releases(plan: Plan, fits: Fits, m: int, rng: np.random.Generator) -> list[dict[str, Values]]:
    """New values of the records to synthesise, release by release on threads."""
    return run(lambda work: _draw(plan, fits, *work), list(enumerate(rng.spawn(m))))


def _draw(plan: Plan, fits: Fits, release: int, rng: np.random.Generator) -> dict[str, Values]:
    n = plan.n_made or len(plan.rows)
    now: dict[str, Values] = {}
    for name, own in zip(plan.order, rng.spawn(len(plan.order)), strict=True):
        for one in {*plan.predictors[name], *_tested(plan, name)} - now.keys():
            now[one] = plan.variables[one].held.take(plan.rows)  # not synthesised: as it is
        fitted = fits.get((name, release), fits[name, 0])
        told = plan.formulas[name].told_apart if name in plan.formulas else ()
        held = {one: seen(plan.variables[one], now[one], told=one in told) for one in plan.predictors[name]}
        made = fitted.draw(held, n, own, release)
        for rule in plan.rules.get(name, []):
            made = _set(made, rule.holds(now, n), rule.value)
        now[name] = made if plan.lead is None or name not in plan.shared else made.take(plan.lead)
    return {name: now[name] for name in plan.order}


def _set(made: Values, where: NDArray[np.bool_], value: Values) -> Values:
    level = np.where(where, value.level[0], made.level)
    if made.number is None or value.number is None:
        return Values(level, made.number)
    return Values(level, np.where(where, value.number[0], made.number))


def changed_values(plan: Plan, made: Mapping[str, Values]) -> dict[str, int]:
    """Values of a release that differ from those the record in their place has; all where none has its place."""
    if plan.n_made is not None:
        return dict.fromkeys(made, plan.n_made)
    return {
        # a new number is no level of the original's
        name: int(np.count_nonzero(values.level != plan.variables[name].held.level[plan.rows]))
        for name, values in made.items()
    }


def copied_rows(plan: Plan, made: Mapping[str, Values], names: tuple[str, ...]) -> int:
    """Synthesised records that hold exactly what some record of the original holds in several variables."""
    made_rows = plan.n_made or len(plan.rows)
    fine = np.ones(made_rows, np.bool_)
    columns: list[Any] = []
    for name in names:
        level = made[name].level
        fine &= level != NEW
        columns.append(np.concatenate([plan.variables[name].held.level + 1, np.maximum(level + 1, 0)]))
    n = len(plan.variables[names[0]].held.level)
    groups = group_codes(columns, n + made_rows).of_row
    here = np.zeros(int(groups.max()) + 1, np.bool_)
    here[groups[:n]] = True
    return int(np.count_nonzero(here[groups[n:]] & fine))
