"""Levels within cells, counted in blocks and put aside: those that are counted in one piece."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from draw import quiet
from plans import on_engines
from sdckit.cells.as_cells import as_cells
from sdckit.cells.crosstab import levels_of
from sdckit.cells.plans import count_cells as counting, levels_aside
from sdckit.cells.plans.cells_in_parts import PartedCells
from sdckit.cells.plans.lazy import LazyCells
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError

RNG = np.random.default_rng(4)
N = 400
FRAME = pl.DataFrame(
    {
        "a": RNG.integers(0, 30, N),
        "b": RNG.choice(["x", "y", "naïve"], N),
        "ill": RNG.choice([None, "yes", "no"], N),
        "debt": RNG.choice([0.0, 2.5, 40.0], N),
        "none": pl.Series([None] * N, dtype=pl.String),
    }
)


def by_size(cells, variable):
    """Of every cell its levels, printed, with their records; sorted."""
    table = cells.count_levels(variable)
    labels, kept = table.coded.labels(table.level), table.count.tolist()
    ends = zip(table.edges[:-1], table.edges[1:], strict=True)
    return sorted(sorted(zip(labels[start:stop], kept[start:stop], strict=True)) for start, stop in ends)


@on_engines
def test_parts_have_what_the_whole_has(plan, monkeypatch):
    scenario = Scenario(keys=["a", "b"], sensitive=["ill", "debt"])
    with quiet():
        whole = as_cells(FRAME, scenario=scenario)
        monkeypatch.setattr(counting, "MOST_CELLS", 60)
        monkeypatch.setattr(levels_aside, "BLOCK", 50)
        parts = as_cells(plan(FRAME), scenario=scenario)
    assert isinstance(parts, PartedCells)
    for variable in ("ill", "debt"):
        _, found = parts.by_parts(lambda part, v=variable: (part, (by_size(part, v), levels_of(part, v))))
        assert sorted(cell for cells, _ in found for cell in cells) == by_size(whole, variable)
        expected = levels_of(whole, variable)
        for _, levels in found:
            assert dict(zip(levels.labels(), levels.size.tolist(), strict=True)) == dict(
                zip(expected.labels(), expected.size.tolist(), strict=True)
            )
            assert levels.n_missing == expected.n_missing
    assert parts.levels_of("ill") is parts.levels_of("debt")
    with pytest.raises(DataError, match="'none' has no value in any record"):
        parts.levels_of("none")


def test_levels_that_do_not_fit_beside_cells_that_do(monkeypatch):
    """Cells that fit, with more levels in them than fit, up to four times as many."""
    with quiet():
        whole = as_cells(FRAME, keys=["a"])
        monkeypatch.setattr(counting, "MOST_CELLS", 50)
        found = as_cells(FRAME.lazy(), keys=["a"])
    assert isinstance(found, LazyCells)
    assert by_size(found, "ill") == by_size(whole, "ill")
    numbered = FRAME.with_columns(debt=pl.int_range(N) // 2)
    monkeypatch.setattr(counting, "MOST_CELLS", 90)
    with quiet(), pytest.raises(DataError, match=r"different combinations, and the free memory here takes 90"):
        as_cells(numbered.lazy(), keys=["a"]).count_levels("debt")
