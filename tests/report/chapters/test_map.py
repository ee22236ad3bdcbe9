"""A map's figures are protected before they are drawn: hidden ones open, the front marked."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings, strategies as st

from sdckit.report.chapters.map import front_block, map_chart, map_table, plain_front, plain_map, printed_front
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
    risk: str = "below_k"
    loss: str = "share_changed"
    n: int = 200
    k: int = 3


def points(*pairs: tuple[float, float], risk: str = "below_k", loss: str = "share_changed", n: int = 200) -> Map:
    made = tuple(Point({"1.k": at}, {risk: r, loss: l}) for at, (r, l) in enumerate(pairs))  # noqa: E741
    return Map(made, risk, loss, n)


def test_the_table_has_what_is_printed() -> None:
    table = map_table(plain_map(points((3, 0.004), (37, 0.25))))
    assert table.rows == (("1.k = 0", "<20", "<5 %", "front"), ("1.k = 1", "35", "25 %", ""))


def test_counts_are_hidden_and_rounded() -> None:
    plain = plain_map(points((3, 0.004), (37, 0.25), (math.nan, math.nan)))
    assert [one["risk"]["text"] for one in plain["points"]] == ["<20", "35"]
    assert [one["loss"]["text"] for one in plain["points"]] == ["<5 %", "25 %"]
    assert plain["points"][1]["label"] == "1.k = 1"


def test_risks_below_twenty_are_printed_alike() -> None:
    """Groups of two to four records, one of them or some: which k changes something says how large the smallest is."""
    plain = plain_map(points((0, 0.1), (1, 0.1), (4, 0.1), (5, 0.1), (17, 0.1), (18, 0.1), (23, 0.1)))["points"]
    assert [one["risk"]["text"] for one in plain] == ["<20"] * 5 + ["20", "25"]
    exact = plain_map(points((4, 0.1), (0, 0.0)), internal=True)["points"]
    assert [(one["risk"]["text"], one["loss"]["text"]) for one in exact] == [("4", "10 %"), ("0", "0 %")]


def test_a_recipe_that_changes_no_value_is_not_told_from_one_that_changes_few() -> None:
    plain = plain_map(points((30, 0.0), (30, 0.0001), (30, 0.1)))["points"]
    assert [one["loss"]["text"] for one in plain] == ["<5 %", "<5 %", "10 %"]


def test_estimates_have_two_digits() -> None:
    plain = plain_map(points((3.14159, 0.0123456), risk="expected_reidentifications", loss="pmse"))
    assert plain["points"][0]["loss"]["text"] == "0.012"
    assert plain_map(points((3.14159, 0.0)), internal=True)["points"][0]["risk"]["text"].startswith("3")


def fronts(found: Map, *, internal: bool = False) -> list[bool]:
    return [one["front"] for one in plain_map(found, internal=internal)["points"]]


def test_the_front_is_that_of_the_printed_figures() -> None:
    """1 and 4, 31 and 32 are printed alike: the front must not say which is which."""
    assert fronts(points((1, 0.1), (4, 0.1), (31, 0.05), (32, 0.05))) == [True] * 4
    assert fronts(points((1, 0.1), (4, 0.1)), internal=True) == [True, False]
    assert fronts(points((3, 0.3), (30, 0.3), (30, 0.1))) == [True, False, True]


SMALL = st.tuples(st.integers(0, 30), st.floats(0, 1))


@settings(max_examples=40, deadline=None)
@given(st.lists(SMALL, min_size=2, max_size=6))
def test_the_front_tells_nothing_beyond_the_figures(pairs: list[tuple[int, float]]) -> None:
    """Worked out again from nothing but the texts."""
    plain = plain_map(points(*pairs))["points"]

    def read(text: str) -> float:
        number = float(text.removesuffix(" %").replace(",", "").removeprefix("<"))
        return number - 1e-6 if text.startswith("<") else number

    told = [(read(one["risk"]["text"]), read(one["loss"]["text"])) for one in plain]
    for one, (risk, loss) in zip(plain, told, strict=True):
        beaten = any(r <= risk and l <= loss and (r, l) != (risk, loss) for r, l in told)  # noqa: E741
        assert one["front"] != beaten


def test_arguments_that_hold_levels_are_numbered() -> None:
    given = [{"2.groups": {"y": ["ZQX"]}, "2.k": 3}, {"2.groups": {"y": ["other"]}, "2.k": 3}]
    found = Map(tuple(Point(one, {"below_k": 9, "share_changed": 0.1}) for one in given))
    assert [one["label"] for one in plain_map(found)["points"]] == [
        "2.groups = choice 1, 2.k = 3", "2.groups = choice 2, 2.k = 3",
    ]  # fmt: skip
    assert "ZQX" in plain_map(found, internal=True)["points"][0]["label"]


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


def test_recipes_at_one_place_are_named_below_each_other_and_the_axis_has_their_loss() -> None:
    same = {"risk": leaf(None, below=5), "loss": leaf(0.2), "front": True}
    svg = to_svg(map_chart({**PLAIN, "points": [{"label": f"1.k = {k}", **same} for k in (2, 3)]}))
    assert re.findall(r"<text [^>]*>([^<]*)<", svg)[0] == "0.2"  # the only loss there is, not "0"
    assert re.findall(r"<tspan([^>]*)>([^<]*)<", svg) == [("", "1.k = 2"), (' x="0" dy="12"', "1.k = 3")]


# The front of risk and loss: what is printed is protected, and so is the order of what is printed alike.


N = 400


def recipes(*pairs: tuple[tuple[float, float] | None, float], small: int = 0) -> list[dict[str, Any]]:
    """Recipes by the range of their loss and their expected re-identifications."""
    return [{"range": ends, "expected": expected, "small": small} for ends, expected in pairs]


def plain_recipes(*ranges: tuple[float, float]) -> list[dict[str, Any]]:
    """Recipes as a document has printed them, ever less at risk."""
    return [
        {"range": ends, "risk": {"text": str(40 - 10 * at), "value": 40 - 10 * at}} for at, ends in enumerate(ranges)
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
    printed = [*plain_recipes((0.0, 0.05), (0.4, 0.45)), {"range": (0.5, 0.55), "risk": {"text": "40", "value": 40}}]
    assert printed_front(printed) == (True, True, False)
    assert printed_front([{"range": None, "risk": {"text": "40", "value": 40}}]) == (False,)


def test_the_block_of_a_document() -> None:
    block = front_block(plain_recipes((0.0, 0.05), (0.4, 0.45)))
    assert block.name == "front"
    assert [row["risk"]["text"] for row in block.data["rows"]] == ["40", "30"]
