"""Aggregates in one pass, and an exponential to the last digits against 50 digits."""

from __future__ import annotations

import math

import mpmath
import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest

from plans import collected, on_engines, opened
from sdckit.cells.plans.aggregates import aggregate, count, expm1_negative


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


LOGS = -np.unique(np.concatenate([np.geomspace(1e-12, 700, 400), np.linspace(0.45, 0.55, 41)]))


@on_engines
def test_one_minus_exp(plan):
    assert (LOGS.min(), LOGS.max()) == pytest.approx((-700, -1e-12))
    assert compared(plan, LOGS, expm1_negative, lambda s: 1 - mpmath.exp(s)) < 1e-14


@on_engines
def test_at_the_ends(plan):
    frame = opened(plan, pl.DataFrame({"s": [0.0, -5000.0, -math.inf]}))
    assert collected(frame.with_columns(expm1_negative(nw.col("s")).alias("exp")))["exp"].to_list() == [
        0,
        1,
        1,
    ]
