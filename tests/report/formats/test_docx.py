"""A document for a word processor: the words and figures of the page, as headings, tables and pictures."""

from __future__ import annotations

import io
import sys
from functools import cache
from pathlib import Path
from typing import Any

import docx
import pytest

from report.real import MADE, made, page, plain as printed
from sdckit.errors import FileFormatError
from sdckit.report.blocks import ChartBlock, TableBlock, Tables
from sdckit.report.chapters.release_page import page_of
from sdckit.report.formats.docx import render_docx_page
from sdckit.report.formats.flow import shown

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


@cache
def written(name: str, *, internal: bool = False) -> bytes:
    """The document of a kind, written once."""
    return render_docx_page(page_of(printed(name, internal=internal)))


def opened(name: str, *, internal: bool = False) -> Any:
    return docx.Document(io.BytesIO(written(name, internal=internal)))


@pytest.mark.parametrize("name", MADE)
def test_headings_tables_and_pictures_are_those_of_the_page(name: str) -> None:
    document, laid = opened(name), page(name)
    heads = [one.text for one in document.paragraphs if one.style.name.startswith("Heading")]
    sections = [*laid.decision, *laid.sections]
    wanted = [one.title for one in sections]
    assert [one for one in heads if one != "The figures of the charts"] == wanted
    blocks = [block for one in sections for block in shown(one)]
    assert len(document.inline_shapes) == sum(isinstance(one, ChartBlock) for one in blocks) > 1
    tables = [one for block in blocks for one in (block.items if isinstance(block, Tables) else [block])]
    cells = {tuple(cell.text for cell in line.cells) for table in document.tables for line in table.rows}
    for table in tables:
        if isinstance(table, TableBlock):
            assert {tuple(map(str, row)) for row in table.rows} <= cells, table.caption


def test_heads_of_tables_are_repeated_and_pictures_have_words() -> None:
    document = opened("recipe")
    heads = [table for table in document.tables if table.rows[0]._tr.find(f".//{W}tblHeader") is not None]
    assert len(heads) > 10
    words = [shape._inline.docPr.get("descr") for shape in document.inline_shapes]
    assert all(words)
    assert any("before and after" in one for one in words)


def test_nothing_of_the_writer_stands_in_it() -> None:
    document = opened("one file")
    assert (document.core_properties.author, document.core_properties.comments) == ("", "")
    assert document.core_properties.title == page("one file").title


def test_a_confidential_one_is_stamped_on_every_page(tmp_path: Path) -> None:
    document = opened("one file", internal=True)
    stamp = page("one file", internal=True).confidential
    assert stamp
    assert [one.header.paragraphs[0].text for one in document.sections] == [stamp.upper()]
    made("one file").report(tmp_path / "internal.docx", internal=True)
    assert (tmp_path / "internal.docx").stat().st_mode & 0o777 == 0o600


def test_without_the_library_nothing_is_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "docx", None)
    with pytest.raises(FileFormatError, match=r'pip install "sdckit\[docx\]"'):
        made("one file").report(tmp_path / "report.docx")
    assert not list(tmp_path.iterdir())
