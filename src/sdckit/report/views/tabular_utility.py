"""View of how far the contingency tables of a release are from the original's."""

from typing import Any

from sdckit.data.frames import rows_of
from sdckit.report import common_blocks, estimates, view
from sdckit.report.blocks import Block
from sdckit.report.chapters.utility_chapter import heat_blocks, pair_blocks, sample_blocks
from sdckit.report.gate.figures import InternalOnly, Tree
from sdckit.report.setting import PairSetting, guard_by_changes
from sdckit.result import LetGo

MOST_PAIRS = 10
MOST_SQUARES = 20
MOST_GROUPS = 10


def tree(result: Any, setting: PairSetting) -> dict[str, Tree]:
    """Enter the tables that changed most, the standardised pMSE of every two-way table, and the score of all."""
    ledger, start = setting.ledger, f"{setting.prefix}.{setting.place}"
    rows = []
    for row in rows_of(result.worst(MOST_PAIRS)):
        names = [str(row[name]) for name in ("variable_1", "variable_2") if name in row]
        variables = " × ".join(names)
        s_pmse = common_blocks.value_leaf(ledger, f"{start}.{variables}.s_pmse", row.get("s_pmse"))
        rows.append(
            {
                "variables": variables,
                "s_pmse": guard_by_changes(s_pmse, setting, result.pair, names),
                "specks": common_blocks.share_leaf(ledger, f"{start}.{variables}.specks", row.get("specks")),
            }
        )
    return {"pairs": tuple(rows), "heat": _heat(result, setting), "sample": _sample(result, setting)}


def _sample(result: Any, setting: PairSetting) -> dict[str, Tree]:
    """The mean distance of the tables, and the sample that is as near, beside what else would be; groups when exact."""
    start, names = f"{setting.prefix}.{setting.place}.sample", [*result.by, *result.variables]
    sample, *others = (
        common_blocks.value_leaf(setting.ledger, f"{start}.{name}", getattr(result, name))
        for name in ("sample_equivalent", "redraw_equivalent", "other_sample_equivalent")
    )
    groups = () if isinstance(result.groups, LetGo) else result.groups[:MOST_GROUPS]
    rows = tuple({"labels": score.labels, "n": score.n, "k_marginal": score.k_marginal} for score in groups)
    return {
        "ways": result.ways,
        "by": result.by,
        "distance": common_blocks.share_leaf(setting.ledger, f"{start}.distance", 1 - result.k_marginal / 1000),
        "equivalent": guard_by_changes(sample, setting, result.pair, names, "sample_equivalent"),
        "redraw": others[0],
        "other_sample": others[1],
        "groups": InternalOnly(rows, ()),
    }


def _heat(result: Any, setting: PairSetting) -> Tree:
    """Standardised pMSE of every pair of variables; None for other tables or too many variables."""
    if result.ways != 2 or not 1 < len(result.variables) <= MOST_SQUARES:
        return None
    matrix, start = result.matrix(), f"{setting.prefix}.heat"
    cells = [
        {
            "one": first,
            "other": second,
            "value": guard_by_changes(
                common_blocks.value_leaf(setting.ledger, f"{start}.{i}.{j}", float(matrix[i, j])),
                setting,
                result.pair,
                [first, second],
            ),
        }
        for i, first in enumerate(result.variables)
        for j, second in enumerate(result.variables)
        if i < j
    ]
    return {"variables": tuple(result.variables), "cells": tuple(cells)}


def blocks(plain: view.Plain, place: str) -> list[Block]:
    """Heat map of the two-way tables, the score of all tables, and a table of the worst."""
    figures = plain[place]
    return [*heat_blocks(figures["heat"]), *sample_blocks(figures["sample"]), *pair_blocks(figures["pairs"])]


VIEW = estimates.UtilityView(estimates.USEFULNESS, tree, blocks, part="")
