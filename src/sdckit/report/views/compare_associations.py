"""View of how far a release preserves the associations between variables."""

from itertools import combinations
from typing import Any

import numpy as np

from sdckit.report.blocks import Block, ChartBlock, TableBlock
from sdckit.report.common_blocks import bars, figure, value_leaf
from sdckit.report.estimates import USEFULNESS, UtilityView
from sdckit.report.gate.figures import Guarded, Tree, Value
from sdckit.report.setting import PairSetting, guard_by_changes, n_moved
from sdckit.report.view import Plain

WORDS = {
    "pearson_similarity": "likeness of the correlations, mean (best 1)",
    "spearman_similarity": "likeness of the rank correlations, mean (best 1)",
    "contingency_similarity": "likeness of the two-way tables, mean (best 1)",
    "mean_difference": "change of an association, mean (best 0)",
    "largest_difference": "largest change of an association (best 0)",
}
CHANGE = "Change of every association (best 0; the darker, the larger)"
MOST_SQUARES = 20


def tree(result: Any, setting: PairSetting) -> dict[str, Tree]:
    """Enter the similarity of the associations, and the change of each where enough records have both variables."""
    ledger, start = setting.ledger, f"{setting.prefix}.{setting.place}"
    leaves = {
        name: guard_by_changes(
            value_leaf(ledger, f"{start}.{name}", getattr(result, name)), setting, result.pair, result.variables, name
        )
        for name in WORDS
    }
    names = result.variables
    if not 1 < len(names) <= MOST_SQUARES:
        return {**leaves, "heat": None}
    matrix = np.abs(result.matrix())
    cells: list[Tree] = []
    for i, j in combinations(range(len(names)), 2):
        name = f"{start}.{i}.{j}"
        leaf = value_leaf(ledger, name, float(matrix[i, j]))
        if isinstance(leaf, Value):
            # Few records have both values, or were changed: their number could be computed from the association.
            behind = min(int(result.both[i, j]), n_moved(result.pair, [names[i], names[j]]))
            base = ledger.count(f"{name}.n", behind, f"{start}.both", watched="nowhere")
            leaf = Guarded(name, base.name, few=True)
        cells.append({"one": names[i], "other": names[j], "value": leaf})
    return {**leaves, "heat": {"variables": tuple(names), "cells": tuple(cells)}}


def blocks(plain: Plain, place: str) -> list[Block]:
    """Table of the means, and a heat map of the change for every pair of variables."""
    figures = plain[place]
    rows = tuple((words, figures[name]["text"]) for name, words in WORDS.items())
    table = TableBlock("Associations before and after", ("Figure", "Release"), rows, (1,))
    if figures["heat"] is None:
        return [table, bars(table.caption, "", ((words, figures[name]) for name, words in WORDS.items()), aside=True)]
    cells = tuple((f"{cell['one']} × {cell['other']}", cell["value"]["text"]) for cell in figures["heat"]["cells"])
    return [
        table,
        *figure(ChartBlock("heat", figures["heat"], CHANGE), TableBlock(CHANGE, ("Variables", "Change"), cells, (1,))),
    ]


VIEW = UtilityView(USEFULNESS, tree, blocks)
