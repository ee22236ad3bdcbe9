"""What a release is still good for, seen from several sides, in a document."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sdckit.report.blocks import Block, TableBlock
from sdckit.report.chapters.utility_chapter import EMPTY, utility_blocks
from sdckit.report.estimates import USEFULNESS, UtilityView, share_leaf, value_leaf
from sdckit.report.gate.figures import Foreign, InternalOnly, Tree
from sdckit.report.setting import PairSetting, carried, notes_tree
from sdckit.report.view import Note, Plain, view_of
from sdckit.utility.models.model_design import published_text
from sdckit.utility.utility_overview import HEADLINES, Headline

# Differences of distributions: times n they are records that moved.
SHARES = ("joint_max_difference", "mean_total_variation", "largest_total_variation")
MODELS = "compare_models"
METHOD = Note(
    "Utility",
    "pMSE: how well a model tells released records from original ones. Shares of records in other values by variable, "
    "numbers in classes; two-way tables and associations for every pair; the regressions named, fitted to both files "
    "and compared by the overlap of their intervals. No single score: a release may keep every table and spoil a "
    "regression.",
    "Woo et al. (2009); Snoke et al. (2018); Karr et al. (2006)",
)


def tree(result: Any, setting: PairSetting) -> dict[str, Tree]:
    """Give the overview, and what the measures behind it add: variables, pairs, models.

    All of it are means, shares and estimates over the whole file; they are printed to two significant
    digits, like every estimate.
    """
    defined = [one for one in HEADLINES if math.isfinite(getattr(result, one.name))]
    found: dict[str, Any] = {
        **EMPTY,
        "m": result.m,
        "table": tuple(_row(one, result, setting) for one in defined),
        "skipped": tuple(
            {"measure": InternalOnly(name, published_text(name, frozenset())), "reason": Foreign(reason)}
            for name, reason in result.skipped
        ),
        "notes": notes_tree(result),
    }
    for place, one in result.results.items():
        view = view_of(place)
        if not isinstance(view, UtilityView) or view.part is None:
            continue
        part = view.tree(one, replace(setting, place=place))
        found |= {view.part: (*found[view.part], part)} if view.part else part
    return found


def _row(one: Headline, result: Any, setting: PairSetting) -> dict[str, Tree]:
    smallest, largest = result.spread[one.name]
    write = share_leaf if one.name in SHARES else value_leaf
    found = {"value": getattr(result, one.name), "smallest": smallest, "largest": largest}
    start = f"{setting.prefix}.{one.name}"
    pair = getattr(result, "pair", None)
    leaves = {
        part: carried(write(setting.ledger, f"{start}.{part}", true), setting, pair, result.variables, one.name)
        for part, true in found.items()
    }
    models = [each for name, each in result.results.items() if name.startswith(MODELS)]
    if one.measure == MODELS and any(any(model.few_spread) or any(model.steps) for model in models):
        told = value_leaf(setting.ledger, f"{start}.told", _over_told(one, models))
        leaves = {part: InternalOnly(leaf, told) for part, leaf in leaves.items()}
    return {
        "name": one.name,
        "level": one.level,
        "measure": one.measure,
        "figure": one.words,
        "best": one.best,
        **leaves,
    }


def _over_told(one: Headline, models: Sequence[Any]) -> float:
    """A figure of the models over the coefficients that are told: the others would follow from it."""
    values = [model.over_told()[one.figure] for model in models]
    known = [value for value in values if math.isfinite(value)]
    if not known:
        return math.nan
    return min(known) if one.name == "min_overlap" else math.fsum(known) / len(known)


def blocks(plain: Plain, place: str) -> list[Block]:
    """Lay out the overview."""
    skipped = tuple((row["measure"].replace("_", " "), row["reason"]) for row in plain[place]["skipped"])
    table = TableBlock("Not measured, and why", ("Measure", "Reason"), skipped)
    return [*utility_blocks(plain[place]), *([table] if skipped else [])]


VIEW = UtilityView(USEFULNESS, tree, blocks, lambda _: (METHOD,))
