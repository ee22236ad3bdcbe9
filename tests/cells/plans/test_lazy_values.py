"""Figures of a plan's column against NumPy's, and two logarithms to the last digits against 50 digits."""

from __future__ import annotations

import math

import mpmath
import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import brute
from plans import FEW, collected, on_engines, opened
from sdckit.cells.plans.lazy_values import LazyValues, aggregate, count, expm1_negative, log1p_negative

numbers = st.lists(
    st.one_of(st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0, 7.5]), st.floats(0, 10)), min_size=1, max_size=15
)


def held(plan, values):
    return LazyValues(opened(plan, {"v": values}), "v", len(values))


@on_engines
@FEW
@given(values=numbers, shares=st.lists(st.floats(0, 1), min_size=1, max_size=4))
def test_as_numpy(plan, values, shares):
    asked, rows = held(plan, values), np.array(values)
    assert asked.total() == pytest.approx(rows.sum(), rel=1e-12)
    assert asked.extremes() == (rows.min(), rows.max())
    limits = [0.1, 0.3, 7.5]
    assert asked.count_below(limits) == [int((rows < limit).sum()) for limit in limits]
    assert asked.count_above(limits) == [int((rows > limit).sum()) for limit in limits]
    assert asked.quantiles(shares) == pytest.approx(np.quantile(rows, shares).tolist(), rel=1e-12, abs=1e-12)
    median = np.median(rows)
    assert asked.median_and_deviation() == pytest.approx((median, np.median(np.abs(rows - median))))


@on_engines
@FEW
@given(values=numbers, total=st.floats(0, 60))
def test_the_cap(plan, values, total):
    assert held(plan, values).cap_for(total) == pytest.approx(brute.cap(values, total), nan_ok=True)


@on_engines
def test_no_cap_is_low_enough(plan):
    assert math.isnan(held(plan, [0.5] * 4).cap_for(2.0))
    assert held(plan, [0.5] * 4).cap_for(2.1) == 0.5
    assert held(plan, [0.1, 0.4, 0.9]).cap_for(1.0) == 0.4  # 0.1 + 0.4 + 0.4 < 1 <= 0.1 + 0.4 + 0.9


@on_engines
def test_whole_numbers_are_values_too(plan):
    assert held(plan, [1, 2, 2, 7]).quantiles([0.5, 1.0]) == [2.0, 7.0]
    assert held(plan, [1, 2, 2, 7]).count_below([2 - 1e-9]) == [1]


@on_engines
def test_one_pass_of_aggregates(plan):
    nothing = pl.Series([None] * 3, dtype=pl.Float64)
    frame = opened(plan, pl.DataFrame({"v": [1.0, None, 3.0], "none": nothing}))
    total, few, empty = aggregate(
        frame, nw.col("v").sum(), count(nw.col("v").is_null()), nw.col("none").max()
    )
    assert (total, few) == (4.0, 1.0)
    assert math.isnan(empty)


def compared(plan, inputs, expression, definition):
    """The largest relative error of an expression of the engine, in units of one."""
    frame = opened(plan, {"x": inputs}).with_columns(expression(nw.col("x")).alias("y"))
    found = collected(frame)["y"].to_list()
    with mpmath.workdps(50):
        exact = [definition(mpmath.mpf(x)) for x in inputs]
        return max(float(abs((y - e) / e)) for y, e in zip(found, exact, strict=True))


RISKS = np.unique(
    np.concatenate(
        [np.geomspace(1e-12, 0.999, 300), np.linspace(0.45, 0.55, 41), 1 - np.geomspace(1e-12, 0.4, 100)]
    )
)
LOGS = -np.unique(np.concatenate([np.geomspace(1e-12, 700, 400), np.linspace(0.45, 0.55, 41)]))


@on_engines
def test_log_of_one_minus_a_risk(plan):
    assert (RISKS.min(), RISKS.max()) == (1e-12, 1 - 1e-12)
    assert compared(plan, RISKS, log1p_negative, lambda r: mpmath.log(1 - r)) < 1e-14


@on_engines
def test_one_minus_exp(plan):
    assert (LOGS.min(), LOGS.max()) == pytest.approx((-700, -1e-12))
    assert compared(plan, LOGS, expm1_negative, lambda s: 1 - mpmath.exp(s)) < 1e-14


@on_engines
def test_at_the_ends(plan):
    frame = opened(plan, pl.DataFrame({"r": [0.0, 1.0], "s": [0.0, -5000.0]}))
    found = collected(
        frame.with_columns(log1p_negative(nw.col("r")).alias("log"), expm1_negative(nw.col("s")).alias("exp"))
    )
    assert found["log"].to_list() == [0.0, 0.0]  # a risk of 1 has no logarithm: households count it apart
    assert found["exp"].to_list() == [0.0, 1.0]
