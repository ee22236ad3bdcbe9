"""Which columns of two files are numbers and which are codes, alike for every kind of frame."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sdckit.cells.number_columns import MOST_CODES, measured_columns
from sdckit.cells.pair import open_files

CODES = [1, 2, 3, 4, 5] * 5
MANY = list(range(25))
SURVEY = {
    "code": CODES, "age": MANY, "income": [one + 0.5 for one in CODES], "whole": [float(one) for one in CODES],
    "gaps": [None, *CODES[1:]], "many gaps": [None, *MANY[1:]], "text": [str(one) for one in MANY],
    "yes": [True, False, *[True] * 23], "nothing": [None] * 25, "endless": [float("inf"), *[0.5] * 24],
}  # fmt: skip
NUMBERS = ("age", "income", "whole", "many gaps")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_codes_stay_codes_however_they_are_stored(make):
    frame = make(SURVEY)
    assert measured_columns(open_files(frame, frame), list(SURVEY)) == NUMBERS


@pytest.mark.parametrize("n", [MOST_CODES, MOST_CODES + 1])
def test_more_than_twenty_whole_numbers_are_measured(n):
    frame = pl.DataFrame({"x": list(range(n)) * 200})
    assert bool(measured_columns(open_files(frame, frame), ["x"])) == (n > MOST_CODES)


def test_a_rare_value_may_stand_far_down():
    frame = pl.DataFrame({"x": [1] * 5_000 + MANY})
    assert measured_columns(open_files(frame, frame), ["x"]) == ("x",)


def test_bands_in_one_of_the_releases_are_no_numbers():
    frame = pl.DataFrame({"age": MANY})
    bands = frame.with_columns(age=pl.lit("20-29"))
    assert measured_columns(open_files(frame, [frame, bands]), ["age"]) == ()
