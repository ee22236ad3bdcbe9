"""Render a document as Markdown, charts as sentences: for a pull request, a wiki, a terminal."""

import re
from itertools import zip_longest

from sdckit.report import blocks, charts, wording
from sdckit.report.formats.flow import shown

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~&])")


def render_markdown_page(page: blocks.Page) -> str:
    """Render a laid-out page as Markdown."""
    lines = [f"# {_escape(page.title)}", "", _escape(page.subtitle), ""]
    if page.institution:
        lines += [_escape(page.institution), ""]
    if page.confidential:
        lines += [f"**{_escape(page.confidential).upper()}**", ""]
    lines += [f"**{_escape(page.headline)}**", ""]
    for section in (*page.decision, *page.sections):
        lines += [f"{'#' * section.level} {_escape(section.title)}", ""]
        for block, after in zip_longest(shown(section), shown(section)[1:]):
            has_table = isinstance(after, blocks.TableBlock) and after.behind
            lines += _chart(block) if isinstance(block, blocks.ChartBlock) and not has_table else _block(block)
    lines += ["---", "", _escape(page.footer)]
    return "\n".join(lines) + "\n"


def _block(block: blocks.Block) -> list[str]:
    if isinstance(block, blocks.Paragraph):
        return [_escape(block.text), ""]
    if isinstance(block, blocks.Facts):
        return [*(f"- {_escape(label)}: **{_escape(words)}**" for label, words in block.items), ""]
    if isinstance(block, blocks.Verdicts):
        return [*(_verdict(*item) for item in block.items), ""]
    if isinstance(block, blocks.TableBlock):
        return _table(block)
    if isinstance(block, blocks.Tables):
        return [line for item in block.items for line in _table(item)]
    if isinstance(block, blocks.Items):
        marks = (f"{number}." if block.ordered else "-" for number in range(1, len(block.items) + 1))
        return [*(f"{mark} {_escape(words)}" for mark, words in zip(marks, block.items, strict=True)), ""]
    if isinstance(block, blocks.Entries):
        sources = (f" ({_escape(source)})" if source else "" for *_, source in block.items)
        entries = zip(block.items, sources, strict=True)
        return [*(f"- **{_escape(term)}**: {_escape(words)}{source}" for (term, words, _), source in entries), ""]
    if isinstance(block, blocks.Blanks):
        return [*(f"- {_escape(label)}: {_choices(choices)}" for label, choices in block.items), ""]
    if isinstance(block, blocks.Code):
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", block.text)), default=0))
        return [f"{_escape(block.caption)}:", "", fence, block.text, fence, ""]
    return []


def _chart(block: blocks.ChartBlock) -> list[str]:
    """Describe a chart in words, where no table behind it has its figures."""
    return [_escape(charts.describe(block.name, block.data, block.caption)), ""]


def _choices(choices: tuple[str, ...]) -> str:
    return " / ".join(f"☐ {_escape(choice)}" for choice in choices) or "………"


def _verdict(state: str, intruder: str, sentence: str) -> str:
    return f"- **{_escape(state)}**: {_escape(blocks.verdict_start(intruder) + sentence)}"


def _table(block: blocks.TableBlock) -> list[str]:
    rule = [("---:" if number in block.numeric else "---") for number in range(len(block.columns))]
    head = [f"**{_escape(block.caption)}**", "", _row(block.columns), f"| {' | '.join(rule)} |"]
    return [*head, *map(_row, block.rows), ""]


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(_escape(cell) for cell in cells)} |"


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text.replace(wording.SOFT_HYPHEN, "").replace("\r", " ").replace("\n", " "))
