from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import altair as alt
import pytest

import releases
import sdckit as sdc
from draw import quiet
from report.chapters.test_map import plain_recipes
from report.fakes import FULL, assess_fake, survey
from report.special import assessed
from report.views.pairs import result_of
from sdckit.report.blocks import ChartBlock
from sdckit.report.chapters.map import front_block
from sdckit.report.chapters.release_page import page_of
from sdckit.report.charts import (
    CHARTS,
    COLUMN,
    INK,
    LABEL_LETTERS,
    LIGHT,
    OPEN,
    WIDTH,
    bar_of,
    chart_for,
    describe,
    length_of,
    to_png,
    to_svg,
)
from sdckit.report.formats.write import plain_document
from sdckit.report.view import view_of


@pytest.fixture(scope="module")
def blocks() -> dict[str, ChartBlock]:
    plains = [plain_document(one) for one in (assess_fake(survey(500, missing=0.03), FULL), assessed())]
    with quiet():
        release = sdc.assess(
            releases.original(), releases.release(), scenario=releases.scenario(), models="income ~ age", seed=1
        )
    plains.append(plain_document(release))
    sections = [section for plain in plains for section in page_of(plain).sections]
    found = [one for section in sections for one in section.blocks if isinstance(one, ChartBlock)]
    uniques = sdc.suda(releases.original(), keys=["sex", "age", "region"])
    found += [view_of("suda").charts["density"](uniques, True)]
    found += [front_block(plain_recipes((0.0, 0.05), (0.4, 0.45)))]
    found += [view_of("prediction_risk").charts["scatter"](result_of("prediction_risk"), True)]
    return {one.name: one for one in found}


def test_every_chart_is_used(blocks: dict[str, ChartBlock]) -> None:
    assert blocks.keys() == CHARTS.keys()


@pytest.mark.parametrize("name", sorted(CHARTS))
def test_a_chart_is_static_and_plain(name: str, blocks: dict[str, ChartBlock]) -> None:
    svg = to_svg(chart_for(name, blocks[name].data))
    root = ElementTree.fromstring(svg)
    assert root.tag.endswith("svg")
    assert "<script" not in svg
    assert "href" not in svg.replace("xmlns:xlink", "")
    fonts = {element.get("font-family") for element in root.iter()} - {None}
    assert fonts == {"sans-serif"}


def channels(fill: str) -> list[int]:
    """Red, green and blue of a colour as the renderer writes it."""
    if fill.startswith("rgb("):
        return [int(part) for part in fill[4:-1].split(",")]
    code = fill.lstrip("#")
    code = "".join(2 * letter for letter in code) if len(code) == 3 else code
    return [int(code[i : i + 2], 16) for i in (0, 2, 4)]


@pytest.mark.parametrize("name", sorted(CHARTS))
def test_a_chart_is_read_without_colour(name: str, blocks: dict[str, ChartBlock]) -> None:
    """Every colour is close to a grey, and the fills differ in lightness."""
    root = ElementTree.fromstring(to_svg(chart_for(name, blocks[name].data)))
    fills = {element.get("fill") for element in root.iter()} - {None, "none", "transparent", "white", OPEN}
    for fill in fills:
        assert fill is not None
        red, green, blue = channels(fill)
        assert max(red, green, blue) - min(red, green, blue) <= 45, fill


@pytest.mark.parametrize("name", sorted(CHARTS))
def test_a_chart_is_told_in_words(name: str, blocks: dict[str, ChartBlock]) -> None:
    words = describe(name, blocks[name].data, "Caption")
    assert words.startswith("Caption. ")
    assert words.endswith(".")


def test_a_hidden_count_is_an_open_bar_at_its_bound() -> None:
    rows = [
        {"label": "1 record", "n": {"text": "<5", "value": None, "below": 5}, "tone": "dark"},
        {"label": "5 to 9 records", "n": {"text": "20", "value": 20}, "tone": "light"},
    ]
    (values,) = chart_for("bars", {"rows": rows, "unit": "cells"}).to_dict()["datasets"].values()
    assert (values[0]["length"], values[0]["fill"], values[0]["text"]) == (5, OPEN, "<5")
    assert values[1]["fill"] == LIGHT


def test_a_file_without_violations_has_a_chart(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"label": f"k = {k}", "n": {"text": "0", "value": 0}} for k in (2, 3)]
    with monkeypatch.context() as without:
        without.setattr(alt.SchemaBase, "validate", None)  # a check of each part would take longer than the rest
        chart = chart_for("bars", {"rows": rows, "unit": "records"})
    assert "k = 2" in to_svg(chart)


def test_a_chart_that_stands_alone_has_a_title() -> None:
    data = {"rows": [{"label": "a", "n": {"text": "20", "value": 20}}], "unit": "records"}
    assert "What it shows" in to_svg(chart_for("bars", data, "What it shows"))
    assert "title" not in chart_for("bars", data).to_dict()


def test_bars_without_a_figure_are_empty_and_say_why() -> None:
    rows = [
        {"label": label, "n": {"text": text, "value": None}} for label, text in (("a", "withheld"), ("b", "undefined"))
    ]
    data = {"rows": rows, "unit": "people"}
    (values,) = chart_for("bars", data).to_dict()["datasets"].values()
    assert [(row["length"], row["text"]) for row in values] == [(0, "withheld"), (0, "undefined")]
    assert describe("bars", data, "Caption") == "Caption. a: withheld people; b: undefined people."


def test_labels_have_room_in_a_wide_font() -> None:
    """Readers' fonts may be wider than the one that labels are measured in here: about 7 of the 12 pixels a letter."""
    labels = [f"{low:g} to {low + 0.25:g}, release" for low in (0, 0.25, 0.5)]
    rows = [{"label": label, "n": {"text": "20", "value": 20}} for label in labels]
    root = ElementTree.fromstring(to_svg(chart_for("bars", {"rows": rows, "unit": "records"})))
    shown = [one for one in root.iter() if one.text in labels]
    assert [one.text for one in shown] == labels
    frame = next(one for one in root.iter() if one.get("transform", "").startswith("translate"))
    left = float(re.findall(r"[\d.]+", frame.get("transform", ""))[0])
    assert left >= 7.2 * max(map(len, labels))


def test_long_labels_leave_room_for_the_bars() -> None:
    data = {"rows": [{"label": "x" * 90, "n": {"text": "20", "value": 20}}], "unit": "records"}
    assert chart_for("bars", data).to_dict()["width"] >= 280


# Bars in a column of a page: labels folded between words, texts with room, letters of 12 pixels.


ROWS = [
    {"label": "a label of many words that is folded", "n": {"text": "1,234 (12.3 %)", "value": 1234}},
    {"label": "records_alone_with_their_combination", "n": {"text": "<5", "value": None, "below": 5}},
]
DATA = {"rows": ROWS, "unit": "records"}


def texts(width: int) -> list[ElementTree.Element]:
    root = ElementTree.fromstring(to_svg(chart_for("bars", DATA, width=width)))
    return [one for one in root.iter() if one.tag.endswith(("text", "tspan")) and (one.text or "").strip()]


def test_labels_are_folded_in_a_column_and_no_word_is_cut() -> None:
    shown = [one.text or "" for one in texts(COLUMN)]
    assert max(map(len, shown)) <= LABEL_LETTERS
    assert " ".join(shown[:2]) == "a label of many words that is folded"
    assert "records_alone_with_" in shown
    assert not any("…" in one for one in shown)
    assert ROWS[0]["label"] in [one.text for one in texts(WIDTH)]


@pytest.mark.parametrize("width", [COLUMN, WIDTH])
def test_a_chart_is_no_wider_than_asked_but_for_its_edge(width: int) -> None:
    root = ElementTree.fromstring(to_svg(chart_for("bars", DATA, width=width)))
    assert width <= float(root.get("width", "nan")) <= width + 22
    assert {one.get("font-size") for one in root.iter()} - {None} == {"12px"}


def test_the_text_of_the_longest_bar_has_room() -> None:
    drawn = chart_for("bars", DATA, width=COLUMN).to_dict()
    (end,) = {layer["encoding"]["x"]["scale"]["domain"][1] for layer in drawn["layer"]}
    left = drawn["width"] * (1 - 1234 / end)
    assert left >= 7 * len("1,234 (12.3 %)")


def test_a_hidden_count_is_drawn_open_at_its_bound() -> None:
    assert length_of({"value": None, "below": 5}) == 5
    assert length_of({"value": None}) == 0
    assert bar_of("a", {"text": "<5", "value": None, "below": 5})["fill"] == OPEN


# The chart of the front draws what is printed: ranges as lines, hidden risks open at their bound.


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


@pytest.mark.parametrize(("largest", "label"), [(250_000.0, "250,000"), (0.00003, "0.00003")])
def test_the_axes_of_errors_have_plain_numbers(largest: float, label: str) -> None:
    points = [{"x": largest, "y": 0.0, "n": {"text": "1", "value": 1}}]
    data = {"rows": points, "x": "relative error", "y": "relative error, after", "scale": "sqrt"}
    drawn = to_svg(chart_for("bubbles", data))
    axis = re.findall(r">([0-9.,e+−µkm]+)<", drawn)
    assert axis
    assert not [text for text in axis if set(text) & set("e+µkm")]
    if largest > 1:
        assert label in axis
        assert f"{label} and 0: 1 records" in describe("bubbles", data, "Caption")
    curve = {"rows": [{"x": 0.0, "y": 0.0}, {"x": largest, "y": largest}], "x": "score", "y": "density"}
    assert not re.search(r">[0-9.,]+(e[+−]?[0-9]+|[µkm])<", to_svg(chart_for("curve", curve)))


def test_a_number_that_is_none_is_drawn_as_missing() -> None:
    missing, nowhere = (
        chart_for("curve", {"rows": [{"x": 0.0, "y": 1.0}, {"x": 1.0, "y": y}], "x": "score", "y": "density"})
        for y in (None, float("nan"))
    )
    assert to_svg(nowhere) == to_svg(missing)
    assert to_png(nowhere) == to_png(missing)
