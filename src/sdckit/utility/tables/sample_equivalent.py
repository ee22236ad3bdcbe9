"""How large a random sample of the original would be whose tables are as near to it as those of a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sdckit.numerics.array_types import Floats, Ints


def sizes_of(counts: Ints) -> tuple[Ints, Ints]:
    """The different sizes of the cells of one table, and how many cells there are of each."""
    size, cells = np.unique(counts[counts > 0], return_counts=True)
    return size, cells


@dataclass(frozen=True, eq=False)
class CellSizes:
    """How many cells of the tables of a file of `n` records hold how many: all that the distance of a sample needs.

    `size` (K,): records of a cell, every number once; `cells` (K,): cells of so many, over all `n_tables`.
    """

    n: int
    n_tables: int
    size: Ints
    cells: Ints

    @classmethod
    def of_tables(cls, n: int, parts: Sequence[tuple[Ints, Ints]]) -> CellSizes:
        """From the `sizes_of` each table.

        >>> CellSizes.of_tables(4, [sizes_of(np.array([2, 2])), sizes_of(np.array([3, 1, 0]))]).cells.tolist()
        [1, 2, 1]
        """
        size, place = np.unique(np.concatenate([part[0] for part in parts]), return_inverse=True)
        cells = np.bincount(place, weights=np.concatenate([part[1] for part in parts])).astype(np.int64)
        return cls(n, len(parts), size.astype(np.int64), cells)

    def expected_distance(self, m: int) -> float:
        """Expected total variation distance of the tables of a simple random sample of m records, their mean.

        A cell of c records has X of the sample, which is hypergeometric with mean m c / n; half the sum of
        absolute deviations is the sum of the positive ones. k (n - c - m + k) P(k) / n, from which the same for k + 1
        is taken, is (k - mean) P(k): the positive part telescopes to the first k above the mean.

        >>> CellSizes.of_tables(2, [sizes_of(np.array([1, 1]))]).expected_distance(1)
        0.5
        """
        from scipy.special import gammaln

        def log_ways(among: Ints | int, taken: Ints | int) -> Floats:
            ways: Floats = gammaln(among + 1) - gammaln(taken + 1) - gammaln(among - taken + 1)
            return ways

        above = m * self.size // self.n + 1
        may = above <= np.minimum(self.size, m)
        k, c = above[may], self.size[may]
        chance = np.exp(log_ways(c, k) + log_ways(self.n - c, m - k) - log_ways(self.n, m))
        deviation = k * ((self.n - c - m + k) / self.n) * chance
        return float(self.cells[may] @ deviation) / (m * self.n_tables)

    def equivalent(self, distance: float) -> float:
        """Share of the file that the smallest sample is whose expected distance is no larger.

        A larger sample is nearer: given it, a part of it has the same expectation, and a distance is convex.

        >>> sizes = CellSizes.of_tables(4, [sizes_of(np.array([2, 2]))])
        >>> sizes.equivalent(0.5), sizes.equivalent(0.17), sizes.equivalent(0.0)
        (0.25, 0.5, 1.0)
        """
        low, high = 1, self.n
        while low < high:
            middle = (low + high) // 2
            if self.expected_distance(middle) <= distance:
                high = middle
            else:
                low = middle + 1
        return low / self.n


def redraw_equivalent(n: int, n_released: float) -> float:
    """About the sample, as a share, that is as near as a redraw: so many records drawn from the file with replacement.

    A share p of a redraw has variance p (1 - p) / n_released, one of a sample of m p (1 - p) (1 / m - 1 / n).

    >>> redraw_equivalent(1000, 1000), redraw_equivalent(1000, 250)
    (0.5, 0.2)
    """
    return n_released / (n + n_released)


def other_sample_equivalent(n: int, n_released: float) -> float:
    """About the sample, as a share, that is as near as so many other people of a large population.

    Two samples apart vary both: p (1 - p) (1 / n + 1 / n_released).

    >>> round(other_sample_equivalent(1000, 1000), 3)
    0.333
    """
    return n_released / (n + 2 * n_released)
