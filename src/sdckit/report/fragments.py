"""Results as pieces of a page: protected fragments of HTML with charts, or exact ones under a mark.

Everything here goes through the gate of the documents (`report.gate.protect`): nothing else prints a figure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from html import escape
from typing import Any

from sdckit.display import EXACT
from sdckit.errors import DataError
from sdckit.report.blocks import Page, Paragraph, Section
from sdckit.report.chapters.page import STATES, verdicts_block
from sdckit.report.chapters.sentences import headline
from sdckit.report.formats.html import render_sections
from sdckit.report.gate.figures import Document
from sdckit.report.gate.protect import protect
from sdckit.report.language import names_of, translate
from sdckit.report.notebook import result_blocks, result_document
from sdckit.report.saying import say
from sdckit.report.view import Plain

TOO_FEW = "Switch to exact figures to see them: they must not leave the room."


def protected(document: Document, *, exact: bool) -> Plain:
    """The figures of a document as they may be shown: protected, unless the session shows exact ones."""
    return protect(document, internal=exact)


def result_html(*results: Any, exact: bool = False, language: str = "en", title: str = "") -> str:
    """Show results of measures, each as its view lays it out, one below the other."""

    def made() -> Plain:
        plains = [protected(result_document(one), exact=exact) for one in results]
        return {"each": plains, "together": {place: tree for one in plains for place, tree in one.items()}}

    def laid(plain: Plain) -> list[Section]:
        beside = plain["together"]
        blocks = [block for one in plain["each"] for block in result_blocks(one, beside=beside)]
        return [Section(title, tuple(blocks))]

    return document_html(made, laid, exact=exact, language=language)


def document_html(
    make: Callable[[], Plain],
    laid: Callable[[Plain], Sequence[Section]],
    *,
    exact: bool = False,
    language: str = "en",
) -> str:
    """Show what `make` gives of protected figures in the sections `laid` makes; what has none to show says why."""
    try:
        plain = make()
        return sections_html(laid(plain), exact=exact, language=language, plain=plain)
    except DataError as error:
        if exact:
            raise
        told = (Paragraph(str(error), "warning"), Paragraph(TOO_FEW))
        return sections_html([Section("", told)], language=language)


def sections_html(
    sections: Sequence[Section], *, exact: bool = False, language: str = "en", plain: Plain | None = None
) -> str:
    """Show laid-out sections of protected figures, below a heading of level 2; what `plain` names is not translated."""
    lower = [replace(one, level=one.level + 1) for one in sections]
    return render_sections(
        _said(lower, language, plain or {}), note=say(EXACT, language) if exact else "", language=language
    )


def warned_html(text: str, language: str = "en") -> str:
    """Show a sentence where figures would stand: why there are none."""
    return sections_html([Section("", (Paragraph(text, "warning"),))], language=language)


def verdict_html(plain: Plain, *, of: str = "", exact: bool = False, language: str = "en") -> str:
    """The verdict of a protected document in a line, and every limit folded away, for the top of each page.

    `of`: what it is about, in words that stand above it.
    """
    line = Section("", (Paragraph(headline(plain), f"headline {_state(plain)}"),))
    about = f'<p class="none">{escape(say(of, language))}</p>' if of else ""
    told = about + sections_html([line], exact=exact, language=language, plain=plain)
    if not plain["verdicts"]:
        return told
    every = sections_html([Section("", (verdicts_block(plain),))], language=language, plain=plain)
    summary = escape(say("Every limit", language))
    return f"{told}<details><summary>{summary}</summary>{every}</details>"


def _state(plain: Plain) -> str:
    return STATES[plain["passed"]] if plain["verdicts"] else "open"


def _said(sections: Sequence[Section], language: str, plain: Plain) -> Sequence[Section]:
    page = Page("", "", None, "open", "", sections, "")
    return translate(page, language, names_of(plain)).sections
