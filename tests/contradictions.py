"""Read a laid-out document for contradictions: one quantity with two values, two quantities under the same words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sdckit.report.blocks import Block, ChartBlock, Facts, Page, Paragraph, TableBlock, Tables
from sdckit.report.common_blocks import ALONE
from sdckit.report.gate.figures import Quantity
from sdckit.report.gate.rounding import Identity, Printed

# How sentences name a quantity that has several rules for missing values.
SAID = {ALONE: "alone with"}
SPLIT = (". ", "; ")


@dataclass(frozen=True)
class _Print:
    section: str
    words: str
    text: str
    identity: Identity


def contradictions(page: Page) -> list[str]:
    """What a document says against itself, a sentence each; an empty list for one that can be signed.

    Equal quantities have one value; different ones stand under different words, with their rule for missing key values
    and their file where the document has several; no table is empty and no cell blank.

    Examples
    --------
    >>> alone = [Identity("count", (Quantity(ALONE, rule=rule),)) for rule in ("wildcard", "category")]
    >>> facts = Facts(((ALONE, Printed("320", alone[0])), (ALONE, Printed("2,040", alone[1]))))
    >>> from sdckit.report.blocks import Section
    >>> page = Page("", "", None, "open", "", [Section("Keys", (facts,))], "")
    >>> contradictions(page)[0]
    "Keys: two quantities stand under 'Records alone with their combination': 320, 2,040"
    """
    prints, annex = list(_prints(page)), list(_prints(replace(page, decision=())))
    return [
        *_values(prints),
        *_names(prints),
        *_unsaid(annex),  # the decision page says it in words of its own
        *_sentences(page, prints),
        *_gaps(page),
    ]


# --- what is printed, and where ------------------------------------------------------------------------


def _sections(page: Page) -> Iterator[tuple[str, Block]]:
    chapter = ""
    for section in (*page.decision, *page.sections):
        chapter = section.title if section.level == 2 else chapter
        title = section.title if section.level == 2 else f"{chapter}: {section.title}"
        for block in section.blocks:
            if isinstance(block, Tables):
                yield from ((title, table) for table in block.items)
            else:
                yield title, block


def _prints(page: Page) -> Iterator[_Print]:
    for section, block in _sections(page):
        for words, text in _told(block):
            if isinstance(text, Printed):
                # A count with its share in brackets is compared by the count.
                yield _Print(section, words, text.partition(" (")[0], text.identity)


def _told(block: Block) -> Iterator[tuple[str, str]]:
    if isinstance(block, Facts):
        yield from block.items
    elif isinstance(block, TableBlock):
        for row in block.rows:
            label = ", ".join(text for text in row if not isinstance(text, Printed))
            for column, text in zip(block.columns, row, strict=True):
                yield f"{block.caption}: {label}: {column}", text
    elif isinstance(block, ChartBlock) and block.name == "bars":
        yield from ((f"{block.caption}: {row['label']}", row["n"]["text"]) for row in block.data["rows"])
    elif isinstance(block, ChartBlock) and block.name == "risk":
        rows: Sequence[Mapping[str, Any]] = block.data["rows"]
        yield from ((f"{block.caption}: {row['from']} to {row['to']}", row["n"]["text"]) for row in rows)


# --- what is wrong with it -------------------------------------------------------------------------------


def _values(prints: Iterable[_Print]) -> Iterator[str]:
    texts: dict[Identity, dict[str, str]] = defaultdict(dict)
    for one in prints:
        texts[one.identity].setdefault(one.text, f"{one.text} ({one.section}: {one.words})")
    for identity, found in texts.items():
        if len(found) > 1:
            yield f"{identity.of[0].name} has several values: {'; '.join(found.values())}"


def _names(prints: Iterable[_Print]) -> Iterator[str]:
    named: dict[tuple[str, str], dict[Identity, str]] = defaultdict(dict)
    for one in prints:
        named[one.section, one.words][one.identity] = one.text
    for (section, words), found in named.items():
        if len(found) > 1:
            yield f"{section}: two quantities stand under {words!r}: {', '.join(found.values())}"


def _unsaid(prints: Sequence[_Print]) -> Iterator[str]:
    rules, bases = _several(prints, "rule"), _several(prints, "base")
    for one in prints:
        for of in one.identity.of[:1]:
            words, key = f"{one.section}: {one.words}".lower(), (of.name, of.intruder)
            if of.rule and key in rules and f"missing as {of.rule}" not in words:
                yield f"{one.section}: {one.words}: not said that missing keys count as {of.rule}"
            if of.base and key in bases and _base_word(of) not in words:
                yield f"{one.section}: {one.words}: not said that it is of the {of.base}"


def _several(prints: Iterable[_Print], part: str) -> set[tuple[str, str]]:
    """Names and intruders of the quantities that a document has under several rules, or of several files."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for one in prints:
        for of in one.identity.of[:1]:
            found[of.name, of.intruder].add(getattr(of, part))
    return {key for key, ones in found.items() if len(ones - {""}) > 1}


def _base_word(of: Quantity) -> str:
    kind, _, rest = of.base.partition(" ")
    return f"{rest.removeprefix('step ')}." if kind == "after" else kind


def _sentences(page: Page, prints: Sequence[_Print]) -> Iterator[str]:
    rules, ruled = _several(prints, "rule"), set(SAID)
    for of in (of for one in prints for of in one.identity.of[:1]):
        if (of.name, of.intruder) not in rules:
            ruled.discard(of.name)  # an intruder without missing keys: a sentence of his needs no rule
    for section, block in _sections(page):
        if isinstance(block, Paragraph) and block.style != "note":
            text = block.text
            for sentence in text.replace(SPLIT[1], SPLIT[0]).split(SPLIT[0]):
                for name in ruled:
                    if SAID[name] in sentence and "missing as" not in sentence:
                        yield f"{section}: not said how missing keys count: {sentence}"


def _gaps(page: Page) -> Iterator[str]:
    for section, block in _sections(page):
        if isinstance(block, Facts):
            yield from (f"{section}: {label!r} has no words" for label, text in block.items if not text.strip())
        if not isinstance(block, TableBlock):
            continue
        if not block.rows:
            yield f"{section}: the table {block.caption!r} has no row"
        for row in block.rows:
            for column, text in zip(block.columns, row, strict=True):
                if not text.strip():
                    yield f"{section}: {block.caption}: {row[0]}: the cell {column!r} is blank"
