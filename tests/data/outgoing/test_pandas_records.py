"""pandas frames with nothing but their records."""

from __future__ import annotations

import pickle

import pandas as pd
import pyarrow as pa
import pytest

from sdckit.data.outgoing.pandas_records import pandas_records, pandas_use

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
    for categories in (["c", "a", "b"], [3, 1, 2], [2.5, 0.5, 1.5], list(pd.interval_range(0, 3))):
        column = pd.Categorical([categories[1], None, categories[0]], categories=categories, ordered=True)
        found = bare(pd.DataFrame({"x": column}))["x"]
        assert list(found.cat.categories) == categories[:2]
        assert found.cat.ordered
        assert found.dropna().tolist() == [categories[1], categories[0]]
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
