"""Records put together from a frame's own values, on every engine in memory."""

from __future__ import annotations

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

from sdckit.data.append_rows import appended, mixed_rows
from sdckit.errors import DataError

SURVEY = pl.DataFrame(
    {"id": [3, 9], "x": [1.5, None], "c": pl.Series(["a", "b"], dtype=pl.Categorical), "t": ["new-1", "u"]}
)
SOURCE = {"x": np.array([1, 0, 0]), "c": np.array([0, 1, 0]), "t": np.array([1, 1, 0])}
MIXED = [(10, None, "a", "u"), (11, 1.5, "b", "u"), (12, 1.5, "a", "new-1")]


@pytest.mark.parametrize("engine", ["polars", "pandas", "pyarrow"])
def test_values_come_from_their_rows_and_types_stay(engine):
    native = {"polars": SURVEY, "pandas": SURVEY.to_pandas(), "pyarrow": SURVEY.to_arrow()}[engine]
    if engine == "pandas":
        native.index = [7, 7]
    frame = nw.from_native(native)
    made = mixed_rows(frame, SOURCE, id="id")
    rows = [tuple(None if pd.isna(value) else value for value in row) for row in made.rows()]
    assert rows == MIXED
    longer = nw.from_native(appended(frame, made, times=2))
    assert longer.schema == frame.schema
    assert len(longer) == 8
    if engine == "pandas":
        assert isinstance(longer.to_native(), pd.DataFrame)
        assert longer.to_native().index.tolist() == list(range(8))
        assert native.index.tolist() == [7, 7]


def test_new_ids():
    frame = nw.from_native(SURVEY)
    made = mixed_rows(frame, {**SOURCE, "id": np.array([0, 0, 0])}, id="t")
    assert made["t"].to_list() == ["new-2", "new-3", "new-4"]
    with pytest.raises(DataError, match="id 'x' holds Float64; new ones need whole numbers or text"):
        mixed_rows(frame, {**SOURCE, "id": np.array([0, 0, 0])}, id="x")
    only = nw.from_native(SURVEY.select("x"))
    assert mixed_rows(only, {"x": np.array([0])}).rows() == [(1.5,)]
