"""A figure per record, held per cell: its mean, counts and quantiles over the records."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.grouping import group


class RecordValues(Protocol):
    """What a measure asks of a figure per record, wherever the records are."""

    @property
    def n(self) -> int:
        """Number of records."""

    def total(self) -> float:
        """Sum over the records."""

    def extremes(self) -> tuple[float, float]:
        """Smallest and largest value."""

    def count_below(self, limits: Sequence[float]) -> list[int]:
        """Records with a value below each limit."""

    def count_above(self, limits: Sequence[float]) -> list[int]:
        """Records with a value above each limit."""

    def quantiles(self, shares: Sequence[float]) -> list[float]:
        """Quantiles over the records, interpolated (type 7)."""

    def median_and_deviation(self) -> tuple[float, float]:
        """Median over the records, and the median of the absolute distances from it."""

    def cap_for(self, total: float) -> float:
        """Largest value t whose sum over the records, each cut at t, is below `total`; NaN if none."""


@dataclass(frozen=True, eq=False)
class CellValues:
    """Values of cells, each standing for as many records as the cell has.

    `values` and `size` (K,): records of each cell; ones for a value per record.

    >>> values = CellValues(np.array([0.5, 0.1]), np.array([1, 3]))
    >>> round(values.total(), 12), values.quantiles([0.5]), values.count_above([0.1])
    (0.8, [0.1], [1])
    """

    values: NDArray[np.float64]
    size: NDArray[np.int64]

    @property
    def n(self) -> int:
        """Number of records."""
        return int(self.size.sum())

    def total(self) -> float:
        """Sum over the records."""
        return float(np.dot(self.values, self.size))

    def extremes(self) -> tuple[float, float]:
        """Smallest and largest value."""
        return float(self.values.min()), float(self.values.max())

    def count_below(self, limits: Sequence[float]) -> list[int]:
        """Records with a value below each limit."""
        return [int(self.size[self.values < limit].sum()) for limit in limits]

    def count_above(self, limits: Sequence[float]) -> list[int]:
        """Records with a value above each limit."""
        return [int(self.size[self.values > limit].sum()) for limit in limits]

    def quantiles(self, shares: Sequence[float]) -> list[float]:
        """Quantiles over the records, interpolated (type 7)."""
        values, counts = self.distribution()
        last = np.cumsum(counts) - 1  # position of the last record with each value
        found = []
        for share in shares:
            at = share * (self.n - 1)
            low = values[np.searchsorted(last, np.floor(at))]
            high = values[np.searchsorted(last, np.ceil(at))]
            found.append(float(low + (high - low) * (at - np.floor(at))))
        return found

    def median_and_deviation(self) -> tuple[float, float]:
        """Median over the records, and the median of the absolute distances from it."""
        median = self.quantiles([0.5])[0]
        return median, CellValues(np.abs(self.values - median), self.size).quantiles([0.5])[0]

    def cap_for(self, total: float) -> float:
        """Largest value t whose sum over the records, each cut at t, is below `total`; NaN if none."""
        values, counts = self.distribution()
        kept = np.cumsum(values * counts)
        above = self.n - np.cumsum(counts)
        fits = np.flatnonzero(kept + values * above < total)
        return float(values[fits[-1]]) if len(fits) else float("nan")

    def distribution(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The distinct values, ascending, and the records with each."""
        return self._distribution

    @cached_property
    def _distribution(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        words = (self.values + 0.0).view(np.uint64)  # -0.0 is 0.0
        found = group(words, weight=self.size.astype(np.float64))
        assert found.weight is not None
        values = found.words.view(np.float64)
        order = np.argsort(values)
        return values[order], found.weight[order].astype(np.int64)


@dataclass(frozen=True, eq=False)
class PartedValues:
    """Values of cells in parts, each part an array of them and one of the records behind them, one in memory at a time.

    What takes the order of all values (quantiles) has the distinct ones in memory.

    >>> values = PartedValues(((np.array([0.5]), np.array([1])), (np.array([0.1]), np.array([3]))))
    >>> round(values.total(), 12), values.quantiles([0.5]), values.count_above([0.1])
    (0.8, [0.1], [1])
    """

    parts: tuple[tuple[NDArray[Any], NDArray[np.int64]], ...]

    def _each(self) -> Iterator[CellValues]:
        return (CellValues(values.astype(np.float64, copy=False), size) for values, size in self.parts)

    @property
    def n(self) -> int:
        """Number of records."""
        return sum(one.n for one in self._each())

    def total(self) -> float:
        """Sum over the records."""
        return math.fsum(one.total() for one in self._each())

    def extremes(self) -> tuple[float, float]:
        """Smallest and largest value."""
        low, high = zip(*(one.extremes() for one in self._each()), strict=True)
        return min(low), max(high)

    def count_below(self, limits: Sequence[float]) -> list[int]:
        """Records with a value below each limit."""
        return [sum(each) for each in zip(*(one.count_below(limits) for one in self._each()), strict=True)]

    def count_above(self, limits: Sequence[float]) -> list[int]:
        """Records with a value above each limit."""
        return [sum(each) for each in zip(*(one.count_above(limits) for one in self._each()), strict=True)]

    def quantiles(self, shares: Sequence[float]) -> list[float]:
        """Quantiles over the records, interpolated (type 7)."""
        return self._together.quantiles(shares)

    def median_and_deviation(self) -> tuple[float, float]:
        """Median over the records, and the median of the absolute distances from it."""
        return self._together.median_and_deviation()

    def cap_for(self, total: float) -> float:
        """Largest value t whose sum over the records, each cut at t, is below `total`; NaN if none."""
        return self._together.cap_for(total)

    @cached_property
    def _together(self) -> CellValues:
        values, counts = zip(*(one.distribution() for one in self._each()), strict=True)
        return CellValues(np.concatenate(values), np.concatenate(counts))
