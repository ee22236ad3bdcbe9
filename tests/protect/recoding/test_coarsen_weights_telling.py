"""Whether the values of a column give those of another away."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from homes import people
from sdckit.data.frames import open_frame
from sdckit.protect.recoding.coarsen_weights import TELLS, told_by


def told(data, column, others, **more):
    return told_by(open_frame(data), column, others, **more)


def test_weights_by_region_tell_the_region_and_not_the_sex():
    found = told(people(), "w", ["region", "sex"])
    assert found["region"] > 0.9
    assert found["sex"] < TELLS


def test_unrelated_columns_tell_nothing_beyond_chance():
    rng = np.random.default_rng(5)
    data = pl.DataFrame(
        {"w": rng.integers(0, 2000, 6000), "rare": rng.random(6000) < 0.03, "sex": rng.integers(0, 2, 6000)}
    )
    found = told(data, "w", ["rare", "sex"])
    assert max(found.values()) < TELLS  # most triples share the frequent value of "rare", by chance


def test_a_range_of_weights_that_only_one_region_has_tells_it():
    rng = np.random.default_rng(4)
    region = rng.choice(4, 1_000, p=[0.4, 0.2, 0.2, 0.2])
    weights = np.array([2.0, 9, 10, 11])[region] * rng.uniform(0.7, 1.3, 1_000)
    data = pl.DataFrame({"w": weights, "region": region, "sex": rng.integers(0, 2, 1_000)})
    found = told(data, "w", ["region", "sex"])
    assert found["region"] == pytest.approx(0.45, abs=0.05)
    assert found["sex"] == 0.0


def test_a_value_that_nobody_else_has_tells_nothing():
    data = pl.DataFrame({"w": np.arange(100.0), "region": ["a", "b"] * 50})
    assert told(data, "w", ["region"]) == {"region": 0.0}


def test_mates_who_share_a_weight_tell_unless_households_count_once():
    data = pl.DataFrame({"home": np.repeat(np.arange(100), 3), "w": np.repeat(np.arange(100.0), 3)})
    data = data.with_columns(region=pl.col("home") % 7)
    assert told(data, "w", ["region"])["region"] == pytest.approx(1.0, abs=1e-9)
    assert told(data, "w", ["region"], household="home") == {"region": 0.0}


def test_missing_values_do_not_count():
    data = pl.DataFrame({"w": [1.0, 1.0, 2.0, 2.0, None], "region": ["a", None, "b", "c", "a"]})
    assert told(data, "w", ["region"]) == {"region": 0.0}
    assert told(data.with_columns(region=pl.lit(None, pl.String)), "w", ["region"]) == {"region": 0.0}


def test_few_values_that_agree_by_chance_are_not_said_to_tell():
    rng = np.random.default_rng(8)
    for _ in range(50):  # averages of three records, as after microaggregation
        data = pl.DataFrame({"w": np.repeat(np.arange(40.0), 3), "job": rng.integers(0, 4, 120)})
        assert told(data, "w", ["job"]) == {"job": 0.0}
