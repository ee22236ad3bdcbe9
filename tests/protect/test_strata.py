"""Strata, and those that are too small."""

from __future__ import annotations

import polars as pl
import pytest

from sdckit.data.frames import open_frame
from sdckit.errors import DataError
from sdckit.protect.strata import at_least, strata_rows

FRAME = open_frame(pl.DataFrame({"a": ["x", None, "y", "x", None], "b": [1, 1, 2, 1, 2]}))


def rows(names):
    return [part.tolist() for part in strata_rows(FRAME, names)]


def test_rows_by_stratum():
    assert rows([]) == [[0, 1, 2, 3, 4]]
    assert rows(["a"]) == [[0, 3], [1, 4], [2]]
    assert rows(["a", "b"]) == [[0, 3], [1], [2], [4]]


def test_small_strata_are_stated():
    at_least(1, strata_rows(FRAME, ["a"]), ["a"], 5)
    with pytest.raises(DataError, match=r"1 of 3 strata of a have fewer than k = 2 records \(row 3\)"):
        at_least(2, strata_rows(FRAME, ["a"]), ["a"], 5)
    with pytest.raises(DataError, match="k = 6 records to a group, and the data has 5 in all"):
        at_least(6, strata_rows(FRAME, []), [], 5)
