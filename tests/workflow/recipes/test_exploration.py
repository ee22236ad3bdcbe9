"""The map: its table, its front, its recipes."""

from __future__ import annotations

import math

import polars as pl

import sdckit as sdc
from sdckit.workflow.recipes.exploration import Exploration, Point
from sdckit.workflow.recipes.recipe_figures import FIGURES

RECIPE = sdc.Recipe([{"method": "pram", "columns": ["a"]}])


def point(risk: float, loss: float, pd: float, note: str = "") -> Point:
    figures = {**dict.fromkeys(FIGURES, 0.0), "below_k": risk, "pmse": loss}
    return Point({"pram.pd": pd}, figures, note, behind=100, small=0)


POINTS = (point(4, 0.2, 0.5), point(9, 0.1, 0.9), point(math.nan, math.nan, 0.0, "why"), point(9, 0.2, 0.8))
MAP = Exploration(POINTS, "below_k", "pmse", 120, 3, RECIPE, pl.__name__)


def test_the_table_and_the_front() -> None:
    assert MAP.on_front == (True, True, False, False)
    assert MAP.table["pram.pd"].to_list() == [0.5, 0.9, 0.0, 0.8]
    assert MAP.table["note"].to_list() == ["", "", "why", ""]
    assert MAP.front["row"].to_list() == [1, 2]
    assert MAP.recipe_of(2).steps[0].arguments["pd"] == 0.9
    assert "2 on the front" in repr(MAP)


def test_the_chart_shows_protected_figures() -> None:
    shown = MAP.plot().to_dict()
    text = str(shown)
    assert "'risk_text': '<5'" in text
    assert "'risk_text': '4'" not in text
    assert "'risk_text': '4'" in str(MAP.plot(internal=True).to_dict())
