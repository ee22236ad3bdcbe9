"""An engine that is in use, interrupted, cancelled or out of room: one clear error, no value in it, nothing left."""

from __future__ import annotations

import gc
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import sdckit as sdc
from engines.comparing import quiet
from engines.test_failing_plans import MARK, check_silent
from sdckit.cells.plans import cells_in_parts, count_cells as counting

# A minute of work on one core: it has begun when it is stopped, and is far from its end.
LONG = "select hash(i * j) % 7 as a, 'ZQXMARK' as b from range(1000000) t(i), range(3000) u(j)"


def nothing_left(connection: Any) -> None:
    """No table and no view of ours; the connection works."""
    kept = connection.execute("select table_name from information_schema.tables").fetchall()
    assert [name for (name,) in kept if "sdckit" in name] == []


def small(connection: Any) -> Any:
    """A relation of a few records."""
    connection.execute(f"create temp table people as select i % 3 as a, '{MARK}' as b from range(9) t(i)")
    return connection.table("people")


def test_a_connection_that_is_in_use() -> None:
    connection = duckdb.connect()
    plan = small(connection)
    connection.execute("select * from range(10000000)").fetchone()
    said = check_silent(lambda: quiet(sdc.k_anonymity, plan, keys=["a", "b"]))
    assert "(ResourceInUseException): its DuckDB connection is in use" in said
    assert connection.fetchone() == (1,)  # whose query it is goes on
    connection.execute("select 1").fetchall()
    assert quiet(sdc.k_anonymity, plan, keys=["a", "b"]).level == 3
    nothing_left(connection)


def test_a_connection_that_is_closed() -> None:
    connection = duckdb.connect()
    plan = small(connection)
    result = quiet(sdc.k_anonymity, plan, keys=["a", "b"])
    connection.close()
    for call in (lambda: sdc.k_anonymity(plan, keys=["a", "b"]), lambda: result.records):
        assert "its DuckDB connection is closed; open the data again" in check_silent(call)


def test_a_transaction_that_has_failed() -> None:
    connection = duckdb.connect()
    plan = small(connection)
    connection.begin()
    with pytest.raises(duckdb.Error):
        connection.execute(f"select cast('{MARK}' as integer)")
    said = check_silent(lambda: quiet(sdc.k_anonymity, plan, keys=["a", "b"]))
    assert "a statement of its transaction has failed before; roll that back" in said
    connection.rollback()
    assert quiet(sdc.k_anonymity, plan, keys=["a", "b"]).level == 3


@contextmanager
def meanwhile(stop: Callable[[], None]) -> Iterator[None]:
    """Do something half a second after the block has begun."""

    def wait() -> None:
        time.sleep(0.5)
        stop()

    thread = threading.Thread(target=wait)
    thread.start()
    yield
    thread.join()


def test_ctrl_c_is_ctrl_c() -> None:
    """DuckDB makes a RuntimeError of it, which a measure would otherwise take for a failing step and go on."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    connection = duckdb.connect()
    plan = connection.sql(LONG)
    with meanwhile(lambda: os.kill(os.getpid(), signal.SIGINT)), pytest.raises(KeyboardInterrupt) as caught:
        sdc.k_anonymity(plan, keys=["a", "b"])
    signal.signal(signal.SIGINT, before)
    assert caught.value.__context__ is None
    nothing_left(connection)


def test_a_query_that_somebody_stops() -> None:
    connection = duckdb.connect()
    plan = connection.sql(LONG)
    with meanwhile(connection.interrupt):
        assert "(InterruptException): it was" in check_silent(lambda: sdc.k_anonymity(plan, keys=["a", "b"]))
    nothing_left(connection)


def test_no_disk_for_what_does_not_fit(tmp_path: Path) -> None:
    settings = {"memory_limit": "20MB", "temp_directory": str(tmp_path / "t"), "max_temp_directory_size": "1MB"}
    connection = duckdb.connect(config=settings)
    plan = connection.sql(f"select i as a, hash(i) as b, '{MARK}' as c from range(3000000) t(i)")
    said = check_silent(lambda: sdc.k_anonymity(plan, keys=["a", "b", "c"]))
    assert "(OutOfMemoryException): DuckDB has no more memory, or no more disk" in said
    nothing_left(connection)
    connection.close()
    assert not [one for one in tmp_path.rglob("*") if one.is_file()]


def test_parts_that_are_stopped_leave_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(counting, "MOST_CELLS", 40)
    there: list[int] = []

    def stopped(*given: Any) -> Any:
        there.append(len([one for one in tmp_path.rglob("*") if one.is_file()]))
        if len(there) == 3:
            raise KeyboardInterrupt
        return tabulate(*given)

    tabulate = cells_in_parts.tabulate_part
    monkeypatch.setattr(cells_in_parts, "tabulate_part", stopped)
    with pytest.raises(KeyboardInterrupt):
        quiet(sdc.k_anonymity, pl.LazyFrame({"a": list(range(100)), "b": [MARK] * 100}), keys=["a", "b"])
    gc.collect()
    assert 0 < there[0] <= there[1] < there[2]  # rows of all parts are put aside before the first is counted
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("make", [lambda one: one.lazy(), lambda one: duckdb.from_arrow(one.to_arrow())])
def test_columns_of_lists_and_structures(make: Callable[[pl.DataFrame], Any]) -> None:
    """As a role each is refused by its name and type; beside the roles they stay what they are."""
    plan = make(pl.DataFrame({"a": [[MARK], [MARK]], "s": [{"x": MARK}, {"x": "b"}], "b": [1, 2]}))
    calls: dict[str, Callable[[], Any]] = {
        "column 'a' holds List": lambda: sdc.k_anonymity(plan, keys=["a", "b"]),
        "column 's' holds Struct": lambda: sdc.individual_risk(plan, keys=["b"], household="s"),
        "weight 's' is Struct, not numbers": lambda: sdc.individual_risk(plan, keys=["b"], weight="s"),
        "column 'a' holds List:": lambda: sdc.l_diversity(plan, keys=["b"], sensitive="a"),
        "column 's' holds Struct:": lambda: sdc.k_anonymity(plan, keys=["b"], by="s").by_group,
        "column 'a' holds List: a variable": lambda: sdc.individual_risk(plan, keys=["b"], person="a"),
    }
    for said, call in calls.items():
        assert said in check_silent(lambda call=call: quiet(call))  # type: ignore[misc]
    found = quiet(sdc.k_anonymity, plan, keys=["b"]).records
    rows = found.collect() if isinstance(found, pl.LazyFrame) else pl.from_arrow(found.to_arrow_table())
    assert rows.columns == ["a", "s", "b", "sample_frequency"]


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning")
def test_a_spark_job_that_is_cancelled(spark: Any) -> None:
    """And nothing is left behind there; the next measure runs."""
    frame = spark.range(1000).crossJoin(spark.range(10**9).withColumnRenamed("id", "j"))
    plan = frame.selectExpr("pmod(xxhash64(id * j), 7) as a", f"'{MARK}' as b")
    ended = threading.Event()

    def cancel() -> None:
        while not ended.wait(0.2):
            if spark.sparkContext.statusTracker().getActiveJobsIds():
                spark.sparkContext.cancelAllJobs()

    thread = threading.Thread(target=cancel)
    thread.start()
    try:
        said = check_silent(lambda: quiet(sdc.k_anonymity, plan, keys=["a", "b"]))
    finally:
        ended.set()
        thread.join()
    assert "its Spark job was cancelled; measure again" in said
    assert [table.name for table in spark.catalog.listTables()] == []
    assert quiet(sdc.k_anonymity, spark.range(9).selectExpr("id % 3 as a", "1 as b"), keys=["a", "b"]).level == 3
