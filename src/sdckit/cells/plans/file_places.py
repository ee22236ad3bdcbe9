"""The place of each record in the files that a plan reads: what an engine that has no order of rows knows of them.

Polars and DuckDB number rows as they read them. Spark says of each row its file and its place there; nothing is
numbered across partitions.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.cells.plans.attach import attach
from sdckit.cells.plans.count_cells import PREFIX, KeyColumn
from sdckit.data import frames, pa, pl
from sdckit.data.frames import as_plan
from sdckit.errors import DataError
from sdckit.numerics.array_types import Ints

FILE, PART, OLD = f"{PREFIX}file", f"{PREFIX}part", f"{PREFIX}old"
# What a plan that only reads files is made of, as the engines print it.
OF_POLARS = re.compile(r"\s*(SELECT|WITH_COLUMNS|Parquet SCAN|PROJECT|ESTIMATED ROWS|HIVE PARTITIONS|\[|$)")
CALL = re.compile(r"\.(\w+)\(")
ROW_BY_ROW = {
    "alias", "cast", "strict_cast", "then", "otherwise", "is_null", "is_not_null", "is_nan", "is_not_nan", "is_in",
    "fill_null", "fill_nan",
}  # fmt: skip
OF_DUCKDB = {"PARQUET_SCAN", "READ_PARQUET", "PROJECTION", "PARQUET SCAN"}
OF_SPARK = {"Project", "SubqueryAlias", "LogicalRelation"}


@dataclass(frozen=True, eq=False)
class Placed:
    """A plan with its records numbered from 0 in a column of its own.

    `of_files`: whether the numbers are the places in the files, in the order of their names (of DuckDB among the rows
    that a filter leaves), and the same whenever the plan is read. `in_order`: whether the engine reads the records in
    this order.
    """

    frame: nw.LazyFrame[Any]
    of_files: bool
    in_order: bool


def number_rows(frame: nw.LazyFrame[Any], name: str) -> Placed:
    """Number the records of a plan in a column `name`.

    Raises DataError: the engine is none of Polars, DuckDB and Spark.
    """
    engine, native = frame.implementation, frame.to_native()
    if frames.on_spark(frame):
        return _on_spark(native, name)
    if engine.is_polars():
        lines = native.explain(optimized=False).splitlines()
        of_files = all(OF_POLARS.match(line) and _leaves_values(line) for line in lines)
        return Placed(_plan(native.with_row_index(name).with_columns(pl.col(name).cast(pl.Int64))), of_files, True)
    if engine.is_duckdb():
        numbered = native.query("sdckit__plan", f'SELECT row_number() OVER () - 1 AS "{name}", * FROM sdckit__plan')
        return Placed(_plan(numbered), _only_scans(native), True)
    raise DataError(f"plans of {engine.value} are not supported; collect the data first")


def _leaves_values(line: str) -> bool:
    """Whether what Polars prints of columns leaves each value in its row: nothing sorts, shuffles or takes them."""
    return line.lstrip().startswith("Parquet SCAN") or ROW_BY_ROW.issuperset(CALL.findall(line))


def _plan(native: Any) -> nw.LazyFrame[Any]:
    return as_plan(native)


def _only_scans(native: Any) -> bool:
    """Whether a relation of DuckDB only reads files, in their order."""
    if not native.query("sdckit__plan", "SELECT current_setting('preserve_insertion_order')").fetchall()[0][0]:
        return False
    steps = json.loads(native.query("sdckit__plan", "EXPLAIN (FORMAT json) FROM sdckit__plan").fetchall()[0][1])
    while steps:
        step, *others = steps
        if others or step["name"].strip().upper() not in OF_DUCKDB:
            return False
        steps = step["children"]
    return True


def _on_spark(native: Any, name: str) -> Placed:
    """Rows of Spark by file and place; by partition where the plan does more than read Parquet files."""
    from pyspark.sql import functions

    by_partition = native.select(functions.monotonically_increasing_id().alias(name), "*")
    if not _reads_files(native):
        return Placed(_plan(by_partition), False, True)
    place, file = functions.col("_metadata.row_index"), functions.col("_metadata.file_path")
    named = native.select(place.alias(name), file.alias(FILE), "*")
    parts = named.select(name, FILE, functions.spark_partition_id().alias(PART)).groupBy(FILE, PART)
    counted = parts.agg(functions.min(name), functions.max(name), functions.count(functions.lit(1)))
    ranges = sorted(frames.carried_out(counted.collect), key=lambda part: part[1])
    sizes: dict[str, int] = {}
    ends: dict[str, int] = {}
    for path, _, _, last, n in ranges:
        sizes[path] = sizes.get(path, 0) + n
        ends[path] = max(ends.get(path, 0), last + 1)
    if ends != sizes:  # rows that a table format calls deleted are still in its files
        return Placed(_plan(by_partition), False, True)
    if len(sizes) > 1:  # each file begins where the one before has ended
        ordered = sorted(sizes, key=lambda path: PurePosixPath(unquote(path)))
        before = np.cumsum([0, *(sizes[path] for path in ordered)]).tolist()
        offsets = native.sparkSession.createDataFrame(list(zip(ordered, before, strict=False)), [FILE, OLD])
        moved = functions.col(name) + functions.col(OLD)
        named = named.join(functions.broadcast(offsets), FILE).withColumn(name, moved).drop(OLD)
    firsts = [first for _, _, first, _, _ in ranges]
    unbroken = all(last - first + 1 == n for _, _, first, last, n in ranges)
    return Placed(_plan(named.drop(FILE)), True, len(sizes) <= 1 and unbroken and firsts == sorted(firsts))


def _reads_files(native: Any) -> bool:
    """Whether a frame of Spark is all rows of Parquet files, some columns of them; Spark Connect does not say."""
    if not frames.really_has(native, "_jdf"):
        return False
    step = native._jdf.queryExecution().analyzed()
    hidden = step.metadataOutput()
    known = [hidden.apply(at).dataType().simpleString() for at in range(hidden.size())]
    if len(known) != 1 or "row_index" not in known[0]:
        return False
    while step.nodeName() in OF_SPARK and step.children().size() == 1:
        step = step.children().apply(0)
    return step.nodeName() in OF_SPARK and step.children().size() == 0


def renumbered(frame: nw.LazyFrame[Any], name: str, numbers: Ints) -> nw.LazyFrame[Any]:
    """The plan with ``numbers[i]`` in place of the number i that `number_rows` gave a record."""
    if frames.on_spark(frame):
        return _renumbered_by_workers(frame, name, numbers)
    key = replace(KeyColumn.of(OLD, 0, nw.Int64()), has_missing=False)
    moved = attach(frame.rename({name: OLD}), [key], pa.table({OLD: np.arange(len(numbers))}), {name: numbers})
    return moved.drop(OLD)


def _renumbered_by_workers(frame: nw.LazyFrame[Any], name: str, numbers: Ints) -> nw.LazyFrame[Any]:
    """The numbers go to Spark's workers with the function, which is sent by value."""
    native = frame.to_native()

    def over_batches(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        for batch in batches:
            at = batch.schema.get_field_index(name)
            new = pyarrow.array(numbers[batch.column(at).to_numpy(zero_copy_only=False)])
            yield batch.set_column(at, name, new)

    return _plan(native.mapInArrow(over_batches, native.schema))
