"""Plans are written by their engine: whole or not at all, and nothing but their records."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest

import sdckit as sdc
from plans import on_engines
from sdckit.errors import DataError, FileFormatError

SURVEY = pl.DataFrame({"job": ["cook", None, "vet"], "age": [31, 40, 58]})


@on_engines
def test_a_plan_becomes_a_file(plan: Any, tmp_path: Path) -> None:
    assert sdc.write_file(plan(SURVEY), tmp_path / "out.parquet") == tmp_path / "out.parquet"
    assert pl.read_parquet(tmp_path / "out.parquet").equals(SURVEY)
    assert files_in(tmp_path) == ["out.parquet"]
    assert stat.S_IMODE((tmp_path / "out.parquet").stat().st_mode) == 0o666 & ~umask()
    sdc.write_file(plan(SURVEY), tmp_path / "mine.parquet", private=True)
    assert stat.S_IMODE((tmp_path / "mine.parquet").stat().st_mode) == 0o600


def files_in(folder: Path) -> list[str]:
    """The names of what a folder holds."""
    return [one.name for one in folder.iterdir()]


def umask() -> int:
    """The mask of the process."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_categories_that_no_record_has_stay_behind(tmp_path: Path) -> None:
    frame = SURVEY.with_columns(pl.col("job").cast(pl.Enum(["cook", "vet", "hangman"])))
    sdc.write_file(frame.lazy(), tmp_path / "out.parquet")
    assert b"hangman" not in (tmp_path / "out.parquet").read_bytes()
    assert (
        pq.read_schema(tmp_path / "out.parquet").metadata is None
        or b"hangman" not in str(pq.read_schema(tmp_path / "out.parquet").metadata).encode()
    )


@on_engines
def test_what_fails_leaves_the_older_file(plan: Any, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    out.write_bytes(b"older")
    given = plan(SURVEY)
    if isinstance(given, pl.LazyFrame):
        failing = given.with_columns(pl.col("job").cast(pl.Int64))
    else:
        failing = given.query("v", "SELECT job::BIGINT AS job FROM v")
    with pytest.raises(DataError, match="cannot be carried out") as caught:
        sdc.write_file(failing, out)
    assert "cook" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert out.read_bytes() == b"older"
    assert files_in(tmp_path) == ["out.parquet"]


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "secret"), RuntimeError('IO Error: "secret": No space left on device')]
)
def test_a_full_disk_is_told(error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(pl.LazyFrame, "sink_parquet", full)
    with pytest.raises(FileFormatError, match="the disk is full") as caught:
        sdc.write_file(SURVEY.lazy(), tmp_path / "out.parquet")
    assert "secret" not in str(caught.value)
    assert files_in(tmp_path) == []


@on_engines
@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("out.csv", {}, "out.csv is CSV: an engine writes Parquet"),
        ("out.parquet", {"labels": {"job": "Occupation"}}, "writes no labels"),
        ("folder.parquet", {}, "there is something that is no regular file"),
    ],
)
def test_refusals(plan: Any, name: str, options: dict[str, Any], says: str, tmp_path: Path) -> None:
    (tmp_path / "folder.parquet").mkdir()
    with pytest.raises(FileFormatError, match=says):
        sdc.write_file(plan(SURVEY), tmp_path / name, **options)
    assert files_in(tmp_path) == ["folder.parquet"]


@on_engines
def test_a_folder_that_spark_wrote_stays(plan: Any, tmp_path: Path) -> None:
    (tmp_path / "out.parquet").mkdir()
    (tmp_path / "out.parquet" / "_SUCCESS").touch()
    with pytest.raises(FileFormatError, match="there is a folder; remove it"):
        sdc.write_file(plan(SURVEY), tmp_path / "out.parquet")
