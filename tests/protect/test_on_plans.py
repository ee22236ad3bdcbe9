"""What a method makes of columns of a plan: one file or several, of the same records or of others; limits."""

from __future__ import annotations

from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from plans import collected, on_engines
from sdckit.cells.plans.changing import open_changing
from sdckit.errors import DataError
from sdckit.protect import on_plans
from sdckit.protect.on_plans import check_made, check_room, with_files

FILE = pl.DataFrame({"row": range(4), "a": ["x", "y", None, "x"]})


@on_engines
def test_a_table_or_several(plan: Any) -> None:
    changing = open_changing(plan(FILE), 4)
    found = changing.brought(["a"])
    (same,) = with_files(changing, found, found.table)
    assert same is changing
    tables = [pa.table({"a": ["y", "y", None, None]}), pa.table({"a": ["x", "x", "x", "x"]})]
    for one, table in zip(with_files(changing, found, tables), tables, strict=True):
        assert collected(one.plan())["a"].to_list() == table["a"].to_pylist()
        assert collected(one.plan())["row"].to_list() == [0, 1, 2, 3]


@on_engines
def test_other_records(plan: Any) -> None:
    changing = open_changing(plan(FILE), 4)
    found = changing.brought(["row", "a"])
    (made,) = with_files(changing, found, pa.table({"row": [9, 9], "a": ["x", None]}))
    assert (made.n, made.n_file, made.columns) == (2, 4, ["row", "a"])
    assert collected(made.plan()).rows() == [(9, "x"), (9, None)]
    assert made.differing() == {"row": 4, "a": 4}
    assert made.brought(["a"]).table["a"].to_pylist() == ["x", None]


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_plans, "COLLECT_LIMIT", 100)
    check_room(50, ["a", "b"])
    with pytest.raises(DataError, match=r"brings 3 columns of 50 records here, .* at most 100 values come"):
        check_room(50, ["a", "b", "c"])
    check_made(5, 10, 2)
    with pytest.raises(
        DataError, match=r"makes 2 columns of 10 records for each of 6 files here, .* at most 100"
    ):
        check_made(6, 10, 2)
