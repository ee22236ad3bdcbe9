"""One result on two files as a document of its own: for `plot()` and notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sdckit.data.frames import rows_of
from sdckit.report.blocks import Block, ChartBlock, Paragraph, TableBlock
from sdckit.report.figures import Document, Ledger, Tree
from sdckit.report.layout_release import distribution_blocks, measure_table
from sdckit.report.layout_utility import HEAT
from sdckit.report.sections_release import FIGURES, release_measure_tree, release_sizes
from sdckit.report.sections_utility import FEW, common_labels, forest_tree, heat_tree, share_leaf, tells_few

__all__ = ["VIEWS", "pair_blocks", "pair_document"]

COMPARISONS = ("compare_models", "compare_estimates")
VARIATIONS = ("compare_distributions", "utility_overview")
VIEWS = (*FIGURES, *COMPARISONS, *VARIATIONS, "tabular_utility")
Plain = Mapping[str, Any]


def pair_document(result: Any) -> Document:
    """Build the document of one result on two files.

    Parameters
    ----------
    result
        Of a measure in `VIEWS`.
    """
    ledger = Ledger()
    n, sizes = result.pair.n, result.pair.sizes
    tree: dict[str, Tree] = {"n": ledger.count("n", n, "n"), "n_released": release_sizes(ledger, sizes)}
    tree[result.measure] = _tree(result, ledger, sizes)
    return Document(tree, ledger.variables, tuple(ledger.relations), min(n, *sizes))


def _tree(result: Any, ledger: Ledger, sizes: tuple[int, ...]) -> dict[str, Tree]:
    name = result.measure
    if name in FIGURES:
        target = getattr(result, "target", "")
        words = target if isinstance(target, str) else ", ".join(target)
        place = f"{name}:{words}" if words else name
        return {"place": place, **release_measure_tree(name, place, result, "c0", ledger, sizes)}
    if name in COMPARISONS:
        terms = [str(row["term"]) for row in rows_of(result.table)]
        words = " ".join([getattr(result, "formula", ""), *terms])
        common = common_labels(result.pair, [one for one in result.pair.original.columns if one in words])
        if tells_few(terms, result.pair, common):
            return {"forest": ()}
        return {"forest": forest_tree(result, name, ledger, common)}
    if name == "tabular_utility":
        return {"heat": heat_tree(result, ledger)}
    source = result if name == "compare_distributions" else result.results["compare_distributions"]
    variables = source.total_variation.items()
    return {"variables": {one: share_leaf(ledger, f"variation.{one}", share) for one, share in variables}}


def pair_blocks(name: str, plain: Plain) -> list[Block]:
    """Lay out one protected result: its chart first."""
    tree = plain[name]
    if name in FIGURES:
        table = measure_table(tree["place"], tree)
        return [*(distribution_blocks(tree["place"], tree) or [_drawn(table, tree)]), table]
    if name in COMPARISONS:
        if not tree["forest"]:
            return [Paragraph(f"Estimates {FEW}.", "note")]
        caption = "Estimates and intervals, file by file"
        rows = tuple(
            (row["label"], *(row[part]["text"] for part in ("estimate", "low", "high")))
            for row in tree["forest"]
        )
        table = TableBlock(caption, ("Term and file", "Estimate", "From", "To"), rows, (1, 2, 3))
        return [ChartBlock("forest", {"rows": tree["forest"]}, caption), table]
    if name == "tabular_utility":
        return [] if tree["heat"] is None else _heat(tree["heat"])
    drawn = [{"label": one, "n": leaf} for one, leaf in tree["variables"].items()]
    caption = "Share of the records in other values, by variable"
    table = TableBlock(
        caption, ("Variable", "Share"), tuple((r["label"], r["n"]["text"]) for r in drawn), (1,)
    )
    return [ChartBlock("bars", {"rows": drawn, "unit": "of the records"}, caption), table]


def _heat(tree: Plain) -> list[Block]:
    rows = tuple((f"{cell['one']} × {cell['other']}", cell["value"]["text"]) for cell in tree["cells"])
    return [ChartBlock("heat", tree, HEAT), TableBlock(HEAT, ("Variables", "Standardised pMSE"), rows, (1,))]


def _drawn(table: TableBlock, tree: Plain) -> ChartBlock:
    """The shares of the first release as bars."""
    measure = tree["place"].partition(":")[0]
    first = tree["releases"][0]
    rows = [
        {"label": one.words, "n": first[one.name]}
        for one in FIGURES[measure]
        if one.base and one.name in first
    ]
    return ChartBlock("bars", {"rows": rows, "unit": "of the records"}, table.caption)
