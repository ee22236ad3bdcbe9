"""One frame on every engine: a plan of Polars, a DuckDB relation, a Spark frame."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import polars as pl
import pytest

from needs import needs_java

Maker = Callable[[pl.DataFrame], Any]


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A local Spark whose driver takes at most 1 MB of results."""
    needs_java()
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.driver.maxResultSize", "1m")
            .config("spark.log.level", "OFF")
            .getOrCreate()
        )
        yield session
        session.stop()


def polars_plan(frame: pl.DataFrame) -> pl.LazyFrame:
    """A Polars plan."""
    return frame.lazy()


def duckdb_relation(frame: pl.DataFrame) -> Any:
    """A DuckDB relation on a connection of its own."""
    import duckdb

    connection = duckdb.connect()
    connection.register("frame_of_the_test", frame.to_arrow())
    return connection.table("frame_of_the_test")


@pytest.fixture(params=[polars_plan, duckdb_relation], ids=["polars", "duckdb"])
def plan(request: pytest.FixtureRequest) -> Maker:
    """Make a plan of a frame, on each embedded engine."""
    maker: Maker = request.param
    return maker
