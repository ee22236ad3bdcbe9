"""Weights that no longer tell who stands behind them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import sdckit as sdc
from homes import people, shared
from sdckit.data.frames import open_frame
from sdckit.errors import ColumnError, DataError
from sdckit.protect.recoding.coarsen_weights import TELLS, raked, read_margins, told_by, weight_groups


@pytest.mark.parametrize("engine", [pl.DataFrame.clone, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow])
def test_the_total_is_kept_and_every_value_is_shared(engine):
    data = people()
    found = sdc.coarsen_weights(engine(data), weight="w", k=7, seed=1)
    made = found.data if isinstance(found.data, pl.DataFrame) else pl.DataFrame(found.data)
    assert made["w"].sum() == pytest.approx(data["w"].sum(), rel=1e-12)
    assert made.group_by("w").agg(pl.len())["len"].min() >= 7
    assert made.drop("w").to_dicts() == data.drop("w").to_dicts()
    assert found.change.changed == {"w": int((made["w"] != data["w"]).sum())}


def test_a_weight_that_told_the_region_no_longer_does():
    data = people()
    assert told_by(open_frame(data), "w", ["region"])["region"] > 0.9
    found, change = sdc.coarsen_weights(data, weight="w", hide=["region", "sex"], share=0.7, seed=1)
    assert told_by(open_frame(found), "w", ["region"])["region"] < TELLS
    assert change.parameters["told"] == []
    for column in ("region", "sex"):
        counts = found.group_by("w", column).agg(pl.len())
        most = counts.group_by("w").agg((pl.max("len") / pl.sum("len")).alias("most"))
        assert most["most"].max() <= 0.7 + 1e-9


def test_strata_keep_their_totals_and_are_said_to_be_told():
    data = people()
    found, change = sdc.coarsen_weights(data, weight="w", strata="region", k=5, seed=1)
    before, after = (one.group_by("region").agg(pl.sum("w")).sort("region")["w"].to_list() for one in (data, found))
    assert after == pytest.approx(before, rel=1e-12)
    assert change.parameters["told"] == ["region"]
    assert "still tell region" in change.notes["told"]


def test_a_household_gets_one_weight():
    data = people()
    found, change = sdc.coarsen_weights(data, weight="w", household="home", hide=["region"], k=5, seed=1)
    assert shared(found, "w")
    assert found["w"].sum() == pytest.approx(data["w"].sum(), rel=1e-12)
    assert found.group_by("w").agg(pl.col("home").n_unique())["home"].min() >= 5
    assert change.parameters["household_variables"] == ["w"]
    assert not shared(sdc.coarsen_weights(data, weight="w", seed=1).data, "w")


def test_margins_are_met():
    margins = {"sex": {"f": 3000.0, "m": 3500.0}, "tenure": {"owner": 3250.0, "tenant": 3250.0}}
    for household in (None, "home"):
        found = sdc.coarsen_weights(people(), weight="w", margins=margins, household=household, seed=1).data
        for column, totals in margins.items():
            sums = dict(found.group_by(column).agg(pl.sum("w")).rows())
            assert sums == pytest.approx(totals, rel=1e-9)
    assert shared(found, "w")


def test_a_group_of_equal_weights_keeps_them_exactly():
    data = pl.DataFrame({"w": [5.01] * 10 + [29.37] * 10})
    found = sdc.coarsen_weights(data, weight="w", k=10, seed=1)
    assert found.data.equals(data)
    assert found.change.changed == {"w": 0}


def test_missing_weights_stay_missing():
    data = people().with_columns(pl.when(pl.col("age") == 3).then(None).otherwise("w").alias("w"))
    found = sdc.coarsen_weights(data, weight="w", seed=1).data
    assert found["w"].is_null().equals(data["w"].is_null())
    assert found["w"].sum() == pytest.approx(data["w"].sum(), rel=1e-12)
    with pytest.raises(DataError, match="without a weight"):
        sdc.coarsen_weights(data, weight="w", margins={"sex": {"f": 1.0, "m": 1.0}})


def test_equal_weights_are_dealt_by_chance_and_the_seed_repeats_it():
    data = people()
    first = sdc.coarsen_weights(data, weight="w", seed=1)
    assert sdc.coarsen_weights(data, weight="w", seed=first.change.secret["seed"]).data.equals(first.data)
    assert not sdc.coarsen_weights(data, weight="w", seed=2).data.equals(first.data)


@pytest.mark.parametrize(("given", "error", "says"), [
    ({"hide": ["region"], "strata": ["region"]}, ColumnError, "choose one"),
    ({"hide": ["w"]}, ColumnError, "is in hide or strata"),
    ({"hide": ["region"], "share": 0.2}, DataError, "has more than 0.2 of the records"),
    ({"k": 10_000}, DataError, "10000"),
    ({"household": "home", "strata": ["sex"]}, DataError, "divides households"),
    ({"weight": "region"}, DataError, "region"),
])  # fmt: skip
def test_what_cannot_be_is_refused(given, error, says):
    with pytest.raises(error, match=says):
        sdc.coarsen_weights(people(), **{"weight": "w", **given})


def test_large_files_take_moments():
    rng = np.random.default_rng(1)
    region = rng.integers(0, 9, 200_000)
    data = pl.DataFrame({"region": region, "w": region * 3.0 + rng.integers(1, 40, 200_000)})
    found = sdc.coarsen_weights(data, weight="w", hide=["region"], k=20, seed=1)
    assert found.change.parameters["told"] == []


# Groups of neighbouring weights: of k units, and none that tells.


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 2)), min_size=1, max_size=40), st.integers(1, 5),
    st.sampled_from([0.5, 0.7, 0.9]),
)  # fmt: skip
@settings(deadline=None)
def test_every_group_is_large_enough_hides_and_is_of_neighbours(records, k, most):
    n = len(records)
    unit = np.cumsum([record[0] > 0 for record in records])
    unit -= unit[0]
    codes = np.array([[record[1] for record in records]])
    group, n_groups = weight_groups(np.arange(n), unit, codes, k, most)
    if n_groups == 0:
        known = codes[0][codes[0] >= 0]
        too_few = len(np.unique(unit)) < k
        assert too_few or (len(known) and np.bincount(known).max() > most * len(known))
        return
    assert (np.diff(group) >= 0).all()
    assert group[-1] == n_groups - 1
    assert group[0] == 0
    for g in range(n_groups):
        inside = group == g
        assert len(np.unique(unit[inside])) >= k
        known = codes[0][inside & (codes[0] >= 0)]
        assert len(known) == 0 or np.bincount(known).max() <= most * len(known) + 1e-9
    assert all(len(np.unique(group[unit == one])) == 1 for one in np.unique(unit))


def test_groups_are_no_larger_than_they_must_be():
    group, n_groups = weight_groups(np.arange(7), np.arange(7), np.empty((0, 7), np.int64), 3, 1.0)
    assert group.tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert n_groups == 2


def test_records_come_in_the_order_given():
    group, _ = weight_groups(np.array([3, 1, 0, 2]), np.arange(4), np.empty((0, 4), np.int64), 2, 1.0)
    assert group.tolist() == [1, 0, 1, 0]


# Weights raked to known totals.


RNG = np.random.default_rng(2)


def by_turns(weight, codes, totals, rounds=500):
    """Iterative proportional fitting, the textbook way."""
    now = weight.astype(float).copy()
    for _ in range(rounds):
        for one, total in zip(codes, totals, strict=True):
            now *= (total / np.bincount(one, now, len(total)))[one]
    return now


def test_persons_get_what_iterative_fitting_gives():
    weight, codes = RNG.uniform(5, 20, 300), [RNG.integers(0, 2, 300), RNG.integers(0, 4, 300)]
    totals = [np.array([1900.0, 2100.0]), np.array([900.0, 1000.0, 1050.0, 1050.0])]
    found = raked(weight, np.arange(300), codes, totals)
    assert found == pytest.approx(by_turns(weight, codes, totals), rel=1e-6)
    for one, total in zip(codes, totals, strict=True):
        assert np.bincount(one, found) == pytest.approx(total, rel=1e-9)


def test_households_keep_one_weight_and_meet_the_totals():
    unit = np.repeat(np.arange(100), RNG.integers(1, 5, 100))
    weight, codes = (RNG.uniform(5, 20, 100)[unit], [RNG.integers(0, 2, len(unit)), RNG.integers(0, 3, len(unit))])
    totals = [np.array([1400.0, 1500.0]), np.array([900.0, 1000.0, 1000.0])]
    found = raked(weight, unit, codes, totals)
    assert all(np.ptp(found[unit == one]) == 0 for one in range(100))
    assert (found > 0).all()
    for one, total in zip(codes, totals, strict=True):
        assert np.bincount(one, found) == pytest.approx(total, rel=1e-9)


def test_weights_that_meet_them_already_stay():
    weight, code = np.array([1.0, 2.0, 3.0]), np.array([0, 0, 1])
    assert raked(weight, np.arange(3), [code], [np.array([3.0, 3.0])]).tolist() == weight.tolist()


def test_totals_that_cannot_be_met_are_refused():
    codes = [np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1])]
    with pytest.raises(DataError, match="no weights above 0"):
        raked(np.ones(4), np.arange(4), codes, [np.array([1.0, 3.0]), np.array([3.0, 1.0])])


FRAME = open_frame(pl.DataFrame({"sex": ["f", "m", "f"], "age": [1, 2, 1], "gap": ["a", None, "b"]}))


def test_levels_are_found_however_they_are_written():
    codes, totals = read_margins(FRAME, {"age": {"1": 4, 2.0: 6}, "sex": {"m": 5.0, "f": 5.0}})
    assert [levels.tolist() for levels in codes] == [[0, 1, 0], [0, 1, 0]]
    assert [total.tolist() for total in totals] == [[4.0, 6.0], [5.0, 5.0]]


@pytest.mark.parametrize(("given", "says"), [
    ({"sex": {"f": 1.0}}, "1 levels of the data have no total"),
    ({"sex": {"f": 1.0, "m": 1.0, "x": 1.0}}, "1 totals no records"),
    ({"gap": {"a": 1.0, "b": 1.0}}, "missing in 1 record "),
    ({"sex": {"f": 1.0, "m": 1.0}, "age": {1: 2.0, 2: 2.0}}, "add up to another sum"),
    ({"sex": {"f": -1.0, "m": 1.0}}, "above 0"),
    ({}, "it is empty"),
])  # fmt: skip
def test_margins_that_do_not_fit_are_refused(given, says):
    with pytest.raises(DataError, match=says):
        read_margins(FRAME, given)


def test_an_absent_margin_is_refused():
    with pytest.raises(ColumnError, match="no column 'sxe'"):
        read_margins(FRAME, {"sxe": {"f": 1.0}})
