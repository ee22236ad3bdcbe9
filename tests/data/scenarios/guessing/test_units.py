"""Households and persons by how their records behave."""

from __future__ import annotations

import numpy as np
import polars as pl

from sdckit.data.scenarios.guessing.facts import facts_of
from sdckit.data.scenarios.guessing.spoken import spoken_of
from sdckit.data.scenarios.guessing.units import units_of

rng = np.random.default_rng(5)
HOME = np.repeat(np.arange(200), rng.choice([1, 2, 3, 4], 200))
SIZE = np.bincount(HOME)[HOME]
N = len(HOME)
SEX = rng.integers(1, 3, N)


def units(**columns):
    frame = pl.DataFrame(columns)
    facts = {name: facts_of(frame[name]) for name in frame.columns}
    return units_of(frame, facts, spoken_of(tuple(facts.values()), {}))


def test_what_hangs_on_a_household():
    region, rent = rng.integers(0, 5, 200)[HOME], rng.normal(0, 1, 200)[HOME]
    almost = region.copy()
    almost[0] += 1
    almost[1:3] = region[1:3]
    found = units(
        hh=HOME, sex=SEX, hsize=SIZE, region=region, rent=rent, other=HOME * 7 + 3, noise=rng.normal(0, 1, N)
    )
    assert found.household.column == "hh"
    assert found.household.confidence == "sure"
    assert found.sizes == ("hsize",)
    assert found.same == ("other",)
    assert found.constant == ("hsize", "region", "rent")


def test_one_household_that_differs_is_enough_not_to_be_shared():
    region = rng.integers(0, 5, 200)[HOME]
    first = np.flatnonzero(SIZE > 1)[0]
    region[first] = 9
    assert units(hh=HOME, sex=SEX, region=region).constant == ()


def test_missing_for_all_members_is_shared_missing_for_one_is_not():
    value = [None if one % 3 == 0 else int(one) % 5 for one in HOME.tolist()]
    assert units(hh=HOME, sex=SEX, x=value).constant == ("x",)
    first = int(np.flatnonzero((SIZE > 1) & (HOME % 3 != 0))[0])
    value[first] = None
    assert units(hh=HOME, sex=SEX, x=value).constant == ()


def test_records_in_any_order():
    order = rng.permutation(N)
    found = units(hh=HOME[order], sex=SEX[order], hsize=SIZE[order])
    assert found.household.column == "hh"
    assert found.sizes == ("hsize",)


def test_a_person_number_with_members_of_different_sex_is_asked_about():
    found = units(pid=HOME, sex=SEX)
    assert found.person is None
    assert "differ in sex" in found.asked["pid"]


def test_without_a_sex_a_name_is_only_likely():
    assert units(hh=HOME, x=SEX).household.confidence == "likely"
    assert units(pid=HOME, x=SEX).person.confidence == "likely"


def test_groups_too_large_for_a_household():
    assert units(hh=np.arange(2000) // 50, sex=rng.integers(1, 3, 2000)).household is None
    lumpy = np.concatenate([np.zeros(100, dtype=int), np.arange(1, 901) // 2 + 1])
    assert units(hh=lumpy, sex=rng.integers(1, 3, 1000)).household is None


def test_an_id_that_is_missing_for_many():
    ids = [None if i % 5 == 0 else int(one) for i, one in enumerate(HOME)]
    assert units(hh=ids, sex=SEX).household is None
