"""Figures of subgroups in a document: exact in a confidential one, shares that many records carry in any other.

A rate of a few records beside their number is a count of them, and the counts of all subgroups together are those of
the file. So a protected document has the share of a subgroup's records that are, say, in groups of fewer than k where
fifty of its records are, in steps of ten records or more; nothing else, and not that there is none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sdckit.cells.record_result import RecordResult
from sdckit.data.frames import rows_of
from sdckit.report.blocks import Block, Paragraph, TableBlock
from sdckit.report.gate.figures import InternalOnly, Ledger, Part, Told, Tree
from sdckit.report.gate.protect import SMALLEST_GUARD
from sdckit.report.view import Plain
from sdckit.result import FileFigure

SUBGROUPS = "subgroups"
MOST_GROUPS = 20
MOST_FIGURES = 5
ELSEWHERE = "Figures by {by} stand in a confidential document only (internal): there they are exact."
WITHHELD: Mapping[str, Tree] = {"text": "withheld", "value": None}
FEW = "Of subgroups with fewer than fifty such records, or none, nothing is shown."


def subgroups_tree(results: Mapping[str, Any], ledger: Ledger, prefix: str) -> dict[str, Tree]:
    """What was asked for by subgroup, by the place of a result; nothing where nothing was."""
    asked = {place: one for place, one in results.items() if isinstance(one, RecordResult) and one.by}
    if not asked:
        return {}
    found: dict[str, Tree] = {}
    for place, one in asked.items():
        rows = group_figures(one)  # once: an engine may have to group a plan for it
        shares = group_shares(one, rows, ledger, f"{prefix}.by.{place}")
        found[place] = {"by": tuple(map(str, one.by)), "groups": InternalOnly(rows, shares)}
    return {SUBGROUPS: found}


def group_shares(result: RecordResult, groups: Sequence[Mapping[str, Any]], ledger: Ledger, prefix: str) -> Tree:
    """Of large subgroups the shares of records that are counted, in the order of the labels; None without any.

    The counts are entered last, as what this document asks for, and are not printed themselves.
    """
    counted = [file_figure.name for file_figure in result.file_figures() if _counts(file_figure)]
    if not counted or getattr(result, "m", 1) > 1:
        return None
    rows = [row for row in groups if row["n"] >= SMALLEST_GUARD]
    found: list[Tree] = []
    for at, row in enumerate(sorted(rows, key=lambda one: one["labels"])):
        shares: dict[str, Tree] = {}
        for name in counted:
            share = row["figures"].get(name) or 0.0
            base = ledger.count(f"{prefix}.{at}.{name}", round(share * row["n"]), prefix, watched="nowhere").name
            ledger.ask(base)
            shares[name] = Told(Part(share, base, counted=True), (base,), otherwise=WITHHELD)
        found.append({"labels": row["labels"], "figures": shares})
    return tuple(found) or None


def _counts(figure: FileFigure) -> bool:
    """Whether it is a share of all records of a subgroup."""
    return figure.how == "mean" and not figure.among and not (figure.below is None and figure.above is None)


def group_figures(result: RecordResult) -> tuple[dict[str, Any], ...]:
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
    if "n" not in rows[0]:
        told = [_shares(tree["by"], rows, shown)] if _is_any_told(rows, shown) else []
        return [*told, Paragraph(f"{FEW} {ELSEWHERE.format(by=by)}", "note")]
    texts = tuple(
        (*row["labels"], f"{row['n']:,}", *(_text(row["figures"][name]) for name in shown))
        for row in rows[:MOST_GROUPS]
    )
    heads = (*tree["by"], "Records", *map(_words, shown))
    table = TableBlock(f"By {by}, the riskiest first", heads, texts, tuple(range(len(tree["by"]), len(heads))))
    left_out = len(rows) - MOST_GROUPS
    return [table, *([Paragraph(f"… {left_out:,} more", "note")] if left_out > 0 else [])]


def single_blocks(result: Any) -> list[Block]:
    """The exact subgroups and intervals of one result, for the analyst's own session."""
    if not isinstance(result, RecordResult):
        return []
    blocks: list[Block] = []
    if result.by:
        groups = {"by": tuple(map(str, result.by)), "groups": group_figures(result)}
        blocks += subgroup_blocks({SUBGROUPS: {result.measure: groups}}, result.measure)
    if result.intervals:
        rows = tuple((_words(name), *map(_text, ends)) for name, ends in result.intervals.items())
        blocks.append(TableBlock("95 % intervals", ("Figure", "From", "To"), rows, (1, 2)))
    return blocks


def _is_any_told(rows: Sequence[Plain], shown: Sequence[str]) -> bool:
    return any(_share(row["figures"][name]) != "–" for row in rows for name in shown)


def _words(figure: str) -> str:
    """The name of a figure as the head of a column.

    >>> _words("violation_rates[ill][distinct][2]")
    'violation rates, ill, distinct, 2'
    """
    return figure.replace("_", " ").replace("[", ", ").replace("]", "")


def _shares(by: Sequence[str], rows: Sequence[Plain], shown: Sequence[str]) -> TableBlock:
    texts = tuple((*row["labels"], *(_share(row["figures"][name]) for name in shown)) for row in rows[:MOST_GROUPS])
    heads = (*by, *map(_words, shown))
    return TableBlock(f"By {', '.join(by)}", heads, texts, tuple(range(len(by), len(heads))))


def _share(leaf: Plain) -> str:
    return "–" if leaf["value"] is None and "below" not in leaf else str(leaf["text"])


def _text(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"
