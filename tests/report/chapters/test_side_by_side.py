"""Figures side by side, and rules for missing values that make no difference shown once."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from report.real import plain as printed
from sdckit.report.chapters.side_by_side import EITHER, figures_of, once_where_equal
from sdckit.report.screen import screen_page


def tree(text: str, rule: str) -> dict[str, Any]:
    return {"rule": rule, "violations": {"3": {"text": text, "value": 20}}, "notes": {"k": rule}}


def test_equal_figures_under_both_rules_stand_once() -> None:
    one = {"k_anonymity": tree("20", "wildcard"), "k_anonymity_category": tree("20", "category"), "name": "a"}
    found = once_where_equal(one)
    assert set(found) == {"k_anonymity", "name"}
    assert found["k_anonymity"]["rule"] == EITHER
    assert all(f"missing as {rule}" in f"missing as {EITHER}" for rule in ("wildcard", "category"))


def test_what_is_told_by_variable_has_no_rule_of_its_own() -> None:
    by_variable = {name: tree("20", "") for name in ("ill", "rule")}
    one = {"l_diversity": by_variable, "l_diversity_wildcard": by_variable}
    assert once_where_equal(one) == {"l_diversity": by_variable}
    other = {**one, "l_diversity_wildcard": {**by_variable, "rule": tree("25", "")}}
    assert once_where_equal(other) == other


@pytest.mark.parametrize("variable", ["ill", "rule"])
def test_a_missing_key_that_changes_nothing(variable: str) -> None:
    values = {"a": [1] * 20 + [2] * 20 + [None] * 20, "b": ["x"] * 20 + ["y"] * 20 + ["z"] * 20}
    data = pl.DataFrame({**values, variable: ["no", "yes"] * 30})
    found = sdc.assess(data, scenario=sdc.Scenario(keys=["a", "b"], sensitive=[variable]))
    assert found["default"]["l_diversity"].cells.n_missing
    page = screen_page(found)
    assert f"No group of equal keys gives away {variable} by itself." in str(page.sections)


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
