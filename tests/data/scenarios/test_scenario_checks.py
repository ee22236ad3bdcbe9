"""The checks a scenario passes, each in its own words (the rest stands in test_scenario)."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError

from sdckit.data.scenarios.scenario import Scenario
from sdckit.data.scenarios.scenario_checks import (
    check_missing_rules,
    explain,
    name_intruders,
    role_words,
    roles_of,
)
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


class Model(BaseModel):
    """A model with room for many problems."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    first: int = 0
    second: tuple[str, ...] = ()
    third: bytes = b""


def told(prefix="", **entries):
    with pytest.raises(ValidationError) as caught:
        Model(**entries)
    return explain(caught.value, list(Model.model_fields), prefix=prefix)


def test_places_and_prefix():
    assert told(second=["a", 1]) == "second[2] must be text in quotes"
    assert told(second="a", prefix="outer") == 'outer.second must be a list, such as ["sex", "age"]'
    assert told(frist=1) == "there is no entry 'frist'; did you mean 'first'?"


def test_a_kind_without_words_shows_no_input():
    assert told(first="Zyxw").startswith("first is not valid: ")
    assert "Zyxw" not in told(first="Zyxw")


def test_many_problems_are_counted():
    assert told(**{f"x{i}": 1 for i in range(11)}).endswith("; and 3 more")
