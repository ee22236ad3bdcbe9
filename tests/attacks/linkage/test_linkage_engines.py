"""Engines of linkage: nothing is left behind, and what a session must be."""

from __future__ import annotations

import sys

import polars as pl
import pyarrow as pa
import pytest

from engines import conftest as on_engines
from sdckit.attacks.linkage.linkage_engines import check_session, open_duckdb, open_spark, session_of
from sdckit.cells.pair import open_files
from sdckit.errors import DataError

spark = on_engines.spark
on_spark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),  # PySpark's about pandas 3
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
TABLE = pa.table({"unique_id": [0, 1], "text": ["martha", None]})


def use(engine):
    engine.load("sdckit_given", TABLE)
    engine.keep("sdckit_kept", f"select *, {engine.similarity}(text, 'marhta') as s from sdckit_given")
    found = engine.rows("select * from sdckit_kept order by unique_id")
    assert found["s"].to_pylist() == [pytest.approx(0.9611111), None]


def test_duckdb_keeps_records_in_memory_and_spills_into_a_folder_that_goes(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with open_duckdb() as engine:
        use(engine)
        (folder,) = tmp_path.iterdir()
        assert folder.stat().st_mode & 0o077 == 0
        assert not list(folder.iterdir())
        assert engine.rows("select current_setting('temp_directory') as d")["d"].to_pylist() == [str(folder)]
    assert not list(tmp_path.iterdir())


class TestOnSpark:
    pytestmark = on_spark

    def test_the_callers_session_stays_as_it_was(self, spark):
        views = {table.name for table in spark.catalog.listTables()}
        cached = spark.sparkContext._jsc.getPersistentRDDs().size()
        spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
        try:
            with open_spark(spark) as engine:
                assert engine.session.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
                use(engine)
                assert spark.sparkContext._jsc.getPersistentRDDs().size() == cached + 1
        finally:
            spark.conf.unset("spark.sql.session.timeZone")
        assert {table.name for table in spark.catalog.listTables()} == views
        assert not spark.catalog.functionExists("sdckit_jaro_winkler")
        assert spark.sparkContext._jsc.getPersistentRDDs().size() == cached

    def test_the_session_of_a_frame(self, spark):
        there = spark.createDataFrame(TABLE)
        check_session(session_of(open_files(there, TABLE)))
        assert session_of(open_files(TABLE, [TABLE, there])) is spark


def test_frames_of_other_engines_have_no_session():
    assert session_of(open_files(TABLE, pl.LazyFrame({"a": [1]}))) is None


def test_a_session_that_does_not_answer():
    class Stopped:
        def newSession(self):  # noqa: N802
            raise RuntimeError("Frau Kant")

    with pytest.raises(DataError, match="does not answer") as caught, open_spark(Stopped()):
        pass
    assert "Kant" not in str(caught.value)


def test_what_is_no_session(monkeypatch):
    with pytest.raises(DataError, match="session is a str; give a SparkSession"):
        check_session("local")
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(DataError, match=r"pip install 'sdckit\[spark\]'"):
        check_session("local")
