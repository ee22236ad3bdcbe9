"""Weights that no longer tell who stands behind them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from homes import people, shared
from sdckit.data.frames import open_frame
from sdckit.data.telling import TELLS, told_by
from sdckit.errors import ColumnError, DataError


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
    before, after = (
        one.group_by("region").agg(pl.sum("w")).sort("region")["w"].to_list() for one in (data, found)
    )
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
