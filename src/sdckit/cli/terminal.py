"""The blocks of a document on a terminal: the same words and figures as on paper, tables folded to its width."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from sdckit.report.blocks import Block, Page, Section, TableBlock

__all__ = ["make_console", "print_blocks", "print_measure", "print_page", "show_blocks", "show_page"]

STYLES = {"holds": "green", "exceeded": "bold red", "not judged": "bold yellow"}
HEADLINES = {"pass": "bold green", "fail": "bold red", "open": "bold yellow"}
NOTE = "dim"


def make_console() -> Console:
    """Give a console on standard output; 80 columns wide where nobody says otherwise."""
    return Console(file=sys.stdout, highlight=False, soft_wrap=False, emoji=False, markup=False)


def print_page(page: Page, *, name: str) -> None:
    """Print a document."""
    console = make_console()
    for part in show_page(page, name=name):
        console.print(part)


def print_blocks(blocks: Iterable[Block], *, head: Sequence[str] = ()) -> None:
    """Print lines in front, then blocks."""
    console = make_console()
    for number, line in enumerate(head):
        console.print(Text(f"\n{line}" if not number else line, "bold" if not number else NOTE))
    for part in show_blocks(blocks):
        console.print(part)


def print_measure(file_name: str, *results: Any) -> None:
    """Print the results of one command: the file, what a missing key value was taken for, the blocks."""
    from sdckit.report.screen import screen_blocks

    head = [f"{file_name}: {results[0].n:,} records"]
    cells = getattr(results[0], "cells", None)
    if cells is not None:
        head.append(cells.missing_rule)
    print_blocks(screen_blocks(*results), head=head)


def show_page(page: Page, *, name: str) -> Iterator[RenderableType]:
    """Lay out a document: the file's name, the answer, then every chapter that is not for paper alone."""
    yield Text("")
    yield Text.assemble((name, "bold"), f": {page.subtitle}")
    yield Text(page.headline, HEADLINES[page.state])
    for section in page.sections:
        if not section.paper:
            yield from _section(section)


def _section(section: Section) -> Iterator[RenderableType]:
    parts = list(show_blocks(section.blocks))
    if parts:
        yield Text("")
        yield Text(section.title, "bold underline" if section.level == 2 else "bold")
        yield from parts


def show_blocks(blocks: Iterable[Block]) -> Iterator[RenderableType]:
    """Lay out blocks; charts, code and what shows values of records are for documents."""
    from sdckit.report.blocks import Facts, Paragraph, TableBlock, Verdicts  # not for --help

    for block in blocks:
        if isinstance(block, Paragraph):
            if block.style == "paper":
                continue
            style = NOTE if block.style == "note" else "yellow" if block.style == "warning" else ""
            yield Text(block.text, style)
        elif isinstance(block, Verdicts):
            yield _verdicts(block.items)
        elif isinstance(block, Facts):
            yield _facts(block.items)
        elif isinstance(block, TableBlock) and not block.paper:
            yield _table(block)


def _plain(*, head: bool) -> Table:
    return Table(
        box=box.SIMPLE_HEAD if head else None,
        show_header=head,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )


def _facts(items: Sequence[tuple[str, str]]) -> RenderableType:
    table = _plain(head=False)
    table.add_column(overflow="fold")
    table.add_column(justify="right", overflow="fold")
    for label, words in items:
        table.add_row(Text(label), Text(words))
    return table


def _verdicts(items: Sequence[tuple[str, str, str]]) -> RenderableType:
    table = _plain(head=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for state, intruder, sentence in items:
        told = f"{intruder}: {sentence}" if intruder else sentence
        table.add_row(Text(state, STYLES.get(state, "")), Text(told))
    return table


def _table(block: TableBlock) -> RenderableType:
    table = _plain(head=True)
    for position, head in enumerate(block.columns):
        table.add_column(
            Text(head), justify="right" if position in block.numeric else "left", overflow="fold"
        )
    for row in block.rows:
        table.add_row(*map(Text, row))
    table.title, table.title_justify, table.title_style = f"\n{block.caption}", "left", "italic"
    table.min_width = min(len(block.caption), 80)  # a title is folded to the width of its table
    return table
