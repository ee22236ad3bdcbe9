"""The page Roles: what the columns are, guessed and then said, as a scenario."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario

__all__ = ["plain_scenario"]


def plain_scenario(scenario: Scenario) -> dict[str, Any]:
    """A scenario as plain arguments of `Scenario`: what stands in its file."""
    return tomllib.loads(scenario.to_toml())
