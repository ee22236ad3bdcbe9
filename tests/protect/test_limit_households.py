"""No household shows more members than the top code."""

from __future__ import annotations

import duckdb
import polars as pl
import pytest

import sdckit as sdc
from homes import people
from sdckit.errors import ColumnError, DataError


def counted(data, household="home"):
    return data.drop_nulls(household).group_by(household).agg(pl.len())["len"]


@pytest.mark.parametrize("engine", [pl.DataFrame.clone, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow])
@pytest.mark.parametrize("largest", [1, 2, 4])
def test_nobody_can_count_more_than_the_largest(engine, largest):
    data = people()
    found = sdc.limit_households(engine(data), household="home", largest=largest, seed=1)
    made = found.data if isinstance(found.data, pl.DataFrame) else pl.DataFrame(found.data)
    assert counted(made).max() <= largest
    assert made.drop("home").to_dicts() == data.drop("home").to_dicts()
    assert found.change.changed == {"home": len(data)}


def test_households_up_to_the_largest_stay_whole_and_others_are_dealt_evenly():
    data = people().with_columns(old="home")
    found = sdc.limit_households(data, household="home", largest=4, seed=1).data
    whole = found.filter(pl.col("size") <= 4).group_by("old").agg(pl.col("home").n_unique())
    assert (whole["home"] == 1).all()
    assert (found.group_by("home").agg(pl.col("old").n_unique())["old"] == 1).all()
    six = found.filter(pl.col("size") == 6).group_by("old", "home").agg(pl.len())
    assert set(six["len"]) == {3}


def test_the_numbers_are_new_from_one_on_and_in_no_order():
    data = people().sort("home")
    found = sdc.limit_households(data, household="home", largest=9, seed=1)
    numbers = found.data.unique("home", maintain_order=True)["home"].to_list()
    assert sorted(numbers) == list(range(1, 151))
    assert numbers != sorted(numbers)
    assert "no household is larger" in found.change.notes["changed"]


def test_numbers_in_text_stay_text():
    data = people().with_columns(pl.format("h{}", "home").alias("home"))
    found = sdc.limit_households(data, household="home", largest=3, seed=1).data
    assert found["home"].dtype == pl.String
    assert not found["home"].str.starts_with("h").any()


def test_the_size_is_that_of_the_new_household():
    data = people()
    found, change = sdc.limit_households(data, household="home", largest=3, size="size", seed=1)
    sizes = found.group_by("home").agg(pl.len().alias("n"), pl.first("size"))
    assert (sizes["n"] == sizes["size"]).all()
    assert found["size"].dtype == data["size"].dtype
    assert change.changed["size"] == data.filter(pl.col("size") > 3).height


def test_the_numbers_of_large_ones_can_be_left_off():
    data = people()
    found, change = sdc.limit_households(data, household="home", largest=3, how="missing", seed=1)
    assert found["home"].is_null().equals(data["size"] > 3)
    assert counted(found).max() <= 3
    assert change.changed == {"home": len(data)}


def test_who_has_no_household_gets_none():
    data = people().with_columns(pl.when(pl.col("size") == 2).then(None).otherwise("home").alias("home"))
    found, change = sdc.limit_households(data, household="home", largest=3, seed=1)
    assert found["home"].is_null().equals(data["home"].is_null())
    assert change.changed["home"] == data["home"].is_not_null().sum()


def test_the_seed_repeats_it():
    data = people()
    first = sdc.limit_households(data, household="home", largest=2, seed=1)
    assert sdc.limit_households(data, household="home", largest=2, seed=first.change.secret["seed"]).data.equals(
        first.data
    )
    assert not sdc.limit_households(data, household="home", largest=2, seed=2).data.equals(first.data)


def test_a_size_that_counts_something_else_is_refused():
    with pytest.raises(DataError, match="recount it first"):
        sdc.limit_households(people(), household="home", largest=3, size="age")
    with pytest.raises(ColumnError, match="numbers the households"):
        sdc.limit_households(people(), household="home", largest=3, size="home")


@pytest.mark.parametrize("numbers", [[1, 1, 2, 2], ["a", "a", "b", "b"]])
def test_a_column_of_which_no_number_is_left_keeps_its_type(numbers):
    data = pl.DataFrame({"home": numbers, "x": [1, 2, 3, 4]})
    recipe = sdc.Recipe([{"method": "limit_households", "household": "home", "largest": 1, "how": "missing"}])
    made = recipe.apply(data).data
    assert (made.schema, made["home"].null_count()) == (data.schema, 4)
    assert recipe.apply(data.lazy()).data.collect().equals(made)
    assert recipe.apply(duckdb.from_arrow(data.to_arrow())).data.pl().equals(made)
    assert pl.DataFrame(recipe.apply(data.to_arrow()).data).equals(made)
