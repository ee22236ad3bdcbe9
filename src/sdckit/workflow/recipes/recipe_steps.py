"""Arguments of the protection methods as recipe steps, read from their table rows and signatures; TOML in and out."""

import inspect
import math
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

from sdckit.data import formula_text, limits, nearest
from sdckit.data.derived_formula import ENTRY, derived_columns
from sdckit.data.methods import METHODS, MethodKind
from sdckit.data.scenarios.scenario import Scenario
from sdckit.data.scenarios.scenario_toml import toml_entry, toml_value
from sdckit.errors import ScenarioError

# Recipes as TOML: reading and writing.


ENTRIES = ("title", "scenario", ENTRY, "steps")


def plain_arguments(arguments: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Convert the arguments of a step to TOML values; None is an argument not given.

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
        for name, entry in value.items():
            whole = isinstance(name, int) and not isinstance(name, bool) and place.endswith("combinations")
            if not isinstance(name, str) and not whole:
                raise ScenarioError(
                    f"{place}: the names in a table are text in a recipe file, not {type(name).__name__}"
                )
            made[str(name)] = _plain(entry, place)
        return made
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [_plain(entry, place) for entry in value]
    raise ScenarioError(f"{place}: a recipe file holds text, numbers, lists and tables, not {type(value).__name__}")


def read_entries(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Validate the top level of a recipe file."""
    for name, value in entries.items():
        if name not in ENTRIES:
            raise ScenarioError(f"a recipe has no entry {name!r}; {nearest.did_you_mean(name, ENTRIES)}")
        if name not in ("steps", ENTRY) and not isinstance(value, str):
            raise ScenarioError(f'{name} is text; write {name} = "..."')
    steps = entries.get("steps", [])
    if not isinstance(steps, list) or not all(isinstance(step, Mapping) for step in steps):
        raise ScenarioError('steps are tables; start each with [[steps]] and method = "..."')
    return dict(entries)


def write_recipe(
    title: str, scenario: str | None, steps: Sequence[tuple[str, Mapping[str, Any]]],
    derived: Mapping[str, str] = MappingProxyType({}),
) -> str:  # fmt: skip
    """Write a recipe as TOML.

    Examples
    --------
    >>> print(write_recipe("", None, [("recode", {"column": "job", "groups": {"a": ["x"]}})]), end="")
    [[steps]]
    method = "recode"
    column = "job"
    groups = {a = ["x"]}
    """
    head = {"title": title, "scenario": scenario, ENTRY: derived}
    blocks = [[toml_entry(name, value) for name, value in head.items() if value]]
    for method, arguments in steps:
        own = {"method": method, **arguments}
        blocks.append(["[[steps]]", *(toml_entry(name, value) for name, value in own.items())])
    return "\n\n".join("\n".join(lines) for lines in blocks if lines) + "\n"


written = toml_value  # a value as a recipe file writes it


# Arguments given when a recipe is applied: the recipe may be passed on, they may not.
ELSEWHERE = {
    "seed": "seed= of apply (--seed)",
    "key": "id_keys= of apply (--id-key COLUMN=FILE)",
    "scenario": "scenario= of apply (--scenario), or of the recipe as a whole",
}
# Arguments that name columns in every method that has them.
NAMING = (
    "column", "columns", "keys", "household", "strata", "by", "given", "match", "replace", "numeric", "sort_by",
    "risk", "order", "carry_along", "similar", "household_variables", "together", "weight", "hide", "size",
    "margins",
)  # fmt: skip
TABLES = ("models", "rules")  # name columns only where they are tables
RISK_MEASURE = limits.LIMITS["risk"].measure
LACKING_VALUES = limits.LIMITS["l"].measure  # sensitive values that a record's group lacks to the threshold l
GIVEN_BACK = "recoverable_values"  # records that a group lacks to the threshold k with what a release gives back
RISK_MEASURES = (RISK_MEASURE, LACKING_VALUES, limits.FOLLOWING.measure, GIVEN_BACK)


@cache  # a recipe asks hundreds of times, and reading a signature takes a third of a millisecond
def _after_the_data(function: Any) -> Mapping[str, inspect.Parameter]:
    return MappingProxyType(dict(list(inspect.signature(function).parameters.items())[1:]))


@dataclass(frozen=True)
class Method:
    """A protection method as a step: its row, and the arguments that its signature has."""

    kind: MethodKind

    @property
    def name(self) -> str:
        """The method, as a recipe names it."""
        return self.kind.name

    @property
    def function(self) -> Any:
        """The function itself."""
        import sdckit

        return getattr(sdckit, self.name)

    @property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """Its arguments after the data, by their names in a recipe."""
        return _after_the_data(self.function)

    @property
    def columns(self) -> tuple[str, ...]:
        """Arguments that name columns."""
        own = self.parameters
        return tuple(name for name in dict.fromkeys((*NAMING, *self.kind.naming)) if name in own)

    @property
    def offered(self) -> tuple[str, ...]:
        """Arguments that a recipe may set."""
        own = [name for name in self.parameters if name not in {*ELSEWHERE, *self.kind.not_in_recipe}]
        # who takes a risk may take that of one intruder
        of_intruder = not self.kind.first and {"scenario", "risk"} & set(self.parameters)
        return tuple([*own, "intruder"] if of_intruder else own)

    @property
    def random(self) -> bool:
        """Whether it takes a seed."""
        return "seed" in self.parameters

    def draws(self, arguments: Mapping[str, Any]) -> bool:
        """Whether it draws random numbers when it is called so."""
        return self.random and (not self.kind.draws_with or any(map(arguments.get, self.kind.draws_with)))

    @property
    def keyed(self) -> bool:
        """Whether it takes a key, which makes new identifiers."""
        return "key" in self.parameters

    @property
    def takes_households(self) -> bool:
        """Whether it treats household variables once per household."""
        return "household_variables" in self.parameters or self.kind.by_household


def method_of(name: object, place: str) -> Method:
    """The method of a step; `place` is the step's place in the recipe, for the message.

    Examples
    --------
    >>> method_of("pramm", "step 2")
    Traceback (most recent call last):
    sdckit.errors.ScenarioError: step 2: there is no method 'pramm'; did you mean 'pram'?
    """
    if not isinstance(name, str) or not name:
        raise ScenarioError(f'{place} names no method; write method = "recode", or another of: {", ".join(METHODS)}')
    if name not in METHODS:
        raise ScenarioError(f"{place}: there is no method {name!r}; {nearest.did_you_mean(name, METHODS)}")
    return Method(METHODS[name])


def columns_made(method: Method, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Columns that a step adds to the file: masked copies beside the originals.

    >>> columns_made(method_of("mask_categorical", "step 1"), {"columns": ["job"], "suffix": "_masked"})
    ('job_masked',)
    """
    suffix = arguments.get("suffix")
    if not isinstance(suffix, str):
        return ()
    return tuple(name + suffix for name in columns_named(method, arguments, "columns"))


def columns_computed(method: Method, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Columns that a step computes from others.

    >>> columns_computed(method_of("recompute", "step 1"), {"derived": {"total": "wage + rest"}})
    ('total',)
    """
    return tuple(arguments.get(method.kind.computes, ()))


def n_files(method: Method, arguments: Mapping[str, Any]) -> int:
    """Number of files that a step makes.

    >>> n_files(method_of("synthesize", "step 1"), {}), n_files(method_of("impute_masked", "step 1"), {})
    (1, 10)
    """
    if "m" not in method.parameters:
        return 1
    return int(arguments.get("m", method.parameters["m"].default))


def is_all_new(method: str, arguments: Mapping[str, Any]) -> bool:
    """Whether a step makes fully synthetic rows.

    >>> is_all_new("synthesize", {"m": 3}), is_all_new("synthesize", {"columns": ["age"]})
    (True, False)
    """
    return METHODS[method].new_rows and ("n" in arguments or not {"columns", "rows"} & set(arguments))


def check_arguments(method: Method, arguments: Mapping[str, Any], place: str) -> None:
    """Raise where arguments are unknown, of the wrong type, or missing."""
    elsewhere = {**ELSEWHERE, **method.kind.not_in_recipe}
    for name, value in arguments.items():
        if name in elsewhere:
            raise ScenarioError(f"{place}: {name} does not belong in a recipe; give {elsewhere[name]}")
        if name not in method.offered:
            near = nearest.did_you_mean(name, method.offered)
            raise ScenarioError(f"{place}: {method.name} has no argument {name!r}; {near}")
        kind = str if name == "intruder" else annotation_of(method, name)
        if name == "combinations" or _fits(value, kind):
            continue
        words = _words(kind)
        given = "another text" if isinstance(value, str) and '"' in words else _kind(value)
        if _fits(_without_quotes(value), kind):
            given = "numbers in quotes: write them, -inf and inf among them, without"
        raise ScenarioError(f"{place}: {name} takes {words}, not {given}")
    needed = [
        name
        for name, parameter in method.parameters.items()
        if parameter.default is parameter.empty and name not in arguments and name not in ELSEWHERE
    ]
    if needed:
        raise ScenarioError(f"{place}: {method.name} needs {needed[0]!r}; add {needed[0]} = ...")


def columns_named(method: Method, arguments: Mapping[str, Any], role: str) -> tuple[str, ...]:
    """Columns that an argument names: as a string, in a list, or in a table.

    Examples
    --------
    >>> columns_named(method_of("pram", "step 1"), {"columns": ["job"]}, "columns")
    ('job',)
    """
    given = arguments.get(role)
    if given is None or role not in method.columns or (role == "risk" and given in RISK_MEASURES):
        return ()
    if isinstance(given, Mapping):
        inside = [_inside(role, entry) for entry in given.values()] if role != ENTRY else [derived_columns(given)]
        return tuple(dict.fromkeys([*given, *(name for names in inside for name in names)]))
    if isinstance(given, str):
        return () if role in TABLES else (given,)
    parts = [(entry,) if isinstance(entry, str) else entry for entry in given] if isinstance(given, list) else []
    return tuple(name for part in parts if isinstance(part, list | tuple) for name in part if isinstance(name, str))


def _inside(role: str, value: Any) -> tuple[str, ...]:
    """Columns named in the values of a table: predictors of a variable, and its masked copy."""
    if role == "masked" and isinstance(value, str):
        return (value,)
    if role != "predictors":
        return ()
    if isinstance(value, str) and "~" in value:
        return formula_text.formula_columns(value)
    return tuple(name for name in value if isinstance(name, str)) if isinstance(value, list | tuple) else ()


def annotation_of(method: Method, name: str) -> Any:
    """Type annotation of an argument, evaluated where the signature has it as text."""
    written = method.parameters[name].annotation
    if not isinstance(written, str):
        return written
    names = method.function.__globals__
    aliases = {name: value for name, value in names.items() if isinstance(value, str) and name in written}
    try:
        # Our own annotations, not the user's text; an alias may be written as text, too.
        known = {**names, **{name: eval(alias, names) for name, alias in aliases.items() if name[0].isupper()}}  # noqa: S307
        return eval(written, known)  # noqa: S307
    except (NameError, TypeError):
        return Any  # the method checks this argument itself


def _fits(value: Any, kind: Any) -> bool:
    """Whether a TOML value matches a type annotation."""
    if kind is Any or kind is object or isinstance(kind, typing.TypeVar | str | typing.ForwardRef):
        return True
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, option) for option in inner)
    if origin is Literal:
        return any(value == option and type(value) is type(option) for option in inner)
    if origin in (Sequence, list, tuple):
        return isinstance(value, list | tuple) and all(_fits(entry, inner[0] if inner else Any) for entry in value)
    if origin is Mapping or origin is dict:
        return isinstance(value, Mapping) and all(_fits(entry, inner[1]) for entry in value.values())
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return kind in (str, bool) and isinstance(value, kind)


def _without_quotes(value: Any) -> Any:
    """The value with texts that are numbers as these.

    >>> _without_quotes({"young": ["-inf", 40], "old": ["40", "x"]})
    {'young': [-inf, 40], 'old': [40.0, 'x']}
    """
    if isinstance(value, list | tuple):
        return [*map(_without_quotes, value)]
    if isinstance(value, Mapping):
        return {name: _without_quotes(entry) for name, entry in value.items()}
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _words(kind: Any) -> str:
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(dict.fromkeys(filter(None, map(_words, inner))))
    if origin is Literal:
        return " or ".join(f'"{option}"' if isinstance(option, str) else str(option).lower() for option in inner)
    if origin in (Sequence, list, tuple):
        return f"a list of {_PLURAL.get(inner[0], 'values')}" if inner else "a list"
    if origin is Mapping or origin is dict:
        return "a table {name = ...}"
    return _SINGLE.get(kind, "")


_SINGLE = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}
_PLURAL = {int: "whole numbers", float: "numbers", str: "texts"}


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, list | tuple):
        return "a list of other things" if value else "an empty list"
    if isinstance(value, Mapping):
        return "a table"
    return _SINGLE.get(type(value), type(value).__name__)


def whom_of(scenario: Scenario, name: str) -> dict[str, Any]:
    """Argument of a step that names an intruder; empty where there is only one."""
    return {"intruder": name} if len(scenario.intruders) > 1 else {}


def lose_values(scenario: Scenario, name: str, measure: str, threshold: Any, columns: Sequence[str]) -> dict[str, Any]:
    """The step that suppresses columns of the records above a threshold."""
    return {
        "method": "suppress_above", **whom_of(scenario, name), "risk": measure, "threshold": threshold,
        "columns": [*columns],
    }  # fmt: skip
