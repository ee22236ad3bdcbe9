"""A row says why its measure cannot run, where the result stands, and runs it; it cannot be changed."""

from __future__ import annotations

import dataclasses
from typing import Any

import polars as pl
import pytest

from sdckit.catalogue import CATALOGUE, Context, Knowledge, Measure, measure, rows
from sdckit.data.scenarios.scenario import Scenario

FRAME = pl.DataFrame({"sex": ["f", "f", "m", None], "age": [1, 1, 2, 2], "ill": ["y", "n", "y", "n"]})


def context(*, known: Any = None, **options: Any) -> Context:
    declared = {"keys": ["sex", "age"], **options}
    return Context(scenario=Scenario(**declared), data=FRAME, **(known or {}))


def test_rows_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        CATALOGUE[0].name = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        ("k_anonymity", {}, ""),
        ("household_structure", {}, "the scenario names no household column"),
        ("household_structure", {"household": "h"}, ""),
        ("t_closeness", {}, "the scenario names no sensitive variable"),
        ("t_closeness", {"sensitive": ["ill"]}, ""),
        ("outliers", {}, "the scenario names no numeric variable"),
        ("outliers", {"numeric": ["age"]}, ""),
        ("attribute_disclosure", {}, "no sensitive variable is named"),
        ("attribute_disclosure", {"sensitive": ["ill"]}, ""),
        ("key_contributions", {"keys": ["sex"]}, "there is only one key"),
        ("key_contributions", {"person": "who"}, "distinct persons cannot be counted from cells"),
    ],
)
def test_a_role_that_is_not_declared_is_the_reason(name: str, options: Any, reason: str) -> None:
    assert measure(name).lacks(context(**options)) == reason


def test_what_other_files_lack() -> None:
    knows = Knowledge(variables=("sex", "age"), known=("sex", "age"))
    assert measure("membership").lacks(context(known={"knowledge": knows})) == "there is no control file"
    assert measure("membership").lacks(context(known={"knowledge": knows, "has_control": True})) == ""
    about = context(sensitive=["ill"], known={"columns": frozenset(["sex", "age"])}).about("ill")
    assert measure("attribute_disclosure").lacks(about) == "a release does not have the variable ill"


def test_results_have_their_place() -> None:
    two = Context(scenario=Scenario(intruders={"a": ["sex"], "b": ["age"]}, sensitive=["ill"]).intruder("b"))
    assert measure("k_anonymity").place(two) == "k_anonymity"
    assert measure("k_anonymity").place(two, "category") == "k_anonymity:category"
    assert measure("attribute_disclosure").place(two.about("ill")) == "attribute_disclosure:ill"
    assert measure("singling_out").place(two, "univariate") == "singling_out:univariate"
    assert measure("inference").place(two.about("ill")) == "inference:b:ill"


def test_what_is_done_is_told_of_whom_and_what() -> None:
    assert measure("k_anonymity").doing(context()) == "looking for rare keys of default"
    for row in rows("one", "release", "attack", "utility"):
        assert "{" not in row.doing(context().about("ill"))


def test_it_runs_under_the_rule_for_missing_values_that_is_its_own() -> None:
    def rules(name: str) -> dict[str, str]:
        given = context(sensitive=["ill"])
        return {detail: call().cells.missing_rule for detail, call in measure(name).run(given)}

    by_wildcard = {"": rules("key_frequencies")[""], "category": rules("key_frequencies")["category"]}
    assert by_wildcard[""] != by_wildcard["category"]
    assert rules("k_anonymity") == by_wildcard
    assert list(rules("k_anonymity")) == ["category", ""]  # the stricter rule first
    assert rules("l_diversity") == {"": by_wildcard["category"], "wildcard": by_wildcard[""]}
    assert rules("risky_cells") == {"": by_wildcard["category"]}


def test_a_measure_that_assess_does_not_run_gives_nothing() -> None:
    assert not measure("k_map").runs
    assert list(measure("k_map").run(context())) == []


def test_it_is_called_on_the_command_line_by_a_name_of_its_own() -> None:
    assert measure("singling_out").kind == "singling-out"
    assert measure("distance_to_closest_record").kind == "distances"


def test_a_function_from_outside_is_called_instead_of_a_public_one() -> None:
    row = Measure(
        name="nothing", question="?", room="identity", files="one", arguments=lambda _: {"more": 1},
        function=lambda cells, more: (cells.n, more),
    )  # fmt: skip
    ((detail, call),) = row.run(context())
    assert (detail, call()) == ("", (4, 1))


def test_what_a_release_lacks_is_told_before_it_is_read() -> None:
    both = {"aligned": True, "columns": frozenset({"sex", "age"})}
    lacking = "a release does not have the variable ill"
    assert measure("interval_risk").lacks(context(numeric=["ill"], known=both)) == lacking
    assert measure("interval_risk").lacks(context(numeric=["age"], known=both)) == ""
    assert measure("attribute_disclosure").lacks(context(sensitive=["ill"], known=both).about("ill")) == lacking


# What a measure is told of a run: the intruder, the cells under each rule, the numbers among its columns.


CONTEXT_FRAME = pl.DataFrame({"sex": ["f", "f", "m", None], "age": [1, 1, 2, 2], "home": ["a", "a", "c", "d"]})


def test_a_plan_needs_no_file() -> None:
    context = Context(scenario=Scenario(keys=["sex", "age"], numeric=["age"], sensitive=["ill"]))
    assert (context.intruder, context.keys, context.targets) == ("default", ("sex", "age"), ("ill",))
    assert context.numeric("sex", "age") == ("age",)
    assert (context.n, context.sizes, context.columns, context.data) == (None, (), None, None)


@pytest.mark.parametrize(("keys", "wildcards"), [(["sex", "age"], True), (["age", "home"], False)])
def test_cells_are_counted_once_under_each_rule(keys: list[str], wildcards: bool) -> None:
    context = Context(scenario=Scenario(keys=keys), data=CONTEXT_FRAME)
    assert context.wildcards is wildcards
    assert context.cells is context.cells
    assert (context.categories is context.cells) is not wildcards
    assert not context.categories.has_wildcards
    assert context.cells.keys == tuple(keys)


def test_one_sensitive_variable_after_another() -> None:
    context = Context(scenario=Scenario(keys=["sex"], sensitive=["ill", "rich"]), data=CONTEXT_FRAME, seed=3)
    about = context.about("rich")
    assert (about.target, about.seed, context.target) == ("rich", 3, None)
    assert about.data is CONTEXT_FRAME
    assert about.shared is context.shared


def test_what_an_intruder_infers_is_told_with_the_knowledge() -> None:
    knows = Knowledge(variables=("sex",), targets=("home",), numeric=("age", "income"))
    assert Context(scenario=Scenario(keys=["sex"]), knowledge=knows).targets == ("home",)
    assert knows.numbers("sex", "age") == {"numeric": ("age",)}
    assert knows.numbers() == {"numeric": ()}
    assert Knowledge(variables=("sex",)).numbers("sex") == {}  # nothing declared: the measure guesses
