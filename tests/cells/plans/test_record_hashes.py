"""Hashes of records: of measures that use them, `tests/engines/test_equal_records.py` tries the figures."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import polars as pl
import pytest

from plans import new_connection
from sdckit.cells.plans.record_hashes import hash_files, mean_size

ONE = pl.DataFrame({"a": [1, 2, 2, None], "b": [2, 1, 1, 7], "t": ["x", "x", "x", None]})
OTHER = pl.DataFrame({"a": [2, 1, None, 7], "b": [1, 2, 7, None], "t": ["x", "y", None, None]})


def opened(engine: str, *frames: pl.DataFrame) -> list[Any]:
    if engine == "polars":
        return [nw.from_native(frame.lazy()) for frame in frames]
    connection = new_connection()
    for at, frame in enumerate(frames):
        connection.register(f"frame{at}", frame.to_arrow())
    return [nw.from_native(connection.table(f"frame{at}")) for at in range(len(frames))]


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_values_of_other_columns_and_missing_ones_are_no_equals(engine: str) -> None:
    hashed = hash_files(opened(engine, ONE, OTHER, ONE), ["a", "b", "t"], 9)
    assert hashed is not None
    whole, without = hashed.count(), hashed.count(["t"])
    assert (whole.others, whole.times, whole.shared) == ((1, 2), (2, 1, 0), True)
    assert (without.others, without.times) == ((2, 2), (2, 1, 0))
    assert hashed.count(["b", "a"]).others == (2, 1)
    assert mean_size(opened(engine, ONE)[0], "a") == (1 + 2 * 2 + 1) / 4


@pytest.mark.parametrize(
    "other",
    [
        ONE.with_columns(pl.col("a").cast(pl.String)),
        ONE.with_columns(pl.col("a").cast(pl.UInt64)),
        ONE.with_columns(pl.col("a").cast(pl.Decimal(9, 2))),
        ONE.with_columns(pl.lit(None).alias("a")),
    ],
)
def test_columns_of_other_kinds_are_not_hashed(other: pl.DataFrame) -> None:
    assert hash_files(opened("polars", ONE, other), ["a", "b"], 9) is None
    assert hash_files([*opened("polars", ONE), *opened("duckdb", ONE)], ["a"], 9) is None
    assert hash_files([*opened("polars", ONE), nw.from_native(ONE)], ["a"], 9) is None
