"""What forms ask for, read from the methods themselves."""

from __future__ import annotations

from sdckit.workflow.recipes.recipe_checks import checked_step
from sdckit.workflow.recipes.recipe_steps import METHODS, method_of
from sdckit.workflow.recipes.step_forms import form_of, forms


def test_every_argument_of_every_method_stands_in_its_form_and_is_explained() -> None:
    for one in forms():
        assert [entry.name for entry in one.entries if entry.needed] == [
            name
            for name, parameter in method_of(one.method, "test").parameters.items()
            if parameter.default is parameter.empty
        ]
        assert {entry.name for entry in one.entries} == set(method_of(one.method, "test").offered)
        assert one.about
        assert [entry.name for entry in one.entries if not entry.about and entry.kind != "column"] == []
    assert [one.method for one in forms()] == list(METHODS)


def test_kinds_are_those_of_the_signature() -> None:
    kinds = {entry.name: entry.kind for entry in form_of("local_suppression").entries}
    assert kinds["keys"] == "columns"
    assert kinds["k"] == "whole"
    assert kinds["hide_implied"] == "flag"
    assert kinds["combinations"] == "value"
    how = next(entry for entry in form_of("round_to").entries if entry.name == "how")
    assert (how.kind, how.choices, how.default) == ("choice", ("nearest", "down", "random"), "nearest")


def test_a_step_of_needed_arguments_is_a_step() -> None:
    made = {"column": "age", "columns": ["age"], "number": 1.0, "whole": 2, "value": 0.5}
    for one in forms():
        if one.method in ("recode", "impute_masked"):  # one of three ways; tables
            continue
        given = {entry.name: made[entry.kind] for entry in one.entries if entry.needed}
        if one.method in ("suppress_above", "replace_high_risk"):
            given["risk"] = "individual_risk"
        assert checked_step(1, {"method": one.method, **given}).method == one.method
