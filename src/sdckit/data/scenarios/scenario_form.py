"""Conversion between a scenario and the fields of a form: roles, intruders, limits; plain values only."""

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from sdckit.data.limits import RELEASE_WORDS
from sdckit.data.methods import METHODS
from sdckit.data.packaged import packaged
from sdckit.data.scenarios.scenario_checks import SINGLE
from sdckit.errors import ScenarioError

Plain = Mapping[str, Any]
NotAsked = Literal["none"]
NONE: NotAsked = "none"  # written for a limit or a household column: it is not asked, there is none
ROLES: dict[str, str] = packaged("data/scenarios/roles.toml")  # offered in the form, with their descriptions
NO_TYPE = "no type: only the limits below"
# Rules for missing values of keys, in words.
RULES = {"wildcard": "may stand for any value", "category": "is a value of its own", "error": "is not allowed"}
LISTS = {
    "sensitive": "sensitive", "numeric": "numeric", "magnitude": "magnitudes", "identifier": "identifiers",
    "insensitive": "insensitive",
}  # fmt: skip
REST = "*"  # the pattern of every column that has no other role
NOBODY: Plain = {"sensitive": [], "household": NONE, "magnitudes": []}  # how a scenario says that no column has a role
NOBODY_WORDS = {
    "sensitive": "no column is sensitive", "household": "there are no households in the file",
    "magnitudes": "no column is an amount of which few hold much (turnover, income, wealth)",
}  # fmt: skip
FIRST = "default"
PRINTED = 5  # rounding base of counts in documents


def role_of(scenario: Plain, column: str) -> str:
    """The role of a column in a scenario, as in `ROLES`.

    >>> role_of({"intruders": {"a": ["age"]}, "numeric": ["age"]}, "age")
    'key numeric'
    """
    numeric = " numeric" if column in scenario.get("numeric", ()) else ""
    numeric = " magnitude" if column in scenario.get("magnitudes", ()) else numeric
    if any(column in keys for keys in intruders_of(scenario).values()):
        return f"key{numeric}"
    if column in scenario.get("sensitive", ()):
        return f"sensitive{numeric}"
    for name in SINGLE:
        if scenario.get(name) == column:
            return name
    if column in scenario.get("identifiers", ()):
        return "identifier"
    if column in scenario.get("insensitive", ()):
        return "insensitive"
    return numeric.strip() or "ignore"


def intruders_of(scenario: Plain) -> dict[str, list[str]]:
    """The intruders of a scenario by name, with their keys.

    >>> intruders_of({"keys": ["sex"]}), intruders_of({"intruders": {"a": {"keys": ["age"]}}})
    ({'default': ['sex']}, {'a': ['age']})
    """
    if scenario.get("keys"):
        return {FIRST: list(scenario["keys"])}
    intruders = scenario.get("intruders") or {}
    return {name: list(who.get("keys", ()) if isinstance(who, Mapping) else who) for name, who in intruders.items()}


def release_choices(scenario: Plain) -> dict[str, str]:
    """The types of release on offer, with their names: published ones, that of the scenario, and none.

    >>> list(release_choices({"release": "partners"}))
    ['public-use', 'teaching', 'scientific-use', 'enclave', 'synthetic', 'partners', '']
    """
    own = scenario.get("release") or ""
    return {**RELEASE_WORDS, **({} if own in RELEASE_WORDS else {own: own}), "": NO_TYPE}


def fraction_of(population: float, records: int) -> float:
    """The sampling fraction of a file given the size of the population.

    Computed from rounded counts: documents print the fraction beside the rounded number of records, and an exact
    fraction would reveal the exact number.

    Raises `ScenarioError`: the population is smaller than the file.

    >>> fraction_of(400_000, 6366), fraction_of(6366, 6366)
    (0.0159125, 1.0)
    """
    printed = _rounded(records)
    if _rounded(population) < printed:
        raise ScenarioError("the population is smaller than the file, which is a part of it", argument="population")
    return 1.0 if _rounded(population) == printed else printed / population


def population_of(fraction: float, records: int) -> int:
    """The size of the population, given number of records and sampling fraction.

    >>> population_of(0.0159125, 6366)
    400000
    """
    return round(_rounded(records) / fraction)


def sizes_of(scenario: Plain, records: int) -> tuple[str, str]:
    """The sampling fraction and the size of the population as shown in their fields.

    >>> sizes_of({"sampling_fraction": 0.0159125}, 6366), sizes_of({}, 6366)
    (('0.0159125', '400000'), ('', ''))
    """
    fraction = scenario.get("sampling_fraction")
    return ("", "") if fraction is None else (f"{fraction:g}", str(population_of(fraction, records)))


def stated_fraction(base: Plain, records: int, share: str, people: str) -> float | None:
    """The sampling fraction from its two fields, by whichever was edited; unedited, it is kept exactly.

    Raises `ScenarioError`: not a number, a population smaller than the file, or contradictory fields.

    >>> stated_fraction({}, 6366, "", "400000"), stated_fraction({"sampling_fraction": 0.25}, 1000, "0.25", "4000")
    (0.0159125, 0.25)
    """
    shown = sizes_of(base, records)
    if (share.strip(), people.strip()) == shown:
        return base.get("sampling_fraction")
    fraction = number_told("Share of the population in the file", share, argument="sampling_fraction")
    population = number_told("How large the population is", people, argument="population")
    if population is None or people.strip() == shown[1]:
        return fraction
    made = fraction_of(population, records)
    if share.strip() in ("", shown[0]) or f"{made:g}" == f"{fraction:g}":
        return made
    words = "share and size of the population say different things; leave one of them empty"
    raise ScenarioError(words, argument="population")


def _rounded(count: float) -> int:
    return PRINTED * round(count / PRINTED)


def limits_of(scenario: Plain) -> dict[str, Any]:
    """The limits declared by a scenario itself, each as its number."""
    stated = scenario.get("thresholds") or {}
    return {name: limit["alone"] if isinstance(limit, Mapping) else limit for name, limit in stated.items()}


def stated_none(scenario: Plain) -> list[str]:
    """The roles of which a scenario says that no column has them.

    >>> stated_none({"sensitive": [], "household": "none"}), stated_none({"sensitive": ["ill"]})
    (['sensitive', 'household'], [])
    """
    return [role for role, none in NOBODY.items() if role in scenario and scenario[role] == none]


def patterns_of(scenario: Plain) -> list[str]:
    """The patterns of columns that are insensitive.

    >>> patterns_of({"insensitive": ["note", "att_*"]})
    ['att_*']
    """
    return [entry for entry in scenario.get("insensitive", ()) if REST in entry]


def columns_of(scenario: Plain) -> set[str]:
    """All columns named by a scenario, except identifiers, which may already be removed."""
    named = {name for keys in intruders_of(scenario).values() for name in keys}
    named |= {str(scenario[name]) for name in SINGLE if scenario.get(name) not in (None, "", NONE)}
    for role in ("sensitive", "numeric", "magnitudes", "number_groups", "ordered", "household_variables"):
        named |= set(scenario.get(role, ()))
    return named


def fits(scenario: Plain | None, columns: Collection[str]) -> bool:
    """Whether a file with these columns has all columns named by a scenario.

    >>> fits({"keys": ["sex"]}, ["sex", "age"]), fits({"keys": ["job"]}, ["sex"]), fits(None, ["sex"])
    (True, False, False)
    """
    return scenario is not None and columns_of(scenario) <= set(columns)


def declared(
    base: Plain, roles: Mapping[str, str], intruders: Iterable[tuple[str, Sequence[str]]], limits: Plain,
    *, nobody: Collection[str] | None = None, patterns: Sequence[str] | None = None, **others: Any,
) -> dict[str, Any]:  # fmt: skip
    """The scenario from the fields of the form; entries not in the form are kept from `base`.

    Parameters
    ----------
    base
        The scenario so far.
    roles
        The role of each column.
    intruders
        Names, each with the keys that this intruder knows; one that knows none is omitted.
    limits
        By name; None or "" where there is none.
    nobody
        The roles of which is said that no column has them; None keeps what `base` says.
    patterns
        The patterns of insensitive columns; None keeps those of `base`.
    **others
        Entries such as ``release``, ``sampling_fraction``; None takes an entry out.

    Raises
    ------
    ScenarioError
        Two columns have a role that only one can have, or a key is known to no intruder.
    """
    keys = [name for name, role in roles.items() if role.startswith("key")]
    known = {name: [key for key in keys if key in ones] for name, ones in intruders}
    if unknown := [key for key in keys if not any(key in ones for ones in known.values())]:
        raise ScenarioError(
            f"no intruder knows {unknown[0]!r}, which is a key: tick it for one, or give it another role"
        )
    entries = {name: value for name, value in base.items() if name not in ("keys", *SINGLE)}
    entries["intruders"] = {name: ones for name, ones in known.items() if ones}
    for role, entry in LISTS.items():
        entries[entry] = [name for name, chosen in roles.items() if role in chosen.split()]
    entries["insensitive"] += patterns_of(base) if patterns is None else patterns
    for role in SINGLE:
        entries |= _single(role, [name for name, chosen in roles.items() if chosen == role])
    if roles.get(base.get("time", ""), "").startswith("key"):  # it may be known, too
        entries.setdefault("time", base["time"])
    stated = {**limits_of(base), **limits}
    tables = {name: table for name, table in (base.get("thresholds") or {}).items() if isinstance(table, Mapping)}
    entries["thresholds"] = {
        name: {**tables[name], "alone": limit} if name in tables and limit != NONE else limit
        for name, limit in stated.items()
        if limit not in (None, "")
    }
    entries |= others
    used = {*keys, *entries["sensitive"]}
    entries["ordered"] = [name for name in entries.get("ordered", ()) if name in used]
    shared = (name for name in entries.get("household_variables", ()) if roles.get(name, "ignore") != "ignore")
    entries["household_variables"] = list(shared) if entries.get("household") else []
    entries["hierarchies"] = {name: file for name, file in entries.get("hierarchies", {}).items() if name in used}
    if isinstance(entries.get("missing"), Mapping):
        entries["missing"] = {key: rule for key, rule in entries["missing"].items() if key in keys}
    said = {role: NOBODY[role] for role in (stated_none(base) if nobody is None else nobody) if not entries.get(role)}
    return {name: value for name, value in entries.items() if value not in (None, "", [], {}, ())} | said


def _single(role: str, named: Sequence[str]) -> dict[str, str]:
    if len(named) > 1:
        raise ScenarioError(f"{named[0]!r} and {named[1]!r} both have the role {role!r}; only one column can")
    return {role: named[0]} if named else {}


def number_of(text: object, *, whole: bool = False) -> float | int | None:
    """Parse a typed number, with a point or a comma; None for an empty field.

    Raises `ValueError`: not a finite number.

    >>> number_of("0,05"), number_of(" 3 ", whole=True), number_of("")
    (0.05, 3, None)
    """
    typed = str("" if text is None else text).strip().replace(",", ".")
    if not typed:
        return None
    number = int(typed) if whole else float(typed)
    if not math.isfinite(number):
        raise ValueError("no finite number")
    return number


def limit_told(words: str, text: object, *, whole: bool = False, argument: str = "") -> float | int | NotAsked | None:
    """Parse the limit typed into the field with this label: a number, "none", or nothing.

    Raises `ScenarioError`: neither; names the field.

    >>> limit_told("k", "3", whole=True), limit_told("k", " None "), limit_told("k", "")
    (3, 'none', None)
    """
    return NONE if str(text).strip().lower() == NONE else number_told(words, text, whole=whole, argument=argument)


def number_told(words: str, text: object, *, whole: bool = False, argument: str = "") -> float | int | None:
    """Parse the number typed into the field with this label.

    Raises `ScenarioError`: not a number; names the field.
    """
    try:
        return number_of(text, whole=whole)
    except ValueError:
        raise ScenarioError(f"{words}: this is not a {'whole ' if whole else ''}number", argument=argument) from None


def same_roles(first: Any, second: Any) -> bool:
    """Whether two scenarios say the same, in whatever order; a file may write an intruder as a table.

    >>> same_roles({"keys": ["a", "b"]}, {"keys": ["b", "a"]}), same_roles({"keys": ["a"]}, None)
    (True, False)
    >>> same_roles({"intruders": {"one": ["a"]}}, {"intruders": {"one": {"keys": ["a"]}}})
    True
    """
    return bool(_unordered(first) == _unordered(second))


def _unordered(value: Any) -> Any:
    if isinstance(value, Mapping):
        if [*value] == ["keys"]:
            return _unordered(value["keys"])
        return {name: _unordered(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return sorted(json.dumps(entry, sort_keys=True, default=str) for entry in value)
    return value


def is_whole(scenario: Mapping[str, Any] | None) -> bool:
    """Whether the file is taken for the whole population.

    >>> is_whole({"keys": ["sex"]}), is_whole({"keys": ["sex"], "weight": "w"}), is_whole(None)
    (True, False, False)
    """
    return bool(scenario) and not any((scenario or {}).get(name) for name in ("weight", "sampling_fraction"))


LOST = (
    "These files are not there any more: {c}. Roles no longer name them, so that nothing is held against them, and "
    "steps that take one are switched off: give the file again there, or build it."
)


PLACES = ("hierarchies", "ledger", "tables", "children")  # entries of a scenario that name files


def without_lost_files(saved: Plain, folder: Path) -> tuple[dict[str, Any], list[str]]:
    """A saved scenario, its steps and versions without what named files that are not in the folder; and these files.

    Roles no longer name a hierarchy, a ledger, a published table or another file of the people that is lost, and a step
    that takes such a file is switched off.

    >>> saved = {"scenario": {"keys": ["job"], "hierarchies": {"job": "gone.csv"}}, "steps": [], "versions": []}
    >>> without_lost_files(saved, Path("nowhere"))
    ({'scenario': {'keys': ['job']}, 'steps': [], 'versions': []}, ['gone.csv'])
    """
    lost: dict[str, None] = {}

    def is_lost(*names: Any) -> bool:
        gone = [name for name in names if isinstance(name, str) and name != "" and not _is_there(folder / name)]
        lost.update(dict.fromkeys(gone))
        return bool(gone)

    def of_roles(scenario: dict[str, Any]) -> dict[str, Any]:
        named = {name: scenario.pop(name, None) or {} for name in PLACES}
        ledger, children = named["ledger"], named["children"]
        released = children.get("released") or ()
        kept = {
            "hierarchies": {key: name for key, name in named["hierarchies"].items() if not is_lost(name)},
            "ledger": {} if is_lost(ledger.get("folder"), ledger.get("key")) else ledger,
            "tables": [table for table in named["tables"] if not is_lost(table.get("file"))],
            "children": {}
            if is_lost(children.get("file"), *([released] if isinstance(released, str) else released))
            else children,
        }
        return {**scenario, **{name: entry for name, entry in kept.items() if entry}}

    def left(state: Plain) -> dict[str, Any]:
        scenario, steps = of_roles(dict(state["scenario"] or {})), []
        for step in state["steps"]:
            read = [*METHODS[step["method"]].files] if step["method"] in METHODS else []
            gone = [is_lost(step["arguments"].get(name)) for name in read if name != "budget"]  # which may begin anew
            steps.append({**step, "on": bool(step.get("on", True)) and not any(gone)})
        return {**state, "scenario": scenario or None, "steps": steps}

    return {**left(saved), "versions": [left(version) for version in saved.get("versions", ())]}, [*lost]


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # no system has a file of such a name
        return False
