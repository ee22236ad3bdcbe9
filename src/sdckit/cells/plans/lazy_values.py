"""A figure per record of a plan: its mean, counts and quantiles computed on the engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw

from sdckit.data.frames import collect

__all__ = ["LazyValues", "aggregate", "expm1_negative", "log1p_negative"]


def aggregate(frame: nw.LazyFrame[Any], *expressions: nw.Expr) -> list[float]:
    """The values of some aggregates of a plan, in one pass; None becomes NaN."""
    named = [expression.alias(f"sdckit__{i}") for i, expression in enumerate(expressions)]
    row = collect(frame.select(*named)).row(0)
    return [float("nan") if value is None else float(value) for value in row]


def count(condition: nw.Expr) -> nw.Expr:
    """How many records fulfil a condition."""
    return condition.cast(nw.Int64).sum()


@dataclass(frozen=True, eq=False)
class LazyValues:
    """A column of a plan, asked for figures as `CellValues` is."""

    frame: nw.LazyFrame[Any]
    column: str
    n: int

    @property
    def _value(self) -> nw.Expr:
        return nw.col(self.column).cast(nw.Float64)

    def total(self) -> float:
        """Sum over the records."""
        return aggregate(self.frame, self._value.sum())[0]

    def extremes(self) -> tuple[float, float]:
        """Smallest and largest value."""
        low, high = aggregate(self.frame, self._value.min(), self._value.max())
        return low, high

    def count_below(self, limits: Sequence[float]) -> list[int]:
        """Records with a value below each limit."""
        return [int(c) for c in aggregate(self.frame, *(count(self._value < limit) for limit in limits))]

    def count_above(self, limits: Sequence[float]) -> list[int]:
        """Records with a value above each limit."""
        return [int(c) for c in aggregate(self.frame, *(count(self._value > limit) for limit in limits))]

    def quantiles(self, shares: Sequence[float]) -> list[float]:
        """Quantiles over the records, interpolated (type 7)."""
        return aggregate(
            self.frame, *(self._value.quantile(share, interpolation="linear") for share in shares)
        )

    def median_and_deviation(self) -> tuple[float, float]:
        """Median over the records, and the median of the absolute distances from it."""
        median = self.quantiles([0.5])[0]
        away = (self._value - median).abs().quantile(0.5, interpolation="linear")
        return median, aggregate(self.frame, away)[0]

    def cap_for(self, total: float) -> float:
        """Largest value t whose sum over the records, each cut at t, is below `total`; NaN if none."""
        value = nw.col("sdckit__value")
        counts = (
            self.frame.select(self._value.alias("sdckit__value"))
            .group_by("sdckit__value")
            .agg(nw.len().alias("sdckit__count"))
        )
        running = counts.with_columns(
            (value * nw.col("sdckit__count")).cum_sum().over(order_by="sdckit__value").alias("sdckit__kept"),
            nw.col("sdckit__count").cum_sum().over(order_by="sdckit__value").alias("sdckit__below"),
        )
        fits = nw.col("sdckit__kept") + value * (self.n - nw.col("sdckit__below")) < total
        return aggregate(running.filter(fits), value.max())[0]


def log1p_negative(r: nw.Expr) -> nw.Expr:
    """log(1 - r) to the last digits: by the series of atanh below 1/2, where log would lose them."""
    z = r / (r - 2.0)  # log(1 - r) = 2 atanh(z)
    square = z * z
    series = nw.lit(1.0 / 37)
    for k in range(35, 0, -2):
        series = series * square + 1.0 / k
    return (
        nw.when(r < 0.5)
        .then(2.0 * z * series)
        .otherwise((1.0 - nw.when(r < 1.0).then(r).otherwise(0.0)).log())
    )


def expm1_negative(s: nw.Expr) -> nw.Expr:
    """1 - exp(s) for s <= 0 to the last digits: by its series near 0."""
    series = nw.lit(1.0)
    for k in range(18, 1, -1):
        series = series * (s * (1.0 / k)) + 1.0  # never divide: some engines write the dividend twice
    return nw.when(s > -0.5).then(-1.0 * s * series).otherwise(1.0 - s.exp())
