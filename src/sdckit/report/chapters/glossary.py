"""The terms of a document, in the words of the field: those that stand in it, each explained once."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files

from sdckit.report.blocks import (
    Block,
    ChartBlock,
    Code,
    Entries,
    Facts,
    Items,
    Paragraph,
    Section,
    TableBlock,
    Tables,
    Verdicts,
)  # fmt: skip


@cache
def terms() -> tuple[tuple[str, str, str], ...]:
    """The terms: name, how it is recognised in a text, what it means."""
    text = files("sdckit.report").joinpath("words", "glossary.toml").read_text(encoding="utf-8")
    return tuple((one["name"], one["seen"], one["means"]) for one in tomllib.loads(text)["term"])


def glossary(sections: Sequence[Section]) -> list[Section]:
    """Explain the terms that stand in sections."""
    text = "\n".join(texts_of(sections))
    known = tuple((term, words, "") for term, how, words in terms() if re.search(how, text, re.IGNORECASE))
    return [Section("Glossary", (Entries(known),), paper=True)] if known else []


def texts_of(sections: Iterable[Section]) -> Iterator[str]:
    """Every text of sections, but for code."""
    for section in sections:
        yield section.title
        for block in section.blocks:
            yield from _texts(block)


def _texts(block: Block) -> Iterator[str]:
    if isinstance(block, Paragraph):
        yield block.text
    elif isinstance(block, Tables):
        for one in block.items:
            yield from _texts(one)
    elif isinstance(block, TableBlock):
        yield from (block.caption, *block.columns, *(cell for row in block.rows for cell in row))
    elif isinstance(block, ChartBlock):
        yield from (block.caption, *(str(row.get("label", "")) for row in block.data.get("rows", ())))
    elif isinstance(block, Facts | Entries | Verdicts):
        yield from (text for item in block.items for text in item)
    elif isinstance(block, Items):
        yield from block.items
    elif not isinstance(block, Code):
        yield from (label for label, _ in block.items)
