"""The further measures laid out: sections only where there is something, rows that fit their columns."""

from __future__ import annotations

from typing import Any

import pytest
from sdckit.report.layout_special import SPECIAL_BLOCKS, special_sections

from report.test_sections_special import assessed
from sdckit.report.blocks import ChartBlock, Facts, Paragraph, TableBlock
from sdckit.report.markdown import render_markdown
from sdckit.report.write import plain_document


@pytest.fixture(scope="module")
def whole() -> dict[str, Any]:
    return plain_document(assessed())


def test_a_section_for_each_that_ran(whole: dict[str, Any]) -> None:
    assert [section.title for section in special_sections(whole["intruders"][0])] == [
        "Special uniques", "Unique in the population, too?", "Risky combinations of a few variables", "Outliers",
    ]  # fmt: skip
    assert special_sections({"name": "x"}) == []


def test_rows_and_columns_agree(whole: dict[str, Any]) -> None:
    tables = [
        block
        for section in special_sections(whole["intruders"][0])
        for block in section.blocks
        if isinstance(block, TableBlock)
    ]
    assert len(tables) == 7
    for table in tables:
        assert table.rows, table.caption
        assert all(len(row) == len(table.columns) for row in table.rows), table.caption


def test_levels_are_shown_inside_only(whole: dict[str, Any]) -> None:
    inside = plain_document(assessed(), internal=True)
    captions = [
        [
            block.caption
            for block in SPECIAL_BLOCKS["suda"](one["intruders"][0])
            if isinstance(block, TableBlock)
        ]
        for one in (whole, inside)
    ]
    assert "Part of the levels of region" in captions[1]
    assert not any("levels of" in caption for caption in captions[0])


def test_options_in_notes_are_not_taken_for_counts(whole: dict[str, Any]) -> None:
    text = render_markdown(whole)
    for words in ("interactions=", "z2 of", "<5 to", "up to <5"):
        assert words not in text
    assert "factor of 2 to 6" in text


def test_the_largest_stand_first(whole: dict[str, Any]) -> None:
    (table,) = [
        block
        for block in SPECIAL_BLOCKS["risky_cells"](whole["intruders"][0])
        if isinstance(block, TableBlock) and block.caption.startswith("Combinations")
    ]
    unsafe = [0 if "<" in row[1] else int(row[1].replace(",", "")) for row in table.rows]
    assert unsafe == sorted(unsafe, reverse=True)


def test_what_is_undefined_is_a_word() -> None:
    tree = {
        "method": "mad", "n_outliers": None, "rate_outliers": None, "counts": {"x": None},
        "n_missing": {"x": {"text": "0", "value": 0}}, "notes": {"limits x": "no limit"},
    }  # fmt: skip
    facts, table, note, _ = SPECIAL_BLOCKS["outliers"]({"outliers": tree})
    assert isinstance(facts, Facts)
    assert facts.items[1][1] == "undefined"
    assert isinstance(table, TableBlock)
    assert table.rows == (("x", "undefined", "0"),)
    assert isinstance(note, Paragraph)
    assert note.text == "No limit."


def test_counts_are_drawn_beside_their_table(whole: dict[str, Any]) -> None:
    captions = [
        block.caption
        for section in special_sections(whole["intruders"][0])
        for block in section.blocks
        if isinstance(block, ChartBlock)
    ]
    assert captions == [
        "Minimal uniques by the number of keys",
        "Sample uniques, and what the model expects of them",
        "Population uniques by model",
        "Combinations of variables with most unsafe cells",
    ]


def test_how_the_model_was_chosen_is_told(whole: dict[str, Any]) -> None:
    facts = next(
        block
        for block in SPECIAL_BLOCKS["population_risk"](whole["intruders"][0])
        if isinstance(block, Facts)
    )
    assert "forward search" in dict(facts.items)["How the model was chosen"]
