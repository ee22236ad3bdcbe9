"""Columns replaced on every engine in memory: the other columns, the index, the order and the types stay."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import sdckit as sdc
from sdckit.data.frames import open_frame
from sdckit.data.replace import (
    Records,
    Tallied,
    as_held,
    lend_rows,
    open_eager,
    open_records,
    pick_rows,
    take_rows,
    with_levels,
    with_numbers,
    with_some_numbers,
)
from sdckit.errors import ColumnError, DataError
from sdckit.protect.recoding.coarsen_weights import told_by

DATA = {"i": [1, 2, 3], "f": [0.5, 1.5, 2.5], "s": ["a", "b", "c"], "b": [True, False, True]}
LEVELS = ["x", "y", "x"]


def pandas_frame():
    return pd.DataFrame({**DATA, "c": pd.Categorical(LEVELS)}, index=[5, 5, 7])


FRAMES = {
    "pandas": pandas_frame,
    "pandas nullable": lambda: pandas_frame().convert_dtypes(),
    "pandas arrow": lambda: pandas_frame().convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda: pl.DataFrame(DATA).with_columns(c=pl.Series(LEVELS, dtype=pl.Categorical)),
    "pyarrow": lambda: pa.table({**DATA, "c": pa.array(LEVELS).dictionary_encode()}),
}


def values(frame, name):
    found = frame[name].to_pylist() if isinstance(frame, pa.Table) else frame[name].to_list()
    return [None if pd.isna(value) else value for value in found]


def types(frame):
    if isinstance(frame, pa.Table):
        return dict(zip(frame.schema.names, frame.schema.types, strict=True))
    return dict(frame.schema) if isinstance(frame, pl.DataFrame) else dict(frame.dtypes)


@pytest.fixture(params=FRAMES)
def frame(request):
    return FRAMES[request.param]()


def test_rows_are_taken_and_types_kept(frame):
    before = types(frame)
    out = take_rows(open_frame(frame), dict.fromkeys([*DATA, "c"], np.array([2, 0, 0])))
    assert [values(out, name) for name in [*DATA, "c"]] == [
        [3, 1, 1], [2.5, 0.5, 0.5], ["c", "a", "a"], [True, True, True], ["x", "x", "x"]
    ]  # fmt: skip
    assert types(out) == before
    assert values(frame, "i") == [1, 2, 3]  # the caller's frame is as it was


def test_a_missing_source_makes_the_value_missing(frame):
    out = take_rows(open_frame(frame), dict.fromkeys([*DATA, "c"], np.array([2, -1, 0])))
    assert [values(out, name) for name in [*DATA, "c"]] == [
        [3, None, 1], [2.5, None, 0.5], ["c", None, "a"], [True, None, True], ["x", None, "x"]
    ]  # fmt: skip
    kept = {name: kind for name, kind in types(out).items() if kind == types(frame)[name]}
    assert set(kept) >= {"f", "s", "c"}
    assert str(types(out)["i"]).lower().startswith("int64")


def test_whole_numbers_stay_integers(frame):
    out = with_numbers(open_frame(frame), {"i": np.array([3.0, np.nan, 2.0]), "f": np.array([1.0, np.nan, 2.0])})
    assert values(out, "i") == [3, None, 2]
    assert values(out, "f") == [1.0, None, 2.0]
    assert str(types(out)["i"]).lower().startswith("int64")


def test_fractions_make_floats_of_integers(frame):
    out = with_numbers(open_frame(frame), {"i": np.array([0.5, 1.0, 2.0])})
    assert values(out, "i") == [0.5, 1.0, 2.0]


def test_numbers_too_large_for_the_type_make_floats():
    out = with_numbers(open_frame(pl.DataFrame({"x": pl.Series([1, 2], dtype=pl.Int8)})), {"x": np.array([300.0, 1])})
    assert out["x"].to_list() == [300.0, 1.0]
    small = with_numbers(open_frame(pl.DataFrame({"x": pl.Series([1, 2], dtype=pl.UInt8)})), {"x": np.array([7.0, 1])})
    assert small.schema == {"x": pl.UInt8}


def test_new_levels(frame):
    out = with_levels(open_frame(frame), {"i": (["low", "high"], np.array([1, -1, 0]))})
    assert values(out, "i") == ["high", None, "low"]
    assert values(out, "s") == DATA["s"]


def test_levels_of_mixed_types_are_refused():
    with pytest.raises(DataError, match="column 'x': its new values are of mixed types"):
        with_levels(open_frame(pl.DataFrame({"x": [1]})), {"x": (["a", 1], np.array([0]))})


def test_new_levels_of_the_columns_own_type_keep_it(frame):
    before = types(frame)
    codes = np.array([1, 0, -1])
    out = with_levels(open_frame(frame), {"s": (["u", "v"], codes), "f": ([1.5, 2.0], codes)})
    assert (values(out, "s"), values(out, "f")) == (["v", "u", None], [2.0, 1.5, None])
    assert {name: types(out)[name] for name in "sf"} == {name: before[name] for name in "sf"}
    whole = with_levels(open_frame(frame), {"i": ([10, 20], np.array([1, 0, 1]))})
    assert (values(whole, "i"), types(whole)["i"]) == ([20, 10, 20], before["i"])
    flags = with_levels(open_frame(frame), {"b": ([False, True], np.array([1, 0, 1]))})
    assert (values(flags, "b"), types(flags)["b"]) == ([True, False, True], before["b"])


def test_new_levels_of_another_type_change_it():
    frame = open_frame(pl.DataFrame({"i": pl.Series([1, 2], dtype=pl.Int8), "s": ["a", "b"]}))
    codes = np.array([1, 0])
    out = with_levels(frame, {"i": ([1, 300], codes), "s": ([1, 2], codes)})
    assert out.schema == {"i": pl.Int64, "s": pl.Int64}
    assert with_levels(frame, {"i": ([1, 100], codes)}).schema["i"] == pl.Int8
    assert with_levels(frame, {"i": ([1.5, 2.0], codes)}).schema["i"] == pl.Float64


def test_a_categorical_column_takes_the_levels_as_categories():
    codes = np.array([1, -1, 0])
    new = (["low", "high"], codes)
    names = ["b", "a", "b"]
    enum = with_levels(open_frame(pl.DataFrame({"x": pl.Series(names, dtype=pl.Enum(["a", "b"]))})), {"x": new})
    assert (enum.schema["x"], values(enum, "x")) == (pl.Enum(["low", "high"]), ["high", None, "low"])
    plain = with_levels(open_frame(pl.DataFrame({"x": pl.Series(names, dtype=pl.Categorical)})), {"x": new})
    assert (plain.schema["x"], values(plain, "x")) == (pl.Categorical, ["high", None, "low"])
    for ordered in (False, True):
        frame = pd.DataFrame({"x": pd.Categorical(names, ordered=ordered)})
        out = with_levels(open_frame(frame), {"x": new})["x"]
        assert (list(out.cat.categories), out.cat.ordered) == (["low", "high"], ordered)
    table = with_levels(open_frame(pa.table({"x": pa.array(names).dictionary_encode()})), {"x": new})
    assert (str(table.schema.field("x").type.value_type), values(table, "x")) == ("string", ["high", None, "low"])
    numbers = with_levels(open_frame(pl.DataFrame({"x": pl.Series(names, dtype=pl.Categorical)})),
                          {"x": ([1, 2], codes)})  # fmt: skip
    assert numbers.schema["x"] == pl.Int64


def test_ordered_levels(frame):
    out = with_levels(open_frame(frame), {"i": (["low", "mid", "high"], np.array([2, -1, 0]))}, ordered=True)
    assert values(out, "i") == ["high", None, "low"]
    if isinstance(out, pl.DataFrame):
        assert out.schema["i"] == pl.Enum(["low", "mid", "high"])
    elif isinstance(out, pa.Table):
        kind = out.schema.field("i").type
        assert (kind.ordered, out["i"].chunk(0).dictionary.to_pylist()) == (True, ["low", "mid", "high"])
    else:
        assert "ordered=1" in str(out["i"].dtype) or out["i"].cat.ordered
    assert values(out, "s") == DATA["s"]


def test_some_numbers(frame):
    before = types(frame)
    hit = np.array([True, False, True])
    out = with_some_numbers(open_frame(frame), {"i": (hit, np.array([7.0, 8.0])), "f": (hit, np.array([7.5, 8.0]))})
    assert (values(out, "i"), values(out, "f")) == ([7, 2, 8], [7.5, 1.5, 8.0])
    assert types(out) == before
    assert values(frame, "i") == [1, 2, 3]
    fractions = with_some_numbers(open_frame(frame), {"i": (hit, np.array([7.5, 8.0]))})
    assert values(fractions, "i") == [7.5, 2.0, 8.0]
    assert {"float64", "double"} & {str(types(fractions)["i"]).lower().removesuffix("[pyarrow]")}


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"x": [2**60 + 1, None, 3]}),
        pd.DataFrame({"x": pd.array([2**60 + 1, None, 3], dtype="Int64")}),
        pd.DataFrame({"x": pd.array([2**60 + 1, None, 3], dtype="int64[pyarrow]")}),
        pa.table({"x": [2**60 + 1, None, 3]}),
    ],
    ids=["polars", "pandas nullable", "pandas arrow", "pyarrow"],
)
def test_some_numbers_leave_large_integers_and_gaps(frame):
    out = with_some_numbers(open_frame(frame), {"x": (np.array([False, False, True]), np.array([5.0]))})
    assert values(out, "x") == [2**60 + 1, None, 5]
    assert types(out) == types(frame)


def test_numbers_as_a_column_holds_them():
    frame = open_frame(pl.DataFrame({"x": [0.5], "y": [0.5]}, schema={"x": pl.Float32, "y": pl.Float64}))
    tenth = np.array([0.1])
    assert as_held(frame["x"], tenth).tolist() == [float(np.float32(0.1))]
    assert as_held(frame["y"], tenth) is tenth


def test_some_numbers_of_decimals_keep_the_places():
    frame = pl.DataFrame({"x": pl.Series(["1.25", "2.50"]).cast(pl.Decimal(10, 2))})
    out = with_some_numbers(open_frame(frame), {"x": (np.array([True, False]), np.array([7.126]))})
    assert (out.schema, [str(value) for value in out["x"]]) == (frame.schema, ["7.13", "2.50"])


def test_the_index_of_pandas_stays():
    frame = pandas_frame()
    for out in (
        take_rows(open_frame(frame), {"s": np.array([2, 1, 0])}),
        with_numbers(open_frame(frame), {"f": np.array([2.0, 1.0, 0.0])}),
        with_levels(open_frame(frame), {"s": (["u"], np.array([0, 0, 0]))}),
        with_levels(open_frame(frame), {"s": (["u"], np.array([0, 0, 0]))}, ordered=True),
        with_some_numbers(open_frame(frame), {"f": (np.array([True, False, False]), np.array([9.0]))}),
    ):
        assert out.index.tolist() == [5, 5, 7]
        assert out.columns.tolist() == frame.columns.tolist()


def test_what_cannot_be_changed_is_refused():
    with pytest.raises(DataError, match="a plan cannot be changed in place"):
        open_eager(pl.LazyFrame(DATA), {})
    with pytest.raises(ColumnError, match="keys: no column 'ii' in the data; did you mean 'i'"):
        open_eager(pl.DataFrame(DATA), {"keys": ["ii"]})
    with pytest.raises(DataError, match="the data has no records"):
        open_eager(pl.DataFrame({"x": []}), {"keys": ["x"]})


@pytest.mark.parametrize("engine", [pl.DataFrame.clone, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow])
def test_rows_are_picked_and_lent(engine):
    frame = open_frame(engine(pl.DataFrame({"x": [1, 2, 3], "y": ["a", None, "c"]})))
    picked = open_frame(pick_rows(frame, np.array([2, 0, 2])))
    assert picked["x"].to_list() == [3, 1, 3]
    assert picked["y"].to_list() == ["c", "a", "c"]
    assert open_frame(pick_rows(frame, np.array([1]), ["x"])).columns == ["x"]
    lent = open_frame(lend_rows(frame, picked, {"y": np.array([1, -1, 2])}))
    assert lent["x"].to_list() == [1, 2, 3]
    assert lent.with_columns(nw.col("y").fill_null("gone"))["y"].to_list() == ["a", "gone", "c"]


# Functions of frames do the same with the distinct rows of a file as with its records.


CALLS: list[tuple[Any, dict[str, Any]]] = [
    (sdc.recode, {"column": "x", "bands": [0, 5, 10, None]}),
    (sdc.recode, {"column": "x", "bands": [0, 5, 10], "outside": "missing"}),
    (sdc.recode, {"column": "x", "bands": 3}),
    (sdc.recode, {"column": "x", "bands": 3, "how": "equal_frequency"}),
    (sdc.recode, {"column": "g", "groups": {"ab": ["a", "b"]}, "outside": "keep"}),
    (sdc.recode, {"column": "g", "groups": {"ab": ["a", "b", None]}, "outside": "missing"}),
    (sdc.recode, {"column": "g", "hierarchy": {"a": ["v"], "b": ["v"], "c": ["w"]}}),
    (sdc.round_to, {"column": "x", "base": 4}),
    (sdc.top_bottom_code, {"column": "x", "top": 9, "bottom": 2}),
    (sdc.top_bottom_code, {"column": "x", "top": 6, "to": "mean"}),
    (sdc.top_bottom_code, {"column": "x", "top": {"a": 3, "b": 9, "c": None, None: 5}, "by": "g"}),
    (sdc.new_ids, {"column": "x", "key": bytes(16)}),
    (sdc.new_ids, {"column": "x", "household": "g", "key": bytes(16)}),
]


@st.composite
def rows(draw: st.DrawFn) -> tuple[pl.DataFrame, np.ndarray]:
    """Distinct rows, missing values among them, and how many records have each."""
    pairs = draw(
        st.lists(
            st.tuples(st.sampled_from([None, *range(15)]), st.sampled_from([None, "a", "b", "c"])),
            min_size=2, max_size=20, unique=True,
        )
    )  # fmt: skip
    pairs += [pair for pair in [(0, "a"), (14, "b")] if pair not in pairs]
    counts = draw(st.lists(st.integers(1, 6), min_size=len(pairs), max_size=len(pairs)))
    frame = pl.DataFrame(pairs, schema={"x": pl.Int64, "g": pl.String}, orient="row")
    return frame, np.array(counts, np.int64)


def told(function: Any, data: Any, call: dict[str, Any]) -> tuple[Any, ...]:
    """What was changed, and the values; or the error."""
    try:
        made, change = function(data, **call)
    except sdc.SdcError as error:
        return type(error), str(error)
    values = {name: [None if v is None else str(v) for v in made[name].to_list()] for name in made.columns}
    return change.n, change.changed, change.parameters, change.secret, change.notes, values


@pytest.mark.parametrize(("function", "call"), CALLS)
@given(found=rows())
def test_rows_that_stand_for_records(function: Any, call: dict[str, Any], found: Any) -> None:
    frame, counts = found
    every = np.repeat(np.arange(len(counts)), counts)
    here, there = told(function, frame[every], call), told(function, Tallied(frame, counts), call)
    if len(here) == 2:
        assert there == here
        return
    *_, values = there
    assert here[:5] == there[:5]
    assert here[5] == {name: [one[i] for i in every] for name, one in values.items()}


@given(found=rows())
def test_what_a_column_tells_is_counted_in_records(found: Any) -> None:
    frame, counts = found
    every = np.repeat(np.arange(len(counts)), counts)
    expected = told_by(open_frame(frame[every]), "x", ["g"])
    assert told_by(Tallied(frame, counts), "x", ["g"]) == pytest.approx(expected, rel=1e-12)


@given(found=rows(), at=st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_quantiles_are_those_of_the_records(found: Any, at: list[float]) -> None:
    frame, counts = found
    values = frame["x"].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    every, known = np.repeat(values, counts), np.array(at)
    expected = np.quantile(every[~np.isnan(every)], known)
    assert Records(len(values), counts).quantiles(values, known) == pytest.approx(expected, rel=1e-12)


def test_records_are_counted() -> None:
    plain, tallied = Records(3, None), Records(3, np.array([5, 1, 7]))
    group, some = np.array([0, 1, 0]), np.array([True, True, False])
    assert (plain.n, tallied.n) == (3, 13)
    assert plain.by(group, 2, some).tolist() == [1, 1]
    assert tallied.by(group, 2, some).tolist() == [5, 1]
    assert tallied.times(np.array([2.0, 3.0]), some).tolist() == [10.0, 3.0]


def test_methods_that_look_at_every_record_take_no_such_rows() -> None:
    tallied = Tallied(pl.DataFrame({"x": [1, 2], "g": ["a", "b"]}), np.array([3, 4]))
    with pytest.raises(DataError, match="Tallied is not a data frame"):
        sdc.pram(tallied, columns=["g"])
    for more in ({"hide_implied": True}, {"true_keys": True}, {"household": "x"}, {"together": [["g", "x"]]}):
        with pytest.raises(DataError, match="stand for several records"):
            sdc.local_suppression(tallied, keys=["g"], k=2, **more)
    assert open_records(tallied, {"column": ["x"]})[1].n == 7
    with pytest.raises(sdc.ColumnError, match="no column 'y'"):
        open_records(tallied, {"column": ["y"]})
