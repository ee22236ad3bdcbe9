"""Cells of the columns of a model; that models of them are those in memory: `tests/utility/test_models_of_plans.py`."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from plans import on_engines
from sdckit.cells.pair import open_files
from sdckit.cells.plans import model_cells as room
from sdckit.cells.plans.model_cells import model_cells, outcome_cells
from sdckit.errors import DataError

FILE = pl.DataFrame(
    {
        "x": ["a", "a", "a", "a", "a", "b", None],
        "y": [1.0, 2.0, 4.0, 4.0, 4.0, 9.0, 3.0],
        "w": [1.0, 5.0, 2.0, 3.0, 4.0, 0.0, 1.0],
    }
)


def opened(plan):
    return open_files(plan(FILE), plan(FILE))


def test_files_in_memory_stay():
    assert model_cells(open_files(FILE, FILE), ["x"], None) is None
    assert outcome_cells(open_files(FILE, FILE), "y", ["x"], None) is None


@on_engines
def test_records_and_weights_of_each_cell(plan):
    cells = model_cells(opened(plan), ["x"], "w")
    own = {value: at for at, value in enumerate(cells.pair.original["x"].to_list())}
    assert [cells.pair.times[0][own[value]] for value in ("a", "b", None)] == [5, 1, 1]
    weights = cells.weights[0]
    assert weights.tops[own["a"]].tolist() == [5, 4, 3, 2]
    assert (weights.records[own["b"]], weights.tops[own["b"]].tolist()) == (0, [0, 0, 0, 0])
    assert (weights.total[own["a"]], weights.squares[own["a"]]) == (15, 55)
    assert model_cells(opened(plan), ["x"], None).weights is None


@on_engines
def test_what_outcomes_within_cells_leave(plan, monkeypatch):
    assert outcome_cells(opened(plan), "y", ["x"], None) is None  # of few values
    monkeypatch.setattr(room, "MANY", 3)
    assert outcome_cells(opened(plan), "y", ["x", "y"], None) is None
    cells = outcome_cells(opened(plan), "y", ["x"], "w")
    within, values = cells.within[0], cells.pair.original["x"].to_list()
    assert within.off.all()  # no value is that of five records
    at = values.index("a")
    assert cells.pair.original["y"][at] == pytest.approx(np.average(FILE["y"][:5], weights=FILE["w"][:5]))
    total, squares, tops = within.residuals(np.full(len(values), 3.0))
    rest = FILE["w"][:5].to_numpy() * (FILE["y"][:5].to_numpy() - 3)
    assert (total[at], squares[at]) == pytest.approx((rest @ (FILE["y"][:5].to_numpy() - 3), rest @ rest))
    assert tops[at].tolist() == sorted(np.abs(rest).tolist(), reverse=True)[:4]
    some = within.take(np.array([at]))
    assert some.residuals(np.array([3.0]))[1].tolist() == [squares[at]]


@on_engines
def test_more_than_fit_are_no_cells(plan, monkeypatch):
    monkeypatch.setattr(room, "most_cells", lambda *_: 2)
    assert model_cells(opened(plan), ["x", "y"], None) is None
    monkeypatch.setattr(room, "MANY", 3)
    assert outcome_cells(opened(plan), "y", ["x"], None) is None
    monkeypatch.setattr("sdckit.cells.plans.lazy.COLLECT_LIMIT", 0)
    with pytest.raises(DataError, match="these 2 columns have 5 different combinations"):
        model_cells(opened(plan), ["x", "y"], None)
