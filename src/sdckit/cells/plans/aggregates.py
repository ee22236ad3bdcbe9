"""Aggregates of a whole plan, in one pass of its engine."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw

from sdckit.data.frames import collect


def aggregate(frame: nw.LazyFrame[Any], *expressions: nw.Expr) -> list[float]:
    """The values of some aggregates of a plan, in one pass; None becomes NaN."""
    named = [expression.alias(f"sdckit__{i}") for i, expression in enumerate(expressions)]
    row = collect(frame.select(*named)).row(0)
    return [float("nan") if value is None else float(value) for value in row]


def count(condition: nw.Expr) -> nw.Expr:
    """How many records fulfil a condition."""
    return condition.cast(nw.Int64).sum()


def expm1_negative(s: nw.Expr) -> nw.Expr:
    """1 - exp(s) for s <= 0 to the last digits: by its series near 0."""
    series = nw.lit(1.0)
    for k in range(18, 1, -1):
        series = series * (s * (1.0 / k)) + 1.0  # never divide: some engines write the dividend twice
    return nw.when(s > -0.5).then(-1.0 * s * series).otherwise(1.0 - s.exp())
