"""Translate documents: every text of a protected page, but not its figures, names or codes.

Only the page that is about to be written is read, so a translation discloses nothing that the document does not.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from sdckit.data.arguments import choice
from sdckit.data.scenarios.scenario_checks import SINGLE
from sdckit.display import displayed
from sdckit.report import blocks as kinds
from sdckit.report.wording import ENGLISH, SOFT_HYPHEN, Wording, languages, wording

GLOSSARY = "Glossary"
TITLES = {"Disclosure risk assessment", "Disclosure risk of a release"}  # of a document without one of its own
# Where the figures of a document name columns and values, the measures and the engine.
COLUMNS = {
    "variables", "variable", "column", "columns", "keys", "sensitive", "identifiers", "numeric", "by", "measure",
    "engine", "earlier", "labels",
}  # fmt: skip
TABLES, LEVELS = {"variables"}, "level_counts"
# A cell of values of a record, or of arguments: one may be a limit of ours, several are as they were given.
VALUE, VALUES = " = ", re.compile(r" = .* = ")
SAID = ("unit", "x", "y", "kind", "caption")  # texts of a chart; in rows: label, file and steps


@dataclass(frozen=True)
class Names:
    """Texts that are never translated: given names and titles, and in cells the names of columns and values."""

    given: frozenset[str] = frozenset()
    data: frozenset[str] = frozenset()

    @cached_property
    def all(self) -> frozenset[str]:
        """Both."""
        return self.given | self.data


def check_language(language: str) -> str:
    """Check that a language is available.

    Raises
    ------
    DataError
        It is not; the message names those that are.
    """
    return choice(language, "language", languages())


def names_of(plain: Mapping[str, Any], labels: Mapping[str, str] = MappingProxyType({})) -> Names:
    """Names in the figures of a document: intruders, columns with their `labels`, values, the file."""
    scenario = plain.get("scenario", {})
    labels = {**{displayed(name): displayed(label) for name, label in labels.items()}, **plain.get("labels", {})}
    intruders = scenario.get("intruders", {})
    given = {*intruders, *labels.values(), plain.get("name", ""), plain.get("title", "")} - TITLES
    columns = {name for keys in intruders.values() for name in keys} | set(_named(plain))
    columns |= {scenario[role] for role in SINGLE if scenario.get(role)} | set(scenario.get("missing_codes", ()))
    data = columns | {f"{name} ({label})" for name, label in labels.items()}
    return Names(frozenset(given - {""}), frozenset(data - {""}))


def _named(tree: Any, key: str = "") -> Iterator[str]:
    """Names of columns and values in a tree of figures."""
    if isinstance(tree, str):
        if key in COLUMNS:
            yield tree
    elif isinstance(tree, Mapping):
        if key in TABLES:
            yield from map(str, tree)
        for name, value in tree.items():
            yield from _named(value, name)
    elif isinstance(tree, list | tuple):
        for value in tree:
            if key == LEVELS:
                yield str(value.get("level", ""))
            else:
                yield from _named(value, "" if isinstance(value, Mapping) else key)


def translate(page: kinds.Page, language: str, names: Names | None = None) -> kinds.Page:
    """A page in another language; what has no translation stays English.

    Parameters
    ----------
    page
        A protected one, laid out.
    language
        One of `languages`; "en" changes nothing.
    names
        What is not translated, from `names_of`.
    """
    return page if language == ENGLISH else _Translator(wording(language), names or Names()).page(page)


def missing(page: kinds.Page, language: str, names: Names | None = None) -> list[str]:
    """The texts of a page that have no translation, each once, in their order."""
    translator = _Translator(wording(language), names or Names())
    translator.page(page)
    return list(dict.fromkeys(translator.untranslated))


@dataclass
class _Translator:
    """Translates a page, and collects the texts without a translation."""

    words: Wording
    names: Names
    untranslated: list[str] = field(default_factory=list)
    cache: dict[tuple[str, bool], str] = field(default_factory=dict)

    def text(self, text: str) -> str:
        """Translate a text of the package."""
        return self._translated(text, self.names.all, in_cell=False)

    def cell(self, text: str) -> str:
        """Translate a table cell, unless it is a name."""
        return text if text in self.names.data else self._translated(text, self.names.all, in_cell=True)

    def _translated(self, text: str, kept: Collection[str], *, in_cell: bool) -> str:
        if in_cell and VALUES.search(text) and text not in self.words.exact:
            return text
        if (text, in_cell) not in self.cache:
            untranslated: list[str] = []
            self.cache[text, in_cell] = self.words.divided(self.words.translate(text, kept, untranslated.append))
            if not (in_cell and VALUE in text):
                self.untranslated += untranslated
        return self.cache[text, in_cell]

    def title(self, text: str) -> str:
        """Translate a title, unless the user gave it."""
        return text if text in self.names.given else self.text(text)

    def page(self, page: kinds.Page) -> kinds.Page:
        return replace(
            page,
            title=self.title(page.title),
            subtitle=self.text(page.subtitle),
            confidential=page.confidential and self.text(page.confidential),
            headline=self.text(page.headline),
            sections=[self.section(section) for section in page.sections],
            footer=self.text(page.footer),
            decision=[self.section(section) for section in page.decision],
            language=self.words.code,
        )

    def section(self, section: kinds.Section) -> kinds.Section:
        blocks = [self.block(block) for block in section.blocks]
        if section.title == GLOSSARY:
            blocks = [_in_order(block) for block in blocks]
        return replace(section, title=self.text(section.title), blocks=tuple(blocks))

    def block(self, block: kinds.Block) -> kinds.Block:
        if isinstance(block, kinds.Tables):
            return kinds.Tables(tuple(map(self.table, block.items)))
        if isinstance(block, kinds.TableBlock):
            return self.table(block)
        if isinstance(block, kinds.ChartBlock):
            return replace(block, caption=self.text(block.caption), data=self.chart(block.data))
        if isinstance(block, kinds.Paragraph):
            return replace(block, text=self.text(block.text))
        if isinstance(block, kinds.Code):
            return replace(block, caption=self.text(block.caption))
        if isinstance(block, kinds.Items):
            return replace(block, items=tuple(map(self.text, block.items)))
        if isinstance(block, kinds.Facts):
            return kinds.Facts(tuple((self.text(label), self.cell(words)) for label, words in block.items))
        if isinstance(block, kinds.Entries):
            items = ((self.text(term), self.text(words), self.words.translate(who)) for term, words, who in block.items)
            return kinds.Entries(tuple(items))
        if isinstance(block, kinds.Verdicts):
            items = ((self.text(state), self.title(who), self.text(words)) for state, who, words in block.items)
            return kinds.Verdicts(tuple(items))
        return kinds.Blanks(tuple((self.text(label), tuple(map(self.text, choices))) for label, choices in block.items))

    def table(self, table: kinds.TableBlock) -> kinds.TableBlock:
        rows = tuple(
            tuple(self.text(cell) if at in table.numeric else self.cell(cell) for at, cell in enumerate(row))
            for row in table.rows
        )
        heads = tuple(self.words.heads.get(head) or self.title(head) for head in table.columns)
        return replace(table, caption=self.text(table.caption), columns=heads, rows=rows)

    def chart(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Translate the texts of a chart; its figures stay."""
        translated = {**data, "language": self.words.code}
        translated |= {
            name: self.text(data[name]).replace(SOFT_HYPHEN, "") for name in SAID if isinstance(data.get(name), str)
        }
        if "steps" in data:
            translated["steps"] = [self.label(step) for step in data["steps"]]
        for name in ("rows", "cells"):
            if name in data:
                translated[name] = [self.row(row) for row in data[name]]
        return translated

    def row(self, row: Mapping[str, Any]) -> dict[str, Any]:
        translated = dict(row)
        if "file" in row:
            translated["tone"] = row.get("tone", "dark" if row["file"] == "original" else "light")
        for name, value in row.items():
            if name in ("label", "file"):
                translated[name] = self.label(value)
            elif isinstance(value, Mapping) and isinstance(value.get("text"), str):
                translated[name] = {**value, "text": self.label(value["text"])}
        return translated

    def label(self, text: str) -> str:
        """Translate a text that is drawn, without soft hyphens."""
        return self.cell(text).replace(SOFT_HYPHEN, "")


def _in_order(block: kinds.Block) -> kinds.Block:
    """Glossary entries in alphabetical order."""
    if not isinstance(block, kinds.Entries):
        return block
    return kinds.Entries(tuple(sorted(block.items, key=lambda row: row[0].casefold())))
