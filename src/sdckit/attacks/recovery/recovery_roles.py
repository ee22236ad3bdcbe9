"""Roles and sizes of classes, as measures of what a release gives back take them: keys may be left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sdckit.data import arguments
from sdckit.data.missing_values.missing import MissingRule
from sdckit.data.scenarios.roles import Roles, resolve_roles
from sdckit.data.scenarios.scenario import Scenario

NO_TRUTH = "the original is not given, or its rows do not belong to those of the release"
NO_KEYS = "no keys are given"


def optional_roles(
    *, keys: Sequence[str] | None, scenario: Scenario | None, missing: MissingRule | None, alpha: float | None,
    id: str | None, weight: str | None = None, household: str | None = None, **columns: Any,
) -> Roles:  # fmt: skip
    """The roles; where neither keys nor a scenario are given, those without keys.

    Raises
    ------
    SdcError
        As `resolve_roles` does; where there are no keys, a name that is none.

    Examples
    --------
    >>> optional_roles(keys=None, scenario=None, missing=None, alpha=None, id="person").keys
    ()
    """
    if keys is not None or scenario is not None:
        return resolve_roles(
            scenario=scenario, keys=keys, missing=missing, alpha=alpha, id=id, weight=weight, household=household,
            **columns,
        )  # fmt: skip
    for role, name in (("weight", weight), ("household", household), ("id", id)):
        arguments.column_or_none(name, role)
    return Roles((), weight, columns.get("sampling_fraction"), household, None, (), (), 1.0, id)


def class_sizes(k: int | Sequence[int]) -> tuple[int, ...]:
    """The sizes of classes that are asked about.

    >>> class_sizes(3), class_sizes([2, 3, 5])
    ((3,), (2, 3, 5))
    """
    given = (k,) if arguments.is_whole(k) else k
    return arguments.counts(given, "k", "is the size of a class", at_least=2)


def shown_size(sizes: Sequence[int], scenario: Scenario | None) -> int:
    """The size of a class that documents tell of: the limit declared, else 3.

    >>> shown_size([2, 3, 5], None), shown_size([2, 4], None)
    (3, 2)
    """
    declared = None if scenario is None else scenario.limits.k
    return declared if declared in sizes else 3 if 3 in sizes else sizes[0]  # type: ignore[return-value]
