"""What is a number, what an ordered scale, and what a code."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from draw import quiet
from sdckit import as_cells
from sdckit.cells.scales import holds_ranges, is_spread_like_numbers, scale_of

RNG = np.random.default_rng(12)


def scale(values, **declared):
    frame = (
        values if isinstance(values, pd.DataFrame | pl.DataFrame | pa.Table) else pl.DataFrame({"x": values})
    )
    with quiet():
        cells = as_cells(frame, keys=["x"])
    codes, size = cells.level_sizes("x")
    known = codes < cells.levels[0].span
    return scale_of(cells.levels[0], codes[known], size[known], **declared)


NUMBERS = {
    "ages": np.clip(RNG.normal(45, 20, 3000), 0, 99).astype(int),
    "few ages": RNG.integers(20, 65, 200),
    "ages with a code of missing values": [*RNG.integers(0, 90, 4000), *[999] * 30],
    "years of birth": RNG.integers(1920, 2010, 5000),
    "incomes": (10 ** RNG.normal(3.2, 0.5, 3000)).astype(int),
    "fractions": [0.5, 1.25, 3.0],
}
PROVINCES = RNG.dirichlet(np.full(81, 0.7))
MAYBE_CODES = {
    "employment status": RNG.integers(1, 10, 3000),
    "provinces from 1 to 81": RNG.choice(81, 5000, p=PROVINCES) + 1,
    "occupations of two digits": RNG.choice([10 * a + b for a in range(1, 10) for b in range(1, 6)], 3000),
    "municipalities": RNG.choice(RNG.integers(10101, 90001, 2000), 5000),
    "sizes of households": [1, 2, 2, 3, 4, 7],
    "codes as floats": [1.0, None, 2.0, 5.0],
}


@pytest.mark.parametrize("values", NUMBERS.values(), ids=NUMBERS)
def test_what_is_spread_like_numbers(values):
    assert scale(values) == "number"
    assert scale([-one for one in values] if len(values) == 3 else values) == "number"
    assert scale([str(one) for one in values]) == "codes"
    assert scale(values, ordered=True) == "ordered"


@pytest.mark.parametrize("values", MAYBE_CODES.values(), ids=MAYBE_CODES)
def test_what_may_be_codes(values):
    assert scale(values) == "unknown"
    assert scale(values, numeric=True) == "number"
    assert scale(values, ordered=True) == "ordered"


def test_categories_are_ordered_where_they_or_their_labels_say_so():
    bands = ["under 15", "15-19", "20-24", "25 and over"]
    names = ["b", "a", "c"]
    assert scale(pd.DataFrame({"x": pd.Categorical(names, names, ordered=True)})) == "ordered"
    assert scale(pd.DataFrame({"x": pd.Categorical(names, names)})) == "codes"
    indices = pa.array([0, 1, 2])
    for ordered in (True, False):
        table = pa.table({"x": pa.DictionaryArray.from_arrays(indices, pa.array(names), ordered=ordered)})
        assert scale(table) == ("ordered" if ordered else "codes")
    # an Enum is what value labels become: their order is that of codes, unless they are ranges
    assert scale(pl.DataFrame({"x": pl.Series(names, dtype=pl.Enum(names))})) == "codes"
    assert scale(pl.DataFrame({"x": pl.Series(bands, dtype=pl.Enum(bands))})) == "ordered"
    assert scale(bands) == "codes"
    assert scale(pl.DataFrame({"x": pl.Series(names, dtype=pl.Categorical)})) == "codes"


def test_dates_and_flags():
    assert scale([dt.date(2020, 1, 1), dt.date(2020, 1, 5)]) == "date"
    assert scale([True, False]) == "codes"


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        (["0-4", "5-9", "10-14"], True),
        (["up to 1,000", "1,000 to 2,000", "2,000 to 10,000", "10,000+"], True),
        (["[0, 10)", "[10, 20)", "[20, 30)"], True),
        (["10-14", "0-4", "5-9"], False),
        (["Region 1", "Region 2", "Region 3"], False),
        (["1", "2", "3"], False),
        (["0-4", "5-9", "unknown"], False),
        (["0-4", "5-9"], False),
        ([], False),
    ],
)
def test_labels_that_are_ranges(labels, found):
    assert holds_ranges(labels) == found


def test_heaped_ages_are_asked_about():
    ages = np.arange(15.0, 90.0)
    assert is_spread_like_numbers(ages, np.full(75, 200))
    assert not is_spread_like_numbers(ages, np.where(ages % 5 == 0, 900, 60))
