"""DuckDB with less memory than the file is large."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from engines.comparing import assert_same_figures

LIMIT_MB = 32


def test_memory_limit_below_the_size_of_the_file(tmp_path: Path) -> None:
    n, rng = 1_000_000, np.random.default_rng(2)
    here = pl.DataFrame({key: rng.integers(0, m, n) for key, m in (("a", 20), ("b", 10), ("c", 30))})
    here = here.with_columns(
        pl.when(pl.Series(rng.random(n) < 0.01)).then(None).otherwise(pl.col("c")).alias("c"),
        pl.Series("w", 1 + 50 * rng.random(n)),
        *(pl.Series(f"payload{i}", rng.random(n)) for i in range(4)),
    )
    path = tmp_path / "large.parquet"
    here.write_parquet(path, compression="uncompressed")
    assert path.stat().st_size > LIMIT_MB * 1_000_000
    connection = duckdb.connect(
        config={
            "memory_limit": f"{LIMIT_MB}MB",
            "temp_directory": str(tmp_path / "spill"),
            "threads": "2",
            "preserve_insertion_order": "false",
        }
    )
    with pytest.raises(duckdb.OutOfMemoryException):
        connection.sql(f"select list(w), list(payload0), list(payload1), list(payload2) from '{path}'").fetchall()
    there = connection.from_parquet(str(path))
    call = {"keys": ["a", "b", "c"], "weight": "w", "threshold": 0.0002}
    expected, found = sdc.individual_risk(here, **call), sdc.individual_risk(there, **call)
    assert_same_figures(expected.global_risk, found.global_risk)
    assert expected.n_above == found.n_above
    assert sdc.k_anonymity(there, keys=["a", "b", "c"], k=2000).violations == (
        sdc.k_anonymity(here, keys=["a", "b", "c"], k=2000).violations
    )
