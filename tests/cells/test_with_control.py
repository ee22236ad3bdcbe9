"""Original, releases and control file opened together, and what is said when they do not fit."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sdckit.cells.pair import open_pair
from sdckit.cells.with_control import is_ordered, open_with_control, shared_columns
from sdckit.data.frames import open_frame
from sdckit.errors import ColumnError, DataError

A = pl.DataFrame({"x": [1, 2, None], "s": ["a", "b", "b"], "id": [7, 8, 9]})
B = pl.DataFrame({"x": [2.0, 5.0], "s": ["c", "a"]})
C = pl.DataFrame({"x": [9, 9, 9, 1], "s": ["a", "a", "d", None]})
ROLES = {"variables": ["x", "s"]}


def test_one_coding_for_all_files():
    files = open_with_control(A, B, C, categories=ROLES)
    assert (files.m, files.n, files.n_control, files.has_control) == (1, 3, 4, True)
    assert files.names == ("the original", "the release", "the control file")
    assert [codes.tolist() for codes in files.codes("s").codes] == [[1, 2, 2], [3, 1], [1, 1, 4, 0]]
    assert np.isnan(files.numbers("x")[0]).tolist() == [False, False, True]
    assert files.ordered("x")
    assert not files.ordered("s")
    several = open_with_control(A, [B, B], None, categories=ROLES)
    assert (several.m, several.n_control, several.names[1:]) == (2, 0, ("release 1", "release 2"))


def test_a_pair_opened_before():
    pair = open_pair(A, B, categories=ROLES)
    assert open_with_control(pair, None, None, categories=ROLES).pair is pair
    opened = open_frame(C)
    files = open_with_control(pair, None, opened, categories=ROLES)
    assert (files.m, files.n_control) == (1, 4)
    again = open_with_control(pair, None, opened, categories={"variables": ["x"]})
    assert again.codes("x") is files.codes("x")  # coded once for all attacks on the same files
    other = open_frame(C.clone())
    assert open_with_control(pair, None, other, categories=ROLES).codes("x") is not files.codes("x")
    with pytest.raises(DataError, match="the files are fixed by the pair given"):
        open_with_control(pair, B, C, categories=ROLES)


def test_a_control_file_changed_in_place_is_read_anew():
    pair, control = open_pair(A, B, categories=ROLES), C.to_pandas()
    assert open_with_control(pair, None, control, categories=ROLES).codes("x").n_levels == 4
    control["x"] = [5, 5, 5, 5]
    assert open_with_control(pair, None, control, categories=ROLES).codes("x").n_levels == 3


def test_a_control_file_that_is_a_plan_brings_what_is_asked_for():
    pair, plan = open_pair(A, B, categories=ROLES), C.lazy()
    assert open_with_control(pair, None, plan, categories={"variables": ["x"]}).codes("x").n_levels == 4
    assert open_with_control(pair, None, plan, categories={"variables": ["s"]}).codes("s").n_levels == 4


def test_the_id_is_asked_of_the_original_only():
    files = open_with_control(A, B, C, categories=ROLES, id="id")
    assert files.pair.records({"y": [1, 2, 3]})["id"].to_list() == [7, 8, 9]
    with pytest.raises(ColumnError, match=r"the original has no column 'ID' \(id\)"):
        open_with_control(A, B, C, categories=ROLES, id="ID")


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table])
def test_dates_and_times_in_days(make):
    days = [dt.date(2020, 1, 1), dt.date(2020, 1, 3), None]
    times = [None if day is None else dt.datetime(day.year, day.month, day.day, 12) for day in days]
    frame = make({"d": days, "t": times})
    files = open_with_control(frame, frame, None, categories={"variables": ["t"]})
    assert is_ordered(files.codes("t"))
    assert np.diff(files.numbers("t")[0])[0] == pytest.approx(2)
    assert np.isnan(files.numbers("t")[0][2])


def test_dates_of_both_widths_and_dictionaries():
    days = pa.array([0, 10], pa.date32())
    frame = pa.table({"d": days, "n": pa.array([3, 4]).dictionary_encode()})
    wide = pa.table({"d": days.cast(pa.date64()), "n": [3, 5]})
    files = open_with_control(frame, wide, None, categories={"variables": ["d", "n"]})
    assert [one.tolist() for one in files.numbers("d")] == [[0, 10], [0, 10]]
    assert [one.tolist() for one in files.numbers("n")] == [[3, 4], [3, 5]]


def test_shared_columns():
    assert shared_columns(A, [B, B], C) == (["x", "s"], ["id"])
    assert shared_columns(A.drop("s"), B, C, without=("id",)) == (["x"], ["s"])
    assert shared_columns(open_pair(A, B, categories=ROLES), None) == (["x", "s"], ["id"])
    with pytest.raises(ColumnError, match="no column in common"):
        shared_columns(A, pl.DataFrame({"other": [1]}))
    with pytest.raises(ColumnError, match="the control file has no column 's'"):
        shared_columns(A, B, C.drop("s"))
    with pytest.raises(DataError, match="released= is missing"):
        shared_columns(A, None)


def test_what_does_not_fit():
    def opened(released, control):
        return open_with_control(A, released, control, categories=ROLES)

    with pytest.raises(ColumnError, match=r"^the control file has no column 's'"):
        opened(B, C.drop("s"))
    with pytest.raises(ColumnError, match=r"^the release has no column 's'"):
        opened(B.drop("s"), C)
    with pytest.raises(ColumnError, match=r"^release 1 has no column 's'"):
        opened([B.drop("s"), B], C)
    with pytest.raises(ColumnError, match="text in the control file"):
        opened(B, pl.DataFrame({"x": ["u", "v"], "s": ["a", "b"]}))
    with pytest.raises(DataError, match="the control file has 1 record: an attack needs two"):
        opened(B, C.head(1))
    assert open_with_control(A, B, C.head(1), categories=ROLES, least=1).n_control == 1
    with pytest.raises(DataError, match="released= is missing"):
        opened(None, C)
    infinite = pl.DataFrame({"x": [1.0, float("inf")], "s": ["a", "b"]})
    with pytest.raises(DataError, match="the control file: 'x' is infinite in row 2"):
        opened(B, infinite).numbers("x")
