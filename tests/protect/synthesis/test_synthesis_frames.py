"""Drawn values written into a frame: types stay, also in a file of another length."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sdckit.data.frames import open_frame
from sdckit.protect.synthesis.synthesis_frames import written
from sdckit.protect.synthesis.synthesis_variables import NEW, Values, read_variable

COLUMNS = {"sex": ["f", "m", "f"], "age": [20, 30, 40], "land": ["here"] * 3}


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table])
@pytest.mark.parametrize("n_made", [None, 2, 5])
def test_levels_and_new_numbers(make, n_made):
    frame = open_frame(make(COLUMNS))
    variables = {name: read_variable(frame[name]) for name in ("sex", "age")}
    n = n_made or 2
    rows = np.arange(n) if n_made else np.array([0, 2])
    made = {
        "sex": Values(np.resize([1, -1], n), None),
        "age": Values(np.resize([NEW, 2], n), np.resize([33.0, 40.0], n)),
    }
    found = open_frame(written(frame, variables, rows, made, n_made))
    expected = {
        None: (["m", "m", None], [33, 30, 40]),
        2: (["m", None], [33, 40]),
        5: (["m", None, "m", None, "m"], [33, 40, 33, 40, 33]),
    }[n_made]
    assert [one if isinstance(one, str) else None for one in found["sex"].to_list()] == expected[0]
    assert found["age"].to_list() == expected[1]
    assert found["age"].dtype == frame["age"].dtype
    assert found["land"].to_list() == ["here"] * len(found)


def test_numbers_stay_in_the_range_of_their_type():
    frame = open_frame(pl.DataFrame({"x": pl.Series([1, 2], dtype=pl.Int8)}))
    variable = read_variable(frame["x"])
    made = {"x": Values(np.array([NEW, NEW]), np.array([1e6, -1e6]))}
    assert written(frame, {"x": variable}, np.arange(2), made)["x"].to_list() == [127, -128]
