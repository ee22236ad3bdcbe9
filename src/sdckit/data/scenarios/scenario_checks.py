"""Validation of scenarios: contradictions between entries, and messages for errors of pydantic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MappingView, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError

from sdckit.data.limits import LIMITS
from sdckit.data.nearest import did_you_mean
from sdckit.data.packaged import sentences
from sdckit.errors import ScenarioError

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario

SINGLE = ("weight", "household", "person", "time")  # roles that one column has
HOUSEHOLD_VARIABLES = "household_variables"
NUMBER_GROUPS = "number_groups"
NO_MAGNITUDES = (
    "the scenario does not say which columns are magnitudes; write magnitudes = [...] with those that are, or "
    "magnitudes = []"
)
_ENOUGH = 8  # problems in one message; the rest is only counted


def _path(loc: Sequence[int | str], prefix: str) -> str:
    """The path of an entry as in TOML; list positions are 1-based."""
    text = prefix
    for part in loc:
        text += f"[{part + 1}]" if isinstance(part, int) else ("." if text else "") + part
    return text


def _problem(error: Mapping[str, Any], fields: Sequence[str], prefix: str) -> str:
    kind, loc = str(error["type"]), tuple(error["loc"])
    context: Mapping[str, Any] = error.get("ctx", {})
    if kind == "value_error" and isinstance(context.get("error"), ScenarioError):
        return str(context["error"])  # ours, already complete
    if kind == "extra_forbidden":
        name, is_limit = str(loc[-1]), not prefix and len(loc) == 1 and loc[0] in LIMITS
        instead = f"limits stand under [thresholds], as {name} = ..." if is_limit else did_you_mean(name, fields)
        return f"there is no entry '{_path(loc, prefix)}'; {instead}"
    words = sentences("data/scenarios/refusals.toml").get(kind)
    # Messages of pydantic are safe: hide_input_in_errors is set, and `msg` never holds the input.
    return f"{_path(loc, prefix)} {words.format(**context) if words else 'is not valid: ' + str(error['msg'])}"


def explained(error: ValidationError, fields: Sequence[str], *, prefix: str = "") -> ScenarioError:
    """The error of ours for one of pydantic: every problem with its path in the TOML; the first is the argument's.

    Parameters
    ----------
    error
        The error raised by pydantic.
    fields
        Valid entries, to suggest the nearest.
    prefix
        Path of the model in the file, such as ``"thresholds"``.
    """
    errors = error.errors(include_url=False, include_input=False)
    problems = list(dict.fromkeys(_problem(one, fields, prefix) for one in errors))
    more = f"; and {len(problems) - _ENOUGH} more" if len(problems) > _ENOUGH else ""
    ours = errors[0].get("ctx", {}).get("error")
    argument = getattr(ours, "argument", None) or _path(errors[0]["loc"], prefix) or None
    return ScenarioError("; ".join(problems[:_ENOUGH]) + more, argument=argument)


def check_consistent(scenario: Scenario) -> None:
    """Raise a `ScenarioError` at the first contradiction."""
    _check_intruders(scenario)
    _check_weighting(scenario)
    _check_children(scenario)
    _check_repeats(scenario)
    _check_roles(scenario)
    _check_insensitive(scenario)
    _check_missing_keys(scenario)
    scenario.matching.check(scenario.all_keys)
    _check_orders(scenario)
    _check_new(scenario)


def name_intruders(keys: Any, intruders: Any) -> Any:
    """Normalise the ways of declaring intruders to ``{name: list of keys}``."""
    if keys is not None and intruders is not None:
        raise ScenarioError(
            "both keys and intruders are given; keep one (keys is short for one intruder)", argument="keys"
        )
    if keys is not None:
        return {"default": _key_list("keys", keys)}
    if intruders is None:
        words = 'no intruder is declared; name what a stranger could know: keys = ["sex", "age"]'
        raise ScenarioError(words, argument="intruders")
    if not isinstance(intruders, Mapping):
        words = "intruders must be a table of names, each with keys: [intruders.neighbour]"
        raise ScenarioError(words, argument="intruders")
    return {str(name): _intruder_keys(str(name), value) for name, value in intruders.items()}


def _intruder_keys(name: str, value: Any) -> Any:
    place = f"intruders.{name}"
    if not isinstance(value, Mapping):
        return _key_list(place, value)
    for entry in value:
        if entry != "keys":
            raise ScenarioError(f"there is no entry '{place}.{entry}'; {did_you_mean(str(entry), ['keys'])}")
    if "keys" not in value:
        raise ScenarioError(f'{place} has no keys; name the columns this intruder could know: keys = ["sex"]')
    return _key_list(f"{place}.keys", value["keys"])


def listed_names(value: Any) -> Any:
    """A list of names of columns as a tuple, such as pandas' `columns` or an array; anything else as it is.

    A set stays one, since its order differs between runs, and so does a column, or an array in which values repeat:
    these are values of records.

    >>> listed_names(["sex", "age"]), listed_names({"sex": 1}.keys()), listed_names("sex")
    (('sex', 'age'), ('sex',), 'sex')
    """
    of_sequence = isinstance(value, Sequence | MappingView | Iterator) and not isinstance(value, str | bytes)
    if not of_sequence and not any(hasattr(type(value), own) for own in ("get_indexer", "__array_interface__")):
        return value  # neither an index of pandas nor an array of NumPy
    names = tuple(value.tolist() if hasattr(value, "tolist") else value)
    return names if of_sequence or len({*map(str, names)}) == len(names) else value


def _key_list(place: str, value: Any) -> tuple[str, ...]:
    names = listed_names(value)
    if not isinstance(names, tuple):
        raise ScenarioError(f'{place} must be a list of column names, such as ["sex", "age"]', argument=place)
    if not all(isinstance(key, str) and key for key in names):
        raise ScenarioError(f"{place} must hold only column names, as text in quotes", argument=place)
    return names


def check_missing_rules(value: Any) -> None:
    """Check the rule for missing values: pydantic reports a union of text and table unclearly."""
    allowed = ("wildcard", "category", "error")
    rules = dict(value) if isinstance(value, Mapping) else {"": value}
    for key, rule in rules.items():
        if not (isinstance(rule, str) and rule in allowed):
            place = f"missing.{key}" if key else "missing"
            hint = "" if key else ", or a table of them per key"
            raise ScenarioError(f"{place} must be 'wildcard', 'category' or 'error'{hint}", argument="missing")


def roles_of(scenario: Scenario) -> list[tuple[str, str]]:
    """(role, column) pairs in the order in which columns are read."""
    pairs = [(f"intruders.{who}", key) for who, keys in scenario.intruders.items() for key in keys]
    for role in SINGLE:
        column = getattr(scenario, role)
        pairs += [(role, column)] if column is not None else []
    for role in ("sensitive", "numeric", "magnitudes", "ordered", "identifiers", HOUSEHOLD_VARIABLES, NUMBER_GROUPS):
        pairs += [(role, column) for column in getattr(scenario, role)]
    if scenario.ledger is not None and scenario.ledger.id is not None:
        pairs.append(("ledger.id", scenario.ledger.id))
    if scenario.children is not None:
        pairs.append(("children.key", scenario.children.key))
    return pairs


def role_words(role: str) -> str:
    """A role in words."""
    if role.startswith("intruders."):
        who = role.removeprefix("intruders.")
        return "a key" if who == "default" else f"a key of intruder '{who}'"
    words = {
        "identifiers": "an identifier", "numeric": "numeric", "ordered": "ordered", "sensitive": "sensitive",
        "ledger.id": "the id of the ledger", "children.key": "the key of the children",
        HOUSEHOLD_VARIABLES: "a household variable", "magnitudes": "a magnitude", NUMBER_GROUPS: "a group of numbers",
    }  # fmt: skip
    return words.get(role, f"the {role}")


def require_confirmed(scenario: Scenario) -> None:
    """Refuse a scenario with unconfirmed guesses: a release gate must not rest on them."""
    if scenario.unconfirmed:
        raise ScenarioError(
            f"the scenario is not confirmed: {unconfirmed_words(scenario)}. Look at each, correct its role, and "
            "delete its name from 'unconfirmed'; when the list is gone the scenario can be a gate"
        )


def unconfirmed_words(scenario: Scenario) -> str:
    """List the columns to be confirmed; only the first of many, without a number that documents would hide."""
    names = [f"'{name}'" for name in scenario.unconfirmed]
    more = ", …" if len(names) > _ENOUGH else ""
    return f"somebody has to look at what was guessed of {', '.join(names[:_ENOUGH])}{more}"


def _check_intruders(scenario: Scenario) -> None:
    if not scenario.intruders:
        raise ScenarioError("intruders is empty; declare at least one, with its keys", argument="intruders")
    for who, keys in scenario.intruders.items():
        if not keys:
            place = "keys" if who == "default" else f"intruders.{who}.keys"
            raise ScenarioError(f"{place} is empty; name at least one column", argument=place)


def _check_children(scenario: Scenario) -> None:
    if scenario.children is not None and scenario.person not in (None, scenario.children.key):
        raise ScenarioError(
            f"children.key is '{scenario.children.key}' and person '{scenario.person}': people are followed by one "
            "column; leave person out, or name the same"
        )


def _check_weighting(scenario: Scenario) -> None:
    if scenario.weight is not None and scenario.sampling_fraction is not None:
        words = "both weight and sampling_fraction are given; keep the weight if there is one"
        raise ScenarioError(words, argument="sampling_fraction")


def _check_repeats(scenario: Scenario) -> None:
    lists = {
        ("keys" if who == "default" else f"intruders.{who}.keys"): keys for who, keys in scenario.intruders.items()
    }
    several = (
        "sensitive", "magnitudes", "numeric", "ordered", "identifiers", "insensitive", HOUSEHOLD_VARIABLES,
        NUMBER_GROUPS,
    )  # fmt: skip
    lists |= {role: getattr(scenario, role) for role in several}
    for place, names in lists.items():
        for i, name in enumerate(names):
            if name in names[:i]:
                raise ScenarioError(f"{place} names the column '{name}' twice; name it once", argument=place)


def _check_roles(scenario: Scenario) -> None:
    """Check that no column has conflicting roles; see `_ALLOWED_TOGETHER`, and household variables."""
    first: dict[str, str] = {}
    if scenario.household_variables and scenario.household is None:
        raise ScenarioError(
            "household_variables are those that all members of a household share; say which column numbers the "
            'households: household = "..."',
            argument="household",
        )
    for role, column in roles_of(scenario):
        if role in _BESIDE_OTHERS and first.get(column) not in _BESIDE_OTHERS[role]:
            continue
        other = first.setdefault(column, role)
        if other == role or (_family(other), _family(role)) in _ALLOWED_TOGETHER:
            continue
        raise ScenarioError(
            f"column '{column}' is declared as {role_words(other)} and as {role_words(role)}; it can have one role only"
        )


def _check_new(scenario: Scenario) -> None:
    """Check that the variables that no earlier release had are keys or sensitive: nothing else is compared."""
    new = () if scenario.ledger is None else scenario.ledger.new
    for i, name in enumerate(new):
        if name in new[:i]:
            raise ScenarioError(f"ledger.new names the column '{name}' twice; name it once")
        if name not in (*scenario.all_keys, *scenario.sensitive):
            raise ScenarioError(
                f"ledger.new names '{name}', which is neither a key nor sensitive; name those that no earlier release "
                "had"
            )


# Roles beside any other role but these.
_BESIDE_OTHERS = {HOUSEHOLD_VARIABLES: ("household", "person", "identifiers"), NUMBER_GROUPS: ("identifiers",)}
_ALLOWED_TOGETHER = {
    ("intruders", "intruders"), ("intruders", "numeric"), ("sensitive", "numeric"), ("intruders", "ordered"),
    ("sensitive", "ordered"), ("identifiers", "ledger"), ("intruders", "magnitudes"), ("sensitive", "magnitudes"),
    ("numeric", "magnitudes"), ("intruders", "time"), ("time", "numeric"), ("time", "ordered"),
    ("person", "children"), ("household", "children"),
}  # fmt: skip


def is_pattern(entry: str) -> bool:
    """Whether an entry of ``insensitive`` stands for several columns.

    >>> is_pattern("att_*"), is_pattern("att_1")
    (True, False)
    """
    return "*" in entry


def _check_insensitive(scenario: Scenario) -> None:
    """Check that no column named insensitive has another role, and that patterns have a reason."""
    others = {name: role for role, name in reversed(roles_of(scenario)) if role not in _NO_ROLE}
    for name in scenario.insensitive:
        if name in others:
            raise ScenarioError(
                f"column '{name}' is declared as {role_words(others[name])} and as insensitive; it can have one role "
                "only"
            )
    patterns = [entry for entry in scenario.insensitive if is_pattern(entry)]
    if patterns and not scenario.insensitive_because.strip():
        raise ScenarioError(
            f"insensitive has the pattern '{patterns[0]}', which covers columns that nobody names one by one; say who "
            'found them insensitive, and why: insensitive_because = "..."',
            argument="insensitive_because",
        )


# What a column is, not what is known of it or would be learnt from it.
_NO_ROLE = ("numeric", "magnitudes", "ordered", HOUSEHOLD_VARIABLES, NUMBER_GROUPS)


def _family(role: str) -> str:
    return role.partition(".")[0]


def _check_missing_keys(scenario: Scenario) -> None:
    if isinstance(scenario.missing, dict):
        for name in scenario.missing:
            if name not in scenario.all_keys:
                hint = did_you_mean(name, scenario.all_keys)
                raise ScenarioError(f"missing.{name} names no key of an intruder; {hint}", argument="missing")


def _check_orders(scenario: Scenario) -> None:
    """Check that columns with an order or hierarchy are keys or sensitive, and not numeric."""
    used = (*scenario.all_keys, *scenario.sensitive)
    for place, names in (("ordered", scenario.ordered), ("hierarchies", scenario.hierarchies)):
        for name in names:
            if name not in used:
                says = f"{place} names '{name}', which is neither a key nor sensitive; {did_you_mean(name, used)}"
                raise ScenarioError(says)
            if name in scenario.numeric:
                what = "ordered; a number has its order already"
                if place == "hierarchies":
                    what = "has a hierarchy; numbers are grouped in bands"
                raise ScenarioError(f"column '{name}' is numeric and {what}")


# Tables of a scenario, such as ``[ledger]``, the ledger of earlier releases.


Name = Annotated[str, Field(min_length=1)]
STRICT = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class ScenarioTable(BaseModel):
    """Base of the tables of a scenario; errors name its `place`."""

    model_config = STRICT
    place: ClassVar[str]

    def __init__(self, /, **given: Any) -> None:
        try:
            super().__init__(**given)
        except ValidationError as error:
            raise explained(error, list(type(self).model_fields), prefix=self.place) from None

    @property
    def declared(self) -> dict[str, Any]:
        """Entries that differ from their default, by name."""
        return {
            name: getattr(self, name)
            for name, field in type(self).model_fields.items()
            if getattr(self, name) != field.default
        }


class LedgerPlace(ScenarioTable):
    """A ledger of earlier releases, and how a release is compared with them.

    Parameters
    ----------
    folder, key
        The folder of the ledger and the file of its key; paths start where the scenario file lies.
    survey
        Survey of the ledger; not checked if left out.
    people
        Label of the population; releases of other populations are compared by their counts only. If left out, all are
        taken to be about the same people.
    id
        Column that identifies persons, as given to the ledger.
    within
        Greatest difference of counts that is examined (1 or more).
    first
        Whether nothing of the survey went out before: the office's word, without which an empty ledger judges nothing.
    new
        Keys and sensitive variables that no earlier release had in any coding, or that were asked anew under a name of
        their own: the office's word, without which they are not judged.
    add
        Whether `protect` remembers what it writes, as pending until `check` passes it.
    files
        Earlier releases that are at hand, by their names in the ledger: all of their columns are tried as links, where
        the ledger has keys and sensitive variables alone.

    Examples
    --------
    >>> LedgerPlace(folder="ledger", key="ledger.key", people="2024").declared
    {'folder': 'ledger', 'key': 'ledger.key', 'people': '2024'}
    """

    place = "ledger"
    _opened: Any = PrivateAttr(None)

    folder: Name
    key: Name
    survey: Name | None = None
    people: Name | None = None
    id: Name | None = None
    within: Annotated[int, Field(strict=True, ge=1)] = 3
    first: Annotated[bool, Field(strict=True)] = False
    new: tuple[Name, ...] = ()
    add: Annotated[bool, Field(strict=True)] = False
    files: dict[Name, Name] = {}

    def __init__(
        self,
        /,
        *,
        folder: str | Path | None = None,
        key: str | Path | None = None,
        survey: str | None = None,
        people: str | None = None,
        id: str | None = None,
        within: int = 3,
        first: bool = False,
        new: Sequence[str] = (),
        add: bool = False,
        files: Mapping[str, str | Path] = {},
        **unknown: object,
    ) -> None:
        given: dict[str, Any] = {"folder": _as_text(folder), "key": _as_text(key), "survey": survey, "people": people}
        given |= {"id": id, "within": within, "first": first, "new": new, "add": add}
        named = isinstance(files, Mapping)
        given["files"] = {name: _as_text(file) for name, file in files.items()} if named else files
        super().__init__(**given, **unknown)

    @property
    def opened(self) -> Any:
        """The ledger as `check` opened it, without the entries of the file at hand; None where it is not open yet."""
        return self._opened

    def holding(self, opened: Any) -> LedgerPlace:
        """The same place with its ledger opened, so that its chain is verified once."""
        place = self.model_copy()
        place._opened = opened
        return place


class Children(ScenarioTable):
    """Another file with the rows of the people of this one: their visits, the members of a household.

    Parameters
    ----------
    file
        The file; a path starts where the scenario file lies.
    key
        Column of both files that says whose row it is.
    keys
        Columns of that file that an intruder could know of a row.
    time
        Column of that file that says when a row is from.
    released
        The file that goes out with a release, or one for each release.

    Examples
    --------
    >>> Children(file="visits.csv", key="patient", keys=["ward"], time="day").declared
    {'file': 'visits.csv', 'key': 'patient', 'keys': ('ward',), 'time': 'day'}
    """

    place = "children"

    file: Name
    key: Name
    keys: Annotated[tuple[Name, ...], Field(min_length=1)]
    time: Name | None = None
    released: tuple[Name, ...] = ()

    def __init__(
        self,
        /,
        *,
        file: str | Path | None = None,
        key: str | None = None,
        keys: Sequence[str] = (),
        time: str | None = None,
        released: str | Path | Sequence[str | Path] = (),
        **unknown: object,
    ) -> None:
        paths: Any = [released] if isinstance(released, str | Path) else released
        paths = tuple(map(_as_text, paths)) if isinstance(paths, list | tuple) else paths
        given: dict[str, Any] = {"file": _as_text(file), "key": key, "keys": keys, "time": time}
        super().__init__(**given, released=paths, **unknown)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the file that are read."""
        return tuple(dict.fromkeys(filter(None, (self.key, *self.keys, self.time))))


def _as_text(path: Any) -> Any:
    return path.as_posix() if isinstance(path, Path) else path
