"""View of risky combinations: unsafe cells by dimension, and the tables with most of them."""

from __future__ import annotations

from collections.abc import Mapping
from math import comb
from typing import TYPE_CHECKING

from sdckit.report.blocks import Block, Facts, Paragraph, TableBlock
from sdckit.report.chapters.sentences import listed
from sdckit.report.common_blocks import bars, figure, notes_blocks, of_whole, texts
from sdckit.report.gate.figures import Count, InternalOnly, Ledger, Share, Tree
from sdckit.report.gate.relations import link_by_key, link_records
from sdckit.report.setting import Setting, notes_tree
from sdckit.report.view import Plain, View, noted

if TYPE_CHECKING:
    from sdckit.identity.special_uniques.risky_cells import RiskyCells, RiskyCombination

# Tables of combinations that are listed.
MOST_COMBINATIONS = 15
# Up to this size every size of cell has its own part.
SINGLE_SIZES = 4


def tree(result: RiskyCells, setting: Setting) -> Mapping[str, Tree]:
    """Enter the unsafe cells by dimension, and the combinations of variables that have most of them."""
    ledger, prefix = setting.ledger, setting.prefix
    affected = setting.count("unsafe.records", result.records_affected, "unsafe")
    ledger.nested("n", affected.name)
    totals = {
        dimension: setting.count(f"unsafe.{dimension}", number, "unsafe")
        for dimension, number in sorted(result.unsafe_cells.items())
    }
    shown = _most_unsafe(result)
    rows = [(row, *_combination(row, setting)) for row in shown]
    whole = len(shown) == len(result.table)
    for dimension, total in totals.items():
        parts = [cells.name for row, cells, _ in rows if row.dimension == dimension]
        rest = len(parts) < sum(row.dimension == dimension for row in result.table)
        others = [ledger.latent(f"{prefix}.unsafe.others of {dimension}")] if rest else []
        ledger.equal(total.name, *parts, *others)
    for _, _, records in rows:
        ledger.nested(affected.name, records.name)
    if whole:
        ledger.bounded(affected.name, {records.name: (0.0, 1.0) for _, _, records in rows}, lower=False)
    _link_nested(ledger, rows)
    _link_known(result, setting, rows)
    _link_affected(result, setting, affected.name, {d: total.name for d, total in totals.items()})
    return {
        "n_combinations": result.n_combinations,
        "thresholds": {str(d): next(r.threshold for r in result.table if r.dimension == d) for d in totals},
        "unsafe_cells": {str(d): total for d, total in totals.items()},
        "records_affected": affected,
        "rate_affected": Share(affected.name, "n"),
        "table": tuple(
            {
                "variables": tuple(row.variables),
                "n_cells": InternalOnly(row.n_cells),
                "n_unsafe": cells,
                "records": records,
            }
            for row, cells, records in sorted(rows, key=lambda entry: (entry[0].dimension, entry[0].variables))
        ),
        "notes": notes_tree(result),
    }


def _most_unsafe(result: RiskyCells) -> list[RiskyCombination]:
    """The tables with most unsafe cells by rounded counts: an order by exact ones would tell which is larger."""
    ordered = sorted(result.table, key=lambda row: (-((row.n_unsafe + 2) // 5), row.dimension, tuple(row.variables)))
    return ordered[:MOST_COMBINATIONS]


def _combination(row: RiskyCombination, setting: Setting) -> tuple[Count, Count]:
    """Enter the unsafe cells of a table and their records, once for all intruders; returns both counts."""
    label = f"{', '.join(sorted(row.variables))} up to {row.threshold}"
    ledger = setting.ledger
    records = ledger.count(f"risky.records.{label}", row.records, "risky")
    ledger.nested("n", records.name)
    if row.threshold == 1:
        return records, records
    cells = ledger.count(f"risky.cells.{label}", row.n_unsafe, "risky")
    ledger.bounded(records.name, {cells.name: (1.0, float(row.threshold))})
    return cells, records


def _link_nested(ledger: Ledger, rows: list[tuple[RiskyCombination, Count, Count]]) -> None:
    """Relations between tables: a record unsafe in a table is unsafe in every table with one more variable."""
    for small, _, inner in rows:
        for large, _, outer in rows:
            one_more = len(large.variables) == len(small.variables) + 1
            inside = one_more and set(small.variables) < set(large.variables)
            if inside and large.threshold >= small.threshold:
                ledger.nested(outer.name, inner.name)


def _link_known(result: RiskyCells, setting: Setting, rows: list[tuple[RiskyCombination, Count, Count]]) -> None:
    """Relations to figures printed elsewhere: of the table of all keys, and of those with some keys removed."""
    keys = [row.variables[0] for row in result.table if row.dimension == 1]
    if setting.persons or not keys:
        return
    ledger, start = setting.ledger, f"{setting.prefix}.contributions.without."
    for row, _, records in rows:
        if row.dimension == 1:
            link_by_key(ledger, row.variables[0], records.name, row.threshold)
        if len(row.variables) == len(keys) and row.threshold <= SINGLE_SIZES:
            link_records(ledger, setting.sizes, records.name, 1, row.threshold)
        without = start + ", ".join(key for key in keys if key not in row.variables)
        if row.threshold != 1 or without not in ledger.variables:
            continue
        if setting.cells_known:
            ledger.equal(records.name, without)
        else:
            ledger.nested(records.name, without)


def _link_affected(result: RiskyCells, setting: Setting, affected: str, totals: dict[int, str]) -> None:
    """Relations: unsafe on some keys is rare on all of them; cells of one record include the minimal uniques."""
    ledger, prefix = setting.ledger, setting.prefix
    largest = max((row.threshold for row in result.table), default=0)
    if largest <= SINGLE_SIZES and not setting.persons:
        rare = ledger.latent(f"{prefix}.records in cells up to {largest}")
        link_records(ledger, setting.sizes, rare, 1, largest)
        ledger.nested(rare, affected)
    if largest != 1:
        return
    n_keys = len({name for row in result.table for name in row.variables})
    for dimension, total in totals.items():
        minimal = f"{prefix}.msu.{dimension}"
        if minimal not in ledger.variables:
            continue
        ledger.nested(total, minimal)
        if setting.cells_known:
            parts = {f"{prefix}.msu.{k}": comb(n_keys - k, dimension - k) for k in range(1, dimension + 1)}
            ledger.bounded(total, {name: (0.0, float(most)) for name, most in parts.items()}, lower=False)


def blocks(plain: Plain, place: str) -> list[Block]:
    """Table of unsafe cells by number of variables, and table and chart of the combinations with most."""
    tree = plain[place]
    limits = {f"{limit:,}" for limit in tree["thresholds"].values()}
    words = f"A combination is unsafe when it has at most {listed(sorted(limits), 'or')} record"
    words += "." if limits == {"1"} else "s, by the number of its variables."
    affected = of_whole(tree["records_affected"], tree["rate_affected"])
    dimensions = tuple((size, count["text"]) for size, count in tree["unsafe_cells"].items())
    ordered = sorted(tree["table"], key=_unsafe_first)
    inside = any("n_cells" in row for row in ordered)
    rows = tuple(
        (
            listed(row["variables"]),
            *([f"{row['n_cells']:,}"] if inside else []),
            *texts(row["n_unsafe"], row["records"]),
        )
        for row in ordered
    )
    caption = "Combinations of variables with most unsafe cells"
    if len(tree["table"]) < tree["n_combinations"]:
        caption += f" ({len(tree['table'])} of {tree['n_combinations']:,})"
    heads = ("Variables", *(("Cells",) if inside else ()), "Unsafe cells", "Records in them")
    return [
        Paragraph(words),
        Facts((("Records in an unsafe combination", affected),)),
        TableBlock("Unsafe cells by number of variables", ("Variables", "Unsafe cells"), dimensions, (1,)),
        *figure(
            bars(caption, "unsafe cells", ((", ".join(row["variables"]), row["n_unsafe"]) for row in ordered)),
            TableBlock(caption, heads, rows, tuple(range(1, len(heads)))),
        ),
        *notes_blocks(tree),
    ]


def _unsafe_first(row: Plain) -> tuple[float, int, str]:
    return (-float(row["n_unsafe"]["value"] or 0), len(row["variables"]), listed(row["variables"]))


VIEW = View("Risky combinations of a few variables", tree, blocks, noted("risky_cells"))
