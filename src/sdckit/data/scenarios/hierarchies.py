"""The hierarchies that a scenario declares, read from their files."""

from __future__ import annotations

from collections.abc import Sequence

from sdckit.data.hierarchy import Hierarchy, read_hierarchy
from sdckit.data.scenarios.scenario import Scenario

__all__ = ["read_hierarchies"]


def read_hierarchies(scenario: Scenario, columns: Sequence[str]) -> dict[str, Hierarchy]:
    """The hierarchies of some columns, of those that the scenario declares one for.

    Raises `FileFormatError`: as `read_hierarchy`.

    >>> read_hierarchies(Scenario(keys=["region"]), ["region"])
    {}
    """
    declared = scenario.hierarchies
    return {name: read_hierarchy(scenario.folder / declared[name]) for name in columns if name in declared}
