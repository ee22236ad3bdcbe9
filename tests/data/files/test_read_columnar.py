"""Parquet and Arrow (formats alike are tested in test_readers)."""

from __future__ import annotations

from datetime import date

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sdckit.data.files.readers import read_file, scan_header

FRAME = pl.DataFrame(
    {
        "c": pl.Series(["a", None, "b"], dtype=pl.Categorical),
        "e": pl.Series(["x", "y", None], dtype=pl.Enum(["y", "x"])),
        "d": [date(2020, 1, 1), None, date(2021, 1, 1)],
        "b": [True, None, False],
        "f": [1.5, None, float("nan")],
    }
)


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream"])
def test_types_stay(tmp_path, kind):
    path = tmp_path / ("x.parquet" if kind == "parquet" else "x.arrow")
    write = {"parquet": FRAME.write_parquet, "arrow": FRAME.write_ipc, "stream": FRAME.write_ipc_stream}[kind]
    write(path)
    assert read_file(path).equals(FRAME)
    assert scan_header(path).n_rows == 3


def test_pattern_characters_and_folder_names(tmp_path):
    folder = tmp_path / "year=2020"
    folder.mkdir()
    for name, write in (("w[1].parquet", FRAME.write_parquet), ("w[1].arrow", FRAME.write_ipc)):
        write(folder / name)
        assert read_file(folder / name).columns == FRAME.columns


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream"])
def test_categories_of_another_writer_keep_their_order(tmp_path, kind):
    order = ["never", "unasked", "seldom", "often"]
    held = pa.DictionaryArray.from_arrays(pa.array([3, None, 2, 0, 3], pa.int8()), pa.array(order))
    table, path = pa.table({"x": held}), tmp_path / ("x.parquet" if kind == "parquet" else "x.arrow")
    if kind == "parquet":
        pq.write_table(table, path, row_group_size=2)
    else:
        opening = pa.ipc.new_file if kind == "arrow" else pa.ipc.new_stream
        with opening(str(path), table.schema) as sink:
            sink.write_table(table)
    found = read_file(path)["x"]
    assert found.dtype == pl.Enum(order)
    assert found.to_list() == ["often", None, "seldom", "never", "often"]


@pytest.mark.parametrize("stream", [False, True])
def test_categories_of_pandas_one_of_them_missing(tmp_path, stream):
    path = tmp_path / "x.feather"
    file = pd.DataFrame({"sex": pd.Categorical(["m", "f", None, "m"], ["m", "f"]), "age": [1, 2, 3, 4]})
    if stream:
        table = pa.Table.from_pandas(file)
        with pa.ipc.new_stream(path, table.schema) as out:
            out.write_table(table)
    else:
        file.to_feather(path)
    found = read_file(path)
    assert found["sex"].dtype == pl.Enum(["m", "f"])
    assert found.rows() == [("m", 1), ("f", 2), (None, 3), ("m", 4)]
    assert read_file(path, columns=["sex"]).columns == ["sex"]


def test_row_groups_with_categories_of_their_own(tmp_path):
    path = tmp_path / "x.parquet"
    parts = [pa.table({"x": pa.array(one).dictionary_encode()}) for one in (["b", "a"], ["c", "b"])]
    with pq.ParquetWriter(path, parts[0].schema) as sink:
        for part in parts:
            sink.write_table(part)
    found = read_file(path)["x"]
    assert found.to_list() == ["b", "a", "c", "b"]
    assert found.dtype.categories.to_list() == ["b", "a", "c"]
