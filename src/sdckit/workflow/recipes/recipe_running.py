"""One step of a recipe, run: its arguments as the method takes them, its seed, its key."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sdckit.data.households import household_variables
from sdckit.data.replace import open_eager
from sdckit.errors import ScenarioError, SdcError
from sdckit.protect.change import Protected
from sdckit.workflow.recipes.recipe_checks import StepLike, call_arguments, placed
from sdckit.workflow.recipes.recipe_steps import LACKING_VALUES, RISK_MEASURES, Method, method_of

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.data.seeds import Mixed


def run_step(
    number: int, one: StepLike, data: Any, *, scenario: Scenario | None, folder: Path | None, mixed: Mixed,
    key: bytes | str | None = None,
) -> Protected:  # fmt: skip
    """Run a step.

    What the method refuses is told with the step; the step's seed is drawn from `mixed`; `key` is for new identifiers.
    """
    method = method_of(one.method, f"step {number}")
    given = call_arguments(one, scenario=scenario, folder=folder)
    given |= _household(method, given, data, scenario)
    if method.random:
        given["seed"] = mixed.of_step(number)
    if key is not None:
        given["key"] = key
    try:
        if isinstance(given.get("risk"), str) and given["risk"] in RISK_MEASURES and scenario is not None:
            name = one.arguments.get("intruder")
            measure = lacking_values if given["risk"] == LACKING_VALUES else _risk
            given["risk"] = measure(
                data, _of_release(data, scenario if name is None else scenario.intruder(name))
            )
        made: Protected = method.function(data, **given)
    except SdcError as error:
        raise placed(error, one.place(number)) from None
    return made


def _household(
    method: Method, given: Mapping[str, Any], data: Any, scenario: Scenario | None
) -> dict[str, Any]:
    """The scenario's household and its variables, for a step that says nothing of them."""
    if scenario is None or scenario.household is None or not method.takes_households:
        return {}
    columns = open_eager(data, {}).columns
    if scenario.household not in columns or given.get("household") is not None:
        return {}
    if method.name == "swap_records":
        moved = [
            *given["hierarchy"],
            *given.get("carry_along", ()),
            *(n for one in given.get("similar", ()) for n in one),
        ]
        shared = household_variables(data, household=scenario.household, among=list(dict.fromkeys(moved)))
        return {"household": scenario.household} if set(moved) <= set(shared) else {}
    found: dict[str, Any] = {"household": scenario.household}
    if scenario.household_variables and given.get("household_variables") is None:
        found["household_variables"] = [name for name in scenario.household_variables if name in columns]
    return found


def _of_release(data: Any, scenario: Scenario) -> Scenario:
    """The scenario of one intruder without the keys that an earlier step left out."""
    columns = open_eager(data, {}).columns
    left = [name for name in scenario.keys if name in columns]
    if not left or len(left) == len(scenario.keys):
        return scenario
    name = next(iter(scenario.intruders))
    missing = scenario.missing
    if not isinstance(missing, str):
        missing = {key: rule for key, rule in missing.items() if key in left} or "wildcard"
    return scenario.changed(intruders={name: left}, missing=missing)


def lacking_values(data: Any, scenario: Scenario) -> Any:
    """How many sensitive values the group of every record lacks to the threshold l, a missing key being a value."""
    from sdckit.catalogue import measure
    from sdckit.data.columns import float_values
    from sdckit.data.frames import open_frame

    limit = scenario.limits.l
    if limit is None:
        raise ScenarioError(
            f'risk = "{LACKING_VALUES}" needs the threshold l in the scenario', argument="risk"
        )
    records: Any = open_frame(
        measure(LACKING_VALUES).measure(data, scenario=scenario, kind="distinct").records
    )
    found = [float_values(records[name], name) for name in records.columns if name.startswith("distinct_")]
    return limit - np.min(found, axis=0)


def _risk(data: Any, scenario: Scenario) -> Any:
    """The individual risk of every record of a file under the scenario."""
    from sdckit.data.columns import float_values
    from sdckit.data.frames import open_frame
    from sdckit.identity.individual_risk import individual_risk

    records: Any = open_frame(individual_risk(data, scenario=scenario).records)
    return float_values(records["risk"], "risk")
