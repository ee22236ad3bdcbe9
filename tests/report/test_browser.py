"""The report in a real browser: silent, self-contained, as wide as the window, printable."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from report.browser import Browser
from report.fakes import FULL, assess_fake, survey
from report.real import MADE, html, page, plain
from sdckit.data.scenarios.scenario import Scenario
from sdckit.report.blocks import ChartBlock
from sdckit.report.chapters.release_page import page_of
from sdckit.report.formats.flow import shown as blocks_of
from sdckit.report.formats.html import render_page
from sdckit.report.formats.write import write_report

A4 = (688, 1032)  # what an A4 page leaves between its margins, in pixels of 1/96 inch
NINE_POINTS = 12
Real = tuple[str, str, Path]
# A document, and the pages it may take in print.
MOST_PAGES = {"one file": 6, "wildcard": 7, "release": 12, "two releases": 12, "recipe": 10, "attacks": 12}
# Words that stand on two lines without a mark to be divided at, and cells wider than what holds them.
BROKEN = """
  (() => {
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const outer = node.parentElement;
      if (outer.closest('pre, style, svg, details:not([open]) > :not(summary)')) continue;
      if (!outer.getClientRects().length) continue;
      for (const word of node.data.matchAll(/[^\\s\\-\u2013\u00ad_./×]+/g)) {
        // The mark of a word divided at a soft hyphen is drawn on the line before, as part of what follows.
        range.setStart(node, word.index + (node.data[word.index - 1] === '\u00ad' ? 1 : 0));
        range.setEnd(node, word.index + word[0].length);
        const tops = [...range.getClientRects()].map(r => Math.round(r.top));
        if (new Set(tops).size > 1) found.push(word[0]);
      }
    }
    for (const cell of document.querySelectorAll('td, th, dd, dt, li, p, figcaption, caption, h1, h2, h3, .state'))
      if (cell.getClientRects().length && cell.scrollWidth > cell.clientWidth + 1)
        found.push('cell: ' + cell.textContent.trim().slice(0, 40));
    return found;
  })()
"""


def written(name: str, folder: Path, language: str = "en") -> Path:
    """A real document as a file."""
    path = folder / "report.html"
    path.write_text(html(name, language), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser(page_viewer: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(page_viewer, tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture(scope="module", params=["one", "several", "internal"])
def report(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    several = Scenario(
        intruders={"neighbour": ["sex", "age"], "a colleague with a long name": ["sex", "age", "occupation"]},
        sampling_fraction=0.05,
        thresholds={"k": 3},
    )
    scenario = several if request.param == "several" else FULL
    path = tmp_path_factory.mktemp("report") / "report.html"
    return write_report(assess_fake(survey(300, missing=0.02), scenario), path, internal=request.param == "internal")


@pytest.fixture(scope="module", params=[(name, language) for name in MADE for language in ("en", "de")], ids="-".join)
def real(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Real:
    """A real document by name and language, as a file: once for all windows it is shown in."""
    name, language = request.param
    return name, language, written(name, tmp_path_factory.mktemp("real"), language)


@pytest.mark.parametrize("width", [1280, 375])
def test_it_is_silent_alone_and_fits(browser: Browser, report: Path, width: int) -> None:
    browser.open(report, width=width)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.evaluate("document.querySelectorAll('figure svg').length") > 0
    requests = browser.happened("Network.requestWillBeSent")
    assert [one["request"]["url"] for one in requests] == [report.as_uri()]
    assert not browser.happened("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")


def test_it_prints_to_pdf(browser: Browser, report: Path) -> None:
    browser.open(report, width=1280)
    pdf = base64.b64decode(browser.call("Page.printToPDF", preferCSSPageSize=True)["data"])
    assert pdf.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) >= 2


def test_text_stands_out(browser: Browser, report: Path) -> None:
    """Every text has a contrast of at least 4.5 to 1 against white."""
    browser.open(report, width=1280)
    script = """
      (() => {
        const curve = v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
        const light = c => curve(c / 255);
        const seen = new Set();
        for (const e of document.querySelectorAll('body *'))
          if (e.childNodes.length && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) {
            const svg = e instanceof SVGElement;
            seen.add(getComputedStyle(e)[svg ? 'fill' : 'color']);
          }
        return [...seen].map(c => {
          const [r, g, b] = c.match(/\\d+/g).map(Number);
          return 1.05 / (0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b) + 0.05);
        });
      })()
    """
    ratios = browser.evaluate(script)
    assert ratios
    assert min(ratios) >= 4.5


@pytest.mark.parametrize("name", MADE)
def test_a_real_document_is_whole_and_fits(browser: Browser, name: str, tmp_path: Path) -> None:
    """Every section has its heading, every chart its bars, and nothing is wider than what holds it."""
    path = written(name, tmp_path)
    browser.open(path, width=1280)
    shown = page(name)
    sections = [*shown.decision, *shown.sections]
    heads = browser.evaluate("[...document.querySelectorAll('section.card > h2, .part > h2, .part > h3')]"
                             ".map(e => e.textContent.trim())")  # fmt: skip
    assert [one.title for one in sections] == heads
    charts = [block for one in sections for block in blocks_of(one) if isinstance(block, ChartBlock)]
    script = """
      [...document.querySelectorAll('figure svg')].map(e => {
        const box = e.getBoundingClientRect(), outer = e.parentElement.getBoundingClientRect();
        const marks = [...e.querySelectorAll('.role-mark path')].map(p => p.getBoundingClientRect());
        return {width: box.width, height: box.height, outer: outer.width,
                longest: Math.max(...marks.map(m => Math.max(m.width, m.height))), marks: marks.length};
      })
    """
    found = browser.evaluate(script)
    assert len(found) == len(charts) > 1
    for chart, one in zip(charts, found, strict=False):
        assert 200 < one["width"] <= one["outer"] + 0.5, chart.caption
        assert 30 < one["height"] < 2_000, chart.caption
        assert one["marks"] >= len(chart.data.get("rows", chart.data.get("cells"))), chart.caption
        assert one["longest"] > 5, chart.caption
    assert not browser.happened("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")
    for width in (1280, 375):
        browser.resize(width)
        assert browser.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [400, 1280])
def test_no_word_is_broken_and_no_cell_runs_over(browser: Browser, real: Real, width: int) -> None:
    browser.show(real[-1], width=width)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.evaluate(BROKEN) == []


def test_a_broken_word_is_seen(browser: Browser, tmp_path: Path) -> None:
    """The check itself: a narrow cell that breaks anywhere, and one that runs over."""
    path = tmp_path / "page.html"
    narrow = "<p style='width:3em;overflow-wrap:anywhere'>unmistakably</p><p style='width:3em'>incomprehensible</p>"
    path.write_text(narrow, encoding="utf-8")
    browser.open(path, width=400)
    assert browser.evaluate(BROKEN) == ["unmistakably", "cell: incomprehensible"]


def test_a_print_has_few_pages_and_a_page_to_decide_on(browser: Browser, real: Real) -> None:
    name, language, path = real
    browser.show(path, width=A4[0])
    pdf = base64.b64decode(browser.call("Page.printToPDF", preferCSSPageSize=True)["data"])
    longer = language != "en"  # a page for longer words
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) <= MOST_PAGES[name] + longer
    browser.call("Emulation.setEmulatedMedia", media="print")
    try:
        assert browser.evaluate("document.querySelector('.decision').getBoundingClientRect().bottom") <= A4[1]
        assert browser.evaluate(BROKEN) == []
        letters = browser.evaluate("""
          [...document.querySelectorAll('figure svg')].flatMap(svg => {
            const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
            return [...svg.querySelectorAll('text')].filter(t => t.textContent.trim())
              .map(t => scale * parseFloat(getComputedStyle(t).fontSize));
          })
        """)
        assert len(letters) > 4
        assert min(letters) >= NINE_POINTS - 0.01
        folds = "document.querySelectorAll('details.behind, .print-only')"
        shown_now = f"[...{folds}].map(e => getComputedStyle(e).display)"
        assert set(browser.evaluate(shown_now)) == {"none", "block"}
    finally:
        browser.call("Emulation.setEmulatedMedia", media="")


def twice(tree: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of a release, said of two intruders."""
    other = "somebody who works there"
    found = {**tree, "intruders": [*tree["intruders"], *({**one, "name": other} for one in tree["intruders"])]}
    if "released" in tree:
        found["original"] = twice(tree["original"])
        found["released"] = [twice(one) for one in tree["released"]]
    if "verdicts" in tree:
        found["verdicts"] = [*tree["verdicts"], *({**one, "intruder": other} for one in tree["verdicts"])]
    return found


@pytest.mark.parametrize("name", ["recipe", "attacks"])
def test_the_page_to_decide_on_is_one_sheet_for_two_intruders_too(browser: Browser, name: str, tmp_path: Path) -> None:
    path = tmp_path / "two.html"
    path.write_text(render_page(page_of(twice(plain(name)))), encoding="utf-8")
    browser.open(path, width=A4[0])
    browser.call("Emulation.setEmulatedMedia", media="print")
    try:
        assert browser.evaluate("document.querySelector('.decision').getBoundingClientRect().bottom") <= A4[1]
    finally:
        browser.call("Emulation.setEmulatedMedia", media="")


def test_the_first_screen_has_the_verdict_its_reason_and_what_to_do(browser: Browser, real: Real) -> None:
    browser.show(real[-1], width=1280, height=800)
    for part in (".headline", ".card.answer", ".card.next"):
        assert browser.evaluate(f"document.querySelector('{part}').getBoundingClientRect().bottom") <= 800, part


def test_every_picture_is_told_in_words(browser: Browser, tmp_path: Path) -> None:
    path = written("recipe", tmp_path)
    browser.open(path, width=1280)
    words = browser.evaluate("[...document.querySelectorAll('[role=img]')].map(e => e.getAttribute('aria-label'))")
    assert len(words) == browser.evaluate("document.querySelectorAll('figure svg').length") > 4
    assert all(len(one) > 20 for one in words)
    assert browser.evaluate(
        "[...document.querySelectorAll('.contents a')].every(a => document.querySelector(a.getAttribute('href')))"
    )
