"""Households, their areas, and the rarest of their members."""

from __future__ import annotations

import polars as pl
import pytest

from sdckit.data.frames import open_frame
from sdckit.errors import DataError
from sdckit.protect.perturbation.swapping_households import one_per_household, read_households

PEOPLE = pl.DataFrame(
    {
        "hh": ["z", "z", "a", "b", "b", "c"],
        "region": [1, 1, 1, 2, 2, 2],
        "town": ["x", "x", "y", "x", "x", "x"],
        "job": ["p", "q", "p", "p", None, "p"],
    }
)


def test_counts_by_area():
    found = read_households(open_frame(PEOPLE), "hh", ["region", "town"], ["job"])
    assert found.of_row.tolist() == [0, 0, 1, 2, 2, 3]
    assert found.first.tolist() == [0, 2, 3, 5]
    assert found.size.tolist() == [2, 1, 2, 1]
    assert [len(set(area.tolist())) for area in found.areas] == [
        2,
        3,
    ]  # town x of region 1 is not that of region 2
    assert [one.tolist() for one in found.rarest] == [[1, 2, 1, 2], [1, 1, 1, 2]]


def test_records_as_households():
    found = read_households(open_frame(PEOPLE), None, ["region"], ["job"])
    assert found.size.tolist() == [1] * 6
    assert found.rarest[0].tolist() == [2, 1, 2, 2, 1, 2]


def test_members_must_agree():
    frame = open_frame(PEOPLE.with_columns(town=pl.Series(["x", "y", "y", "x", "x", "x"])))
    with pytest.raises(DataError, match=r"'town' differs within 1 households \(row 2\)"):
        read_households(frame, "hh", ["town"], ["job"])
    found = read_households(open_frame(PEOPLE), "hh", ["town"], ["job"])
    assert one_per_household(open_frame(PEOPLE), "region", found.of_row, found.first).tolist() == [0, 0, 1, 1]


def test_households_without_a_number():
    with pytest.raises(DataError, match=r"missing for 1 records \(row 2\)"):
        read_households(
            open_frame(PEOPLE.with_columns(hh=pl.Series([1, None, 2, 3, 3, 4]))), "hh", ["town"], ["job"]
        )
