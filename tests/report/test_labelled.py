"""What columns are stands beside their names in every table, and nowhere else."""

from __future__ import annotations

import pytest

from report.real import MADE, page
from sdckit.report.blocks import Page, Paragraph, Section, TableBlock, Tables
from sdckit.report.labelled import NAMES, with_labels

LABELS = {"age": "Age in years", "region": "Region <of\u202e home>", "ill": "ill"}


def tables(one: Page) -> list[TableBlock]:
    found = []
    for section in one.sections:
        for block in section.blocks:
            found += block.items if isinstance(block, Tables) else [block]
    return [block for block in found if isinstance(block, TableBlock)]


@pytest.mark.parametrize("name", MADE)
def test_every_name_in_a_table_of_a_real_document_has_its_label(name: str) -> None:
    """A name is the whole of a cell, below a head that says so: no other table has one."""
    plain = tables(page(name))
    assert any("age" in row for table in plain for row in table.rows)
    labelled = tables(with_labels(page(name), LABELS))
    left = [(table.caption, row) for table in labelled for row in table.rows if {"age", "region"} & {*row}]
    assert left == []
    assert any("age (Age in years)" in row for table in labelled for row in table.rows)
    of_age = [table.caption for table in plain if table.caption == "Levels of age"]
    assert [one.caption for one in labelled].count("Levels of age (Age in years)") == len(of_age)
    assert not any("ill (ill)" in row for table in labelled for row in table.rows)
    assert not any("\u202e" in cell for table in labelled for row in table.rows for cell in row)


def test_a_value_that_is_called_like_a_column_is_none() -> None:
    table = TableBlock("Levels of where", ("Level", "Records"), (("age", "5"),))
    shown = Page("", "", None, "", "", [Section("", (table, Paragraph("age")))], "")
    assert with_labels(shown, LABELS).sections == shown.sections
    assert "Level" not in NAMES


def test_without_labels_a_page_is_itself() -> None:
    shown = page("one file")
    assert with_labels(shown, {}) is shown
    assert with_labels(shown, {"age": "", "sex": "sex"}) is shown
