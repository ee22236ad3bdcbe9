"""Steps that treat every record by itself, on a plan: the columns they read come here, and what is new goes back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sdckit.cells.plans.changing import Changing
from sdckit.cells.plans.lazy import COLLECT_LIMIT
from sdckit.data.frames import on_spark
from sdckit.data.replace import open_eager
from sdckit.errors import ColumnError, DataError, SdcError
from sdckit.protect.by_household import read_homes
from sdckit.protect.change import Change
from sdckit.protect.random_order import row_order
from sdckit.protect.synthesis.synthesize import columns_read as synthesis
from sdckit.workflow.recipes.recipe_checks import StepLike, placed
from sdckit.workflow.recipes.recipe_running import run_step
from sdckit.workflow.recipes.recipe_steps import RISK_MEASURES, Method, columns_named, method_of

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.data.seeds import Mixed

__all__ = ["check_room", "columns_read", "in_random_order", "run_on_records"]


def columns_read(step: StepLike, columns: Sequence[str], scenario: Scenario | None) -> list[str]:
    """The columns that a step reads: those it names, and those it takes from the scenario.

    Raises ColumnError: the file does not have one that it names.
    """
    method, given = method_of(step.method, "step"), step.arguments
    named = [name for role in method.columns for name in columns_named(method, given, role)]
    if method.name == "synthesize":  # whatever is not drawn predicts, where nothing is said of it
        needed = synthesis(columns, given.get("columns"), given.get("predictors"), given.get("rules"))
        named += [*needed, *([given["rows"]] if isinstance(given.get("rows"), str) else [])]
    if absent := [name for name in named if name not in columns]:
        raise ColumnError(f"no column {absent[0]!r} in the data")
    wanted = [name for name in _of_scenario(method, step, scenario) if name in columns]
    return list(dict.fromkeys([*named, *wanted]))


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


def check_room(n: int, columns: Sequence[str]) -> None:
    """Refuse a step that would bring more values here than `COLLECT_LIMIT`; asked before anything is brought.

    Raises DataError: they are more.
    """
    if n * len(columns) > COLLECT_LIMIT:
        raise DataError(
            f"it brings {len(columns)} columns of {n:,} records here, and from a plan at most {COLLECT_LIMIT:,} values "
            "come; treat parts of the file, or bring the columns into memory yourself"
        )


def run_on_records(
    number: int, step: StepLike, plan: Changing, *, scenario: Scenario | None, folder: Path | None, mixed: Mixed,
    key: bytes | str | None = None,
) -> tuple[Changing, Change]:  # fmt: skip
    """Run a step in memory on the columns that it reads, and give the plan what came of it.

    Raises SdcError: as the method in memory; more values than come from a plan.
    """
    try:
        names = columns_read(step, plan.columns, scenario)
        check_room(plan.n, names)
        found = plan.brought(names)
    except SdcError as error:
        raise placed(error, step.place(number)) from None
    changed, change = run_step(
        number, step, found.table, scenario=scenario, folder=folder, mixed=mixed, key=key
    )
    return plan.with_records(found, changed), change


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
