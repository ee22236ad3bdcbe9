"""The glossary: a term stands in it where it stands in the document, once, in the order of the alphabet."""

from __future__ import annotations

import re

import pytest

from report.real import MADE, page
from sdckit.report.blocks import Code, Entries, Facts, Paragraph, Section
from sdckit.report.chapters.glossary import glossary, terms, texts_of


def named(*texts: str) -> list[str]:
    found = glossary([Section("", tuple(map(Paragraph, texts)))])
    return [
        term
        for one in found
        for block in one.blocks
        if isinstance(block, Entries)
        for term, _, _ in block.items
    ]


def test_terms_are_recognised_and_only_they() -> None:
    assert named("the pMSE of a step") == ["pMSE"]
    assert named("nothing of the trade here") == []
    assert named("SPECKS and PRAM") == ["PRAM", "SPECKS"]
    assert "Key variables" in named("the keys of an intruder")
    assert glossary([Section("", (Code("", "pMSE"),))]) == []


def test_every_term_is_explained_once_in_order() -> None:
    names = [name for name, _, _ in terms()]
    assert names == sorted(names, key=str.casefold)
    assert len(set(names)) == len(names) >= 30
    for name, how, means in terms():
        assert re.compile(how), name
        assert means.endswith("."), name
        assert len(means) < 200, name


@pytest.mark.parametrize("name", MADE)
def test_a_document_explains_its_own_terms(name: str) -> None:
    shown = page(name)
    last = shown.sections[-1]
    assert last.title == "Glossary"
    (entries,) = last.blocks
    assert isinstance(entries, Entries)
    text = "\n".join(texts_of(shown.sections[:-1]))
    for term, how, _ in terms():
        assert bool(re.search(how, text, re.IGNORECASE)) == (term in [one for one, _, _ in entries.items]), (
            term
        )


def test_texts_are_those_of_every_block() -> None:
    assert list(texts_of([Section("head", (Facts((("a", "b"),)), Paragraph("c")))])) == [
        "head",
        "a",
        "b",
        "c",
    ]
