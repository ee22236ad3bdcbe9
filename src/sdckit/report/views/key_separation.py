"""View of what sets of keys tell apart: exact in a confidential document, in words elsewhere."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sdckit.report import common_blocks, setting, view
from sdckit.report.blocks import Block, TableBlock
from sdckit.report.chapters.sentences import listed
from sdckit.report.gate.figures import InternalOnly, Tree

if TYPE_CHECKING:
    from sdckit.identity.contributions.key_separation import KeySeparation

MOST_SETS = 40  # that are listed; all keys are the last
FEWEST = 100  # records: of fewer, words would tell single ones
WORDS = ((99, "99 in 100 or more"), (90, "9 in 10 or more"), (50, "half or more"), (0, "fewer than half"))  # per cent
BEGIN = {words: least for least, words in WORDS}
HEADS = ("Combinations", "Distinction", "Separation")


def tree(result: KeySeparation, _setting: setting.Setting) -> Mapping[str, Tree]:
    """Enter which part of the pairs each set of keys tells apart, in words; the figures are confidential."""
    shown = (*result.table[: MOST_SETS - 1], result.table[-1]) if len(result.table) > MOST_SETS else result.table
    return {
        "n_sets": len(result.table),
        "table": tuple(
            {
                "variables": tuple(row.variables),
                "told_apart": _words(row.rounded_separation, result.n),
                "n_cells": InternalOnly(row.n_cells),
                "distinction": InternalOnly(row.distinction),
                "separation": InternalOnly(row.separation),
            }
            for row in shown
        ),
        "notes": setting.notes_tree(result),
    }


def _words(separation: float, n: int) -> str:
    if n < FEWEST or math.isnan(separation):
        return "not said of so few records"
    return next(words for least, words in WORDS if 100 * separation >= least)


def blocks(plain: view.Plain, place: str) -> list[Block]:
    """Table and chart of the sets of keys, all keys last; the bars of words end where these begin."""
    tree = plain[place]
    inside = "n_cells" in tree["table"][0]
    rows, drawn = [], []
    for row in tree["table"]:
        apart = "undefined" if inside and row["separation"] is None else f"{row['separation']:.4f}" if inside else ""
        height = row["separation"] and 100 * row["separation"] if inside else BEGIN.get(row["told_apart"])
        drawn.append((", ".join(row["variables"]), {"value": height, "text": apart or row["told_apart"]}))
        exact = (f"{row['n_cells']:,}", f"{row['distinction']:.4f}", apart) if inside else ()
        rows.append((listed(row["variables"]), row["told_apart"], *exact))
    caption = "What sets of keys tell apart"
    if len(rows) < tree["n_sets"]:
        caption += f" ({len(rows)} of {tree['n_sets']:,})"
    heads = ("Variables", "Pairs of records told apart", *(HEADS if inside else ()))
    table = TableBlock(caption, heads, tuple(rows), tuple(range(2, len(heads))))
    return [table, common_blocks.bars(caption, "of the pairs", drawn, aside=True), *common_blocks.notes_blocks(tree)]


VIEW = view.View("Records told apart by sets of keys", tree, blocks, view.noted("key_separation"))
