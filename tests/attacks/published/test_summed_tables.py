"""Tables of sums as cells with the ends of what each adds up to."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sdckit import ColumnError, DataError, PublishedTable
from sdckit.attacks.published.counted_tables import MISSING
from sdckit.attacks.published.summed_tables import read_table, rounding_error, sum_table
from sdckit.data.frames import open_frame

PEOPLE = open_frame(pl.DataFrame({"sex": ["f", "f", "m", None], "pay": [10.5, None, 7.0, -2.0]}))


def cells(table):
    names = [[one.labels[code] for code in one.codes] for one in table.columns]
    ends = zip(table.lower.tolist(), table.upper.tolist(), strict=True)
    return dict(zip(zip(*names, strict=True), ends, strict=True))


def test_added_up_in_the_original():
    found = sum_table(PublishedTable(variables=["sex"], sum="pay"), PEOPLE)
    assert cells(found) == {("f",): (10.5, 10.5), ("m",): (7, 7), (MISSING,): (-2, -2)}
    assert found.called == "Σ pay: sex"
    with pytest.raises(DataError, match="original="):
        sum_table(PublishedTable(variables=["sex"], sum="pay"), None)
    with pytest.raises(ColumnError, match="no column 'pai'"):
        sum_table(PublishedTable(variables=["sex"], sum="pai"), PEOPLE)


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({"rounded": 4}, [(8, 16), (4, 12), (-4, 4)]),
        ({"rounded": 4, "rounding": "nearest"}, [(10, 14), (6, 10), (-2, 2)]),
        ({"suppressed_below": 2}, [(10.5, 10.5), (-np.inf, np.inf), (-np.inf, np.inf)]),
    ],
)
def test_as_they_are_published(how, expected):
    found = sum_table(PublishedTable(variables=["sex"], sum="pay", **how), PEOPLE)
    assert [cells(found)[one] for one in (("f",), ("m",), (MISSING,))] == expected


def test_how_far_a_rounded_sum_may_be_off():
    assert rounding_error(PublishedTable(variables=["sex"], sum="pay")) == 0
    assert rounding_error(PublishedTable(variables=["sex"], sum="pay", rounded=5)) == 5
    assert rounding_error(PublishedTable(variables=["sex"], sum="pay", rounded=5, rounding="nearest")) == 2.5


def test_a_frame_with_totals_and_counts_beside_the_sums():
    frame = pl.DataFrame({"sex": ["f", "m", "all"], "n": [2, 1, 3], "pay": [10.5, None, 17.5]})
    found = sum_table(PublishedTable(counts=frame, sum="pay", total="all"), None)
    assert cells(found) == {("f",): (10.5, 10.5), ("m",): (-np.inf, np.inf)}
    assert [total.lower.tolist() for total in found.totals] == [[17.5]]
    assert (found.called, found.suppressed.tolist()) == ("Σ pay: sex", [False, True])
    with pytest.raises(DataError, match="only a sum"):
        sum_table(PublishedTable(counts=frame.select("n", "pay"), sum="pay"), None)


def test_counts_and_sums_are_told_apart():
    assert read_table(PublishedTable(variables=["sex"]), PEOPLE).lower.tolist() == [2, 1, 1]
    assert read_table(PublishedTable(variables=["sex"], sum="pay"), PEOPLE).lower.sum() == 15.5
