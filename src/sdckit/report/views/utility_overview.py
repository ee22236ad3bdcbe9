"""View of the utility overview: headline figures of several utility measures."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sdckit.report.blocks import Block, TableBlock
from sdckit.report.chapters.utility_chapter import EMPTY, utility_blocks
from sdckit.report.common_blocks import share_leaf, value_leaf
from sdckit.report.estimates import USEFULNESS, UtilityView
from sdckit.report.gate.figures import Foreign, InternalOnly, Moved, Tree
from sdckit.report.setting import PairSetting, guard_by_changes, notes_tree
from sdckit.report.view import Plain, noted, view_of
from sdckit.utility.models.model_design import published_text
from sdckit.utility.utility_overview import COARSER, HEADLINES, Headline
from sdckit.utility.weighted_totals import MovedFigure

# Differences of distributions: times n they are records that moved.
SHARES = ("joint_max_difference", "mean_total_variation", "largest_total_variation")
MODELS = "compare_models"


def tree(result: Any, setting: PairSetting) -> dict[str, Tree]:
    """Enter the headline figures, and those of the measures behind them: variables, pairs, models.

    All of it are means, shares and estimates over the whole file; they are printed to two significant
    digits, like every estimate.
    """
    defined = [headline for headline in HEADLINES if math.isfinite(getattr(result, headline.name))]
    figures: dict[str, Any] = {
        **EMPTY,
        "m": result.m,
        "table": tuple(_row(headline, result, setting) for headline in defined),
        "skipped": tuple(
            {"measure": InternalOnly(name, published_text(name, frozenset())), "reason": Foreign(reason)}
            for name, reason in result.skipped
        ),
        "moved": tuple(_moved(figure, setting) for figure in result.moved),
        "notes": notes_tree(result),
    }
    for place, measured in result.results.items():
        view = view_of(place)
        if not isinstance(view, UtilityView) or view.part is None:
            continue
        part = view.tree(measured, replace(setting, place=place))
        figures |= {view.part: (*figures[view.part], part)} if view.part else part
    return figures


def _moved(figure: MovedFigure, setting: PairSetting) -> dict[str, Tree]:
    """Enter by how much a total, a mean or a count moved, guarded by the records in it."""
    base = f"{setting.prefix}.moved figure.{figure.variable}.{figure.level}"
    setting.ledger.count(base, figure.n, base, watched="nowhere")
    return {
        "variable": figure.variable,
        "level": figure.level,
        "figure": figure.figure,
        "change": Moved(figure.change, base, figure.largest),
    }


def _row(headline: Headline, result: Any, setting: PairSetting) -> dict[str, Tree]:
    smallest, largest = result.spread[headline.name]
    write = share_leaf if headline.name in SHARES else value_leaf
    values = {"value": getattr(result, headline.name), "smallest": smallest, "largest": largest}
    start = f"{setting.prefix}.{headline.name}"
    pair, variables = getattr(result, "pair", None), result.variables
    if headline.measure == COARSER:  # of the original before its recoding, of which the pair knows nothing
        pair, variables = result.results[COARSER], (COARSER, *variables)
    leaves = {
        part: guard_by_changes(write(setting.ledger, f"{start}.{part}", true), setting, pair, variables, headline.name)
        for part, true in values.items()
    }
    models = [model for name, model in result.results.items() if name.startswith(MODELS)]
    if headline.measure == MODELS and any(any(model.few_spread) or any(model.steps) for model in models):
        otherwise = value_leaf(setting.ledger, f"{start}.told", _over_shown_coefficients(headline, models))
        leaves = {part: InternalOnly(leaf, otherwise) for part, leaf in leaves.items()}
    return {
        "name": headline.name,
        "level": headline.level,
        "measure": headline.measure,
        "figure": headline.words,
        "best": headline.best,
        **leaves,
    }


def _over_shown_coefficients(headline: Headline, models: Sequence[Any]) -> float:
    """A figure of the models over the coefficients that are printed: else the withheld ones would follow from it."""
    values = [model.over_told()[headline.figure] for model in models]
    known = [value for value in values if math.isfinite(value)]
    if not known:
        return math.nan
    return min(known) if headline.name == "min_overlap" else math.fsum(known) / len(known)


def blocks(plain: Plain, place: str) -> list[Block]:
    """Table of the overview, and of what was not measured."""
    skipped = tuple((row["measure"].replace("_", " "), row["reason"]) for row in plain[place]["skipped"])
    table = TableBlock("Not measured, and why", ("Measure", "Reason"), skipped)
    return [*utility_blocks(plain[place]), *([table] if skipped else [])]


VIEW = UtilityView(USEFULNESS, tree, blocks, noted("utility_overview"))
