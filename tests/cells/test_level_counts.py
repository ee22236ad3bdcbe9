"""Levels within cells, counted from rows that stand for records."""

from __future__ import annotations

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from sdckit.cells.level_counts import count_levels
from sdckit.errors import DataError


def column(values, dtype=pl.String):
    return nw.from_native(pl.Series("s", values, dtype=dtype), series_only=True)


def test_an_order_that_is_declared():
    for dtype, ordered in ((pl.Enum(["q", "p"]), True), (pl.Categorical(), False), (pl.String, False)):
        found = count_levels(np.zeros(2, np.int64), column(["p", "q"], dtype), 1)
        assert found.ordered is ordered
        assert sorted(found.coded.labels(found.level)) == ["p", "q"]


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from(["p", "q", None]), st.integers(1, 5)), min_size=1
    )
)
def test_a_row_of_several_records_is_several_rows(rows):
    rows = [*rows, *((cell, "p", 1) for cell in range(4))]  # every cell has a record
    cell, values, records = (list(one) for one in zip(*rows, strict=True))
    found = count_levels(np.array(cell), column(values), 4, np.array(records))
    alone = [(c, v) for c, v, n in rows for _ in range(n)]
    expected = count_levels(np.array([c for c, _ in alone]), column([v for _, v in alone]), 4)
    assert found.edges.tolist() == expected.edges.tolist()
    assert found.level.tolist() == expected.level.tolist()
    assert found.count.tolist() == expected.count.tolist()
    assert found.missing == expected.missing
    assert found.count.sum() == len(alone)


def test_a_variable_without_any_value():
    with pytest.raises(DataError, match="sensitive variable 's' has no value in any record; leave it out"):
        count_levels(np.zeros(2, np.int64), column([None, None]), 1)
