"""Files out: whole or not at all, never over a source, the same values back."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sdckit as sdc
from full_disk import DISK_FULL, fill_disk
from sdckit.data.files.write_file import WRITTEN, check_output, write_file
from sdckit.errors import DataError, FileFormatError

FRAME = pl.DataFrame(
    {
        "number": [1, None, -3],
        "share": [0.5, 1.25, None],
        "text": ["a", "=HYPERLINK()", None],
        "day": [dt.date(2020, 1, 31), None, dt.date(1999, 12, 1)],
        "level": pl.Series(["lo", "hi", None], dtype=pl.Enum(["lo", "hi"])),
    }
)


@pytest.mark.parametrize("ending", WRITTEN)
@pytest.mark.parametrize("engine", ["polars", "pandas", "pyarrow"])
def test_what_is_written_is_read_back(tmp_path: Path, ending: str, engine: str) -> None:
    frame = {"polars": FRAME, "pandas": FRAME.to_pandas(), "pyarrow": FRAME.to_arrow()}[engine]
    path = write_file(frame, tmp_path / f"out{ending}")
    back = sdc.read_file(path)
    assert back.columns == FRAME.columns
    assert back["text"].to_list() == FRAME["text"].to_list()
    assert back["number"].cast(pl.Float64).to_list() == [1.0, None, -3.0]
    assert back["level"].cast(pl.String).to_list() == ["lo", "hi", None]
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_formulas_are_disarmed_only_where_asked(tmp_path: Path) -> None:
    frame = pl.DataFrame({"=a": ["=1", "+1", "-x", "@s", "\ty", "b", None], "n": [-1, 2, 3, 4, 5, 6, 7]})
    plain = write_file(frame, tmp_path / "plain.csv").read_text(encoding="utf-8")
    assert "'" not in plain
    safe = pl.read_csv(write_file(frame, tmp_path / "safe.csv", excel_safe=True))
    assert safe.columns == ["'=a", "n"]
    assert safe["'=a"].to_list() == ["'=1", "'+1", "'-x", "'@s", "'\ty", "b", None]
    assert safe["n"].to_list()[0] == -1
    with pytest.raises(FileFormatError, match="excel_safe is for CSV"):
        write_file(frame, tmp_path / "a.parquet", excel_safe=True)


def test_categories_are_disarmed_too(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": pl.Series(["=x", "y"], dtype=pl.Categorical)})
    path = write_file(frame, tmp_path / "a.csv", excel_safe=True)
    assert pl.read_csv(path)["a"].to_list() == ["'=x", "y"]


def test_a_source_is_never_overwritten(tmp_path: Path) -> None:
    source = write_file(FRAME, tmp_path / "raw.csv")
    before = source.read_bytes()
    link, hard = tmp_path / "link.csv", tmp_path / "hard.csv"
    link.symlink_to(source)
    os.link(source, hard)
    for path in (source, link, hard):
        with pytest.raises(FileFormatError, match="never overwritten"):
            write_file(FRAME.head(1), path, sources=[source])
    assert source.read_bytes() == before


def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_file(FRAME, tmp_path / "out.csv")
    before = path.read_bytes()

    fill_disk(monkeypatch)
    with pytest.raises(
        FileFormatError, match=f"could not write out.csv: {DISK_FULL}; nothing was left behind"
    ):
        write_file(FRAME, path)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["out.csv"]


def test_what_cannot_be_written_is_told_without_values(tmp_path: Path) -> None:
    nested = pl.DataFrame({"a": [["secret"]]})
    with pytest.raises(DataError, match="cannot be written as CSV") as caught:
        write_file(nested, tmp_path / "a.csv")
    assert "secret" not in str(caught.value)
    assert not list(tmp_path.iterdir())
    with pytest.raises(FileFormatError, match="an engine writes Parquet"):
        write_file(nested.lazy(), tmp_path / "a.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "said"),
    [("out.xlsx", "ends in one of"), ("out", "ends in one of"), ("no/out.csv", "does not exist")],
)
def test_a_bad_place(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(FileFormatError, match=said):
        check_output(tmp_path / name)


def test_a_folder_and_a_mode(tmp_path: Path) -> None:
    (tmp_path / "out.csv").mkdir()
    with pytest.raises(FileFormatError, match="no regular file"):
        write_file(FRAME, tmp_path / "out.csv")
    path = write_file(FRAME, tmp_path / "b.csv", private=True)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_pandas_index_is_not_written(tmp_path: Path) -> None:
    path = write_file(pd.DataFrame({"a": [1, 2]}, index=[7, 8]), tmp_path / "a.csv")
    assert path.read_text(encoding="utf-8").split() == ["a", "1", "2"]
    assert write_file(pa.table({"a": [1]}), tmp_path / "b.tsv").exists()
