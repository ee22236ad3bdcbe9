"""Which row of the original each released row was made from: the orders that a recipe drew, drawn again."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdckit.data.households import Homes
from sdckit.data.replace import open_eager, pick_rows
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError
from sdckit.numerics.array_types import Ints
from sdckit.protect.by_household import read_homes
from sdckit.protect.change import Change
from sdckit.protect.random_order import row_order
from sdckit.workflow.recipes.recipe_checks import StepLike, checked_step, columns_mentioned
from sdckit.workflow.recipes.recipe_running import run_step

if TYPE_CHECKING:
    from sdckit.workflow.recipes.recipe_log import RecipeLog


def drawn_order(change: Change, before: Any) -> Ints | None:
    """The record that a step put in each row, given the file before it; None where it left the order alone."""
    if change.method != "random_order":
        return None
    household = change.parameters["household"]
    homes = (
        None if household is None else read_homes(open_eager(before, {"household": [household]}), household)
    )
    return row_order(change.n, homes, int(change.secret["seed"]))


def other_number(changes: Sequence[Change], n: int) -> bool:
    """Whether a step made another number of records than n, which stand for none of those before.

    >>> other_number([Change("synthesize", 9, {}, {"n": 9})], 5), other_number([Change("pram", 5, {}, {})], 5)
    (True, False)
    """
    return any(one.parameters.get("n", n) != n for one in changes)


def released_rows(log: RecipeLog, original: Any, folder: Path | None) -> Ints | None:
    """As `RecipeLog.rows`."""
    rows: Ints | None = None
    if original is not None and len(open_eager(original, {})) != log.n:
        raise DataError("the log is about another file: the number of its records differs")
    for number, change in enumerate(log.steps, 1):
        if change.method != "random_order":
            continue
        if other_number(log.steps[:number], log.n):
            raise DataError(
                f"step {number} (random_order) moved {change.n:,} records, and none of them stands for one of the "
                f"{log.n:,} of the original"
            )
        if "seed" not in change.secret:
            raise DataError(
                f"step {number} (random_order) was carried out by Spark, which knows no rows: find the records by a "
                "column that numbers them"
            )
        order = row_order(
            log.n, _homes(log, number, change, original, rows, folder), int(change.secret["seed"])
        )
        rows = order if rows is None else rows[order]
    return rows


def _homes(
    log: RecipeLog, number: int, change: Change, original: Any, rows: Ints | None, folder: Path | None
) -> Homes | None:
    """The households as they were before a step."""
    household = change.parameters["household"]
    if household is None:
        return None
    if original is None:
        raise DataError(
            f"step {number} (random_order) kept households together; give the original file, which has them"
        )
    earlier = log.steps[: number - 1]
    if any(household in one.changed and one.method != "new_ids" for one in earlier):
        return read_homes(open_eager(_before(log, number, original, folder), {}), household)
    frame = open_eager(original, {"household": [household]})
    column = frame.to_native() if rows is None else pick_rows(frame, rows, [household])
    return read_homes(open_eager(column, {}), household)


def _as_read(step: StepLike, columns: Sequence[str]) -> StepLike | None:
    """A step without the identifiers that nobody reads; None where nothing is left of it."""
    if step.method == "new_ids":
        return step if step.arguments["column"] in columns else None
    if step.method != "drop_identifiers":
        return step
    left = [name for name in columns_mentioned([step]) if name in columns]
    return StepLike(step.method, {**step.arguments, "columns": left}) if left else None


def _before(log: RecipeLog, number: int, original: Any, folder: Path | None) -> Any:
    """The file before a step: the steps until there, carried out again on the columns that were read."""
    scenario = Scenario(**tomllib.loads(log.scenario)) if log.scenario else None
    current = original
    for at, table in enumerate(tomllib.loads(log.recipe)["steps"][: number - 1], 1):
        step, key = _as_read(checked_step(at, table), open_eager(current, {}).columns), log.keys.get(at)
        if step is None:
            continue
        current, _ = run_step(at, step, current, scenario=scenario, folder=folder, mixed=log.mixed, key=key)
    return current
