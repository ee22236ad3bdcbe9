"""Which columns two files are compared by, and which of them are numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdckit.cells.pair import Pair, open_files, open_pair, stored_as_numbers
from sdckit.data import arguments
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import releases_have
from sdckit.errors import ColumnError


@dataclass(frozen=True, eq=False)
class Chosen:
    """Variables of an original and its releases, opened.

    `names`: the variables, in the order given or that of the original. `numeric`: those among them that are
    numbers. `notes`: what a reader must know of the choice. `declared`: whether somebody said which are numbers.
    """

    pair: Pair
    names: tuple[str, ...]
    numeric: tuple[str, ...]
    notes: dict[str, str]
    declared: bool = True


def chosen_variables(
    original: Any,
    released: Any = None,
    *,
    variables: Sequence[str] | None = None,
    numeric: Sequence[str] | None = None,
    scenario: Scenario | None = None,
    aligned: bool = False,
    id: str | None = None,
) -> Chosen:
    """Open the files with the variables asked for, or with all that they have in common.

    `variables`: all columns in common unless given, but for the id and the scenario's weight, household, person and
    identifiers. `numeric`: which of them are numbers: else those that the scenario declares, else those stored as
    numbers. Raises ColumnError, DataError, ScenarioError: no column in common, and all that `open_pair` finds.

    >>> import polars as pl
    >>> original = pl.DataFrame({"a": [1.5], "b": ["x"], "c": [1]})
    >>> found = chosen_variables(original, pl.DataFrame({"b": ["y"], "a": [2.5]}))
    >>> found.names, found.numeric
    (('a', 'b'), ('a',))
    """
    scenario = arguments.scenario_or_none(scenario)
    arguments.column_or_none(id, "id")
    notes: dict[str, str] = {}
    opened = open_files(original, released, id=id)
    types = [dict(frame.collect_schema()) for frame in opened.frames]
    names = arguments.names(variables, "variables")
    if names is None:
        names = _in_common(opened, scenario, notes)
    elif not names:
        raise ColumnError(
            "variables= is empty; name at least one column, or leave it out to take all", argument="variables"
        )
    numbers = _numbers(names, types, numeric, scenario, notes)
    others = [name for name in names if name not in numbers]
    pair = open_pair(opened, categories={"variables": others}, numeric={"numeric": numbers}, aligned=aligned)
    if alike := sum(_identical(pair, names, numbers, release) for release in range(pair.m)):
        notes["released"] = (
            f"{releases_have(alike, pair.m)} the original's value in every row of these variables"
        )
    declared = numeric is not None or (scenario is not None and bool(scenario.numeric))
    return Chosen(pair, names, numbers, notes, declared)


def _identical(pair: Pair, names: Sequence[str], numbers: Sequence[str], release: int) -> bool:
    """Whether a release has the original's values row by row (numbers are not coded for it: that takes long)."""
    if pair.sizes[release] != pair.n:
        return False
    for name in names:
        files = pair.numbers(name) if name in numbers else pair.codes(name).codes
        if not np.array_equal(files[0], files[1 + release], equal_nan=name in numbers):
            return False
    return True


def _in_common(opened: Pair, scenario: Scenario | None, notes: dict[str, str]) -> tuple[str, ...]:
    apart: set[str | None] = set()
    if scenario is not None:
        apart = {scenario.weight, scenario.household, scenario.person, *scenario.identifiers}
    names, lacking = opened.shared_columns([*apart])
    if not names:
        raise ColumnError(
            "the files have no variable in common; rename columns that mean the same, or name them by variables=[...]"
        )
    if lacking:
        notes["variables"] = f"left out because not every file has them: {', '.join(sorted(lacking))}"
    return tuple(names)


def _numbers(
    names: Sequence[str],
    types: Sequence[dict[str, Any]],
    numeric: Sequence[str] | None,
    scenario: Scenario | None,
    notes: dict[str, str],
) -> tuple[str, ...]:
    named = arguments.names(numeric, "numeric")
    if named is not None:
        if unknown := [name for name in named if name not in names]:
            raise ColumnError(f"numeric: {unknown[0]!r} is not among the variables", argument="numeric")
        return named
    if scenario is not None and scenario.numeric:
        return tuple(name for name in names if name in scenario.numeric)
    found = stored_as_numbers(types, names)
    if found:
        notes["numeric"] = (
            f"taken as numbers because they are stored so: {', '.join(found)}; numeric=[...] says otherwise"
        )
    return found
