"""What is counted of a column."""

from __future__ import annotations

from datetime import date

import numpy as np
import polars as pl
import pytest

from sdckit.data.scenarios.guessing.facts import facts_of, numbers_of, same_values


def test_numbers():
    facts = facts_of(pl.Series("x", [1.5, 2.25, None, float("nan"), 4.0]))
    assert (facts.n, facts.levels, facts.records) == (3, 3, 5)
    assert facts.fraction
    assert facts.positive
    assert facts.decimals == 2
    assert (facts.minimum, facts.maximum) == (1.5, 4.0)


@pytest.mark.parametrize(
    ("values", "numbered"),
    [
        (range(20), True),  # dense
        (range(1000, 40_000, 1000), True),  # rising
        (np.random.default_rng(1).integers(100_000, 999_999, 50).tolist(), True),  # all as long
        (np.random.default_rng(1).lognormal(6, 2, 50).astype(int).tolist(), False),  # measured
    ],
)
def test_numbers_of_records_are_dense_rising_or_all_as_long(values, numbered):
    assert facts_of(pl.Series("x", list(values))).numbered is numbered


def test_texts_that_are_numbers_but_for_a_code():
    facts = facts_of(pl.Series("x", ["12", "N", "7", "3"] * 5))
    assert facts.number
    assert not facts.measurable
    assert facts_of(pl.Series("x", ["0012", "0007"] * 5)).number is False
    assert facts_of(pl.Series("x", ["a", "b", "1"] * 5)).number is False


def test_labels_with_a_number_in_front():
    labels = pl.Series("x", ["1", "2", "3 or more", None], dtype=pl.Enum(["1", "2", "3 or more"]))
    assert np.array_equal(numbers_of(labels), [1, 2, 3, np.nan], equal_nan=True)
    assert numbers_of(pl.Series("x", ["no", "yes"], dtype=pl.Enum(["no", "yes"]))) is None


@pytest.mark.parametrize("values", [[date(2020, 1, 1)], [True], [[1]], [None]])
def test_what_holds_no_numbers(values):
    series = pl.Series("x", values)
    assert series.dtype == pl.Null or numbers_of(series) is None
    assert facts_of(series).fraction is False


@pytest.mark.parametrize(
    "series",
    [
        pl.Series(["a", "b", "a", None]), pl.Series([1, 2, 1, None]), pl.Series([1.5, -2.5, 1.5, None]),
        pl.Series([True, False, True, None]), pl.Series([date(2020, 1, 1), date(2021, 1, 1), date(2020, 1, 1), None]),
        pl.Series(["a", "b", "a", None], dtype=pl.Categorical),
    ],
)  # fmt: skip
def test_same_values(series):
    codes = same_values(series)
    assert codes[0] == codes[2]
    assert len({*codes.tolist()}) == 3


def test_nothing_but_missing():
    assert facts_of(pl.Series("x", [None, None], dtype=pl.Float64)).n == 0
    assert same_values(pl.Series("x", [None, None], dtype=pl.Float64)).tolist() == [-1, -1]
