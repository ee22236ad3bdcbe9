"""Recipes as TOML: what such a file can hold, in and out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sdckit.data.nearest import did_you_mean
from sdckit.data.scenarios.scenario_toml import toml_key, toml_value
from sdckit.errors import ScenarioError

ENTRIES = ("title", "scenario", "steps")
WHOLE_NAMES = (
    "combinations",
    "groups",
)  # tables whose names may be whole numbers; a file writes them as text


def plain_arguments(arguments: Mapping[str, Any], place: str) -> dict[str, Any]:
    """The arguments of a step as TOML holds them; None is an argument not given.

    An open end of a band, None in Python, is an infinite number.

    Examples
    --------
    >>> plain_arguments({"column": "age", "bands": [0, 15, None], "level": None}, "step 1")
    {'column': 'age', 'bands': [0, 15, inf]}
    """
    return {
        name: _plain(_open_ended(value) if name == "bands" else value, f"{place}: {name}")
        for name, value in arguments.items()
        if value is not None
    }


def _open_ended(bands: Any) -> Any:
    if isinstance(bands, Mapping):
        return {label: _open_ended(ends) for label, ends in bands.items()}
    if isinstance(bands, Sequence) and not isinstance(bands, str):
        ends = {0: -math.inf}
        return [ends.get(at, math.inf) if edge is None else edge for at, edge in enumerate(bands)]
    return bands


def _plain(value: Any, place: str) -> Any:
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        made = {}
        for name, one in value.items():
            whole = isinstance(name, int) and not isinstance(name, bool) and place.endswith("combinations")
            if not isinstance(name, str) and not whole:
                kind = type(name).__name__
                raise ScenarioError(f"{place}: the names in a table are text in a recipe file, not {kind}")
            made[str(name)] = _plain(one, place)
        return made
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [_plain(one, place) for one in value]
    kind = type(value).__name__
    raise ScenarioError(f"{place}: a recipe file holds text, numbers, lists and tables, not {kind}")


def read_entries(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Check the top of a recipe file."""
    for name, value in entries.items():
        if name not in ENTRIES:
            raise ScenarioError(f"a recipe has no entry {name!r}; {did_you_mean(name, ENTRIES)}")
        if name != "steps" and not isinstance(value, str):
            raise ScenarioError(f'{name} is text; write {name} = "..."')
    steps = entries.get("steps", [])
    if not isinstance(steps, list) or not all(isinstance(one, Mapping) for one in steps):
        raise ScenarioError('steps are tables; start each with [[steps]] and method = "..."')
    return dict(entries)


def write_recipe(title: str, scenario: str | None, steps: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """Write a recipe.

    Examples
    --------
    >>> print(write_recipe("", None, [("recode", {"column": "job", "groups": {"a": ["x"]}})]), end="")
    [[steps]]
    method = "recode"
    column = "job"
    groups = {a = ["x"]}
    """
    head = [f"title = {toml_value(title)}"] if title else []
    head += [f"scenario = {toml_value(scenario)}"] if scenario else []
    blocks = [head] if head else []
    for method, arguments in steps:
        own = [f"{toml_key(name)} = {written(value)}" for name, value in arguments.items()]
        blocks.append(["[[steps]]", f"method = {toml_value(method)}", *own])
    return "\n\n".join("\n".join(lines) for lines in blocks) + "\n"


def written(value: Any) -> str:
    """A value as a recipe file writes it.

    >>> written({"a b": ["x", 1.5]}), written(True)
    ('{"a b" = ["x", 1.5]}', 'true')
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{toml_key(name)} = {written(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    return toml_value(value)
