"""A regression on a release beside the same on its original, in a document."""

from __future__ import annotations

from typing import Any

from sdckit.data.frames import rows_of
from sdckit.report.estimates import (
    FEW,
    MOST_TERMS,
    USEFULNESS,
    UtilityView,
    compared_terms,
    forest_blocks,
    forest_tree,
    term_words,
    value_leaf,
)
from sdckit.report.gate.figures import Tree
from sdckit.report.setting import PairSetting

SHOWN = ("estimate_original", "estimate_released", "overlap")


def tree(result: Any, setting: PairSetting) -> dict[str, Tree]:
    """Give the coefficients on both files, and how far their intervals overlap."""
    ledger, start = setting.ledger, f"{setting.prefix}.{setting.place}"
    common, few = compared_terms(result)
    rows = [] if few else rows_of(result.table)[:MOST_TERMS]
    terms = [
        {
            "term": term_words(str(row["term"]), common),
            **{part: value_leaf(ledger, f"{start}.{number}.{part}", row.get(part)) for part in SHOWN},
        }
        for number, row in enumerate(rows)
    ]
    return {
        "formula": result.formula,
        "family": result.family,
        "mean_overlap": value_leaf(ledger, f"{start}.mean_overlap", result.mean_overlap),
        "terms": tuple(terms),
        "withheld": FEW if few else "",
        "forest": () if few else forest_tree(result, setting, common),
    }


VIEW = UtilityView(
    USEFULNESS, tree, lambda plain, place: forest_blocks(plain[place]["forest"]), part="models"
)
