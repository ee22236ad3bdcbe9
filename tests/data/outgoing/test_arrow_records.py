"""Arrow columns with nothing but their records."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest

from sdckit.data.outgoing.arrow_records import (
    arrow_records,
    arrow_use,
    bare_array,
    column_use,
    without_dictionaries,
)


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
        pa.DictionaryArray.from_arrays(
            pa.array([2, None], pa.int8()), pa.array(["z", "b", "a"]), ordered=True
        ),
        pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array(["z", "c"]), ordered=True),
    ]
    column = pa.chunked_array(chunks)
    table = pa.table(
        {"x": column}, schema=pa.schema([pa.field("x", column.type, nullable=True, metadata={"a": "b"})])
    )
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
    table = pa.table(
        {"x": pa.array([], pa.dictionary(pa.int32(), pa.string())), "y": pa.array([], pa.int64())}
    )
    assert arrow_records(table, arrow_use(table)).schema == table.schema


def test_dictionaries_within_lists_and_structures_become_plain():
    inner = pa.dictionary(pa.int32(), pa.string())
    kind = pa.struct(
        [("a", pa.list_(inner)), ("b", pa.large_list(inner)), ("c", pa.list_(inner, 2)), ("d", pa.int8())]
    )
    plain = without_dictionaries(kind)
    assert "dictionary" not in str(plain)
    assert plain.field("d").type == pa.int8()
    words = pa.array(["seen", "hidden"]).dictionary_encode()
    lists = pa.ListArray.from_arrays([0, 1, 2], words).slice(0, 1)
    table = pa.table({"x": lists})
    found = arrow_records(table, arrow_use(table))
    assert found["x"].to_pylist() == [["seen"]]
    assert b"hidden" not in pickle.dumps(found)
