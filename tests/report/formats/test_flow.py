"""What shares a page: narrow neighbours in two columns, tables behind their charts at the end."""

from __future__ import annotations

from sdckit.report.blocks import ChartBlock, Code, Facts, Paragraph, Section, TableBlock, Tables
from sdckit.report.formats.flow import behind_charts, chapters_of, decision_of, shown

NARROW = TableBlock("Narrow", ("Level", "Records"), (("a", "20"),), (1,))
WIDE = TableBlock("Wide", tuple("abcdef"), (tuple("123456"),))
LONG = TableBlock("Long", ("What was asked", "Why"), (("a " * 20, "a word " * 20), ("b" * 30, "c" * 30)))
CHART = ChartBlock("bars", {"rows": [], "unit": ""}, "Drawn")


def runs(*blocks: object) -> list[tuple[bool, int]]:
    (chapter,) = chapters_of([Section("One", blocks)])  # type: ignore[arg-type]
    (_, (part,)), = chapter.runs  # fmt: skip
    return [(pair, len(some)) for pair, some in part.runs]


def test_narrow_neighbours_share_two_columns() -> None:
    assert runs(NARROW, CHART, Facts(()), Code("", "")) == [(True, 4)]
    assert runs(NARROW, WIDE, NARROW) == [(True, 1), (False, 1), (True, 1)]
    assert runs(Tables((NARROW,)), Paragraph("")) == [(False, 2)]


def test_a_table_is_wide_by_its_columns_or_its_words() -> None:
    assert runs(WIDE) == [(False, 1)]
    long_words = TableBlock("", ("Column", "Why"), (("x" * 70, "y"),))
    assert runs(LONG) == [(True, 1)]  # its cells fold
    assert runs(TableBlock("", tuple("abcde"), (("x" * 30,) * 5,))) == [(False, 1)]
    assert runs(long_words) == [(True, 1)]


def test_sections_of_narrow_blocks_flow_together() -> None:
    sections = [
        Section("Two", (Paragraph("text"),)),
        Section("a", (NARROW,), 3), Section("b", (Paragraph(""), NARROW), 3), Section("c", (WIDE,), 3),
    ]  # fmt: skip
    (chapter,) = chapters_of(sections)
    assert chapter.title == "Two"
    assert [(flowing, [one.section.title for one in parts]) for flowing, parts in chapter.runs] == [
        (False, ["Two"]), (True, ["a", "b"]), (False, ["c"]),
    ]  # fmt: skip


def test_chapters_are_numbered() -> None:
    assert [one.id for one in chapters_of([Section("a", ()), Section("b", ())])] == ["chapter-1", "chapter-2"]
    assert [one.section.title for one in decision_of([Section("a", ())])] == ["a"]


def test_a_chart_that_says_less_than_its_table_is_left_out() -> None:
    aside = ChartBlock("bars", {}, "Aside", aside=True)
    assert shown(Section("", (aside, NARROW, CHART))) == (NARROW, CHART)


def test_tables_behind_charts_are_gathered_with_their_headings() -> None:
    behind = TableBlock("Behind", ("a",), (("1",),), behind=True)
    sections = [Section("Chapter", (CHART, behind, NARROW)), Section("Part", (CHART, behind), 3)]
    assert behind_charts(sections) == [("Chapter", behind), ("Chapter: Part", behind)]
