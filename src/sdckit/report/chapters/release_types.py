"""The type of release and its limits, as a document tells them: each with where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sdckit.data.scenarios.release_types import (
    a_release,
    limits_in_force,
    limits_not_asked,
    release_words,
)
from sdckit.report.chapters.sentences import limit_name
from sdckit.report.gate.figures import Tree
from sdckit.report.view import Plain

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario


def limits_tree(scenario: Scenario, *, compared: bool) -> dict[str, Tree]:
    """Give the type of release and the limits in force; all of it is the analyst's or an office's own."""
    limits = limits_in_force(scenario, compared=compared)
    return {
        "release": scenario.release,
        "release_words": release_words(scenario.release),
        "limits": {
            name: {"value": one.value, "origin": one.origin, "of_type": one.of_type}
            for name, one in limits.items()
        },
        "not_asked": limits_not_asked(scenario, compared=compared),
    }


def limits_words(tree: Plain) -> list[str]:
    """Every limit in force, in words.

    Examples
    --------
    >>> limits_words({"limits": {"k": {"value": 5}, "risk": {"value": 0.05}}})
    ['k 5', 'individual risk 0.05']
    """
    return [f"{limit_name(name)} {one['value']:g}" for name, one in tree["limits"].items()]


def release_sentence(tree: Plain) -> str:
    """Say what the file is released as, its limits, those of the scenario, and what is not asked; "" without a type."""
    if tree["release"] is None:
        return ""
    by_origin: dict[str, list[str]] = {"release type": [], "office": [], "scenario": []}
    for (_, one), words in zip(tree["limits"].items(), limits_words(tree), strict=True):
        by_origin[one["origin"]].append(words + _beside(one, tree["release"]))
    told = [f"Type of release: {tree['release_words']}."]
    heads = {
        "release type": "Its limits",
        "office": "The office’s limits",
        "scenario": "The scenario’s own limits",
    }
    told += [f"{heads[origin]}: {', '.join(found)}." for origin, found in by_origin.items() if found]
    if not by_origin["release type"] and not by_origin["office"]:
        told.append("No limit comes from the type.")
    return " ".join([*told, *_not_asked(tree["not_asked"])])


def _beside(one: Plain, release: str) -> str:
    """What the type asks where the scenario says otherwise."""
    if one["origin"] != "scenario" or one["of_type"] is None:
        return ""
    return f" ({a_release(release)}: {one['of_type']:g})"


def _not_asked(reasons: Mapping[str, str]) -> list[str]:
    if not reasons:
        return []
    return [f"Not asked: {'; '.join(f'{limit_name(name)}, {why}' for name, why in reasons.items())}."]
