"""Parquet files as plans: the records of `read_file`."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import narwhals.stable.v2 as nw
import polars as pl
import pytest

import sdckit as sdc
from sdckit import operating_system
from sdckit.data.files.scan_file import is_for_an_engine, scan_file

ENGINES = ("polars", "duckdb")
on_engines = pytest.mark.parametrize("engine", ENGINES)
ROWS = pl.DataFrame(
    {
        "id": [1, 2, 3, 4],
        "job": ["cook", "NA", "", "-9"],
        "age": [30, -9, None, 41],
        "half": [0.5, -9.0, float("nan"), 1.5],
        "day": pl.Series(["2024-02-29", None, "2024-03-01", "2024-03-01"]).str.to_date(),
    }
)


def rows(plan: Any) -> pl.DataFrame:
    found = nw.from_native(plan).collect("polars").to_native()
    return found.sort("id") if "id" in found.columns else found


def kinds(plan: Any) -> str:
    return type(plan).__module__.partition(".")[0]


@on_engines
@pytest.mark.parametrize("missing", [(), ("-9",), ("NA", "-9")])
@pytest.mark.filterwarnings("ignore::sdckit.SdcWarning")
def test_the_records_of_read_file(tmp_path: Path, engine: Any, missing: tuple[str, ...]) -> None:
    ROWS.write_parquet(tmp_path / "a.parquet")
    plan = scan_file(tmp_path / "a.parquet", engine=engine, missing=missing)
    assert kinds(plan) == engine
    assert rows(plan).equals(sdc.read_file(tmp_path / "a.parquet", missing=missing))


@on_engines
def test_only_the_columns_asked_for(tmp_path: Path, engine: Any) -> None:
    ROWS.write_parquet(tmp_path / "a.parquet")
    chosen = scan_file(tmp_path / "a.parquet", engine=engine, columns=["age", "job"])
    assert nw.from_native(chosen).collect_schema().names() == ["age", "job"]
    rest = scan_file(tmp_path / "a.parquet", engine=engine, identifiers=["id", "day"])
    assert nw.from_native(rest).collect_schema().names() == ["job", "age", "half"]
    ROWS.write_csv(tmp_path / "a.csv")
    with warnings.catch_warnings(record=True, action="always", category=sdc.SdcWarning) as heard:
        of_text = scan_file(tmp_path / "a.csv", engine=engine, identifiers=["id", "day"])
    assert nw.from_native(of_text).collect_schema().names() == ["job", "age", "half"]
    assert [str(one.message) for one in heard if "no identifier" in str(one.message)] == []  # they are there
    with pytest.warns(sdc.SdcWarning, match="no identifier 'idd' \\(did you mean 'id'"):
        scan_file(tmp_path / "a.csv", engine=engine, identifiers=["idd"])
    with pytest.raises(sdc.ColumnError, match="has no column 'aeg' \\(did you mean 'age'"):
        scan_file(tmp_path / "a.parquet", engine=engine, columns=["aeg"])


@on_engines
def test_a_folder_is_one_file_and_its_folders_are_columns(tmp_path: Path, engine: Any) -> None:
    for year, part in ((2024, ROWS[:2]), (2025, ROWS[2:])):
        (tmp_path / "census" / f"year={year}").mkdir(parents=True)
        part.write_parquet(tmp_path / "census" / f"year={year}" / "part.parquet")
    (tmp_path / "census" / "_metadata.parquet").write_bytes(b"PAR1 none of it PAR1")
    plan = scan_file(tmp_path / "census", engine=engine, columns=["id", "age", "year"])
    assert rows(plan).rows() == [(1, 30, 2024), (2, -9, 2024), (3, None, 2025), (4, 41, 2025)]
    assert sdc.k_anonymity(plan, keys=["year"]).violations[3] == 4


def test_what_is_refused(tmp_path: Path) -> None:
    ROWS.write_ipc(tmp_path / "a.arrow")
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.parquet").write_text("no Parquet")
    with pytest.raises(sdc.FileFormatError, match=r"a\.arrow is Arrow: an engine reads Parquet and CSV; write"):
        scan_file(tmp_path / "a.arrow")
    with pytest.raises(sdc.FileFormatError, match="the folder empty holds neither Parquet"):
        scan_file(tmp_path / "empty")
    with pytest.raises(sdc.FileFormatError):
        scan_file(tmp_path / "broken.parquet")
    with pytest.raises(sdc.FileFormatError):
        scan_file(tmp_path / "gone.parquet")
    ROWS.write_parquet(tmp_path / "a.parquet")
    for given in ({"memory": "1GB"}, {"engine": "duckdb", "memory": "much"}):
        with pytest.raises(sdc.DataError, match="memory= is what DuckDB may take, together with this process"):
            scan_file(tmp_path / "a.parquet", **given)
    with pytest.raises(sdc.DataError, match="whose libraries take 400 MB by themselves; give 500MB at least"):
        scan_file(tmp_path / "a.parquet", engine="duckdb", memory="300MB")
    with pytest.raises(sdc.DataError, match="engine"):
        scan_file(tmp_path / "a.parquet", engine="dask")


def test_duckdb_keeps_to_its_memory_and_spills_to_a_folder_of_ours(tmp_path: Path) -> None:
    ROWS.write_parquet(tmp_path / "a.parquet")
    plan = scan_file(tmp_path / "a.parquet", engine="duckdb", memory="1GB")  # half of what the libraries leave
    told = "select current_setting('memory_limit'), current_setting('temp_directory') from t limit 1"
    limit, folder = plan.query("t", told).fetchall()[0]
    assert limit.startswith("286")  # MiB
    assert Path(folder).name.startswith((".sdckit", "sdckit"))
    assert Path(folder).stat().st_mode & 0o777 == 0o700


# --- object stores: there is none here, so the engine's own reader is asked whether the address reached it ----------


@pytest.mark.parametrize("given", ["s3://bucket/a b/census.parquet", Path("s3://bucket/a b/census.parquet")])
def test_an_address_reaches_the_reader_of_the_engine(
    given: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The readers are replaced by ones that note the address and give the file of this machine."""
    ROWS.write_parquet(tmp_path / "a.parquet")
    own, asked = str(tmp_path / "a.parquet"), []

    def read(files: list[str], **options: Any) -> Any:
        asked.append((files, options))
        return really[0](own)

    for engine, module, name in (("polars", pl, "scan_parquet"), ("duckdb", duckdb, "connect")):
        really = [pl.scan_parquet if engine == "polars" else duckdb.connect().read_parquet]
        replaced = read if engine == "polars" else lambda *_, **__: SimpleNamespace(read_parquet=read)
        with monkeypatch.context() as patch:
            patch.setattr(module, name, replaced)
            plan = scan_file(given, engine=engine, columns=["id", "age"], missing=["-9"])  # type: ignore[arg-type]
        assert rows(plan).rows() == [(1, 30), (2, None), (3, None), (4, 41)]
    address = "s3://bucket/a b/census.parquet"
    assert asked == [
        ([address], {"glob": True, "hive_partitioning": True}), ([address], {"hive_partitioning": True}),
    ]  # fmt: skip


def test_an_address_reaches_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    reader = SimpleNamespace(read=SimpleNamespace(parquet=lambda *files: asked.append(files)))
    sql = SimpleNamespace(SparkSession=SimpleNamespace(getActiveSession=lambda: reader))
    monkeypatch.setitem(sys.modules, "pyspark.sql", sql)
    with pytest.raises(sdc.FileFormatError, match="Spark cannot open abfss://box@store/census"):  # it is given None
        scan_file("abfss://box@store/census", engine="spark")
    assert asked == [("abfss://box@store/census",)]


def test_an_address_that_cannot_be_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError("key SECRET refused")

    monkeypatch.setattr(pl, "scan_parquet", fail)
    with pytest.raises(sdc.FileFormatError, match=r"Polars cannot open gs://bucket/x\.parquet: it") as caught:
        scan_file("gs://bucket/x.parquet")
    assert caught.value.__context__ is None
    with pytest.raises(sdc.FileFormatError, match=r"s3://bucket/x\.csv\.gz is CSV, which is read from this machine"):
        scan_file("s3://bucket/x.csv.gz")
    with pytest.raises(sdc.FileFormatError, match="is Parquet: delimiter, encoding and decimal mark are of CSV"):
        scan_file("s3://bucket/x.parquet", decimal=",")


# Which files are for an engine.


def free(kilobytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = tmp_path / "meminfo"
    told.write_text(f"MemAvailable: {kilobytes} kB\n")
    monkeypatch.setattr(operating_system, "MEMORY", told)


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
    monkeypatch.setattr("sdckit.data.files.scan_file.free_bytes", lambda: None)
    assert not is_for_an_engine(tmp_path / "a.csv", 1)


def test_duckdb_reads_texts_in_the_order_of_their_files(tmp_path: Path) -> None:
    """Codes for missing values are compared one by one: a list of them is looked up by a join, which has no order."""
    frame = pl.DataFrame({"i": range(1000, 4000), "text": ["a", "NA", "b"] * 1000, "n": [1, 9, 8] * 1000})
    for name, start, stop in (("a", 0, 200), ("b", 200, 2000), ("c", 2000, 3000)):
        frame[start:stop].write_parquet(tmp_path / f"{name}.parquet", row_group_size=150)
    codes = ["NA", "-9", "9", "99", "?", "x", "y", "."]
    read = sdc.scan_file(tmp_path, engine="duckdb", missing=codes).pl()
    expected = frame.with_columns(pl.col("text").replace("NA", None), pl.col("n").replace(9, None))
    assert read.equals(expected)


def test_times_of_day_that_spark_refuses_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "a.parquet")

    def refused(*_: object) -> None:
        raise ValueError("[UNSUPPORTED_TIME_TYPE] The data type TIME is not supported.")

    monkeypatch.setattr("sdckit.data.files.scan_file._opened", refused)
    with pytest.raises(sdc.DataError, match="times of day, which Spark takes only where"):
        scan_file(tmp_path / "a.parquet", engine="spark")
