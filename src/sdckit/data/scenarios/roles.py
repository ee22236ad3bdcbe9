"""Roles of columns: arguments and scenario merged, and checked against the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sdckit.data import arguments, hierarchy
from sdckit.data.missing_values.missing import MissingRule, Rule, missing_rule
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ColumnError, FileFormatError, ScenarioError

# Reading the hierarchies declared by a scenario.


def read_hierarchies(scenario: Scenario, columns: Sequence[str]) -> dict[str, hierarchy.Hierarchy]:
    """Read the declared hierarchies of some columns.

    Raises `FileFormatError`: as `read_hierarchy`, with the entry.

    >>> read_hierarchies(Scenario(keys=["region"]), ["region"])
    {}
    """
    hierarchies = {}
    for name in columns:
        if (file := scenario.hierarchies.get(name)) is not None:
            try:
                hierarchies[name] = hierarchy.read_hierarchy(scenario.folder / file)
            except FileFormatError as error:
                raise FileFormatError(f"hierarchies.{name}: {error}") from None
    return hierarchies


MOST_KEYS = 1_000


@dataclass(frozen=True)
class Roles:
    """Roles of columns in one call; explicit arguments override the scenario."""

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
        """Columns by role, to check that they exist."""
        single = {"weight": self.weight, "household": self.household, "person": self.person, "id": self.id}
        given = {role: (name,) for role, name in single.items() if name is not None}
        return {"keys": self.keys, "sensitive": self.sensitive, **given}


def _errors_only(missing: MissingRule, keys: Sequence[str], default: Rule) -> MissingRule:
    """The rule of a measure with its own default, where only "error" of the scenario applies."""
    if isinstance(missing, str):
        return missing if missing == "error" else default
    return {key: "error" if missing.get(key) == "error" else default for key in keys}


def resolve_roles(
    *, scenario: Scenario | None = None, keys: Sequence[str] | None = None, weight: str | None = None,
    sampling_fraction: float | None = None, household: str | None = None, person: str | None = None,
    sensitive: Sequence[str] | str | None = None, missing: MissingRule | None = None,
    alpha: float | None = None, id: str | None = None, default_missing: Rule = "wildcard",
) -> Roles:  # fmt: skip
    """Merge arguments and scenario; explicit arguments take precedence.

    Raises `ScenarioError`: neither keys nor scenario, several intruders, weight together with sampling fraction, or
    not a scenario; `ColumnError`: keys given as one string or twice, a role that is not a column name; `DataError`: a
    sampling fraction or alpha out of range.
    """
    scenario = arguments.scenario_or_none(scenario)
    for role, name in {"weight": weight, "household": household, "person": person, "id": id}.items():
        arguments.column_or_none(name, role)
    if weight is not None and sampling_fraction is not None:
        says = "give weight= or sampling_fraction=, not both: each says how many persons a record is"
        raise ScenarioError(says, argument="sampling_fraction")
    names = arguments.names(keys, "keys")
    if names is None:
        if scenario is None:
            raise ScenarioError("say which variables an intruder knows: keys=[...] or scenario=", argument="keys")
        names = scenario.keys  # none where a release left out all of an intruder's
    elif not names:
        raise ScenarioError("keys= is empty; name some variable that an intruder knows", argument="keys")
    if len(names) > MOST_KEYS:
        raise ScenarioError(
            f"{len(names):,} keys; an intruder is taken to know {MOST_KEYS} variables at most: on so many nearly every "
            "record is alone, whatever is done. Name those that somebody may know",
            argument="keys",
        )
    rule: MissingRule = default_missing  # the rule of a scenario is for frequencies; other measures keep their default
    if missing is not None:
        rule = missing
    elif scenario is not None and default_missing == "wildcard":
        rule = scenario.missing
    elif scenario is not None:
        rule = _errors_only(scenario.missing, names, default_missing)
    if scenario is not None and weight is None and sampling_fraction is None:
        weight, sampling_fraction = scenario.weight, scenario.sampling_fraction
    sampling_fraction = arguments.sampling_fraction_or_none(sampling_fraction)
    if alpha is None:
        alpha = scenario.alpha if scenario is not None else 1.0
    known = arguments.names(sensitive, "sensitive", single=True)
    if known is None:
        known = scenario.sensitive if scenario else ()
    return Roles(
        keys=names, weight=weight, sampling_fraction=sampling_fraction,
        household=household if household is not None or scenario is None else scenario.household,
        person=person if person is not None or scenario is None else scenario.person, sensitive=known,
        rules=missing_rule(names, rule, default=default_missing, strict=missing is not None),
        alpha=arguments.share(alpha, "alpha", "is the weight of a match through a missing value"), id=id,
    )  # fmt: skip


def check_columns(columns: Sequence[str], roles: Roles) -> None:
    """Check that all columns with a role exist.

    Raises `ColumnError`: with the role, the column and the nearest existing name; or a key is also sensitive.
    """
    for role, names in roles.columns.items():
        for name in names:
            if not isinstance(name, str):
                raise ColumnError(f"{role}: column names are text, got {type(name).__name__}", argument=role)
            arguments.present([name], columns, role, argument=role)
    if clash := set(roles.keys) & set(roles.sensitive):
        says = f"{sorted(clash)[0]!r} is a key and sensitive; an intruder cannot learn what they know"
        raise ColumnError(says, argument="sensitive")
