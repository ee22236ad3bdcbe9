"""Parquet and Arrow (formats alike are tested in test_readers)."""

from __future__ import annotations

from datetime import date

import polars as pl
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
