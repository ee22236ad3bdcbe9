"""What was asked, for a document: roles, limits, missing rule."""

from __future__ import annotations

from sdckit.data.scenarios.scenario import Scenario
from sdckit.report.gate.figures import Tree

__all__ = ["scenario_tree"]

RELEASES = {
    "public-use": "public-use file",
    "scientific-use": "scientific-use file",
    "enclave": "use in a secure environment",
}


def scenario_tree(scenario: Scenario) -> dict[str, Tree]:
    """Give the declared roles and rules; all of it is the analyst's own, none from the data."""
    missing = scenario.missing
    return {
        "title": scenario.title,
        "release": scenario.release,
        "release_words": RELEASES.get(scenario.release or "", "not stated"),
        "intruders": {name: tuple(keys) for name, keys in scenario.intruders.items()},
        "weight": scenario.weight,
        "sampling_fraction": scenario.sampling_fraction,
        "household": scenario.household,
        "person": scenario.person,
        "sensitive": tuple(scenario.sensitive),
        "numeric": tuple(scenario.numeric),
        "identifiers": tuple(scenario.identifiers),
        "thresholds": dict(scenario.thresholds.declared),
        "missing": missing if isinstance(missing, str) else dict(missing),
        "missing_codes": tuple(scenario.missing_codes),
        "alpha": scenario.alpha,
        "n_columns": len(scenario.columns),
    }
