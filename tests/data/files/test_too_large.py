"""Which files are for an engine."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from sdckit.data import memory
from sdckit.data.files.too_large import is_for_an_engine


def free(kilobytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = tmp_path / "meminfo"
    told.write_text(f"MemAvailable: {kilobytes} kB\n")
    monkeypatch.setattr(memory, "MEMORY", told)


def test_parquet_goes_by_records_and_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.parquet"
    pl.DataFrame({"a": [0] * 10_000, "b": [1] * 10_000}).write_parquet(file)
    free(3000, tmp_path, monkeypatch)
    assert not is_for_an_engine(file, 1)
    assert is_for_an_engine(file, 2)


def test_csv_goes_by_size_and_others_never(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.DataFrame({"a": list(range(10_000))})
    frame.write_csv(tmp_path / "a.csv")
    frame.write_ipc(tmp_path / "a.arrow")
    free(10_000, tmp_path, monkeypatch)
    assert not is_for_an_engine(tmp_path / "a.csv", 1)
    free(100, tmp_path, monkeypatch)
    assert is_for_an_engine(tmp_path / "a.csv", 1)
    assert not is_for_an_engine(tmp_path / "a.arrow", 1)
    assert not is_for_an_engine(tmp_path / "nothing.csv", 1)
    (tmp_path / "folder").mkdir()
    assert is_for_an_engine(tmp_path / "folder", 1)
    assert is_for_an_engine(Path("s3://bucket/a.parquet"), 1)
    monkeypatch.setattr("sdckit.data.files.too_large.free_bytes", lambda: None)
    assert not is_for_an_engine(tmp_path / "a.csv", 1)
