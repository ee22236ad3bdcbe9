"""What is said of keys: which are numbers, which are ordered, and along which hierarchies codes are grouped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sdckit.data import arguments
from sdckit.data.hierarchy import Hierarchy, as_hierarchy
from sdckit.data.scenarios.hierarchies import read_hierarchies
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ColumnError, DataError


@dataclass(frozen=True, eq=False)
class Declared:
    """What the caller and the scenario say of the keys."""

    numeric: tuple[str, ...] = ()
    ordered: tuple[str, ...] = ()
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)  # how a recipe names the file of a hierarchy


NOTHING = Declared()


def declared_kinds(
    keys: Sequence[str], scenario: Scenario | None, *, numeric: Sequence[str] | None = None,
    ordered: Sequence[str] | None = None, hierarchies: Mapping[str, Any] | None = None,
) -> Declared:  # fmt: skip
    """Bring arguments and scenario together; an argument that is given wins.

    Raises `ColumnError`: a name that is no key; `DataError`: a key that is numeric and ordered, what is no table of
    hierarchies; `FileFormatError`: as `read_hierarchy`.
    """
    said: dict[str, tuple[str, ...]] = {}
    for role, given in (("numeric", numeric), ("ordered", ordered)):
        names = arguments.names(given, role)
        if names is not None and (other := [name for name in names if name not in keys]):
            raise ColumnError(f"{role}: {other[0]!r} is no key", argument=role)
        of_scenario = getattr(scenario, role) if scenario is not None else ()
        said[role] = tuple(name for name in (of_scenario if names is None else names) if name in keys)
    if both := [name for name in said["numeric"] if name in said["ordered"]]:
        raise DataError(
            f"{both[0]!r} is numeric and ordered; a number has its order already", argument="ordered"
        )
    if hierarchies is None:
        found = read_hierarchies(scenario, keys) if scenario is not None else {}
        files = {} if scenario is None else {name: scenario.hierarchies[name] for name in found}
        return Declared(said["numeric"], said["ordered"], found, files)
    if not isinstance(hierarchies, Mapping):
        raise DataError("hierarchies= is {column: path, or {value: [names]}}", argument="hierarchies")
    if other := [str(name) for name in hierarchies if name not in keys]:
        raise ColumnError(f"hierarchies: {other[0]!r} is no key", argument="hierarchies")
    files = {name: str(one) for name, one in hierarchies.items() if isinstance(one, str | Path)}
    return Declared(
        said["numeric"],
        said["ordered"],
        {name: as_hierarchy(one) for name, one in hierarchies.items()},
        files,
    )
