"""The front of risk and loss: a recipe is a line as long as the range that is told of its loss, as high as its risk."""

from __future__ import annotations

from typing import Any

from sdckit.report.bar_charts import INK, LIGHT, NARROWEST_LABEL, OPEN, WIDTH, Plain, length_of, said_in

HEIGHT = 240
NARROWEST = 0.012  # of the axis: what an exact loss is drawn with


def front_chart(data: Plain, width: int = WIDTH) -> Any:
    """Draw risk against loss; recipes that no other beats are dark, a hidden risk stands at its bound, open."""
    import altair as alt

    rows = [_drawn(row) for row in data["rows"] if _is_drawn(row)]
    highest = float(f"{1.2 * max((row['risk'] for row in rows), default=0) or 1:.4g}")
    axis: dict[str, Any] = {
        "labelFontSize": 12,
        "labelColor": INK,
        "titleFontWeight": "normal",
        "titleColor": INK,
        "aria": False,
    }
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y(
            "risk:Q",
            title=data["y"],
            scale=alt.Scale(domain=[0, highest], nice=False),
            axis=alt.Axis(**axis, tickCount=5),
        )
    )
    across = alt.X(
        "from:Q",
        title=data["x"],
        scale=alt.Scale(domain=[0, 1], nice=False),
        axis=alt.Axis(**axis, format="%"),
    )
    bars = base.mark_bar(height=9, stroke=INK, strokeWidth=1, aria=False).encode(
        x=across, x2="to:Q", fill=alt.Fill("fill:N", scale=None)
    )
    texts = base.mark_text(dy=-12, fontSize=12, color=INK, aria=False).encode(
        x=alt.X("middle:Q", title=data["x"]), text="label:N"
    )
    return (bars + texts).properties(width=width - NARROWEST_LABEL, height=HEIGHT)


def front_told(data: Plain) -> list[str]:
    """The same in words."""
    lost, risk = data["x"], data["y"]
    told = [
        f"{row['label']}: {lost} {row['loss']}, {risk} {row['risk']['text']}"
        for row in data["rows"]
        if _is_drawn(row)
    ]
    return told or [said_in(data, "no figure can be shown")]


def _is_drawn(row: Plain) -> bool:
    return row["range"] is not None and (row["risk"]["value"] is not None or "below" in row["risk"])


def _drawn(row: Plain) -> dict[str, Any]:
    low, high = row["range"]
    spread = max(0.0, NARROWEST - (high - low)) / 2
    fill = OPEN if row["risk"]["value"] is None else INK if row["front"] else LIGHT
    return {
        "label": row["label"], "risk": length_of(row["risk"]), "from": max(0.0, low - spread), "fill": fill,
        "to": min(1.0, high + spread), "middle": (low + high) / 2,
    }  # fmt: skip
