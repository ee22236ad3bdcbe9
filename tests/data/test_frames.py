"""Frames in, checked once; results back in the caller's type, with the caller's index."""

from __future__ import annotations

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sdckit
from sdckit.data.frames import collect, frame_of, is_lazy, open_frame, result_frame
from sdckit.errors import ColumnError, DataError

DATA = {"a": [1, 2, 3], "b": ["x", None, "z"]}


@pytest.mark.parametrize(
    "native", [pd.DataFrame(DATA), pl.DataFrame(DATA), pa.table(DATA)], ids=lambda f: type(f).__module__
)
def test_eager_frames(native):
    frame = open_frame(native)
    assert frame.columns == ["a", "b"]
    assert not is_lazy(frame)
    assert open_frame(frame) is frame


def test_lazy_frames():
    frame = open_frame(pl.LazyFrame(DATA))
    assert is_lazy(frame)
    assert open_frame(frame) is frame
    assert collect(frame).to_native().to_pydict() == DATA


@pytest.mark.parametrize(
    "native", [[1, 2], {"a": [1]}, "file.csv", np.ones((2, 2)), pl.Series([1]), pd.Series([1]), None]
)
def test_what_is_no_frame(native):
    with pytest.raises(DataError, match=f"{type(native).__name__} is not a data frame; .*sdckit.read_file"):
        open_frame(native)


def test_what_holds_a_frame_says_where():
    survey = pl.DataFrame({"a": range(40), "b": [x * x for x in range(40)]})
    protected = sdckit.round_to(survey, column="a", base=5)
    recipe = sdckit.Recipe([{"method": "round_to", "column": "a", "base": 5}])
    for held in (protected, recipe.apply(survey), sdckit.canaries(survey, n=5, seed=1)):
        with pytest.raises(DataError, match=rf"^{type(held).__name__} is not a data frame; give its \.data$"):
            open_frame(held)


def test_a_change_taken_for_a_release_names_data():
    survey = pl.DataFrame({"a": range(40), "b": [x * x for x in range(40)]})
    protected = sdckit.round_to(survey, column="a", base=5)
    made = sdckit.canaries(survey, n=5, seed=1)
    for call in (
        lambda: open_frame(protected.change),
        lambda: made.exposure(protected),
        lambda: sdckit.membership(survey, protected, control=survey),
        lambda: sdckit.singling_out(survey, protected),
    ):
        with pytest.raises(
            DataError, match=r"Change is not a data frame; .* give \.data of what was returned"
        ):
            call()


@pytest.mark.parametrize(
    "native",
    [
        pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]),
        pa.table([[1], [2], [3]], names=["a", "b", "a"]),
        pd.DataFrame([[1, 2]], columns=["1", 1]),
    ],
)
def test_names_that_occur_twice(native):
    with pytest.raises(ColumnError, match="occur more than once; rename them"):
        open_frame(native)


@pytest.mark.parametrize("native", [pl.DataFrame(DATA), pa.table(DATA)], ids=lambda f: type(f).__module__)
def test_results_in_the_caller_s_type(native):
    found = result_frame({"f": np.array([1, 2, 2]), "F": np.array([1.5, 2.5, 3.5])}, open_frame(native))
    assert type(found) is type(native)
    assert nw.from_native(found).to_dict(as_series=False) == {"f": [1, 2, 2], "F": [1.5, 2.5, 3.5]}


def test_plain_columns_as_a_frame():
    assert frame_of(DATA, "polars").to_dict(as_series=False) == DATA
    assert frame_of(DATA, "pyarrow").to_pydict() == DATA


@pytest.mark.parametrize(
    "index",
    [pd.Index([7, 7, 1]), pd.Index(["c", "b", "a"]), pd.MultiIndex.from_tuples([(1, 2), (1, 2), (0, 0)]),
     pd.date_range("2024-01-01", periods=3, name="day")],
)  # fmt: skip
def test_a_pandas_index_is_kept(index):
    native = pd.DataFrame(DATA, index=index)
    found = result_frame({"f": np.array([1, 2, 2])}, open_frame(native))
    assert isinstance(found, pd.DataFrame)
    assert found.index.equals(index)
    assert found.index.names == index.names
    assert found["f"].tolist() == [1, 2, 2]
