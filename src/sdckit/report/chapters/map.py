"""Map of risk against information loss of all recipes tried; its chart is drawn from protected figures only."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sdckit.data import alt
from sdckit.data.losses import BY_CLASS, COARSENING, DIFFERING, DRAWN
from sdckit.report.blocks import Block, ChartBlock, Paragraph, TableBlock
from sdckit.report.charts import INK, PLAIN, WIDTH, draw_recipes, recipe_fill
from sdckit.report.common_blocks import EXPECTED, height_of, rank_of
from sdckit.report.gate.figures import Document, Guarded, InternalOnly, Ledger, Part, Tree
from sdckit.report.gate.protect import protect
from sdckit.report.offline import offline
from sdckit.report.view import Plain

if TYPE_CHECKING:
    from sdckit.workflow.recipes.explore import Exploration, Point


# Pareto front of pairs of figures, both to be minimised.


def pareto(pairs: Sequence[tuple[float, float]]) -> tuple[bool, ...]:
    """Whether each pair is on the Pareto front (both figures minimised); pairs with NaN never are.

    Examples
    --------
    >>> pareto([(1, 5), (2, 3), (2, 4), (3, 3), (1, 5)])
    (True, True, False, False, True)
    """

    def is_beaten(risk: float, loss: float) -> bool:
        return any(r <= risk and l <= loss and (r < risk or l < loss) for r, l in pairs)  # noqa: E741

    return tuple(not (math.isnan(risk) or math.isnan(loss) or is_beaten(risk, loss)) for risk, loss in pairs)


# The recipe found by a search, and the alternatives by loss and risk.


LOST = "Lost of what the keys tell"
CAPTION = "Risk and loss of the recipe, and of others that were found; no other beats the dark ones"


def front_tree(recipes: Sequence[Mapping[str, Any]], ledger: Ledger) -> tuple[Tree, ...]:
    """Enter the risk of each recipe, guarded by its records in small classes, with the `range` of its loss."""
    points: list[Tree] = []
    for at, recipe in enumerate(recipes):
        base = ledger.count(f"front{at}.small", recipe["small"], "small", watched="nowhere")
        risk = ledger.value(f"front{at}.risk", recipe["expected"], "expected", kind="sum", guard=(base.name,))
        ends = None if recipe["range"] is None else tuple(recipe["range"])
        points.append({"range": ends, "risk": risk})
    return tuple(points)


def plain_front(recipes: Sequence[Mapping[str, Any]], n: int, *, internal: bool = False) -> dict[str, Any]:
    """Protected data for a chart of the front alone."""
    ledger = Ledger()
    tree: dict[str, Tree] = {"n": ledger.count("n", n, "n"), "recipes": front_tree(recipes, ledger)}
    return _data(protect(Document(tree, ledger.variables, tuple(ledger.relations), n), internal=internal)["recipes"])


def search_blocks(search: Plain, methods: Sequence[str]) -> list[Block]:
    """Blocks of a search: the reason for each step, and the alternative recipes."""
    first = f"A search over {search['combinations']} combinations of recodings found the recipe."
    more = (f" {search[words]}." for words in ("kept", "caution") if search[words])
    blocks: list[Block] = [Paragraph("".join([first, *more]))]
    if search["by"]:
        blocks.append(Paragraph(f"It is the one with the least loss, which is here: {search['by']}."))
    reasons = list(search["reasons"])
    if len(reasons) == len(methods):
        rows = tuple((method, why) for method, why in zip(methods, reasons, strict=True))
        blocks.append(TableBlock("Why each step is there", ("Step", "Why"), rows))
    fronts = search["front"]
    recipes = tuple(
        (
            str(at),
            recipe["words"],
            recipe["loss"] or "–",
            point["risk"]["text"],
            recipe["resting"] or "–",
            "hold" if recipe["passed"] else "do not all hold",
        )
        for at, (recipe, point) in enumerate(zip(search["recipes"], fronts, strict=True), 1)
    )
    head = ("Recipe", "What it does", LOST, EXPECTED, "Records with k only through missing values", "Thresholds")
    blocks.append(TableBlock("The recipe, and others that were found", head, recipes, (3,)))
    if len(fronts) > 1:
        blocks.append(front_block(fronts))
    return blocks


def front_block(recipes: Sequence[Plain]) -> ChartBlock:
    """Chart of the Pareto front, from the printed figures of `recipes`."""
    return ChartBlock("front", _data(recipes), CAPTION)


def printed_front(recipes: Sequence[Plain]) -> tuple[bool, ...]:
    """Pareto front by printed figures: exact ones would disclose the order of recipes that are printed alike."""
    return pareto([(rank_of(recipe["risk"]), _middle(recipe["range"])) for recipe in recipes])


def _data(recipes: Sequence[Plain]) -> dict[str, Any]:
    fronts = printed_front(recipes)
    rows = [
        {
            "label": str(at),
            "range": recipe["range"],
            "loss": _words(recipe["range"]),
            "risk": recipe["risk"],
            "front": front,
        }
        for at, (recipe, front) in enumerate(zip(recipes, fronts, strict=True), 1)
    ]
    return {"rows": rows, "x": LOST, "y": EXPECTED}


def _middle(ends: Sequence[float] | None) -> float:
    return math.nan if ends is None else (ends[0] + ends[1]) / 2


def _words(ends: Sequence[float] | None) -> str:
    if ends is None:
        return ""
    low, high = (100 * end for end in ends)
    return f"{low:.1f} %" if low == high else f"{low:.0f} to {high:.0f} %"


COUNTS = ("sample_uniques", "below_k")
MOST_LABELS = 12
# Counts of records below it print alike, 0 among them, and so do shares of values below a step. A recipe that keeps
# k - 1 leaves no smaller groups: "<5 records below k" would be one group or two. Which of many recipes reach 0, or take
# nothing out, tells how large the smallest groups are.
LEAST_RISK = 20
LEAST_SHARE = 1e-12
WORDS = {
    "sample_uniques": "records alone with their keys",
    "below_k": "records in groups of fewer than {k}",
    "expected_reidentifications": "expected re-identifications",
    **DRAWN,
}


def plain_map(exploration: Exploration, *, internal: bool = False) -> dict[str, Any]:
    """Protected points of a map; recipes without figures are left out.

    The Pareto front is computed from printed figures: exact ones would disclose the order of points printed alike.
    """
    ledger = Ledger()
    n = ledger.count("n", exploration.n, "n")
    points: list[Tree] = []
    labels = _labels([point.parameters for point in exploration.points])
    for at, (recipe, label) in enumerate(zip(exploration.points, labels, strict=True)):
        risk, loss = recipe.figures[exploration.risk], recipe.figures[exploration.loss]
        if math.isnan(risk) or math.isnan(loss):
            continue
        points.append(
            {
                "label": InternalOnly(", ".join(f"{key} = {value}" for key, value in recipe.parameters.items()), label),
                "risk": _risk(f"p{at}.risk", risk, recipe.small, exploration.risk, ledger),
                "loss": _loss(f"p{at}.loss", loss, recipe, exploration.loss, ledger, internal=internal),
            }
        )
    head: dict[str, Tree] = {"n": n, "risk": exploration.risk, "loss": exploration.loss, "k": exploration.k}
    tree = {**head, "points": tuple(points)}
    plain = protect(Document(tree, ledger.variables, tuple(ledger.relations), exploration.n), internal=internal)
    if not internal and exploration.risk in COUNTS:
        for point in plain["points"]:
            point["risk"] = _few_alike(point["risk"])
    drawn = pareto([(rank_of(point["risk"]), rank_of(point["loss"])) for point in plain["points"]])
    for recipe, front in zip(plain["points"], drawn, strict=True):
        recipe["front"] = front
    return plain


def _labels(points: Sequence[Mapping[str, Any]]) -> list[str]:
    """Label of each recipe: numbers and strings as they are; other arguments may hold values and are only numbered."""
    others: dict[str, dict[str, int]] = {}
    labels = []
    for point in points:
        words = []
        for path, value in point.items():
            shown = str(value)
            if not isinstance(value, int | float | str):
                known = others.setdefault(path, {})
                shown = f"choice {known.setdefault(shown, len(known) + 1)}"
            words.append(f"{path} = {shown}")
        labels.append(", ".join(words))
    return labels


def _risk(name: str, true: float, small: int, figure: str, ledger: Ledger) -> Tree:
    if figure not in COUNTS:
        base = ledger.count(f"{name}.small", small, "small", watched="nowhere")
        return ledger.value(name, true, "risk", kind="sum", guard=(base.name,))
    count = ledger.count(name, round(true), "risk")
    ledger.nested("n", name)
    return count


def _few_alike(leaf: Plain) -> Plain:
    """A printed risk; where it is less than `LEAST_RISK`, just that.

    >>> [_few_alike({"text": str(value), "value": value})["text"] for value in (0, 5, 20)]
    ['<20', '<20', '20']
    """
    if (height := height_of(leaf)) is None or height >= LEAST_RISK:
        return leaf
    return {"text": f"<{LEAST_RISK}", "value": None, "below": LEAST_RISK}


def _loss(name: str, true: float, recipe: Point, figure: str, ledger: Ledger, *, internal: bool) -> Tree:
    if figure == DIFFERING:
        return Part(true if internal else max(true, LEAST_SHARE), "n", counted=True)
    behind = recipe.coarser if figure in COARSENING else recipe.behind
    base = ledger.count(f"{name}.behind", behind, "behind", watched="nowhere")
    few = figure not in BY_CLASS  # of classes it is not nothing where nobody lost anything
    return Guarded(ledger.value(name, max(0.0, round(true, 12)), "loss").name, base.name, few=few)


def points_to_click(plain: Plain, recipes: Sequence[Plain]) -> dict[str, Any]:
    """The points of `plain_map` or `plain_front` for a page, with what is said of each of the `recipes`.

    `ends` of the loss and `height` of the risk are None where nothing is printed that has a place.
    """
    points = [
        {"risk": row["risk"]["text"], "height": height_of(row["risk"]), "front": bool(row["front"]),
         "open": row["risk"]["value"] is None, **_across(row), **recipe}
        for row, recipe in zip(plain.get("points") or plain["rows"], recipes, strict=True)
    ]  # fmt: skip
    if "k" not in plain:
        return {"points": points, "risk": plain["y"], "loss": plain["x"]}
    return {"points": points, **{role: WORDS[plain[role]].format(k=plain["k"]) for role in ("risk", "loss")}}


def _across(row: Plain) -> dict[str, Any]:
    """The printed loss, and where it begins and ends."""
    if "range" in row:
        return {"loss": row["loss"] or "–", "ends": None if row["range"] is None else list(row["range"])}
    place = height_of(row["loss"])
    return {"loss": row["loss"]["text"], "ends": None if place is None else [place, place]}


def map_table(plain: Plain) -> TableBlock:
    """Table of the points of `plain_map`."""
    heads = tuple(WORDS[plain[role]].format(k=plain["k"]) for role in ("risk", "loss"))
    rows = tuple(
        (point["label"], point["risk"]["text"], point["loss"]["text"], "front" if point["front"] else "")
        for point in plain["points"]
    )
    return TableBlock("Recipes tried; no other beats those on the front", ("recipe", *heads, ""), rows, numeric=(1, 2))


def map_chart(plain: Plain) -> Any:
    """Chart of `plain_map`: recipes as points, the front dark and joined by a line.

    A hidden count is drawn at its upper bound, as an open point.
    """
    rows = [row for row in map(_row, plain["points"]) if row is not None]
    risk, loss = (WORDS[plain[role]].format(k=plain["k"]) for role in ("risk", "loss"))
    base, points = draw_recipes(
        rows, alt.X("loss:Q", title=loss, scale=alt.Scale(zero=False, nice=True), axis=alt.Axis(format=PLAIN)),
        alt.Y("risk:Q", title=risk, scale=alt.Scale(zero=True, nice=True)),
        "point", {"size": 60, "filled": True, "opacity": 1},
        tooltip=["label:N", alt.Tooltip("risk_text:N", title=risk), alt.Tooltip("loss_text:N", title=loss)],
    )  # fmt: skip
    front = base.transform_filter("datum.front")
    line = front.mark_line(color=INK, strokeWidth=1, strokeDash=[4, 3], interpolate="step-after")
    layers = [line, points]
    if sum(row["front"] for row in rows) <= MOST_LABELS:
        layers.append(_names(rows, base))
    chart = alt.layer(*layers).properties(
        width=WIDTH,
        height=360,
        title=alt.Title("Risk and loss of every recipe tried", anchor="start", fontSize=14, color=INK, offset=12),
    )
    return offline(chart.configure(font="sans-serif", background="#ffffff").configure_view(stroke=None))


def _names(rows: Sequence[Plain], base: Any) -> Any:
    """The recipes of the front by their names, one line for each of those at the same place."""
    names: dict[tuple[float, float], list[str]] = {}
    for row in rows:
        if row["front"]:
            names.setdefault((row["loss"], row["risk"]), []).append(row["label"])
    placed = [{"loss": loss, "risk": risk, "label": labels} for (loss, risk), labels in names.items()]
    text = base.properties(data=alt.InlineData(values=placed))
    return text.mark_text(align="left", baseline="top", dx=7, dy=-6, fontSize=10, color=INK).encode(text="label:N")


def _row(point: Plain) -> dict[str, Any] | None:
    heights = [height_of(point[name]) for name in ("risk", "loss")]
    if None in heights:
        return None
    return {
        "label": point["label"], "risk": heights[0], "loss": heights[1], "risk_text": point["risk"]["text"],
        "loss_text": point["loss"]["text"], "front": bool(point["front"]),
        "fill": recipe_fill(point["risk"], front=point["front"]),
    }  # fmt: skip
