"""What stands beside the figures: the file's name, who made the document; checksums stay inside."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from report.real import MADE, made, page
from sdckit.errors import FileFormatError
from sdckit.report.blocks import Page, Paragraph, Section, TableBlock, Tables
from sdckit.report.cover import LARGEST_LOGO, LOGOS, NAMES, Cover, with_cover, with_labels, with_names
from sdckit.report.formats.write import plain_document

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 20


@pytest.fixture
def logo(tmp_path: Path) -> Path:
    path = tmp_path / "logo.png"
    path.write_bytes(PNG)
    return path


def test_the_name_stands_on_the_page_and_the_office_at_its_head(tmp_path: Path, logo: Path) -> None:
    path = tmp_path / "report.html"
    made("one file").report(path, name="Wave <3>, public", institution="Office of Counting", logo=logo)
    html = path.read_text(encoding="utf-8")
    assert "Wave &lt;3&gt;, public, 600 records" in html
    assert '<p class="institution">Office of Counting</p>' in html
    assert 'src="data:image/png;base64,' in html
    assert "img-src data:" in html
    made("one file").report(tmp_path / "report.md", institution="Office of Counting")
    assert "Office of Counting" in (tmp_path / "report.md").read_text(encoding="utf-8")


def test_checksums_stand_in_a_confidential_document_only(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("a\n1\n", encoding="utf-8")
    found = hashlib.sha256(file.read_bytes()).hexdigest()
    for internal in (True, False):
        path = tmp_path / "report.html"
        made("one file").report(path, internal=internal, files=[file])
        html = path.read_text(encoding="utf-8")
        assert (found in html) == internal == ("people.csv" in html)
        plain = with_names(plain_document(made("one file"), internal=internal), Cover(files=[file]), internal=internal)
        assert plain.get("files") == ([{"file": "people.csv", "bytes": 4, "sha256": found}] if internal else None)


@pytest.mark.parametrize("content", [b"<svg onload='x'/>", PNG + b"0" * LARGEST_LOGO], ids=["svg", "large"])
def test_what_is_no_picture_is_refused_before_any_work(content: bytes, tmp_path: Path, logo: Path) -> None:
    logo.write_bytes(content)
    with pytest.raises(FileFormatError, match=r"logo.png is no .png or .jpg of 1 MB"):
        made("one file").report(tmp_path / "report.html", logo=logo)
    with pytest.raises(FileFormatError, match=r"cannot read the logo none\.png"):
        made("one file").report(tmp_path / "report.html", logo=tmp_path / "none.png")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["logo.png"]


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"cannot read the file gone\.csv"):
        made("one file").report(tmp_path / "report.html", internal=True, files=[tmp_path / "gone.csv"])


def test_a_cover_of_nothing_changes_nothing() -> None:
    assert with_cover(page("one file"), Cover()) == page("one file")
    assert set(LOGOS.values()) == {"image/png", "image/jpeg"}


def test_labels_stand_beside_the_names_of_columns(tmp_path: Path) -> None:
    labels = {"age": "Age in years <now>", "ill": "Ever ill", "w": "not named here", "sex": ""}
    for name in ("one file", "recipe"):
        path = tmp_path / "report.html"
        made(name).report(path, labels=labels)
        html = path.read_text(encoding="utf-8")
        assert html.count("age (Age in years &lt;now&gt;)") >= 3  # the decision page, the scenario, the keys
        assert "ill (Ever ill)" in html
        assert "not named here" not in html
    plain = with_names(plain_document(made("one file")), Cover(labels=labels), internal=False)
    assert plain["labels"] == {"age": "Age in years <now>", "ill": "Ever ill"}


# What columns are stands beside their names in every table, and nowhere else.


LABELS = {"age": "Age in years", "region": "Region <of\u202e home>", "ill": "ill"}


def tables(one: Page) -> list[TableBlock]:
    found = []
    for section in one.sections:
        for block in section.blocks:
            found += block.items if isinstance(block, Tables) else [block]
    return [block for block in found if isinstance(block, TableBlock)]


@pytest.mark.parametrize("name", MADE)
def test_every_name_in_a_table_of_a_real_document_has_its_label(name: str) -> None:
    """A name is the whole of a cell, below a head that says so: no other table has one."""
    plain = tables(page(name))
    assert any("age" in row for table in plain for row in table.rows)
    labelled = tables(with_labels(page(name), LABELS))
    left = [(table.caption, row) for table in labelled for row in table.rows if {"age", "region"} & {*row}]
    assert left == []
    assert any("age (Age in years)" in row for table in labelled for row in table.rows)
    of_age = [table.caption for table in plain if table.caption == "Levels of age"]
    assert [one.caption for one in labelled].count("Levels of age (Age in years)") == len(of_age)
    assert not any("ill (ill)" in row for table in labelled for row in table.rows)
    assert not any("\u202e" in cell for table in labelled for row in table.rows for cell in row)


def test_a_value_that_is_called_like_a_column_is_none() -> None:
    table = TableBlock("Levels of where", ("Level", "Records"), (("age", "5"),))
    shown = Page("", "", None, "", "", [Section("", (table, Paragraph("age")))], "")
    assert with_labels(shown, LABELS).sections == shown.sections
    assert "Level" not in NAMES


def test_without_labels_a_page_is_itself() -> None:
    shown = page("one file")
    assert with_labels(shown, {}) is shown
    assert with_labels(shown, {"age": "", "sex": "sex"}) is shown
