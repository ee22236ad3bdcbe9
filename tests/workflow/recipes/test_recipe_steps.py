"""The table of steps: every protection function, its arguments read from its signature."""

from __future__ import annotations

import tomllib
from string import ascii_lowercase
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import sdckit as sdc
from draw import CHARACTERS
from sdckit.data.methods import METHODS
from sdckit.errors import ScenarioError
from sdckit.workflow.recipes.recipe_steps import (
    check_arguments,
    columns_named,
    method_of,
    plain_arguments,
    read_entries,
    write_recipe,
)
from tree import SRC

HELPERS = {"regroup"}


def test_every_public_protection_function_can_be_a_step() -> None:
    public = {
        path.stem for path in (SRC / "protect").rglob("*.py") if path.stem in sdc.__all__ and path.stem not in HELPERS
    }
    assert public <= set(METHODS)


@pytest.mark.parametrize("name", METHODS)
def test_what_names_columns_is_an_argument(name: str) -> None:
    method = method_of(name, "step 1")
    assert set(method.kind.numbers) <= set(method.columns) <= set(method.parameters)
    row = method.kind
    named = {*row.naming, *row.keeps, *row.files, *row.editors, *row.by_record, *row.random_with}
    assert named - {"household"} <= set(method.parameters)
    assert set(row.draws_with) <= set(method.parameters)
    assert not row.recodes or "column" in method.parameters
    assert not {"seed", "key", "scenario"} & set(method.offered)
    assert method.columns or row.first  # its columns are those of a declared domain


def check(name: str, **arguments: Any) -> None:
    check_arguments(method_of(name, "step 1"), arguments, "step 1")


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("pram", {"colums": ["a"]}, "did you mean 'columns'"),
        ("pram", {"columns": "a"}, "columns takes a list of texts, not text"),
        ("pram", {"columns": [1]}, "not a list of other things"),
        ("pram", {}, "needs 'columns'"),
        ("recode", {"column": "a", "bands": ["-inf", 2]}, "bands takes .* not numbers in quotes: write them, -inf and"),
        ("recode", {"column": "a", "bands": {"low": ["-inf", 2]}}, "not numbers in quotes"),
        ("recode", {"column": "a", "bands": ["low", 2]}, "not a list of other things"),
        ("round_to", {"column": "a", "base": "5"}, "base takes a number, not numbers in quotes"),
        ("pram", {"columns": ["a"], "seed": 1}, "seed does not belong in a recipe"),
        ("new_ids", {"column": "a", "key": "00"}, "key does not belong in a recipe"),
        ("local_suppression", {"scenario": "s.toml"}, "scenario does not belong"),
        ("microaggregate", {"columns": ["a"], "k": 2.5}, "k takes a whole number, not a number"),
        ("microaggregate", {"columns": ["a"], "k": True}, "not true or false"),
        ("recode", {"column": "a", "outside": "drop"}, '"error" or "keep" or "missing", not another text'),
        ("add_noise", {"columns": ["a"], "keep_zeros": 1}, "keep_zeros takes true or false"),
        ("top_bottom_code", {"column": "a", "top": ["x"]}, "top takes"),
        ("drop_identifiers", {"columns": {"a": 1}}, "not a table"),
        ("local_suppression", {"intruder": 3}, "intruder takes text"),
    ],
)
def test_a_bad_argument(name: str, arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        check(name, **arguments)


def test_good_arguments() -> None:
    check("recode", column="a", bands=[0, 1.5, 3], how="log")
    check("recode", column="a", groups={"x": ["u", "v"]})
    check("drop_identifiers", columns="a")
    check("local_suppression", keys=["a"], k=3, combinations={"2": 3}, importance={"a": 1})


def test_an_unknown_method() -> None:
    with pytest.raises(ScenarioError, match="there is no method 'micro_aggregate'; did you mean 'microaggregate'"):
        method_of("micro_aggregate", "step 3")
    with pytest.raises(ScenarioError, match="step 3 names no method"):
        method_of(None, "step 3")


def test_columns_in_lists_tables_and_lists_of_lists() -> None:
    swap, synthesis = method_of("swap_records", "s"), method_of("synthesize", "s")
    assert columns_named(swap, {"similar": [["a", "b"], ["c"]]}, "similar") == ("a", "b", "c")
    assert columns_named(synthesis, {"models": {"a": "cart"}}, "models") == ("a",)
    above = method_of("suppress_above", "s")
    assert columns_named(above, {"risk": "r"}, "risk") == ("r",)
    assert columns_named(above, {"risk": "individual_risk"}, "risk") == ()
    assert columns_named(above, {}, "columns") == ()


# Recipes as TOML: what goes in comes out.


NAMES = st.text(CHARACTERS, max_size=6)
VALUES = st.recursive(
    st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.text(ascii_lowercase, min_size=1, max_size=4), VALUES, max_size=3), NAMES)
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
