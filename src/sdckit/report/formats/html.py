"""Render documents as self-contained HTML: no script, no remote resource, every text from data escaped; and as PDF."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from sdckit import operating_system
from sdckit.errors import FileFormatError
from sdckit.report import charts, wording
from sdckit.report.blocks import Block, ChartBlock, Page, Section, Verdicts
from sdckit.report.formats.flow import BEHIND, behind_charts, chapters_of, decision_of

MARKS = {"pass": "✓", "fail": "✗", "open": "?"}
OPEN_BARS = "An open bar is a hidden count, drawn at its bound."
WORDS = {
    "contents": "Contents", "as_table": "As a table", "behind": BEHIND, "kind": "Statistical disclosure control",
}  # fmt: skip
MARK_WIDTH, LETTER_WIDTH = 1.5, 0.64  # of a word for a verdict, in letters of the text
STATES = ("holds", "exceeded", "not judged", "no limit")

Plain = Mapping[str, Any]


def render_page(page: Page) -> str:
    """Render laid-out sections: the decision page, the contents, the annex, the figures of its charts for a print."""
    from markupsafe import Markup

    context = {
        "page": page,
        "decision": decision_of(page.decision),
        "chapters": chapters_of(page.sections),
        "behind": behind_charts(page.sections),
        "marks": MARKS,
        "words": {name: wording.say(words, page.language) for name, words in WORDS.items()},
        "classes": {wording.say(state, page.language): state for state in STATES},
        "state_width": _state_width(page),
        "style": Markup(_read("report.css")),  # our own file, not data
        "draw": figure_of,
    }
    return str(_template("report.html").render(context))


def _state_width(page: Page) -> float:
    """Width of the column of verdicts, in letters: the longest verdict with its mark."""
    blocks = (block for section in (*page.decision, *page.sections) for block in section.blocks)
    states = (state for block in blocks if isinstance(block, Verdicts) for state, _, _ in block.items)
    return round(MARK_WIDTH + LETTER_WIDTH * max(map(len, states), default=0), 2)


def render_fragment(title: str, blocks: Sequence[Block], *, note: str = "") -> str:
    """Render blocks for a notebook: tables and words, no charts (`.plot()` draws those)."""
    return str(
        _template("fragment.html").render(title=title, blocks=blocks, note=note, draw=lambda _: None, classes={})
    )


def render_sections(sections: Sequence[Section], *, note: str = "", language: str = "en") -> str:
    """Render laid-out sections for a screen: words, charts, and the tables behind them folded away."""
    return str(
        _template("sections.html").render(
            parts=decision_of(sections),
            note=note,
            words={name: wording.say(words, language) for name, words in WORDS.items()},
            classes={wording.say(state, language): state for state in STATES},
            draw=figure_of,
        )
    )


def figure_of(block: ChartBlock) -> dict[str, Any]:
    """Draw a chart: its SVG, its alternative text, and a note on open bars if it has any."""
    from markupsafe import Markup

    width = charts.COLUMN if charts.is_narrow(block.name, block.data) else charts.WIDTH
    svg = charts.to_svg(charts.chart_for(block.name, block.data, width=width))
    notes = [charts.in_language_of(block.data, OPEN_BARS)] if charts.OPEN in svg else []
    # Vega escapes the texts it draws.
    words = charts.describe(block.name, block.data, block.caption)
    return {"svg": Markup(svg), "alt": words, "note": " ".join(notes)}


def _read(name: str) -> str:
    return files("sdckit.report").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _template(name: str) -> Any:
    import jinja2

    names = ("report.html", "fragment.html", "sections.html", "blocks.html")
    loader = jinja2.DictLoader({template: _read(template) for template in names})
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, loader=loader)
    return environment.get_template(name)


# A document as PDF: printed by a Chromium of this machine, from the same page, with nothing asked of a
# network.


PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
SECONDS = 120
LONGEST_PATH = 60  # of a folder for temporary files in which it can make its socket; it starts in no longer one
QUIET = (
    "--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-extensions", "--disable-quic", "--host-resolver-rules=MAP * ~NOTFOUND",
    "--no-pdf-header-footer",
)  # fmt: skip
HOW = "write the report as .html and print it from a browser"


def find_browser() -> str:
    """Path of the browser that prints PDFs.

    Raises
    ------
    FileFormatError
        There is none.
    """
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        raise FileFormatError(f"a PDF is printed by Chromium or Chrome, and none was found; install one, or {HOW}")
    return program


def render_pdf(page: Page) -> bytes:
    """Print laid-out sections as PDF.

    Raises
    ------
    FileFormatError
        No browser was found, or it printed nothing.
    """
    browser, html = find_browser(), render_page(page)
    with tempfile.TemporaryDirectory(prefix="sdckit-pdf-") as name:  # readable by its owner only
        folder = Path(name)
        source, pdf = folder / "page.html", folder / "page.pdf"
        source.write_text(html, encoding="utf-8")
        # A browser refuses to be root's without this; the page has no script.
        root = ["--no-sandbox"] if operating_system.is_root() else []
        command = [
            browser,
            *QUIET,
            *root,
            f"--user-data-dir={folder / 'profile'}",
            f"--print-to-pdf={pdf}",
            source.as_uri(),
        ]
        _run(command)
        if not pdf.is_file() or not pdf.stat().st_size:
            raise FileFormatError(f"{Path(browser).name} printed nothing; {HOW}")
        return pdf.read_bytes()


def _run(command: list[str]) -> None:
    long = len(tempfile.gettempdir()) > LONGEST_PATH
    own = {name: value for name, value in os.environ.items() if not (long and name == "TMPDIR")}
    try:
        subprocess.run(command, capture_output=True, timeout=SECONDS, check=False, env=own)
    except subprocess.TimeoutExpired:
        raise FileFormatError(f"{Path(command[0]).name} did not end within {SECONDS} seconds; {HOW}") from None
    except OSError as error:
        raise FileFormatError(f"{Path(command[0]).name} could not be started ({error.strerror}); {HOW}") from None
