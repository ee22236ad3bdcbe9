"""Published tables as a scenario declares them: entries that exist, of the right kind; what they mean is read later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sdckit.data.nearest import did_you_mean
from sdckit.errors import ScenarioError

TEXTS = ("file", "count", "sum", "total", "name")
BASES = ("rounded", "suppressed_below")
ROUNDING = ("random", "nearest")
ENTRIES = ("variables", *TEXTS, *BASES, "rounding")


def read_tables(value: Any) -> tuple[dict[str, Any], ...]:
    """Take the tables of a scenario as plain dicts.

    Raises `ScenarioError`: an entry does not exist, or is of another kind; it is named.

    >>> read_tables([{"variables": ("region", "sex"), "rounded": 5}])
    ({'variables': ['region', 'sex'], 'rounded': 5},)
    """
    listed = isinstance(value, Sequence) and not isinstance(value, str)
    if not listed or not all(isinstance(one, Mapping) for one in value):
        raise ScenarioError("tables must be a list of tables, each with variables or a file: [[tables]]")
    return tuple(_read(one, f"tables[{number}]") for number, one in enumerate(value, 1))


def _read(given: Mapping[Any, Any], place: str) -> dict[str, Any]:
    found = {
        str(name): entry.as_posix() if isinstance(entry, Path) else entry for name, entry in given.items()
    }
    for name, entry in found.items():
        if name not in ENTRIES:
            raise ScenarioError(f"there is no entry '{place}.{name}'; {did_you_mean(name, ENTRIES)}")
        if name in TEXTS and not isinstance(entry, str):
            raise ScenarioError(f"{place}.{name} must be text in quotes")
        if name in BASES and (type(entry) is not int or entry < 2):
            raise ScenarioError(f"{place}.{name} must be a whole number, 2 or more")
    if found.get("rounding", "random") not in ROUNDING:
        raise ScenarioError(f"{place}.rounding must be 'random' or 'nearest'")
    if "variables" in found:
        found["variables"] = _names(found["variables"], place)
    elif "file" not in found:
        raise ScenarioError(f"{place} has neither variables nor a file of counts")
    return found


def _names(given: Any, place: str) -> list[str]:
    listed = isinstance(given, Sequence) and not isinstance(given, str)
    if not listed or not given or not all(isinstance(name, str) and name for name in given):
        raise ScenarioError(f'{place}.variables must be a list of column names, such as ["region", "sex"]')
    return list(given)
