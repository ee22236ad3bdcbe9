"""Bars in a column of a page: labels folded between words, texts with room, letters of 12 pixels."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from sdckit.report.bar_charts import COLUMN, LABEL_LETTERS, OPEN, WIDTH, bar_of, length_of
from sdckit.report.charts import chart_for, to_svg

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
