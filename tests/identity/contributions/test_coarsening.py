"""Which levels are merged, and what it costs."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

from draw import quiet
from sdckit import as_cells
from sdckit.identity.contributions.coarsening import bands, entropy, joined, levels_of, pooled, smaller_key
from sdckit.identity.contributions.declared import declared_kinds


def levels(values, **declared):
    with quiet():
        cells = as_cells(pl.DataFrame({"a": values}), keys=["a"])
    return levels_of(cells, "a", declared_kinds(["a"], None, **declared))


@pytest.mark.parametrize("declared", [{"numeric": ["a"]}, {"ordered": ["a"]}, {}])
@pytest.mark.parametrize(
    "values",
    [
        [3, -1, 7, 7, None],
        [0.5, -2.5, 1.25, 1.25, None],
        [-(2**62), 5, 2**62, 2**62, None],
        [dt.date(2000, 1, 2), dt.date(1999, 1, 1), dt.date(2000, 5, 1), dt.date(2000, 5, 1), None],
    ],
)
def test_ordered_levels_follow_their_values(values, declared):
    found = levels(values, **declared)
    assert found.ordered == (bool(declared) or not isinstance(values[0], int))
    if not found.ordered:
        assert found.scale == "unknown"
        return
    assert found.n_missing == 1
    assert found.size.tolist() == [1, 1, 2]
    assert bands(found, 2).group.tolist() == [0, 0, 1]
    assert bands(found, 4) is None
    smallest = levels([min(v for v in values if v is not None), *values], **declared)
    assert smallest.size.tolist() == [2, 1, 2]


def test_ordered_categories_follow_their_categories_and_text_its_alphabet():
    answers = pd.Categorical(["often", "never", "seldom"], ["never", "seldom", "often"], ordered=True)
    with quiet():
        cells = as_cells(pd.DataFrame({"a": answers}), keys=["a"])
    assert levels_of(cells, "a").labels() == ["never", "seldom", "often"]
    assert levels(["b", "a", "c", "c"], ordered=["a"]).labels() == ["a", "b", "c"]


def test_few_whole_numbers_are_not_merged_in_pairs():
    codes = [1] * 50 + [2] * 8 + [3] * 30 + [4] * 3 + [5] * 2
    found = smaller_key(levels(codes), "a")
    assert (found.rule, found.public) == ("the 2 rarest levels as one", False)
    assert found.step["groups"] == {"other": [5, 4], "2": [2], "3": [3], "1": [1]}
    declared = smaller_key(levels(codes, ordered=["a"]), "a")
    assert declared.rule == "neighbouring levels in pairs"
    assert declared.step["groups"] == {"1 to 2": [1, 2], "3 to 4": [3, 4], "5": [5]}
    assert smaller_key(levels(codes, numeric=["a"]), "a").step["bands"] == [-math.inf, 2, 4, math.inf]


def test_numbers_go_into_round_bands():
    found = smaller_key(levels([age for age in range(100) for _ in range(10)]), "age")
    assert (found.rule, found.after, found.public) == ("bands with round edges", 20, True)
    assert found.step["bands"] == [-math.inf, *range(5, 100, 5), math.inf]


def test_dates_go_by_the_year_or_the_month():
    days = [dt.date(2020 + i % 2, 1 + i % 12, 1 + i % 28) for i in range(50)]
    found = smaller_key(levels(days), "born")
    assert (found.rule, found.after, found.step) == ("years", 2, None)
    assert smaller_key(levels([day.replace(year=2020) for day in days])).rule == "months"
    assert smaller_key(levels([dt.date(2020, 1, 1 + i % 9) for i in range(50)])) is None


def test_codes_go_one_level_up_their_hierarchy():
    tree = {"11": ["1", "all"], "12": ["1", "all"], "21": ["2", "all"], "22": ["2", "all"]}
    found = smaller_key(levels([11, 12, 21, 22], hierarchies={"a": tree}), "a")
    assert (found.rule, found.after, found.public) == ("hierarchy, level 1", 2, True)
    assert found.step is None  # a recipe names a file
    partly = smaller_key(levels(["11", "12", "21", "?"], hierarchies={"a": tree}), "a")
    assert partly.after == 3
    flat = {code: [code, "1"] for code in ("11", "12", "21")}  # every level merges nothing, or everything
    assert smaller_key(levels(["11", "12", "21"] * 9, hierarchies={"a": flat}), "a").rule == (
        "the 2 rarest levels as one"
    )


def test_the_rarest_levels_of_a_category_are_pooled():
    found = levels(["a"] * 9 + ["b"] * 2 + ["c"] * 7 + ["d"] * 1 + ["e"] * 6)
    assert found.size.tolist() == [1, 2, 6, 7, 9]
    step = smaller_key(found)
    assert (step.rule, step.group.tolist(), step.after) == ("the 3 rarest levels as one", [0, 0, 0, 1, 2], 3)
    assert len(set(step.codes(found).tolist())) == 3
    assert pooled(levels(["a"] * 5 + ["b"] * 6 + ["c"] * 7)).group.tolist() == [0, 0, 1]
    assert pooled(levels(["a"] * 5 + ["b"] * 6)) is None
    assert pooled(levels(["a", "b", "c"])) is None


def test_two_levels_as_one():
    found = levels(["a", "b", "b", "c", "c", "c", "d", "d", "d", "d"])
    assert joined(found, 3, 1).group.tolist() == [0, 1, 2, 1]
    assert joined(found, 0, 1).after == 3
    assert joined(levels(["a", "b"]), 0, 1) is None


def test_ties_are_broken_by_label():
    one, two = levels(["b", "a", "c", "c"]), levels(["a", "b", "c", "c"])
    with quiet():
        cells = as_cells(pl.DataFrame({"a": ["b", "a", "c", "c"]}), keys=["a"])
    labels = cells.levels[0].labels(one.codes)
    assert labels == ["a", "b", "c"]
    assert one.size.tolist() == two.size.tolist()


def test_entropy():
    assert entropy(np.array([4])) == 0
    found = levels([1, 2, 3, 4], numeric=["a"])
    assert found.entropy == 2
    assert bands(found, 2).entropy_lost(found) == 1
    assert levels([1, 2, None, None]).entropy == 1.5


@pytest.mark.parametrize(
    ("values", "hides"),
    [
        ("a" * 40 + "b" * 4, False),  # no step: two levels only
        ("a" * 40 + "b" * 4 + "c" * 4, False),  # a step, which would tell that the rare are two
        ("a" * 40 + "b" * 5 + "c", True),
        ("a" * 40 + "".join(letter * 4 for letter in "bcdefghijklmn"), True),  # 52 records in rare levels
        ("a" * 40 + "".join(letter * 4 for letter in "bcdefghijklm"), False),
    ],
)
def test_a_step_tells_of_rare_levels_beside_one_frequent_only(values: str, hides: bool) -> None:
    assert levels(list(values)).hide_the_rare is hides
