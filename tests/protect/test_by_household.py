"""Household variables: once per household, and written to all its members."""

from __future__ import annotations

import polars as pl
import pytest

import sdckit as sdc
from homes import people, shared
from sdckit.errors import ColumnError, DataError
from sdckit.protect.by_household import in_two_parts, of_columns, read_shared

METHODS = {
    "pram": (sdc.pram, {"columns": ["region", "sex"]}),
    "mask_categorical": (
        sdc.mask_categorical, {"columns": ["region", "sex"], "probability": {"region": 0.5, "sex": 0.9}},
    ),
    "add_noise": (sdc.add_noise, {"columns": ["income", "pay"]}),
    "rank_swap": (sdc.rank_swap, {"columns": ["income", "pay"]}),
    "microaggregate": (sdc.microaggregate, {"columns": ["income", "pay"]}),
}  # fmt: skip
SEEDED = [name for name in METHODS if name != "microaggregate"]


def call(name, data, **more):
    function, given = METHODS[name]
    return function(data, **{**given, **more})


@pytest.mark.parametrize("engine", [pl.DataFrame.clone, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow])
@pytest.mark.parametrize("name", METHODS)
def test_all_members_get_what_came_of_their_household(name, engine):
    data = people()
    column, own = METHODS[name][1]["columns"]
    found = call(name, engine(data), household="home", seed=4)
    made = pl.DataFrame(found.data) if not isinstance(found.data, pl.DataFrame) else found.data
    assert shared(made, column)
    assert not shared(made, own)
    moved = int((made[column] != data[column]).sum())
    assert found.change.changed[column] == moved > 0
    assert found.change.parameters["household_variables"] == [column]
    assert made.select(pl.exclude(column, own)).to_dicts() == data.select(pl.exclude(column, own)).to_dicts()


@pytest.mark.parametrize("name", SEEDED)
def test_without_household_variables_the_draw_is_that_of_before(name):
    data = people()
    plain = call(name, data, seed=4)
    assert call(name, data, household="home", household_variables=[], seed=4).data.equals(plain.data)
    assert not shared(plain.data, METHODS[name][1]["columns"][0])


@pytest.mark.parametrize("name", METHODS)
def test_the_seed_repeats_it(name):
    data = people()
    first = call(name, data, household="home", seed=4)
    assert call(name, data, household="home", seed=4).data.equals(first.data)
    if name in SEEDED:
        assert call(name, data, household="home", seed=first.change.secret["seed"]).data.equals(first.data)
        assert not call(name, data, household="home", seed=5).data.equals(first.data)


def test_a_missing_value_stays_missing_and_its_mates_go_together():
    data = people().with_columns(
        pl.when(pl.int_range(pl.len()) % 5 == 0).then(None).otherwise("region").alias("region")
    )
    found = sdc.pram(data, columns=["region"], household="home", pd=0.1, alpha=1.0, seed=2).data
    assert found["region"].is_null().equals(data["region"].is_null())
    assert shared(found.drop_nulls("region"), "region")


def test_the_columns_of_households_alone_can_be_changed():
    found = sdc.pram(people(), columns=["region"], household="home", seed=2)
    assert shared(found.data, "region")
    assert list(found.change.changed) == ["region"]


def test_matrices_of_all_columns_stand_in_one_table():
    secret = sdc.pram(people(), columns=["sex", "region"], household="home", seed=2).change.secret
    assert set(secret["matrix"]) == {"sex", "region"}
    assert isinstance(secret["seed"], int)


def test_averages_of_households_are_those_of_k_households():
    found = sdc.microaggregate(people(), columns=["income"], household="home", k=4).data
    per_value = found.group_by("income").agg(pl.col("home").n_unique())
    assert per_value["home"].min() >= 4


def test_what_is_declared_must_hold():
    data = people()
    with pytest.raises(DataError, match="'age' differs within") as caught:
        sdc.pram(data, columns=["age"], household="home", household_variables=["age"])
    assert caught.value.argument == "household_variables"
    with pytest.raises(ColumnError, match="which column numbers these"):
        sdc.pram(data, columns=["region"], household_variables=["region"])
    with pytest.raises(ColumnError, match="is to be changed itself"):
        sdc.pram(data, columns=["home"], household="home")


def test_only_columns_that_are_changed_are_held_against_what_is_declared():
    frame = sdc.protect.by_household.open_eager(people(), {})
    homes, found = read_shared(frame, ["region", "sex"], "home", ["tenure", "region"])
    assert homes is not None
    assert found == ("region",)
    assert read_shared(frame, ["region"], None, None) == (None, ())


def test_nothing_is_done_in_parts_without_a_household():
    assert in_two_parts(people(), ["region"], None, None, 1, lambda *_: pytest.fail("not called")) is None
    assert of_columns({"a": 1}, ["b"]) == {}


def test_a_household_variable_that_is_not_there_is_refused_by_name():
    with pytest.raises(ColumnError, match=r"household_variables: no column 'regoin'.*region"):
        call("pram", people(), household="home", household_variables=["regoin"], seed=4)
