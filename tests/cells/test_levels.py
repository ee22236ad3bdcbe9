"""The levels of a sensitive variable on every kind of column: sizes, numbers and declared orders."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from draw import quiet
from sdckit import as_cells
from sdckit.cells.levels import levels_of
from sdckit.errors import ColumnError, DataError


def levels(values):
    """The levels of a column of as many records as it has values."""
    if isinstance(values, (pl.Series, list)):
        frame = pl.DataFrame({"k": range(len(values)), "s": values})
    elif isinstance(values, pd.Series):
        frame = pd.DataFrame({"k": range(len(values)), "s": values})
    else:
        frame = pa.table({"k": list(range(len(values))), "s": values})
    with quiet():
        return levels_of(as_cells(frame, keys=["k"], missing="category"), "s")


def by_label(found):
    return dict(zip(found.labels(), found.size.tolist(), strict=True))


def test_whole_numbers():
    found = levels([7, 5, 5, None, 7, 5])
    assert by_label(found) == {"5": 3, "7": 2}
    assert (found.n_missing, found.numbers.tolist(), found.declared) == (1, [5.0, 7.0], False)
    assert (np.diff(found.codes) > 0).all()


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        ([1.0, -0.0, 0.0, float("nan")], [0, 1]),
        ([-1.5, 2.5, -3.25, 2.5], [-3.25, -1.5, 2.5]),
        ([True, False, None], [0, 1]),
        ([2**40, 5, -(2**41)], [-(2**41), 5, 2**40]),
        ([Decimal("1.50"), Decimal("0.25")], [0.25, 1.5]),
        ([datetime.date(2020, 1, 2), datetime.date(2020, 1, 1)], [18262, 18263]),
    ],
)
def test_what_lies_on_a_scale(values, numbers):
    found = levels(pl.Series(values, strict=False))
    assert sorted(found.numbers.tolist()) == numbers
    assert len(found.labels()) == len(numbers)


def test_times_far_apart():
    values = [datetime.datetime(1900, 1, 1, 0, 0, i) for i in (5, 1)] + [datetime.datetime(2020, 1, 1)]
    found = levels(pl.Series(values))
    assert np.argsort(found.numbers).tolist() == np.argsort(found.labels()).tolist()


@pytest.mark.parametrize(
    ("values", "declared"),
    [
        (pl.Series(["b", "a", "b"]), False),
        (pl.Series(["b", "a", "b"], dtype=pl.Categorical), False),
        (pl.Series(["b", "a", "b"], dtype=pl.Enum(["c", "b", "a"])), True),
        (pd.Series(pd.Categorical(["b", "a", "b"], ["c", "b", "a"], ordered=True)), True),
        (pd.Series(pd.Categorical(["b", "a", "b"], ["c", "b", "a"], ordered=False)), False),
        (pa.DictionaryArray.from_arrays([1, 2, 1], ["c", "b", "a"], ordered=True), True),
        (pa.DictionaryArray.from_arrays([1, 2, 1], ["c", "b", "a"]), False),
    ],
)
def test_a_declared_order_is_that_of_the_codes(values, declared):
    found = levels(values)
    assert (found.numbers, found.declared) == (None, declared)
    assert by_label(found) == {"b": 2, "a": 1}
    if declared:
        assert found.labels() == ["b", "a"]


def test_numbers_stored_as_a_dictionary_are_numbers():
    found = levels(pa.DictionaryArray.from_arrays([1, 2, 1], [30, 10, 20]))
    assert found.numbers.tolist() == [10.0, 20.0]


def test_few_records_of_a_wide_range():
    found = levels([10**9, 5, 5])
    assert by_label(found) == {"5": 2, str(10**9): 1}


def test_they_are_listed_once_and_checked():
    cells = as_cells(pl.DataFrame({"k": [1, 1, 2], "s": [1, 2, 2], "no": [None] * 3}), keys=["k"])
    assert levels_of(cells, "s") is levels_of(cells.with_cells({"more": np.ones(2)}), "s")
    with pytest.raises(DataError, match="'no' has no value in any record"):
        levels_of(cells, "no")
    with pytest.raises(ColumnError, match="no column 'x'"):
        levels_of(cells, "x")
