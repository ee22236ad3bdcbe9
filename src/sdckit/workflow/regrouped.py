"""Assessments of one file taken apart and put together: one intruder at a time, and without what takes long."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sdckit.errors import ScenarioError

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.workflow.assessment import Assessment


def put_together(parts: Sequence[Assessment], scenario: Scenario) -> Assessment:
    """Make one assessment of several of the same file: each has some of the scenario's intruders.

    Raises `ScenarioError`: the intruders are not those of the scenario, in their order.
    """
    intruders = tuple(one for part in parts for one in part.intruders)
    if [(one.name, one.keys) for one in intruders] != list(scenario.intruders.items()):
        raise ScenarioError("the assessments put together are not those of the scenario's intruders")
    warnings = tuple(dict.fromkeys(text for part in parts for text in part.warnings))
    return replace(parts[0], scenario=scenario, intruders=intruders, warnings=warnings)


def without_measures(assessment: Assessment, names: Collection[str]) -> Assessment:
    """The same assessment without the results of some measures, for a document that is made before them."""
    lean = tuple(
        replace(
            one,
            results={
                place: result for place, result in one.results.items() if place.partition(":")[0] not in names
            },
        )
        for one in assessment.intruders
    )
    return replace(assessment, intruders=lean)


def with_other_keys(scenario: Scenario, intruder: str, keys: Sequence[str], *, name: str) -> Scenario:
    """The scenario of one intruder, and beside it the same intruder who knows only these keys, as `name`."""
    known = scenario.intruder(intruder)
    left = [key for key in known.keys if key in keys]
    return scenario.changed(intruders={intruder: known.keys, name: tuple(left)})
