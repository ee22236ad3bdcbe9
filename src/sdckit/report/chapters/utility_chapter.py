"""Chapter on the utility of a release: overview, variables, two-way tables, models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sdckit.report.blocks import Block, ChartBlock, Paragraph, TableBlock
from sdckit.report.chapters.sentences import listed
from sdckit.report.common_blocks import bars, figure
from sdckit.report.estimates import forest_block
from sdckit.report.gate.figures import Foreign, Ledger, Tree
from sdckit.report.setting import PairSetting
from sdckit.report.view import Plain, view_of
from sdckit.utility.weighted_totals import BEYOND

HEAT = "Standardised pMSE of every two-way table (best 1; the darker, the worse)"
TOTALS = "Totals, means and counts with the weights of each file, and by how much they moved"
MOVED = "Records that moved to other values, by variable"
EMPTY: Mapping[str, Tree] = {
    "m": 0, "table": (), "variables": {}, "pairs": (), "heat": None, "models": (), "skipped": (), "moved": (),
    "notes": {},
}  # fmt: skip


def utility_tree(assessment: Any, ledger: Ledger) -> Tree:
    """Give the utility of a release, or why there is none."""
    overview = assessment.utility
    if overview is None:
        why: Tree = {"measure": "utility", "reason": Foreign(assessment.no_utility)}
        return {**EMPTY, "skipped": (why,)}
    setting = PairSetting(ledger, "utility", overview.measure, [release.n for release in assessment.released])
    return view_of(overview.measure).tree(overview, setting)


def utility_blocks(tree: Plain) -> list[Block]:
    """Blocks of the utility of a release, from printed figures only."""
    blocks: list[Block] = []
    if tree["table"]:
        several = tree["m"] > 1
        parts = ("value", "smallest", "largest") if several else ("value",)
        glance = tuple((row["level"], row["figure"], *_texts(row, *parts), f"{row['best']:g}") for row in tree["table"])
        of = ("Mean", "Smallest", "Largest") if several else ("Release",)
        heads = ("Level", "Figure", *of, "Best")
        blocks += [
            Paragraph("No single score: read the worst figure of each level beside its mean."),
            TableBlock("The release at a glance", heads, glance, tuple(range(2, len(heads)))),
        ]
    blocks += [*variable_blocks(tree["variables"]), *pair_blocks(tree["pairs"]), *heat_blocks(tree["heat"])]
    blocks += moved_blocks(tree["moved"])
    for model in tree["models"]:
        blocks += _model_blocks(model)
    return blocks


def variable_blocks(variables: Mapping[str, Plain]) -> list[Block]:
    """Table and chart of the share of records that changed their value, by variable."""
    if not variables:
        return []
    rows = tuple((name, leaf["text"]) for name, leaf in variables.items())
    table = TableBlock(MOVED, ("Variable", "Share in other values"), rows, (1,))
    return figure(bars(MOVED, "of the records", variables.items()), table)


def pair_blocks(pairs: Sequence[Plain]) -> list[Block]:
    """Table of the two-way tables that changed most."""
    rows = tuple((row["variables"], *_texts(row, "s_pmse", "specks")) for row in pairs)
    heads = ("Variables", "Standardised pMSE (best 1)", "SPECKS (best 0)")
    return [TableBlock("Two-way tables that changed most", heads, rows, (1, 2))] if rows else []


def heat_blocks(heat: Plain | None) -> list[Block]:
    """Heat map of all two-way tables; set aside if no value is printed."""
    printed = heat and any(cell["value"]["value"] is not None for cell in heat["cells"])
    return [ChartBlock("heat", heat, HEAT, aside=not printed)] if heat else []


def moved_blocks(figures: Sequence[Plain]) -> list[Block]:
    """Table of totals, means and counts, and by how much the release moved them."""
    rows = tuple((row["variable"], row["level"] or "–", row["figure"], row["change"]["text"]) for row in figures)
    return [TableBlock(TOTALS, ("Variable", "Level", "Figure", "Moved by"), rows, (3,))] if rows else []


def moved_warning(figures: Sequence[Plain]) -> str:
    """Sentence on the figures that moved by more than five per cent, by their prints; "" where there are none."""
    beyond = [row for row in figures if abs(row["change"]["value"] or 0.0) > BEYOND]
    named = listed(list(dict.fromkeys(row["variable"] for row in beyond)))
    if not beyond:
        return ""
    most = max(beyond, key=lambda row: abs(row["change"]["value"]))
    more = f"{BEYOND:.0%}".replace("%", " %")
    return f"Totals, means or counts of {named} moved by more than {more}, at most by {most['change']['text']}."


def _model_blocks(model: Plain) -> list[Block]:
    caption = f"{model['formula']} ({model['family']})"
    parts = ("estimate_original", "estimate_released", "overlap")
    rows = tuple((row["term"], *_texts(row, *parts)) for row in model["terms"])
    note = Paragraph(f"{caption}: estimates {model['withheld']}.", "note")
    chart = forest_block(model["forest"], caption)
    if not chart:
        return [note]
    table = TableBlock(caption, ("Term", "Original", "Release", "Overlap"), rows, (1, 2, 3))
    return [table, *chart, *([note] if model["withheld"] else [])]


def _texts(row: Plain, *names: str) -> tuple[str, ...]:
    return tuple(row[name]["text"] for name in names)
