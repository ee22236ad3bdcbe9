"""Estimates from a release beside those from its original, in a document."""

from __future__ import annotations

from typing import Any

from sdckit.report.estimates import USEFULNESS, UtilityView, compared_terms, forest_blocks, forest_tree
from sdckit.report.gate.figures import Tree
from sdckit.report.setting import PairSetting


def tree(result: Any, setting: PairSetting) -> dict[str, Tree]:
    """Give the estimates with their intervals, file by file."""
    common, few = compared_terms(result)
    return {"forest": () if few else forest_tree(result, setting, common)}


VIEW = UtilityView(USEFULNESS, tree, lambda plain, place: forest_blocks(plain[place]["forest"]))
