"""What memory is free, what a file takes of it, and how an engine and this process share a bound."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import narwhals.stable.v2 as nw
import polars as pl
import pytest

import sdckit as sdc
from sdckit.cells.plans.count_cells import Beside, bytes_of_cells, most_cells
from sdckit.cells.plans.lazy import COLLECT_LIMIT, most_values
from sdckit.data import memory as memory_module
from sdckit.data.memory import (
    AT_REST,
    bytes_here,
    bytes_of_file,
    bytes_of_records,
    bytes_of_search,
    room_of_search,
    shares_of,
    what_opens,
)
from sdckit.errors import DataError


def test_what_is_packed_takes_more(tmp_path: Path) -> None:
    for name in ("a.csv", "a.parquet"):
        (tmp_path / name).write_bytes(b"0" * 1000)
    assert 1000 < bytes_of_file(tmp_path / "a.csv") < bytes_of_file(tmp_path / "a.parquet")
    assert bytes_of_records(20, 3) == 2 * bytes_of_records(10, 3)
    assert bytes_of_records(10, 2) < bytes_of_records(10, 3) < 2 * bytes_of_records(10, 2)


@pytest.mark.parametrize(("memory", "whole"), [("2GB", 2e9), (" 1.5 GiB", 1.5 * 2**30), ("900MB", 9e8), ("1TB", 1e12)])
def test_engine_and_process_share_what_the_libraries_leave(memory: str, whole: float) -> None:
    assert sum(shares_of(memory)) + AT_REST == int(whole)
    assert abs(shares_of(memory)[0] - shares_of(memory)[1]) <= 1


@pytest.mark.parametrize("memory", ["", "much", "4", "-1GB", "100MB", "0GB"])
def test_what_is_no_amount_is_refused(memory: str) -> None:
    with pytest.raises(DataError, match="memory="):
        shares_of(memory)


@pytest.fixture
def bounded(tmp_path: Path) -> nw.LazyFrame:
    pl.DataFrame({"a": range(20), "b": range(20)}).write_parquet(tmp_path / "a.parquet")
    return nw.from_native(sdc.scan_file(tmp_path / "a.parquet", engine="duckdb", memory="1GB"))


def test_limits_follow_from_the_bound(bounded: nw.LazyFrame) -> None:
    derived = bounded.filter(nw.col("a") > 2)
    assert bytes_here(derived) == bytes_here(bounded) == 300_000_000
    assert bytes_here(nw.from_native(pl.LazyFrame({"a": [1]}))) is None
    assert bytes_of_cells(most_cells(7, derived), 7) <= 150_000_000
    two = most_cells(7, derived, Beside(files=2))
    assert bytes_of_cells(2 * two, 7) <= 201_000_000
    assert most_cells(7, derived, Beside(files=2, held=201_000_000)) == 0
    assert most_values(derived, 2) < most_values(derived) < most_values() == COLLECT_LIMIT
    assert what_opens(derived, 2) == 'or give more memory (about memory="1.6GB", --memory)'
    assert what_opens(None, 2) == "or use a machine with more memory"


@pytest.mark.parametrize(("free", "room"), [(None, None), (9 * 10**9, 6 * 10**9), (10**9, 0)])
def test_spark_leaves_what_its_own_process_may_not_take(
    monkeypatch: pytest.MonkeyPatch, free: int | None, room: int | None
) -> None:
    """Of a heap of 4 GB, 1 GB of which is taken, 3 GB are still to be."""
    monkeypatch.setattr(memory_module, "free_bytes", lambda: free)
    runtime = SimpleNamespace(maxMemory=lambda: 4 * 10**9, totalMemory=lambda: 10**9)
    java = SimpleNamespace(lang=SimpleNamespace(Runtime=SimpleNamespace(getRuntime=lambda: runtime)))
    session = SimpleNamespace(_jvm=SimpleNamespace(java=java))
    plan: Any = SimpleNamespace(
        implementation=SimpleNamespace(is_pyspark=lambda: True, is_duckdb=lambda: False),
        to_native=lambda: SimpleNamespace(sparkSession=session),
    )
    assert bytes_here(plan) == room
    assert what_opens(plan, 2) == "or use a machine with more memory"


@pytest.mark.parametrize(("free", "room"), [(None, 300_000_000), (10**9, 300_000_000), (10**8, 50_000_000)])
def test_a_search_takes_what_is_left_to_this_side_and_half_of_what_is_free_at_most(
    bounded: nw.LazyFrame, monkeypatch: pytest.MonkeyPatch, free: int | None, room: int
) -> None:
    monkeypatch.setattr(memory_module, "free_bytes", lambda: free)
    assert room_of_search(bounded) == room
    assert room_of_search(nw.from_native(pl.LazyFrame({"a": [1]}))) == (None if free is None else free // 2)
    assert bytes_of_search(10, 3, shared=False) < bytes_of_search(10, 3, shared=True)


@pytest.mark.filterwarnings("ignore:key .* is different for every record")
def test_what_does_not_fit_is_refused_with_what_opens_it(
    bounded: nw.LazyFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = bounded.to_native()
    monkeypatch.setattr("sdckit.cells.plans.lazy.PER_VALUE", 10_000_000)
    with pytest.raises(DataError, match=r"up to 30 values are brought.*about memory=\"1.2GB\""):
        sdc.outliers(plan, numeric=["a", "b"])
    monkeypatch.setattr("sdckit.cells.plans.count_cells.BYTES_OF_A_KEY", 3_000_000)
    assert most_cells(2, bounded, Beside(2)) == 8
    with pytest.raises(DataError, match=r"all 20 cells at once.*give more memory"):
        sdc.key_separation(plan, keys=["a", "b"])
    parted = sdc.identity_disclosure(plan, plan.select("a, b"), keys=["a", "b"])
    assert parted.replicated_uniques == 1


def test_matching_that_does_not_fit_is_refused_by_number(
    bounded: nw.LazyFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = bounded.to_native()
    how: Any = {"known": ["b"], "id": "a", "numeric": [], "missing": "wildcard"}
    assert sdc.matching_risk(plan, plan, **how).expected_match_risk == 20
    monkeypatch.setattr(memory_module, "PER_MATCH", 30_000_000)
    with pytest.raises(DataError, match=r"matching 20 rows .* about 0.6 GB, and 0.3 GB .*about memory=\"1.7GB\""):
        sdc.matching_risk(plan, plan, **how)
