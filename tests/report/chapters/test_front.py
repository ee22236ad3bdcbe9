"""The front of risk and loss: what is printed is protected, and so is the order of what is printed alike."""

from __future__ import annotations

from typing import Any

from sdckit.report.chapters.front import front_block, plain_front, printed_front

N = 400


def recipes(*pairs: tuple[tuple[float, float] | None, float], small: int = 0) -> list[dict[str, Any]]:
    """Recipes by the range of their loss and their expected re-identifications."""
    return [{"range": ends, "expected": expected, "small": small} for ends, expected in pairs]


def plain_recipes(*ranges: tuple[float, float]) -> list[dict[str, Any]]:
    """Recipes as a document has printed them, ever less at risk."""
    return [
        {"range": ends, "risk": {"text": str(40 - 10 * at), "value": 40 - 10 * at}}
        for at, ends in enumerate(ranges)
    ]


def test_small_risks_are_hidden_and_others_rounded() -> None:
    rows = plain_front(recipes(((0.0, 0.05), 41.3), ((0.4, 0.45), 2.2)), N)["rows"]
    assert [row["risk"]["text"] for row in rows] == ["40", "<5"]
    assert [row["loss"] for row in rows] == ["0 to 5 %", "40 to 45 %"]
    assert [row["label"] for row in rows] == ["1", "2"]


def test_an_estimate_from_few_records_is_withheld() -> None:
    (row,) = plain_front(recipes(((0.0, 0.05), 0.4), small=2), N)["rows"]
    assert row["risk"]["text"] == "withheld"
    assert not row["front"]


def test_figures_are_exact_inside() -> None:
    rows = plain_front(recipes(((0.031, 0.031), 2.25), ((0.4, 0.4), 1.5)), N, internal=True)["rows"]
    assert [row["risk"]["value"] for row in rows] == [2.25, 1.5]
    assert rows[0]["loss"] == "3.1 %"


def test_what_is_printed_alike_is_not_ordered() -> None:
    """1 and 4 are both printed as fewer than five: the front must not say which is which."""
    alike = plain_front(recipes(((0.0, 0.05), 4.0), ((0.0, 0.05), 1.0)), N)["rows"]
    assert [row["front"] for row in alike] == [True, True]
    exact = plain_front(recipes(((0.03, 0.03), 4.0), ((0.03, 0.03), 1.0)), N, internal=True)["rows"]
    assert [row["front"] for row in exact] == [False, True]


def test_the_front_of_what_is_printed() -> None:
    printed = [
        *plain_recipes((0.0, 0.05), (0.4, 0.45)),
        {"range": (0.5, 0.55), "risk": {"text": "40", "value": 40}},
    ]
    assert printed_front(printed) == (True, True, False)
    assert printed_front([{"range": None, "risk": {"text": "40", "value": 40}}]) == (False,)


def test_the_block_of_a_document() -> None:
    block = front_block(plain_recipes((0.0, 0.05), (0.4, 0.45)))
    assert block.name == "front"
    assert [row["risk"]["text"] for row in block.data["rows"]] == ["40", "30"]
