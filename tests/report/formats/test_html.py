from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import sdckit as sdc
from report.documents import render_html
from report.fakes import FULL, assess_fake, survey
from report.real import made, page
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import FileFormatError
from sdckit.report.blocks import Page, Paragraph, Section, TableBlock
from sdckit.report.cover import Logo
from sdckit.report.formats import html as pdf
from sdckit.report.formats.html import find_browser, render_fragment, render_page, render_pdf, render_sections
from sdckit.report.formats.write import plain_document

NASTY = '<b>x</b>&"'


@pytest.fixture(scope="module")
def html() -> str:
    return render_html(plain_document(assess_fake(survey(400, missing=0.02), FULL)))


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))


def read(html: str) -> list[tuple[str, dict[str, str | None]]]:
    reader = Reader()
    reader.feed(html)
    return reader.tags


def test_it_needs_nothing_from_elsewhere(html: str) -> None:
    tags = read(html)
    names = {tag for tag, _ in tags}
    assert not names & {"script", "link", "iframe", "object", "embed", "img", "form", "base"}
    for _, attributes in tags:
        assert not {"src", "srcset", "action", "xlink:href"} & attributes.keys()
        assert attributes.get("href", "#").startswith("#")  # the contents
        assert not any(name.startswith("on") for name in attributes)
    assert "url(" not in html
    assert "@import" not in html
    assert not [found for found in re.findall(r"https?://[^\s\"'<]+", html) if "www.w3.org" not in found]


def test_it_forbids_what_it_does_not_need(html: str) -> None:
    assert "default-src 'none'" in html
    assert html.startswith("<!DOCTYPE html>")


def test_tables_are_accessible(html: str) -> None:
    tags = read(html)
    tables = sum(tag == "table" for tag, _ in tags)
    assert tables > 5
    assert sum(tag == "caption" for tag, _ in tags) == tables
    assert all(attributes.get("scope") in {"col", "row"} for tag, attributes in tags if tag == "th")


def test_charts_have_words(html: str) -> None:
    drawings = [attributes for tag, attributes in read(html) if "drawing" in (attributes.get("class") or "")]
    assert drawings
    assert all(one["role"] == "img" and one["aria-label"] for one in drawings)


def test_headings_do_not_skip_a_level(html: str) -> None:
    levels = [int(tag[1]) for tag, _ in read(html) if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_all_text_from_data_is_escaped() -> None:
    rows = survey(200)
    for number, row in enumerate(rows):
        row[NASTY] = NASTY if number < 120 else row["region"]
        row[NASTY + "s"] = row["income"]
    scenario = Scenario(
        intruders={NASTY: ["sex", NASTY]}, sensitive=[NASTY + "s"], title=NASTY, thresholds={"k": 3, "l": 2},
    )  # fmt: skip
    html = render_html(plain_document(assess_fake(rows, scenario, warnings=(f"{NASTY} is odd",))))
    assert "<b>x</b>" not in html
    assert "&lt;b&gt;x&lt;/b&gt;" in html
    assert not [tag for tag, _ in read(html) if tag == "b"]


def test_a_confidential_report_says_so_on_every_page() -> None:
    html = render_html(plain_document(assess_fake(survey(60), FULL), internal=True))
    assert html.count("contains confidential information") >= 2
    assert "@bottom-center" in html
    assert "Records at risk" in html


def test_a_chart_stands_before_its_folded_table() -> None:
    html = render_html(plain_document(assess_fake(survey(120), Scenario(keys=["sex", "age"]))))
    caption = "Cells by number of records in the cell"
    assert html.count(f"As a table: {caption}") == 1
    assert html.count(f"<caption>{caption}</caption>") == 2  # folded, and at the end of a print
    assert html.index("Cells by number of records</figcaption>") < html.index(f"As a table: {caption}")
    assert html.index("The figures of the charts") < html.rindex(f"<caption>{caption}</caption>")


def test_who_made_it_stands_at_its_head() -> None:
    page = Page("Title", "", None, "open", "Head", (), "foot", institution="Office <b>", logo=Logo(b"abc", "image/png"))
    html = render_page(page)
    assert '<img class="logo" src="data:image/png;base64,YWJj" alt="Office &lt;b&gt;">' in html
    assert '<p class="institution">Office &lt;b&gt;</p>' in html


def test_a_page_is_made_of_its_blocks() -> None:
    table = TableBlock("Caption", ("a", "b"), (("x", "1"),), (1,))
    page = Page("Title", "", None, "open", "Head", (Section("S", (Paragraph("words"), table)),), "foot")
    html = render_page(page)
    for words in ("<h2>S</h2>", "words", '<td class="number">1</td>', "foot"):
        assert words in html


def test_a_fragment_has_no_page_around_it() -> None:
    text = render_fragment("Title", [Paragraph("a < b")], note="why")
    assert text.startswith('<div class="sdckit">')
    assert "a &lt; b" in text
    assert "<html" not in text


def test_sections_for_a_screen_fold_what_stands_behind_a_chart() -> None:
    table = TableBlock("Cells", ("Size", "Cells"), (("1", "5"),), (1,), behind=True)
    shown = render_sections([Section(NASTY, (table,), 4)], note=NASTY, language="de")
    assert "<h4>&lt;b&gt;x&lt;/b&gt;&amp;&#34;</h4>" in shown
    assert '<details class="behind"><summary>Als Tabelle: Cells</summary>' in shown
    assert '<p class="exact" role="note">&lt;b&gt;' in shown
    assert "<h" not in render_sections([Section("", (table,))])


# A document as PDF: printed by the browser there is, or a clear refusal before any work.


def test_a_document_is_printed(chromium: Path, tmp_path: Path) -> None:
    assert find_browser() == str(chromium)
    path = tmp_path / "report.pdf"
    made("one file").report(path)
    found = path.read_bytes()
    assert found.startswith(b"%PDF")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", found)) <= 6
    assert b"/Title" in found
    assert [one.name for one in tmp_path.iterdir()] == ["report.pdf"]


def test_without_a_browser_nothing_is_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf.shutil, "which", lambda _: None)
    with pytest.raises(FileFormatError, match=r"none was found; install one, or write the report as \.html"):
        made("one file").report(tmp_path / "report.pdf")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("program", ["#!/bin/sh\nexit 0\n", "#!/bin/sh\nexec sleep 30\n"], ids=["silent", "slow"])
def test_a_browser_that_prints_nothing_is_told(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "chromium"
    script.write_text(program, encoding="utf-8")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(pdf, "SECONDS", 1)
    with pytest.raises(FileFormatError, match=r"printed nothing|did not end within 1 seconds"):
        render_pdf(page("one file"))


def test_a_confidential_pdf_is_for_its_owner(chromium: Path, tmp_path: Path) -> None:
    path = tmp_path / "internal.pdf"
    sdc.assess(sdc.load_demo().head(200), scenario=sdc.demo_scenario()).report(path, internal=True)
    assert chromium
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_long_folder_for_temporary_files_is_no_hindrance(
    chromium: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("x" * 80)
    long.mkdir()
    monkeypatch.setenv("TMPDIR", str(long))
    monkeypatch.setattr(pdf.tempfile, "tempdir", None)
    assert chromium
    assert render_pdf(page("one file")).startswith(b"%PDF")
    assert list(long.iterdir()) == []
