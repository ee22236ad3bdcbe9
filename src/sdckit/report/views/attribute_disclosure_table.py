"""View of attribute disclosure for many target variables."""

from dataclasses import replace
from typing import Any

from sdckit.report.blocks import Block, TableBlock
from sdckit.report.common_blocks import bars
from sdckit.report.gate.figures import Tree
from sdckit.report.setting import PairSetting
from sdckit.report.shares import LEARNING, by_release, pair_notes_blocks, pair_notes_tree, release_heads, shares_tree
from sdckit.report.view import Plain, View, noted
from sdckit.report.views.attribute_disclosure import SHARES

CAPTION = "Value disclosed by the release, and correctly, by variable"


def tree(result: Any, setting: PairSetting) -> dict[str, Tree]:
    """Enter the shares of every target variable."""
    targets: dict[str, Tree] = {
        name: {"releases": shares_tree(SHARES, target, replace(setting, place=f"{setting.place}:{name}"))["releases"]}
        for name, target in result.results.items()
    }
    return {"targets": targets, **pair_notes_tree(result)}


def blocks(plain: Plain, place: str) -> list[Block]:
    """Table and chart of the share correctly disclosed, by target variable."""
    by_target = {
        name: [release["correctly_disclosed"] for release in target["releases"]]
        for name, target in plain[place]["targets"].items()
    }
    rows = tuple((name, *by_release(leaves)) for name, leaves in by_target.items())
    heads = ("Variable", *release_heads(max(map(len, by_target.values()), default=1)))
    return [
        TableBlock(CAPTION, heads, rows, tuple(range(1, len(heads)))),
        bars(CAPTION, "of the records", ((name, leaves[0]) for name, leaves in by_target.items()), aside=True),
        *pair_notes_blocks(plain[place]),
    ]


VIEW = View(LEARNING, tree, blocks, noted("attribute_disclosure"))
