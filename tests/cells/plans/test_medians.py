"""Medians by intervals that become narrower: those of all numbers put in order."""

from __future__ import annotations

import math

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings, strategies as st

import sdckit as sdc
from sdckit.cells.plans.medians import INTERVALS, medians_fit, narrowed_median

FINITE = st.floats(-1e300, 1e300, allow_nan=False)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.one_of(FINITE, st.integers(-3, 3).map(float)), max_size=40))
@example([0.0, math.nextafter(0.0, 1.0)])
@example([1.0] * (2 * INTERVALS) + [1e300])
def test_it_is_that_of_all_numbers(values: list[float]) -> None:
    plan = nw.from_native(pl.LazyFrame({"x": [None, *values]}, {"x": pl.Float64}))
    found = narrowed_median(plan, nw.col("x"))
    assert found == pytest.approx(float(np.median(values)), rel=1e-12) if values else math.isnan(found)


def test_numbers_are_put_in_order_where_the_engine_may_hold_them(tmp_path) -> None:
    pl.DataFrame({"x": [1.0]}).write_parquet(tmp_path / "x.parquet")
    bounded = nw.from_native(sdc.scan_file(tmp_path / "x.parquet", engine="duckdb", memory="500MB"))
    assert medians_fit(bounded, 10**6)
    assert not medians_fit(bounded, 10**7)
    assert medians_fit(nw.from_native(pl.LazyFrame()), 10**9)
