"""A form of a step, and the arguments it is read back into."""

from __future__ import annotations

import math
from typing import Any

import pytest

from sdckit.app.step_form import WHAT, arguments_of, as_text, form, summary
from sdckit.app.words import speaker
from sdckit.errors import ScenarioError
from sdckit.workflow.recipes.recipe_steps import METHODS

say = speaker("en")
ENTRIES = [
    {"name": "columns", "kind": "columns", "choices": [], "default": None, "needed": True, "about": "Which."},
    {"name": "k", "kind": "whole", "choices": [], "default": 3, "needed": False, "about": "How many."},
    {
        "name": "noise",
        "kind": "number",
        "choices": [],
        "default": 10.0,
        "needed": False,
        "about": "How much.",
    },
    {
        "name": "how",
        "kind": "choice",
        "choices": ["up", "down"],
        "default": "up",
        "needed": False,
        "about": "",
    },
    {"name": "keep", "kind": "flag", "choices": [], "default": False, "needed": False, "about": ""},
    {"name": "limits", "kind": "value", "choices": [], "default": None, "needed": False, "about": ""},
]
ASKED = {"method": "add_noise", "about": "Adds.", "entries": ENTRIES}


def read(**given: Any) -> Any:
    return lambda name: given.get(name.removeprefix("arg_"))


def test_every_method_has_a_name_for_people() -> None:
    assert set(WHAT) == set(METHODS)


def test_fields_are_read_as_what_they_are() -> None:
    found = arguments_of(
        say, ASKED,
        read(columns=("a", "b"), k="4", noise=" 2.5 ", how="down", keep="false", limits="[-inf, 1, inf]"),
    )  # fmt: skip
    assert found == {
        "columns": ["a", "b"], "k": 4, "noise": 2.5, "how": "down", "keep": False, "limits": [None, 1, None],
    }  # fmt: skip
    assert arguments_of(say, ASKED, read(columns=["a"], k="", how="")) == {"columns": ["a"]}
    assert (
        arguments_of(say, ASKED, read(columns=["a"], limits="individual_risk"))["limits"] == "individual_risk"
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "columns is needed"),
        ({"columns": ["a"], "k": "2.5"}, "k takes a whole number"),
        ({"columns": ["a"], "noise": "much"}, "noise takes a number"),
        ({"columns": ["a"], "limits": "[1, "}, "limits: write a number"),
    ],
)
def test_what_is_wrong_is_told_with_the_field(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        arguments_of(say, ASKED, read(**given))


def test_what_few_need_is_folded_away() -> None:
    html = str(form(say, ASKED, {"noise": 5.0}, columns=["a", "b"], intruders=[]))
    before, _, folded = html.partition("<details")
    assert 'value="5.0"' in before
    assert "limits" in folded
    assert "limits" not in before


def test_a_step_in_a_line_tells_no_group() -> None:
    assert summary({"column": "job", "groups": {"hands": ["cook"]}}) == "job: groups = 1 …"
    assert summary({}) == ""
    assert len(summary({"column": "age", "bands": list(range(100))})) < 120


def test_values_are_written_as_recipes_are() -> None:
    assert as_text({"a b": ["x"], "n": 1}) == '{"a b" = ["x"], n = 1}'
    assert as_text([1.5, True, "x"]) == '[1.5, true, "x"]'
    assert as_text(math.pi).startswith("3.14")
