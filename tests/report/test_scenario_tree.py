from __future__ import annotations

from report.fakes import FULL
from sdckit.report.scenario_tree import scenario_tree


def test_the_tree_holds_only_what_was_declared() -> None:
    tree = scenario_tree(FULL)
    assert tree["release_words"] == "scientific-use file"
    assert tree["thresholds"] == FULL.thresholds.declared
