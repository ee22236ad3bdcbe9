"""E1: identifiers left out, everything else as it was."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sdckit import drop_identifiers
from sdckit.errors import ColumnError, DataError

DATA = {"name": ["Ann", None, "Bob"], "account": [11, 22, 33], "age": [31, 45, None]}


def test_columns_go():
    frame = pl.DataFrame(DATA)
    safe, change = drop_identifiers(frame, columns=["account", "name"])
    assert safe.equals(frame.select("age"))
    assert (change.method, change.n, change.changed) == ("drop_identifiers", 3, {"account": 3, "name": 2})
    assert (change.parameters, change.secret) == ({"columns": ["account", "name"]}, {})
    assert frame.columns == ["name", "account", "age"]
    assert drop_identifiers(frame, columns="name").data.columns == ["account", "age"]


def test_the_index_of_pandas_stays():
    frame = pd.DataFrame(DATA, index=[7, 7, 8])
    safe, _ = drop_identifiers(frame, columns=["name"])
    assert safe.index.tolist() == [7, 7, 8]
    assert safe.dtypes.equals(frame.dtypes.drop("name"))
    assert drop_identifiers(pa.table(DATA), columns=["name"]).data.column_names == ["account", "age"]


def test_columns_of_any_type_can_go():
    frame = pl.DataFrame({"a": [[1], None], "b": [{"x": 1}, {"x": 2}], "c": [1, 2]})
    assert drop_identifiers(frame, columns=["a", "b"]).change.changed == {"a": 1, "b": 2}
    mixed = pd.DataFrame({"a": ["x", 1], "c": [1, 2]})
    assert drop_identifiers(mixed, columns=["a"]).change.changed == {"a": 2}


@pytest.mark.parametrize(
    ("data", "columns", "error", "message"),
    [
        (DATA, [], ColumnError, "columns= is empty"),
        (DATA, ["nam"], ColumnError, "did you mean 'name'"),
        (DATA, ["name", "name"], ColumnError, "listed more than once"),
        (DATA, list(DATA), ColumnError, "no column would remain"),
        ({"name": [], "age": []}, ["name"], DataError, "no records"),
    ],
)
def test_bad_input(data, columns, error, message):
    with pytest.raises(error, match=message):
        drop_identifiers(pl.DataFrame(data), columns=columns)
