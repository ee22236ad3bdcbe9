"""What a release says beside its columns, counted by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings, strategies as st

from attacks.recovery.made import read
from sdckit.attacks.recovery import derived_columns
from sdckit.attacks.recovery.derived_columns import (
    Household,
    Offset,
    Relation,
    _spread,
    below_counts,
    column_predictors,
    fits_some,
    id_predictors,
    linear_relation,
    numbered,
    offset_of,
    released_predictors,
    scaled_copy,
    slopes_within,
    widest_offset,
)

HOMES = pl.DataFrame(
    {"home": [7, 9, 7, None, 9, 7], "age": [40, 3, 38, 50, 30, 12], "sex": ["f", "m", "m", "f", None, "f"]}
)


def by_words(predictors):
    return {predictor.words: predictor for predictor in predictors}


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
    found = by_words(released_predictors(columns, "home"))
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
    counts = [predictor.numbers for predictor in below_counts(columns["age"], Household.of(columns["home"]))]
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
    rows, few = mates.some
    assert sorted(few.sizes) == sorted(np.bincount(home)[np.unique(home[:2000])])
    assert len(rows) == few.sizes.sum() >= 2000


@pytest.mark.parametrize("unknown", [0.0, 0.1, 1.0])
def test_limits_are_looked_at_together_as_they_are_alone(unknown):
    rng = np.random.default_rng(2)
    mates = Household("home", np.repeat(np.arange(60, dtype=np.int32), 3), np.full(60, 3))
    age = np.where(rng.random(180) < unknown, np.nan, rng.integers(0, 9, 180))
    limits = np.arange(1.0, 9.0)

    def counts(limit):
        return mates.spread(derived_columns._below(mates, age, limit))

    kids = counts(4.0)
    noise = 1e-6 * rng.random(180)
    for y in (kids, 7 - 2 * kids, kids + noise, rng.permutation(kids), np.where(age > 3, np.nan, kids)):
        alone = [derived_columns.could_be_scaled(y, counts(limit)) for limit in limits]
        assert derived_columns._could_be_below(y, mates, age, limits).tolist() == alone
    assert derived_columns._could_be_below(kids, mates, age, limits)[3]


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
    found = list(id_predictors(read(data), None, {}))
    assert {predictor.columns[0] for predictor in found} == {"id", "code"}
    starts = [predictor for predictor in found if predictor.words == "the first digits of id"]
    assert any(predictor.n_levels == 3 for predictor in starts)
    letters = next(predictor for predictor in found if predictor.words == "the first letters of code")
    assert all((letters.codes == letters.codes[i]).tolist() == (region == region[i]).tolist() for i in range(3))
    gap = next(predictor for predictor in found if predictor.words == "the gap to the next id")
    assert gap.numbers is not None
    assert gap.numbers[0] == 3
    assert np.isnan(gap.numbers[-1])
    assert [
        predictor.columns for predictor in id_predictors(read(data.select("few")), "few", {})
    ]  # a household's number is one, too


@pytest.mark.parametrize("household", [None, "home"])
def test_the_columns_themselves(household):
    found = list(column_predictors(read(HOMES), household))
    given_ = [predictor for predictor in found if predictor.joins]
    assert [predictor.columns for predictor in given_] == [("home",), ("age",), ("sex",)]
    assert found[0].words == ("home" if household is None else "home (mates share it)")
    skipped = [predictor.words for predictor in found if not predictor.joins]
    assert skipped == ["whether home is missing"] * (household is None) + ["whether sex is missing"]
    codes, n_groups = given_[2].grouped
    assert (n_groups, codes[4]) == (3, 2)  # those who did not say are a group
    assert given_[0].grouped[0][3] == (2 if household is None else -1)  # but no household


# Numbers that follow from others: what is exact is found, what is not is none.


seeds = st.integers(0, 100_000)


@given(seeds, st.floats(-1e6, 1e6), st.floats(-1e6, 1e6).filter(lambda slope: abs(slope) > 1e-3))
def test_a_scaled_copy_is_found_with_its_slope(seed, constant, slope):
    x = np.random.default_rng(seed).normal(size=40)
    y = constant + slope * x
    assume(np.ptp(y) > 1e-4 * np.abs(y).max())
    found = scaled_copy(y, x)
    assert found is not None
    assert found[1] + found[0] * x == pytest.approx(y, rel=1e-6, abs=1e-9 * np.abs(y).max())
    y[:5] = np.nan
    assert scaled_copy(y, x) is not None


@given(seeds, st.integers(2, 40), st.integers(10, 200))
def test_independent_numbers_are_no_copy(seed, levels, n):
    rng = np.random.default_rng(seed)
    assert scaled_copy(rng.integers(0, levels, n) * 1.0, rng.integers(0, levels, n) * 1.0) is None


@given(seeds)
def test_rare_ones_that_meet_by_chance_are_no_copy(seed):
    """Nearly all records have 0 in both."""
    rng = np.random.default_rng(seed)
    y = (np.arange(60) == rng.integers(0, 60)) * 1.0
    assert scaled_copy(y, y.copy()) is None


def test_one_large_number_hides_no_difference():
    rng = np.random.default_rng(1)
    x = rng.integers(0, 50, 200) * 1.0
    y = rng.integers(0, 50, 200) * 1.0
    x[0] = y[0] = 1e9
    assert scaled_copy(y, x) is None
    assert scaled_copy(3 * x, x) == pytest.approx((3.0, 0.0))


def test_infinite_and_missing_numbers_are_left_out():
    x = np.arange(60.0)
    y = 2 * x + 1
    y[3], y[4], x[5] = np.inf, np.nan, -np.inf
    with np.errstate(all="raise"):
        assert scaled_copy(y, x) == pytest.approx((2.0, 1.0))
    assert scaled_copy(np.full(60, np.nan), x) is None
    assert scaled_copy(np.full(60, 3.0), x) is None


def columns_of(numbers: dict[str, np.ndarray]) -> dict[str, Any]:
    """The columns beside that of which a relation is looked for."""
    return {name: SimpleNamespace(numbers=x) for name, x in numbers.items() if name != "y"}


def relation_of(numbers: dict[str, np.ndarray], *, logs: bool = False) -> Relation | None:
    return linear_relation(numbers["y"], columns_of(numbers), logs=logs)


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(2, 4))
def test_a_sum_of_some_of_ten_columns_is_found(seed, parts):
    rng = np.random.default_rng(seed)
    numbers = {f"x{i}": rng.integers(0, 1000, 120) * 1.0 for i in range(10)}
    chosen = rng.choice(10, parts, replace=False)
    factors = rng.choice([-2.0, -1.0, 0.5, 1.0, 3.0], parts)
    numbers["y"] = 7 + sum(f * numbers[f"x{i}"] for f, i in zip(factors, chosen, strict=True))
    found = relation_of(numbers)
    assert found is not None
    assert set(found.names) == {f"x{i}" for i in chosen}
    assert dict(zip(found.names, found.factors, strict=True)) == pytest.approx(
        {f"x{i}": f for f, i in zip(factors, chosen, strict=True)}
    )
    assert found.values(columns_of(numbers)) == pytest.approx(numbers["y"], abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(2, 12), st.integers(15, 100), st.booleans(), st.booleans())
def test_random_numbers_are_no_sum_and_no_product(seed, columns, n, sparse, logs):
    """Sparse ones, too: a few numbers that are not 0 could be met by as many factors."""
    rng = np.random.default_rng(seed)
    numbers = {f"x{i}": rng.integers(1, 1000, n) * 1.0 for i in range(columns)}
    if sparse:
        numbers = {name: np.where(rng.random(n) < 0.15, x, 1.0 * logs) for name, x in numbers.items()}
    numbers["y"] = np.where(rng.random(n) < (0.15 if sparse else 1), rng.integers(1, 99, n), 1.0 * logs)
    assert relation_of(numbers, logs=logs) is None


@pytest.mark.parametrize("seed", range(5))
def test_what_is_exact_in_all_records_is_near_in_some(seed):
    rng = np.random.default_rng(seed)
    terms = np.column_stack([np.ones(60), rng.lognormal(0, 2, (60, 8))])
    both = np.column_stack([terms @ rng.normal(size=9), rng.normal(size=60)])
    assert [*fits_some(terms, both, 1e-3)] == [True, False]
    assert fits_some(terms, both[:, 0], 1e-3)
    assert not fits_some(terms, both[:, 1], 1e-3)


def test_products_and_quotients():
    rng = np.random.default_rng(3)
    a, b, c = rng.uniform(1, 90, (3, 200))
    numbers = {"a": a, "b": b, "c": c, "y": a * b / c}
    found = relation_of(numbers, logs=True)
    assert found is not None
    assert set(found.names) == {"a", "b", "c"}
    assert found.values(columns_of(numbers)) == pytest.approx(a * b / c)
    numbers["y"] = numbers["y"] - 5
    assert relation_of(numbers, logs=True) is None  # numbers below 0 have no logarithm


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(5, 20), st.integers(0, 3), st.sampled_from([1.0, -1.0]))
def test_the_true_distance_lies_within_what_is_found(seed, width, spread, slope):
    """Ages in bands beside years of birth: their sum is the year, or the year less one."""
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, 2000)
    delta = rng.integers(0, spread + 1, 2000)
    other = slope * (age - 2020.0 + delta)
    low = age // width * width * 1.0
    found = offset_of(low, low + width - 1, other)
    if found is None:
        assert spread + 1 > (width - 1) / 2
        return
    assert any(slopes_within(low, low + width - 1, other, widest_offset(low, low + width - 1)))
    assert found.slope == slope
    # age = slope * other + 2020 - delta
    assert found.low <= 2020
    assert found.high >= 2020 - spread


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(2, 9))
def test_unrelated_numbers_are_at_no_fixed_distance(seed, bands):
    rng = np.random.default_rng(seed)
    low = rng.integers(0, bands, 300) * 10.0
    assert offset_of(low, low + 9, rng.integers(0, 100, 300) * 1.0) is None
    assert offset_of(low, low + 9, np.arange(300.0)) is None  # two bands side by side are no line


@pytest.mark.parametrize(
    "slope", [1, -1, 10, 0.1, 100, 0.01, 1000, 0.001, 12, 1 / 12, 7, 1 / 7, 52, 1 / 52, 365.25, 1 / 365.25]
)
def test_units_that_numbers_are_kept_in_are_tried(slope):
    """Months and years, weeks, days, per cent, thousands: known to a band, a number in another unit fixes it."""
    rng = np.random.default_rng(5)
    x = rng.uniform(0, 1000, 300)
    y = slope * x + 3 * abs(slope)
    width = 40 * abs(slope)
    low = np.floor(y / width) * width
    found = offset_of(low, low + width, x)
    assert found is not None
    assert found.slope == slope
    assert any(slopes_within(low, low + width, x, widest_offset(low, low + width)))
    assert found.low <= 3 * abs(slope) <= found.high


def test_how_far_another_number_reaches_is_asked_only_where_few_records_leave_a_distance(monkeypatch):
    rng, asked = np.random.default_rng(6), []
    monkeypatch.setattr(derived_columns, "_spread", lambda values: asked.append(values[0]) or _spread(values))
    own, x = rng.integers(0, 100, 5000) * 1.0, rng.integers(0, 100, 5000) + 0.5
    assert offset_of(own, own, x) is None
    assert asked == [own[0]]
    assert offset_of(own, own, own + 3) == Offset(1.0, -3.0, -3.0)
    assert asked[1:] == [own[0], own[0] + 3]
