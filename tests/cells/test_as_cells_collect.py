"""Columns of frames and plans, and the row of a record."""

from __future__ import annotations

import polars as pl
import pytest

import sdckit as sdc
from sdckit.cells import as_cells
from sdckit.cells.as_cells import columns_in_memory, groups_of, row_of
from sdckit.cells.plans import lazy, pair_tables
from sdckit.errors import ColumnError, DataError

FRAME = pl.DataFrame({"id": ["a", "b", "b", None], "x": [1.0, 2.0, None, 4.0], "g": [1, 1, None, None]})


def test_a_frame_stays_what_it_is_and_a_plan_is_brought():
    frame, brought = columns_in_memory(FRAME, {"numeric": ["x"]})
    assert (frame.columns, brought) == (["id", "x", "g"], False)
    frame, brought = columns_in_memory(FRAME.lazy(), {"numeric": ["x"], "by": ["g"], "id": ["x"]})
    assert (frame.columns, len(frame), brought) == (["x", "g"], 4, True)


@pytest.mark.parametrize("data", [FRAME, FRAME.lazy()])
def test_what_cannot_be_brought(data, monkeypatch):
    with pytest.raises(ColumnError, match="numeric: no column 'y' in the data"):
        columns_in_memory(data, {"numeric": ["y"]})
    with pytest.raises(DataError, match="no records"):
        columns_in_memory(data.head(0), {"numeric": ["x"]})
    if isinstance(data, pl.LazyFrame):
        monkeypatch.setattr(lazy, "COLLECT_LIMIT", 3)
        with pytest.raises(DataError, match="4 records of 1 columns"):
            columns_in_memory(data, {"numeric": ["x"]})


def test_a_span_of_duckdb_is_refused_before_it_is_counted(monkeypatch):
    """Months and days beside each other come as no value; grouped by the engine they are text."""
    import duckdb

    plan = duckdb.sql("select i % 3 as a, to_days((i % 2)::int) as span, i as id from range(12) r(i)")
    assert sdc.k_anonymity(plan, keys=["a", "span"]).n == 12
    for module in (as_cells, pair_tables):
        monkeypatch.setattr(module, "count_records", lambda *_: pytest.fail("counted"))
    for measure in (
        lambda: sdc.identity_disclosure(plan, plan, keys=["a", "span"]),
        lambda: sdc.tabular_utility(plan, plan, variables=["a", "span"]),
        lambda: sdc.household_structure(plan, keys=["a"], household="span"),
    ):
        with pytest.raises(DataError, match="'span' holds INTERVAL, months and days beside each other"):
            measure()


def test_a_missing_value_is_a_group():
    frame, _ = columns_in_memory(FRAME, {"by": ["g"]})
    of_row, n_groups = groups_of(frame, ["g"])
    assert n_groups == 2
    assert of_row[0] == of_row[1] != of_row[2] == of_row[3]


def test_the_row_of_a_record():
    frame, _ = columns_in_memory(FRAME, {"id": ["id"]})
    assert row_of(frame, "id", "a") == 0
    assert row_of(frame, "x", 4.0) == 3
    with pytest.raises(DataError, match="2 records have the value given in column"):
        row_of(frame, "id", "b")
    with pytest.raises(DataError, match="no record has") as caught:
        row_of(frame, "id", "secret")
    assert "secret" not in str(caught.value)
    with pytest.raises(ColumnError, match="id: no column 'di'"):
        row_of(frame, "di", "a")
