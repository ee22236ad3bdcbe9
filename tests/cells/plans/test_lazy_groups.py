from __future__ import annotations

import narwhals.stable.v2 as nw
import polars as pl
import pytest

from sdckit.cells.plans import lazy_groups
from sdckit.cells.plans.lazy_groups import lazy_group_figures
from sdckit.errors import DataError
from sdckit.result import FileFigure

FRAME = pl.DataFrame(
    {
        "area": ["a", "a", None, "b"],
        "code": [1.0, 1.0, float("nan"), None],
        "sdckit__risk": [0.5, 1.0, 0.2, 0.1],
    }
)
FIGURES = (
    FileFigure("mean", "risk"), FileFigure("low", "risk", "sum", below=0.6), FileFigure("high", "risk", above=0.6),
    FileFigure("largest", "risk", "max"), FileFigure("smallest", "risk", "min"),
)  # fmt: skip


def figures(by, frame=FRAME):
    labels, told = lazy_group_figures(nw.from_native(frame.lazy()), {"risk": "sdckit__risk"}, by, FIGURES)
    return labels.to_arrow().to_pylist(), told


def test_an_engine_makes_every_figure():
    labels, told = figures(["area"])
    assert labels == [{"area": "a", "n": 2}, {"area": "b", "n": 1}, {"area": None, "n": 1}]
    assert told == [[0.75, 0.1, 0.2], [1.0, 1.0, 1.0], [0.5, 0.0, 0.0], [1.0, 0.1, 0.2], [0.5, 0.1, 0.2]]


def test_what_is_no_number_is_missing_like_what_is_not_there():
    labels, _ = figures(["code"])
    assert [row["n"] for row in labels] == [2, 2]
    assert labels[1]["code"] is None


def test_too_many_groups_are_refused(monkeypatch):
    monkeypatch.setattr(lazy_groups, "MOST_GROUPS", 2)
    with pytest.raises(DataError, match="more than 2 groups") as caught:
        figures(["area"])
    assert caught.value.argument == "by"
