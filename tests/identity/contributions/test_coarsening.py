"""Which levels are merged, and what it costs."""

from __future__ import annotations

import datetime as dt
import math
import tomllib

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, strategies as st

from draw import quiet
from sdckit import Scenario, as_cells
from sdckit.data.columns import code_column
from sdckit.data.frames import open_frame
from sdckit.errors import ColumnError
from sdckit.identity.contributions.coarsening import (
    along,
    bands,
    declared_kinds,
    entropy,
    every_second,
    grouped,
    in_bands,
    joined,
    levels_of,
    other,
    pooled,
    round_edges,
    smaller_key,
    step_text,
)


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
    assert list(found.step["groups"].items()) == [("other", [4, 5]), ("1", [1]), ("2", [2]), ("3", [3])]
    declared = smaller_key(levels(codes, ordered=["a"]), "a")
    assert declared.rule == "neighbouring levels in pairs"
    assert declared.step["groups"] == {"1 to 2": [1, 2], "3 to 4": [3, 4], "5": [5]}
    assert smaller_key(levels(codes, numeric=["a"]), "a").step["bands"] == [-math.inf, 2, 4, math.inf]


def test_ages_are_numbers_however_few_there_are():
    ages = [age for age in range(0, 90, 5) for _ in range(10)]
    columns = {"Alter": ages, "AGEP": ages, "region": ages, "v17": ages, "age_group": [*range(1, 9), 99] * 20}
    cells = as_cells(pl.DataFrame(columns), keys=list(columns))
    assert [levels_of(cells, key).scale for key in cells.keys] == ["number", "number", *["unknown"] * 3]
    assert smaller_key(levels_of(cells, "Alter"), "Alter").step["bands"] == [-math.inf, *range(10, 90, 10), math.inf]


def test_numbers_go_into_round_bands():
    found = smaller_key(levels([age for age in range(100) for _ in range(10)]), "age")
    assert (found.rule, found.after, found.public) == ("bands with round edges", 20, True)
    assert found.step["bands"] == [-math.inf, *range(5, 100, 5), math.inf]


@pytest.mark.parametrize(("key", "scale"), [("age", "number"), ("class_no", "unknown"), ("class_size", "number")])
def test_numbers_of_classes_are_codes_however_even_they_are(key, scale):
    data = pl.DataFrame({key: [value for value in range(1, 41) for _ in range(10)]})
    cells = as_cells(data, keys=[key])
    assert levels_of(cells, key, declared_kinds([key], None)).scale == scale
    assert levels_of(cells, key, declared_kinds([key], None, numeric=[key])).scale == "number"
    assert levels_of(cells, key, declared_kinds([key], None, ordered=[key])).scale == "ordered"


def test_dates_go_by_the_year_or_the_month():
    days = [dt.date(2020 + i % 2, 1 + i % 12, 1 + i % 28) for i in range(50)]
    found = smaller_key(levels(days), "born")
    assert (found.rule, found.after, found.step["period"], found.public) == ("years", 2, "year", True)
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


@pytest.mark.parametrize("names", ["abcde", (1, 2, 3, 4, 5)])
def test_a_step_does_not_rank_what_it_pools(names):
    a, b, c, d, e = names  # a step goes out with the release, in which nobody sees whether d or e is rarer
    steps = {
        step_text(smaller_key(levels([a] * more + [b] * 30 + [c] * less + [d] * left + [e] * (11 - left)), "a").step)
        for more, less, left in [(50, 49, 5), (49, 50, 5), (50, 49, 6), (49, 50, 6)]
    }
    assert len(steps) == 1


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


# Steps as a recipe file holds them.


def coded(values):
    return code_column(open_frame(pl.DataFrame({"x": values}))["x"])


def test_names_and_values_are_quoted():
    labels = ['a "b"', "c, d", "e = f"]
    step = other("x y", coded(labels), labels, np.array([0, 0, 1]))
    found = tomllib.loads(step_text(step))["steps"][0]
    assert found == {
        "method": "recode", "column": "x y", "groups": {"other": ['a "b"', "c, d"]}, "outside": "keep",
    }  # fmt: skip
    assert step_text(None) == ""


def test_a_level_called_other():
    labels = ["other", "b", "c"]
    assert list(other("x", coded(labels), labels, np.array([0, 0, 1]))["groups"]) == ["other_"]


def test_numbers_become_text_so_all_are_named():
    step = other("x", coded([1, 2, 3]), ["1", "2", "3"], np.array([0, 0, 1]))
    assert step["groups"] == {"other": [1, 2], "3": [3]}
    assert "outside" not in step


@pytest.mark.parametrize("values", [[b"a", b"b"], [1.5, 2.5], [f"v{i}" for i in range(300)]])
def test_what_a_recipe_cannot_name(values):
    one = coded(values)
    labels = one.labels(np.arange(len(values)))
    assert grouped("x", one, labels, np.zeros(len(values), int)) is None
    assert other("x", one, labels, np.zeros(len(values), int)) is None


def test_hierarchies_need_a_file_and_text_beside_what_is_kept():
    text, numbers = coded(["11", "12"]), coded([11, 12])
    assert along("x", text, "", 1, missed=False) is None
    assert along("x", numbers, "t.csv", 1, missed=True) is None
    assert along("x", numbers, "t.csv", 2, missed=False) == {
        "method": "recode", "column": "x", "hierarchy": "t.csv", "level": 2,
    }  # fmt: skip
    assert along("x", text, "t.csv", 1, missed=True)["outside"] == "keep"


def test_bands_are_open():
    text = step_text(in_bands("pay", np.array([0.5, 1.0])))
    assert tomllib.loads(text)["steps"][0]["bands"] == [float("-inf"), 0.5, 1, float("inf")]


# Round edges: few, and none that a single record decides.


def test_a_few_values_that_stand_out_are_no_step():
    scores = np.clip(np.random.default_rng(1).normal(500, 100, 3000), 200, 800)  # ten or so at each of the limits
    assert round_edges(*np.unique(scores, return_counts=True)).tolist() == list(range(300, 750, 50))


@given(
    st.lists(
        st.tuples(st.integers(-500, 500), st.integers(1, 60)), min_size=1, max_size=80, unique_by=lambda one: one[0]
    ),
    st.sampled_from([1, 0.01, 0.5, 37.0, 1e5]),
)
def test_the_edges_are_round_and_the_outermost_bands_full(levels, unit):
    values, size = (np.array(one) for one in zip(*sorted(levels), strict=True))
    values = values * unit
    edges = round_edges(values, size)
    if len(edges) == 0:
        return
    need = max(5, math.ceil(0.01 * size.sum()))
    assert len(edges) < 20
    assert size[values < edges[0]].sum() >= need
    assert size[values >= edges[-1]].sum() >= need
    if len(edges) > 1:
        steps = np.diff(edges)
        np.testing.assert_allclose(steps, steps[0])
        digit = steps[0] / 10 ** math.floor(math.log10(steps[0]) + 1e-9)
        assert min(abs(digit - one) for one in (1, 2, 5, 10)) < 1e-6


def test_the_largest_value_decides_nothing():
    size = np.full(61, 30)
    ages = np.arange(20.0, 81.0)
    usual = round_edges(ages, size).tolist()
    assert usual == [25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80]
    assert round_edges(np.append(ages, 114.0), np.append(size, 1)).tolist() == usual


def test_numbers_that_come_in_fives_are_put_together():
    ages = np.arange(20.0, 85.0, 5.0)
    assert round_edges(ages, np.full(13, 30)).tolist() == [30, 40, 50, 60, 70, 80]
    assert round_edges(ages / 10, np.full(13, 30)).tolist() == [3, 4, 5, 6, 7, 8]


def test_too_few_records_for_two_bands():
    assert len(round_edges(np.array([1.0, 2.0, 3.0]), np.array([3, 3, 3]))) == 0
    assert len(round_edges(np.array([7.0]), np.array([100]))) == 0
    assert round_edges(np.array([1.0, 2.0, 3.0]), np.array([30, 30, 30])).tolist() == [2]
    assert round_edges(np.array([1.0, 1.5, 4.0]), np.array([30, 30, 30])).tolist()[-1] == 4


# What is declared of keys, by arguments and by a scenario.


TREE = {"11": ["1"], "12": ["1"]}


def test_an_argument_wins(tmp_path):
    (tmp_path / "tree.csv").write_text("11;1\n12;1\n")
    scenario = Scenario(
        keys=["a", "b"], numeric=["a"], ordered=["b"], sensitive=["c"], hierarchies={"b": tmp_path / "tree.csv"}
    )
    found = declared_kinds(scenario.keys, scenario)
    assert (found.numeric, found.ordered) == (("a",), ("b",))
    assert found.hierarchies["b"].at(1) == {"11": "1", "12": "1"}
    assert found.files == {"b": (tmp_path / "tree.csv").as_posix()}
    other = declared_kinds(scenario.keys, scenario, numeric=[], ordered=["a"], hierarchies={"b": TREE})
    assert (other.numeric, other.ordered, other.files) == ((), ("a",), {})
    assert other.hierarchies["b"].levels == (("1", "1"),)


def test_only_keys_count():
    scenario = Scenario(keys=["a"], numeric=["c"], sensitive=["c"])
    assert declared_kinds(scenario.keys, scenario).numeric == ()
    with pytest.raises(ColumnError, match="numeric: 'c' is no key"):
        declared_kinds(["a"], scenario, numeric=["c"])


@pytest.mark.parametrize("width", [0.001, 0.05, 0.1, 0.2, 0.5, 1.0, 20.0])
@pytest.mark.parametrize("first", [-7, 0, 1, 2])
def test_every_second_edge_is_a_multiple_of_the_double_width(width, first):
    places = np.arange(first, first + 16)
    edges = np.round(places * width, 3)
    assert every_second(edges).tolist() == edges[places % 2 == 0].tolist()
