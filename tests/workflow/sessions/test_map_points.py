"""The points of a map for the pages: what is printed, where it stands, and what has no place."""

from __future__ import annotations

from typing import Any

from sdckit.workflow.recipes.explore import Point
from sdckit.workflow.sessions.map_points import LOSS, RISK, can_be_drawn, in_language, of_front, of_map

HIDDEN = {"text": "<5", "value": None, "below": 5}
WITHHELD = {"text": "withheld", "value": None}
SHOWN = {"text": "1,200", "value": 1200}


def test_a_loss_of_a_search_is_a_range_and_a_small_risk_stands_at_its_bound() -> None:
    rows = [
        {"risk": HIDDEN, "range": (0.1, 0.15), "front": True}, {"risk": WITHHELD, "range": None, "front": False},
    ]  # fmt: skip
    recipes: list[dict[str, Any]] = [
        {"words": "keeps age as it is", "loss": "10 to 15 %", "passed": True, "steps": ["first"]},
        {"words": "gives up age", "loss": "–", "passed": False, "steps": ["second"]},
    ]
    drawn = of_front({"rows": rows, "x": "Lost", "y": "Expected"}, recipes)
    first, second = drawn["points"]
    assert (first["height"], first["open"], first["ends"], first["loss"]) == (5.0, True, [0.1, 0.15], "10 to 15 %")
    assert (second["height"], second["ends"], second["passed"], second["steps"]) == (None, None, False, ["second"])
    german = in_language(drawn, "de", ["age"])
    assert german["points"][1]["words"] == "gibt age auf"
    assert in_language({}, "de", []) == {"points": []}


def test_a_map_has_the_printed_figures_and_says_what_was_not_judged() -> None:
    points = [{"risk": SHOWN, "loss": {"text": "25 %", "value": 0.25}, "front": True}]
    plain = {"points": points, "risk": RISK, "loss": LOSS, "k": 3}
    (point,) = of_map(plain, [{"passed": None, "steps": []}])["points"]
    assert (point["risk"], point["loss"], point["ends"], point["height"]) == ("1,200", "25 %", [0.25, 0.25], 1200)
    assert (point["words"], point["passed"], point["open"]) == ("", None, False)
    assert in_language(of_map(plain, [{"passed": None, "steps": []}]), "de", [])["points"][0]["risk"] == "1.200"


def test_a_recipe_without_a_figure_has_no_place() -> None:
    assert can_be_drawn(Point({}, {RISK: 1.0, LOSS: 0.0, "pmse": float("nan")}))
    assert not can_be_drawn(Point({}, {RISK: float("nan"), LOSS: 0.0}))
