"""What to do about each kind of rule, and which column it names."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest

from sdckit import recoverable_values
from sdckit.attacks.recovery.numeric_relations import rearranged
from sdckit.attacks.recovery.reconstruction_rules import Source
from sdckit.attacks.recovery.remedies import remedy


@pytest.mark.parametrize(
    ("columns", "words", "kind", "said"),
    [
        ((), "the order of the rows", "order", "random_order"),
        ((), "the order by id", "order", "leave out id, or draw it anew in random order (new_ids)"),
        ((), "the order by region", "order", "change region more, or leave it out: its values stand in the order"),
        (("weight",), "weight", "column", "coarsen_weights"),
        (("weight", "age"), "weight with age", "column", "coarsen_weights"),
        (("home",), "the rows of a household counted (home)", "counted", "limit_households"),
        (("home",), "the place among the rows of a household (home)", "counted", "limit_households"),
        (("home",), "home (mates share it)", "column", "household_variables"),
        (("home", "age"), "home (mates share it) with age", "column", "suppress home together with region (together)"),
        (("a", "b"), "a with b", "column", "it together with region: together they tell region"),
        (("born",), "the year in born", "text", "leave out born, or change it as region was changed"),
        (("nuts",), "nuts", "table", "recode nuts as region was changed"),
        (("mother", "age"), "age in the row that mother names", "linked", "leave out mother, or change region alike"),
    ],
)
def test_what_to_do_about_each(columns, words, kind, said):
    assert said in remedy("region", Source(columns, words, 1, kind), "weight", "home")


def test_of_columns_that_tell_together_one_is_left_out_too():
    said = remedy("region", Source(("a", "b"), "a with b", 1, "column"), None, None, left_out=True)
    assert said == "leave out one of a and b, too: together they tell region"


@pytest.mark.parametrize(
    ("formula", "columns", "entry", "told"),
    [
        ("total - benefits", ("total", "benefits"), 'total = "wage + benefits"', "with benefits it tells wage"),
        ("wage2 + benefits", ("wage2", "benefits"), 'wage2 = "wage - benefits"', "with benefits it tells wage"),
        ("annual / 12", ("annual",), 'annual = "12 * wage"', "out: it tells wage"),
        ("total - `other pay` - 3", ("total", "other pay"), 'total = "wage + `other pay` + 3"', "with other pay"),
        ("`all pay` / 2", ("all pay",), '"all pay" = "2 * wage"', "out: it tells wage"),
    ],
)
def test_the_companion_that_is_to_be_computed_anew_is_named_with_its_formula(formula, columns, entry, told):
    said = remedy("wage", Source(columns, formula, 9, "numbers", formula), None, None)
    assert f"derived = {{ {entry} }}" in said
    assert told in said


@pytest.mark.parametrize(
    ("formula", "columns"),
    [
        ("hours * pay", ("hours", "pay")), ("exp(logged)", ("logged",)), ("10 ** logged", ("logged",)),
        ("`the sum of wage in home` - wage", ("wage", "home")),
    ],
)  # fmt: skip
def test_what_is_no_sum_of_columns_is_to_be_left_out(formula, columns):
    said = remedy("x", Source(columns, formula, 9, "numbers", formula), None, None)
    assert said.startswith(f"leave out {' or '.join(columns)}")
    assert said.endswith(f"{formula} tells x")


def test_what_is_no_formula_of_columns_is_said_in_words():
    source = Source(("born",), "2024 - (the year in born)", 9, "numbers")
    assert remedy("age", source, None, None).endswith("as age was changed: 2024 - (the year in born) tells age")


@pytest.mark.parametrize("formula", ["a + b", "a - b / 3", "-a + 2 * b", "5 * a / 7 - 12 * b + 2.5", "a - 1850"])
def test_a_formula_solved_for_each_of_its_columns_gives_them(formula):
    rng = np.random.default_rng(1)
    known = {"a": rng.normal(size=9), "b": rng.normal(size=9)}
    known["y"] = eval(formula, {}, known)
    solved = rearranged("y", formula)
    assert set(solved) == set(re.findall("[ab]", formula))
    for name, text in solved.items():
        assert eval(text, {}, known) == pytest.approx(known[name])


def test_of_what_goes_out_in_ranges_nothing_is_computed_anew() -> None:
    """The recipe with the entry that was advised ended with an error: ranges are no numbers."""
    rng = np.random.default_rng(1)
    stays = pl.DataFrame({"admitted": 19_000 + rng.integers(0, 365, 2_000), "los": rng.integers(0, 40, 2_000)})
    stays = stays.with_columns(left=pl.col("admitted") + pl.col("los"))
    bands = pl.Series([f"{day // 50 * 50}-{day // 50 * 50 + 49}" for day in stays["admitted"]])
    for released, told in ((bands, False), (stays["admitted"] + pl.Series(rng.integers(-30, 31, 2_000)), True)):
        result = recoverable_values(stays.with_columns(admitted=released), stays, aligned=True)
        (words,) = result.advice
        assert ("derived = {" in words) is told
        assert ("leave out los or left, or change it as admitted was changed" in words) is not told
