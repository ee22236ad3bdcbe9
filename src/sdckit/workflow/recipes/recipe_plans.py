"""Which steps of a recipe run on a plan, and how; and why the others do not.

A recoding is a function of the values of a few columns: the engine counts their distinct rows, the method changes these
in memory as it changes any frame, and the engine puts the new values back. Local suppression is decided on the cells.
What is drawn or chosen for every record is drawn here, on the columns that it needs, and goes back by place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.plans.changing import RECOUNT, Blanked, Changing, Distinct
from sdckit.data.frames import on_spark
from sdckit.data.replace import Tallied
from sdckit.data.scenarios.roles import resolve_roles
from sdckit.errors import ColumnError, DataError, SdcError
from sdckit.protect.change import Change
from sdckit.protect.suppression.suppression_choices import read_combinations
from sdckit.workflow.recipes.recipe_checks import StepLike, call_arguments, placed
from sdckit.workflow.recipes.recipe_records import check_step, in_random_order, run_on_records
from sdckit.workflow.recipes.recipe_steps import columns_made, columns_named, method_of

if TYPE_CHECKING:
    from pathlib import Path

    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.data.seeds import Mixed


Given = Mapping[str, Any]
Way = Callable[[Any, Changing, Given], "tuple[Changing, Change]"]


def _by_values(function: Any, plan: Changing, given: Given) -> tuple[Changing, Change]:
    """A function of the values of a few columns: carried out on their distinct rows."""
    method = method_of(function.__name__, "step")
    rows = plan.distinct(_read(method, given))
    changed, change = function(rows.tallied, **given)
    new = {name: changed[name] for name in rows.columns if name in change.changed}
    return plan.with_values(rows, new), change


def _read(method: Any, given: Given) -> list[str]:
    named = [name for role in method.columns for name in columns_named(method, given, role)]
    return list(dict.fromkeys(named))


def _dropped(_: Any, plan: Changing, given: Given) -> tuple[Changing, Change]:
    names = [given["columns"]] if isinstance(given["columns"], str) else list(given["columns"])
    if len(names) == len(plan.columns):
        raise ColumnError("columns: no column would remain; keep at least one", argument="columns")
    change = Change("drop_identifiers", plan.n, plan.present(names), {"columns": names})
    return plan.without(names), change


def _shuffled(_: Any, plan: Changing, given: Given) -> tuple[Changing, Change]:
    return in_random_order(plan, given.get("household"), given["seed"])


def _by_cells(function: Any, plan: Changing, given: Given) -> tuple[Changing, Change]:
    """Local suppression: cells of k records or more lose nothing and stay one row; the others' records are rows."""
    scenario, strata = given.get("scenario"), given.get("strata") or ()
    roles = resolve_roles(scenario=scenario, keys=given.get("keys"), alpha=given.get("alpha"))
    k = given.get("k")
    if k is None and given.get("combinations") is None and scenario is not None:
        k = scenario.limits.k
    asked = read_combinations(roles.keys, k, given.get("combinations"), plan.n)
    rows = plan.distinct([*roles.keys, *([strata] if isinstance(strata, str) else strata)])
    cell, counts = _records_of(plan, rows, max(level for _, level in asked))
    frame = rows.table.take(cell)
    changed, change = function(Tallied(frame, counts), **given)
    gone = {
        name: np.asarray(changed[name].is_null()) & ~np.asarray(frame[name].is_null()) for name in roles.keys
    }
    return plan.blanked(rows, _as_blanked(rows, cell, gone)), change


def _records_of(plan: Changing, rows: Distinct, k: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The cell of each row of a smaller file, in the order of the plan's, and how many records it stands for."""
    several = np.flatnonzero((rows.size > 1) & (rows.size < k))
    once = np.flatnonzero((rows.size == 1) | (rows.size >= k))
    cell, place = once, rows.first[once]
    if len(several):
        of_cell, where = plan.places_in(rows, several)
        if (np.bincount(of_cell, minlength=len(rows.size))[several] != rows.size[several]).any():
            raise DataError(RECOUNT)
        cell, place = np.concatenate([cell, of_cell]), np.concatenate([place, where])
    cell = cell[np.argsort(place, kind="stable")]
    return cell, np.where(rows.size[cell] < k, 1, rows.size[cell])


def _as_blanked(rows: Distinct, cell: NDArray[np.int64], gone: Mapping[str, NDArray[np.bool_]]) -> Blanked:
    """What the records of each cell lose: all the same, or one this and the other that."""
    n, size = len(rows.size), np.bincount(cell, minlength=len(rows.size))
    losing = {name: np.bincount(cell[hit], minlength=n) for name, hit in gone.items()}
    whole = {name: lost == size for name, lost in losing.items()}
    mixed = np.any([(lost > 0) & ~whole[name] for name, lost in losing.items()], axis=0)
    split = np.flatnonzero(mixed)
    order = np.argsort(cell, kind="stable")
    order = order[mixed[cell[order]]]  # cell after cell, in the order of the file
    return Blanked(whole, split, {name: hit[order] for name, hit in gone.items()})


WAYS: dict[str, Way] = {
    "recode": _by_values,
    "top_bottom_code": _by_values,
    "round_to": _by_values,
    "new_ids": _by_values,
    "drop_identifiers": _dropped,
    "local_suppression": _by_cells,
    "random_order": _shuffled,
}
# Methods whose columns come here record by record.
BY_RECORD = (
    "suppress_above", "pram", "microaggregate", "add_noise", "rank_swap", "shuffle", "swap_records", "synthesize",
    "replace_high_risk", "coarsen_weights", "limit_households", "mask_categorical", "mask_continuous",
    "impute_masked",
)  # fmt: skip
# Arguments with which local suppression is no matter of the cells.
NO_CELLS = ("hide_implied", "together", "household")


def _on_records(step: StepLike, household: str | None) -> bool:
    """Whether a step is carried out record by record. `household`: that of the scenario, if still there."""
    given = step.arguments
    if step.method == "round_to":
        return given.get("how") == "random"
    if step.method != "local_suppression":
        return step.method in BY_RECORD
    shared = given.get("household_variables") != []
    return any(given.get(name) for name in NO_CELLS) or (household is not None and shared)


def _why_not(step: StepLike, by_record: bool, *, spark: bool, mixed_up: bool) -> str:
    """Why a step does not run on a plan; empty where it does. `mixed_up`: whether records were put in random order."""
    if spark and step.method == "random_order" and step.arguments.get("household"):
        return "household: Spark knows no places, so that members of a household cannot be kept together"
    if spark and by_record and mixed_up:
        return "Spark finds no record again once they are in random order: make random_order the last step"
    return ""


def check_on_plan(steps: Sequence[StepLike], plan: Changing, scenario: Scenario | None) -> None:
    """Refuse a recipe with a step that does not run on a plan, before any work.

    Raises DataError: which step, and why.
    """
    household = None if scenario is None else scenario.household
    n, columns, mixed_up, spark = plan.n, plan.columns, False, on_spark(plan.frame)
    for number, step in enumerate(steps, 1):
        by_record = _on_records(step, household)
        if why := _why_not(step, by_record, spark=spark, mixed_up=mixed_up):
            raise DataError(
                f"{step.place(number)} does not run on a plan: {why}. Bring the file into memory for it, or take "
                "another engine"
            )
        if by_record:
            _check_room(number, step, n, columns, scenario)
        n = step.arguments.get("n") or n
        columns = [*columns, *columns_made(method_of(step.method, ""), step.arguments)]
        mixed_up |= step.method == "random_order"
        if step.method == "drop_identifiers":
            gone = _read(method_of(step.method, ""), step.arguments)
            columns = [name for name in columns if name not in gone]
            household = None if household in gone else household


def _check_room(
    number: int, step: StepLike, n: int, columns: Sequence[str], scenario: Scenario | None
) -> None:
    try:
        check_step(step, n, columns, scenario)
    except ColumnError:
        return  # told with the nearest name when the recipe is held against the columns
    except DataError as error:
        raise placed(error, step.place(number)) from None


def sample_of(plan: Changing, names: Sequence[str]) -> Tallied:
    """The distinct rows of some columns: what a step is tried on before the first one runs."""
    return plan.distinct(names).tallied


def run_on_plan(
    number: int, one: StepLike, plan: Changing, *, scenario: Scenario | None, folder: Path | None, mixed: Mixed,
    key: bytes | str | None = None,
) -> tuple[list[Changing], Change]:  # fmt: skip
    """Run a step on a plan, as `run_step` does in memory: one file comes of it, or several."""
    home = None if scenario is None else scenario.household
    if _on_records(one, home if home in plan.columns else None):
        return run_on_records(number, one, plan, scenario=scenario, folder=folder, mixed=mixed, key=key)
    method = method_of(one.method, f"step {number}")
    given = call_arguments(one, scenario=scenario, folder=folder)
    if method.random:
        given["seed"] = mixed.of_step(number)
    if key is not None:
        given["key"] = key
    try:
        made, change = WAYS[one.method](method.function, plan, given)
    except SdcError as error:
        raise placed(error, one.place(number)) from None
    return [made], change
