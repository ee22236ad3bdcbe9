"""Parts that several pages have."""

from __future__ import annotations

from sdckit.app.parts import box, file_field, nothing_yet
from sdckit.app.words import speaker

SAY = speaker("de")


def test_a_field_for_a_file_speaks_the_language() -> None:
    html = str(file_field(SAY, "load", "Datei", accept=[".toml"]))
    assert 'accept=".toml"' in html
    assert "Durchsuchen" in html
    assert "Keine Datei gewählt" in html
    assert "accept" not in str(file_field(SAY, "any", "Datei"))


def test_an_empty_page_says_why_and_where_to_go() -> None:
    html = str(nothing_yet(SAY, "No file is open yet: the first page opens one.", "Go to Roles", "roles"))
    assert 'data-go="roles"' in html
    assert "Noch ist keine Datei geöffnet" in html


def test_a_box_is_hidden_and_can_be_closed() -> None:
    html = str(box(SAY, "alert", "alert", "danger"))
    assert 'id="alert" hidden' in html
    assert 'role="alert"' in html
    assert 'data-close="alert"' in html
