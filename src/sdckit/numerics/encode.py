"""Columns of several files as matrices with one measure of distance between their rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdckit.errors import DataError
from sdckit.numerics.array_types import AnyInts, Floats

ROUNDING = 1e-12  # distances nearer to each other than this share of the largest possible one are equal


class Metric(NamedTuple):
    """How far two rows are apart: (sum_j min(|x_j - y_j|, cap_j)^power + sum_j weight_j [c_j != d_j])^(1/power).

    `power`: 1 (sum of differences) or 2 (root of the sum of squares). `caps` (p,): the largest difference each
    number can contribute. `weights` (q,): what a different category contributes to the sum.
    """

    power: int
    caps: Floats
    weights: Floats

    @property
    def tolerance(self) -> float:
        """Distances that differ by less count as equal: sums of rounded terms."""
        largest = float(np.sum(self.caps**self.power) + np.sum(self.weights))
        return ROUNDING * (math.sqrt(largest) if self.power == 2 else largest)


@dataclass(frozen=True, eq=False)
class Encoded:
    """The rows of one file, ready for distances.

    `numbers` (n, p): scaled; a missing value lies farther than its cap from every other value. `codes` (n, q):
    categories; a missing value is one of them. `metric`: the same for all files encoded together.
    """

    numbers: Floats
    codes: NDArray[np.int32]
    metric: Metric

    @property
    def n(self) -> int:
        """Rows."""
        return len(self.numbers)

    def take(self, rows: AnyInts) -> Encoded:
        """Some of the rows."""
        return Encoded(
            np.ascontiguousarray(self.numbers[rows]), np.ascontiguousarray(self.codes[rows]), self.metric
        )


def stacked_ranges(numbers: Sequence[Sequence[Floats]]) -> Floats:
    """Largest minus smallest value of each variable over all files; 0 where there is no value.

    >>> stacked_ranges([(np.array([1.0, 2.0]), np.array([5.0, np.nan]))]).tolist()
    [4.0]
    """
    out = np.zeros(len(numbers))
    for j, files in enumerate(numbers):
        lowest, highest = _ends(files)
        out[j] = max(highest - lowest, 0.0)
    return out


def gower(
    numbers: Sequence[Sequence[Floats]],
    codes: Sequence[Sequence[AnyInts]] = (),
    *,
    weights: Sequence[float] | None = None,
    ranges: Floats | None = None,
) -> tuple[Encoded, ...]:
    """Gower's distance: the weighted mean over the variables of |x - y| / range, or 0 and 1 for categories.

    `numbers`: for each numeric variable its values in each file, NaN where missing. `codes`: for each categorical
    variable its codes in each file, the code of a missing value being one of them. `weights`: of the numeric
    variables, then the categorical ones; not negative, with a positive sum. 1 unless given. `ranges` (p,): what
    differences are divided by (a larger one counts 1); over all files unless given. With a range of 0 values that
    differ at all count 1. A missing value is 0 from a missing one, 1 from any other.

    >>> a, b = gower([(np.array([0.0, 4.0]), np.array([1.0, 2.0]))], [(np.array([1, 2]), np.array([1, 1]))])
    >>> a.numbers[:, 0].tolist(), b.numbers[:, 0].tolist(), a.metric.weights.tolist()
    ([0.0, 0.5], [0.125, 0.25], [0.5])
    """
    given = _weights(weights, len(numbers) + len(codes))
    share = given / given.sum()
    spans = stacked_ranges(numbers) if ranges is None else np.asarray(ranges, np.float64)
    factors = np.divide(share[: len(numbers)], spans, out=np.array(share[: len(numbers)]), where=spans > 0)
    scaled = [one if span > 0 else _places(one) for one, span in zip(numbers, spans, strict=True)]
    return _encoded(scaled, codes, factors, share[: len(numbers)], share[len(numbers) :], 1)


def _places(files: Sequence[Floats]) -> list[Floats]:
    """Places of the values among all different ones: what differs at all is 1 or more apart."""
    levels = np.unique(np.concatenate([values[~np.isnan(values)] for values in files]))
    return [np.where(np.isnan(values), np.nan, np.searchsorted(levels, values)) for values in files]


def differences(
    numbers: Sequence[Sequence[Floats]],
    codes: Sequence[Sequence[AnyInts]] = (),
    *,
    power: int,
    weights: Sequence[float] | None = None,
) -> tuple[Encoded, ...]:
    """Manhattan (power 1) or Euclidean (power 2) distance of the values as they are; a different category counts 1.

    `numbers` and `codes` are as in `gower`. `weights`: factors of the terms of the sum (of the squares where
    `power` is 2). 1 unless given. A missing value is 0 from a missing one, and from any other as far as the two
    most different values of the variable are from each other.

    >>> a, b = differences([(np.array([0.0]), np.array([3.0])), (np.array([0.0]), np.array([4.0]))], power=2)
    >>> float(np.hypot(*(a.numbers - b.numbers)[0]))
    5.0
    """
    given = _weights(weights, len(numbers) + len(codes))
    factors = given[: len(numbers)] ** (1 / power)
    return _encoded(numbers, codes, factors, factors * stacked_ranges(numbers), given[len(numbers) :], power)


def whitened(numbers: Sequence[Sequence[Floats]]) -> tuple[Encoded, ...] | None:
    """Mahalanobis distance by the covariance of all files stacked (ddof 1), or None where it is singular.

    `numbers` are as in `gower`, without missing values.

    >>> whitened([(np.array([1.0, 2.0]), np.array([3.0])), (np.array([2.0, 4.0]), np.array([6.0]))]) is None
    True
    """
    files = [np.column_stack(columns) for columns in zip(*numbers, strict=True)]
    together = np.concatenate(files)
    if len(together) <= len(numbers):
        return None
    center, spread = together.mean(axis=0), together.std(axis=0, ddof=1)
    if not (spread > 0).all():
        return None
    scaled = (together - center) / spread
    correlation = np.atleast_2d(scaled.T @ scaled / (len(scaled) - 1))
    if np.linalg.matrix_rank(correlation, hermitian=True) < len(numbers):
        return None
    root = np.linalg.inv(np.linalg.cholesky(correlation)).T
    found = [((one - center) / spread) @ root for one in files]
    return differences(list(zip(*(one.T for one in found), strict=True)), power=2)


def ranks(values: Floats) -> Floats:
    """Rank of each value as a share of the values present, equal ones sharing their mean rank; NaN where missing.

    >>> ranks(np.array([30.0, 10.0, np.nan, 10.0])).tolist()
    [1.0, 0.5, nan, 0.5]
    """
    from scipy.stats import rankdata

    out = np.full(len(values), np.nan)
    known = ~np.isnan(values)
    if known.any():
        out[known] = rankdata(values[known]) / known.sum()
    return out


def _ends(files: Sequence[Floats]) -> tuple[float, float]:
    known = [values[~np.isnan(values)] for values in files]
    lowest = min((float(values.min()) for values in known if len(values)), default=0.0)
    highest = max((float(values.max()) for values in known if len(values)), default=0.0)
    return lowest, highest


def _weights(weights: Sequence[float] | None, n: int) -> Floats:
    given = np.ones(n) if weights is None else np.asarray(weights, np.float64)
    if n == 0:
        raise DataError("distances need at least one variable")
    if given.shape != (n,) or not np.isfinite(given).all() or (given < 0).any() or given.sum() == 0:
        raise DataError(f"weights must be {n} finite numbers, none negative and not all 0")
    return given


def _encoded(
    numbers: Sequence[Sequence[Floats]],
    codes: Sequence[Sequence[AnyInts]],
    factors: Floats,
    caps: Floats,
    weights: Floats,
    power: int,
) -> tuple[Encoded, ...]:
    metric = Metric(power, np.ascontiguousarray(caps), np.ascontiguousarray(weights))
    n_files = len((*numbers, *codes)[0])
    sizes = [len((*numbers, *codes)[0][f]) for f in range(n_files)]
    matrices = [np.empty((n, len(numbers))) for n in sizes]
    for j, files in enumerate(numbers):
        lowest, highest = _ends(files)
        far = (highest - lowest) * factors[j] + 2 * caps[j]  # where missing values are: beyond the cap
        for matrix, values in zip(matrices, files, strict=True):
            scaled = (values - lowest) * factors[j]
            matrix[:, j] = np.where(np.isnan(values), far, scaled)
    labels = [np.empty((n, len(codes)), np.int32) for n in sizes]
    for j, coded in enumerate(codes):
        for matrix_of_codes, column in zip(labels, coded, strict=True):
            matrix_of_codes[:, j] = column
    return tuple(Encoded(one, two, metric) for one, two in zip(matrices, labels, strict=True))
