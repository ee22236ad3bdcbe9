"""Where the cells of a plan go: into memory up to the limit, in parts beyond it."""

from __future__ import annotations

import polars as pl
import pytest

from draw import quiet
from plans import on_engines, opened
from sdckit.cells.plans import count_cells as counting
from sdckit.cells.plans.lazy import LazyCells
from sdckit.cells.plans.parted import PartedCells
from sdckit.cells.plans.tabulate_plan import tabulate_lazy
from sdckit.data.scenarios.roles import resolve_roles


@on_engines
@pytest.mark.parametrize(("most", "kind"), [(100, LazyCells), (12, LazyCells), (11, PartedCells)])
def test_by_how_many_fit(plan, monkeypatch, most, kind):
    frame = opened(plan, pl.DataFrame({"a": [i % 12 for i in range(40)], "b": ["x"] * 40}))
    monkeypatch.setattr(counting, "MOST_CELLS", most)
    with quiet():
        found = tabulate_lazy(frame, resolve_roles(keys=["a", "b"]))
    assert (type(found), found.n, found.n_cells) == (kind, 40, 12)
