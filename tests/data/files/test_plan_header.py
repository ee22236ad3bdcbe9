"""What a folder says of itself before any record is read."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from sdckit.data.files import plan_header as asked
from sdckit.data.files.plan_header import plan_header
from sdckit.errors import FileFormatError

PEOPLE = pl.DataFrame({"sex": ["f", "m", "f"], "age": [30, 40, 50]})


def folder(tmp_path: Path, kind: str) -> Path:
    for year in (2024, 2025):
        part = tmp_path / "census" / f"year={year}"
        part.mkdir(parents=True)
        file = part / f"part.{kind}"
        PEOPLE.write_parquet(file) if kind == "parquet" else PEOPLE.write_csv(file)
    return tmp_path / "census"


@pytest.mark.parametrize(("kind", "told"), [("parquet", "2 files, Parquet"), ("csv", "2 files, CSV")])
def test_a_folder_is_one_file_with_the_columns_of_its_folders(tmp_path: Path, kind: str, told: str) -> None:
    found = plan_header(folder(tmp_path, kind), engine="polars")
    assert found.columns == ("sex", "age", "year")
    assert found.format == told
    assert found.n_rows == 6


def test_a_file_says_what_it_always_says(tmp_path: Path) -> None:
    PEOPLE.write_parquet(tmp_path / "a.parquet")
    found = plan_header(tmp_path / "a.parquet", engine="duckdb")
    assert (found.columns, found.n_rows, found.format) == (("sex", "age"), 3, "Parquet")


def test_an_address_is_asked_by_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asked, "scan_file", lambda *_, **__: PEOPLE.lazy())
    found = plan_header(Path("s3://bucket/a.parquet"), engine="polars")
    assert (found.columns, found.n_rows, found.format) == (("sex", "age"), 3, "Parquet")


def test_what_no_engine_reads_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="holds neither"):
        plan_header(tmp_path, engine="polars")
    PEOPLE.write_ipc(tmp_path / "a.arrow")
    with pytest.raises(FileFormatError, match="an engine reads Parquet and CSV"):
        plan_header(tmp_path / "a.arrow", engine="polars")
