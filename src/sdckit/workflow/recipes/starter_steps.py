"""The steps of a recipe to start from, each with the comment that says why it is there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sdckit.data.columns import code_column, float_values
from sdckit.data.households import homes_of, household_variables
from sdckit.data.replace import open_eager
from sdckit.data.telling import TELLS, told_by
from sdckit.display import printable
from sdckit.errors import SdcError
from sdckit.report.chapters.sentences import listed
from sdckit.report.views.key_contributions import UNSTEPPED
from sdckit.workflow.recipes.starter_keys import Way, wanted_k
from sdckit.workflow.recipes.starter_text import Told, about_share

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario


WHY = "this brings most records within the thresholds for the information it loses"
COUNTED = 0.5  # of the records: members may be missing from the file
FROM_VALUES = "It names values that few records have: keep this recipe in the room."


def before_suppression(way: Way, columns: Sequence[str]) -> list[Told]:
    """Identifiers, keys and weights, of a file of these columns."""
    return [*identifier_steps(way.scenario, columns), *_recodings(way), *_weight(way)]


def identifier_steps(scenario: Scenario, columns: Sequence[str]) -> Iterator[Told]:
    """Direct identifiers left out, numbers of households and persons replaced."""
    if named := [name for name in scenario.identifiers if name in columns]:
        yield {"method": "drop_identifiers", "columns": named}, ["Direct identifiers do not go out."]
    for role in ("household", "person"):
        if (name := getattr(scenario, role)) is not None:
            why = (
                f"The number of the {role} leads back to where it was given: a new one, the same for the same "
                f"{role}. Where nobody needs it, drop_identifiers instead."
            )
            yield {"method": "new_ids", "column": name}, [why]


def _recodings(way: Way) -> Iterator[Told]:
    """One step per key, as coarse as it became; what each brought is told of the last time it became coarser."""
    n = len(open_eager(way.data, {}))
    for key, step in way.steps.items():
        own = [one for one in way.done if one.key == key]
        lines = [f"{printable(key)} {_how(step)}: {WHY}{', step after step' * (len(own) > 1)}."]
        if told := _brought(own[0].before, own[-1].after, n):
            lines.append(f"Records beyond a threshold: {told}.")
        if "groups" in step:
            lines.append(FROM_VALUES)
        yield step, lines
    for scale in dict.fromkeys(way.unstepped.values()):
        names = listed([printable(key) for key, one in way.unstepped.items() if one == scale])
        yield None, [f"No step for {names}: {UNSTEPPED[scale]}."]


def _how(step: dict[str, Any]) -> str:
    if "bands" in step:
        return "in bands"
    return (
        f"at level {step['level']} of its hierarchy" if "hierarchy" in step else "with its rare values joined"
    )


def _brought(before: Any, after: Any, n: int) -> str:
    """What is over a limit before and after, by intruder; "" where nothing may be said."""
    parts = []
    for name in before:
        ranges = [about_share(count[name].records, n) for count in (before, after)]
        if all(ranges):
            whom = f"{printable(name)} " if len(before) > 1 else ""
            parts.append(f"{whom}{ranges[0]} before, {ranges[1]} after")
    return "; ".join(parts)


def weight_step(data: Any, scenario: Scenario) -> dict[str, Any] | None:
    """The step that makes weights coarser, where they tell a key whose values are taken out."""
    if scenario.weight is None or scenario.weight in scenario.all_keys:
        return None
    told = told_by(
        open_eager(data, {}), scenario.weight, list(scenario.all_keys), household=scenario.household
    )
    hide = [name for name, how_far in told.items() if how_far > TELLS]
    return {"method": "coarsen_weights", "weight": scenario.weight, "hide": hide} if hide else None


def _weight(way: Way) -> Iterator[Told]:
    """Coarser weights, and why."""
    step = weight_step(way.data, way.scenario)
    if step is not None:
        names = listed([*map(printable, step["hide"])], "or")
        why = (
            f"Many weights occur with one value of {names} only, and would give back what is taken out there."
        )
        yield step, [why]


def suppressions(way: Way) -> Iterator[Told]:
    """What is left over the limit on k, one intruder after the other."""
    scenario = way.scenario
    hide = scenario.limits_of(compared=True).recoverable is not None
    for name in scenario.intruders:
        one = scenario.intruder(name)
        k = wanted_k(one)
        if k is None:
            continue
        rules = {one.missing} if isinstance(one.missing, str) else set(one.missing.values())
        whom = f" for {printable(name)}" if len(scenario.intruders) > 1 else ""
        if other := sorted(rules - {"wildcard"}):
            why = f"the scenario takes a missing key for: {', '.join(other)}; a value taken out would protect nobody"
            yield None, [f"No local_suppression{whom}: {why}."]
            continue
        step: dict[str, Any] = {"method": "local_suppression"}
        if len(scenario.intruders) > 1:
            step["intruder"] = name
        lines = [f"The rest{whom}: as few values as possible are taken out until every record has k like it."]
        if k == one.limits.k:
            lines.append("k is that of the scenario.")
        else:
            step["k"] = k
            lines.append(
                "k is what the threshold of the risk needs in a file taken for the whole population."
            )
        if sizes := household_sizes(way.data, one):
            step["together"] = [[size, scenario.household] for size in sizes]
            lines.append(
                f"{listed([*map(printable, sizes)])}: whoever sees the household together can count it."
            )
        if hide:
            step["hide_implied"] = True
            lines.append(
                "Nothing taken out may follow from the rest: there is a threshold on what can be given back."
            )
        yield step, lines


def household_sizes(data: Any, one: Scenario) -> list[str]:
    """Keys that are the number of records of the household."""
    frame = open_eager(data, {})
    if one.household is None:
        return []
    coded = code_column(frame[one.household])
    homes = homes_of(coded.codes(), coded.span)
    size = homes.size[homes.of_row]
    found = []
    for key in household_variables(data, household=one.household, among=one.keys):
        try:
            values = float_values(frame[key], key)
        except SdcError:
            continue
        known = ~np.isnan(values)
        if np.mean(values[known] == size[known]) > COUNTED:
            found.append(key)
    return found


def last_step(scenario: Scenario, columns: Sequence[str]) -> Iterator[Told]:
    """The order of the records."""
    if scenario.aligned:
        yield None, ["The order stays: the scenario says that row i is made from row i (aligned = true)."]
        return
    step: dict[str, Any] = {"method": "random_order"}
    if scenario.household in columns and scenario.household is not None:
        step["household"] = scenario.household
    yield step, ["The order of the records may tell who they are. The log knows it: check with --log."]
