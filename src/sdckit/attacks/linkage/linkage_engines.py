"""Where pairs of records are compared: DuckDB in this process, or a session of Spark."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from sdckit.cells.pair import Pair
from sdckit.data.files.whole_files import spill_folder
from sdckit.data.frames import carried_out
from sdckit.errors import DataError


class Engine(ABC):
    """Tables by name, and SQL on them.

    `similarity` is its function for Jaro and Winkler's similarity of texts.
    """

    similarity: str

    @abstractmethod
    def load(self, name: str, table: Any) -> None:
        """Give a PyArrow table a name."""

    @abstractmethod
    def keep(self, name: str, sql: str) -> None:
        """Give what a query finds a name; it is run once."""

    @abstractmethod
    def rows(self, sql: str) -> Any:
        """What a query finds, as a PyArrow table; only for what is small."""


class DuckDBEngine(Engine):
    """A database of this process."""

    similarity = "jaro_winkler_similarity"

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    def load(self, name: str, table: Any) -> None:
        """Give a PyArrow table a name."""
        self.connection.register(name, table)

    def keep(self, name: str, sql: str) -> None:
        """Give what a query finds a name; it is run once."""
        carried_out(lambda: self.connection.execute(f"create or replace temp table {name} as {sql}"))

    def rows(self, sql: str) -> Any:
        """What a query finds, as a PyArrow table."""
        return carried_out(lambda: self.connection.sql(sql).to_arrow_table())


class SparkEngine(Engine):
    """A session of its own beside the caller's: with its settings, without its views and functions."""

    # Spark's own function and splink's jar for Spark count half transpositions, DuckDB does not.
    similarity = "sdckit_jaro_winkler"

    def __init__(self, session: Any) -> None:
        self.session = _beside(session)
        self.kept: list[Any] = []

    def load(self, name: str, table: Any) -> None:
        """Give a PyArrow table a name."""
        carried_out(lambda: self.session.createDataFrame(table)).createOrReplaceTempView(name)

    def keep(self, name: str, sql: str) -> None:
        """Give what a query finds a name; it is run once."""
        found = carried_out(lambda: self.session.sql(sql).persist())
        found.createOrReplaceTempView(name)
        self.kept.append(found)

    def rows(self, sql: str) -> Any:
        """What a query finds, as a PyArrow table."""
        return carried_out(lambda: self.session.sql(sql).toArrow())

    def close(self) -> None:
        """Give the memory of what was kept back."""
        for found in self.kept:
            found.unpersist()


@contextmanager
def open_duckdb() -> Iterator[DuckDBEngine]:
    """A database in memory; only what does not fit there goes to a folder that nobody else can read."""
    import duckdb

    with spill_folder() as folder:
        connection = duckdb.connect(":memory:", config={"temp_directory": str(folder)})
        try:
            yield DuckDBEngine(connection)
        finally:
            connection.close()


@contextmanager
def open_spark(session: Any) -> Iterator[SparkEngine]:
    """A session beside the caller's that leaves nothing behind."""
    engine = SparkEngine(session)
    try:
        yield engine
    finally:
        with suppress(Exception):  # the caller must see what went wrong before, not this
            engine.close()


def _beside(session: Any) -> Any:
    try:
        from pyspark.sql.pandas.functions import ArrowUDFType, arrow_udf
    except ImportError:
        raise DataError(
            "linkage on Spark needs PySpark 4.1 or later; collect the files, or a sample of them, first",
            argument="session",
        ) from None

    from sdckit.attacks.linkage.worker_similarity import similarity_for_workers

    try:
        other = session.newSession()
        for name, value in session.conf.getAll.items():
            if session.conf.isModifiable(name):
                other.conf.set(name, value)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # it would rather read the kind from annotations
            similarity = arrow_udf(similarity_for_workers(), "double", ArrowUDFType.SCALAR)
        other.udf.register(SparkEngine.similarity, similarity)
    except Exception as error:  # noqa: BLE001 (py4j raises whatever Java does)
        raise DataError(
            f"the Spark session does not answer ({type(error).__name__}); give session= one that has not been stopped"
        ) from None
    return other


def check_session(session: object) -> None:
    """Check that something is a session of Spark."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise DataError(
            "session= needs pyspark, which is not installed; pip install 'sdckit[spark]', or leave session out",
            argument="session",
        ) from None
    if not isinstance(session, SparkSession):
        raise DataError(
            f"session is a {type(session).__name__}; give a SparkSession (not of Spark Connect), or leave it out",
            argument="session",
        )


def session_of(pair: Pair) -> Any:
    """The session of the first Spark frame among files that are opened and not read yet, or None."""
    spark = (frame.to_native().sparkSession for frame in pair.frames if frame.implementation.is_pyspark())
    return next(spark, None)
