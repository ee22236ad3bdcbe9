"""What is the same for several intruders stands in a document once."""

from __future__ import annotations

from sdckit.report.blocks import Facts, Paragraph, Section, TableBlock
from sdckit.report.chapters.repeated import without_repeats
from sdckit.report.parts import bars, figure

SIZES = TableBlock("Households by size", ("Members", "Households"), (("1", "40"), ("2", "55")))
DRAWN = bars("Households by number of members", "households", [("1 member", {"text": "40", "value": 40})])
WHY = Paragraph("The size can identify.", "note")


def section(*more: object, title: str = "Households") -> Section:
    return Section(title, (Facts((("Households", "95"),)), *figure(DRAWN, SIZES), WHY, *more), 3)


def test_a_figure_is_told_where_it_stands_and_an_explanation_is_left_out() -> None:
    first, second = without_repeats([section(), section(Paragraph("5 are alone."))])
    assert first == section()
    assert [getattr(block, "text", "") for block in second.blocks] == [
        "",
        "Households by number of members: as above.",
        "5 are alone.",
    ]
    assert isinstance(second.blocks[0], Facts)  # the figures of this intruder


def test_what_differs_or_stands_under_another_heading_stays() -> None:
    other = bars("Households by number of members", "households", [("1 member", {"text": "45", "value": 45})])
    ones = [section(), section(title="Elsewhere"), Section("Households", (other,), 3)]
    assert without_repeats(ones) == ones


def test_a_section_never_becomes_a_line_without_a_figure() -> None:
    ones = [Section("Levels", (SIZES,), 3)] * 2
    assert without_repeats(ones) == ones
