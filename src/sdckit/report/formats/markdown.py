"""The same document as Markdown, without charts: for a pull request, a wiki, a terminal."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sdckit.report.blocks import Block, Code, Facts, Paragraph, TableBlock, Tables, Verdicts
from sdckit.report.chapters.release_page import page_of

__all__ = ["render_markdown"]

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~&])")


def render_markdown(plain: Mapping[str, Any]) -> str:
    """Render a protected assessment as Markdown; words from data are escaped."""
    page = page_of(plain)
    lines = [f"# {_escape(page.title)}", "", _escape(page.subtitle), ""]
    if page.confidential:
        lines += [f"**{_escape(page.confidential).upper()}**", ""]
    lines += [f"**{_escape(page.headline)}**", ""]
    for section in page.sections:
        lines += [f"{'#' * section.level} {_escape(section.title)}", ""]
        for block in section.blocks:
            lines += _block(block)
    lines += ["---", "", _escape(page.footer)]
    return "\n".join(lines) + "\n"


def _block(block: Block) -> list[str]:
    if isinstance(block, Paragraph):
        return [_escape(block.text), ""]
    if isinstance(block, Facts):
        return [*(f"- {_escape(label)}: **{_escape(words)}**" for label, words in block.items), ""]
    if isinstance(block, Verdicts):
        return [*(_verdict(*one) for one in block.items), ""]
    if isinstance(block, TableBlock):
        return _table(block)
    if isinstance(block, Tables):
        return [line for one in block.items for line in _table(one)]
    if isinstance(block, Code):
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", block.text)), default=0))
        return [f"{_escape(block.caption)}:", "", fence, block.text, fence, ""]
    return []


def _verdict(state: str, intruder: str, sentence: str) -> str:
    who = f"{intruder}: " if intruder else ""
    return f"- **{_escape(state)}**: {_escape(who + sentence)}"


def _table(block: TableBlock) -> list[str]:
    rule = [("---:" if number in block.numeric else "---") for number in range(len(block.columns))]
    head = [f"**{_escape(block.caption)}**", "", _row(block.columns), f"| {' | '.join(rule)} |"]
    return [*head, *map(_row, block.rows), ""]


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(_escape(cell) for cell in cells)} |"


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text.replace("\r", " ").replace("\n", " "))
