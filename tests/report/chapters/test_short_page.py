"""The short form of an assessment: what is decided on, and one table for each intruder."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from report.real import MADE, page as whole_page, plain as printed
from sdckit.cli.terminal import show_page
from sdckit.report.blocks import Page, TableBlock
from sdckit.report.chapters.short_page import shorten


def short(name: str) -> Page:
    return shorten(whole_page(name), printed(name))


def tables(page: Page) -> list[TableBlock]:
    return [block for section in page.sections for block in section.blocks if isinstance(block, TableBlock)]


@pytest.mark.parametrize("name", MADE)
def test_every_intruder_has_one_short_table_and_the_answer_stands_first(name: str) -> None:
    shown, plain = short(name), printed(name)
    assert len(tables(shown)) == len(plain["intruders"])
    for table, intruder in zip(tables(shown), plain["intruders"], strict=True):
        assert 1 <= len(table.rows) <= 3
        assert ", ".join(intruder["keys"]) in table.caption
    assert shown.sections[0].place == "answer"
    assert shown.sections[-1].place == "next"


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
