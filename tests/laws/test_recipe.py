"""Laws of recipes: only what is named changes, nothing moves, and a prefix draws what the whole draws."""

from __future__ import annotations

import polars as pl
from hypothesis import given, settings, strategies as st

import sdckit as sdc
from recipes import SECRET, scenario, survey
from sdckit.workflow.recipes.recipe_checks import columns_used

DATA = survey(60)
STEPS = [
    {"method": "recode", "column": "age", "bands": [0, 40, None]},
    {"method": "top_bottom_code", "column": "income", "top": 2300.0},
    {"method": "round_to", "column": "income", "base": 50, "how": "random"},
    {"method": "pram", "columns": ["job"], "pd": 0.6},
    {"method": "microaggregate", "columns": ["income", "w"], "k": 4},
    {"method": "add_noise", "columns": ["w"], "noise": 3.0},
    {"method": "rank_swap", "columns": ["income"], "p": 10.0},
    {"method": "mask_categorical", "columns": ["sex"], "probability": 0.9},
    {"method": "suppress_above", "risk": "individual_risk", "threshold": 0.03, "columns": ["job"]},
]
RECIPES = st.lists(st.sampled_from(range(len(STEPS))), min_size=1, max_size=3, unique=True)
SMALL = settings(max_examples=12, deadline=None)


def recipe(chosen: list[int]) -> sdc.Recipe:
    return sdc.Recipe([STEPS[at] for at in sorted(chosen)])


@given(RECIPES, st.integers(0, 2**40))
@SMALL
def test_only_named_columns_change_and_nothing_moves(chosen: list[int], seed: int) -> None:
    applied = recipe(chosen).apply(DATA, scenario=scenario(), seed=seed, secret=SECRET, watch=False)
    assert applied.data.columns == DATA.columns
    assert applied.data["name"].equals(DATA["name"])
    used = columns_used(recipe(chosen).steps)
    for name in set(DATA.columns) - used:
        assert applied.data[name].equals(DATA[name])
        assert applied.differing[name] == 0


@given(RECIPES, st.integers(0, 2**40))
@SMALL
def test_same_seed_same_file_and_replay_is_the_same(chosen: list[int], seed: int) -> None:
    first = recipe(chosen).apply(DATA, scenario=scenario(), seed=seed, secret=SECRET, watch=False)
    assert sdc.Recipe.replay(DATA, first.log).data.equals(first.data)


@given(RECIPES, st.integers(0, 2**40))
@SMALL
def test_a_prefix_is_the_whole_with_its_end_undone(chosen: list[int], seed: int) -> None:
    whole = recipe(chosen)
    current: pl.DataFrame = DATA
    for n in range(1, len(whole.steps) + 1):
        part = whole.prefix(n).apply(DATA, scenario=scenario(), seed=seed, secret=SECRET, watch=False)
        changed = {name for name in DATA.columns if not part.data[name].equals(current[name])}
        assert changed <= columns_used(whole.steps[n - 1 : n])
        current = part.data
