"""SQL engines that compare pairs of records: DuckDB in this process, or a Spark session."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from sdckit.cells.pair import Pair
from sdckit.data.files.whole_files import spill_folder
from sdckit.data.frames import carried_out
from sdckit.errors import DataError


class Engine(ABC):
    """An SQL engine with named tables.

    `similarity` is the name of its function for the Jaro-Winkler similarity of texts.
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
        """Result of a query as a PyArrow table; for small results only."""


class DuckDBEngine(Engine):
    """An in-process DuckDB database."""

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
    """A Spark session separate from the caller's: same settings, own views and functions."""

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
        frame = carried_out(lambda: self.session.sql(sql).persist())
        frame.createOrReplaceTempView(name)
        self.kept.append(frame)

    def rows(self, sql: str) -> Any:
        """What a query finds, as a PyArrow table."""
        return carried_out(lambda: self.session.sql(sql).toArrow())

    def close(self) -> None:
        """Release the memory of the persisted tables."""
        for frame in self.kept:
            frame.unpersist()


@contextmanager
def open_duckdb() -> Iterator[DuckDBEngine]:
    """An in-memory database that spills to a private temporary folder if memory does not suffice."""
    import duckdb

    with spill_folder() as folder:
        connection = duckdb.connect(":memory:", config={"temp_directory": str(folder)})
        try:
            yield DuckDBEngine(connection)
        finally:
            connection.close()


@contextmanager
def open_spark(session: Any) -> Iterator[SparkEngine]:
    """A separate Spark session whose tables are released at the end."""
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


# Jaro-Winkler similarity in NumPy for the workers of a cluster, where neither this package nor a compiler is installed.
#
# Nested functions are pickled by value with all they use; module-level ones would have to be imported by the worker.


BOOST_FROM = 0.7  # Jaro similarity above which a common prefix is rewarded
BEGINNING = 4
SCALE = 0.1
AT_ONCE = 4096  # pairs per batch of byte matrices


def similarity_for_workers() -> Callable[[Any, Any], Any]:
    """Build the Jaro-Winkler similarity on UTF-8 bytes as a self-contained function that can be sent to workers.

    It takes two PyArrow arrays of equal length and gives similarities from 0 to 1, null where a text is null: the
    figures of DuckDB.

    Examples
    --------
    >>> import pyarrow as pa
    >>> similarity_for_workers()(pa.array(["martha", "a", None]), pa.array(["marhta", "b", "c"])).to_pylist()
    [0.9611111111111111, 0.0, None]
    """
    padded, compared, together = _padding(), _comparing(), AT_ONCE

    def similarity(left: Any, right: Any) -> Any:
        import numpy
        import pyarrow
        import pyarrow.compute

        parts = [
            compared(*padded(left.slice(start, together)), *padded(right.slice(start, together)))
            for start in range(0, len(left), together)
        ]
        values = numpy.concatenate(parts) if parts else numpy.zeros(0)
        absent = pyarrow.compute.or_(pyarrow.compute.is_null(left), pyarrow.compute.is_null(right))
        mask = numpy.asarray(absent.to_numpy(zero_copy_only=False), bool)
        return pyarrow.array(values, pyarrow.float64(), mask=mask)

    return similarity


def _padding() -> Callable[[Any], tuple[Any, Any]]:
    def padded(texts: Any) -> Any:
        """UTF-8 bytes of the texts as a zero-padded matrix (n, longest) uint8, and their lengths (n,)."""
        import numpy
        import pyarrow

        wide = texts.cast(pyarrow.large_string()).fill_null("")
        starts = numpy.frombuffer(wide.buffers()[1], numpy.int64)[wide.offset : wide.offset + len(wide) + 1]
        size = numpy.diff(starts)
        out = numpy.zeros((len(size), max(1, int(size.max(initial=0)))), numpy.uint8)
        row = numpy.repeat(numpy.arange(len(size)), size)
        if len(row):
            place = numpy.arange(len(row)) - (starts[:-1] - starts[0])[row]
            out[row, place] = numpy.frombuffer(wide.buffers()[2], numpy.uint8)[starts[0] : starts[-1]]
        return out, size

    return padded


def _rounding_once() -> Callable[[Any, Any, Any], Any]:
    def contracted(x: Any, y: Any, z: Any) -> Any:
        """Compute x + y z as a fused multiply-add, with the product's error by Dekker's splitting."""
        product, halves = y * z, []
        for factor in (y, z):
            high = factor * 134217729.0
            high = high - (high - factor)
            halves.append((high, factor - high))
        (a, b), (c, d) = halves
        error = ((a * c - product) + a * d + b * c) + b * d
        total = x + product
        gone = total - x
        return total + ((x - (total - gone)) + (product - gone) + error)

    return contracted


def _comparing() -> Callable[[Any, Any, Any, Any], Any]:
    contracted, least, begins, scale = _rounding_once(), BOOST_FROM, BEGINNING, SCALE

    def compared(a: Any, n_a: Any, b: Any, n_b: Any) -> Any:
        """Jaro-Winkler similarity row by row of two byte matrices `a`, `b` with lengths `n_a`, `n_b` (n,)."""
        import numpy

        window = numpy.maximum(numpy.maximum(n_a, n_b) // 2 - 1, 0)[:, None]
        place = numpy.arange(b.shape[1])[None, :]
        taken = numpy.zeros(b.shape, bool)
        matched = numpy.zeros((len(a), max(a.shape[1], b.shape[1])), numpy.uint8)
        common = numpy.zeros(len(a), numpy.int64)
        inside = place < n_b[:, None]
        for i in range(a.shape[1]):
            hit = (b == a[:, i : i + 1]) & ~taken & inside & (numpy.abs(place - i) <= window)
            hit &= (i < n_a)[:, None]
            rows = numpy.flatnonzero(hit.any(axis=1))
            taken[rows, hit[rows].argmax(axis=1)] = True
            matched[rows, common[rows]] = a[rows, i]
            common[rows] += 1
        in_b = numpy.take_along_axis(b, numpy.argsort(~taken, axis=1, kind="stable"), axis=1)
        known = place < common[:, None]
        swapped = ((in_b != matched[:, : b.shape[1]]) & known).sum(axis=1)
        with numpy.errstate(divide="ignore", invalid="ignore"):
            jaro = (common / n_a + common / n_b + (common - swapped // 2) / common) / 3
        jaro = numpy.where(common > 0, jaro, 0.0)
        width = min(a.shape[1], b.shape[1], begins)
        alike = (a[:, :width] == b[:, :width]) & (numpy.arange(width) < numpy.minimum(n_a, n_b)[:, None])
        same = numpy.cumprod(alike, axis=1).sum(axis=1)
        return numpy.where(jaro > least, contracted(jaro, same * scale, 1 - jaro), jaro)

    return compared
