"""The rules in turn, until they say nothing new."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from attacks.recovery.made import blanked, opened, read, released, survey
from sdckit import individual_risk, k_anonymity
from sdckit.attacks.recovery import reconstruct
from sdckit.attacks.recovery.derived_columns import column_predictors
from sdckit.attacks.recovery.reconstruct import (
    _ranges_beside,
    put_back,
    recognised,
    recover,
    recover_cells,
    remaining_values,
    row_orders,
)
from sdckit.attacks.recovery.reconstruction_rules import Reconstruction, by_columns, by_pairs
from sdckit.attacks.recovery.touched_cells import by_original
from sdckit.data.frames import open_frame
from sdckit.data.scenarios.roles import resolve_roles


def recovered(hidden, whole, **given_):
    columns = read(hidden)
    return recover(columns, by_original(columns, read(whole)), household=None, **given_)


def test_a_chain_of_columns_is_followed():
    """a tells b where b is missing; b tells c where c is missing, and a does not tell c."""
    rng = np.random.default_rng(1)
    a = rng.integers(0, 90, 3000)
    b = a % 30
    whole = pl.DataFrame(
        {"a": a, "b": [f"b{one}" for one in b], "c": [f"c{one}" for one in rng.permutation(30)[b] % 7]}
    )
    gone = pl.int_range(3000) < 300
    hidden = whole.with_columns(
        b=pl.when(gone).then(None).otherwise("b"), c=pl.when(gone).then(None).otherwise("c"),
        a=pl.when((pl.int_range(3000) % 2 == 0) & ~gone).then(None).otherwise("a"),
    )  # fmt: skip
    found = recovered(hidden, whole)
    assert found["b"].restored.sum() == 300
    assert found["c"].restored.sum() == 300


@pytest.mark.parametrize("seed", range(3))
def test_rules_that_read_nothing_new_are_not_asked_again(seed, monkeypatch):
    """What is left out of later rounds would have said nothing: all rules in every round give the same."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 90, 3000)
    b = a % 30
    whole = pl.DataFrame(
        {"a": a, "b": [f"b{one}" for one in b], "c": rng.permutation(30)[b] % 7, "d": rng.integers(0, 9, 3000)}
    )
    row = pl.int_range(3000)
    hidden = whole.with_columns(
        a=pl.when((row < 20) | (row % 2 == 1)).then(pl.col("a")), b=pl.when((row < 900) & (row > 30)).then("b"),
        c=pl.when((row > 60) & (row % 9 > 0)).then("c"), d=pl.when(row % 5 > 0).then("d"),
    )  # fmt: skip
    some = recovered(hidden, whole)
    rules = reconstruct._by_rules
    asked = []

    def every_rule(states, now, predictors, household, renewed, waves):
        asked.append(len(renewed))
        rules(states, now, predictors, household, frozenset(now), waves)

    monkeypatch.setattr(reconstruct, "_by_rules", every_rule)
    every = recovered(hidden, whole)
    assert len(asked) > 1
    assert asked[1] < 4
    for name, found in some.items():
        assert (found.restored == every[name].restored).all()
        assert (found.source == every[name].source).all()
        assert found.sources == every[name].sources
        np.testing.assert_array_equal(found.after, every[name].after)


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_cells_restore_what_their_records_do(seed, many, monkeypatch):
    """By values that go with one or two others; with exceptions, and where the groups are many."""
    if many:
        monkeypatch.setattr("sdckit.attacks.recovery.group_agreement.MOST_SPARSE", 0)
    rng = np.random.default_rng(seed)
    a, b, sex = rng.integers(0, 40, 900), rng.integers(0, 5, 900), rng.choice(["f", "m"], 900)
    c = np.where(rng.random(900) < 0.004, 9, (a + b) % 4)
    whole = pl.DataFrame({"a": [f"a{v}" for v in a], "b": [f"b{v}" for v in b], "c": c, "d": a % 7, "sex": sex})
    gone = [rng.random(900) < share for share in (0.1, 0.05)]
    hidden = whole.with_columns(
        pl.when(~pl.Series(mask)).then(name).alias(name) for mask, name in zip(gone, ("c", "d"), strict=True)
    )
    times = rng.integers(1, 6, 900)
    at = np.repeat(np.arange(900), times)
    columns, before = read(hidden), read(whole)
    cells = recover_cells(by_original(columns, before), list(column_predictors(columns, None)), times)
    columns, before = read(hidden[at]), read(whole[at])
    predictors = list(column_predictors(columns, None))
    states = [Reconstruction.of(target) for target in by_original(columns, before).values()]
    for state in states:
        by_columns(state, predictors, rules=len(predictors))
    by_pairs(states, predictors)
    assert [own.target.column.name for own in cells] == [state.name for state in states]
    assert sum(own.restored.sum() for own in cells) > 50
    for own, state in zip(cells, states, strict=True):
        np.testing.assert_array_equal(own.restored[at], state.target.touched & ~state.open)
        np.testing.assert_array_equal(own.values[at], state.values)


def test_every_value_has_one_source():
    data = survey(500)
    hidden = released(data)
    columns = read(hidden)
    found = recover(columns, by_original(columns, read(data)), household="home")
    for one in found.values():
        assert ((one.source >= 0) == one.restored).all()
        assert one.source.max() < len(one.sources)
        assert not (one.restored & one.narrowed).any()
        assert not (one.restored & ~one.target.touched).any()
        if one.values is not None:
            assert np.isfinite(one.values[one.restored]).all()
        else:
            assert (one.codes[one.restored] > 0).all()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_the_order_of_the_columns_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 50, 800)
    whole = pl.DataFrame({"a": a, "x": [f"v{one % 7}" for one in a], "y": 3 * a + 2, "z": rng.integers(0, 9, 800)})
    hidden = blanked(whole, ["x", "y"], 0.1, seed)
    one = recovered(hidden, whole)
    order = list(rng.permutation(whole.columns))
    two = recovered(hidden.select(order), whole.select(order))
    assert set(one) == set(two)
    for name in one:
        assert (one[name].restored == two[name].restored).all()
        assert one[name].restored.sum() == one[name].target.touched.sum()


def testrow_orders_are_those_of_columns_that_number_the_records():
    data = pl.DataFrame({"id": [3, 1, 2, None], "name": ["d", "a", "c", "b"], "few": [1, 1, 1, 1]})
    found = row_orders(read(data))
    assert set(found) == {"the order of the rows", "the order by id", "the order by name"}
    assert found["the order by name"].tolist() == [1, 3, 2, 0]
    assert found["the order by id"][:3].tolist() == [1, 2, 0]


def test_records_are_put_in_the_order_of_a_column_once() -> None:
    columns = read(pl.DataFrame({"id": [3, 1, None, 2], "of": ["b", "a", "d", "c"]}))
    orders, again = row_orders(columns), row_orders(dict(columns))
    assert orders["the order by id"].tolist() == [1, 3, 0, 2]
    assert all(again[f"the order by {name}"] is orders[f"the order by {name}"] for name in ("id", "of"))


def test_without_pairs():
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 8, (2, 3000))
    whole = pl.DataFrame({"a": a, "b": b, "x": [f"v{one}" for one in (3 * a + 5 * b) % 7]})
    hidden = blanked(whole, ["x"])
    assert recovered(hidden, whole)["x"].restored.any()
    assert not recovered(hidden, whole, pairs=False)["x"].restored.any()


# Majorities vote perturbed values down, where they are nearly a rule.


def voted(noise, share=0.1, n=3000, seed=1):
    """A column of which a share was drawn anew, beside one that agrees with it but for noise."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 6, n)
    other = np.where(rng.random(n) < noise, rng.integers(0, 6, n), x)
    changed = np.where(rng.random(n) < share, rng.integers(0, 6, n), x)
    whole = pl.DataFrame({"x": [f"v{one}" for one in x], "other": other})
    hidden = whole.with_columns(x=pl.Series([f"v{one}" for one in changed]))
    columns, one = opened(hidden, whole, "x")
    assert one.target.perturbed
    by_columns(one, list(column_predictors(columns, None)), rules=2)
    told = one.target.touched & ~one.open
    place = {label: code for code, label in enumerate(columns["x"].labels(), 1)}
    right = told & (one.codes == np.array([place[label] for label in whole["x"]]))
    return int(one.target.touched.sum()), int(told.sum()), int(right.sum())


def test_a_copy_puts_everything_back():
    touched, told, right = voted(0)
    assert touched == told == right > 0


def test_what_agrees_by_chance_puts_nothing_back():
    assert voted(1)[1] == 0
    assert voted(0.6)[1] == 0


def test_small_groups_and_nothing_else_decide_nothing():
    assert voted(0, n=25)[1] == 0


# Values that remain possible: the truth is always among them, where what rules others out is a rule.


def left(hidden, whole, name):
    columns, one = opened(hidden, whole, name)
    return one, remaining_values(one, list(column_predictors(columns, None)))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_what_a_rule_leaves_is_counted(seed):
    """Each group has its own three of nine values."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, 1500)
    whole = pl.DataFrame({"g": group, "x": [f"v{one}" for one in group * 3 + rng.integers(0, 3, 1500)]})
    gone = pl.int_range(1500) % 20 == 0
    one, (before, after) = left(whole.with_columns(x=pl.when(gone).then(None).otherwise("x")), whole, "x")
    assert len(before) == len(after) == one.open.sum()
    assert (before == 9).all()
    assert (after == 3).all()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 9))
def test_unrelated_columns_rule_nothing_out(seed, levels):
    rng = np.random.default_rng(seed)
    whole = pl.DataFrame({"g": rng.integers(0, 9, 900), "h": rng.integers(0, 300, 900),
                          "x": [f"v{one}" for one in rng.integers(0, levels, 900)]})  # fmt: skip
    gone = pl.int_range(900) % 20 == 0
    _one, (before, after) = left(whole.with_columns(x=pl.when(gone).then(None).otherwise("x")), whole, "x")
    assert (after == before).all()


def test_whole_numbers_in_a_range_are_counted():
    whole = pl.DataFrame({"age": np.arange(200) % 80})
    ten = pl.col("age") // 10 * 10
    one, (before, after) = left(whole.with_columns(age=pl.concat_str([ten, pl.lit("-"), ten + 9])), whole, "age")
    assert (before == 10).all()
    assert (after == 10).all()
    assert one.open.all()


def test_suppressed_numbers_lie_in_the_range_of_their_like():
    rng = np.random.default_rng(1)
    group = rng.integers(0, 4, 2000)
    whole = pl.DataFrame({"g": group, "x": group * 100 + rng.integers(0, 10, 2000)})
    gone = pl.int_range(2000) % 50 == 0
    columns, one = opened(whole.with_columns(x=pl.when(gone).then(None).otherwise("x")), whole, "x")
    rows, predictors = np.flatnonzero(one.open), list(column_predictors(columns, None))
    low, high = _ranges_beside(one, one.numbers, rows, predictors)
    truth = whole["x"].to_numpy()[rows]
    assert (low <= truth).all()
    assert (truth <= high).all()
    assert (high - low < 10).all()
    assert (remaining_values(one, predictors)[1] == 10).all()


def test_nothing_is_known_of_a_column_without_values():
    whole = pl.DataFrame({"x": np.arange(60), "t": list("abc") * 20, "y": np.arange(60) % 7})
    for name in ("x", "t"):
        one, (_before, after) = left(whole.with_columns(**{name: pl.lit(None)}), whole, name)
        assert one.open.all()
        assert np.isnan(after).all()


def test_names_of_bands_leave_a_number_open():
    whole = pl.DataFrame({"x": np.arange(80) // 4, "y": np.arange(80) % 7})
    named = whole.with_columns(x=pl.when(pl.col("x") < 7).then(pl.lit("young")).otherwise(pl.lit("old")))
    named = named.with_columns(x=pl.when(pl.int_range(80) % 20 == 3).then(None).otherwise("x"))
    one, (before, _after) = left(named, whole, "x")
    assert one.open.sum() == 4
    assert set(before) == {2.0}


# The file with values put back, and who is recognised in it.


DATA = survey(400)


def undone(hidden, whole, household="home"):
    columns = read(hidden)
    found = recover(columns, by_original(columns, read(whole)), household=household)
    back = put_back(open_frame(hidden), found, {name: one.restored for name, one in found.items()})
    return back.to_native(), found


def test_what_is_put_back_is_the_original_and_nothing_else_changes():
    hidden = released(DATA)
    back, found = undone(hidden, DATA)
    for name in hidden.columns:
        told = found[name].restored if name in found else None
        for i, (was, now) in enumerate(zip(hidden[name], back[name], strict=True)):
            if told is not None and told[i]:
                assert str(now) == str(DATA[name][i])
            else:
                assert was == now
    assert back.schema == hidden.schema


@pytest.mark.parametrize("kind", ["Int64", "float64", "Int8"])
def test_the_type_of_a_column_stays(kind):
    whole = pd.DataFrame({"x": pd.Series(range(90)).mod(40).astype(kind), "y": [i % 40 * 2 for i in range(90)]})
    hidden = whole.copy()
    hidden.loc[:5, "x"] = None
    columns = read_frame(hidden)
    found = recover(columns, by_original(columns, read_frame(whole)), household=None)
    back = put_back(open_frame(hidden), found, {name: one.restored for name, one in found.items()}).to_native()
    assert isinstance(back, pd.DataFrame)
    pd.testing.assert_frame_equal(back, whole)


def read_frame(data):
    from sdckit.attacks.recovery.touched_cells import read_columns

    frame = open_frame(data)
    return read_columns(frame, frame.columns)


def test_dates_are_left_as_they_are():
    whole = pl.DataFrame({"d": pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 6, 1), eager=True)})
    whole = whole.with_columns(copy="d")
    hidden = blanked(whole, ["d"], 0.1)
    back, found = undone(hidden, whole, household=None)
    assert found["d"].restored.any()
    assert back.equals(hidden)


def test_counted_as_by_the_measures_of_one_file():
    keys = ["region", "sex", "edu"]
    roles = resolve_roles(scenario=None, keys=keys, weight=None, sampling_fraction=None, household=None, missing=None,
                          alpha=None, id=None)  # fmt: skip
    found = recognised(DATA, roles, k=[2, 3, 5], risk=0.2)
    k = k_anonymity(DATA, keys=keys, k=[2, 3, 5])
    assert found.k == k.level
    assert found.below_k == dict(k.violations)
    assert found.uniques == found.below_k[2]
    risk = individual_risk(DATA, keys=keys)
    assert found.expected == pytest.approx(risk.expected_reidentifications)
    sizes = DATA.group_by(keys).len()["len"]
    assert found.above_risk == sizes.filter(sizes < 5).sum()
    assert recognised(DATA, roles, k=[2], risk=None).above_risk is None
