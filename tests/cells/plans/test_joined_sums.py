"""Sums over rows that belong together, where they can be checked by hand."""

from __future__ import annotations

import math

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings, strategies as st

import sdckit as sdc
from sdckit.cells.pair import open_files
from sdckit.cells.plans.joined_sums import INTERVALS, join_pair, medians_fit, narrowed_median


def pair(released=None):
    original = pl.LazyFrame({"id": [1, 2, 3], "x": [2.0, None, 4.0], "c": ["a", "b", "b"]})
    return open_files(original, pl.LazyFrame({"id": [3, 1, 2], "x": [5.0, 2.0, 7.0], **(released or {})}), id="id")


def test_numbers_are_summed_by_id():
    joined = join_pair(pair(), ["x"], [])
    (before, after), (apart,) = joined.sums()
    assert (before.mean.tolist(), before.median.tolist(), before.squares.tolist()) == ([3.0], [3.0], [2.0])
    assert (after.low.tolist(), after.high.tolist(), after.n.tolist()) == ([2.0], [7.0], [3.0])
    assert (apart.relative.tolist(), apart.n_relative.tolist(), apart.apart.tolist()) == ([0.25], [2.0], [1.0])
    assert apart.angles.tolist() == [math.atan(1.0)]
    assert (apart.n_single.tolist(), apart.n_other.tolist(), apart.n_complete) == ([1.0], [2.0], 2)
    assert apart.covariance.tolist() == [[[2.0]], [[4.5]]]


def test_categories_come_as_joint_cells():
    cells = join_pair(pair({"c": ["b", "a", "a"]}), [], ["c"]).cells()["c"]
    before, after = cells.codes("c").codes
    assert sorted(zip(before.tolist(), after.tolist(), cells.times[0].tolist(), strict=True)) == [
        (1, 1, 1), (2, 1, 1), (2, 2, 1),
    ]  # fmt: skip


def test_what_cannot_be_joined_or_is_no_number_is_none():
    assert join_pair(pair({"c": ["b", "a", "a"]}), ["c"], []) is None
    assert join_pair(pair(), ["absent"], []) is None
    assert join_pair(open_files(pair().original, pl.DataFrame({"x": [1.0]}), id="id"), ["x"], []) is None


# Medians by intervals that become narrower: those of all numbers put in order.

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
