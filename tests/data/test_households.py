"""Households: who belongs together, and what all members share."""

from __future__ import annotations

import duckdb
import numpy as np
import polars as pl
import pytest

import sdckit as sdc
import ways
from homes import SHARED, people
from sdckit.data.columns import code_column
from sdckit.data.frames import open_frame
from sdckit.data.households import RankedColumns, count_agreeing, differs_within, homes_of, in_order_of, told_by_rows
from sdckit.errors import ColumnError, DataError


@pytest.mark.parametrize("engine", ["polars", "lazy", "pandas", "pyarrow"])
def test_what_all_members_share_is_found_on_every_engine(engine):
    made = {
        "polars": lambda d: d,
        "lazy": pl.DataFrame.lazy,
        "pandas": pl.DataFrame.to_pandas,
        "pyarrow": pl.DataFrame.to_arrow,
    }
    assert sdc.household_variables(made[engine](people()), household="home") == SHARED


def test_duckdb_finds_the_same():
    survey = people().to_arrow()  # noqa: F841 - DuckDB finds it by its name
    assert sdc.household_variables(duckdb.sql("select * from survey"), household="home") == SHARED


def test_a_missing_value_neither_agrees_nor_differs():
    data = pl.DataFrame({"home": [1, 1, 1, 2], "a": ["x", None, "x", "y"], "b": ["x", None, None, "y"]})
    assert sdc.household_variables(data, household="home") == ("a",)


def test_one_record_per_household_has_no_household_variables():
    data = pl.DataFrame({"home": [1, 2, 3], "region": ["a", "a", "a"]})
    assert sdc.household_variables(data, household="home") == ()


def test_records_without_a_household_share_nothing():
    data = pl.DataFrame({"home": [None, None, 1, 1], "region": ["a", "b", "c", "c"]})
    assert sdc.household_variables(data, household="home") == ("region",)


def test_one_household_that_differs_is_enough():
    data = people().with_columns(
        pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("z")).otherwise("region").alias("region")
    )
    alone = data.filter(pl.col("home") == data["home"][0]).height == 1
    assert ("region" in sdc.household_variables(data, household="home")) is alone


@pytest.mark.parametrize("make", [lambda d: d, pl.DataFrame.lazy])
def test_variables_that_agree_within_a_share_of_the_households(make):
    homes = [home for home in range(20) for _ in range(3)]
    same = [f"f{home % 4}" for home in homes]
    once = [*same[:2], "other", *same[3:]]  # differs in 1 of 20
    alone = {"home": 99, "same": "x", "once": "x", "twice": "x", "gaps": "x", "age": 1}
    data = pl.DataFrame(
        {
            "home": homes, "same": same, "once": once, "twice": [*once[:-1], "other"],
            "gaps": [None if place % 3 and place > 30 else value for place, value in enumerate(once)],
            "age": list(range(60)),
        }
    )  # fmt: skip
    data = make(pl.concat([data, pl.DataFrame(alone)]))
    assert sdc.household_variables(data, household="home") == ("same",)
    assert sdc.household_variables(data, household="home", share=0.95) == ("same", "once")
    assert sdc.household_variables(data, household="home", share=0.9) == ("same", "once", "twice", "gaps")
    assert sdc.household_variables(data, household="home", share=0.96, among=["once", "same"]) == ("same",)


@pytest.mark.parametrize("share", [0, 1.1, "most", None])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(DataError, match="share is the least share of households"):
        sdc.household_variables(people(), household="home", share=share)


def test_what_is_asked_for_is_looked_at_in_its_order():
    assert sdc.household_variables(people(), household="home", among=["w", "age", "region"]) == ("w", "region")


@pytest.mark.parametrize(("given", "argument"), [
    ({"household": "house"}, "household"),
    ({"household": "home", "among": ["home"]}, "among"),
    ({"household": "home", "among": ["regoin"]}, "among"),
])  # fmt: skip
def test_columns_that_cannot_be_are_refused(given, argument):
    with pytest.raises(ColumnError) as caught:
        sdc.household_variables(people(), **given)
    assert caught.value.argument == argument


def test_homes_are_numbered_by_their_first_records():
    homes = homes_of(np.array([5, 9, 5, 3, 9]), 9)
    assert homes.of_row.tolist() == [0, 1, 0, 2, 3]  # 9 is missing: each such record is one alone
    assert homes.first.tolist() == [0, 1, 3, 4]
    assert homes.size.tolist() == [2, 1, 1, 1]


def test_records_that_differ_are_those_unlike_the_first_member():
    frame = open_frame(pl.DataFrame({"home": [1, 1, 1, 2], "x": [None, "a", "b", "c"]}))
    coded = code_column(frame["home"])
    assert differs_within(frame, "x", homes_of(coded.codes(), coded.span)).tolist() == [False, False, True, False]


@pytest.mark.parametrize(
    ("codes", "found"),
    [
        ([1, 1, 2, 0, 3, 3], 2),
        ([1, 2, 2, 0, 3, 3], 0),  # the first household differs
        ([1, 1, 2, 0, 3, 2], 0),  # the last one
        ([1, 0, 2, 0, 0, 3], 0),  # nothing to agree
        ([1, 1, 1, 1, 1, 1], 3),
    ],
)
def test_in_how_many_households_a_variable_agrees(codes, found):
    homes = np.array([0, 0, 1, 1, 2, 2])
    assert count_agreeing(np.array([3, 2, 1, 0]), 0, 3 - np.array(codes), homes, 3) == found


def test_a_third_member_may_differ():
    cells, homes = np.array([0, 0, 1, 0]), np.array([0, 0, 0, 1])
    assert count_agreeing(np.array([1, 2]), 0, cells, homes, 2) == 0
    assert count_agreeing(np.array([1, 1]), 0, cells, homes, 2) == 1  # a household counts once


def test_few_records_have_no_kernel_and_the_same_households(monkeypatch):
    rng = np.random.default_rng(4)
    codes, of_row, marked = rng.integers(0, 2, (9, 12)), rng.integers(0, 5, 12), rng.random(12) < 0.4
    codes[0, :], codes[1, :], codes[2] = 1, 2, of_row
    homes, own = homes_of(of_row, 9), np.arange(12)

    def found():
        counts = [count_agreeing(one, 0, own, homes.of_row, len(homes.first)) for one in codes]
        return counts, homes.lead(marked).tolist()

    ways.take(monkeypatch, few=True)
    plain = found()
    assert {one > 0 for one in plain[0]} == {True, False}
    ways.take(monkeypatch, few=False)
    assert found() == plain


def test_the_first_marked_record_of_a_household_leads_it():
    homes = homes_of(np.array([7, 7, 5, 7]), 9)
    for marked, lead in (([1, 1, 0, 1], [0, -1]), ([0, 1, 1, 1], [1, 2]), ([0, 0, 0, 1], [3, -1])):
        assert homes.lead(np.array(marked, bool)).tolist() == lead


def test_what_is_no_variable_is_shared_by_nobody():
    """A column of lists cannot be told apart; the others are found all the same."""
    data = pl.DataFrame({"home": [1, 1, 2, 2], "all": [["x"]] * 4, "region": ["a", "a", "b", "b"]})
    assert sdc.household_variables(data, household="home") == ("region",)


def test_neighbours_that_are_alike_are_told_from_a_file_that_is_sorted() -> None:
    rng = np.random.default_rng(8)
    homes = np.repeat(np.arange(700), rng.integers(1, 5, 700))
    n = len(homes)
    area = rng.integers(0, 8, 700)[homes]
    people = pl.DataFrame({
        "area": area, "sex": rng.integers(0, 2, n), "age": rng.integers(0, 90, n), "row": np.arange(n),
        "w": [None if own % 5 == 0 else str(own) for own in homes], "due": pl.Series([[1]] * n),
    })  # fmt: skip
    mixed = people.sample(fraction=1, shuffle=True, seed=2)
    assert told_by_rows(RankedColumns.of(open_frame(people)))[0] == ("area", "w")
    assert told_by_rows(RankedColumns.of(open_frame(people.sort("area", maintain_order=True))))[0] == ("w",)
    named = people.with_columns(pl.col("w").cast(pl.Categorical))
    assert told_by_rows(RankedColumns.of(open_frame(named)))[0] == ("area", "w")
    order = [mixed, mixed.sort("area", "sex", "age"), mixed.sort("age", "area"), mixed.sort("sex", descending=True)]
    blocks = mixed.with_columns(place=pl.col("area").replace_strict([*range(8)], [7, 2, 9, 4, 1, 8, 3, 5])).sort(
        "place"
    )
    for file in [*order, blocks.drop("place"), people[:150], people.drop("area", "w")]:
        assert told_by_rows(RankedColumns.of(open_frame(file)))[0] == ()


def test_stretches_of_a_file_that_are_alike_are_told_from_its_order_by_what_it_shows() -> None:
    rng = np.random.default_rng(4)
    place, shares = np.sort(rng.integers(0, 12, 2_000)), rng.dirichlet([0.5] * 4, 12)
    ill = np.array([rng.choice(4, p=shares[own]) for own in place])
    file = pl.DataFrame({"ill": ill, "sex": rng.integers(0, 2, 2_000)})
    assert told_by_rows(RankedColumns.of(open_frame(file))) == ((), ("ill",))
    paid = np.where(np.arange(2_000) < 700, rng.integers(1, 5, 2_000), 0)  # those without an amount behind the others
    for other in (file[rng.permutation(2_000)], file.with_columns(ill=place), file.with_columns(ill=paid)):
        assert told_by_rows(RankedColumns.of(open_frame(other))) == ((), ())


def test_an_order_by_amounts_is_told_from_a_sort_by_all_that_is_shown() -> None:
    rng = np.random.default_rng(4)
    exact = np.sort(rng.lognormal(5, 1, 1_000))
    file = pl.DataFrame({"x": exact.round(-1), "sex": rng.integers(0, 2, 1_000)})
    noisy = file.with_columns(x=pl.Series(exact * rng.uniform(0.8, 1.2, 1_000)))
    gaps = file.with_columns(x=pl.when(pl.int_range(1_000) % 9 == 0).then(None).otherwise("x"))
    for told in (file, file.reverse(), noisy, gaps):
        assert in_order_of(RankedColumns.of(open_frame(told)), ["x", "gone"]) == ("x",)
    mixed = file[rng.permutation(1_000)]
    whole = file.with_columns(x=pl.Series(exact))
    few = file.with_columns(x=pl.Series(np.sort(rng.integers(0, 5, 1_000))))
    for other in (mixed, mixed.sort("x", "sex"), whole, few, file[:150]):
        assert in_order_of(RankedColumns.of(open_frame(other)), ["x"]) == ()
