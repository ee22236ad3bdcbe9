"""The short form of an assessment for a terminal: the page to decide on, and one table of all intruders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sdckit.report.blocks import Block, Page, Paragraph, Section, TableBlock
from sdckit.report.chapters.decision import drawn_of
from sdckit.report.chapters.page import figures_of
from sdckit.report.chapters.release_document import base_name
from sdckit.report.common_blocks import ALONE, EXPECTED, below, with_rule, without_rule
from sdckit.report.shares import by_release, release_heads
from sdckit.report.view import Plain

BEFORE, AFTER = ("answer",), ("good", "open", "next")  # places of the decision page, around the table
THEN = "→"


def shorten(page: Page, plain: Plain) -> Page:
    """The page with what a committee decides on, and the main figures of each intruder, instead of every chapter."""
    decided = {section.place: replace(section, paper=False) for section in page.decision}
    places = [place for place in AFTER if place != "good" or "released" in plain]  # of one file nothing was changed
    before, after = ([decided[place] for place in some if place in decided] for some in (BEFORE, places))
    return replace(page, sections=(*before, Section("", _figures(plain)), *after), decision=())


def _figures(plain: Plain) -> tuple[Block, ...]:
    """Main figures of each intruder under the first rule for missing values; of a release before and after."""
    intruders = plain["intruders"]
    tables = [_table(plain, number) for number in range(len(intruders))]
    if len(tables) == 1:
        return tuple(tables)
    known = [Paragraph(f"“{intruder['name']}” knows {', '.join(intruder['keys'])}.") for intruder in intruders]
    files = tables[0].columns[1:]
    rows = [(row[0], *(THEN.join(table.rows[at][1:]) for table in tables)) for at, row in enumerate(tables[0].rows)]
    rule = without_rule(tables[0].caption)[1]
    caption = with_rule(" → ".join(files) if len(files) > 1 else "Main figures", rule)
    heads = ("Figure", *(f"“{intruder['name']}”" for intruder in intruders))
    return (TableBlock(caption, heads, tuple(rows), tuple(range(1, len(heads)))), *known)


def _table(plain: Plain, number: int) -> TableBlock:
    intruder = plain["intruders"][number]
    files: Sequence[Plain] = [plain["original"], *plain["released"]] if "released" in plain else [plain]
    first, *others = figures_of([file["intruders"][number] for file in files])
    collected = plain.get("collected", {}).get(intruder["name"])
    main = next((rule for words in first if (rule := without_rule(words)[1])), "")
    small = below(drawn_of(plain))
    rows = []
    for words in (small, ALONE, EXPECTED):
        label = next((label for label in (with_rule(words, main), words) if label in first), None)
        if label is not None:
            raw = [collected["below"]["text"] if words == small else "–"] if collected else []
            after = by_release([file.get(label) for file in others]) if others else ()
            rows.append((words, *raw, first[label]["text"], *after))
    heads = (
        (*(("Original",) if collected else ()), base_name(plain), *release_heads(len(others))) if others else ("File",)
    )
    caption = with_rule(f"Known are {', '.join(intruder['keys'])}", main)
    return TableBlock(caption, ("Figure", *heads), tuple(rows), tuple(range(1, len(heads) + 1)))
