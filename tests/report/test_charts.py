from __future__ import annotations

from xml.etree import ElementTree

import pytest

from report.fakes import FULL, assess_fake, survey
from sdckit.report.blocks import ChartBlock
from sdckit.report.charts import CHARTS, OPEN, chart_for, describe, to_svg
from sdckit.report.layout import lay_out
from sdckit.report.write import plain_document


@pytest.fixture(scope="module")
def blocks() -> dict[str, ChartBlock]:
    page = lay_out(plain_document(assess_fake(survey(500, missing=0.03), FULL)))
    found = [one for section in page.sections for one in section.blocks if isinstance(one, ChartBlock)]
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


@pytest.mark.parametrize("name", sorted(CHARTS))
def test_a_chart_is_read_without_colour(name: str, blocks: dict[str, ChartBlock]) -> None:
    """Every colour is close to a grey, and the fills differ in lightness."""
    root = ElementTree.fromstring(to_svg(chart_for(name, blocks[name].data)))
    fills = {element.get("fill") for element in root.iter()} - {None, "none", "transparent", "white", OPEN}
    for fill in fills:
        assert fill is not None
        code = fill.lstrip("#")
        code = "".join(2 * letter for letter in code) if len(code) == 3 else code
        red, green, blue = (int(code[i : i + 2], 16) for i in (0, 2, 4))
        assert max(red, green, blue) - min(red, green, blue) <= 45, fill


@pytest.mark.parametrize("name", sorted(CHARTS))
def test_a_chart_is_told_in_words(name: str, blocks: dict[str, ChartBlock]) -> None:
    words = describe(name, blocks[name].data, "Caption")
    assert words.startswith("Caption. ")
    assert words.endswith(".")


def test_a_hidden_count_is_an_open_bar_at_its_bound() -> None:
    rows = [{"size": "1", "n_cells": {"text": "<5", "value": None, "below": 5}},
            {"size": "5-9", "n_cells": {"text": "20", "value": 20}}]  # fmt: skip
    spec = chart_for("sizes", {"rows": rows}).to_dict()
    (values,) = spec["datasets"].values()
    assert (values[0]["length"], values[0]["fill"], values[0]["text"]) == (5, OPEN, "<5")


def test_a_file_without_violations_has_a_chart() -> None:
    zero = {"text": "0", "value": 0}
    data = {"rules": [{"rule": "", "violations": {"2": zero, "3": zero}}]}
    assert "k = 2" in to_svg(chart_for("violations", data))
