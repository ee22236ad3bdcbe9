"""Frames in, checked once; results back in the caller's type, with the caller's index."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from types import SimpleNamespace
from typing import Any

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sdckit
from sdckit.data.frames import (
    appended,
    collect,
    exactly,
    frame_of,
    is_far,
    is_lazy,
    is_pattern,
    mixed_rows,
    open_frame,
    record_sizes,
    result_frame,
    telling_apart,
)
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
        lambda: made.exposure(protected.change),
        lambda: sdckit.membership(survey, protected.change, control=survey),
        lambda: sdckit.singling_out(survey, protected.change),
    ):
        with pytest.raises(DataError, match=r"Change is not a data frame; .* give \.data of what was returned"):
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


@pytest.mark.parametrize("name", [1, None, 1.5, ("a", "b"), "\ud800"])
def test_names_that_are_no_text(name):
    odd = pd.DataFrame([[1, 2]]).set_axis(pd.Index(["a", name], dtype=object, tupleize_cols=False), axis=1)
    with pytest.raises(ColumnError, match="are not text; rename them"):
        open_frame(odd)
    with pytest.raises(ColumnError, match="are not text"):
        open_frame(pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])))


def test_the_class_of_a_frame_is_none():
    with pytest.raises(DataError, match="type is not a data frame"):
        open_frame(pd.DataFrame)


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


@pytest.mark.parametrize("name", ["*", "^a.*$", "^$", "a", "", "^a", "a$", "a*"])
@pytest.mark.parametrize("lazy", [True, False])
def test_one_column_and_this_one(name: str, lazy: bool) -> None:
    frame = pl.DataFrame(
        {one: [i] for i, one in enumerate(["ab", "age", "*", "^a.*$", "^$", "a", "", "^a", "a$", "a*"])}
    )
    asked = (frame.lazy() if lazy else frame).select(exactly(name).cast(pl.Int8).max().alias("it"))
    found = asked.collect() if isinstance(asked, pl.LazyFrame) else asked
    assert found["it"].to_list() == frame.get_column(name).to_list()
    assert is_pattern(name) == (name in {"*", "^a.*$", "^$"})


# Records put together from a frame's own values, on every engine in memory.


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


@pytest.mark.parametrize(
    ("master", "far"),
    [("local", False), ("local[2]", False), ("local[*, 3]", False), ("local-cluster[2,1,1024]", True), ("yarn", True),
     ("spark://local:7077", True), (None, True)],
)  # fmt: skip
def test_records_of_a_cluster_are_far(master: str | None, far: bool) -> None:
    """And those of Spark Connect, which does not say where it runs."""
    session = SimpleNamespace() if master is None else SimpleNamespace(sparkContext=SimpleNamespace(master=master))
    engine = SimpleNamespace(is_pyspark=lambda: master is not None, is_pyspark_connect=lambda: master is None)
    plan: Any = SimpleNamespace(implementation=engine, to_native=lambda: SimpleNamespace(sparkSession=session))
    assert is_far(plan) == far
    assert not is_far(open_frame(pl.LazyFrame(DATA)))


def test_objects_that_cannot_be_compared_tell_nobody_apart():
    columns = {"day": [date(2026, 1, 1 + at) for at in range(4)], "lists": [[at] for at in range(4)]}
    native = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})
    assert telling_apart(native, 0.9) == ("day",)


@pytest.mark.parametrize("of", [pl.DataFrame.clone, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow, pl.DataFrame.lazy])
def test_records_are_counted_by_all_of_their_columns(of: Callable[[pl.DataFrame], Any]) -> None:
    frame = pl.DataFrame({"a": [1, 1, None, None, 1], "b": ["x", "x", "y", "y", None]})
    assert sorted(record_sizes(open_frame(of(frame))).tolist()) == [1, 2, 2]
    listed = frame.with_columns(c=pl.lit([1, 2]))
    assert sorted(record_sizes(open_frame(of(listed))).tolist()) == [1, 2, 2]


TAKEN = [
    "column_names", "columns", "collect_schema", "height", "implementation", "instead_of_a_frame", "is_protected",
    "original", "records", "released", "steps", "_jdf",
]  # fmt: skip


@pytest.mark.parametrize("name", TAKEN)
@pytest.mark.parametrize("engine", ["pandas", "polars", "duckdb"])
def test_columns_named_as_what_frames_and_results_have(name, engine):
    """Pandas and DuckDB give columns as attributes: what a frame has is asked of its class."""
    made = pd.DataFrame({"sex": ["f", "m"] * 4, "age": [1, 1, 2, 2] * 2, "_": ["x", "x", "y", "y"] * 2})
    made = made.rename(columns={"_": name})
    native = {"pandas": made, "polars": pl.from_pandas(made)}.get(engine)
    native = duckdb.from_df(made) if native is None else native
    found = sdckit.key_frequencies(native, keys=["sex", name])
    assert (found.n, found.n_cells) == (8, 4)
    if engine != "duckdb":
        recoded = sdckit.recode(native, column="age", bands=[0, 2, 3]).data
        assert set(open_frame(recoded).collect_schema().names()) == {"sex", "age", name}
    with pytest.raises(DataError, match="is to be counted in the original"):
        sdckit.joint_audit(native, tables=[["sex", "age"]])


def test_names_that_occur_twice_beside_one_of_an_attribute():
    with pytest.raises(ColumnError, match="occur more than once"):
        open_frame(pd.DataFrame([[1, 2, 3]], columns=["a", "a", "collect_schema"]))


def test_frames_where_results_are_meant_are_refused():
    frame = pd.DataFrame({"steps": [1, 2], "n": [3, 4], "records": [5, 6], "records_by_release": [7, 8], "m": [1, 1]})
    with pytest.raises(sdckit.ScenarioError, match="log= is a RecipeLog"):
        sdckit.recoverable_values(frame, keys=["n"], log=frame)
    with pytest.raises(DataError, match="risk has values for 2 releases"):
        sdckit.replace_high_risk(frame, risk=frame, match=["n"], replace=["steps"], threshold=0.5, seed=1)
