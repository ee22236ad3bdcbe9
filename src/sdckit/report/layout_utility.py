"""What a release is still good for, in a document: the overview, variables, pairs, models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sdckit.report.blocks import Block, ChartBlock, Paragraph, TableBlock

__all__ = ["HEAT", "utility_blocks"]

Plain = Mapping[str, Any]
HEAT = "Standardised pMSE of every two-way table (best 1; the darker, the worse)"


def utility_blocks(tree: Plain) -> list[Block]:
    """Lay out the utility of a release; nothing is computed here."""
    blocks: list[Block] = []
    rows: tuple[tuple[str, ...], ...]
    heads: tuple[str, ...]
    if tree["table"]:
        parts = ("value", "smallest", "largest") if tree["m"] > 1 else ("value",)
        rows = tuple(
            (row["level"], row["figure"], *_texts(row, *parts), f"{row['best']:g}") for row in tree["table"]
        )
        heads = (
            "Level",
            "Figure",
            *(("Mean", "Smallest", "Largest") if tree["m"] > 1 else ("Release",)),
            "Best",
        )
        blocks += [
            Paragraph("No single score: read the worst figure of each level beside its mean."),
            TableBlock("The release at a glance", heads, rows, tuple(range(2, len(heads)))),
        ]
    if tree["variables"]:
        rows = tuple((name, leaf["text"]) for name, leaf in tree["variables"].items())
        heads = ("Variable", "Share in other values")
        blocks.append(TableBlock("Records that moved to other values, by variable", heads, rows, (1,)))
    if tree["pairs"]:
        rows = tuple((row["variables"], *_texts(row, "s_pmse", "specks")) for row in tree["pairs"])
        heads = ("Variables", "Standardised pMSE (best 1)", "SPECKS (best 0)")
        blocks.append(TableBlock("Two-way tables that changed most", heads, rows, (1, 2)))
    if tree["heat"]:
        blocks.append(ChartBlock("heat", tree["heat"], HEAT))
    for model in tree["models"]:
        rows = tuple(
            (row["term"], *_texts(row, "estimate_original", "estimate_released", "overlap"))
            for row in model["terms"]
        )
        heads = ("Term", "Original", "Release", "Overlap")
        caption = f"{model['formula']} ({model['family']})"
        if model["withheld"]:
            blocks.append(Paragraph(f"{caption}: {model['withheld']}.", "note"))
            continue
        blocks.append(TableBlock(caption, heads, rows, (1, 2, 3)))
        blocks.append(ChartBlock("forest", {"rows": model["forest"]}, f"Estimates and intervals: {caption}"))
    if tree["skipped"]:
        rows = tuple((row["measure"].replace("_", " "), row["reason"]) for row in tree["skipped"])
        blocks.append(TableBlock("Not measured, and why", ("Measure", "Reason"), rows))
    return blocks


def _texts(row: Plain, *names: str) -> tuple[str, ...]:
    return tuple(row[name]["text"] for name in names)
