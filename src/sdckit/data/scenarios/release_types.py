"""What a file is released as, and the limits that go with it: published ones, an office's, the scenario's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdckit.data.limits import LIMITS, limits_of_type
from sdckit.data.nearest import did_you_mean
from sdckit.data.scenarios.scenario_form import RELEASE_WORDS
from sdckit.data.scenarios.scenario_toml import read_toml
from sdckit.data.scenarios.thresholds import read_limits
from sdckit.display import displayed
from sdckit.errors import ScenarioError

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario


ENTRY = "release_types"
NONE = "none"  # an office's word for: this limit is not asked of files of the type

# Where they come from stands in docs/release-types.md.
RELEASE_TYPES: dict[str, Mapping[str, int | float]] = {name: limits_of_type(name) for name in RELEASE_WORDS}

NO_RELEASE = "no original stands beside the file"
LACKING = {
    "household": "no household column is declared", "sensitive": "no sensitive variable is declared",
}  # fmt: skip


@dataclass(frozen=True)
class Limit:
    """A limit in force.

    Attributes
    ----------
    value : int or float
    origin : str
        "scenario", "release type" (published) or "office".
    of_type : int, float or None
        What the type of release asks; None where it asks nothing.
    """

    value: int | float
    origin: str
    of_type: int | float | None

    def words(self, release: str) -> str:
        """Say where the limit comes from.

        Examples
        --------
        >>> Limit(5, "release type", 5).words("public-use")
        'limit of a public-use file'
        >>> Limit(3, "scenario", 5).words("public-use")
        'limit of the scenario (a public-use file: 5)'
        """
        if self.origin == "scenario":
            beside = "" if self.of_type is None else f" ({a_release(release)}: {self.of_type:g})"
            return f"limit of the scenario{beside}"
        return f"{'the office’s limit' if self.origin == 'office' else 'limit'} of {a_release(release)}"


def release_words(name: str | None) -> str:
    """What a type of release is called in words.

    Examples
    --------
    >>> release_words("public-use"), release_words("partners")
    ('public-use file', '“partners”')
    """
    return "not stated" if name is None else RELEASE_WORDS.get(name, f"“{displayed(name)}”")


def a_release(name: str) -> str:
    """Say the same with its article.

    Examples
    --------
    >>> a_release("scientific-use")
    'a scientific-use file'
    """
    return (
        f"a {RELEASE_WORDS[name]}" if name in RELEASE_WORDS else f"a release of the type “{displayed(name)}”"
    )


def office_types(given: Any) -> Any:
    """Take an office's types as a table, or as the path of a TOML file that holds nothing else.

    Raises `FileFormatError`: the file cannot be read; `ScenarioError`: it says something else.
    """
    if not isinstance(given, str | Path):
        return {} if given is None else given
    path = Path(given)
    entries = read_toml(path, what="file of release types")
    for name in entries:
        if name != ENTRY:
            hint = did_you_mean(name, [ENTRY])
            raise ScenarioError(f"{path.name}: there is no entry '{name}' in a file of release types; {hint}")
    types = entries.get(ENTRY)
    if not isinstance(types, Mapping) or not types:
        raise ScenarioError(f"{path.name} names no release type; write a table such as [{ENTRY}.public-use]")
    try:
        _check_types(types)
    except ScenarioError as error:
        raise ScenarioError(f"{path.name}: {error}") from None
    return types


def check_release(scenario: Scenario) -> None:
    """Raise a `ScenarioError` where the type of release is unknown, or an office's table says what no limit can be."""
    _check_types(scenario.release_types)
    known = [*RELEASE_TYPES, *(name for name in scenario.release_types if name not in RELEASE_TYPES)]
    if scenario.release is not None and scenario.release not in known:
        *most, last = (f"'{name}'" for name in known)
        raise ScenarioError(
            f"release must be one of {', '.join(most)} or {last}; types of your own are tables "
            "[release_types.NAME] with their limits"
        )


def _check_types(types: Mapping[str, Any]) -> None:
    """Check an office's tables, each limit as those of a scenario are checked."""
    for name, limits in types.items():
        place = f"{ENTRY}.{name}"
        if not name.strip():
            raise ScenarioError(f"{ENTRY} has a type without a name; name it, as in [{ENTRY}.partners]")
        if not isinstance(limits, Mapping):
            raise ScenarioError(f"{place} must be a table of limits, such as k = 5")
        # What is not asked has no number; its name is still checked.
        read_limits(place, {entry: None if limit == NONE else limit for entry, limit in limits.items()})


def limits_in_force(scenario: Scenario, *, compared: bool) -> dict[str, Limit]:
    """Say what a file must keep: the scenario's own limits, then those of its type of release.

    A type's limit that asks for a role which the scenario does not name is not in force; one on a release beside
    its original is where the two are `compared`. The scenario's own always are.
    """
    types = _of_type(scenario)
    own = scenario.thresholds.declared
    found = {
        name: Limit(value, "scenario", types[name].value if name in types else None)
        for name, value in own.items()
    }
    found |= {
        name: limit
        for name, limit in types.items()
        if name not in own and not _lacks(name, scenario, compared=compared)
    }
    return {name: found[name] for name in type(scenario.thresholds).model_fields if name in found}


def limits_not_asked(scenario: Scenario, *, compared: bool) -> dict[str, str]:
    """Name the limits of the type that are not in force, each with its reason."""
    waiting = {name for name in _of_type(scenario) if name not in scenario.thresholds.declared}
    reasons = {
        name: _lacks(name, scenario, compared=compared)
        for name in type(scenario.thresholds).model_fields
        if name in waiting
    }
    return {name: reason for name, reason in reasons.items() if reason}


def _of_type(scenario: Scenario) -> dict[str, Limit]:
    """The limits of the scenario's type of release: published ones, each replaced where the office says otherwise."""
    if scenario.release is None:
        return {}
    published = RELEASE_TYPES.get(scenario.release, {})
    found = {name: Limit(value, "release type", value) for name, value in published.items()}
    for name, value in scenario.release_types.get(scenario.release, {}).items():
        found.pop(name, None)
        if value != NONE:
            found[name] = Limit(value, "office", value)
    return found


def _lacks(name: str, scenario: Scenario, *, compared: bool) -> str:
    """Why a limit of the type has nothing to be about, or nothing."""
    kind = LIMITS[name]
    if kind.scope == "release" and not compared:
        return NO_RELEASE
    return LACKING[kind.needs] if kind.needs and not getattr(scenario, kind.needs) else ""
