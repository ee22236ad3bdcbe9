"""What forms ask for, read from the methods themselves."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.data.methods import METHODS
from sdckit.errors import ColumnError
from sdckit.workflow.recipes.recipe_checks import checked_step
from sdckit.workflow.recipes.recipe_steps import method_of
from sdckit.workflow.recipes.step_forms import bands_for, form_of, forms, picture_of


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
        if one.method == "recompute":
            given["derived"] = {"age": "2 * x"}
        if one.method in ("suppress_above", "replace_high_risk"):
            given["risk"] = "individual_risk"
        if one.method == "synthesize_margins":
            given["domain"] = "domain.toml"
        assert checked_step(1, {"method": one.method, **given}).method == one.method


# A variable before and after a step: exact counts by value, or by bins that both sides share.


RNG = np.random.default_rng(3)
DATA = pl.DataFrame({"age": RNG.integers(18, 80, 400), "job": RNG.choice(["a", "b"], 400)})


def test_bins_are_those_of_both_sides_and_count_everybody() -> None:
    noisy = DATA.with_columns(age=pl.col("age") + 2.5)
    found = picture_of(DATA, noisy, "age")
    assert found.before is not None
    assert found.after is not None
    assert found.before.edges == found.after.edges
    for side in (found.before, found.after):
        assert sum(n for _, n in side.counts) == side.n == 400
        assert len(side.counts) == len(side.edges) + 1
    assert found.before.whole
    assert not found.after.whole


def test_a_recoded_side_has_levels_in_their_order() -> None:
    banded, _ = sdc.recode(DATA, column="age", bands=[0, 30, 60, None], labels=["young", "middle", "old"])
    found = picture_of(DATA, banded, "age")
    assert found.after is not None
    assert [label for label, _ in found.after.counts] == ["young", "middle", "old"]
    assert found.after.edges == ()


def test_missing_values_and_columns_that_are_gone() -> None:
    gone = picture_of(
        DATA.with_columns(age=pl.when(pl.col("age") < 30).then(None).otherwise("age")), DATA.drop("age"), "age"
    )
    assert gone.before is not None
    assert gone.before.n_missing == DATA.filter(pl.col("age") < 30).height
    assert gone.after is None
    with pytest.raises(ColumnError, match="neither file has a column 'none'"):
        picture_of(DATA, DATA, "none")


def test_numbers_as_levels_where_they_are_codes() -> None:
    found = picture_of(pl.DataFrame({"code": [1, 1, 2]}), None, "code", levels=True)
    assert found.before is not None
    assert found.before.counts == (("1", 2), ("2", 1))


def test_edges_to_start_from_are_inside_and_ascend() -> None:
    edges = bands_for(DATA, "age")
    assert edges == sorted(edges)
    assert min(edges) > 18
    assert max(edges) < 80
    assert bands_for(pl.DataFrame({"x": [None, None]}, schema={"x": pl.Int64}), "x") == []
