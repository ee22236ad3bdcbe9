"""What several released files say together of a quantity, in a document."""

from __future__ import annotations

from typing import Any

from sdckit.data.frames import rows_of
from sdckit.report.estimates import USEFULNESS, UtilityView, forest_blocks, value_leaf
from sdckit.report.gate.figures import Tree
from sdckit.report.setting import PairSetting


def tree(result: Any, setting: PairSetting) -> dict[str, Tree]:
    """Give the estimates with their intervals, to two digits."""
    rows = [
        {
            "label": str(row["quantity"]),
            "file": "released",
            **{
                part: value_leaf(setting.ledger, f"{setting.prefix}.{number}.{part}", row[part])
                for part in ("estimate", "low", "high")
            },
        }
        for number, row in enumerate(rows_of(result.table))
    ]
    return {"forest": tuple(rows)}


VIEW = UtilityView(
    USEFULNESS,
    tree,
    lambda plain, place: forest_blocks(
        plain[place]["forest"], "Estimates and intervals of the files together"
    ),
)
