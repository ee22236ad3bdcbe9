"""The chart of a map: points at their printed figures, hidden ones open, the front marked."""

from __future__ import annotations

from typing import Any

from sdckit.report.charts import INK, LIGHT, OPEN, to_svg
from sdckit.report.charts_map import map_chart


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
