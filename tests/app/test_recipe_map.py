"""The map of recipes: what its marks mean, one button for a place, the same as a table, and no map of other roles."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

from shiny import reactive

from app.toys import toy_seat
from sdckit.app.browser_sessions import Step
from sdckit.app.page_context import Room, speaker
from sdckit.app.recipe_map import LOOKS, USE, RecipeMap, _opened, _picture, _table, map_panel, seen, ticks

say = speaker("en")
HERE = [{"method": "round_to", "arguments": {"column": "age", "base": 5}}]
FIGURES: dict[str, Any] = {"risk": "20", "loss": "25 %", "height": 20.0, "ends": [0.25, 0.25], "open": False}


def point(base: int, *, passed: bool | None, front: bool = False, **other: Any) -> dict[str, Any]:
    steps = [{"method": "round_to", "arguments": {"column": "age", "base": base}, "on": True}]
    return {**FIGURES, "steps": steps, "passed": passed, "front": front, **other}


POINTS = [
    point(2, passed=None, front=True, risk="<5", height=5.0, open=True),
    point(5, passed=True),
    point(10, passed=False),
    point(20, passed=True, ends=[0.3, 0.4], loss="30 to 40 %"),
    point(40, passed=True, risk="withheld", height=None),
    point(60, passed=False, risk="40", height=40.0),
]
DRAWN = {"risk": "expected re-identifications", "loss": "pMSE", "points": seen(POINTS, HERE)}


def test_every_mark_says_what_it_means() -> None:
    assert [made["looks"] for made in DRAWN["points"]] == [
        ["unjudged", "front", "open"], ["passed", "best", "current"], ["failed"], ["passed", "range"], ["passed"],
        ["failed"],
    ]  # fmt: skip
    assert not any("best" in made["looks"] for made in seen([point(2, passed=False)], HERE))
    html = str(_picture(say, "Map", DRAWN))
    assert all(f'<span class="point {look}"' in html for look in LOOKS)
    assert "Recipes without a printed risk or loss stand in the table only." in html


def test_a_place_is_one_button_with_a_name_and_the_recipe_here_is_the_first_of_it() -> None:
    html = str(_picture(say, "Map", DRAWN))
    places = re.findall(r'<button[^>]*data-at="(\d)"[^>]*>([^<]*)<', html)
    assert sorted(places) == [("0", "1"), ("1", "2+"), ("3", "4"), ("5", "6")]
    words = re.findall(r'aria-label="(recipe [^"]*)"', html)
    best = "every limit holds; the least loss of those with which every limit holds"
    assert f"recipe 2+: risk 20, loss 25 %; {best}; the recipe here; more recipes at the same place" in words
    opened = str(_opened(say, DRAWN["points"], 2, {**USE, "compare_point": "Compare"}))
    assert 'data-act="use_point" data-at="2"' in opened
    assert "At the same place:" in opened
    assert "disabled" not in opened
    assert str(_opened(say, DRAWN["points"], 1, USE)).count("disabled") == 1  # it is in use
    assert "recipe 2<" in opened


def test_the_table_has_what_the_picture_has_and_those_without_a_place() -> None:
    rows = str(_table(say, DRAWN)).split("<tr>")[2:]
    assert len(rows) == len(POINTS)
    assert "withheld" in rows[4]
    assert 'data-act="point" data-at="4"' in rows[4]
    assert "age rounded to multiples of 10" in rows[2]
    words = str(_table(say, {**DRAWN, "points": seen([{**POINTS[0], "words": "keeps age"}], HERE)}))
    assert "<td>keeps age</td>" in words
    bare = {**DRAWN, "points": seen([POINTS[4]], HERE)}
    assert "No recipe has figures that can be drawn." in str(_picture(say, "Map", bare))


def test_axes_have_round_numbers_and_some_length() -> None:
    assert ticks(0.25, 0.25) == [0.25, 0.26]
    assert ticks(0, 0) == [0.0, 0.5]
    assert ticks(0, 5) == [0, 2, 4, 6]


def test_a_map_is_of_the_roles_and_the_file_it_was_drawn_for(tmp_path: Path) -> None:
    async def whole() -> None:
        steps = (Step("round_to", {"column": "age", "base": 5}),)
        seat = toy_seat(tmp_path, path="a.csv", scenario={"keys": ["age"]}, steps=steps)
        with reactive.isolate():
            room = Room(seat, limit=5)
            recipes = RecipeMap(room, "Map")
            assert recipes.drawn() == {}
            recipes.taker()({"map": {**DRAWN, "points": POINTS}})
            assert "current" in recipes.drawn()["points"][1]["looks"]
            assert recipes.steps(3) == POINTS[3]["steps"]
            assert recipes.steps(-1) == recipes.steps(6) == ()
            room.change(steps=())
            assert "current" not in recipes.drawn()["points"][1]["looks"]
            room.change(scenario={"keys": ["job"]})
            assert recipes.drawn() == {}
        seat.worker.close()
        await asyncio.sleep(0)

    asyncio.run(whole())
    assert str(map_panel()).count("shiny-html-output") == 3
