"""Page layout: which blocks of a document fit into one of two columns, and which need the full width."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

from sdckit.report.blocks import Block, ChartBlock, Code, Facts, Items, Section, TableBlock
from sdckit.report.charts import is_narrow

MOST_COLUMNS = 5
MOST_LETTERS = 54  # of a row in a column of an A4 page
LONGEST_CELL = 20  # longer ones are folded

BEHIND = "The figures of the charts"

One = TypeVar("One")
Runs = list[tuple[bool, list[One]]]


@dataclass(frozen=True)
class Part:
    """A section with its blocks in runs: those of a narrow run stand in two columns."""

    section: Section
    runs: Runs[Block]


@dataclass(frozen=True)
class Chapter:
    """Sections under one heading of level 2, in runs: those of a narrow run stand in two columns."""

    id: str
    title: str
    runs: Runs[Part]


def shown(section: Section) -> tuple[Block, ...]:
    """The blocks shown in a document: all but the charts marked `aside`, which a table beside them makes superfluous.

    Examples
    --------
    >>> shown(Section("Risk", (ChartBlock("bars", {}, "Shares", aside=True), Facts((("n", "20"),)))))
    (Facts(items=(('n', '20'),), kind='facts'),)
    """
    return tuple(block for block in section.blocks if not (isinstance(block, ChartBlock) and block.aside))


def decision_of(sections: Iterable[Section]) -> list[Part]:
    """The sections of the decision page."""
    return list(map(_part, sections))


def chapters_of(sections: Iterable[Section]) -> list[Chapter]:
    """The chapters of the annex, numbered."""
    groups: list[list[Section]] = []
    for section in sections:
        if section.level == 2 or not groups:
            groups.append([])
        groups[-1].append(section)
    return [
        Chapter(f"chapter-{number}", group[0].title, _runs(list(map(_part, group)), _flows))
        for number, group in enumerate(groups, 1)
    ]


def behind_charts(sections: Iterable[Section]) -> list[tuple[str, TableBlock]]:
    """The tables behind charts, each with the heading it belongs to; printed documents have them at the end."""
    tables: list[tuple[str, TableBlock]] = []
    chapter = ""
    for section in sections:
        chapter = section.title if section.level == 2 else chapter
        heading = section.title if section.level == 2 else f"{chapter}: {section.title}"
        tables += [(heading, block) for block in section.blocks if isinstance(block, TableBlock) and block.behind]
    return tables


def _part(section: Section) -> Part:
    return Part(section, _runs(list(shown(section)), _is_narrow))


def _runs(parts: Sequence[One], narrow: Callable[[One], bool]) -> Runs[One]:
    """Group consecutive items by whether they are narrow: (narrow, items) for each run."""
    return [(in_columns, list(some)) for in_columns, some in groupby(parts, narrow)]


def _flows(part: Part) -> bool:
    """Whether a whole section fits into a column: all of its blocks are narrow or paragraphs."""
    runs = ((pair, {block.kind for block in some}) for pair, some in part.runs)
    return part.section.level > 2 and all(pair or kinds == {"paragraph"} for pair, kinds in runs)


def _is_narrow(block: Block) -> bool:
    if isinstance(block, ChartBlock):
        return is_narrow(block.name, block.data)
    if isinstance(block, TableBlock):
        return len(block.columns) <= MOST_COLUMNS and _letters(block) <= MOST_LETTERS
    return isinstance(block, Facts | Code | Items)


def _letters(table: TableBlock) -> int:
    """Letters of the widest row, if each column is as wide as its longest word or a cell that is folded."""
    columns = zip(*(row for row in table.rows), strict=True)
    return sum(
        max(min(LONGEST_CELL, max(map(len, cells))), max(map(len, head.split()), default=0))
        for head, cells in zip(table.columns, columns, strict=False)
    )
