"""The records in random order."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import sdckit as sdc
from homes import people
from sdckit.errors import ColumnError
from sdckit.protect.by_household import read_homes
from sdckit.protect.random_order import row_order


@pytest.mark.parametrize("engine", [pl.DataFrame.clone, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow])
def test_every_record_is_there_once_and_elsewhere(engine):
    data = people().with_row_index("row")
    found = sdc.random_order(engine(data), seed=1)
    made = found.data if isinstance(found.data, pl.DataFrame) else pl.DataFrame(found.data)
    rows = made["row"].to_numpy()
    assert sorted(rows) == list(range(len(data)))
    assert (rows != np.arange(len(data))).mean() > 0.9
    assert made.drop("row").to_dicts() == data[rows.tolist()].drop("row").to_dicts()
    assert rows.tolist() == row_order(len(data), None, found.change.secret["seed"]).tolist()


def test_the_index_of_pandas_does_not_keep_the_order():
    found = sdc.random_order(pd.DataFrame({"x": [5, 6, 7]}, index=[30, 10, 20]), seed=1).data
    assert found.index.tolist() == [0, 1, 2]
    assert sorted(found["x"]) == [5, 6, 7]


def test_households_stay_together_where_that_is_asked():
    data = people()
    found = sdc.random_order(data, household="home", seed=3).data
    home = found["home"].to_numpy()
    assert np.count_nonzero(home[1:] != home[:-1]) + 1 == data["home"].n_unique()
    assert not found.equals(data)


def test_members_come_in_random_order_too():
    data = pl.DataFrame({"home": [1] * 4, "age": [1, 2, 3, 4]})
    orders = {tuple(sdc.random_order(data, household="home", seed=seed).data["age"]) for seed in range(60)}
    assert len(orders) > 15  # of 24


def test_every_order_is_as_likely():
    counts = np.zeros((4, 4))
    for seed in range(2000):
        counts[np.arange(4), row_order(4, None, seed)] += 1
    assert np.abs(counts / 2000 - 0.25).max() < 0.05


def test_no_value_is_counted_as_changed():
    change = sdc.random_order(people(), seed=1).change
    assert change.changed == {}
    assert change.n_changed == 0
    assert "seed" not in change.to_dict()


def test_an_absent_household_is_refused():
    with pytest.raises(ColumnError, match="household"):
        sdc.random_order(people(), household="house")
    assert len(read_homes(sdc.protect.by_household.open_eager(people(), {}), "home").size) == 150
