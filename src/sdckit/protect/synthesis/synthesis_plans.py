"""Synthesis of a plan: the columns that are read come here, and what is drawn becomes a plan of the same engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sdckit.cells.plans.changing import open_changing
from sdckit.data.frames import count_records
from sdckit.data.nearest import did_you_mean
from sdckit.errors import ColumnError, DataError
from sdckit.protect.change import Protected
from sdckit.protect.on_plans import check_made, check_room, with_files


def synthesize_plan(
    data: Any,
    run: Callable[[Any], Protected],
    *,
    read: Callable[[Sequence[str]], Sequence[str]],
    named: Sequence[str],
    drawn: Sequence[str] | None,
    m: int,
    n: int | None,
) -> Protected:
    """What a synthesis makes of a plan.

    `run`: the synthesis of a frame in memory. `read`: which of the columns it reads. `named`: columns that must be
    there. `drawn`: those that are synthesised, None for all. `m`, `n`: files, and records of each.

    Raises ColumnError: a column that is not there. DataError: no records; more values than may be here.
    """
    size = count_records(data)
    if size == 0:
        raise DataError("the data has no records")
    plan = open_changing(data, size)
    for name in named:
        if name not in plan.columns:
            raise ColumnError(f"no column {name!r} in the data; {did_you_mean(str(name), plan.columns)}")
    columns = (
        plan.columns
        if n not in (None, size)
        else [name for name in plan.columns if name in {*read(plan.columns)}]
    )
    check_room(size, columns)
    check_made(m, n or size, len(plan.columns if drawn is None else drawn))
    found = plan.brought(columns)
    made, change = run(found.table)
    files = [one.plan() for one in with_files(plan, found, made)]
    return Protected(files if m > 1 else files[0], change)
