"""The points of a map of recipes for the pages: printed figures with their heights, and the steps of each recipe."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sdckit.report.chapters.map import WORDS
from sdckit.report.common_blocks import height_of
from sdckit.report.wording import say

if TYPE_CHECKING:
    from sdckit.workflow.recipes.explore import Point

LOSS, RISK = "share_changed", "expected_reidentifications"  # what the pages set against each other
Plain = Mapping[str, Any]


def can_be_drawn(point: Point) -> bool:
    """Whether a recipe has both figures; a map leaves out the others."""
    return not any(math.isnan(point.figures[name]) for name in (RISK, LOSS))


def of_front(front: Plain, recipes: Sequence[Plain]) -> dict[str, Any]:
    """The map of a search from `plain_front`; a loss is a range. Recipes have `words`, `loss`, `passed` and `steps`."""
    pairs = zip(front["rows"], recipes, strict=True)
    points = [_point(at, row, row["range"], recipe) for at, (row, recipe) in enumerate(pairs, 1)]
    return {"points": points, "risk": front["y"], "loss": front["x"]}


def of_map(plain: Plain, recipes: Sequence[Plain]) -> dict[str, Any]:
    """The map of recipes that were carried out, from `plain_map`; `recipes` have `words`, `passed` and `steps`."""
    points = []
    for at, (row, recipe) in enumerate(zip(plain["points"], recipes, strict=True), 1):
        loss = height_of(row["loss"])
        ends = None if loss is None else (loss, loss)
        points.append(_point(at, row, ends, {**recipe, "loss": row["loss"]["text"]}))
    heads = {role: WORDS[plain[role]].format(k=plain["k"]) for role in ("risk", "loss")}
    return {"points": points, **heads}


def _point(at: int, row: Plain, ends: Sequence[float] | None, recipe: Plain) -> dict[str, Any]:
    """One recipe; `ends` of the loss and `height` of the risk are None where the figure is not shown."""
    return {
        "words": "", **recipe, "name": f"recipe {at}", "risk": row["risk"]["text"], "ends": ends and list(ends),
        "height": height_of(row["risk"]), "open": row["risk"]["value"] is None, "front": bool(row["front"]),
    }  # fmt: skip


def in_language(drawn: Plain, language: str, columns: Sequence[str]) -> dict[str, Any]:
    """The same in another language; names of columns stay."""
    texts = ("name", "words", "risk", "loss")
    points = [
        {**point, **{name: say(point[name], language, columns) for name in texts}} for point in drawn.get("points", ())
    ]
    return {**{role: say(drawn[role], language) for role in ("risk", "loss") if role in drawn}, "points": points}
