"""Figures side by side, and rules for missing values that make no difference shown once."""

from __future__ import annotations

from typing import Any

from report.real import plain as printed
from sdckit.report.chapters.side_by_side import EITHER, figures_of, once_where_equal


def tree(text: str, rule: str) -> dict[str, Any]:
    return {"rule": rule, "violations": {"3": {"text": text, "value": 20}}, "notes": {"k": rule}}


def test_equal_figures_under_both_rules_stand_once() -> None:
    one = {"k_anonymity": tree("20", "wildcard"), "k_anonymity_category": tree("20", "category"), "name": "a"}
    found = once_where_equal(one)
    assert set(found) == {"k_anonymity", "name"}
    assert found["k_anonymity"]["rule"] == EITHER
    assert all(f"missing as {rule}" in f"missing as {EITHER}" for rule in ("wildcard", "category"))


def test_different_ones_stand_twice() -> None:
    one = {"k_anonymity": tree("20", "wildcard"), "k_anonymity_category": tree("25", "category")}
    assert once_where_equal(one) == one


def test_files_stand_side_by_side_under_the_same_words() -> None:
    plain = printed("recipe")
    before, after = figures_of(
        [plain[part]["intruders"][0] for part in ("original",)] + [plain["released"][0]["intruders"][0]]
    )
    assert list(before) == list(after)
    assert "Records in groups of fewer than 3" in before
