"""The map around a recipe: the figures of the command line, values of its own, and a bounded time."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import pytest

from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ScenarioError, SdcWarning
from sdckit.report.chapters.map import plain_map
from sdckit.workflow.recipes.explore import Exploration, explore
from sdckit.workflow.recipes.recipe import Recipe
from sdckit.workflow.sessions import exploring, protecting
from session_files import BANDS, MARKER, SCENARIO, SECRET, SUPPRESS, a_desk

PRAM = {"method": "pram", "arguments": {"columns": ["job"], "pd": 0.8}, "on": True}
STEPS = [BANDS, PRAM, SUPPRESS]
GRID = {"3.k": [2, 3], "2.pd": [0.6, 0.9]}
HOW: dict[str, Any] = {"scenario": SCENARIO, "secret": SECRET, "steps": STEPS}


def tell(_: str) -> None:
    """Nobody listens."""


def by_hand(desk: Any) -> Exploration:
    """The same as `sdckit explore` makes it."""
    recipe, scenario = protecting.make_recipe(desk, STEPS), desk.scenario(SCENARIO)
    data = protecting.data_for(desk, recipe, scenario)
    return explore(data, recipe, grid=GRID, scenario=scenario, seed=exploring.SEED)


@pytest.mark.parametrize("exact", [False, True])
def test_the_figures_are_those_of_the_command_line(tmp_path: Path, *, exact: bool) -> None:
    desk = a_desk(tmp_path)
    answer = exploring.explore(desk, tell, grid=GRID, seconds=math.inf, exact=exact, **HOW)
    exploration = by_hand(desk)
    plain = plain_map(exploration, internal=exact)
    points = answer["map"]["points"]
    assert [(point["risk"], point["loss"], point["front"]) for point in points] == [
        (point["risk"]["text"], point["loss"]["text"], point["front"]) for point in plain["points"]
    ]
    for row, point in enumerate(points, 1):
        assert point["steps"] == protecting.plain_steps(exploration.recipe_of(row))
    assert [point["words"] for point in points][:2] == ["3.k = 2, 2.pd = 0.6", "3.k = 2, 2.pd = 0.9"]
    assert all(point["passed"] is not None for point in points)
    assert MARKER not in str(answer)


def test_a_recipe_is_held_against_the_limits_as_its_release_is(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    steps = [{"method": "recode", "arguments": {"column": "age", "bands": [None, 45, None]}, "on": True}]
    grid = {"1.bands": [[None, 45, None], [None, 30, 45, 60, None]]}
    answer = exploring.explore(desk, tell, scenario=SCENARIO, secret=SECRET, steps=steps, grid=grid, seconds=math.inf)
    assert [point["passed"] for point in answer["map"]["points"]] == [False, False]
    assert [point["words"] for point in answer["map"]["points"]] == ["1.bands = choice 1", "1.bands = choice 2"]
    bare = {**SCENARIO, "thresholds": {}}
    answer = exploring.explore(desk, tell, scenario=bare, secret=SECRET, steps=steps, grid=grid, seconds=math.inf)
    assert [point["passed"] for point in answer["map"]["points"]] == [None, None]


def test_the_time_ends_the_search_and_what_was_tried_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk, now = a_desk(tmp_path), [0.0]
    monkeypatch.setattr(exploring.time, "monotonic", lambda: now[0])

    def pass_time(text: str) -> None:
        now[0] += "of 4 recipes" in text and not text.startswith("holding")

    with pytest.warns(SdcWarning, match="the time was over"):
        answer = exploring.explore(desk, pass_time, grid=GRID, seconds=1.5, **HOW)
    assert [point["passed"] for point in answer["map"]["points"]] == [None, None]
    monkeypatch.setattr(exploring, "_hold", lambda *_: False)
    assert len(exploring.explore(desk, tell, grid=GRID, seconds=9.0, **HOW)["map"]["points"]) == 4


def test_what_cannot_be_carried_out_is_left_out_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exploring, "_hold", lambda *_: False)
    desk = a_desk(tmp_path)
    with pytest.warns(SdcWarning, match="a recipe is left out: step 2"):
        answer = exploring.explore(desk, tell, grid={"2.pd": [0.8, 3.0]}, **HOW)
    assert len(answer["map"]["points"]) == 1
    with pytest.warns(SdcWarning, match="left out"), pytest.raises(ScenarioError, match="there is no argument"):
        exploring.explore(desk, tell, grid={"2.nothing": [1]}, **HOW)
    with pytest.raises(ScenarioError, match="100 combinations; at most 60"):
        exploring.explore(desk, tell, grid={"2.pd": [at / 100 for at in range(100)]}, **HOW)
    with pytest.raises(ScenarioError, match="no step has a number or bands"):
        exploring.explore(desk, tell, scenario={**SCENARIO, "thresholds": {}}, secret=SECRET, steps=[SUPPRESS], grid={})


def test_values_come_from_the_steps_and_from_the_limit_of_the_same_name() -> None:
    scenario = Scenario(keys=["age", "job"], thresholds={"k": 3})
    recipe = Recipe([{"method": step["method"], **step["arguments"]} for step in STEPS])
    bands = [[None, 30, 45, 60, None], [None, 45, None]]
    with warnings.catch_warnings(action="error"):
        grid = exploring.values_around(recipe, scenario)
    assert grid == {"1.bands": bands, "2.pd": [0.4, 0.8, 0.9], "3.k": [2, 3, 4, 5]}
    assert math.prod(map(len, grid.values())) <= exploring.USUAL
