"""View of how far the distribution of each variable of a release differs from the original's."""

from typing import Any

from sdckit.report.blocks import Block
from sdckit.report.chapters.utility_chapter import variable_blocks
from sdckit.report.common_blocks import share_leaf
from sdckit.report.estimates import USEFULNESS, UtilityView
from sdckit.report.gate.figures import Tree
from sdckit.report.setting import PairSetting
from sdckit.report.view import Plain


def tree(result: Any, setting: PairSetting) -> dict[str, Tree]:
    """Enter the total variation distance of each variable: the share of records in other values."""
    start = f"{setting.prefix}.variation"
    shares = result.total_variation.items()
    return {"variables": {name: share_leaf(setting.ledger, f"{start}.{name}", share) for name, share in shares}}


def blocks(plain: Plain, place: str) -> list[Block]:
    """Table and chart of the shares."""
    return variable_blocks(plain[place]["variables"])


VIEW = UtilityView(USEFULNESS, tree, blocks, part="")
