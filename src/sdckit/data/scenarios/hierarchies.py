"""The hierarchies that a scenario declares, read from their files."""

from __future__ import annotations

from collections.abc import Sequence

from sdckit.data.hierarchy import Hierarchy, read_hierarchy
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import FileFormatError


def read_hierarchies(scenario: Scenario, columns: Sequence[str]) -> dict[str, Hierarchy]:
    """The hierarchies of some columns, of those that the scenario declares one for.

    Raises `FileFormatError`: as `read_hierarchy`, with the entry.

    >>> read_hierarchies(Scenario(keys=["region"]), ["region"])
    {}
    """
    found = {}
    for name in columns:
        if (file := scenario.hierarchies.get(name)) is not None:
            try:
                found[name] = read_hierarchy(scenario.folder / file)
            except FileFormatError as error:
                raise FileFormatError(f"hierarchies.{name}: {error}") from None
    return found
