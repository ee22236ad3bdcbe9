"""The files of an attack and what is asked of it: columns, options, warnings, checked before any work."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sdckit.attacks.attack_rates import FIGURES
from sdckit.cells.pair import Pair
from sdckit.cells.with_control import WithControl, open_with_control, shared_columns
from sdckit.data import arguments
from sdckit.data.nearest import did_you_mean
from sdckit.data.scenario import Scenario
from sdckit.errors import ColumnError, DataError, SdcWarning

__all__ = [
    "Options",
    "all_variables",
    "file_notes",
    "numeric_columns",
    "open_attack",
    "options",
    "subgroups",
]

MATERIAL = 0.05  # a share of people of the original in the control file from which on its rates are not those of others
TOO_COARSE = 0.95  # where so many records of a file are equal, equal ones in two files say nothing


@dataclass(frozen=True, eq=False)
class Options:
    """How many attacks, the confidence of intervals, the subgroups, the random numbers.

    Attributes
    ----------
    n_attacks : int
    level : float
    by : tuple of str
    rng : numpy.random.Generator
    """

    n_attacks: int
    level: float
    by: tuple[str, ...]
    rng: np.random.Generator


def options(n_attacks: int, level: float, by: Sequence[str] | str | None, seed: arguments.Seed) -> Options:
    """Check what can be checked before the files are opened.

    Raises
    ------
    ColumnError, DataError
        `by` is no list of names; a number out of range.
    """
    return Options(
        arguments.count(n_attacks, "n_attacks", "is how many attacks are made"),
        arguments.level(level),
        subgroups(by, FIGURES),
        arguments.seed(seed),
    )


def subgroups(by: Sequence[str] | str | None, figures: Sequence[str]) -> tuple[str, ...]:
    """The columns of subgroups, which stand beside `figures` in a table; one column may stand without a list.

    Raises
    ------
    ColumnError
        No list of names, or the name of a figure.
    """
    names = arguments.names(by, "by", single=True) or ()
    taken = {name.casefold() for name in ("release", *figures)}
    if clash := [name for name in names if str(name).casefold() in taken]:
        raise ColumnError(
            f"by: {clash[0]!r} is the name of a result column; rename it in all files first", argument="by"
        )
    return names


def all_variables(
    original: Any,
    released: Any,
    control: Any,
    variables: Sequence[str] | None,
    scenario: Scenario | None,
    id: str | None,
    notes: dict[str, str],
    without: Sequence[str] = (),
) -> tuple[str, ...]:
    """Choose the variables an intruder compares: those given, the scenario's, else all shared ones.

    Shared by all files; never the id, nor those in `without`.

    Raises
    ------
    ColumnError
        The list is empty, or no list; the control file lacks a variable.
    """
    arguments.column_or_none(id, "id")
    names = arguments.names(variables, "variables")
    if names is None and scenario is not None:
        names = tuple(dict.fromkeys([*scenario.keys, *scenario.sensitive, *scenario.numeric]))
    if names is None:
        own_id = original.id if id is None and isinstance(original, Pair) else id
        shared, left = shared_columns(original, released, control, without=(own_id, *without))
        names = tuple(shared)
        if left:
            notes["variables"] = f"not in every file, left out: {', '.join(map(str, left))}"
    if not names:
        raise ColumnError(
            "variables= is empty; name at least one column that the files share", argument="variables"
        )
    return names


def open_attack(
    original: Any,
    released: Any,
    control: Any,
    *,
    roles: Mapping[str, Sequence[str]],
    by: Sequence[str],
    id: str | None,
    least: int = 2,
) -> WithControl:
    """Open the files, of `least` records or more, and warn where the control file overlaps the original.

    Raises
    ------
    ColumnError, DataError
        As `open_with_control`.
    """
    files = open_with_control(
        original, released, control, categories={**roles, **({"by": by} if by else {})}, id=id, least=least
    )
    if files.has_control:
        files = replace(files, overlap=_overlap(files, [name for names in roles.values() for name in names]))
    if files.overlap:
        warnings.warn(
            f"{_equal(files)}: people of the original in the control file make the residual risk too low",
            SdcWarning,
            stacklevel=3,
        )
    return files


def _equal(files: WithControl) -> str:
    return f"{files.overlap} of {files.n_control} records of the control file equal a record of the original"


def _overlap(files: WithControl, names: Sequence[str]) -> int:
    """Records of the control equal to one of the original, where that is more than coincidence; 0 else."""
    columns = tuple(dict.fromkeys(names))
    size = files.pair.groups(columns).size
    own, other = size[0], size[-1]
    overlap = int(other[own > 0].sum())
    twins = int(own[own > 1].sum() + other[other > 1].sum())
    share = twins / (files.n + files.n_control)  # how often two people are equal by chance
    expected = files.n_control * share
    limit = min(1.5 * expected + 3 * math.sqrt(expected), files.n_control * (1 + share) / 2)
    same = (own > 0).sum() > 1 and np.array_equal(own, other)
    return overlap if same or (share < TOO_COARSE and overlap > limit) else 0


def numeric_columns(
    files: WithControl, names: Sequence[str], numeric: Sequence[str] | None, scenario: Scenario | None = None
) -> tuple[str, ...]:
    """Those of the columns whose differences count: as declared, else all numbers, dates and times.

    Raises
    ------
    ColumnError, DataError
        A declared one is none of the columns, or holds neither numbers nor dates.
    """
    declared = arguments.names(numeric, "numeric")
    if declared is None and scenario is not None and scenario.numeric:
        declared = tuple(name for name in scenario.numeric if name in names)
    if declared is None:
        return tuple(name for name in names if files.ordered(name))
    for name in declared:
        if name not in names:
            raise ColumnError(
                f"numeric: {name!r} is none of the columns used; {did_you_mean(name, names)}",
                argument="numeric",
            )
        if not files.ordered(name) and files.codes(name).n_levels:
            kind = files.codes(name).kind
            if kind == "numbers":
                raise DataError(
                    f"numeric {name!r} holds whole numbers of 16 digits or more; leave it out of numeric"
                )
            raise DataError(f"numeric {name!r} holds {kind}, not numbers or dates; convert it first")
    return declared


def file_notes(files: WithControl, names: Sequence[str], notes: dict[str, str]) -> None:
    """Say that a release is the original, or that people of it are in the control file."""
    same = sum(files.pair.identical(tuple(names))[: files.m])
    if same:
        which = "the release has" if files.m == 1 else f"{same} of {files.m} releases have"
        notes["released"] = f"{which} the original's values of these variables, row by row"
    if files.overlap:
        notes["control"] = f"{_equal(files)}, which makes the residual risk too low"
        if files.overlap >= MATERIAL * files.n_control:
            notes["residual"] = f"not to be relied on: {_equal(files)}"
