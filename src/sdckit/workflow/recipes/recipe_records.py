"""Steps that treat every record by itself, on a plan: the columns they read come here, and what is new goes back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sdckit.cells.plans.changing import Changing
from sdckit.data.frames import on_spark
from sdckit.data.replace import open_eager
from sdckit.errors import ColumnError, SdcError
from sdckit.protect.by_household import read_homes
from sdckit.protect.change import Change, check_made, check_room, with_files
from sdckit.protect.random_order import row_order
from sdckit.protect.synthesis.synthesize import columns_read as synthesis
from sdckit.workflow.recipes.recipe_checks import StepLike, placed
from sdckit.workflow.recipes.recipe_running import run_step
from sdckit.workflow.recipes.recipe_steps import (
    RISK_MEASURES,
    Method,
    columns_made,
    columns_named,
    method_of,
    n_files,
)

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.data.seeds import Mixed


def columns_read(step: StepLike, columns: Sequence[str], scenario: Scenario | None) -> list[str]:
    """The columns that a step reads, in their order: those it names, and those it takes from the scenario.

    Raises ColumnError: the file does not have one that it names.
    """
    method, given = method_of(step.method, "step"), step.arguments
    named = [name for role in method.columns for name in columns_named(method, given, role)]
    if method.name == "synthesize":  # whatever is not drawn predicts, where nothing is said of it
        needed = synthesis(columns, given.get("columns"), given.get("predictors"), given.get("rules"))
        named += [*needed, *([given["rows"]] if isinstance(given.get("rows"), str) else [])]
    if (
        method.name == "impute_masked" or given.get("n") is not None
    ):  # all variables predict; all records are others
        named += columns
    if absent := [name for name in named if name not in columns]:
        raise ColumnError(f"no column {absent[0]!r} in the data")
    wanted = {*named, *_of_scenario(method, step, scenario)}
    return [name for name in columns if name in wanted]  # as in memory: methods go by the order of the file


def _of_scenario(method: Method, step: StepLike, scenario: Scenario | None) -> list[str]:
    if scenario is None:
        return []
    if step.arguments.get("risk") in RISK_MEASURES:
        return [name for name in scenario.columns if name not in scenario.identifiers]
    home = [] if scenario.household is None else [scenario.household, *scenario.household_variables]
    found = home if method.takes_households else []
    if "scenario" not in method.parameters:
        return found
    intruder = step.arguments.get("intruder")
    one = scenario if intruder is None else scenario.intruder(intruder)
    return [*one.all_keys, *found]


def check_step(step: StepLike, n: int, columns: Sequence[str], scenario: Scenario | None) -> None:
    """Refuse a step that would bring or make more values here than a plan may; asked before any work.

    Raises ColumnError: as `columns_read`. DataError: they are more.
    """
    check_room(n, columns_read(step, columns, scenario))
    given = step.arguments
    m = n_files(method_of(step.method, "step"), given)
    size = given.get("n") or n
    if m > 1 or size != n:
        drawn = given["masked"] if step.method == "impute_masked" else given.get("columns") or columns
        check_made(m, size, len(drawn))


def run_on_records(
    number: int, step: StepLike, plan: Changing, *, scenario: Scenario | None, folder: Path | None, mixed: Mixed,
    key: bytes | str | None = None,
) -> tuple[list[Changing], Change]:  # fmt: skip
    """Run a step in memory on the columns that it reads, and give the plan what came of it: one file, or several.

    Raises SdcError: as the method in memory; more values than come from a plan.
    """
    try:
        names = columns_read(step, plan.columns, scenario)
        check_step(step, plan.n, plan.columns, scenario)
        found = plan.brought(names)
    except SdcError as error:
        raise placed(error, step.place(number)) from None
    changed, change = run_step(
        number, step, found.table, scenario=scenario, folder=folder, mixed=mixed, key=key
    )
    suffix = str(step.arguments.get("suffix"))
    like = {
        name: name.removesuffix(suffix)
        for name in columns_made(method_of(step.method, "step"), step.arguments)
    }
    return with_files(plan, found, changed, like), change


def in_random_order(plan: Changing, household: str | None, seed: int) -> tuple[Changing, Change]:
    """The order that a frame in memory gets; Spark knows no places, and hashes with the seed."""
    told = {"order": "no value is changed; row i is no longer made from row i"}
    spark = on_spark(plan.frame)
    homes = None
    if household is not None:
        check_room(plan.n, [household])
        homes = read_homes(open_eager(plan.brought([household]).table, {}), household)
    order = None if spark else row_order(plan.n, homes, seed)
    secret = {"hashed": str(seed)} if spark else {"seed": seed}
    change = Change("random_order", plan.n, {}, {"household": household}, secret, told)
    return plan.shuffled(order, str(seed)), change
