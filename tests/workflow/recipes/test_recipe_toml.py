"""Recipes as TOML: what goes in comes out."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from sdckit.errors import ScenarioError
from sdckit.workflow.recipes.recipe_toml import plain_arguments, read_entries, write_recipe

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=6)
VALUES = st.recursive(
    st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.from_regex(r"[a-z]{1,4}", fullmatch=True), VALUES, max_size=3), NAMES)
@settings(max_examples=60, deadline=None)
def test_any_recipe_survives_its_file(arguments: dict[str, Any], title: str) -> None:
    arguments.pop("method", None)
    found = tomllib.loads(write_recipe(title, None, [("pram", arguments)]))
    assert found.get("title", "") == title
    assert found["steps"] == [{"method": "pram", **arguments}]


def test_open_ends_and_arguments_not_given() -> None:
    found = plain_arguments({"bands": [None, 5, None], "level": None, "labels": ("a",)}, "step 1")
    assert found == {"bands": [float("-inf"), 5, float("inf")], "labels": ["a"]}
    assert plain_arguments({"bands": {"old": (65, None)}}, "s") == {"bands": {"old": [65, float("inf")]}}
    assert plain_arguments({"combinations": {2: 3}}, "s") == {"combinations": {"2": 3}}


@pytest.mark.parametrize("value", [{1: ["a"]}, [None], b"key", object(), {"a": {2: 1}}])
def test_what_a_file_cannot_hold(value: object) -> None:
    with pytest.raises(ScenarioError, match="step 1: groups"):
        plain_arguments({"groups": value}, "step 1")


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ({"step": []}, "did you mean 'steps'"),
        ({"title": 3}, "title is text"),
        ({"steps": {"method": "pram"}}, r"\[\[steps\]\]"),
        ({"steps": ["pram"]}, r"\[\[steps\]\]"),
    ],
)
def test_a_bad_file(entries: dict[str, Any], said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        read_entries(entries)
