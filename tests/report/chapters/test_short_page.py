"""The short form of an assessment: what is decided on, and one table for each intruder."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from report.real import MADE, page as whole_page, plain as printed
from report.test_browser import twice
from sdckit.cli.terminal import show_page
from sdckit.report.blocks import Page, Paragraph, TableBlock
from sdckit.report.chapters.release_page import page_of
from sdckit.report.notebook import shorten


def short(name: str) -> Page:
    return shorten(whole_page(name), printed(name))


def tables(page: Page) -> list[TableBlock]:
    return [block for section in page.sections for block in section.blocks if isinstance(block, TableBlock)]


@pytest.mark.parametrize("name", MADE)
def test_there_is_one_short_table_and_the_answer_stands_first(name: str) -> None:
    shown, plain = short(name), printed(name)
    (table,) = tables(shown)
    assert 1 <= len(table.rows) <= 3
    assert ", ".join(plain["intruders"][0]["keys"]) in table.caption
    assert shown.sections[0].place == "answer"
    assert shown.sections[-1].place == "next"


@pytest.mark.parametrize("name", ["one file", "recipe"])
def test_two_intruders_share_the_table_and_each_is_said_with_what_is_known(name: str) -> None:
    both = twice(printed(name))
    shown = shorten(page_of(both), both)
    (table,) = tables(shown)
    assert table.columns == ("Figure", "“default”", "“somebody who works there”")
    (alone,) = tables(short(name))
    assert [row[1] for row in table.rows] == ["→".join(row[1:]) for row in alone.rows]
    known = [block.text for block in shown.sections[1].blocks if isinstance(block, Paragraph)]
    assert known == [f"{who} knows region, sex, age." for who in table.columns[1:]]


@pytest.mark.parametrize("name", MADE)
def test_it_is_short_in_80_columns(name: str) -> None:
    stream = io.StringIO()
    console = Console(file=stream, width=80, markup=False, highlight=False, emoji=False)
    for part in show_page(short(name), name="survey.csv"):
        console.print(part)
    lines = stream.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 60


def test_the_original_as_collected_stands_beside_the_recoded_one() -> None:
    (table,) = tables(short("recipe"))
    plain = printed("recipe")
    assert table.columns == ("Figure", "Original", "Recoded original", "Release")
    small = dict(zip(table.columns, table.rows[0], strict=True))
    assert small["Original"] == plain["collected"]["default"]["below"]["text"]
    assert small["Figure"] == "Records in groups of fewer than 3"
