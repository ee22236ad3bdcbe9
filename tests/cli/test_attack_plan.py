"""Which attacks are made, and what is refused before a file is read."""

from __future__ import annotations

from typing import Any

import pytest

import sdckit as sdc
from sdckit.cli.attack_plan import KINDS, make_plan
from sdckit.errors import ScenarioError


def plan(**given: Any):
    return make_plan(**{"kinds": [], "known": [], "targets": [], "has_control": False, **given})


TWO = [["age", "sex"], ["income"]]


@pytest.mark.parametrize(
    ("given", "kinds"),
    [
        ({}, ("singling-out", "distances")),
        ({"has_control": True}, ("singling-out", "membership", "distances")),
        ({"known": TWO}, ("singling-out", "linkability", "distances")),
        ({"known": [["age"]], "targets": ["income"]}, ("singling-out", "inference", "distances")),
        ({"known": TWO, "targets": ["ill"], "has_control": True}, KINDS),
        ({"kinds": ["distances", "singling-out", "distances"]}, ("singling-out", "distances")),
    ],
)
def test_all_that_apply_or_those_named(given: dict[str, Any], kinds: tuple[str, ...]) -> None:
    assert plan(**given).kinds == kinds


def test_a_target_is_not_known() -> None:
    made = plan(known=TWO, targets=["income", "ill", "income"])
    assert made.targets == ("income", "ill")
    assert made.known_for("income") == ("age", "sex")
    assert made.known_for("ill") == ("age", "sex", "income")
    assert made.columns == ("age", "sex", "income", "ill")


def test_a_scenario_says_what_is_known_and_inferred() -> None:
    stored = sdc.Scenario(keys=["age", "sex"], sensitive=["ill"])
    made = plan(scenario=stored)
    assert (made.kinds, made.sides, made.targets) == (
        ("singling-out", "inference", "distances"), (("age", "sex"),), ("ill",),
    )  # fmt: skip
    assert plan(scenario=stored, known=[["region"]], targets=["age"]).columns == ("region", "age")
    several = sdc.Scenario(intruders={"a": ["age"], "b": ["sex"]}, sensitive=["ill"])
    assert plan(scenario=several).kinds == ("singling-out", "distances")
    assert plan(scenario=stored, kinds=["distances"]).kinds == ("distances",)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"kinds": ["links"]}, "--kind 'links' is unknown"),
        ({"known": [["a"], ["b"], ["c"]]}, "once, or twice"),
        ({"kinds": ["linkability"], "known": [["a"]]}, "give --known twice"),
        ({"known": [["a", "b"], ["b"]]}, "'b' stands in both --known"),
        ({"kinds": ["inference"], "known": [["a"]]}, "--target COLUMN"),
        ({"kinds": ["inference"], "targets": ["a"]}, "nothing is known"),
        ({"known": [["a"]], "targets": ["a"]}, "nothing is known"),
        ({"kinds": ["membership"]}, "--control FILE"),
        ({"known": [["a"]]}, "used by no attack"),
        ({"targets": ["a"]}, "used by no attack"),
        ({"kinds": ["distances"], "known": TWO}, "used by no attack"),
    ],
)
def test_what_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        plan(**given)
