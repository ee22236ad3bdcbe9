"""A term and its meaning, which belong together for who sees and who does not."""

from __future__ import annotations

import pytest

from sdckit.app.terms import meanings, term
from sdckit.app.words import speaker


def test_a_term_is_a_button_with_its_meaning_in_the_language() -> None:
    shown = str(term("Cell", speaker("en")))
    assert shown.startswith('<button type="button" class="term">')
    assert "The records that share one combination of key values." in shown
    german = str(term("Cell", speaker("de"), text="eine Zelle"))
    assert "eine Zelle" in german
    assert "The records" not in german
    with pytest.raises(KeyError):
        term("No such term", speaker("en"))


def test_a_page_names_its_terms_in_a_line() -> None:
    html = str(meanings(["Cell", "Weight"], speaker("de")))
    assert html.count('role="tooltip"') == 2
    assert "Was die Wörter bedeuten:" in html
