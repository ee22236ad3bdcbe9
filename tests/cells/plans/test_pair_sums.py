"""Sums of numbers over the records of plans."""

from __future__ import annotations

import polars as pl
import pytest

from plans import on_engines
from sdckit.cells.pair import open_files
from sdckit.cells.plans.pair_sums import NumberSums, check_numbers, total_numbers
from sdckit.errors import ColumnError, DataError

FILE = pl.DataFrame(
    {"pay": [1.0, -6.0, None, float("nan")], "w": [2.0, 1.0, 5.0, 7.0], "n": [1, 2, 3, 4], "sex": ["f"] * 4}
)


@on_engines
def test_sums_leave_out_what_is_missing(plan):
    opened = open_files(plan(FILE), [plan(FILE)])
    assert total_numbers(opened, ["pay", "n"], "w") == [
        [NumberSums(2, -4.0, 3.0, 6.0)] * 2,
        [NumberSums(4, 47.0, 15.0, 28.0)] * 2,
    ]
    assert total_numbers(opened, ["pay"], None) == [[NumberSums(2, -5.0, 2.0, 6.0)] * 2]


@on_engines
def test_what_is_no_number_is_refused(plan):
    opened = open_files(plan(FILE), [plan(FILE.drop("n"))])
    with pytest.raises(DataError, match=r"the original: numeric 'sex' is \w+, not numbers"):
        check_numbers(opened, ["pay", "sex"])
    with pytest.raises(ColumnError, match="the release has no column 'n'"):
        check_numbers(opened, ["n"])
