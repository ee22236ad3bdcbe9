"""The report in a real browser: silent, self-contained, as wide as the window, printable."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from report.browser import Browser
from report.fakes import FULL, assess_fake, survey
from report.real import MADE, made, page
from sdckit.data.scenarios.scenario import Scenario
from sdckit.report.blocks import ChartBlock
from sdckit.report.formats.html import MOST_CHARTS
from sdckit.report.formats.write import write_report


@pytest.fixture(scope="module")
def browser(chromium: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(chromium, tmp_path_factory.mktemp("profile")) as found:
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
    return write_report(
        assess_fake(survey(300, missing=0.02), scenario), path, internal=request.param == "internal"
    )


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
    path = tmp_path / "report.html"
    made(name).report(path)
    browser.open(path, width=1280)
    shown = page(name)
    heads = browser.evaluate("[...document.querySelectorAll('h2, h3')].map(e => e.textContent.trim())")
    assert [one.title for one in shown.sections] == [one for one in heads if one]
    charts = [block for one in shown.sections for block in one.blocks if isinstance(block, ChartBlock)]
    script = """
      [...document.querySelectorAll('figure svg')].map(e => {
        const box = e.getBoundingClientRect(), outer = e.parentElement.getBoundingClientRect();
        const marks = [...e.querySelectorAll('.role-mark path')].map(p => p.getBoundingClientRect());
        return {width: box.width, height: box.height, outer: outer.width,
                longest: Math.max(...marks.map(m => Math.max(m.width, m.height))), marks: marks.length};
      })
    """
    found = browser.evaluate(script)
    assert len(found) == min(len(charts), MOST_CHARTS) > 4
    for chart, one in zip(charts, found, strict=False):
        assert 200 < one["width"] <= one["outer"] + 0.5, chart.caption
        assert 30 < one["height"] < 2_000, chart.caption
        assert one["marks"] >= len(chart.data.get("rows", chart.data.get("cells"))), chart.caption
        assert one["longest"] > 5, chart.caption
    assert not browser.happened("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")
    for width in (1280, 375):
        browser.open(path, width=width)
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
