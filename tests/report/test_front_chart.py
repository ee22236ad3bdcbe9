"""The chart of the front draws what is printed: ranges as lines, hidden risks open at their bound."""

from __future__ import annotations

from typing import Any

from sdckit.report.bar_charts import INK, LIGHT, OPEN
from sdckit.report.charts import chart_for, describe


def row(label: str, ends: Any, risk: dict[str, Any], *, front: bool = True) -> dict[str, Any]:
    return {"label": label, "range": ends, "loss": "a range", "risk": risk, "front": front}


def data(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"rows": rows, "x": "Lost", "y": "Risk"}


FIRST = row("1", (0.0, 0.05), {"text": "40", "value": 40})
HIDDEN = row("2", (0.4, 0.4), {"text": "<5", "value": None, "below": 5})
BEATEN = row("3", (0.5, 0.55), {"text": "60", "value": 60}, front=False)
NOWHERE = row("4", (0.5, 0.55), {"text": "withheld", "value": None})
UNKNOWN = row("5", None, {"text": "60", "value": 60})


def drawn(*rows: dict[str, Any]) -> list[dict[str, Any]]:
    (values,) = chart_for("front", data(*rows)).to_dict()["datasets"].values()
    return list(values)


def test_a_recipe_is_a_line_over_the_range_of_its_loss() -> None:
    one, hidden, beaten = drawn(FIRST, HIDDEN, BEATEN, NOWHERE, UNKNOWN)
    assert (one["from"], one["to"], one["risk"], one["fill"]) == (0.0, 0.05, 40.0, INK)
    assert (hidden["risk"], hidden["fill"]) == (5.0, OPEN)
    assert hidden["from"] < 0.4 < hidden["to"]
    assert beaten["fill"] == LIGHT


def test_in_words() -> None:
    assert describe("front", data(FIRST, HIDDEN, NOWHERE), "Front") == (
        "Front. 1: Lost a range, Risk 40; 2: Lost a range, Risk <5."
    )
    assert describe("front", data(NOWHERE), "Front") == "Front. no figure can be shown."
