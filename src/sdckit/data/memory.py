"""Free memory, estimates of the memory that records take, and how an engine and this process share a bound."""

import math
import re
from pathlib import Path
from typing import Any

from sdckit import operating_system
from sdckit.errors import DataError

# Measured with one and ten million records, seven keys, a weight and households, and with twenty columns.
PER_VALUE, PER_RECORD = 22, 120
# Of a value of a release and that of its original while a search puts values back, 2.1 million records of twelve
# columns; and what the members of a household tell beside them, where there is one (an upper bound of levels counted).
PER_SEARCHED, PER_SHARED = 55, 160
# Of a value of either of two releases while it is searched who is the same person in both; with the value itself.
PER_LINKED = 90
# Of a record and the one beside it that are matched: each column, the work, and that of each number in an interval.
PER_MATCHED, PER_MATCH, PER_INTERVAL = 12, 140, 60
SHARE_OF_SEARCH = 2  # of the free memory, which a search may take a part of
AT_REST = 400_000_000  # the idle process with its libraries
TEXT, PACKED = 4, 20  # memory that reading a file takes, in multiples of its size
TEXTS = {".csv", ".tsv", ".txt"}


# What one process may take with DuckDB in it: the engine and this side share what the libraries leave.


AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*([kKMGT])(i?)B")
LEAST = 500_000_000  # with less the libraries leave nothing to share
VARIABLE = "sdckit__bytes_here"  # of the connection, so that each of its plans knows


def shares_of(memory: str) -> tuple[int, int]:
    """Bytes of an amount such as "4GB" that the engine may take, and that this side may.

    Raises DataError: no amount; less than the libraries leave room beside.

    >>> shares_of("2GB")
    (800000000, 800000000)
    """
    amount = AMOUNT.fullmatch(memory.strip())
    if amount is None:
        raise DataError('memory= is what DuckDB may take, together with this process, such as "4GB"', argument="memory")
    whole = int(float(amount[1]) * (1024 if amount[3] else 1000) ** (1 + "KMGT".index(amount[2].upper())))
    if whole < LEAST:
        says = f"memory={memory!r} is for the whole process, whose libraries take {AT_REST // 10**6} MB by themselves"
        raise DataError(f"{says}; give {LEAST // 10**6}MB at least", argument="memory")
    engine = (whole - AT_REST) // 2
    return engine, whole - AT_REST - engine


def bytes_here(frame: Any) -> int | None:
    """Bytes that this side may take beside the engine of a plan; None where nothing bounds the two.

    DuckDB is bounded where `memory=` was given; Spark by what its own process on this machine may yet come to take.
    """
    implementation = getattr(frame, "implementation", None)  # without narwhals, which help must not load
    if implementation is not None and implementation.is_pyspark():
        return _beside_java(frame.to_native().sparkSession)
    if implementation is None or not implementation.is_duckdb():
        return None
    # no record is read: DuckDB carries out nothing below a limit of 0, and a view of the plan takes four times as long
    ((_, here),) = frame.to_native().limit(0).aggregate(f"count(*), getvariable('{VARIABLE}')").fetchall()
    return None if here is None else int(here)


def _beside_java(session: Any) -> int | None:
    """The free memory without what the heap of Spark's driver, or of a local Spark, may still grow by."""
    free = free_bytes()
    if free is None:
        return None
    runtime = session._jvm.java.lang.Runtime.getRuntime()
    return max(0, free - int(runtime.maxMemory()) + int(runtime.totalMemory()))


def what_opens(frame: Any, times: float) -> str:
    """What gives so many times the room beside the engine of a plan, as the end of a message."""
    here = bytes_here(frame)
    if here is None or not frame.implementation.is_duckdb():
        return "or use a machine with more memory"
    tenths = math.ceil((AT_REST + 2 * here * times) / 1e8)
    return f'or give more memory (about memory="{tenths / 10:g}GB", --memory)'


def free_bytes() -> int | None:
    """Bytes of available memory, reclaimable file caches included; None if unknown."""
    return operating_system.free_memory()


def bytes_of_records(records: int, columns: int) -> int:
    """Memory that records take during an assessment, as an order of magnitude.

    >>> bytes_of_records(1_000_000, 20)
    560000000
    """
    return records * (PER_RECORD + PER_VALUE * columns)


def room_of_search(frame: Any) -> int | None:
    """Bytes that a search through all records may take beside the engine of a plan; None if unknown."""
    here, free = bytes_here(frame), free_bytes()
    return here if free is None else min(free // SHARE_OF_SEARCH, free if here is None else here)


def bytes_of_search(records: int, columns: int, *, shared: bool) -> int:
    """Memory that a search for what a release gives back takes; `shared`: households are in it.

    >>> bytes_of_search(10_000_000, 12, shared=False)
    6600000000
    """
    return records * columns * (PER_SEARCHED + PER_SHARED * shared)


def bytes_of_matching(rows: int, columns: int, intervals: int) -> int:
    """Memory that matching the rows of a file with those of another takes, with its columns in both.

    >>> bytes_of_matching(1_000_000, 14, 0)
    308000000
    """
    return rows * (PER_MATCHED * columns + PER_MATCH + PER_INTERVAL * intervals)


def bytes_of_file(path: Path) -> int:
    """Memory that reading a whole file takes, estimated from its size."""
    return (TEXT if path.suffix.lower() in TEXTS else PACKED) * path.stat().st_size
