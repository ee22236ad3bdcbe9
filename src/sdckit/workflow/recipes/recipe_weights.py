"""Weights that tell what a recipe takes out: their values occur with one value of a key only."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sdckit.cells.plans.changing import Changing
from sdckit.data.frames import open_frame
from sdckit.data.telling import TELLS, told_by
from sdckit.errors import DataError, SdcWarning
from sdckit.workflow.recipes.recipe_checks import StepLike
from sdckit.workflow.recipes.recipe_steps import columns_named, method_of

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario


CHANGED = (
    "column",
    "columns",
    "keys",
    "replace",
    "hierarchy",
    "carry_along",
)  # arguments that name what is changed
WEIGHTS = ("column", "columns", "weight", "replace", "together", "carry_along")


def warn_of_weights(
    steps: Sequence[StepLike], data: Any, *, scenario: Scenario | None, done: bool = False
) -> None:
    """Warn where the scenario's weight tells a key that a step takes out or changes record by record.

    `done`: whether `data` is what came of the steps; a weight is looked at before them where none changes it, and
    after them where one does.
    """
    if scenario is None or scenario.weight is None:
        return
    whole = data[0] if isinstance(data, list) else data
    frame: Any = whole if isinstance(whole, Changing) else open_frame(whole)
    changes_it = any(scenario.weight in _named(one, WEIGHTS, scenario) for one in steps)
    if scenario.weight not in frame.columns or changes_it is not done:
        return
    at_stake = {name for one in steps for name in _hidden(one, scenario)} & {*frame.columns}
    keys = [name for name in scenario.all_keys if name in at_stake and name != scenario.weight]
    home = scenario.household if scenario.household in frame.columns else None
    told = [name for name, how_far in _told(frame, scenario.weight, keys, home).items() if how_far > TELLS]
    if told:
        warnings.warn(
            f"{scenario.weight}: many of its values occur with one value of {', '.join(told)} only, and so tell what "
            "is taken out or changed there; coarsen it (coarsen_weights with hide) or leave it out of the release",
            SdcWarning,
            stacklevel=4 if done else 5,
        )


def _told(frame: Any, weight: str, keys: Sequence[str], household: str | None) -> dict[str, float]:
    """How far a weight tells each key; of a plan where weight and key have few enough different pairs."""
    if not isinstance(frame, Changing):
        return told_by(frame, weight, keys, household=household)
    found: dict[str, float] = {}
    for name in keys:
        with contextlib.suppress(DataError):
            found |= told_by(frame.distinct([weight, name]).tallied, weight, [name])
    return found


def _hidden(step: StepLike, scenario: Scenario) -> set[str]:
    """The columns in which a step hides values of some records; a recoding shows the same of all of them."""
    method = method_of(step.method, "step")
    if method.recodes or method.name == "coarsen_weights":
        return set()
    found = _named(step, CHANGED, scenario)
    if method.name == "synthesize" and not columns_named(method, step.arguments, "columns"):
        return set()  # nobody's values at all
    return found


def _named(step: StepLike, roles: Sequence[str], scenario: Scenario) -> set[str]:
    method = method_of(step.method, "step")
    found = {name for role in roles for name in columns_named(method, step.arguments, role)}
    if method.name == "swap_records":
        found -= set(columns_named(method, step.arguments, "keys"))
    if method.name == "local_suppression" and "keys" in roles and "keys" not in step.arguments:
        intruder = step.arguments.get("intruder")
        found |= set(scenario.all_keys if intruder is None else scenario.intruders.get(intruder, ()))
    return found
