"""Rows that stand for many records each: what an engine counted, changed by the functions of frames in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.data.replace import open_eager
from sdckit.numerics.array_types import Ints


@dataclass(frozen=True, eq=False)
class Tallied:
    """A frame in memory whose rows stand for several records each.

    `frame`: the rows. `counts`, shape (rows,): the records of each.
    """

    frame: Any
    counts: Ints


@dataclass(frozen=True, eq=False)
class Records:
    """How many records the rows of a frame stand for: one each, or what was counted."""

    rows: int
    counts: Ints | None

    @property
    def n(self) -> int:
        """All records."""
        return self.rows if self.counts is None else int(self.counts.sum())

    def where(self, hit: NDArray[np.bool_]) -> int:
        """Records of the rows marked.

        >>> Records(3, None).where(np.array([True, False, True]))
        2
        >>> Records(3, np.array([5, 1, 7])).where(np.array([True, False, True]))
        12
        """
        return int(np.count_nonzero(hit)) if self.counts is None else int(self.counts[hit].sum())

    def by(self, group: Ints, n_groups: int, among: NDArray[np.bool_] | None = None) -> Ints:
        """Records of each group of rows; `among` leaves the other rows out.

        >>> Records(3, np.array([5, 1, 7])).by(np.array([0, 1, 0]), 2).tolist()
        [12, 1]
        """
        chosen = group if among is None else group[among]
        if self.counts is None:
            return np.bincount(chosen, minlength=n_groups)
        counts = self.counts if among is None else self.counts[among]
        found: Ints = np.bincount(chosen, counts, minlength=n_groups).astype(np.int64)
        return found

    def times(self, values: NDArray[np.float64], among: NDArray[np.bool_]) -> NDArray[np.float64]:
        """What all records of each of some rows sum to; `values` are those of the rows chosen."""
        return values if self.counts is None else values * self.counts[among]

    def quantiles(self, values: NDArray[np.float64], at: NDArray[np.float64]) -> NDArray[np.float64]:
        """Quantiles (type 7) of the values of all records, leaving out those that are not a number.

        >>> records, values = Records(2, np.array([3, 1])), np.array([1.0, 9.0])
        >>> records.quantiles(values, np.array([0.5, 0.9])), np.quantile([1, 1, 1, 9], [0.5, 0.9])
        (array([1. , 6.6]), array([1. , 6.6]))
        """
        known = ~np.isnan(values)
        if self.counts is None:
            found: NDArray[np.float64] = np.quantile(values[known], at)
            return found
        order = np.argsort(values[known])
        held, ends = values[known][order], np.cumsum(self.counts[known][order])
        place = at * (ends[-1] - 1)
        below = np.floor(place).astype(np.int64)
        above = np.minimum(below + 1, ends[-1] - 1)
        low, high = (held[np.searchsorted(ends, one, side="right")] for one in (below, above))
        share = place - below
        made: NDArray[np.float64] = np.where(
            share < 0.5, low + (high - low) * share, high - (high - low) * (1 - share)
        )
        return made


def open_records(data: Any, columns: Mapping[str, Sequence[str]]) -> tuple[Any, Records]:
    """Open a frame in memory, or what an engine counted, to change it; as `open_eager`."""
    if isinstance(data, Tallied):
        frame = open_eager(data.frame, columns)
        return frame, Records(len(frame), data.counts)
    frame = open_eager(data, columns)
    return frame, Records(len(frame), None)
