"""Which records microaggregation puts together: groups of k and more by several rules."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sdckit.errors import DataError
from sdckit.numerics.outlying import robust_distances
from sdckit.protect.recoding.mdav_kernel import mdav_groups

__all__ = ["RULES", "enough_each", "optimal", "ranked"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def ranked(order: Ints, k: int) -> Ints:
    """Groups of k along an order, the last up to 2k - 1.

    >>> ranked(np.array([4, 2, 0, 1, 3]), 2).tolist()
    [1, 1, 0, 1, 0]
    """
    group = np.empty(len(order), np.int64)
    group[order] = np.minimum(np.arange(len(order)) // k, max(0, len(order) // k - 1))
    return group


@njit(cache=True, nogil=True)
def _cut(x, k, size):  # type: ignore[no-untyped-def]
    """The size of the last group of the best grouping of the first values, for each number of them."""
    best = np.full(len(x) + 1, np.inf)
    best[0] = 0.0
    for end in range(k, len(x) + 1):
        mean, within = 0.0, 0.0
        for s in range(1, min(2 * k - 1, end) + 1):
            away = x[end - s] - mean
            mean += away / s
            within += away * (x[end - s] - mean)
            if s >= k and best[end - s] + within < best[end]:
                best[end], size[end] = best[end - s] + within, s


def optimal(values: Floats, k: int) -> Ints:
    """Groups of one variable with the smallest sum of squares within (Hansen & Mukherjee 2003).

    >>> optimal(np.array([1.0, 9, 2, 10, 8]), 2).tolist()
    [0, 1, 0, 1, 1]
    """
    order = np.argsort(values, kind="stable")
    size = np.zeros(len(values) + 1, np.int64)
    _cut(values[order], k, size)
    ends, end = [], len(values)
    while end > 0:
        ends.append(end)
        end -= size[end]
    group = np.empty(len(values), np.int64)
    group[order] = np.searchsorted(np.array(ends[::-1]), np.arange(len(values)), side="right")
    return group


def enough_each(values: Floats, group: Ints, k: int) -> Ints:
    """The groups of one variable, none with fewer than k values present; -1 where missing.

    Where missing values leave a group fewer, its values are put together with those of other such groups
    near in size, and if these are fewer than k as well, with the group whose mean is nearest.

    >>> values = np.array([1.0, 2, 5, np.nan, 6, np.nan])
    >>> enough_each(values, np.array([0, 0, 1, 1, 2, 2]), 2).tolist()
    [0, 0, 3, -1, 3, -1]
    """
    known = ~np.isnan(values)
    found = np.where(known, group, -1)
    held = np.bincount(group[known], minlength=int(group.max()) + 1)
    thin = np.flatnonzero(known & (held[group] < k))
    if len(thin) >= k:
        found[thin] = len(held) + ranked(np.argsort(values[thin], kind="stable"), k)
    elif len(thin):
        full = known & (held[group] >= k)
        total = np.bincount(group[full], weights=values[full], minlength=len(held))
        away = np.abs(total / np.where(held >= k, held, np.nan) - values[thin].mean())
        found[thin] = int(np.nanargmin(away))
    return found


def _scaled(values: Floats) -> Floats:
    """In standard deviations from the mean; a missing value stands at the mean, a constant column nowhere."""
    known = ~np.isnan(values)
    n = np.maximum(known.sum(axis=0), 1)
    away = np.where(known, values - np.where(known, values, 0.0).sum(axis=0) / n, 0.0)
    spread = np.sqrt((away**2).sum(axis=0) / np.maximum(n - 1, 1))
    differ = np.fmax.reduce(values, axis=0) > np.fmin.reduce(values, axis=0)
    return np.asarray(away / np.where(differ & (spread > 0), spread, np.inf), np.float64)


def _by_outlyingness(values: Floats, k: int, seed: int) -> Ints:
    scaled = _scaled(values)
    away = robust_distances(scaled, seed)
    if away is None:
        raise DataError(
            "the robust covariance of the columns is singular in the file or a stratum (too few records, "
            "or columns that determine each other); leave out columns or take method='mdav'"
        )
    return mdav_groups(scaled, k, ranking=np.argsort(-away, kind="stable"))


def _along_component(values: Floats, k: int, _seed: int) -> Ints:
    scaled = _scaled(values)
    _, vectors = np.linalg.eigh(scaled.T @ scaled)
    first = vectors[:, -1] * (1 if vectors[np.argmax(np.abs(vectors[:, -1])), -1] > 0 else -1)
    return ranked(np.argsort(scaled @ first, kind="stable"), k)


# Several variables at once: values (n, d) with NaN, k, a seed -> the group of each record.
RULES: dict[str, Callable[[Floats, int, int], Ints]] = {
    "mdav": lambda values, k, _: mdav_groups(_scaled(values), k),
    "rmd": _by_outlyingness,
    "pca": _along_component,
    "simple": lambda values, k, _: ranked(np.arange(len(values)), k),
}
