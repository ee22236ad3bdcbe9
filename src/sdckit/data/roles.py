"""Which column plays which part: arguments and scenario brought together, and checked against the data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real

from sdckit.data.missing import MissingRule, Rule, missing_rule
from sdckit.data.nearest import did_you_mean
from sdckit.data.scenario import Scenario
from sdckit.errors import ColumnError, DataError, ScenarioError

__all__ = ["Roles", "check_columns", "column_names", "resolve_roles"]


@dataclass(frozen=True)
class Roles:
    """The parts that columns play in one call, explicit arguments before the scenario's."""

    keys: tuple[str, ...]
    weight: str | None
    sampling_fraction: float | None
    household: str | None
    person: str | None
    sensitive: tuple[str, ...]
    rules: tuple[Rule, ...]
    alpha: float
    id: str | None = None

    @property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """Columns by role, for the check that they exist."""
        single = {"weight": self.weight, "household": self.household, "person": self.person, "id": self.id}
        return {
            "keys": self.keys,
            "sensitive": self.sensitive,
            **{role: (name,) for role, name in single.items() if name is not None},
        }


def column_names(given: Sequence[str] | str | None, role: str) -> tuple[str, ...] | None:
    """Read a list of column names as given; None where none is.

    Raises
    ------
    ColumnError
        One text instead of a list, or a name listed twice.
    """
    if given is None:
        return None
    if isinstance(given, str):
        raise ColumnError(f"{role} must be a list of column names; write {role}=[{given!r}]")
    try:
        names = tuple(given)
    except TypeError:
        raise ColumnError(f"{role} must be a list of column names, not {type(given).__name__}") from None
    if twice := sorted({str(name) for name in names if names.count(name) > 1}):
        raise ColumnError(f"{role}: {twice[0]!r} is listed more than once")
    return names


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _chosen_alpha(alpha: float | None, scenario: Scenario | None) -> float:
    value = alpha if alpha is not None else scenario.alpha if scenario is not None else 1.0
    if not _is_number(value) or not 0 <= value <= 1:
        raise DataError("alpha is the weight of a match through a missing value; give a number from 0 to 1")
    return float(value)


def _checked_fraction(value: object) -> float | None:
    if value is None:
        return None
    share = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    if not 0 < share <= 1:
        raise DataError(
            "sampling_fraction is the share of the population in the file; give a number in (0, 1]"
        )
    return share


def _errors_only(missing: MissingRule, keys: Sequence[str], default: Rule) -> MissingRule:
    """The rule of a measure that has a default of its own: a scenario's "error" holds there too."""
    if isinstance(missing, str):
        return missing if missing == "error" else default
    return {key: "error" if missing.get(key) == "error" else default for key in keys}


def resolve_roles(
    *,
    scenario: Scenario | None = None,
    keys: Sequence[str] | None = None,
    weight: str | None = None,
    sampling_fraction: float | None = None,
    household: str | None = None,
    person: str | None = None,
    sensitive: Sequence[str] | str | None = None,
    missing: MissingRule | None = None,
    alpha: float | None = None,
    id: str | None = None,
    default_missing: Rule = "wildcard",
) -> Roles:
    """Bring arguments and scenario together; an explicit argument wins.

    Raises
    ------
    ScenarioError
        Neither keys nor scenario, several intruders, weight together with sampling fraction.
    ColumnError
        Keys given as one text or twice.
    DataError
        A sampling fraction or alpha out of range.
    """
    if scenario is not None and not isinstance(scenario, Scenario):
        raise ScenarioError("scenario= takes a Scenario; read one from a file by Scenario.from_toml(path)")
    if weight is not None and sampling_fraction is not None:
        raise ScenarioError(
            "give weight= or sampling_fraction=, not both: each says how many persons a record is"
        )
    names = column_names(keys, "keys")
    if names is None and scenario is None:
        raise ScenarioError("say which variables an intruder knows: keys=[...] or scenario=")
    if names is None and scenario is not None:
        names = scenario.keys
    if not names:
        raise ScenarioError("keys= is empty; name at least one variable that an intruder knows")
    own = missing is not None
    rule: MissingRule = default_missing  # a scenario speaks of frequencies; other measures keep their default
    if missing is not None:
        rule = missing
    elif scenario is not None and default_missing == "wildcard":
        rule = scenario.missing
    elif scenario is not None:
        rule = _errors_only(scenario.missing, names, default_missing)
    if scenario is not None and weight is None and sampling_fraction is None:
        weight, sampling_fraction = scenario.weight, scenario.sampling_fraction
    sampling_fraction = _checked_fraction(sampling_fraction)
    known = column_names([sensitive] if isinstance(sensitive, str) else sensitive, "sensitive")
    if known is None:
        known = scenario.sensitive if scenario else ()
    return Roles(
        keys=names,
        weight=weight,
        sampling_fraction=sampling_fraction,
        household=household if household is not None or scenario is None else scenario.household,
        person=person if person is not None or scenario is None else scenario.person,
        sensitive=known,
        rules=missing_rule(names, rule, default=default_missing, strict=own),
        alpha=_chosen_alpha(alpha, scenario),
        id=id,
    )


def check_columns(columns: Sequence[str], roles: Roles) -> None:
    """Refuse roles given to columns that do not exist.

    Raises
    ------
    ColumnError
        Names the role, the column and the nearest existing name.
    """
    for role, names in roles.columns.items():
        for name in names:
            if not isinstance(name, str):
                raise ColumnError(f"{role}: column names are text, got {type(name).__name__}")
            if name not in columns:
                raise ColumnError(f"{role}: no column {name!r} in the data; {did_you_mean(name, columns)}")
    if clash := set(roles.keys) & set(roles.sensitive):
        raise ColumnError(
            f"{sorted(clash)[0]!r} is a key and sensitive; an intruder cannot learn what they know"
        )
