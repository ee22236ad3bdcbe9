"""The checks a scenario passes, each in its own words (the rest stands in test_scenario)."""

from __future__ import annotations

import pytest

from sdckit.data.scenarios.scenario import Scenario
from sdckit.data.scenarios.scenario_checks import check_missing_rules, name_intruders, role_words, roles_of
from sdckit.errors import ScenarioError


def test_intruders_are_named_in_one_way():
    assert name_intruders(["a"], None) == {"default": ("a",)}
    assert name_intruders(None, {"x": ["a"], "y": {"keys": ["b"]}}) == {"x": ("a",), "y": ("b",)}


def test_roles_are_listed_in_reading_order():
    scenario = Scenario(
        keys=["a"], weight="w", household="h", person="p", sensitive=["s"], numeric=["n"], identifiers=["i"]
    )
    assert [column for _, column in roles_of(scenario)] == ["a", "w", "h", "p", "s", "n", "i"]
    assert [role_words(role) for role, _ in roles_of(scenario)] == [
        "a key", "the weight", "the household", "the person", "sensitive", "numeric", "an identifier",
    ]  # fmt: skip


@pytest.mark.parametrize("rule", ["wildcard", "category", "error", {"a": "error"}, {}])
def test_missing_rules(rule):
    check_missing_rules(rule)


@pytest.mark.parametrize("rule", [None, 3, "Wildcard", {"a": None}, {"a": {}}])
def test_other_missing_rules_are_refused(rule):
    with pytest.raises(ScenarioError, match="missing"):
        check_missing_rules(rule)
