"""Run one step of a recipe with its arguments, seed and key; recover the row order that a log records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sdckit.cells.packing import group_codes
from sdckit.data import limits, methods, seeds
from sdckit.data.columns import code_columns, float_values
from sdckit.data.files.file_limits import toml_of
from sdckit.data.frames import open_frame
from sdckit.data.households import Homes, household_variables
from sdckit.data.replace import open_eager, pick_rows
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError, ScenarioError, SdcError, sure
from sdckit.numerics.array_types import Floats, Ints
from sdckit.protect.by_household import read_homes
from sdckit.protect.change import Change, Protected
from sdckit.protect.random_order import row_order
from sdckit.protect.suppression.suppress_above import joining_records
from sdckit.report.chapters.sentences import listed
from sdckit.workflow.recipes.recipe_checks import StepLike, call_arguments, checked_step, columns_mentioned, placed
from sdckit.workflow.recipes.recipe_steps import GIVEN_BACK, LACKING_VALUES, RISK_MEASURES, Method, method_of

if TYPE_CHECKING:
    from sdckit.workflow.recipes.recipe_log import RecipeLog


ROUNDS = 5  # of a step by what the release gives back
STUCK = (
    "some records are still above the threshold though they have no value left in these columns: take out what else of "
    "theirs gives values back, such as amounts, make weights coarser, or leave these records out of the file"
)


def call_of(
    number: int, step: StepLike, *, scenario: Scenario | None, folder: Path | None, mixed: seeds.Mixed,
    key: bytes | str | None,
) -> tuple[Method, dict[str, Any]]:  # fmt: skip
    """The method of a step and the arguments that it is called with, drawn seed and key included."""
    method = method_of(step.method, f"step {number}")
    given = call_arguments(step, scenario=scenario, folder=folder)
    if method.random:
        given["seed"] = mixed.of_step(number)
    return method, given if key is None else {**given, "key": key}


def run_step(
    number: int, step: StepLike, data: Any, *, scenario: Scenario | None, folder: Path | None, mixed: seeds.Mixed,
    key: bytes | str | None = None, lacking: Any = None, given_back: Callable[[Any, Scenario], Floats] | None = None,
) -> Protected:  # fmt: skip
    """Run a step.

    What the method refuses is told with the step; the step's seed is drawn from `mixed`; `key` is for new identifiers.
    `lacking`: what `lacking_values` gives of the data, where it is known. `given_back`: gives the records that a group
    lacks to k with what the data give back to an intruder.
    """
    method, given = call_of(number, step, scenario=scenario, folder=folder, mixed=mixed, key=key)
    given |= _household(method, given, data, scenario)
    try:
        if isinstance(given.get("risk"), str) and given["risk"] in RISK_MEASURES and scenario is not None:
            name = step.arguments.get("intruder")
            whole = scenario if name is None else scenario.intruder(name)
            own = of_release(data, whole)
            if given["risk"] == limits.FOLLOWING.measure:
                given["risk"] = _followed(data, own, mixed.of_step(number))
            elif given["risk"] == LACKING_VALUES:
                lacking = lacking_values(data, own) if lacking is None else lacking
                given["risk"] = _with_joining(data, own, lacking, given["threshold"], given["columns"])
            elif given["risk"] == GIVEN_BACK:
                return _taken_again(method.function, data, given, lambda now: sure(given_back)(now, whole))
            else:
                given["risk"] = risk_of(data, own)
        made: Protected = method.function(data, **given)
    except SdcError as error:
        raise placed(error, step.place(number)) from None
    return made


def _household(method: Method, given: Mapping[str, Any], data: Any, scenario: Scenario | None) -> dict[str, Any]:
    """Default household arguments from the scenario, for a step that does not set them."""
    if scenario is None or scenario.household is None or not method.takes_households:
        return {}
    columns = open_eager(data, {}).columns
    if scenario.household not in columns or given.get("household") is not None:
        return {}
    if method.kind.by_household:
        similar = (name for names in given.get("similar", ()) for name in names)
        moved = [*given["hierarchy"], *given.get("carry_along", ()), *similar]
        shared = household_variables(data, household=scenario.household, among=list(dict.fromkeys(moved)))
        return {"household": scenario.household} if set(moved) <= set(shared) else {}
    defaults: dict[str, Any] = {"household": scenario.household}
    if scenario.household_variables and given.get("household_variables") is None:
        defaults["household_variables"] = [name for name in scenario.household_variables if name in columns]
    return defaults


def of_release(data: Any, scenario: Scenario) -> Scenario:
    """Scenario of one intruder without the columns that earlier steps removed, as the release will be judged."""
    columns = open_eager(data, {}).columns
    own = scenario.of_keys(columns) if {*scenario.keys} & {*columns} else scenario
    return own.narrowed(columns)


def lacking_values(data: Any, scenario: Scenario) -> Any:
    """Number of distinct sensitive values that each record's class lacks to l, a missing key being a category."""
    from sdckit.catalogue import measure

    limit = scenario.limits.l
    if limit is None:
        raise ScenarioError(f'risk = "{LACKING_VALUES}" needs the threshold l in the scenario', argument="risk")
    if not scenario.sensitive:
        says = "needs a sensitive column; the scenario names none, or steps before left it out"
        raise ScenarioError(f'risk = "{LACKING_VALUES}" {says}', argument="risk")
    records: Any = open_frame(measure(LACKING_VALUES).measure(data, scenario=scenario, kind="distinct").records)
    distinct = [float_values(records[name], name) for name in records.columns if name.startswith("distinct_")]
    return limit - reduce(np.minimum, distinct)


def _with_joining(data: Any, scenario: Scenario, lacking: Floats, threshold: float, columns: Sequence[str]) -> Floats:
    """The values lacking, raised for records whose keys go since the class without keys would have too few values."""
    hit = lacking > threshold
    if not hit.any() or not set(scenario.keys) <= set(columns):
        return lacking
    frame = open_eager(data, {})
    keys = code_columns([frame[key] for key in scenario.keys])
    codes = [coded.codes() for coded in keys]
    keyless = np.logical_and.reduce([own == coded.span for own, coded in zip(codes, keys, strict=True)])
    cell = group_codes(codes, len(hit)).of_row.astype(np.int64)
    values = [coded.codes() for coded in code_columns([frame[name] for name in scenario.sensitive])]
    joining = joining_records(cell, hit | keyless, values, int(scenario.limits.l or 0))
    return np.where(joining, threshold + 1, lacking)


def _taken_again(
    function: Callable[..., Protected], data: Any, given: Mapping[str, Any], risk: Callable[[Any], Floats]
) -> Protected:
    """Run a step by a risk of the data until it changes nothing: what it takes out changes what is given back."""
    above = risk(data)
    made = again = function(data, **{**given, "risk": above})
    for _ in range(ROUNDS - 1):
        if again.change.n_changed:
            above = risk(made.data)
            again = function(made.data, **{**given, "risk": above})
        if not again.change.n_changed:
            if (above > given["threshold"]).any():
                made = Protected(made.data, replace(made.change, notes={**made.change.notes, "risk": STUCK}))
            break  # and the file stays the very one that was looked at
        changed = {name: count + again.change.changed[name] for name, count in made.change.changed.items()}
        made = Protected(again.data, replace(made.change, changed=changed))
    return made


def _followed(data: Any, scenario: Scenario, seed: int) -> Any:
    """How often the known rows of a person find that person alone, of as many as the scenario's limit names."""
    from sdckit.catalogue import measure

    limit = getattr(scenario.limits, limits.FOLLOWING.name)
    points = range(1, (2 if limit is None else limit.points) + 1)
    return measure(limits.FOLLOWING.measure).measure(data, scenario=scenario, points=points, seed=seed)


def risk_of(data: Any, scenario: Scenario) -> Any:
    """The individual risk of every record of a file under the scenario."""
    from sdckit.identity.individual_risk import individual_risk

    records: Any = open_frame(individual_risk(data, scenario=scenario).records)
    return float_values(records["risk"], "risk")


# The original row of each released row: the permutations that a recipe drew, drawn again from their seeds.


def drawn_order(change: Change, before: Any) -> Ints | None:
    """Permutation drawn by a step: the former row of each row; None where it kept the order."""
    if methods.kind_of(change.method).plan != "order":
        return None
    household = change.parameters["household"]
    homes = None if household is None else read_homes(open_eager(before, {"household": [household]}), household)
    return row_order(change.n, homes, int(change.secret["seed"]))


def added(changes: Sequence[Change]) -> Change:
    """The changes of one step in each of several files, counted over all of them."""
    first, *others = changes
    n = sum(change.n for change in changes)
    changed = {name: count + sum(other.changed[name] for other in others) for name, count in first.changed.items()}
    return replace(first, n=n, changed=changed) if others else first


def changes_number(changes: Sequence[Change], n: int) -> bool:
    """Whether a step made a number of records other than n, so that rows cannot be matched.

    >>> changes_number([Change("synthesize", 9, {}, {"n": 9})], 5), changes_number([Change("pram", 5, {}, {})], 5)
    (True, False)
    """
    return any(change.parameters.get("n", n) != n for change in changes)


def released_rows(log: RecipeLog, original: Any, folder: Path | None) -> Ints | None:
    """As `RecipeLog.rows`."""
    rows: Ints | None = None
    if original is not None and len(open_eager(original, {})) != log.n:
        raise DataError("the log is about another file: the number of its records differs")
    for number, change in enumerate(log.steps, 1):
        if methods.kind_of(change.method).plan != "order":
            continue
        if changes_number(log.steps[:number], log.n):
            raise DataError(
                f"step {number} ({change.method}) moved {change.n:,} records, and none of them stands for one of the "
                f"{log.n:,} of the original"
            )
        if "seed" not in change.secret:
            raise DataError(
                f"step {number} ({change.method}) was carried out by Spark, which knows no rows: find the records by a "
                "column that numbers them"
            )
        order = row_order(log.n, _homes(log, number, change, original, rows, folder), int(change.secret["seed"]))
        rows = order if rows is None else rows[order]
    return rows


def _homes(
    log: RecipeLog, number: int, change: Change, original: Any, rows: Ints | None, folder: Path | None
) -> Homes | None:
    """Households as they were before a step; None where it did not keep them together."""
    household = change.parameters["household"]
    if household is None:
        return None
    if original is None:
        raise DataError(
            f"step {number} ({change.method}) kept households together; give the original file, which has them"
        )
    if any(household in step.changed and "key" not in step.secret for step in log.steps[: number - 1]):
        return read_homes(open_eager(_before(log, number, original, folder), {}), household)
    frame = open_eager(original, {"household": [household]})
    column = frame.to_native() if rows is None else pick_rows(frame, rows, [household])
    return read_homes(open_eager(column, {}), household)


def _as_read(step: StepLike, columns: Sequence[str]) -> StepLike | None:
    """A step restricted to the columns that were read; None where none of its columns was."""
    if method_of(step.method, "step").keyed:
        return step if step.arguments["column"] in columns else None
    if methods.METHODS[step.method].effect != "gone":
        return step
    left = [name for name in columns_mentioned([step]) if name in columns]
    return StepLike(step.method, {**step.arguments, "columns": left}) if left else None


def _before(log: RecipeLog, number: int, original: Any, folder: Path | None) -> Any:
    """Replay the steps before step `number` on the columns that were read, as long as they change what they did."""
    scenario = Scenario(**toml_of(log.scenario)) if log.scenario else None
    current, same = original, True
    for at, table in enumerate(toml_of(log.recipe)["steps"][: number - 1], 1):
        step, key = _as_read(checked_step(at, table), open_eager(current, {}).columns), log.keys.get(at)
        # what the release gives back leaves the numbers of households as they are
        if step is None or step.arguments.get("risk") == GIVEN_BACK:
            same &= step is None  # what is not run again may be what a later step built on
            continue
        current, change = run_step(at, step, current, scenario=scenario, folder=folder, mixed=log.mixed, key=key)
        logged = log.steps[at - 1].changed
        if other := [name for name, count in change.changed.items() if same and count != logged.get(name, 0)]:
            raise DataError(
                f"the log is about another file: {step.place(at)} changes other values of {listed(other)} than it did; "
                "read the original as it was, with the same codes for missing values"
            )
    return current
