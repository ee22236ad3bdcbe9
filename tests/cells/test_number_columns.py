"""Which columns of two files are numbers and which are codes, alike for every kind of frame."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sdckit.cells.number_columns import MOST_CODES, declared_numbers, measured_columns, number_columns
from sdckit.cells.pair import open_files
from sdckit.errors import ColumnError

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


def test_what_is_declared_goes_before_what_is_stored():
    notes: dict[str, str] = {}
    assert declared_numbers(["age"], None, ["sex"]) == ("age",)
    assert number_columns(["age", "sex"], ["age"], None, lambda: ("sex",), notes, role="no key") == ("age",)
    assert notes == {}
    assert number_columns(["age", "sex"], None, None, lambda: ("age",), notes, role="no key") == ("age",)
    assert notes["numeric"].startswith("taken as numbers because they are stored so: age")
    with pytest.raises(ColumnError, match="'income' is no key"):
        number_columns(["age"], ["income"], None, tuple, notes, role="no key")
