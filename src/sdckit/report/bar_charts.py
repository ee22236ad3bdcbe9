"""Horizontal bars of printed figures, and what all charts have in common: tones, widths, axes of names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sdckit.report.saying import ENGLISH, say, wording

Plain = Mapping[str, Any]
INK, MIDDLE, LIGHT, OPEN = "#1f2d3d", "#5b7083", "#c4ced8", "#fffffe"
TONES = {"dark": INK, "middle": MIDDLE, "light": LIGHT}
WIDTH = 620
# With what is kept free beside it one of two columns of an A4 page: 12 pixels are 9 points there.
COLUMN = 302
NARROWEST_LABEL, WIDEST_LABEL, LETTER = 80, 340, 8  # pixels
LABEL_LETTERS, NARROWEST_BARS = 24, 126  # of a chart in a column
SLACK = 0.87  # labels are measured in a narrower font than many readers have


def said_in(data: Plain, text: str) -> str:
    """A text of ours in the language of a chart."""
    return say(text, data.get("language", ENGLISH))


def written_in(data: Plain) -> dict[str, Any]:
    """How the numbers on the axes of a chart are written, where it is not in English."""
    language = data.get("language", ENGLISH)
    return {} if language == ENGLISH else {"locale": {"number": wording(language).marks}}


def length_of(leaf: Plain) -> float:
    """Length of a bar: the public value, or the bound of a hidden one."""
    value = leaf["value"] if leaf["value"] is not None else leaf.get("below", 0)
    return float(value)


def bar_of(label: str, leaf: Plain, fill: str = MIDDLE) -> dict[str, Any]:
    """A bar as it is drawn: open where its count is hidden."""
    shown = OPEN if leaf["value"] is None else fill
    return {"label": label, "length": length_of(leaf), "text": leaf["text"], "fill": shown}


def space_for(labels: Sequence[str]) -> int:
    """Pixels kept free for labels: as many in every font, or the first letters are cut off."""
    longest = max(map(len, labels), default=0)
    return min(WIDEST_LABEL, max(NARROWEST_LABEL, LETTER * longest))


def names_axis(space: int, **more: Any) -> Any:
    """An axis of names."""
    import altair as alt

    given = {"labelLimit": SLACK * space, "minExtent": space, "labelFontSize": 12, "labelColor": INK}
    return alt.Axis(**{**given, "ticks": False, "domainColor": INK, "aria": False, **more})


def _folded(label: str, letters: int) -> str:
    """A label on lines of so many letters; it is broken between words, else behind a mark, and no word is cut."""
    lines = [""]
    for part in re.findall(r"[^\s_./-]*(?:[_./-]+|\s+|$)", label):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > letters:
            lines.append("")
        lines[-1] += part
    return "\n".join(line.strip() for line in lines)


def draw_bars(rows: Sequence[Mapping[str, Any]], width: int) -> Any:
    """Draw horizontal bars in the given order, each with its printed text at its end."""
    import altair as alt

    shown = [dict(row) for row in rows]
    if width < WIDTH:
        for row in shown:
            row["label"] = _folded(row["label"], LABEL_LETTERS)
    lines = [line for row in shown for line in row["label"].split("\n")]
    high = max((row["label"].count("\n") + 1 for row in shown), default=1)
    space = min(space_for(lines), width - NARROWEST_BARS)
    # As much room at the right as the longest bars need for their texts.
    room = width - space
    end = max(
        (row["length"] * room / max(room - LETTER * (len(row["text"]) + 1), room / 4) for row in shown),
        default=0,
    )
    names = names_axis(space, labelExpr="split(datum.value, '\\n')") if high > 1 else names_axis(space)
    base = alt.Chart(alt.InlineData(values=shown)).encode(
        y=alt.Y("label:N", sort=None, title=None, axis=names),
        x=alt.X(
            "length:Q",
            axis=None,
            scale=alt.Scale(domain=[0, float(f"{end or 1:.4g}")], nice=False, zero=True),
        ),
    )
    bars = base.mark_bar(stroke=INK, strokeWidth=1, height=14, aria=False).encode(
        fill=alt.Fill("fill:N", scale=None)
    )
    texts = base.mark_text(align="left", dx=5, fontSize=12, color=INK, aria=False).encode(text="text:N")
    return (bars + texts).properties(width=room, height=alt.Step(14 * high + 4))


def bars_chart(data: Plain, width: int = WIDTH) -> Any:
    """One bar per row: its label and its printed count, in its tone where rows differ."""
    return draw_bars(
        [bar_of(row["label"], row["n"], TONES[row.get("tone", "middle")]) for row in data["rows"]], width
    )
