"""What is counted of a column."""

from __future__ import annotations

from datetime import date

import numpy as np
import polars as pl
import pytest

from sdckit.data.scenarios.guessing.facts import facts_of, numbers_of, same_values, written_like


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


# Texts that are written like direct identifiers.


@pytest.mark.parametrize(
    ("texts", "like"),
    [
        (["ann@example.org", "x.y@mail.example.com"], "an e-mail address"),
        (["+43 660 1234567", "0043 1 2345678"], "a phone number"),
        (["(555) 123-4567", "555-123-4567"], "a phone number"),
        (["123-45-6789", "987-65-4320"], "a social security number"),
        (["756.1234.5678.90"], "a social security number"),
        (["RSSMRA85T10A562S"], "a social security number"),
        (["AT61 1904 3002 3457 3201", "DE89370400440532013000"], "a bank account number"),
        (["123e4567-e89b-12d3-a456-426614174000"], "a universal id"),
        (["https://example.org/x", "www.example.org"], "a web address"),
        (["192.168.0.1", "10.0.0.7"], "an internet address"),
        (["Hauptstraße 12", "Gartenweg 7"], "a street address"),
        (["Anna Muster", "Bob van der Berg", "O'Neil, Mary"], "a person's name"),
        (["They said that the weather had been fine all week", "No further remarks were made at all"], "free text"),
        (["married", "single"], None),
        (["E12000001", "E12000002"], None),
        (["15-24", "25-34"], None),
        (["2020-01-31", "2021-05-07"], None),
        (["HS-grad", "Some-college"], None),
        (["MOSTLY SATISFIED", "VERY PLEASED"], None),
        (["", "  "], None),
    ],
)  # fmt: skip
def test_patterns(texts, like):
    assert written_like(texts) == like


def test_a_few_that_are_written_otherwise_do_not_matter():
    assert written_like(["a@x.org"] * 9 + ["none"]) == "an e-mail address"
    assert written_like(["a@x.org"] * 5 + ["none"] * 5) is None


def test_numbers_whose_squares_are_infinite_have_a_deviation():
    usual = [1.0, 2.0, 6.0]
    facts = facts_of(pl.Series("x", [value * 2.0**600 for value in usual]))
    assert facts.deviation == facts_of(pl.Series("x", usual)).deviation * 2.0**600
