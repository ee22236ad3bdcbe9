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
        ({"known": TWO, "targets": ["ill"], "has_control": True, "id": "pid"}, KINDS),
        (
            {"known": [["age", "sex"]], "aligned": True},
            ("singling-out", "probabilistic-linkage", "distances"),
        ),
        ({"kinds": ["distances"], "by": ["sex"]}, ("distances",)),
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


def test_rows_that_a_scenario_says_correspond_are_linked_where_splink_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stored = sdc.Scenario(keys=["age", "sex"], aligned=True)
    assert "probabilistic-linkage" in plan(scenario=stored).kinds
    several = sdc.Scenario(intruders={"a": ["age", "sex"], "b": ["sex"]}, aligned=True)
    assert "probabilistic-linkage" not in plan(scenario=several).kinds
    monkeypatch.setattr("sdckit.cli.attack_plan.find_spec", lambda name: None)
    assert "probabilistic-linkage" not in plan(scenario=stored).kinds
    for asked in ({"aligned": True}, {"kinds": ["probabilistic-linkage"]}):
        with pytest.raises(ScenarioError, match=r"pip install 'sdckit\[linkage\]'"):
            plan(scenario=stored, **asked)


def test_everything_known_is_compared_and_subgroups_are_read() -> None:
    made = plan(known=TWO, by=["region", "age", "region"], id="pid", blocking=[["age"], ["sex", "income"]])
    assert made.known == ("age", "sex", "income")
    assert made.by == ("region", "age")
    assert made.columns == ("age", "sex", "income", "region")
    assert (made.id, made.blocking) == ("pid", (("age",), ("sex", "income")))


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
        ({"kinds": ["probabilistic-linkage"], "known": TWO}, "--id COLUMN, or --aligned"),
        ({"aligned": True}, "two known columns or more"),
        ({"id": "age", "known": TWO}, "leave it out of --known"),
        ({"kinds": ["distances"], "id": "pid"}, "are for --kind probabilistic-linkage"),
        ({"blocking": [["age"]]}, "are for --kind probabilistic-linkage"),
        (
            {"kinds": ["probabilistic-linkage"], "aligned": True, "known": TWO, "by": ["sex"]},
            "leave --by out",
        ),
    ],
)
def test_what_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        plan(**given)
