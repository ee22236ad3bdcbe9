"""Rules by which values are told: what each tells, and where it must not."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from attacks.recovery.made import blanked, opened, survey
from sdckit.attacks.recovery import reconstruction_rules
from sdckit.attacks.recovery.derived_columns import Household, column_predictors
from sdckit.attacks.recovery.reconstruction_rules import by_columns, by_household, by_numbers, by_order, by_pairs


def told(one, whole):
    """Values told and, of these, right ones."""
    fresh = one.target.touched & ~one.open
    if one.values is not None:
        return int(fresh.sum()), int((fresh & (one.values == whole[one.name].to_numpy())).sum())
    place = {label: code for code, label in enumerate(one.target.column.labels(), 1)}
    truth = np.array([place.get(label, -1) for label in whole[one.name]])
    return int(fresh.sum()), int((fresh & (one.codes == truth)).sum())


@pytest.mark.parametrize(("noise", "expected"), [(0.0, True), (0.3, False)])
def test_a_column_that_tells(noise, expected):
    rng = np.random.default_rng(1)
    key = rng.integers(0, 40, 2000)
    value = np.where(rng.random(2000) < noise, rng.integers(0, 6, 2000), key % 6)
    whole = pl.DataFrame({"key": key, "x": [f"v{one}" for one in value]})
    columns, one = opened(blanked(whole, ["x"], 0.1), whole, "x")
    by_columns(one, list(column_predictors(columns, None)), rules=2)
    count, right = told(one, whole)
    assert count == right
    assert bool(count == one.target.touched.sum()) is expected
    assert [source.words for source in one.sources] == ["key"] * expected


@pytest.mark.parametrize("errors", [0.0, 0.004, 0.02, 0.2])
@pytest.mark.parametrize("levels", [4_000, 9_000, 30_000])
def test_pairs_tell_the_same_where_records_alone_in_their_group_are_left_out(errors, levels, monkeypatch):
    rng = np.random.default_rng([levels, round(1000 * errors)])
    n = 20_000
    home, place = rng.integers(0, levels, n), rng.integers(0, 3, n)
    value = np.where(rng.random(n) < errors, rng.integers(0, 4, n), (home * 7 + place * 5) % 11 % 4)
    whole = pl.DataFrame({"home": home, "place": place, "x": [f"v{one}" for one in value]})
    hidden = blanked(blanked(whole, ["x"], 0.1), ["home"], 0.01, seed=5)
    given = []
    for mostly in (0.1, np.inf):
        monkeypatch.setattr(reconstruction_rules, "MOSTLY_ALONE", mostly)
        columns, one = opened(hidden, whole, "x")
        by_pairs([one], list(column_predictors(columns, None)))
        given.append((one.open.tolist(), one.codes.tolist(), one.sources))
    assert given[0] == given[1]
    assert errors > 0.01 or given[0][2]


def test_thirty_unrelated_columns_and_all_their_pairs_tell_nothing():
    rng = np.random.default_rng(2)
    whole = pl.DataFrame({f"c{i}": rng.integers(0, 2 + 3 * i, 600) for i in range(30)})
    whole = whole.with_columns(x=pl.Series(rng.choice(["a", "b", "c"], 600, p=[0.8, 0.15, 0.05])))
    columns, one = opened(blanked(whole, ["x"], 0.1), whole, "x")
    predictors = list(column_predictors(columns, None))
    by_columns(one, predictors, rules=len(predictors))
    by_pairs([one], predictors)
    by_numbers(one, columns, predictors, None, frozenset(columns))
    assert one.sources == []
    assert (one.open == one.target.touched).all()


def test_pairs_tell_what_one_column_does_not():
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 7, (2, 3000))
    whole = pl.DataFrame({"a": a, "b": b, "x": [f"v{one}" for one in (a * 3 + b * 5) % 6]})
    columns, one = opened(blanked(whole, ["x"], 0.1), whole, "x")
    predictors = list(column_predictors(columns, None))
    by_columns(one, predictors, rules=3)
    assert one.sources == []
    steps = []
    by_pairs([one], predictors, steps.append)
    assert told(one, whole) == (one.target.touched.sum(),) * 2
    assert steps[-1] == "reading pairs of columns, 3 of 3"


def test_one_member_of_a_kind():
    rng = np.random.default_rng(4)
    size = rng.integers(1, 5, 300)
    home = np.repeat(np.arange(300), size)
    head = np.concatenate([rng.permutation(one) == 0 for one in size])
    whole = pl.DataFrame({"home": home, "x": np.where(head, "head", "other")})
    columns, one = opened(blanked(whole, ["x"], 0.05), whole, "x")
    by_household(one, Household.of(columns["home"]))
    count, right = told(one, whole)
    assert count == right > 0
    values = np.array(one.target.column.labels())[one.codes[one.codes > 0] - 1]
    assert set(values) == {"head"}


def test_couples_that_happen_to_differ_are_no_rule():
    """Nearly all live alone; in four couples one is "a", as chance has it often."""
    home = np.repeat(np.arange(204), [1] * 200 + [2] * 4)
    x = ["a"] * 200 + ["a", "b"] * 4
    whole = pl.DataFrame({"home": home, "x": x})
    columns, one = opened(blanked(whole, ["x"], 0.05), whole, "x")
    by_household(one, Household.of(columns["home"]))
    assert one.sources == []


def test_mates_are_numbered():
    size = np.tile([1, 2, 3, 4], 60)
    whole = pl.DataFrame(
        {"home": np.repeat(np.arange(240), size), "x": np.concatenate([np.arange(m) + 1 for m in size])}
    )
    columns, one = opened(blanked(whole, ["x"], 0.03), whole, "x")
    by_household(one, Household.of(columns["home"]))
    count, right = told(one, whole)
    assert count == right > 0.8 * one.target.touched.sum()
    none = pl.DataFrame({"home": np.arange(600), "x": np.ones(600, int)})
    columns, one = opened(blanked(none, ["x"], 0.03), none, "x")
    by_household(one, Household.of(columns["home"]))
    assert one.sources == []


@pytest.mark.parametrize(("second", "back"), [("2-3", 0), ("2", 20)])
def test_a_mate_whose_number_is_a_range_leaves_the_others_open(second: str, back: int) -> None:
    """In the last homes one number may be a range from the start, which stands for none of those that it may be."""
    numbers = [*np.tile(["1", "2", "3"], 40), *["1", second, "3"] * 20]
    whole = pl.DataFrame({"home": np.repeat(np.arange(60), 3), "x": numbers})
    released = whole.with_columns(x=pl.when((pl.col("home") >= 40) & (pl.col("x") == "1")).then(None).otherwise("x"))
    columns, one = opened(released, whole, "x")
    by_household(one, Household.of(columns["home"]))
    fresh = one.target.touched & ~one.open
    assert fresh.sum() == back
    assert one.values is not None
    assert (one.values[fresh] == 1).all()


def test_the_order_of_the_rows():
    rng = np.random.default_rng(5)
    whole = pl.DataFrame({"x": [f"v{one}" for one in np.sort(rng.integers(0, 9, 4000))]})
    _, one = opened(blanked(whole, ["x"], 0.03), whole, "x")
    by_order(one, {"the order of the rows": np.arange(4000)})
    count, right = told(one, whole)
    assert count == right > 0.95 * one.target.touched.sum()
    _, one = opened(blanked(whole, ["x"], 0.03), whole, "x")
    by_order(one, {"another order": rng.permutation(4000)})
    assert one.sources == []


@pytest.mark.parametrize("noise", [0.0, 0.002, 0.02, 0.5])
def test_the_order_says_the_same_where_nobody_has_mates_and_where_nobody_lives_with_another(noise):
    rng = np.random.default_rng(8)
    x = np.where(rng.random(4000) < noise, rng.permutation(9)[rng.integers(0, 9, 4000)], np.arange(4000) // 500)
    whole = pl.DataFrame({"x": [f"v{one}" for one in x]})
    alone = Household("home", np.full(4000, -1, np.int32), np.zeros(0, np.int64))
    given = []
    for household in (None, alone):
        _, one = opened(blanked(whole, ["x"], 0.03), whole, "x")
        by_order(one, {"the order of the rows": np.arange(4000), "another": rng.permutation(4000)}, household)
        given.append((one.sources, one.codes.tolist()))
    assert given[0] == given[1]
    assert bool(given[0][0]) == (noise < 0.02)


@pytest.mark.parametrize("share", [0.0, 0.01])
def test_the_order_says_nothing_of_a_column_with_one_value_or_nearly(share):
    rng = np.random.default_rng(6)
    whole = pl.DataFrame({"x": (rng.random(3000) < share).astype(int)})
    _, one = opened(blanked(whole, ["x"], 0.1), whole, "x")
    by_order(one, {"the order of the rows": np.arange(3000)})
    assert one.sources == []


def test_top_coded_to_one_value_nobody_is_told():
    """All who are known stand at the limit: that says nothing of those beyond it."""
    whole = pl.DataFrame({"x": (np.arange(3000) % 50 == 0).astype(int), "y": np.arange(3000) % 7})
    columns, one = opened(whole.with_columns(pl.col("x").clip(upper_bound=0)), whole, "x")
    predictors = list(column_predictors(columns, None))
    by_columns(one, predictors, rules=2)
    by_order(one, {"the order of the rows": np.arange(3000)})
    assert one.open[one.target.touched].all()


def test_numbers_stay_in_the_range_that_the_release_leaves():
    """A copy that is out of date in some records tells nothing there."""
    rng = np.random.default_rng(7)
    age = rng.integers(0, 90, 1000)
    whole = pl.DataFrame({"age": age, "born": 2020 - age})
    ten = pl.col("age") // 10 * 10
    hidden = whole.with_columns(age=pl.concat_str([ten, pl.lit("-"), ten + 9]))
    hidden = hidden.with_columns(born=pl.when(pl.int_range(1000) == 5).then(1700).otherwise("born"))
    columns, one = opened(hidden, whole, "age")
    by_numbers(one, columns, list(column_predictors(columns, None)), None, frozenset(columns))
    fresh = ~one.open
    assert one.values is not None
    assert (one.values[fresh] == age[fresh]).all()
    assert one.open[5]


def test_bands_beside_the_year_of_birth():
    data = survey(700).select("age", "born")
    ten = pl.col("age") // 10 * 10
    columns, one = opened(data.with_columns(age=pl.concat_str([ten, pl.lit("-"), ten + 9])), data, "age")
    by_numbers(one, columns, list(column_predictors(columns, None)), None, frozenset(columns))
    truth = data["age"].to_numpy()
    assert one.low is not None
    assert one.high is not None
    assert (one.low <= truth).all()
    assert (truth <= one.high).all()
    assert (one.high - one.low <= 1 + 1e-9).all()
    count, right = told(one, data)
    assert count == right


def test_sums_of_mates_and_of_columns():
    data = survey(600).select("home", "wage", "capital", "total")
    columns, one = opened(blanked(data, ["total"], 0.1), data, "total")
    household = Household.of(columns["home"])
    by_numbers(one, columns, list(column_predictors(columns, "home")), household, frozenset(columns))
    assert told(one, data) == (one.target.touched.sum(),) * 2
    assert one.sources[0].words == "a sum or difference of wage, capital"
