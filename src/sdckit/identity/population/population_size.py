"""How large the population behind a file is, and its cells with every missing key a category."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sdckit.cells.as_cells import tabulate_given
from sdckit.cells.record_result import WHOLE, Breakdown
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError

if TYPE_CHECKING:
    from sdckit.cells.table import Cells


def category_cells(
    data: Any,
    *,
    keys: Sequence[str] | None = None,
    weight: str | None = None,
    sampling_fraction: float | None = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    weighted: bool = True,
    broken: Breakdown = WHOLE,
) -> Cells:
    """Tabulate a file for a model of its classes: in memory, a missing key value being a level.

    `broken`: subgroups and intervals, whose columns a plan has to bring.
    """
    cells = tabulate_given(
        data, keys=keys, weight=weight, sampling_fraction=sampling_fraction, scenario=scenario, id=id,
        default_missing="category", weighted=weighted,
    )  # fmt: skip
    if cells.roles.person is not None:
        words = "models of population uniqueness count records; make the file one row per person first"
        raise DataError(f"{words}, or leave person= out")
    return cells.as_categories().in_memory(*broken.extra(cells))


def sampling_fraction_of(cells: Cells) -> float:
    """Share of the population in the file: as given, or records over the sum of weights."""
    if cells.roles.sampling_fraction is not None:
        return cells.roles.sampling_fraction
    if cells.table.weight is None:
        raise DataError("say how large the population is: sampling_fraction= (records over it) or weight=")
    population = math.fsum(cells.table.weight.tolist())
    if population < cells.n * (1 - 1e-9):
        words = "weights must count persons; weights scaled to mean 1 do not (multiply them by population over records)"
        raise DataError(f"the weights sum to less than the number of records: {words}")
    return min(1.0, cells.n / population)


def records_of(cells: Cells, names: Sequence[str], prefix: str) -> Any:
    """Figures per record, where the records are at hand."""
    if cells.source is None:
        words = "a plan's cells are brought here, its records are not"
        raise DataError(f"{words}; collect it first for figures per record")
    return cells.records(names, prefix=prefix)
