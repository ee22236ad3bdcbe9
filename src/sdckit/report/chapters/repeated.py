"""What is shown once: what is the same for several intruders stands where it comes first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sdckit.report.blocks import Block, ChartBlock, Paragraph, Section, TableBlock


def without_repeats(sections: Sequence[Section]) -> list[Section]:
    """Leave out what stood under the same heading before: explanations, and figures with a line that says where.

    Examples
    --------
    >>> table = TableBlock("Households by size", ("Members", "Households"), (("1", "40"),))
    >>> ones = [Section("Households", (table, Paragraph(f"{n} are alone.")), 3) for n in (5, 10)]
    >>> [block.kind for one in without_repeats(ones) for block in one.blocks]
    ['table', 'paragraph', 'paragraph', 'paragraph']
    """
    told: set[tuple[str, str]] = set()
    found = []
    for section in sections:
        names = [(section.title, repr(block)) for block in section.blocks]
        again = [name in told and _can_go(block) for name, block in zip(names, section.blocks, strict=True)]
        told.update(names)
        found.append(_referring(section, again) if any(again) and not all(again) else section)
    return found


def _can_go(block: Block) -> bool:
    """Whether a reader finds it above: a figure by its caption, an explanation that has no figure in it."""
    if isinstance(block, Paragraph):
        return not any(letter.isdigit() for letter in block.text)
    return isinstance(block, ChartBlock | TableBlock)


def _referring(section: Section, again: Sequence[bool]) -> Section:
    """A section without what stands above, and a line in the place of each figure."""
    blocks: list[Block] = []
    for block, gone in zip(section.blocks, again, strict=True):
        if not gone:
            blocks.append(block)
        elif isinstance(block, ChartBlock | TableBlock) and _is_met(block):
            blocks.append(Paragraph(f"{block.caption}: as above.", "note"))
    return replace(section, blocks=tuple(blocks))


def _is_met(block: ChartBlock | TableBlock) -> bool:
    """Whether every form of the document shows it: not a table behind a chart, not a chart aside."""
    return not (block.aside if isinstance(block, ChartBlock) else block.behind)
