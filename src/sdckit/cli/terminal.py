"""The blocks of a document on a terminal: the same words and figures as on paper, tables folded to its width."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from sdckit.display import printable

if TYPE_CHECKING:
    from sdckit.report.blocks import Block, Page, Section, TableBlock


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
        console.print(part, soft_wrap=isinstance(part, Verbatim))


def print_blocks(blocks: Iterable[Block], *, head: Sequence[str] = ()) -> None:
    """Print lines in front, then blocks."""
    console = make_console()
    for number, line in enumerate(head):
        line = printable(line)  # noqa: PLW2901
        console.print(Text(f"\n{line}" if not number else line, "bold" if not number else NOTE))
    for part in show_blocks(blocks):
        console.print(part, soft_wrap=isinstance(part, Verbatim))


def print_measure(file_name: str, *results: Any) -> None:
    """Print the results of one command: the file, what a missing key value was taken for, the blocks."""
    from sdckit.report.notebook import screen_blocks
    from sdckit.report.subgroups import single_blocks

    n = getattr(results[0], "n", None) or getattr(getattr(results[0], "pair", None), "n", None)
    head = [file_name if n is None else f"{file_name}: {n:,} records"]
    if rule := getattr(results[0], "missing_rule", None):
        head.append(rule)
    subgroups = [block for result in results for block in single_blocks(result)]
    print_blocks([*screen_blocks(*results), *subgroups], head=head)


def show_page(page: Page, *, name: str) -> Iterator[RenderableType]:
    """Lay out a document: the file's name, the answer, then every chapter that is not for paper alone."""
    yield Text("")
    yield Text(printable(name), "bold")
    yield Text(page.subtitle)
    yield Text(page.headline, HEADLINES[page.state])
    # What to do next stands last, where the prompt is.
    for section in (*page.sections, *page.decision):
        if not section.paper:
            yield from _section(section)


def _section(section: Section) -> Iterator[RenderableType]:
    parts = list(show_blocks(section.blocks))
    if parts and not section.title:
        yield from parts
    elif parts:
        yield Text("")
        yield Text(section.title, "bold underline" if section.level == 2 else "bold")
        yield from parts


def show_blocks(blocks: Iterable[Block]) -> Iterator[RenderableType]:
    """Lay out blocks; charts and what shows values of records are for documents."""
    # not for --help
    from sdckit.report.blocks import Code, Facts, Items, Paragraph, TableBlock, Verdicts, verdict_start

    for block in blocks:
        if isinstance(block, Paragraph):
            if block.style == "paper":
                continue
            style = NOTE if block.style == "note" else "yellow" if block.style == "warning" else ""
            yield Text(block.text, style)
        elif isinstance(block, Verdicts):
            yield _two_columns(
                (Text(state, STYLES.get(state, "")), verdict_start(intruder) + sentence)
                for state, intruder, sentence in block.items
            )
        elif isinstance(block, Items):
            marks = (f"{number}." if block.ordered else "-" for number in range(1, len(block.items) + 1))
            yield _two_columns(zip(map(Text, marks), block.items, strict=True))
        elif isinstance(block, Facts):
            yield _two_columns(((Text(label), words) for label, words in block.items), folds=True)
        elif isinstance(block, Code) and block.screen:
            yield Text(f"\n{block.caption}", "italic")
            yield Verbatim(block.text)
        elif isinstance(block, TableBlock) and not block.paper:
            yield Text(f"\n{block.caption}", "italic")  # a title of the table would be folded to its width
            yield Fitted(block)


def _plain(*, head: bool) -> Table:
    return Table(
        box=box.SIMPLE_HEAD if head else None, show_header=head, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0)
    )


def _two_columns(rows: Iterable[tuple[Text, str]], *, folds: bool = False) -> RenderableType:
    """Words beside what they belong to, which stays on its line unless it `folds`."""
    table = _plain(head=False)
    table.add_column(no_wrap=not folds, overflow="fold" if folds else "ellipsis")
    table.add_column(overflow="fold")
    for label, words in rows:
        table.add_row(label, Text(words))
    return table


class Verbatim(Text):
    """Text to be copied: no line of it is broken, whatever the width."""


class Fitted:
    """A table whose columns give way between words, the widest first, as long as that is enough."""

    def __init__(self, block: TableBlock) -> None:
        self.block = block

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay out the table for the width there is."""
        table = _plain(head=True)
        columns, widths = _fitted(self.block, options.max_width)
        for position, (column, width) in enumerate(zip(columns, widths, strict=True)):
            justify: JustifyMethod = "right" if position in self.block.numeric else "left"
            table.add_column(Text(column[0]), justify=justify, overflow="fold", width=width)
        for row in self.block.rows:
            table.add_row(*map(Text, row))
        yield table


def _fitted(block: TableBlock, most: int) -> tuple[list[tuple[str, ...]], Sequence[int | None]]:
    """The columns of a table and their widths; where its words are too long, heads of numbers are broken, not names."""
    columns = list(zip(block.columns, *block.rows, strict=True))
    room = most - 2 * (len(columns) - 1)  # a blank and the line between them
    least = [_longest_word(column) for column in columns]
    if sum(least) > room:
        columns = [(column[0].replace("-", "- "), *column[1:]) for column in columns]
        least = [_longest_word(column) for column in columns]
    if sum(least) > room:
        least = [
            _longest_word(column[1:] if place in block.numeric else column) for place, column in enumerate(columns)
        ]
    return columns, _widths(columns, least, room)


def _longest_word(cells: Iterable[str]) -> int:
    return max((cell_len(word) for cell in cells for word in cell.split()), default=0)


def _widths(columns: Sequence[Sequence[str]], least: Sequence[int], room: int) -> Sequence[int | None]:
    """Widths from the least on, or None each where the columns need none, or nothing helps."""
    widths = [max(map(cell_len, column)) for column in columns]
    if sum(widths) <= room or sum(least) > room:
        return [None] * len(columns)
    while sum(widths) > room:
        widest = max(range(len(widths)), key=lambda i: (widths[i] > least[i], widths[i]))
        widths[widest] -= 1
    return widths
