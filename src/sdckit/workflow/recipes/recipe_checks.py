"""Validate a recipe against the data before its first step runs: columns, types, sizes, hierarchies."""

import hashlib
import math
import re
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sdckit.catalogue.identity import RISK
from sdckit.data import nearest, replace
from sdckit.data.derived_formula import ENTRY, read_derived
from sdckit.data.frames import holds_numbers
from sdckit.data.limits import LIMITS
from sdckit.data.methods import METHODS, RECOMPUTING
from sdckit.data.scenarios.scenario import Scenario
from sdckit.data.scenarios.scenario_toml import read_toml
from sdckit.display import printable
from sdckit.errors import ColumnError, DataError, FileFormatError, ScenarioError, SdcError, SdcWarning
from sdckit.report.gate.rounding import format_number
from sdckit.workflow.recipes import recipe_steps


class StepLike(NamedTuple):
    """A step of a recipe: the method's name and its arguments."""

    method: str
    arguments: Mapping[str, Any]

    def place(self, number: int) -> str:
        """Name of the step in messages."""
        return f"step {number} ({self.method})"

    @property
    def computes(self) -> bool:
        """Whether it computes columns from others, as the entry ``derived`` of a recipe asks for."""
        return self.method == RECOMPUTING.name


@dataclass
class _Header:
    """Columns expected when a step starts: True if numeric, False if not, None if unknown."""

    kinds: dict[str, bool | None]
    n: int
    gone: dict[str, str] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    texts: dict[str, str] = field(default_factory=dict)

    def check(self, name: str, role: str, place: str) -> None:
        if name in self.kinds:
            return
        error = ScenarioError if role.startswith(ENTRY) else ColumnError
        if name in self.gone:
            raise error(f"{place}, {role}: column {name!r} is gone, {self.gone[name]} left it out")
        near = nearest.did_you_mean(name, self.kinds)
        raise error(f"{place}, {role}: no column {name!r} in the data; {near}")


def check_against(
    steps: Sequence[StepLike], kinds: Mapping[str, Any], n: int, sample: Callable[[list[str]], Any], *,
    scenario: Scenario | None, folder: Path | None, counted: bool = False, trial: bool = False,
) -> None:  # fmt: skip
    """Validate the steps in order without running them.

    `folder` is where paths in the recipe start; `counted`: whether the rows of `frame` are the distinct ones of a plan.
    `trial`: what only a run can tell is left to the run. What will not fit is told with the step and the argument.
    """
    header = _Header({name: holds_numbers(kind) for name, kind in kinds.items()}, n)
    for number, step in enumerate(steps, 1):
        method = recipe_steps.method_of(step.method, f"step {number}")
        place = step.place(number)
        _check_columns(header, method, step.arguments, place)
        k = step.arguments.get("k")
        if isinstance(k, int) and k > header.n:
            raise DataError(f"{place}: k = {k} is more than the {header.n} records of the data")
        _check_scenario(method, step, scenario, place, later=steps[number:])
        if method.kind.plan == "cells":
            _check_suppression(header, step, scenario, place)
        unknown = method.kind.effect == "unknown"
        if not trial and (unknown or "matrix" in step.arguments):
            _try(header, _on_distinct(step) if counted and not unknown else step, sample, folder, place)
        if recipe_steps.n_files(method, step.arguments) != 1 and not all(later.computes for later in steps[number:]):
            raise ScenarioError(f"{place}: several files come of it (m), so it must be the last step")
        _after(header, method, step, place)


def check_roles(steps: Sequence[StepLike], columns: Sequence[str], scenario: Scenario) -> None:
    """Check that the scenario's columns are there; warn of identifiers that would go out."""
    scenario.changed(identifiers=()).check_columns(columns)
    used = columns_used(steps)
    if kept := [name for name in scenario.identifiers if name in columns and name not in used]:
        warnings.warn(
            f"{', '.join(kept)}: a direct identifier by the scenario, and no step deals with it; it stays in the file",
            SdcWarning,
            stacklevel=4,
        )


def placed(error: SdcError, place: str) -> SdcError:
    """The error prefixed with its step, arguments as a recipe writes them: ``k``, and not ``k=`` as Python does.

    Examples
    --------
    >>> str(placed(SdcError("how= is unknown", argument="how"), "step 1 (microaggregate)"))
    'step 1 (microaggregate): how is unknown'
    """
    message, name = str(error), error.argument
    if name is not None:
        message = re.sub(rf"\b{name}=(?=([\s,.;:)]|$)?)", lambda end: name + " = " * (end[1] is None), message)
    return type(error)(f"{place}: {message}", argument=name)


def columns_used(steps: Sequence[StepLike]) -> set[str]:
    """The columns that the steps change or leave out."""
    return {name for step in steps for name in _used(recipe_steps.method_of(step.method, "step"), step.arguments)}


def _used(method: recipe_steps.Method, arguments: Mapping[str, Any]) -> Iterator[str]:
    for role in ("column", "columns", "masked", *(["household"] if method.kind.renumbers else [])):
        yield from recipe_steps.columns_named(method, arguments, role)
    yield from recipe_steps.columns_computed(method, arguments)


def columns_mentioned(steps: Sequence[StepLike]) -> tuple[str, ...]:
    """Every column that a step names and none before it makes: all must be in the file."""
    named: dict[str, None] = {}
    made: set[str] = set()
    for step in steps:
        method = recipe_steps.method_of(step.method, "step")
        here = [name for role in method.columns for name in recipe_steps.columns_named(method, step.arguments, role)]
        named |= dict.fromkeys(name for name in here if name not in made)
        made |= set(recipe_steps.columns_made(method, step.arguments))
    return tuple(named)


def _check_columns(header: _Header, method: recipe_steps.Method, arguments: Mapping[str, Any], place: str) -> None:
    for made in read_derived(arguments[ENTRY]) if method.kind.computes else ():
        for name in (made.column, *made.inputs):
            header.check(name, f"{ENTRY}: {made.column}", place)
    for role in method.columns:
        for name in recipe_steps.columns_named(method, arguments, role):
            header.check(name, role, place)
            if role in method.kind.numbers and header.kinds[name] is False:
                left = f" after {header.texts[name]}" if name in header.texts else ""
                raise DataError(f"{place}, {role}: column {name!r} holds no numbers{left}; {method.name} needs some")
    if arguments.get("bands") is not None and header.kinds[arguments["column"]] is False:
        name = arguments["column"]
        raise DataError(f"{place}: column {name!r} holds no numbers; group its values by groups or hierarchy")
    if arguments.get("period") is not None and header.kinds[arguments["column"]]:
        raise DataError(f"{place}: column {arguments['column']!r} holds numbers, no dates; put them in bands")


def _check_scenario(
    method: recipe_steps.Method, step: StepLike, scenario: Scenario | None, place: str, *, later: Sequence[StepLike]
) -> None:
    if step.arguments.get("risk") in recipe_steps.RISK_MEASURES and "risk" in method.parameters and scenario is None:
        raise ScenarioError(f"{place}: the risk is measured under a scenario; give one, or a column as risk")
    if step.arguments.get("risk") == recipe_steps.GIVEN_BACK and scenario is not None:
        limits = scenario.limits_of(compared=True)
        if limits.k is None and limits.risk is None:
            says = f'risk = "{recipe_steps.GIVEN_BACK}" needs the threshold k or risk in the scenario'
            raise ScenarioError(f"{place}: {says}", argument="risk")
        mixing = [own.method for own in later if METHODS[own.method].plan == "order"]
        if mixing and scenario.household in recipe_steps.columns_named(method, step.arguments, "columns"):
            says = (
                f"{scenario.household!r} numbers the households, which {mixing[0]} needs: let it come before this step"
            )
            raise ScenarioError(f"{place}: {says}", argument="columns")
    if (intruder := step.arguments.get("intruder")) is not None:
        if scenario is None:
            raise ScenarioError(f"{place}: intruder is one of the scenario's, and there is no scenario")
        scenario.intruder(intruder)
    elif scenario is not None and len(scenario.intruders) > 1 and _is_against_one(method, step):
        names = ", ".join(map(repr, scenario.intruders))
        first = next(iter(scenario.intruders))
        says = (
            f'the scenario has several intruders ({names}); name the one whom the step is against: intruder = "{first}"'
        )
        raise ScenarioError(f"{place}: {says}", argument="intruder")


def _is_against_one(method: recipe_steps.Method, step: StepLike) -> bool:
    """Whether a step asks for the keys of an intruder, or for a risk by them."""
    by_risk = "risk" in method.parameters and step.arguments.get("risk") in recipe_steps.RISK_MEASURES
    return by_risk or (method.kind.scenario_keys and "keys" not in step.arguments)


def _check_suppression(header: _Header, step: StepLike, scenario: Scenario | None, place: str) -> None:
    from sdckit.protect.suppression.suppression_choices import read_combinations, read_importance

    given = call_arguments(step, scenario=scenario, folder=None)
    keys, k, combinations = given.get("keys"), given.get("k"), given.get("combinations")
    used = given.get("scenario")
    try:
        if keys is None:
            if used is None:
                raise ScenarioError("say which variables an intruder knows: keys = [...], or a scenario")
            keys = used.keys
            if lost := [name for name in keys if name in header.gone]:
                left = ", ".join(f'"{name}"' for name in keys if name not in header.gone)
                says = f"{header.gone[lost[0]]} leaves out {', '.join(lost)} of the scenario's keys"
                raise ScenarioError(f"{says}: say which are left: keys = [{left}]", argument="keys")
        if k is None and combinations is None and used is not None:
            k = used.limits.k
        read_combinations(keys, k, combinations, header.n)
        read_importance(keys, given.get("importance"))
    except SdcError as error:
        raise placed(error, place) from None


def _try(header: _Header, step: StepLike, sample: Callable[[list[str]], Any], folder: Path | None, place: str) -> None:
    """Trial run of a step that cannot be validated otherwise, on columns that no earlier step changes.

    Values that a recoding misses, and levels that a matrix misses.
    """
    method = recipe_steps.method_of(step.method, place)
    named = [name for role in method.columns for name in recipe_steps.columns_named(method, step.arguments, role)]
    if header.touched & set(named):
        return
    try:
        data = sample(list(dict.fromkeys(named)))
        if method.kind.plan == "records" and isinstance(data, replace.Tallied):
            data = data.frame
        method.function(data, **call_arguments(step, scenario=None, folder=folder))
    except SdcError as error:
        raise placed(error, place) from None


def _on_distinct(step: StepLike) -> StepLike:
    """Validate a randomisation on distinct values: whether its transition matrix has them all."""
    return StepLike(step.method, {name: step.arguments[name] for name in ("columns", "matrix")})


def _after(header: _Header, method: recipe_steps.Method, step: StepLike, place: str) -> None:
    effect = method.kind.effect
    if method.kind.first:  # the header is of what it makes
        return
    header.touched.update(recipe_steps.columns_computed(method, step.arguments))
    for role in ("column", "columns", "keys", "household"):
        for name in recipe_steps.columns_named(method, step.arguments, role):
            header.touched.add(name)
            if role == "household" and not method.kind.renumbers:
                continue
            if effect == "gone":
                header.kinds.pop(name, None)  # one that is listed twice is refused by the step
                header.gone[name] = place
            elif effect == "text" or (role == "column" and step.arguments.get("bands") is not None):
                header.kinds[name], header.texts[name] = False, place
            elif effect == "unknown":
                header.kinds[name] = True if step.arguments.get("period") == "year" else None
    for name in recipe_steps.columns_made(method, step.arguments):
        header.kinds[name] = header.kinds[name.removesuffix(step.arguments["suffix"])]
    copies = step.arguments.get("masked")
    for name in copies.values() if isinstance(copies, Mapping) else ():
        del header.kinds[name]
        header.gone[name] = place
    if effect == "same" and not step.computes and not recipe_steps.columns_named(method, step.arguments, "columns"):
        header.touched.update(header.kinds)


def call_arguments(step: StepLike, *, scenario: Scenario | None, folder: Path | None) -> dict[str, Any]:
    """Keyword arguments of the method: paths resolved, scenario narrowed to the intruder of the step.

    Examples
    --------
    >>> step = StepLike("local_suppression", {"combinations": {"2": 3}})
    >>> call_arguments(step, scenario=None, folder=None)
    {'combinations': {2: 3}}
    """
    given = {name: value for name, value in step.arguments.items() if name != "intruder"}
    if folder is not None:
        given |= {name: folder / path for name, path in _files(step)}
    if isinstance(given.get("combinations"), Mapping):
        given["combinations"] = {
            int(size) if size.isdecimal() else size: k for size, k in given["combinations"].items()
        }
    parameters = recipe_steps.method_of(step.method, "step").parameters
    if scenario is not None and "scenario" in parameters:
        name = step.arguments.get("intruder")
        given["scenario"] = scenario if name is None else scenario.intruder(name)
    return given


def checked_step(number: int, table: Mapping[str, Any]) -> StepLike:
    """Validate one step as given, without data."""
    if not isinstance(table, Mapping):
        raise ScenarioError(f"step {number} is no table of method and arguments")
    method = recipe_steps.method_of(table.get("method"), f"step {number}")
    place = f"step {number} ({method.name})"
    for name in table:
        if not isinstance(name, str):
            raise ScenarioError(f"{place}: names of arguments are text")
    arguments = recipe_steps.plain_arguments({name: value for name, value in table.items() if name != "method"}, place)
    recipe_steps.check_arguments(method, arguments, place)
    if method.kind.computes:
        read_derived(arguments[ENTRY])
    return StepLike(method.name, arguments)


def reads_alone(steps: Sequence[StepLike]) -> bool:
    """Whether the first step alone reads the original, and the others what it made.

    Raises `ScenarioError`: such a step stands later, where others would have read the original before it.
    """
    for number, step in enumerate(steps[1:], 2):
        if METHODS[step.method].first:
            raise ScenarioError(
                f"{step.place(number)} comes first in a recipe, or not at all: it alone reads the original, and the "
                "other steps work on what it made"
            )
    return METHODS[steps[0].method].first


def derived_steps(derived: object, steps: Sequence[StepLike]) -> tuple[StepLike, ...]:
    """The step that an entry ``derived`` asks for after the last of the others; none where the entry is empty.

    Raises `ScenarioError`: a formula cannot be read, or a step changes a column that is computed in the end.

    Examples
    --------
    >>> derived_steps({"annual": "12 * wage"}, [StepLike("round_to", {"column": "annual", "base": 10})])
    Traceback (most recent call last):
    sdckit.errors.ScenarioError: derived: annual is computed after the last step, so step 1 (round_to) changes it in \
vain; leave it out of one of the two
    """
    if derived is None or derived == {}:
        return ()
    read_derived(derived)
    assert isinstance(derived, Mapping)
    for number, step in enumerate(steps, 1):
        method = recipe_steps.method_of(step.method, f"step {number}")
        roles = () if method.kind.keeps else ("keys", "replace")
        named = [name for role in roles for name in recipe_steps.columns_named(method, step.arguments, role)]
        if twice := [name for name in (*_used(method, step.arguments), *named) if name in derived]:
            raise computed_twice(twice[0], step.place(number))
    return (StepLike(RECOMPUTING.name, {ENTRY: dict(derived)}),)


def computed_twice(column: str, place: str) -> ScenarioError:
    """The error of a column that a step changes and that is computed in the end."""
    return ScenarioError(
        f"{ENTRY}: {column} is computed after the last step, so {place} changes it in vain; leave it out of one of "
        "the two", argument=ENTRY,
    )  # fmt: skip


# Reading the steps of a recipe file, and digests of the hierarchies they use.


@contextmanager
def naming(file: Path) -> Generator[None]:
    """Prefix errors about a recipe file with its name."""
    try:
        yield
    except FileFormatError as error:
        raise FileFormatError(str(error).replace("scenario file", "recipe")) from None
    except ScenarioError as error:
        message = str(error).replace("to be a scenario", "to be a recipe")
        message = message if message.startswith(file.name) else f"{file.name}: {message}"
        raise ScenarioError(message, argument=error.argument) from None


def read_steps(path: str | Path) -> tuple[StepLike, ...]:
    """The steps of a recipe file, checked without data.

    Raises `FileFormatError`: the file is absent or cannot be read; `ScenarioError`: it is no recipe.
    """
    file = Path(path)
    with naming(file):
        return checked_steps(recipe_steps.read_entries(read_toml(file)))


def checked_steps(entries: Mapping[str, Any]) -> tuple[StepLike, ...]:
    """Validate the steps of a recipe file; the last computes what its entry ``derived`` asks for.

    Examples
    --------
    >>> checked_steps({"steps": [{"method": "round_to", "column": "income", "base": 10}]})
    (StepLike(method='round_to', arguments={'column': 'income', 'base': 10}),)
    """
    tables = entries.get("steps", ())
    if not tables:
        raise ScenarioError("a recipe has at least one step; start each with [[steps]] in TOML")
    steps = tuple(checked_step(number, table) for number, table in enumerate(tables, 1))
    reads_alone(steps)
    return (*steps, *derived_steps(entries.get(ENTRY), steps))


def hierarchies(steps: Sequence[StepLike]) -> tuple[str, ...]:
    """Paths of the hierarchy files that steps name; those of a first step are none, and a budget goes on."""
    return tuple(dict.fromkeys(path for step in steps if not METHODS[step.method].first for _, path in _files(step)))


def _files(step: StepLike) -> list[tuple[str, str]]:
    """Arguments of a step that are paths, with the paths."""
    given = [(name, step.arguments.get(name)) for name in METHODS[step.method].files]
    return [(name, path) for name, path in given if isinstance(path, str)]


def digests(steps: Sequence[StepLike], folder: Path | None) -> dict[str, str]:
    """SHA-256 digests of the hierarchy files that steps read, by path; absent files are left out."""
    paths = {named: (folder or Path()) / named for named in hierarchies(steps)}
    return {named: hashlib.sha256(path.read_bytes()).hexdigest() for named, path in paths.items() if path.is_file()}


def refuse_emptied(protected: Any, keys: Sequence[str]) -> None:
    """Raise `DataError` where suppression left no value of a key, so that no release could be judged by it."""
    frame = replace.open_eager(protected, {})
    for key in (key for key in keys if key in frame.columns and frame[key].null_count() == len(frame)):
        raise DataError(
            f"suppression would leave no value of {printable(key)}: make it coarser by hand, or leave it out of the "
            "release and of the keys; sdckit propose searches for recodings that keep some"
        )


ALIKE = "sdckit__alike"  # a key that is the same for all
TINY = 1e-9  # a limit reached by rounding is reached


def require_reach(data: Any, scenario: Scenario) -> None:
    """Raise `ScenarioError` where a limit on groups or on their risk does not hold even if all records are alike.

    Recodings and suppression reach no more than that as long as a key goes out, and whatever is done to the keys is
    not to blame.
    """
    from sdckit.cells.as_cells import tabulate_given
    from sdckit.identity.individual_risk import individual_risk
    from sdckit.identity.k_anonymity import k_anonymity

    frame, declared = replace.open_eager(data, {}), scenario.limits.declared
    limited = {name: limit for name, limit in declared.items() if LIMITS[name].aimed and not LIMITS[name].per_variable}
    if not (len(frame) and limited):
        return
    with warnings.catch_warnings(action="ignore", category=SdcWarning):  # of a key that tells nobody apart
        cells = tabulate_given(
            replace.with_new_column(frame, ALIKE, np.zeros(len(frame), np.int64)), keys=[ALIKE], person=scenario.person,
            weight=scenario.weight, sampling_fraction=scenario.sampling_fraction,
        )  # fmt: skip
        largest, least = k_anonymity(cells, k=2).level, individual_risk(cells).max_risk
    for name, limit in limited.items():
        if LIMITS[name].values == "level" and limit > largest:
            raise ScenarioError(
                f"thresholds.{name}: the limit is out of reach: as long as a key goes out, no group is larger than the "
                f"{largest} {'records' if scenario.person is None else 'people'} of the file; lower it",
                argument=f"thresholds.{name}",
            )
        if LIMITS[name].measure == RISK.name and limit < least - TINY:
            raise ScenarioError(
                f"thresholds.{name}: the limit is out of reach with the records there are: as long as a key goes out, "
                f"the risk is larger even if all are alike; leave all keys out, or raise it to {_up(least)} or more",
                argument=f"thresholds.{name}",
            )


def _up(value: float) -> str:
    """A number to two digits, not below it.

    >>> _up(0.000157), _up(0.25), _up(1 / 3)
    ('0.00016', '0.25', '0.34')
    """
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return format_number(math.ceil(value / unit - TINY) * unit, 2)
