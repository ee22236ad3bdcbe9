"""Altair charts, drawn from printed figures only: an image carries exact heights, so they must be public.

Bars carry their printed text and need no axis; a small count is an open bar at its bound. Grey tones and
outlines tell series apart, colour does not.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from textwrap import wrap
from types import MappingProxyType
from typing import Any

from sdckit.data import alt
from sdckit.report.offline import offline
from sdckit.report.wording import ENGLISH, say, wording

# Horizontal bars of printed figures, and what all charts share: tones, widths, axes of names.


Plain = Mapping[str, Any]
INK, MIDDLE, LIGHT, OPEN = "#1f2d3d", "#5b7083", "#c4ced8", "#fffffe"
TONES = {"dark": INK, "middle": MIDDLE, "light": LIGHT}
PLAIN = ",~r"  # numbers of an axis: without exponents and prefixes
WIDTH = 620
# With what is kept free beside it one of two columns of an A4 page: 12 pixels are 9 points there.
COLUMN = 302
NARROWEST_LABEL, WIDEST_LABEL, LETTER = 80, 340, 8  # pixels
LABEL_LETTERS, NARROWEST_BARS = 24, 126  # of a chart in a column
DRAWN = 64  # charts that are kept as drawn, in each format: the same page is shown again
SLACK = 0.87  # labels are measured in a narrower font than many readers have


def in_language_of(data: Plain, text: str) -> str:
    """Translate a text of the package into the language of a chart."""
    return say(text, data.get("language", ENGLISH))


def written_in(data: Plain) -> dict[str, Any]:
    """Altair's locale for the numbers on axes; empty in English."""
    language = data.get("language", ENGLISH)
    return {} if language == ENGLISH else {"locale": {"number": wording(language).marks}}


def length_of(leaf: Plain) -> float:
    """Length of a bar: the printed value, or the bound of a hidden one."""
    return float(leaf["value"] if leaf["value"] is not None else leaf.get("below", 0))


def bar_of(label: str, leaf: Plain, fill: str = MIDDLE) -> dict[str, Any]:
    """Data of a bar; its fill is open where its count is hidden."""
    shown = OPEN if leaf["value"] is None else fill
    return {"label": label, "length": length_of(leaf), "text": leaf["text"], "fill": shown}


def space_for(labels: Sequence[str]) -> int:
    """Pixels reserved for labels, enough in every font."""
    return min(WIDEST_LABEL, max(NARROWEST_LABEL, LETTER * max(map(len, labels), default=0)))


def names_axis(space: int, **more: Any) -> Any:
    """An axis of names."""
    given = {"labelLimit": SLACK * space, "minExtent": space, "labelFontSize": 12, "labelColor": INK}
    return alt.Axis(**{**given, "ticks": False, "domainColor": INK, "aria": False, **more}).to_dict(validate=False)


def _folded(label: str, letters: int) -> str:
    """Wrap a label at spaces and punctuation to lines of so many letters; words are not cut."""
    lines = [""]
    for part in re.findall(r"[^\s_./-]*(?:[_./-]+|\s+|$)", label):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > letters:
            lines.append("")
        lines[-1] += part
    return "\n".join(line.strip() for line in lines)


# Channels are written as classes (`alt.Text`): for a text Altair looks through its whole schema, every time.


def draw_bars(rows: Sequence[Mapping[str, Any]], width: int) -> Any:
    """Draw horizontal bars in the given order, each with its printed text at its end."""
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
        (row["length"] * room / max(room - LETTER * (len(row["text"]) + 1), room / 4) for row in shown), default=0
    )
    names = names_axis(space, labelExpr="split(datum.value, '\\n')") if high > 1 else names_axis(space)
    base = alt.Chart().encode(
        y=alt.Y("label:N", sort=None, title=None, axis=names),
        x=alt.X("length:Q", axis=None, scale=alt.Scale(domain=[0, float(f"{end or 1:.4g}")], nice=False, zero=True)),
    )
    bars = base.mark_bar(stroke=INK, strokeWidth=1, height=14, aria=False).encode(fill=alt.Fill("fill:N", scale=None))
    texts = base.mark_text(align="left", dx=5, fontSize=12, color=INK, aria=False).encode(text=alt.Text("text:N"))
    # The rows come last: Altair copies what its layers hold.
    return completed(bars + texts, data=alt.InlineData(values=shown), width=room, height=alt.Step(12 * high + 6))


def bars_chart(data: Plain, width: int = WIDTH) -> Any:
    """Horizontal bars: label and printed count of each row, in its tone where rows differ."""
    return draw_bars([bar_of(row["label"], row["n"], TONES[row.get("tone", "middle")]) for row in data["rows"]], width)


# The front of risk and loss: a recipe is a bar over the printed range of its loss, at the height of its risk.


HEIGHT = 240
NARROWEST = 0.012  # of the axis: what an exact loss is drawn with


def draw_recipes(
    rows: Sequence[Plain], x: Any, y: Any, mark: str, look: Mapping[str, Any], **more: Any
) -> tuple[Any, Any]:
    """Base chart of recipes by risk and loss, for further layers, and their marks, outlined and filled."""
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=x, y=y)
    marked = getattr(base, f"mark_{mark}")(stroke=INK, strokeWidth=1, **look)
    return base, marked.encode(fill=alt.Fill("fill:N", scale=None), **more)


def recipe_fill(risk: Plain, *, front: bool) -> str:
    """The fill of a recipe: open where its risk is hidden, dark where no other beats it."""
    return OPEN if risk["value"] is None else INK if front else LIGHT


def front_chart(data: Plain, width: int = WIDTH) -> Any:
    """Draw risk against loss; recipes that no other beats are dark, a hidden risk stands at its bound, open."""
    rows = [_drawn(row) for row in data["rows"] if _is_drawn(row)]
    highest = float(f"{1.2 * max((row['risk'] for row in rows), default=0) or 1:.4g}")
    written: dict[str, Any] = {
        "labelFontSize": 12, "labelColor": INK, "titleFontWeight": "normal", "titleColor": INK, "aria": False,
    }  # fmt: skip

    def axis(end: str, title: str, largest: float, **more: Any) -> dict[str, Any]:
        scale = alt.Scale(domain=[0, largest], nice=False)
        return {"shorthand": end, "title": title, "scale": scale, "axis": alt.Axis(**written, **more)}

    base, bars = draw_recipes(
        rows, alt.X(**axis("from:Q", data["x"], 1, format="%")),
        alt.Y(**axis("risk:Q", data["y"], highest, tickCount=5)), "bar", {"height": 9, "aria": False},
        x2=alt.X2("to:Q"),
    )  # fmt: skip
    texts = base.mark_text(dy=-12, fontSize=12, color=INK, aria=False).encode(
        x=alt.X("middle:Q", title=data["x"]), text=alt.Text("label:N")
    )
    return completed(bars + texts, width=width - NARROWEST_LABEL, height=HEIGHT)


def describe_front(data: Plain) -> list[str]:
    """Describe the recipes of the front chart in words."""
    lost, risk = data["x"], data["y"]
    sentences = [
        f"{row['label']}: {lost} {row['loss']}, {risk} {row['risk']['text']}" for row in data["rows"] if _is_drawn(row)
    ]
    return sentences or [in_language_of(data, "no figure can be shown")]


def _is_drawn(row: Plain) -> bool:
    return row["range"] is not None and (row["risk"]["value"] is not None or "below" in row["risk"])


def _drawn(row: Plain) -> dict[str, Any]:
    low, high = row["range"]
    spread = max(0.0, NARROWEST - (high - low)) / 2
    return {
        "label": row["label"], "risk": length_of(row["risk"]), "from": max(0.0, low - spread),
        "fill": recipe_fill(row["risk"], front=row["front"]),
        "to": min(1.0, high + spread), "middle": (low + high) / 2,
    }  # fmt: skip


FONT, SQUARE = "sans-serif", 440
LARGEST, MOST_TOLD = 1500, 40  # area of a point, in pixels; points in words
LOWEST_RISK = 0.00005
TAG, LONG = re.compile(r"<[^>]+>"), re.compile(r"\d+\.\d{3,}(?![\d\"]*e)")  # a hundredth of a pixel is enough
MOST_LETTERS = 76  # of a line of a title


def risk_chart(data: Plain, width: int = WIDTH) -> Any:
    """Records by individual risk in fixed bins, the threshold marked, and the cumulative share below."""
    rows = [_risk_row(row, data.get("threshold")) for row in data["rows"]]
    highest = max(row["length"] for row in rows) or 1
    edges = sorted({row["left"] for row in rows} | {row["right"] for row in rows})
    axis = alt.Axis(
        values=edges, format="~g", labelFontSize=12, labelColor=INK, grid=False, aria=False, labelAngle=-45,
        labelExpr=f"datum.value <= {LOWEST_RISK} ? '0' : format(datum.value, '~g')",
        titleFontWeight="normal", labelOverlap=False,
    )  # fmt: skip
    scale = alt.Scale(type="log", domain=[LOWEST_RISK, 1], nice=False)
    data_rows = alt.InlineData(values=rows)
    base = alt.Chart(data_rows).encode(x=alt.X("left:Q", scale=scale, axis=None), x2=alt.X2("right:Q"))
    bars = base.mark_bar(stroke=INK, strokeWidth=1, aria=False).encode(
        y=alt.Y("length:Q", axis=None, scale=alt.Scale(domain=[0, highest * 1.15], nice=False)),
        y2=alt.datum(0),
        fill=alt.Fill("fill:N", scale=None),
    )
    texts = (
        alt.Chart(data_rows)
        .mark_text(dy=-7, fontSize=12, color=INK, aria=False)
        .encode(x=alt.X("middle:Q", scale=scale, axis=None), y=alt.Y("length:Q"), text=alt.Text("text:N"))
    )
    upper = alt.layer(bars, texts, *_threshold_rule(data, scale)).properties(
        width=width, height=190, title=_title(in_language_of(data, "Records"))
    )
    return alt.vconcat(upper, _cumulative(data_rows, scale, axis, data, width), spacing=8)


def _risk_row(row: Plain, threshold: float | None) -> dict[str, Any]:
    left, right = max(row["from"], LOWEST_RISK), row["to"]
    above = threshold is not None and row["from"] >= threshold
    bar = bar_of("", row["n"], INK if above else LIGHT)
    shown = {**bar, "left": left, "right": right, "middle": (left * right) ** 0.5}
    shown["text"] = "" if row["n"]["text"] == "0" else row["n"]["text"]
    return shown | {"cumulative": length_of(row["cumulative"]), "share": row["cumulative"]["text"]}


def _title(text: str) -> Any:
    return alt.Title(text, anchor="start", fontSize=12, fontWeight="normal", color=INK, aria=False)


def _threshold_rule(data: Plain, scale: Any) -> list[Any]:
    threshold: float | None = data.get("threshold")
    if threshold is None or threshold <= LOWEST_RISK:
        return []
    values = alt.InlineData(values=[{"limit": threshold, "text": in_language_of(data, f"limit {threshold:g}")}])
    base = alt.Chart(values).encode(x=alt.X("limit:Q", scale=scale, axis=None))
    rule = base.mark_rule(strokeDash=[5, 3], color=INK, strokeWidth=1.5, aria=False)
    text = base.mark_text(align="left", dx=4, fontSize=12, fontWeight="bold", color=INK, aria=False)
    return [rule, text.encode(text=alt.Text("text:N"), y=alt.value(6))]


def _cumulative(data_rows: Any, scale: Any, axis: Any, data: Plain, width: int) -> Any:
    edge = in_language_of(data, f"{data.get('kind', 'individual')} risk (upper edge of the bin)")
    base = alt.Chart(data_rows).encode(
        x=alt.X("right:Q", scale=scale, axis=axis, title=edge),
        y=alt.Y("cumulative:Q", axis=None, scale=alt.Scale(domain=[0, 1.15], nice=False)),
    )
    line = base.mark_line(color=INK, strokeWidth=1.5, interpolate="linear", aria=False)
    points = base.mark_point(color=INK, fill="#ffffff", size=28, aria=False)
    texts = base.mark_text(dy=-9, fontSize=12, color=INK, aria=False).encode(text=alt.Text("share:N"))
    return (line + points + texts).properties(
        width=width, height=120, title=_title(in_language_of(data, "Share of records up to this risk"))
    )


def forest_chart(data: Plain, width: int = WIDTH) -> Any:
    """Estimates term by term, each on an axis of its own; intervals only where the document prints them exactly."""
    terms: dict[str, list[Plain]] = {}
    for row in data["rows"]:
        if row["estimate"]["value"] is not None:
            terms.setdefault(row["term"], []).append(row)
    space = space_for([row["file"] for row in data["rows"]])
    parts = [_term_chart(term, rows, space, width) for term, rows in terms.items()]
    return alt.vconcat(*parts, spacing=14) if parts else draw_bars([], width)


def _term_chart(term: str, rows: Sequence[Plain], space: int, width: int) -> Any:
    shown = [_forest_row(row) for row in rows]
    ends = [row[part] for row in shown for part in ("low", "estimate", "high")]
    if not any(map(has_interval, rows)):
        ends.append(0.0)  # without intervals nothing else says how far apart two estimates are
    low, high = min(ends), max(ends)
    room = 0.12 * (high - low) or 0.1 * abs(high) or 1.0
    scale = alt.Scale(domain=[low - room, high + room], nice=False, zero=False)
    across = alt.Axis(
        format=PLAIN, labelFontSize=12, labelColor=INK, grid=False, aria=False, tickCount=5, labelFlush=True
    )
    base = alt.Chart(alt.InlineData(values=shown)).encode(
        y=alt.Y("file:N", sort=None, title=None, axis=names_axis(space))
    )
    spans = base.mark_rule(color=INK, strokeWidth=1.5, aria=False).encode(
        x=alt.X("low:Q", title=None, scale=scale, axis=across), x2=alt.X2("high:Q")
    )
    points = base.mark_point(size=55, stroke=INK, filled=True, opacity=1, aria=False).encode(
        x=alt.X("estimate:Q", scale=scale), fill=alt.Fill("fill:N", scale=None)
    )
    texts = base.mark_text(dy=-9, fontSize=12, color=INK, aria=False).encode(
        x=alt.X("estimate:Q"), text=alt.Text("text:N")
    )
    return completed(alt.layer(spans, points, texts), width=width - space, height=alt.Step(30), title=_title(term))


def _forest_row(row: Plain) -> dict[str, Any]:
    """Data of a row of a forest chart; without an interval its ends are the estimate."""
    estimate = row["estimate"]["value"]
    fill = TONES[row.get("tone", "dark" if row["file"] == "original" else "light")]
    low, high = (row[end]["value"] if has_interval(row) else estimate for end in ("low", "high"))
    drawn = {"file": row["file"], "text": row["estimate"]["text"], "fill": fill}
    return drawn | {"estimate": estimate, "low": low, "high": high}


def has_interval(row: Plain) -> bool:
    """Whether a row of a forest chart has an interval to draw: rounded ends would draw one that is not the true one.

    Examples
    --------
    >>> ends = {"low": {"text": "1.25", "value": 1.25}, "high": {"text": "2.5", "value": 2.5}}
    >>> has_interval({**ends, "exact": True}), has_interval(ends)
    (True, False)
    """
    return bool(row.get("exact")) and all(row[end]["value"] is not None for end in ("low", "high"))


def heat_chart(data: Plain, width: int = WIDTH) -> Any:
    """Heat map of a figure for every pair of variables; the darker, the further from the best."""
    rows = [
        {"one": cell["one"], "other": cell["other"], "text": cell["value"]["text"], "far": length_of(cell["value"])}
        for cell in data["cells"]
    ]
    darkest = max((row["far"] for row in rows), default=0) or 1
    names = list(data["variables"])
    space = space_for(names)
    plain = {"labelFontSize": 12, "domain": False, "title": None, "labelAngle": 0}
    across = names_axis(space, **plain, minExtent=0)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("one:N", sort=names, axis=across), y=alt.Y("other:N", sort=names, axis=names_axis(space, **plain))
    )
    scale = alt.Scale(domain=[0, darkest], range=["#ffffff", MIDDLE])
    squares = base.mark_rect(stroke=LIGHT, aria=False).encode(color=alt.Color("far:Q", scale=scale, legend=None))
    texts = base.mark_text(fontSize=12, color=INK, aria=False).encode(text=alt.Text("text:N"))
    side = max(28, min(70, (width - space) // max(len(names), 1)))
    return completed(squares + texts, width=side * len(names), height=24 * len(names))


def bubbles_chart(data: Plain, width: int = WIDTH) -> Any:
    """Bubble chart of records by two figures, with a dashed line where both are equal.

    With `steps`, the names of bins, `x` and `y` of a row count them from 0, and each number is written.
    """
    rows = [{"x": row["x"], "y": row["y"], "n": length_of(row["n"]), "text": row["n"]["text"]} for row in data["rows"]]
    steps = data.get("steps")
    most = max((row["n"] for row in rows), default=1) or 1
    kind: Any = "linear"
    axis: dict[str, Any]
    if steps:
        for row in rows:  # the number above its point
            up = math.sqrt(LARGEST * row["n"] / most / math.pi) + LETTER
            row["above"] = row["y"] + up * len(steps) / SQUARE
        ends = (-0.5, len(steps) - 0.5)
        axis = {"values": list(range(len(steps))), "labelExpr": f"{list(steps)}[datum.value]"}
    else:
        ends = (0.0, max((1.0, *(row[side] for row in rows for side in ("x", "y")))))
        kind, axis = data.get("scale", "linear"), {"format": PLAIN, "tickCount": 6}
    scale = alt.Scale(domain=list(ends), nice=False, type=kind)
    drawn = {
        side: getattr(alt, side.upper())(f"{side}:Q", title=data[side], scale=scale, axis=_figures_axis(**axis))
        for side in ("x", "y")
    }
    equal = alt.Chart(alt.InlineData(values=[{"x": end, "y": end} for end in ends]))
    line = equal.mark_line(color=MIDDLE, strokeDash=[5, 3], strokeWidth=1, aria=False).encode(**drawn)
    # Areas in proportion: a few records are a dot, and the largest number fills a square.
    size = alt.Size(
        "n:Q", scale=alt.Scale(domain=[0, most], range=[8, LARGEST if steps else LARGEST / 2]),
        legend=None if steps else alt.Legend(
            title=in_language_of(data, "records"), format=",d", symbolFillColor=LIGHT, values=_sizes(most)
        ),
    )  # fmt: skip
    base = alt.Chart(alt.InlineData(values=rows)).encode(**drawn)
    points = base.mark_point(fill=LIGHT, stroke=INK, strokeWidth=1, fillOpacity=0.7, opacity=1, aria=False).encode(
        size=size
    )
    layers = [line, points]
    if steps:
        texts = base.mark_text(fontSize=12, color=INK, aria=False)
        layers.append(texts.encode(text=alt.Text("text:N"), y=alt.Y("above:Q")))
    side = min(SQUARE, width - NARROWEST_LABEL)
    return completed(alt.layer(*layers), width=side, height=side)


def _sizes(most: float) -> list[float]:
    """Numbers of records shown in the legend of sizes."""
    return sorted({1.0, *(float(f"{part * most:.1g}") for part in (0.1, 0.5) if part * most > 1), most})


def _figures_axis(**more: Any) -> Any:
    """An axis of figures, with its title."""
    given = {"labelFontSize": 12, "labelColor": INK, "titleFontWeight": "normal", "titleColor": INK}
    return alt.Axis(**{**given, "gridColor": LIGHT, "gridOpacity": 0.5, "labelOverlap": True, "aria": False, **more})


def curve_chart(data: Plain, width: int = WIDTH) -> Any:
    """A density curve, filled down to 0."""
    base = alt.Chart(alt.InlineData(values=[dict(row) for row in data["rows"]])).encode(
        x=alt.X("x:Q", title=data["x"], axis=_figures_axis(format=PLAIN), scale=alt.Scale(nice=False)),
        y=alt.Y("y:Q", title=data["y"], axis=_figures_axis(format=PLAIN, tickCount=5)),
    )
    area = base.mark_area(color=LIGHT, line={"color": INK, "strokeWidth": 1.5}, aria=False)
    return area.properties(width=width - NARROWEST_LABEL, height=min(220, width // 2))


CHARTS = {
    "forest": forest_chart, "heat": heat_chart, "bars": bars_chart, "risk": risk_chart, "bubbles": bubbles_chart,
    "curve": curve_chart, "front": front_chart,
}  # fmt: skip


MOST_NARROW = 4  # variables of a heat chart in a column


def is_narrow(name: str, data: Plain) -> bool:
    """Whether a chart is drawn in one of two columns: all but the bins of risk, and wide tables of pairs."""
    return name != "risk" and (name != "heat" or len(data["variables"]) <= MOST_NARROW)


def chart_for(name: str, data: Plain, title: str = "", *, width: int = WIDTH) -> Any:
    """Build the Altair chart of a block, in the style of the report; one that stands alone has a title."""
    with alt.utils.schemapi.debug_mode(False):
        chart = CHARTS[name](data, width)
        return _styled(completed(chart, title=_heading(title)) if title else chart, data)


def charts_for(blocks: Sequence[tuple[str, Plain, str]]) -> Any:
    """Build one Altair chart of several, one below the other: name, figures and title of each."""
    with alt.utils.schemapi.debug_mode(False):
        parts = [completed(CHARTS[name](data), title=_heading(title)) for name, data, title in blocks]
        return _styled(alt.vconcat(*parts, spacing=28))


def _heading(text: str) -> Any:
    lines = wrap(text, MOST_LETTERS)
    return alt.Title(
        lines if len(lines) > 1 else text,
        anchor="start",
        frame="group",
        fontSize=14,
        fontWeight="bold",
        color=INK,
        offset=12,
    )


def _styled(chart: Any, data: Plain = MappingProxyType({})) -> Any:
    view = alt.ViewConfig(stroke=None)
    return offline(completed(chart, config=alt.Config(font=FONT, background="#ffffff", **written_in(data), view=view)))


def completed(chart: Any, **properties: Any) -> Any:
    """The same chart with properties, for one that nobody else holds: Altair would copy its layers for each call."""
    for name, value in properties.items():
        setattr(chart, name, value)
    return chart


def start_drawing() -> None:
    """Draw nothing: Vega's own JavaScript is started, once per process, which takes half a second."""
    _svg(json.dumps({"data": {"values": []}, "mark": "point"}))


def to_svg(chart: Any) -> str:
    """Render to static SVG, without a network and without fonts of its own; the first call is `start_drawing` too."""
    return _svg(json.dumps(chart.to_dict(validate=False)))


def to_png(chart: Any) -> bytes:
    """Render to PNG at twice the size, 192 pixels per inch, for programs that draw no SVG."""
    return _png(json.dumps(chart.to_dict(validate=False)))


@lru_cache(maxsize=DRAWN)
def _svg(specification: str) -> str:
    import vl_convert

    drawn = str(vl_convert.vegalite_to_svg(json.loads(specification), allowed_base_urls=[]))
    return TAG.sub(lambda tag: LONG.sub(lambda number: f"{float(number[0]):.2f}", tag[0]), drawn)


@lru_cache(maxsize=DRAWN)
def _png(specification: str) -> bytes:
    import vl_convert

    spec = json.loads(specification)  # no text: numbers that are none are read as null in a dict alone
    return bytes(vl_convert.vegalite_to_png(spec, scale=2, ppi=192, allowed_base_urls=[]))


def describe(name: str, data: Plain, caption: str) -> str:
    """Say in words what a chart shows, for those who cannot see it; from printed texts."""
    say = partial(in_language_of, data)
    rows = {
        "bars": lambda: [f"{r['label']}: {r['n']['text']} {data['unit']}" for r in data["rows"]],
        "forest": lambda: [
            f"{r['label']}: {r['estimate']['text']}"
            + (f" ({r['low']['text']} {say('to')} {r['high']['text']})" if has_interval(r) else "")
            for r in data["rows"]
        ],
        "heat": lambda: [f"{c['one']} {say('and')} {c['other']}: {c['value']['text']}" for c in data["cells"]],
        "risk": lambda: [
            f"{say(format(r['from'], 'g'))} {say('to')} {say(format(r['to'], 'g'))}: {r['n']['text']} {say('records')} "
            f"({r['cumulative']['text']} {say('up to here')})"
            for r in data["rows"]
        ],
        "bubbles": lambda: _describe_points(data),
        "curve": lambda: [say(f"highest at {max(data['rows'], key=lambda r: float(r['y']))['x']:.4g}")],
        "front": lambda: describe_front(data),
    }[name]()
    return f"{caption}. {'; '.join(rows)}."


def _describe_points(data: Plain) -> list[str]:
    """Describe the points with most records in words."""
    say = partial(in_language_of, data)
    steps = data.get("steps")
    rows = sorted(data["rows"], key=lambda row: -length_of(row["n"]))
    places = [
        tuple(steps[row[side]] if steps else say(f"{float(f'{row[side]:.4g}'):,.12g}") for side in "xy") for row in rows
    ]
    sentences = [
        f"{x} {say('and')} {y}: {row['n']['text']} {say('records')}"
        for row, (x, y) in zip(rows[:MOST_TOLD], places, strict=False)
    ]
    if left := len(rows) - len(sentences):
        sentences.append(say(f"{left:,} more"))
    return sentences or [say("no square has enough records to be shown")]
