"""A recipe that was searched for, and those found beside it, by loss and risk: protected, then drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sdckit.numerics.pareto import pareto
from sdckit.report.blocks import Block, ChartBlock, Paragraph, TableBlock
from sdckit.report.gate.figures import Document, Ledger, Tree
from sdckit.report.gate.protect import protect
from sdckit.report.parts import EXPECTED, rank_of
from sdckit.report.view import Plain

LOST = "Lost of what the keys tell"
CAPTION = "Risk and loss of the recipe, and of others that were found; no other beats the dark ones"


def front_tree(recipes: Sequence[Mapping[str, Any]], ledger: Ledger) -> tuple[Tree, ...]:
    """Enter the risks of recipes, each with the `range` of its loss, and the small groups behind its risk."""
    found: list[Tree] = []
    for at, one in enumerate(recipes):
        base = ledger.count(f"front{at}.small", one["small"], "small", watched="nowhere")
        risk = ledger.value(f"front{at}.risk", one["expected"], "expected", kind="sum", guard=(base.name,))
        ends = None if one["range"] is None else tuple(one["range"])
        found.append({"range": ends, "risk": risk})
    return tuple(found)


def search_tree(found: Mapping[str, Any], ledger: Ledger) -> dict[str, Tree]:
    """What a document tells of a search; nothing where there was none."""
    return {"searched": {**found, "front": front_tree(found["front"], ledger)}} if found else {}


def plain_front(recipes: Sequence[Mapping[str, Any]], n: int, *, internal: bool = False) -> dict[str, Any]:
    """Give what a chart of them alone is drawn from."""
    ledger = Ledger()
    tree: dict[str, Tree] = {"n": ledger.count("n", n, "n"), "recipes": front_tree(recipes, ledger)}
    plain = protect(Document(tree, ledger.variables, tuple(ledger.relations), n), internal=internal)
    return _data(plain["recipes"])


def search_blocks(found: Plain, methods: Sequence[str]) -> list[Block]:
    """Why the steps are there, and the recipes that were found beside this one."""
    first = f"A search over {found['combinations']} combinations of recodings found the recipe."
    blocks: list[Block] = [Paragraph(first if not found["caution"] else f"{first} {found['caution']}.")]
    reasons = list(found["reasons"])
    if len(reasons) == len(methods):
        rows = tuple((method, why) for method, why in zip(methods, reasons, strict=True))
        blocks.append(TableBlock("Why each step is there", ("Step", "Why"), rows))
    fronts = found["front"]
    recipes = tuple(
        (
            str(at),
            one["words"],
            one["loss"] or "–",
            beside["risk"]["text"],
            one["resting"] or "–",
            "hold" if one["passed"] else "do not all hold",
        )
        for at, (one, beside) in enumerate(zip(found["recipes"], fronts, strict=True), 1)
    )
    head = (
        "Recipe",
        "What it does",
        LOST,
        EXPECTED,
        "Records with k only through missing values",
        "Thresholds",
    )
    blocks.append(TableBlock("The recipe, and others that were found", head, recipes, (3,)))
    if len(fronts) > 1:
        blocks.append(front_block(fronts))
    return blocks


def front_block(recipes: Sequence[Plain]) -> ChartBlock:
    """The chart of a document; `recipes` as they were printed."""
    return ChartBlock("front", _data(recipes), CAPTION)


def printed_front(recipes: Sequence[Plain]) -> tuple[bool, ...]:
    """Which of them no other beats: by what is printed, exact figures would order what is printed alike."""
    return pareto([(rank_of(one["risk"]), _middle(one["range"])) for one in recipes])


def _data(recipes: Sequence[Plain]) -> dict[str, Any]:
    fronts = printed_front(recipes)
    rows = [
        {
            "label": str(at),
            "range": one["range"],
            "loss": _words(one["range"]),
            "risk": one["risk"],
            "front": front,
        }
        for at, (one, front) in enumerate(zip(recipes, fronts, strict=True), 1)
    ]
    return {"rows": rows, "x": LOST, "y": EXPECTED}


def _middle(ends: Sequence[float] | None) -> float:
    return math.nan if ends is None else (ends[0] + ends[1]) / 2


def _words(ends: Sequence[float] | None) -> str:
    if ends is None:
        return ""
    low, high = (100 * one for one in ends)
    return f"{low:.1f} %" if low == high else f"{low:.0f} to {high:.0f} %"
