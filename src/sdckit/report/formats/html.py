"""One self-contained page: no script, nothing remote, every word from data escaped."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from sdckit.report.blocks import Block, ChartBlock, Page, Section
from sdckit.report.chapters.release_page import page_of
from sdckit.report.charts import OPEN, chart_for, describe, to_svg

__all__ = ["MOST_CHARTS", "figure_of", "render_fragment", "render_html", "render_page"]

# Every chart costs some 50 ms; an assessment of many intruders keeps its tables.
MOST_CHARTS = 20
MARKS = {"pass": "✓", "fail": "✗", "open": "?"}
OPEN_BARS = "An open bar is a hidden count, drawn at its bound."

Plain = Mapping[str, Any]


def render_html(plain: Plain) -> str:
    """Render a protected assessment as one page, with inline style and SVG: it opens from an e-mail, prints well."""
    return render_page(page_of(plain))


def render_page(page: Page) -> str:
    """Render laid-out sections; charts beyond `MOST_CHARTS` are left to their tables."""
    from markupsafe import Markup

    style = Markup(_read("report.css"))  # our own file, not data
    told = {
        "page": page,
        "groups": _chapters(page.sections),
        "marks": MARKS,
        "style": style,
        "draw": _drawer(),
    }
    return str(_template("report.html").render(told))


def render_fragment(title: str, blocks: Sequence[Block], *, note: str = "") -> str:
    """Render blocks for a notebook: tables and words, no charts (`.plot()` draws those)."""
    return str(_template("fragment.html").render(title=title, blocks=blocks, note=note, draw=lambda _: None))


def _chapters(sections: Sequence[Section]) -> list[list[Section]]:
    chapters: list[list[Section]] = []
    for section in sections:
        if section.level == 2 or not chapters:
            chapters.append([])
        chapters[-1].append(section)
    return chapters


def _drawer() -> Callable[[ChartBlock], dict[str, Any] | None]:
    drawn: list[str] = []

    def draw(block: ChartBlock) -> dict[str, Any] | None:
        if len(drawn) >= MOST_CHARTS:
            return None
        drawn.append(block.name)
        return figure_of(block)

    return draw


def figure_of(block: ChartBlock) -> dict[str, Any]:
    """Draw a chart: its SVG, what it says to those who cannot see it, and a note on its marks."""
    from markupsafe import Markup

    svg = to_svg(chart_for(block.name, block.data))
    notes = [OPEN_BARS] if OPEN in svg else []
    if block.name == "risk" and block.data.get("threshold") is not None:
        notes.insert(0, "Dark bars lie above the limit.")
    # Vega escapes the texts it draws.
    words = describe(block.name, block.data, block.caption)
    return {"svg": Markup(svg), "alt": words, "note": " ".join(notes)}


def _read(name: str) -> str:
    return files("sdckit.report").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _template(name: str) -> Any:
    import jinja2

    names = ("report.html", "fragment.html", "blocks.html")
    loader = jinja2.DictLoader({one: _read(one) for one in names})
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, loader=loader)
    return environment.get_template(name)
