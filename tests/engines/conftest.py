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
from plans import new_connection

Maker = Callable[[pl.DataFrame], Any]


# What the workers of a cluster do not have: nothing of ours, no compiler, no pandas.
BARE_WORKER = """import sys


class Refuse:
    def find_spec(self, name, *rest):
        if name.split(".")[0] in {"sdckit", "narwhals", "numba", "scipy", "pandas", "polars"}:
            raise ImportError(f"the worker of the test has no {name}")


sys.meta_path.insert(0, Refuse())
"""


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A local Spark whose driver takes at most 1 MB of results, and whose workers have NumPy and PyArrow alone."""
    needs_java()
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    refusing = tmp_path_factory.mktemp("worker")
    (refusing / "sitecustomize.py").write_text(BARE_WORKER)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.executorEnv.PYTHONPATH", str(refusing))
            .config("spark.driver.maxResultSize", "1m")
            # Short queries gain nothing from the second compiler, which costs half of the processor's time.
            .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
            # Nor do they gain from Java code that is written and compiled for each: a seventh of Java's time here.
            .config("spark.sql.codegen.wholeStage", "false")
            .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
            .config("spark.log.level", "OFF")
            .getOrCreate()
        )
        yield session
        session.stop()


def polars_plan(frame: pl.DataFrame) -> pl.LazyFrame:
    """A Polars plan."""
    return frame.lazy()


def duckdb_relation(frame: pl.DataFrame, connection: Any = None) -> Any:
    """A DuckDB relation, on a connection of its own where none is given."""
    connection = connection or new_connection()
    name = f"frame_{id(frame)}"
    connection.register(name, frame.to_arrow())
    return connection.table(name)


@pytest.fixture(params=[polars_plan, duckdb_relation], ids=["polars", "duckdb"])
def plan(request: pytest.FixtureRequest) -> Maker:
    """Make a plan of a frame, on each embedded engine."""
    maker: Maker = request.param
    if maker is polars_plan:
        return maker
    connection = new_connection()  # of all files of a test: an engine joins what is on one
    return lambda frame: duckdb_relation(frame, connection)
