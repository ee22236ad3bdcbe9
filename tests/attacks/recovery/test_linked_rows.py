"""What other rows say: held against loops over the records."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from attacks.recovery.made import read
from sdckit.attacks.recovery.linked_rows import MOST_EACH, linked_rows


def linked(data, *, household=None, person=None, time=None):
    found = list(linked_rows(read(data), household=household, person=person, time=time))
    for predictor in found:
        assert predictor.kind == "linked"
        assert predictor.groups == (len(predictor.codes) == data.height)
        assert predictor.codes.max(initial=0) <= predictor.n_levels
        assert predictor.numbers is None or len(predictor.numbers) == data.height
    assert len({predictor.words for predictor in found}) == len(found) <= MOST_EACH * data.width
    return {predictor.words: predictor for predictor in found}


def same(predictor, expected):
    np.testing.assert_array_equal(predictor.numbers, np.array([math.nan if v is None else v for v in expected], float))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_rows_of_a_household_are_linked_as_by_hand(seed):
    rng = np.random.default_rng(seed)
    home = rng.integers(0, 40, 120)
    data = pl.DataFrame({"home": home, "age": rng.integers(0, 90, 120), "wage": rng.normal(size=120).round(2)})
    age, wage = data["age"].to_list(), data["wage"].to_list()
    members = [np.flatnonzero(home == h).tolist() for h in home]
    found = linked(data, household="home")
    others = [[j for j in members[i] if j != i] for i in range(120)]
    mate = [age[other[0]] if len(other) == 1 else None for other in others]
    if sum(value is not None for value in mate) >= 20:
        same(found["age in the other row of home"], mate)
    if {len(rows) for rows in members} - {1, 2}:
        same(
            found["age in the first row of home"],
            [None if rows[0] == i else age[rows[0]] for i, rows in enumerate(members)],
        )
        same(
            found["age in the last row of home"],
            [None if rows[-1] == i else age[rows[-1]] for i, rows in enumerate(members)],
        )
        total = found["the sum of wage over the other rows of home"].numbers
        expected = [sum(wage[j] for j in other) for other in others]
        np.testing.assert_allclose(total, expected, atol=1e-9)
    assert not any("next" in words for words in found)


@pytest.mark.parametrize("time", ["year", None])
def test_waves_of_a_person_in_the_order_of_time(time):
    """With and without a role for the time: the year is the column that differs in every person's rows."""
    rng = np.random.default_rng(2)
    n = 100
    data = pl.DataFrame(
        {
            "person": np.repeat(np.arange(n), 3) + 700,
            "wage": rng.integers(0, 5_000, 3 * n),
            "year": np.tile([2019, 2020, 2021], n),
            "sex": np.repeat(rng.choice(["f", "m"], n), 3),
        }
    ).sample(fraction=1, shuffle=True, seed=1)
    found = linked(data, person="person", time=time)
    wages = {(row["person"], row["year"]): row["wage"] for row in data.iter_rows(named=True)}
    for words, step in (("next", 1), ("previous", -1)):
        expected = [wages.get((row["person"], row["year"] + step)) for row in data.iter_rows(named=True)]
        same(found[f"wage in the {words} row of person by year"], expected)
    assert not any(words.startswith("sex") for words in found)  # says what the own row says


def test_a_missing_value_of_the_own_row_is_told_by_the_other():
    sex = np.repeat(np.random.default_rng(3).choice(["f", "m"], 50), 2).tolist()
    data = pl.DataFrame({"person": np.repeat(np.arange(50), 2), "sex": [None, *sex[1:]]})
    other = linked(data, person="person")["sex in the other row of person"]
    labels = read(data)["sex"].labels()
    assert labels[other.codes[0] - 1] == sex[1]
    assert other.codes[1] == 0


def test_an_age_moves_on_with_the_years_between_two_rows():
    rng = np.random.default_rng(9)
    n, gap = 80, rng.integers(1, 4, 80)
    data = pl.DataFrame(
        {
            "person": np.repeat(np.arange(n), 2), "year": (2015 + np.outer(gap, [0, 1])).ravel(),
            "age": (rng.integers(20, 80, n)[:, None] + np.outer(gap, [0, 1])).ravel(),
        }
    )  # fmt: skip
    same(linked(data, person="person")["age in the other row of person, plus the year between"], data["age"])


@pytest.mark.parametrize("ids", ["numbers", "texts", "rows", "rows from 0", "large"])
def test_a_pointer_to_another_row_and_the_way_back(ids):
    """A mother's id as a number or text, or the number of her row; four in ten have none in the file."""
    rng = np.random.default_rng(4)
    n = 300
    mother = np.where(rng.random(n) < 0.6, rng.integers(0, n, n), -1)
    mother[mother == np.arange(n)] = -1
    mother[5] = 0
    key = {
        "numbers": (rng.permutation(n) + 5_000).tolist(), "texts": [f"P{value}" for value in rng.permutation(n)],
        "rows": list(range(1, n + 1)), "rows from 0": list(range(n)), "large": (rng.permutation(n) + 2**60).tolist(),
    }[ids]  # fmt: skip
    data = pl.DataFrame({"age": rng.integers(0, 90, n), "mother": [key[m] if m >= 0 else None for m in mother]})
    if not ids.startswith("rows"):
        data = data.with_columns(id=pl.Series(key))
    found = linked(data)
    age = data["age"].to_list()
    words = {"rows": "the row number mother", "rows from 0": "the row number mother, from 0"}
    words = words.get(ids, "the row that mother names")
    same(found[f"age in {words}"], [age[m] if m >= 0 else None for m in mother])
    first_child = {m: age[i] for i, m in reversed(list(enumerate(mother.tolist()))) if m >= 0}
    same(found[f"age in the row for which this one is {words}"], [first_child.get(i) for i in range(n)])
    assert not any(words.startswith("mother in") for words in found)


@pytest.mark.parametrize("line", [True, False])
def test_a_pointer_to_a_member_of_the_household(line):
    rng = np.random.default_rng(5)
    home = np.repeat(np.arange(80), rng.integers(2, 6, 80))
    place = np.arange(len(home)) - np.searchsorted(home, home) + 1
    head = np.where(place == 1, 0, rng.integers(1, np.maximum(place, 2)))
    data = pl.DataFrame({"home": home + 10, "age": rng.integers(0, 90, len(home)), "carer": head})
    if line:
        data = data.with_columns(line=pl.Series(place)).sample(fraction=1, shuffle=True, seed=3)
    found = linked(data, household="home")
    number = data["line"].to_list() if line else place.tolist()
    ages = dict(zip(zip(data["home"], number, strict=True), data["age"], strict=True))
    expected = [ages.get(pair) for pair in zip(data["home"], data["carer"], strict=True)]
    same(found["age in the row of home that carer names"], expected)


def test_groups_are_found_without_a_role():
    rng = np.random.default_rng(6)
    data = pl.DataFrame(
        {
            "couple": [f"c{value}" for value in np.repeat(rng.permutation(60), 2)],
            "region": np.repeat(rng.choice(list("nsew"), 60), 2),
            "age": rng.integers(20, 60, 120),
        }
    ).sample(fraction=1, shuffle=True, seed=2)
    age, couple = data["age"].to_list(), data["couple"].to_list()
    mates = {(name, i): a for i, (name, a) in enumerate(zip(couple, age, strict=True))}
    expected = [next(a for (other, j), a in mates.items() if other == name and j != i) for i, name in enumerate(couple)]
    same(linked(data)["age in the other row of couple"], expected)


def test_columns_that_name_nobody_link_nothing():
    rng = np.random.default_rng(7)
    data = pl.DataFrame(
        {
            "id": rng.permutation(2_000) + 1, "age": rng.integers(0, 95, 2_000), "sex": rng.integers(1, 3, 2_000),
            "wage": rng.integers(0, 90_000, 2_000) * 1.0, "born": 2020 - rng.integers(0, 95, 2_000),
            "region": rng.choice(list("nsew"), 2_000), "none": [None] * 2_000,
        }
    )  # fmt: skip
    assert linked(data) == {}
    assert linked(data.head(1)) == {}
    assert linked(pl.DataFrame({"code": ["b", None], "sex": [1, 2]})) == {}  # without a warning: nobody shares a code


def test_every_column_is_looked_up_but_those_of_the_link():
    rng = np.random.default_rng(8)
    wide = pl.DataFrame({"home": np.repeat(np.arange(50), 4), **{f"x{i}": rng.integers(0, 9, 200) for i in range(12)}})
    found = linked(wide, household="home")
    firsts = {words.split(" ")[0] for words in found if "first row" in words}
    assert firsts == {f"x{i}" for i in range(12)}
