"""Figures by subgroup: exact in a confidential document, elsewhere only shares of large subgroups.

A rate beside the number of records is a count, and the counts of all subgroups sum to those of the file. So a
protected document prints a share of a subgroup's records (in groups of fewer than k, say) only where fifty of its
records are counted, in steps of ten records or more; nothing else, and not that there is none.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sdckit.cells.record_result import RecordResult
from sdckit.data.frames import rows_of
from sdckit.report import common_blocks, view
from sdckit.report.blocks import Block, Paragraph, TableBlock
from sdckit.report.gate.figures import InternalOnly, Ledger, Part, Told, Tree
from sdckit.report.gate.protect import SMALLEST_GUARD
from sdckit.result import FileFigure

SUBGROUPS = "subgroups"
MOST_GROUPS = 20
MOST_FIGURES = 5
ELSEWHERE = "Figures by {by} stand in a confidential document only (internal): there they are exact."
WITHHELD: Mapping[str, Tree] = {"text": "withheld", "value": None}
FEW = "Of subgroups with fewer than fifty such records, or none, nothing is shown."


def subgroups_tree(results: Mapping[str, Any], ledger: Ledger, prefix: str) -> dict[str, Tree]:
    """Figures by subgroup of each result that has some, by its place; empty without any."""
    grouped = {place: result for place, result in results.items() if isinstance(result, RecordResult) and result.by}
    if not grouped:
        return {}
    trees: dict[str, Tree] = {}
    for place, result in grouped.items():
        rows = group_figures(result)  # once: an engine may have to group a plan for it
        shares = group_shares(result, rows, ledger, f"{prefix}.by.{place}")
        trees[place] = {"by": tuple(map(str, result.by)), "groups": InternalOnly(rows, shares)}
    return {SUBGROUPS: trees}


def group_shares(result: RecordResult, groups: Sequence[Mapping[str, Any]], ledger: Ledger, prefix: str) -> Tree:
    """Shares of the large subgroups, in the order of their labels; None without any.

    The counts behind them are entered last, as requests of this document, and not printed.
    """
    counted = [file_figure.name for file_figure in result.file_figures() if _counts(file_figure)]
    if not counted or getattr(result, "m", 1) > 1:
        return None
    rows = [row for row in groups if row["n"] >= SMALLEST_GUARD]
    shown: list[Tree] = []
    for at, row in enumerate(sorted(rows, key=lambda group: group["labels"])):
        shares: dict[str, Tree] = {}
        for name in counted:
            share = row["figures"].get(name) or 0.0
            base = ledger.count(f"{prefix}.{at}.{name}", round(share * row["n"]), prefix, watched="nowhere").name
            ledger.ask(base)
            shares[name] = Told(Part(share, base, counted=True), (base,), otherwise=WITHHELD)
        shown.append({"labels": row["labels"], "figures": shares})
    return tuple(shown) or None


def _counts(figure: FileFigure) -> bool:
    """Whether a figure is a share of all records of a subgroup."""
    return figure.how == "mean" and not figure.among and not (figure.below is None and figure.above is None)


def group_figures(result: RecordResult) -> tuple[dict[str, Any], ...]:
    """Subgroups of a result, the riskiest first: labels, records, figures (None if undefined)."""
    names = [*map(str, result.by)]
    return tuple(
        {
            "labels": tuple(_label(row[name]) for name in names),
            "n": int(row["n"]),
            "figures": {name: _plain(value) for name, value in row.items() if name not in ("n", *names)},
        }
        for row in rows_of(result.by_group)
    )


def _label(value: object) -> str:
    return "(missing)" if value is None or (isinstance(value, float) and math.isnan(value)) else str(value)


def _plain(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None


def rates_tree(results: Mapping[str, Any]) -> dict[str, Tree]:
    """What the rates of results are shares of, and their direction; the number of records is confidential."""
    return {
        place: {
            name: {"of": rate["of"], "n": InternalOnly(rate["n"]), "direction": rate["direction"]}
            for name, rate in result.rates().items()
        }
        for place, result in results.items()
        if isinstance(result, RecordResult)
    }


def subgroup_blocks(plain: view.Plain, place: str) -> list[Block]:
    """Table of the subgroups of one place, at most twenty; otherwise a note where to find it."""
    tree = plain.get(SUBGROUPS, {}).get(place)
    if not tree:
        return []
    by = ", ".join(tree["by"])
    rows = tree.get("groups")
    if rows is None:
        return [Paragraph(ELSEWHERE.format(by=by), "note")]
    shown = list(rows[0]["figures"])[:MOST_FIGURES]
    if "n" not in rows[0]:
        any_share = any(_share(row["figures"][name]) != "–" for row in rows for name in shown)
        tables = [_shares(tree["by"], rows, shown)] if any_share else []
        return [*tables, Paragraph(f"{FEW} {ELSEWHERE.format(by=by)}", "note")]
    texts = [
        (*row["labels"], f"{row['n']:,}", *(common_blocks.four_digits(row["figures"][name]) for name in shown))
        for row in rows[:MOST_GROUPS]
    ]
    heads = ("Records", *map(_words, shown))
    return common_blocks.groups_blocks(f"By {by}, the riskiest first", tree["by"], heads, texts, len(rows))


def single_blocks(result: Any) -> list[Block]:
    """The exact subgroups and intervals of one result, for the analyst's own session."""
    if not isinstance(result, RecordResult):
        return []
    blocks: list[Block] = []
    if result.by:
        groups = {"by": tuple(map(str, result.by)), "groups": group_figures(result)}
        blocks += subgroup_blocks({SUBGROUPS: {result.measure: groups}}, result.measure)
    if result.intervals:
        rows = tuple((_words(name), *map(common_blocks.four_digits, ends)) for name, ends in result.intervals.items())
        blocks.append(TableBlock("95 % intervals", ("Figure", "From", "To"), rows, (1, 2)))
    return blocks


def _words(figure: str) -> str:
    """Column header of a figure.

    >>> _words("violation_rates[ill][distinct][2]")
    'violation rates, ill, distinct, 2'
    """
    return figure.replace("_", " ").replace("[", ", ").replace("]", "")


def _shares(by: Sequence[str], rows: Sequence[view.Plain], shown: Sequence[str]) -> TableBlock:
    texts = tuple((*row["labels"], *(_share(row["figures"][name]) for name in shown)) for row in rows[:MOST_GROUPS])
    heads = (*by, *map(_words, shown))
    return TableBlock(f"By {', '.join(by)}", heads, texts, tuple(range(len(by), len(heads))))


def _share(leaf: view.Plain) -> str:
    return "–" if leaf["value"] is None and "below" not in leaf else str(leaf["text"])
