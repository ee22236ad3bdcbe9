"""Aggregates of a whole plan, in one pass of its engine."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw

from sdckit.data.frames import collect

__all__ = ["aggregate", "count"]


def aggregate(frame: nw.LazyFrame[Any], *expressions: nw.Expr) -> list[float]:
    """The values of some aggregates of a plan, in one pass; None becomes NaN."""
    named = [expression.alias(f"sdckit__{i}") for i, expression in enumerate(expressions)]
    row = collect(frame.select(*named)).row(0)
    return [float("nan") if value is None else float(value) for value in row]


def count(condition: nw.Expr) -> nw.Expr:
    """How many records fulfil a condition."""
    return condition.cast(nw.Int64).sum()
