"""Numbers of records by their places in the files that a plan reads; Spark is tried in test_protecting_on_spark.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.cells.plans.file_places import number_rows, renumbered
from sdckit.data.frames import collect

N = 3000


@pytest.fixture(params=["polars", "duckdb"])
def plan(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Three files as one plan, with codes for missing values taken out of a text."""
    people = pl.DataFrame({"i": range(N), "text": np.where(np.arange(N) % 3, "a", "NA")})
    for name, start, stop in (("a", 0, 200), ("b", 200, 2000), ("c", 2000, N)):
        people[start:stop].write_parquet(tmp_path / f"{name}.parquet", row_group_size=150)
    return sdc.scan_file(tmp_path, engine=request.param, missing=["NA", "-", "?", "x", "n", "."])


def test_records_are_numbered_in_the_order_of_their_files(plan: Any) -> None:
    placed = number_rows(nw.from_native(plan), "at")
    assert placed.of_files
    assert placed.in_order
    rows = collect(placed.frame)
    assert rows["at"].to_list() == rows["i"].to_list() == list(range(N))
    back = collect(renumbered(placed.frame, "at", np.arange(N)[::-1].copy()))
    assert (back["at"] + back["i"]).unique().to_list() == [N - 1]
    assert back["text"].null_count() == N // 3


def test_what_does_more_than_read_files_has_no_places(plan: Any) -> None:
    frame: nw.LazyFrame[Any] = nw.from_native(plan)
    counted = frame.group_by("text").agg(nw.len().alias("i"))
    for other in (frame.join(counted, on="text"), counted, frame.sort("text")):
        assert not number_rows(other, "at").of_files


def test_columns_of_polars_that_are_moved_have_no_places(tmp_path: Path) -> None:
    pl.DataFrame({"i": [1, 2, 3], "k.sort(": ["b", "a", None]}).write_parquet(tmp_path / "a.parquet")
    read = pl.scan_parquet(tmp_path / "a.parquet")
    ways = pl.all().reverse(), pl.all().shuffle(), pl.all().sort_by("i"), pl.col("i").sort(), pl.all().gather([0])
    for moved in ways:
        for other in (read.select(moved), read.select("i").with_columns(pl.col("i").shuffle())):
            assert not number_rows(nw.from_native(other), "at").of_files
    kept = read.select(pl.col("i").cast(pl.Float64).alias("j"), pl.col("i").is_in([1, 2]).alias("few"))
    assert number_rows(nw.from_native(kept), "at").of_files


def test_duckdb_reads_in_order_unless_it_is_told_otherwise(tmp_path: Path) -> None:
    import duckdb

    pl.DataFrame({"i": [1, 2]}).write_parquet(tmp_path / "a.parquet")
    connection = duckdb.connect()
    own: nw.LazyFrame[Any] = nw.from_native(connection.read_parquet(str(tmp_path / "a.parquet")))
    assert number_rows(own, "at").of_files
    connection.execute("SET preserve_insertion_order = false")
    assert not number_rows(own, "at").of_files
