"""The one way out of a protected frame."""

from __future__ import annotations

import datetime as dt
import pickle
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

from laden_files import LADEN, categories, laden, shown
from plans import duckdb_relation
from sdckit.data.outgoing.only_records import (
    arrow_records,
    arrow_use,
    bare_array,
    column_use,
    in_use,
    on_the_way,
    only_records,
    pandas_records,
    pandas_use,
    plan_records,
    polars_records,
    polars_use,
    without_dictionaries,
)
from sdckit.errors import DataError
from sdckit.protect.change import Change, Protected

SIZES = ["S", "M", "L", "XL"]


def as_polars(values):
    return pl.DataFrame({"x": pl.Series(values, dtype=pl.Enum(SIZES))})


def as_pandas(values):
    return pd.DataFrame({"x": pd.Categorical(values, categories=SIZES)})


def as_arrow(values):
    places = pa.array([None if one is None else SIZES.index(one) for one in values])
    return pa.table({"x": pa.DictionaryArray.from_arrays(places, pa.array(SIZES))})


@pytest.mark.parametrize("make", [as_polars, as_pandas, as_arrow])
def test_files_of_one_list_fit_together(make):
    first, second = only_records([make(["L", None]), make(["S", "S"])])
    assert categories(first, "x") == categories(second, "x") == ["S", "L"]
    assert categories(only_records(make(["L", None])), "x") == ["L"]
    other = make(["XL"]) if make is as_pandas else pl.DataFrame({"x": pl.Series(["XL"], dtype=pl.Enum(["XL", "M"]))})
    alone = only_records([as_polars(["L"]), other])[0]
    assert categories(alone, "x") == (["L", "XL"] if make is as_pandas else ["L"])


@pytest.mark.parametrize("engine", LADEN)
def test_values_types_and_order_stay(engine):
    given = laden(engine)
    found = only_records(given)
    assert type(found) is type(given)
    for name in ("name", "home", "sex", "job", "note", "code", "age", "income", "w"):
        assert shown(found, name) == shown(given, name)
    again = only_records(found)
    assert categories(again, "job") == categories(found, "job")


def test_a_frame_of_narwhals_and_no_frame():
    assert isinstance(only_records(nw.from_native(as_polars(["S"]))), pl.DataFrame)
    assert only_records([]) == []
    with pytest.raises(DataError, match="not a data frame"):
        only_records(1)


# Arrow columns with nothing but their records.


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.binary_view(), pa.list_(pa.string()),
        pa.list_view(pa.string()), pa.dictionary(pa.int8(), pa.string()), pa.struct([("x", pa.string())]),
    ],
    ids=str,
)  # fmt: skip
def test_a_slice_holds_its_own_values_only(kind):
    words = ["a word of some length", None, "the hidden word", "another word"]
    if pa.types.is_struct(kind):
        values = [None if one is None else {"x": one} for one in words]
    else:
        listed = pa.types.is_list(kind) or pa.types.is_list_view(kind)
        texts = [one.encode() if one and "binary" in str(kind) else one for one in words]
        values = [[one] if one and listed else one for one in texts]
    plain = pa.string() if pa.types.is_dictionary(kind) else kind
    array = pa.array(values, plain).slice(0, 2)
    if pa.types.is_dictionary(kind):
        table = pa.table({"x": pa.array(values).dictionary_encode().cast(kind).slice(0, 2)})
        bare = arrow_records(table, arrow_use(table))["x"].combine_chunks()
    else:
        bare = bare_array(array)
    assert bare.type == kind
    assert bare.to_pylist() == values[:2]
    assert b"hidden" not in pickle.dumps(bare)


BITS = [True, False, True, None, True, False, True, True, True]
NUMBERS = [None if one is None else int(one) for one in BITS]
OF_BITS: list[tuple[Any, pa.DataType]] = [
    (BITS, pa.bool_()), (NUMBERS, pa.int64()), ([[one] for one in BITS], pa.list_(pa.bool_())),
    ([{"x": one} for one in BITS], pa.struct([("x", pa.bool_())])),
]  # fmt: skip


@pytest.mark.parametrize(("values", "kind"), OF_BITS, ids=str)
@pytest.mark.parametrize(("start", "stop"), [(0, 3), (4, 7)])
def test_the_last_byte_of_a_slice_holds_no_bit_of_the_next_rows(values, kind, start, stop):
    bare = bare_array(pa.array(values, kind).slice(start, stop - start))
    assert bare.to_pylist() == values[start:stop]
    series = polars_records(pl.DataFrame({"x": pa.array(values, kind)}).slice(start, stop - start), {})["x"]
    assert series.to_list() == values[start:stop]
    for array in (bare, series.to_arrow(compat_level=pl.CompatLevel.oldest())):
        flat = array.field("x") if pa.types.is_struct(kind) else array.values if pa.types.is_list(kind) else array
        bits = [buffer for at, buffer in enumerate(flat.buffers()) if buffer and (at == 0 or flat.type == pa.bool_())]
        assert {int.from_bytes(buffer.to_pybytes(), "little") >> flat.offset + len(flat) for buffer in bits} <= {0}


def test_nothing_beneath_missing_values():
    valid = pa.array([True, False]).buffers()[1]
    for values, kind in (([1, 77], pa.int16()), ([1.0, 77.0], pa.float64())):
        whole = pa.array(values, kind)
        array = pa.Array.from_buffers(kind, 2, [valid, whole.buffers()[1]])
        assert array.to_pylist() == [values[0], None]
        assert bare_array(array).buffers()[1].to_pybytes()[kind.bit_width // 8 :].strip(b"\0") == b""


def test_a_whole_column_is_left_where_it_is():
    array = pa.array([1, 2, 3])
    assert bare_array(array) is array


def test_chunks_with_dictionaries_of_their_own_and_the_order_kept():
    chunks = [
        pa.DictionaryArray.from_arrays(pa.array([2, None], pa.int8()), pa.array(["z", "b", "a"]), ordered=True),
        pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array(["z", "c"]), ordered=True),
    ]
    column = pa.chunked_array(chunks)
    table = pa.table({"x": column}, schema=pa.schema([pa.field("x", column.type, nullable=True, metadata={"a": "b"})]))
    use = column_use(column)
    assert use is not None
    assert use.kept == ["z", "a", "c"]
    found = arrow_records(table.replace_schema_metadata({"pandas": "x"}), {"x": use})
    assert found["x"].to_pylist() == ["a", None, "z", "c"]
    assert found["x"].type == column.type
    assert found["x"].chunk(0).dictionary.to_pylist() == ["z", "a", "c"]
    assert found.schema.metadata is None
    assert found.schema.field("x").metadata is None
    assert column_use(pa.chunked_array([["a"]])) is None


def test_a_table_without_rows():
    table = pa.table({"x": pa.array([], pa.dictionary(pa.int32(), pa.string())), "y": pa.array([], pa.int64())})
    assert arrow_records(table, arrow_use(table)).schema == table.schema


def test_dictionaries_within_lists_and_structures_become_plain():
    inner = pa.dictionary(pa.int32(), pa.string())
    kind = pa.struct([("a", pa.list_(inner)), ("b", pa.large_list(inner)), ("c", pa.list_(inner, 2)), ("d", pa.int8())])
    plain = without_dictionaries(kind)
    assert "dictionary" not in str(plain)
    assert plain.field("d").type == pa.int8()
    words = pa.array(["seen", "hidden"]).dictionary_encode()
    lists = pa.ListArray.from_arrays([0, 1, 2], words).slice(0, 1)
    table = pa.table({"x": lists})
    found = arrow_records(table, arrow_use(table))
    assert found["x"].to_pylist() == [["seen"]]
    assert b"hidden" not in pickle.dumps(found)


# Which categories some record has.


def test_kept_in_order_and_renumbered():
    use = in_use(["a", "b", "c", "d"], np.array([3, 1, 3]))
    assert (use.kept, use.places.tolist(), use.all_used) == (["b", "d"], [1, 3], False)
    assert use.new_place[[1, 3]].tolist() == [0, 1]
    assert in_use(["a"], np.array([0])).all_used
    assert in_use(["a"], np.array([], np.int64)).kept == []
    assert in_use([], np.array([], np.int64)).all_used


def test_joined():
    assert in_use(["a", "b", "c"], np.array([0])).joined(in_use(["a", "b", "c"], np.array([2]))).kept == ["a", "c"]


# pandas frames with nothing but their records.


NUMBER = 0x5A71_3751_785A_7137


def bare(frame: pd.DataFrame) -> pd.DataFrame:
    return pandas_records(frame, pandas_use(frame))


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1, 2]), pd.Series(["a", None]), pd.Series(["a", 1], dtype=object),
        pd.Series([1, None], dtype="Int8"), pd.Series([True, None], dtype="boolean"),
        pd.Series([0.5, None], dtype="Float32"),
        pd.Series(["a", None], dtype="string[python]"), pd.Series(["a", None], dtype="string[pyarrow]"),
        pd.Series(pd.to_datetime(["2020-01-01", None])), pd.Series([1, None], dtype="int64[pyarrow]"),
        pd.Series(pd.Categorical([3, 1, None], categories=[3, 1], ordered=True)),
        pd.Series(pd.cut([1, 5], [0, 2, 6])), pd.Series(pd.arrays.SparseArray([0, 1])),
        pd.Series(pd.to_datetime(["2020-01-01"]).tz_localize("UTC")),
    ],
    ids=lambda column: str(column.dtype)[:20],
)  # fmt: skip
def test_the_same_values_of_the_same_type(column):
    frame = pd.DataFrame({"x": column})
    frame.index = frame.index + 5
    pd.testing.assert_frame_equal(bare(frame), frame)


@pytest.mark.parametrize("kind", ["Int64", "UInt64"])
def test_nothing_under_a_mask(kind):
    frame = pd.DataFrame({"x": pd.array([1, NUMBER], dtype=kind)})
    frame.loc[1, "x"] = pd.NA
    assert NUMBER.to_bytes(8, "little") in pickle.dumps(frame)
    assert NUMBER.to_bytes(8, "little") not in pickle.dumps(bare(frame))
    assert bare(frame)["x"].tolist() == [1, pd.NA]


def test_flags_and_floats_under_a_mask():
    for kind, seen, hidden in (("boolean", False, True), ("Float64", 0.0, 77.0)):
        made = []
        for value in (seen, hidden):
            frame = pd.DataFrame({"x": pd.array([seen, value], dtype=kind)})
            frame.loc[1, "x"] = pd.NA
            made.append(pickle.dumps(bare(frame)))
        assert made[0] == made[1]


def test_categories_of_any_type_in_their_order():
    for levels in (["c", "a", "b"], [3, 1, 2], [2.5, 0.5, 1.5], list(pd.interval_range(0, 3))):
        column = pd.Categorical([levels[1], None, levels[0]], categories=levels, ordered=True)
        found = bare(pd.DataFrame({"x": column}))["x"]
        assert list(found.cat.categories) == levels[:2]
        assert found.cat.ordered
        assert found.dropna().tolist() == [levels[1], levels[0]]
    dictionary = pa.DictionaryArray.from_arrays(pa.array([1, None]), pa.array(["hidden", "seen"]))
    found = bare(pd.DataFrame({"x": pd.arrays.ArrowExtensionArray(dictionary)}))["x"]
    assert found.tolist() == ["seen", pd.NA]
    assert b"hidden" not in pickle.dumps(found)


def test_notes_and_indexes():
    frame = pd.DataFrame({"x": [1, 2], "y": [3, 4], "hidden": [5, 6]})
    frame.columns = pd.CategoricalIndex(frame.columns, name="hidden note")
    frame.attrs = {"label": "hidden"}
    for index in (
        pd.CategoricalIndex(["a", "hidden"]), pd.MultiIndex.from_tuples([("a", 1), ("hidden", 2)], names=["p", "q"]),
    ):  # fmt: skip
        frame.index = index
        cut = frame[["x", "y"]][:1]
        found = bare(cut)
        assert found.index.tolist() == index[:1].tolist()
        assert found.index.names == index.names
        assert b"hidden" not in pickle.dumps(found)
        assert (cut.attrs, cut.columns.name, cut.index.dtype) == (frame.attrs, "hidden note", index.dtype)


# Polars frames with nothing but their records.


LONG = "a hidden word that is long"


def records_bare(frame: pl.DataFrame) -> pl.DataFrame:
    return polars_records(frame, polars_use(frame))


@pytest.mark.parametrize(
    "values",
    [
        [1, None, 77], [1.5, None, 77.0], [True, None, False], ["short", None, LONG], [b"x", None, LONG.encode()],
        [["a"], None, [LONG]], [{"x": "a"}, None, {"x": LONG}], [dt.date(2020, 1, 1), None, dt.date(1999, 9, 9)],
        [dt.timedelta(1), None, dt.timedelta(77)], [None, None, None],
    ],
    ids=lambda values: type(values[2]).__name__,
)  # fmt: skip
def test_the_same_values_of_the_same_type_of_polars_records(values):
    frame = pl.DataFrame({"x": values})
    assert_frame_equal(records_bare(frame), frame)
    cut = frame.filter(pl.int_range(3) < 2).with_columns(pl.when(pl.int_range(2) < 1).then("x"))
    assert records_bare(cut)["x"].to_list() == [values[0], None]
    assert b"hidden" not in pickle.dumps(records_bare(cut))


@pytest.mark.parametrize("kind", [pl.Int128, pl.UInt8, pl.Decimal(12, 3), pl.Time, pl.Datetime("ms", "UTC"), pl.Null])
def test_types_of_every_kind(kind):
    frame = pl.DataFrame({"x": pl.Series([None, None], dtype=kind)})
    assert records_bare(frame).schema == frame.schema


def test_two_files_that_differ_beneath_a_missing_value_are_one():
    made = []
    for value in (77, 5):
        cut = pl.DataFrame({"x": [1, value], "f": [1.0, value]}).with_columns(
            pl.when(pl.int_range(2) < 1).then(pl.all())
        )
        made.append(pickle.dumps(records_bare(cut)))
    assert made[0] == made[1]


def test_an_enum_keeps_what_is_used_in_its_order():
    frame = pl.DataFrame({"x": pl.Series(["c", None, "a"], dtype=pl.Enum(["d", "c", "b", "a"]))})
    assert records_bare(frame).schema["x"] == pl.Enum(["c", "a"])
    assert records_bare(frame)["x"].to_list() == ["c", None, "a"]
    empty = pl.DataFrame({"x": pl.Series([None], dtype=pl.Enum(["d"]))})
    assert records_bare(empty).schema["x"] == pl.Enum([])
    nested = pl.DataFrame({"x": pl.Series([["c"]], dtype=pl.List(pl.Enum(["c", "hidden"])))})
    assert records_bare(nested).schema["x"] == pl.List(pl.String)


def test_a_categorical_takes_no_other_category_to_another_process():
    frame = pl.DataFrame({"x": ["seen", LONG]}).cast(pl.Categorical)
    cut = frame.with_columns(pl.when(pl.int_range(2) < 1).then("x"))
    assert records_bare(cut).schema["x"] == pl.Categorical
    assert b"hidden" not in pickle.dumps(records_bare(cut))
    assert b"seen" in pickle.dumps(records_bare(cut))


def test_objects_are_left_alone():
    frame = pl.DataFrame({"x": pl.Series([object(), None], dtype=pl.Object)})
    assert records_bare(frame)["x"].to_list() == frame["x"].to_list()


# A plan goes out without the categories and notes that its records do not show.


@pytest.mark.parametrize("kind", [pl.Enum(["S", "secret"]), pl.Categorical])
def test_categories_of_polars_become_texts(kind: pl.DataType) -> None:
    found = plan_records(pl.LazyFrame({"size": pl.Series(["S", None], dtype=kind), "x": [1, 2]}))
    assert found.collect_schema() == {"size": pl.String, "x": pl.Int64}
    assert found.collect().rows() == [("S", 1), (None, 2)]


def test_categories_of_duckdb_become_texts() -> None:
    relation = duckdb_relation(pl.DataFrame({"size": ["S", None]}))
    native = relation.query("v", "SELECT size::ENUM('S', 'secret') AS size FROM v")
    found = plan_records(native)
    assert [str(one) for one in found.types] == ["VARCHAR"]
    assert found.fetchall() == [("S",), (None,)]


def test_between_steps_what_a_step_can_see_is_stripped_and_the_rest_is_owed():
    texts = pl.DataFrame({"t": ["a" * 20, "secret of a record"] * 9, "e": ["x", "y"] * 9, "l": [[1], [2]] * 9})
    laden_frame = texts.with_columns(pl.col("e").cast(pl.Enum(["x", "y", "z"])))[::2]
    with on_the_way() as owed:
        between = Protected(laden_frame, Change("local_suppression", 9, {})).data
        assert owed
    assert_frame_equal(between, only_records(laden_frame))
    assert between.schema["e"].categories.to_list() == ["x"]


def test_a_name_that_polars_takes_for_a_pattern():
    frame = pl.DataFrame({"^a$": pl.Series(["x"], dtype=pl.Enum(["x", "y"])), "*": [[1]], "": ["x"]})
    with on_the_way():
        between = Protected(frame, Change("recode", 1, {})).data
    assert_frame_equal(between, only_records(frame))
    assert between.schema["^a$"].categories.to_list() == ["x"]


def test_frames_of_other_engines_are_stripped_at_once():
    frame = pd.DataFrame({"e": pd.Categorical(["x", "x"], categories=["x", "y"])})
    with on_the_way() as owed:
        assert Protected(frame, Change("recode", 2, {})).data["e"].cat.categories.to_list() == ["x"]
    assert not owed
