"""Figures of subgroups in a document: exact in a confidential one, in no other.

A rate of a few records beside their number is a count of them, and the counts of all subgroups together are those of
the file: a protected document says for which columns there are figures, and prints none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from sdckit.cells.record_result import RecordResult
from sdckit.data.frames import rows_of
from sdckit.report.blocks import Block, Paragraph, TableBlock
from sdckit.report.gate.figures import InternalOnly, Tree
from sdckit.report.view import Plain

__all__ = ["MOST_GROUPS", "SUBGROUPS", "group_figures", "rates_tree", "subgroup_blocks", "subgroups_tree"]

SUBGROUPS = "subgroups"
MOST_GROUPS = 20
MOST_FIGURES = 5
ELSEWHERE = "Figures by {by} stand in a confidential document only (internal): there they are exact."


def subgroups_tree(results: Mapping[str, Any]) -> dict[str, Tree]:
    """What was asked for by subgroup, by the place of a result; nothing where nothing was."""
    asked = {place: one for place, one in results.items() if isinstance(one, RecordResult) and one.by}
    if not asked:
        return {}
    found: dict[str, Tree] = {
        place: {"by": tuple(map(str, one.by)), "groups": InternalOnly(group_figures(one))}
        for place, one in asked.items()
    }
    return {SUBGROUPS: found}


def group_figures(result: RecordResult) -> tuple[Tree, ...]:
    """The subgroups of a result, the riskiest first: labels, records, figures; None for what is undefined."""
    names = [*map(str, result.by)]
    return tuple(
        {
            "labels": tuple(_label(row[name]) for name in names),
            "n": int(row["n"]),
            "figures": {
                name: _plain(value) for name, value in row.items() if name not in ("n", *names)
            },
        }
        for row in rows_of(result.by_group)
    )  # fmt: skip


def _label(value: object) -> str:
    missing = value is None or (isinstance(value, float) and math.isnan(value))
    return "(missing)" if missing else str(value)


def _plain(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None


def rates_tree(results: Mapping[str, Any]) -> dict[str, Tree]:
    """What the rates of results are rates of, and what a higher one means; how many that are only inside."""
    return {
        place: {
            name: {"of": one["of"], "n": InternalOnly(one["n"]), "direction": one["direction"]}
            for name, one in result.rates().items()
        }
        for place, result in results.items()
        if isinstance(result, RecordResult)
    }


def subgroup_blocks(one: Plain, place: str) -> list[Block]:
    """The table of the subgroups of one place, at most twenty; in a protected document where it stands."""
    tree = one.get(SUBGROUPS, {}).get(place)
    if not tree:
        return []
    by = ", ".join(tree["by"])
    rows = tree.get("groups")
    if rows is None:
        return [Paragraph(ELSEWHERE.format(by=by), "note")]
    shown = list(rows[0]["figures"])[:MOST_FIGURES]
    texts = tuple(
        (*row["labels"], f"{row['n']:,}", *(_text(row["figures"][name]) for name in shown))
        for row in rows[:MOST_GROUPS]
    )
    heads = (*tree["by"], "Records", *shown)
    table = TableBlock(
        f"By {by}, the riskiest first", heads, texts, tuple(range(len(tree["by"]), len(heads)))
    )
    left_out = len(rows) - MOST_GROUPS
    return [table, *([Paragraph(f"… {left_out:,} more", "note")] if left_out > 0 else [])]


def _text(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"
