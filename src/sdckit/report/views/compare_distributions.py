"""Which variables of a release have other values than the original's, in a document."""

from __future__ import annotations

from typing import Any

from sdckit.report.blocks import Block
from sdckit.report.chapters.utility_chapter import variable_blocks
from sdckit.report.estimates import USEFULNESS, UtilityView, share_leaf
from sdckit.report.gate.figures import Tree
from sdckit.report.setting import PairSetting
from sdckit.report.view import Plain


def tree(result: Any, setting: PairSetting) -> dict[str, Tree]:
    """Give the share of the records in other values, by variable."""
    start = f"{setting.prefix}.variation"
    shares = result.total_variation.items()
    return {"variables": {name: share_leaf(setting.ledger, f"{start}.{name}", share) for name, share in shares}}


def blocks(plain: Plain, place: str) -> list[Block]:
    """List and draw the shares."""
    return variable_blocks(plain[place]["variables"])


VIEW = UtilityView(USEFULNESS, tree, blocks, part="")
