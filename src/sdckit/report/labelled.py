"""Names of columns with what the columns are, in every table of a document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sdckit.display import displayed
from sdckit.report.blocks import Block, Page, Section, TableBlock, Tables

# Heads of table columns in which names of columns stand.
NAMES = frozenset({"Column", "Key", "Left out", "Sensitive variable", "Term", "Variable"})
LEVELS = "Levels of "


def with_labels(page: Page, labels: Mapping[str, str]) -> Page:
    """A page whose tables tell beside the name of a column what it is, where a file said so.

    A label that only repeats the name says nothing.

    Examples
    --------
    >>> table = TableBlock("Keys", ("Key", "Missing"), (("educ", "5"), ("sex", "0")))
    >>> page = Page("", "", None, "", "", [Section("Keys", (table,))], "")
    >>> with_labels(page, {"educ": "Years of schooling"}).sections[0].blocks[0].rows
    (('educ (Years of schooling)', '5'), ('sex', '0'))
    """
    shown = {displayed(name): displayed(label) for name, label in labels.items() if label and label != name}
    if not shown:
        return page

    def section(one: Section) -> Section:
        return replace(one, blocks=tuple(_block(block, shown) for block in one.blocks))

    return replace(page, sections=[section(one) for one in page.sections])


def _block(block: Block, labels: Mapping[str, str]) -> Block:
    if isinstance(block, Tables):
        return replace(block, items=tuple(_table(one, labels) for one in block.items))
    return _table(block, labels) if isinstance(block, TableBlock) else block


def _table(table: TableBlock, labels: Mapping[str, str]) -> TableBlock:
    places = [at for at, head in enumerate(table.columns) if head in NAMES]
    rows = tuple(
        tuple(_name(cell, labels) if at in places else cell for at, cell in enumerate(row))
        for row in table.rows
    )
    of = table.caption.removeprefix(LEVELS)
    caption = LEVELS + _name(of, labels) if of != table.caption else of
    return replace(table, rows=rows, caption=caption)


def _name(text: str, labels: Mapping[str, str]) -> str:
    return f"{text} ({labels[text]})" if text in labels else text
