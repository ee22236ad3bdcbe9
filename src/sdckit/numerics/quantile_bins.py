"""Numbers cut into classes of about equal size, the same classes in every file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class QuantileBins:
    """Classes ``[a, b)`` between ascending edges, the last one closed.

    There is one edge more than there are classes; a single edge where all values are equal, none without a value.
    """

    edges: NDArray[np.float64]

    @property
    def n_bins(self) -> int:
        """Classes."""
        return max(len(self.edges) - 1, min(len(self.edges), 1))

    def codes(self, values: NDArray[np.float64]) -> NDArray[np.int32]:
        """Class of each value from 1 on; 0 where it is missing."""
        place = np.searchsorted(self.edges, values, side="right")
        known = ~np.isnan(values)
        codes: NDArray[np.int32] = np.where(known, np.clip(place, 1, self.n_bins), 0).astype(np.int32)
        return codes

    def labels(self) -> list[str]:
        """Printed form of the codes, from 0 (a missing value) on."""
        if len(self.edges) == 1:
            return ["(missing)", f"{self.edges[0]:g}"]
        closing = [")"] * (self.n_bins - 1) + ["]"]
        sides = zip(self.edges[:-1].tolist(), self.edges[1:].tolist(), closing, strict=False)
        return ["(missing)", *(f"[{low:g}, {high:g}{end}" for low, high, end in sides)]


def quantile_bins(values: Sequence[NDArray[np.float64]], bins: int) -> QuantileBins:
    """Cut the pooled values of several files at their type-7 quantiles (0, 1/bins, ..., 1).

    Missing values (NaN) are left out; equal quantiles are one edge, so that there may be fewer classes.

    >>> cut = quantile_bins([np.array([1.0, 2.0, 3.0]), np.array([4.0, np.nan, 5.0])], 2)
    >>> cut.edges.tolist(), cut.codes(np.array([1.0, 3.0, 5.0, np.nan])).tolist()
    ([1.0, 3.0, 5.0], [1, 2, 2, 0])
    """
    pooled = np.concatenate(values)
    pooled = pooled[~np.isnan(pooled)]
    if len(pooled) == 0:
        return QuantileBins(np.empty(0))
    # the place (n - 1) j / bins in whole numbers: rounding would move an edge off a value that it falls on
    place, rest = np.divmod((len(pooled) - 1) * np.arange(bins + 1), bins)
    above = np.minimum(place + 1, len(pooled) - 1)
    pooled = np.partition(pooled, np.union1d(place, above))
    edges = np.where(
        rest == 0, pooled[place], pooled[place] + (pooled[above] - pooled[place]) * (rest / bins)
    )
    return QuantileBins(np.unique(edges))
