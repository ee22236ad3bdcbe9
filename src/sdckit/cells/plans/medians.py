"""Medians of more numbers than an engine may hold: it counts how many lie in each of many intervals, ever narrower."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.cells.plans.count_cells import PREFIX, SIZE, aggregate, count
from sdckit.data.frames import collect
from sdckit.data.memory import bytes_here

INTERVALS = 4096
PER_NUMBER = 40  # bytes that DuckDB takes for each number of a median, beside the join: 20 are too few


def medians_fit(frame: nw.LazyFrame[Any], numbers: int) -> bool:
    """Whether the engine of a plan may hold so many numbers, to put them in order."""
    here = bytes_here(frame)
    return here is None or numbers * PER_NUMBER <= here


def narrowed_median(frame: nw.LazyFrame[Any], value: nw.Expr) -> float:
    """The median of the known values of a number, all finite; NaN where there is none. A few passes of the plan.

    >>> import polars as pl
    >>> narrowed_median(nw.from_native(pl.LazyFrame({"x": [1.0, 7.0, 2.0, 4.0, None]})), nw.col("x"))
    3.0
    """
    own = nw.col(f"{PREFIX}x")
    numbers = frame.select(value.alias(f"{PREFIX}x"))
    n, low, high = aggregate(numbers, own.count(), own.min(), own.max())
    if not n:
        return float("nan")
    middle = _at(numbers, (int(n) - 1) // 2, low, high)
    if n % 2:
        return middle
    through, above = aggregate(numbers, count((own <= middle).fill_null(False)), nw.when(own > middle).then(own).min())
    return middle if through > n // 2 else middle + (above - middle) / 2


def _at(numbers: nw.LazyFrame[Any], rank: int, low: float, high: float) -> float:
    """The value at a rank, from 0, of those between two of them in ascending order."""
    own, place = nw.col(f"{PREFIX}x"), f"{PREFIX}place"
    while low < high:
        interval = ((own - low) / (high - low) * INTERVALS).floor()
        inside = numbers.filter((own >= low) & (own <= high)).select(own, interval.alias(place))
        counted = collect(inside.group_by(place).agg(
            nw.len().alias(SIZE), own.min().alias(f"{PREFIX}low"), own.max().alias(f"{PREFIX}high")
        )).sort(place)  # fmt: skip
        sizes = counted[SIZE].to_numpy().astype(np.int64)
        ends = np.cumsum(sizes)
        at = int(np.searchsorted(ends, rank, side="right"))
        rank -= int(ends[at] - sizes[at])
        low, high = (float(counted[f"{PREFIX}{end}"][at]) for end in ("low", "high"))
    return low
