"""A map's figures are protected before they are drawn: hidden ones open, the front marked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sdckit.report.chapters.map import map_chart, plain_map
from sdckit.report.charts import INK, LIGHT, OPEN, to_svg


@dataclass(frozen=True)
class Point:
    parameters: dict[str, Any]
    figures: dict[str, float]
    behind: int = 600
    small: int = 0


@dataclass(frozen=True)
class Map:
    points: tuple[Point, ...]
    on_front: tuple[bool, ...]
    risk: str = "below_k"
    loss: str = "share_changed"
    n: int = 200
    k: int = 3


def points(*pairs: tuple[float, float], risk: str = "below_k", loss: str = "share_changed") -> Map:
    made = tuple(Point({"1.k": at}, {risk: r, loss: l}) for at, (r, l) in enumerate(pairs))  # noqa: E741
    return Map(made, (True,) * len(made), risk, loss)


def test_counts_are_hidden_and_rounded() -> None:
    plain = plain_map(points((3, 0.004), (17, 0.25), (math.nan, math.nan)))
    assert [one["risk"]["text"] for one in plain["points"]] == ["<5", "15"]
    assert [one["loss"]["text"] for one in plain["points"]] == ["<5 %", "25 %"]
    assert plain["points"][1]["label"] == "1.k = 1"


def test_estimates_have_two_digits() -> None:
    plain = plain_map(points((3.14159, 0.0123456), risk="expected_reidentifications", loss="pmse"))
    assert plain["points"][0]["loss"]["text"] == "0.012"
    assert plain_map(points((3.14159, 0.0)), internal=True)["points"][0]["risk"]["text"].startswith("3")


def leaf(value: float | None, **more: Any) -> dict[str, Any]:
    return {"text": "<5" if value is None else f"{value:g}", "value": value, **more}


PLAIN = {
    "risk": "below_k", "loss": "pmse", "k": 3,
    "points": [
        {"label": "1.k = 2", "risk": leaf(None, below=5), "loss": leaf(0.2), "front": True},
        {"label": "1.k = 3", "risk": leaf(15), "loss": leaf(0.1), "front": True},
        {"label": "1.k = 5", "risk": leaf(20), "loss": leaf(0.3), "front": False},
        {"label": "1.k = 9", "risk": {"text": "withheld", "value": None}, "loss": leaf(0.3), "front": False},
    ],
}  # fmt: skip


def test_points() -> None:
    shown = map_chart(PLAIN).to_dict()
    rows = next(iter(shown.get("datasets", {}).values()), None) or shown["layer"][0]["data"]["values"]
    assert [row["risk"] for row in rows] == [5, 15, 20]
    assert [row["fill"] for row in rows] == [OPEN, INK, LIGHT]


def test_it_draws() -> None:
    svg = to_svg(map_chart(PLAIN))
    assert "1.k = 2" in svg
    assert "records in groups of fewer than 3" in svg
