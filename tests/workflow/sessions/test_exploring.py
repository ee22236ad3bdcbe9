"""The map of recipes: printed figures and verdicts of what was run, values of its own, and a bounded time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sdckit.data import losses
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ScenarioError, SdcWarning
from sdckit.report.chapters.map import plain_map
from sdckit.report.wording import wording
from sdckit.workflow.recipes.explore import Exploration
from sdckit.workflow.recipes.recipe import Recipe
from sdckit.workflow.sessions import exploring, protecting, releasing
from sdckit.workflow.sessions.answering import answer
from session_files import BANDS, GROUPS, MARKER, SCENARIO, SECRET, STEPS, SUPPRESS, a_desk

HOW: dict[str, Any] = {"scenario": SCENARIO, "secret": SECRET}
PRAM = {"method": "pram", "arguments": {"columns": ["job"], "pd": 0.8}, "on": True}
FINE = {"method": "recode", "arguments": {"column": "age", "bands": [None, 19, 20, 21, 60, None]}, "on": True}
TOP = {"method": "recode", "arguments": {"column": "age", "bands": [None, 45, None]}, "on": True}


def tell(_: str) -> None:
    """Nobody listens."""


@pytest.mark.parametrize("exact", [False, True])
def test_the_map_has_every_recipe_that_was_run_under_the_roles_with_steps_and_verdict(
    tmp_path: Path, *, exact: bool
) -> None:
    desk = a_desk(tmp_path)
    releasing.release(desk, tell, steps=[BANDS], exact=exact, **HOW)
    other = {**SCENARIO, "intruders": {"neighbour": ["age"]}}
    protecting.run(desk, tell, scenario=other, steps=[BANDS], secret=SECRET)
    drawn = exploring.map_of_recipes(desk, tell, steps=STEPS, exact=exact, **HOW)["map"]
    assert [point["passed"] for point in drawn["points"]] == [False, None]
    assert [point["steps"] for point in drawn["points"]] == [[BANDS], STEPS]
    chosen = desk.scenario(SCENARIO)
    points, recipes = zip(*protecting.tried(desk, chosen), strict=True)
    exploration = Exploration(points, protecting.RISK, losses.DIFFERING, 240, 3, recipes[0], "polars")
    plain = plain_map(exploration, internal=exact)
    printed = [(point["risk"]["text"], point["loss"]["text"], point["front"]) for point in plain["points"]]
    assert [(point["risk"], point["loss"], point["front"]) for point in drawn["points"]] == printed
    assert len(exploring.map_of_recipes(desk, tell, steps=STEPS, **HOW)["map"]["points"]) == 2


def test_recipes_around_one_are_run_and_judged_as_their_releases_are(tmp_path: Path) -> None:
    sent: list[dict[str, Any]] = []
    request = {"task": "exploring.explore", "arguments": {**HOW, "steps": [FINE, GROUPS]}, "file": {}}
    desk = a_desk(tmp_path)
    answer(desk, request, sent.append)
    result, partial = sent[-1]["result"], [message["partial"] for message in sent if "partial" in message]
    points = result["map"]["points"]
    bands = [point["steps"][0]["arguments"]["bands"] for point in points]
    assert bands == [FINE["arguments"]["bands"], [None, 20, 60, None]]
    assert [point["passed"] for point in points] == [False, True]
    assert all(point["passed"] is None for point in partial[0]["map"]["points"])
    assert [releasing.release(desk, tell, steps=point["steps"], **HOW)["passed"] for point in points] == [False, True]
    assert MARKER not in str(sent)


@pytest.mark.parametrize("loss", [*losses.DRAWN, losses.INFORMATION])
def test_the_map_may_be_of_another_loss(tmp_path: Path, loss: str) -> None:
    desk = a_desk(tmp_path)
    drawn = exploring.explore(desk, tell, steps=[BANDS], loss=loss, **HOW)["map"]
    assert drawn["loss"] == losses.DRAWN[losses.drawn(loss)]
    assert len(drawn["points"]) == 2
    assert all(point["loss"] not in ("", "withheld") for point in drawn["points"])
    again = exploring.map_of_recipes(desk, tell, steps=[BANDS], loss=loss, **HOW)["map"]
    assert [point["loss"] for point in again["points"]] == [point["loss"] for point in drawn["points"]]


def test_a_recipe_that_perturbs_a_key_has_no_place_among_losses_of_coarser_ones(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    with pytest.raises(ScenarioError, match="made coarser and not changed otherwise"):
        exploring.map_of_recipes(desk, tell, steps=[PRAM], loss="loss", **HOW)
    exploring.map_of_recipes(desk, tell, steps=[BANDS], **HOW)
    assert len(exploring.map_of_recipes(desk, tell, steps=[PRAM], loss="loss", **HOW)["map"]["points"]) == 1


def test_the_time_ends_the_search_and_what_was_tried_is_kept(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    with pytest.warns(SdcWarning, match="the time was over"):
        drawn = exploring.explore(desk, tell, steps=[TOP, SUPPRESS], seconds=-1.0, **HOW)["map"]
    assert [point["passed"] for point in drawn["points"]] == [None]


def test_what_cannot_be_carried_out_is_no_point_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk, wrong = a_desk(tmp_path), {**PRAM, "arguments": {"columns": ["nothing"]}}
    recipes = [protecting.make_recipe(desk, [wrong])]
    monkeypatch.setattr(exploring, "around", lambda *_: recipes)
    with pytest.warns(SdcWarning, match="a recipe is left out") as warned:
        drawn = exploring.explore(desk, tell, steps=[BANDS], **HOW)["map"]
    lacking: list[str] = []
    german = wording("de").translate(str(warned[0].message), ["nothing", "pram"], report=lacking.append)
    assert german.startswith("ein Rezept ist ausgelassen: ")
    assert not lacking
    assert len(drawn["points"]) == 1
    monkeypatch.setattr(exploring, "around", lambda *_: [])
    with pytest.raises(ScenarioError, match="no step has a number or bands"):
        exploring.explore(desk, tell, steps=[BANDS], **HOW)


def test_values_come_from_the_steps_and_from_the_limit_of_the_same_name() -> None:
    scenario = Scenario(keys=["age", "job"], thresholds={"k": 3})
    recipe = Recipe([{"method": step["method"], **step["arguments"]} for step in (BANDS, PRAM, SUPPRESS)])
    made = list(exploring.around(recipe, scenario))
    assert len(made) == 2 * 3 * 4 - 1 <= exploring.USUAL
    assert {step.steps[2].arguments.get("k") for step in made} == {2, 3, 4, 5}
    assert {step.steps[1].arguments["pd"] for step in made} == {0.4, 0.8, 0.9}
    beyond = Recipe([{"method": "pram", "columns": ["job"], "pd": 1.0}])
    assert [made.steps[0].arguments["pd"] for made in exploring.around(beyond, scenario)] == [0.5]
