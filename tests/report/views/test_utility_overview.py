"""The overview, and what the measures behind it add."""

from __future__ import annotations

import pytest

from report.views.pairs import drawn, printed, result_of, shown


def test_the_headlines_and_the_variables():
    tree, result = printed("utility_overview"), result_of("utility_overview")
    rows = {row["name"]: row for row in tree["table"]}
    assert rows["auc"]["value"]["value"] == pytest.approx(result.auc, rel=0.06)
    assert set(tree["variables"]) == {"sex", "age", "region"}
    assert tree["models"] == []
    assert {row["label"] for row in drawn("utility_overview")} == {"sex", "age", "region"}


def test_all_of_it_is_laid_out():
    captions = [block.caption for block in shown("utility_overview") if hasattr(block, "caption")]
    assert captions[0] == "The release at a glance"
    assert "Two-way tables that changed most" in captions
