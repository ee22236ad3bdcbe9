"""What a measure is told of a run: the intruder, the cells under each rule, the numbers among its columns."""

from __future__ import annotations

import polars as pl
import pytest

from sdckit.catalogue import Context, Knowledge
from sdckit.data.scenarios.scenario import Scenario

FRAME = pl.DataFrame({"sex": ["f", "f", "m", None], "age": [1, 1, 2, 2], "home": ["a", "a", "c", "d"]})


def test_a_plan_needs_no_file() -> None:
    context = Context(scenario=Scenario(keys=["sex", "age"], numeric=["age"], sensitive=["ill"]))
    assert (context.intruder, context.keys, context.targets) == ("default", ("sex", "age"), ("ill",))
    assert context.numeric("sex", "age") == ("age",)
    assert (context.n, context.sizes, context.columns, context.data) == (None, (), None, None)


@pytest.mark.parametrize(("keys", "wildcards"), [(["sex", "age"], True), (["age", "home"], False)])
def test_cells_are_counted_once_under_each_rule(keys: list[str], wildcards: bool) -> None:
    context = Context(scenario=Scenario(keys=keys), data=FRAME)
    assert context.wildcards is wildcards
    assert context.cells is context.cells
    assert (context.categories is context.cells) is not wildcards
    assert not context.categories.has_wildcards
    assert context.cells.keys == tuple(keys)


def test_one_sensitive_variable_after_another() -> None:
    context = Context(scenario=Scenario(keys=["sex"], sensitive=["ill", "rich"]), data=FRAME, seed=3)
    about = context.about("rich")
    assert (about.target, about.seed, context.target) == ("rich", 3, None)
    assert about.data is FRAME
    assert about.shared is context.shared


def test_what_an_intruder_infers_is_told_with_the_knowledge() -> None:
    knows = Knowledge(variables=("sex",), targets=("home",), numeric=("age", "income"))
    assert Context(scenario=Scenario(keys=["sex"]), knowledge=knows).targets == ("home",)
    assert knows.numbers("sex", "age") == {"numeric": ("age",)}
    assert knows.numbers() == {"numeric": ()}
    assert Knowledge(variables=("sex",)).numbers("sex") == {}  # nothing declared: the measure guesses
