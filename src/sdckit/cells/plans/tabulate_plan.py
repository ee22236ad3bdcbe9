"""From a plan to its cells: in memory where they fit, else in parts."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw

from sdckit.cells.plans.count_cells import group_keys, most_cells
from sdckit.cells.plans.lazy import LazyCells, PlanCells
from sdckit.cells.plans.parted import tabulate_parts
from sdckit.cells.tabulate import tabulate_counts
from sdckit.data.frames import built
from sdckit.data.scenarios.roles import Roles


def tabulate_lazy(frame: nw.LazyFrame[Any], roles: Roles, *, learnt: str | None = None) -> PlanCells:
    """Count the cells of a plan on its engine.

    `learnt`: a variable whose levels will be asked for: where they fit, they are counted in the same pass.

    Raises ColumnError, DataError: as `as_cells`; messages give counts, since a plan has no row numbers.
    """
    return built(lambda: _tabulated(frame, roles, learnt))


def _tabulated(frame: nw.LazyFrame[Any], roles: Roles, learnt: str | None) -> PlanCells:
    grouped = group_keys(frame, roles).by_levels(learnt)
    if grouped.learnt is None and (n_cells := grouped.n_cells_if_many()) > most_cells(len(roles.keys)):
        return tabulate_parts(grouped, n_cells)
    counted = grouped.bring()
    here = tabulate_counts(counted, roles)
    return LazyCells(
        keys=roles.keys, n=counted.n, rules=roles.rules, alpha=roles.alpha, n_missing=here.n_missing,
        columns=here.columns, roles=roles, here=here, counted=counted, frame=frame,
        own_columns=tuple(frame.collect_schema().names()),
    )  # fmt: skip
