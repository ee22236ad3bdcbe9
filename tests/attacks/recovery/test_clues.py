"""What a release says beside its columns, counted by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from attacks.recovery.made import read
from sdckit.attacks.recovery.clues import (
    Household,
    below_counts,
    column_clues,
    household_clues,
    id_clues,
    numbered,
)

HOMES = pl.DataFrame(
    {"home": [7, 9, 7, None, 9, 7], "age": [40, 3, 38, 50, 30, 12], "sex": ["f", "m", "m", "f", None, "f"]}
)


def by_words(clues):
    return {clue.words: clue for clue in clues}


def test_households_are_counted_summed_and_numbered():
    mates = Household.of(read(HOMES)["home"])
    assert mates.n == 2
    assert sorted(mates.sizes.tolist()) == [2, 3]
    ages = HOMES["age"].to_numpy() * 1.0
    sums = mates.spread(mates.sums(ages))
    assert sums[[0, 1, 2, 4, 5]].tolist() == [90, 33, 90, 33, 90]
    assert np.isnan(sums[3])
    low, high = (mates.spread(one) for one in mates.extremes(ages))
    assert (low[0], high[0], low[1], high[4]) == (12, 40, 3, 30)
    assert mates.positions()[[0, 1, 2, 4, 5]].tolist() == [1, 1, 2, 2, 3]
    assert np.isnan(mates.positions()[3])


def test_no_household_at_all():
    mates = Household.of(read(HOMES.with_columns(home=pl.lit(None)))["home"])
    assert mates.n == 0
    assert np.isnan(mates.spread(mates.sums(np.ones(6)))).all()
    assert np.isnan(mates.positions()).all()


def test_what_members_show_together():
    columns = read(HOMES)
    found = by_words(household_clues(columns, Household.of(columns["home"])))
    counted = found["the rows of a household counted (home)"]
    assert counted.numbers is not None
    assert counted.numbers[[0, 1]].tolist() == [3, 2]
    total = found["the sum of age over a household"]
    assert total.numbers is not None
    assert total.numbers[0] == 90
    assert not total.groups
    kinds = found["the mates with one value of sex counted"]
    assert kinds.numbers is not None
    assert np.isnan(kinds.numbers[[1, 4]]).all()  # one of that household shows no sex
    assert found["the least age of a household"].numbers is not None


def test_children_are_counted_at_every_limit():
    columns = read(HOMES)
    counts = [clue.numbers for clue in below_counts(columns["age"], Household.of(columns["home"]))]
    assert len(counts) == 5
    assert all(one is not None and np.isnan(one[3]) for one in counts)
    assert [1.0, 0.0] in [[one[1], one[0]] for one in counts if one is not None]
    assert list(below_counts(columns["sex"], Household.of(columns["home"]))) == []


def test_only_limits_that_could_count_are_counted():
    rng = np.random.default_rng(1)
    home = np.repeat(np.arange(3000), rng.integers(1, 6, 3000))
    age = rng.integers(0, 90, len(home))
    data = pl.DataFrame({"home": home, "age": age}).with_columns(kids=(pl.col("age") < 15).sum().over("home"))
    columns = read(data)
    mates, kids = Household.of(columns["home"]), data["kids"].to_numpy() * 1.0
    (one,) = below_counts(columns["age"], mates, like=kids)
    assert one.numbers is not None
    assert (one.numbers == kids).all()
    assert list(below_counts(columns["age"], mates, like=rng.permutation(kids))) == []
    rows, few = mates.some()
    assert sorted(few.sizes) == sorted(np.bincount(home)[np.unique(home[:2000])])
    assert len(rows) == few.sizes.sum() >= 2000


@given(st.lists(st.one_of(st.none(), st.floats(allow_nan=False)), min_size=1, max_size=40))
def test_numbers_get_codes(values):
    given_ = np.array([np.nan if one is None else one for one in values])
    codes, n = numbered(given_)
    assert ((codes == 0) == np.isnan(given_)).all()
    for i, one in enumerate(values):
        for j, other in enumerate(values):
            assert (codes[i] == codes[j]) == (one == other)
    assert n == len({one for one in values if one is not None})


def test_what_ids_begin_with_and_their_gaps():
    n = 90
    region = np.arange(n) % 3 + 1
    codes = [f"{letter}{i:03d}" for i, letter in enumerate(np.array(list("abc"))[region - 1])]
    data = pl.DataFrame({"id": region * 1000 + np.arange(n), "code": codes, "few": region})
    found = list(id_clues(read(data), None))
    assert {clue.columns[0] for clue in found} == {"id", "code"}
    starts = [clue for clue in found if clue.words == "the first digits of id"]
    assert any(clue.n_levels == 3 for clue in starts)
    letters = next(clue for clue in found if clue.words == "the first letters of code")
    assert all(
        (letters.codes == letters.codes[i]).tolist() == (region == region[i]).tolist() for i in range(3)
    )
    gap = next(clue for clue in found if clue.words == "the gap to the next id")
    assert gap.numbers is not None
    assert gap.numbers[0] == 3
    assert np.isnan(gap.numbers[-1])
    assert [
        clue.columns for clue in id_clues(read(data.select("few")), "few")
    ]  # a household's number is one, too


@pytest.mark.parametrize("household", [None, "home"])
def test_the_columns_themselves(household):
    found = list(column_clues(read(HOMES), household))
    assert [clue.columns for clue in found] == [("home",), ("age",), ("sex",)]
    assert all(clue.joins for clue in found)
    assert found[0].words == ("home" if household is None else "home (mates share it)")
