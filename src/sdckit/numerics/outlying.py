"""Outliers: limits beyond which a value of a group is extreme, and robust Mahalanobis distances."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Floats
from sdckit.numerics.compiling import njit
from sdckit.numerics.threads import chunks, run

LARGEST = 1e150  # number whose square a floating number holds


def unit_of(largest: Any) -> Floats:
    """What numbers of this size are divided by before they are squared: a power of two, 1 where squares are finite.

    >>> unit_of([5.0, 1e150, 2.0**600]).tolist() == [1.0, 1.0, 2.0**600]
    True
    """
    top = np.asarray(largest, np.float64)
    large = (top > LARGEST) & np.isfinite(top)
    return np.where(large, np.ldexp(1.0, np.frexp(top)[1] - 1), 1.0)


def deviation(values: Floats, ddof: int = 1) -> Floats:
    """Standard deviation of two rows or more, by column; of numbers whose squares are too large, too.

    >>> float(deviation(np.array([1.0, 2.0, 3.0]))), float(deviation(np.array([1e300, 2e300, 3e300]))) / 1e300
    (1.0, 1.0)
    """
    unit = unit_of(np.maximum(values.max(axis=0), -values.min(axis=0)))
    spread: Floats = (values / unit if (unit > 1).any() else values).std(axis=0, ddof=ddof) * unit
    return spread


# The minimum covariance determinant (Rousseeuw & Van Driessen 1999): the half of the rows whose covariance has the
# smallest determinant.
# Concentration steps, subset sizes and random draws are those of scikit-learn's `MinCovDet`, so that a seed gives the
# same half of the rows. There most of the time goes into checking the input in each of some ten thousand steps; here
# the steps are compiled.


SMALL = 500  # rows up to which no subsets are taken
SUBSET, MERGED = 300, 1500  # rows of a subset, and of all of them together
TRIALS, SMALL_TRIALS, FEWEST, BEST = 500, 30, 10, 10
FIRST_STEPS, STEPS = 2, 30
OUTLYING = 0.025  # share of normally distributed rows that the reweighted estimate leaves out


@dataclass(frozen=True, eq=False)
class RobustEstimate:
    """Centre (p,) and covariance (p, p) of the rows that are not outliers; `support` (n,) says which these are.

    `raw_covariance` (p, p): of the half of the rows with the smallest determinant.
    """

    center: Floats
    covariance: Floats
    support: NDArray[np.bool_]
    raw_covariance: Floats


@njit(cache=True, nogil=True)
def _root_of_inverse(covariance):  # type: ignore[no-untyped-def]
    """Matrix R (p, p) with R'R the inverse of a covariance (p, p), or its pseudo-inverse if singular."""
    values, vectors = np.linalg.eigh(covariance)
    p = len(values)
    cutoff = max(-values[0], values[-1]) * p * 2.220446049250313e-16  # they ascend
    root = np.zeros((p, p))
    for k in range(p):
        for j in range(p if values[k] > cutoff else 0):  # as in `_smallest`
            root[k, j] = vectors[j, k] / np.sqrt(values[k])
    return root


@njit(cache=True, nogil=True)
def _squared_distances(columns, center, root, out):  # type: ignore[no-untyped-def]
    """Write squared Mahalanobis distances from `center` (p,) into `out` (n,); `columns` (p, n); `root` (p, p)."""
    p, n = columns.shape
    part = np.empty(n)
    out[:] = 0.0
    for k in range(p):
        part[:] = 0.0
        for j in range(p):
            weight, middle, column = root[k, j], center[j], columns[j]
            for i in range(n):
                part[i] += weight * (column[i] - middle)
        for i in range(n):
            out[i] += part[i] * part[i]


@njit(cache=True, nogil=True)
def _smallest(values, h, left):  # type: ignore[no-untyped-def]
    """The h-th smallest of the values (n,), by Hoare's quickselect; `left` (n,) is overwritten."""
    for i in range(len(values)):  # an assignment of slices takes 4 s more to compile
        left[i] = values[i]
    low, high, k = 0, len(values) - 1, h - 1
    while low < high:
        pivot = left[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while left[i] < pivot:
                i += 1
            while left[j] > pivot:
                j -= 1
            if i <= j:
                left[i], left[j] = left[j], left[i]
                i += 1
                j -= 1
        if k <= j:
            high = j
        elif k >= i:
            low = i
        else:
            break
    return left[k]


@njit(cache=True, nogil=True)
def _nearest(distance, h, work, chosen):  # type: ignore[no-untyped-def]
    """Set `chosen` (n,) to 1 for the h rows with the smallest `distance` (n,), ties by position, to 0 for others."""
    limit = _smallest(distance, h, work)
    taken = 0
    for i in range(len(distance)):
        near = distance[i] < limit
        chosen[i] = near
        taken += near
    for i in range(len(distance)):
        if taken == h:
            break
        if distance[i] == limit:
            chosen[i] = 1.0
            taken += 1


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _moments(columns, chosen, h):  # type: ignore[no-untyped-def]
    """Mean (p,) and covariance (p, p), ddof 0, of the h rows `chosen` (n,), and the log determinant of the latter."""
    p, n = columns.shape
    center, covariance = np.empty(p), np.empty((p, p))
    for j in range(p):
        total, column = 0.0, columns[j]
        for i in range(n):
            total += chosen[i] * column[i]
        center[j] = total / h
    for j in range(p):
        for k in range(j + 1):
            total, left, right, a, b = 0.0, columns[j], columns[k], center[j], center[k]
            for i in range(n):
                total += chosen[i] * (left[i] - a) * (right[i] - b)
            covariance[j, k] = covariance[k, j] = total / h
    sign, size = np.linalg.slogdet(covariance)
    return center, covariance, size if sign > 0 else -np.inf


@njit(cache=True, nogil=True)
def _settle(columns, h, steps, chosen):  # type: ignore[no-untyped-def]
    """Repeat concentration steps (take the h rows nearest to the estimate) until the determinant no longer decreases.

    `columns` (p, n); `steps`: at most so many; `chosen` (n,) is 1 for the rows to start from and is overwritten.
    Return centre (p,), covariance (p, p), log determinant, and squared distances (n,).
    """
    n = columns.shape[1]
    center, covariance, size = _moments(columns, chosen, h)
    root = _root_of_inverse(covariance)
    distance, work = np.empty(n), np.empty(n)
    before, old = np.inf, chosen.copy()
    old_center, old_covariance = center, covariance
    while size < before and steps > 0 and size > -np.inf:
        before, old_center, old_covariance = size, center, covariance
        for i in range(n):
            old[i] = chosen[i]
        root = _root_of_inverse(covariance)
        _squared_distances(columns, center, root, distance)
        _nearest(distance, h, work, chosen)
        center, covariance, size = _moments(columns, chosen, h)
        steps -= 1
    if size > before + 1e-8 + 1e-5 * abs(before) and steps > 0:
        center, covariance, size = old_center, old_covariance, before
        for i in range(n):
            chosen[i] = old[i]
    _squared_distances(columns, center, root, distance)
    return center, covariance, size, distance


def _best_drawn(columns: Floats, h: int, trials: int, rng: np.random.RandomState) -> tuple[Floats, Floats]:
    """The ten best estimates (centres, covariances) after two concentration steps from random halves of the rows."""
    starts = np.zeros((trials, columns.shape[1]))
    for start in starts:
        start[rng.permutation(len(start))[:h]] = 1.0
    estimates = [_settle(columns, h, FIRST_STEPS, start) for start in starts]
    best = np.argsort([size for _, _, size, _ in estimates])[:BEST].tolist()
    return np.array([estimates[at][0] for at in best]), np.array([estimates[at][1] for at in best])


def _best_near(
    columns: Floats, h: int, given: tuple[Floats, Floats], select: int
) -> tuple[Floats, Floats, Floats, Floats]:
    """The best estimates after concentration from the given ones: centres, covariances, rows chosen, distances."""
    starts, distances = np.empty((2, len(given[0]), columns.shape[1]))
    estimates = [*zip(*given, strict=True)]
    sizes = np.empty(len(estimates))

    def part(edges: tuple[int, int]) -> None:
        work = np.empty(columns.shape[1])
        for at in range(*edges):
            center, covariance = estimates[at]
            _squared_distances(columns, center, _root_of_inverse(covariance), distances[at])
            _nearest(distances[at], h, work, starts[at])
            *estimates[at], sizes[at], distances[at] = _settle(columns, h, STEPS, starts[at])

    run(part, chunks(len(estimates), minimum=4))
    best = np.argsort(sizes)[:select]
    centers, covariances = (np.array(values)[best] for values in zip(*estimates, strict=True))
    return centers, covariances, starts[best], distances[best]


def _from_subsets(columns: Floats, h: int, rng: np.random.RandomState) -> tuple[Floats, Floats, Floats]:
    """Covariance, rows chosen and squared distances of a large file, by the nested subsets of FAST-MCD."""
    n = columns.shape[1]
    n_subsets = n // SUBSET
    size = n // n_subsets
    shuffled, trials = rng.permutation(n), max(FEWEST, TRIALS // n_subsets)
    own = math.ceil(size * (h / n))
    per_subset = [
        _best_drawn(np.ascontiguousarray(columns[:, shuffled[i * size : (i + 1) * size]]), own, trials, rng)
        for i in range(n_subsets)
    ]
    given = np.concatenate([best[0] for best in per_subset]), np.concatenate([best[1] for best in per_subset])
    merged = min(MERGED, n)
    selection = rng.permutation(n)[:merged]
    centers, covariances, chosen, distance = _best_near(
        np.ascontiguousarray(columns[:, selection]), math.ceil(merged * (h / n)), given, BEST if n > MERGED else 1
    )
    if n < MERGED:
        rows, all_distances = np.empty(n), np.empty(n)
        rows[selection], all_distances[selection] = chosen[0], distance[0]
        return covariances[0], rows, all_distances
    _, covariances, chosen, distance = _best_near(columns, h, (centers, covariances), 1)
    return covariances[0], chosen[0], distance[0]


def _of_one(values: Floats, h: int) -> tuple[Floats, Floats, Floats]:
    """Variance, rows chosen, squared distances of a single column: its shortest half (Rousseeuw & Leroy 1987)."""
    n, ordered = len(values), np.sort(values)
    if h == n:
        return np.full((1, 1), values.var()), np.ones(n), (values - values.mean()) ** 2 / values.var()
    length = ordered[h:] - ordered[: n - h]
    at = np.flatnonzero(length == length.min())
    away = values - (ordered[h + at] + ordered[at]).mean() / 2
    rows = np.zeros(n)
    rows[np.argsort(np.abs(away))[:h]] = 1.0
    variance = values[rows > 0].var()
    inverse = 1.0 / variance if variance > 0 else 0.0
    return np.full((1, 1), variance), rows, away**2 * inverse


def consistency(share: float, p: int) -> float:
    """Factor that makes the covariance of the central share of normal rows consistent (Croux & Haesbroeck 1999).

    >>> round(consistency(0.5, 2), 6), consistency(1.0, 2)
    (3.258891, 1.0)
    """
    from scipy.stats import chi2

    return 1.0 if share == 1 else share / float(chi2.cdf(chi2.ppf(share, p), p + 2))


def minimum_covariance_determinant(rows: Floats, seed: int | None) -> RobustEstimate | None:
    """Centre and covariance by the reweighted minimum covariance determinant; None if half of the rows do not vary.

    `rows` (n, p): complete, of similar scale. `seed`: of the subsets drawn.

    Distances are from the half of the rows with the smallest determinant among those reached from random subsets; the
    estimate is that of the rows below the 97.5 % quantile of normal ones, scaled by the consistency factor.

    >>> even = np.stack(np.meshgrid(np.arange(5.0), np.arange(5.0)), axis=-1).reshape(-1, 2)
    >>> minimum_covariance_determinant(np.vstack([even, [[90.0, 90.0]]]), 1).center.tolist()
    [2.0, 2.0]
    """
    from scipy.stats import chi2

    n, p = rows.shape
    h = min(math.ceil(0.5 * (n + p + 1)), n)
    columns = np.ascontiguousarray(rows.T)
    rng = np.random.RandomState(seed)  # scikit-learn draws so
    if p == 1:
        raw, chosen, distance = _of_one(columns[0], h)
    elif n > SMALL:
        raw, chosen, distance = _from_subsets(columns, h, rng)
    else:
        _, covariances, starts, distances = _best_near(columns, h, _best_drawn(columns, h, SMALL_TRIALS, rng), 1)
        raw, chosen, distance = covariances[0], starts[0], distances[0]
    if h < n and np.allclose(raw, 0):
        return None
    share = float(chosen.sum()) / n
    support = distance / consistency(share, p) < chi2(p).isf(OUTLYING)
    kept = rows[support]
    covariance = np.atleast_2d(np.cov(kept.T, bias=True)) * consistency(1 - OUTLYING, p)
    return RobustEstimate(kept.mean(axis=0), covariance, support, raw)


MAD_FACTOR = 1.4826  # makes the median absolute deviation estimate a standard deviation
MAD_WIDTH = 3.0
FIT_ROWS = 20_000  # rows that the robust estimate is made from, whatever the file
Limits = tuple[NDArray[np.float64], NDArray[np.float64]]


def _sorted_groups(
    values: NDArray[np.float64], group: NDArray[np.int32], n_groups: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Values that are not NaN, sorted within groups; start and size of each group among them."""
    known = ~np.isnan(values)
    order = np.lexsort((values[known], group[known]))
    size = np.bincount(group[known], minlength=n_groups)
    return values[known][order], np.cumsum(size) - size, size


def _quantile(
    ordered: NDArray[np.float64], first: NDArray[np.int64], size: NDArray[np.int64], share: float
) -> NDArray[np.float64]:
    """Type 7 quantile of each group; NaN if it is empty."""
    out = np.full(len(size), np.nan)
    held = size > 0
    at = share * (size[held] - 1)
    low = np.floor(at).astype(np.int64)
    high = np.minimum(low + 1, size[held] - 1)
    a, b = ordered[first[held] + low], ordered[first[held] + high]
    out[held] = a + (b - a) * (at - low)
    return out


def percentile_limits(
    values: NDArray[np.float64], group: NDArray[np.int32], n_groups: int, *, lower: float | None, upper: float | None
) -> Limits:
    """Lower and upper limit of each group: quantiles of type 7; NaN where its values are all equal.

    >>> low, high = percentile_limits(np.arange(11.0), np.zeros(11, np.int32), 1, lower=None, upper=0.95)
    >>> high.tolist()
    [9.5]
    """
    ordered, first, size = _sorted_groups(values, group, n_groups)
    nothing = np.full(n_groups, np.nan)
    ends = [_quantile(ordered, first, size, share) for share in (0.0, 1.0)]
    flat = ends[0] == ends[1]
    limits = [
        nothing if share is None else np.where(flat, np.nan, _quantile(ordered, first, size, share))
        for share in (lower, upper)
    ]
    return limits[0], limits[1]


def mad_limits(values: NDArray[np.float64], group: NDArray[np.int32], n_groups: int) -> Limits:
    """Median minus and plus three robust standard deviations; NaN where more than half are equal.

    >>> low, high = mad_limits(np.array([1.0, 2, 3, 4, 100]), np.zeros(5, np.int32), 1)
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([-1.4478], [7.4478])
    """
    ordered, first, size = _sorted_groups(values, group, n_groups)
    median = _quantile(ordered, first, size, 0.5)
    deviation = _quantile(*_sorted_groups(np.abs(values - median[group]), group, n_groups), 0.5)
    reach = np.where(deviation > 0, MAD_WIDTH * MAD_FACTOR * deviation, np.nan)
    return median - reach, median + reach


def robust_estimate(
    values: NDArray[np.float64], seed: int | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Centre and covariance by the minimum covariance determinant (Rousseeuw & Van Driessen 1999).

    `values` (n, p): complete rows, in any order: the draw does not depend on it. Of more than 20,000 rows a sample of
    20,000 is used. Returns arrays (p,) and (p, p), or None if the covariance is singular: too few rows, or linearly
    dependent variables.

    Mean and covariance (ddof 1) of the rows that the estimate does not weigh 0, scaled by the consistency
    factor of their share (Croux & Haesbroeck 1999) as robustbase does. That factor supposes normal data: with
    many true outliers the covariance comes out large.
    """
    fitted = _fitted(values, seed)
    if fitted is None:
        return None
    estimate, fit, _, _, spread = fitted
    kept = fit[estimate.support] * spread
    covariance = np.atleast_2d(np.cov(kept.T)) * consistency(len(kept) / len(fit), values.shape[1])
    if np.linalg.matrix_rank(covariance / np.outer(spread, spread)) < len(spread):
        return None
    return kept.mean(axis=0), covariance


def robust_distances(values: NDArray[np.float64], seed: int | None) -> NDArray[np.float64] | None:
    """Mahalanobis distances from the minimum covariance determinant estimate.

    `values` (n, p) are as in `robust_estimate`; distances are of all rows. Returns (n,), or None if the covariance
    is singular.
    """
    fitted = _fitted(values, seed)
    if fitted is None:
        return None
    estimate, _, order, scaled, _ = fitted
    away = scaled - estimate.center
    out = np.empty(len(values))
    out[order] = np.sqrt(np.maximum((away * np.linalg.solve(estimate.covariance, away.T).T).sum(axis=1), 0.0))
    return out


def _fitted(
    values: NDArray[np.float64], seed: int | None
) -> tuple[RobustEstimate, NDArray[np.float64], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]] | None:
    """The estimate, the scaled rows it was fitted to, sorting order of all rows, all rows scaled and sorted, scale."""
    n, p = values.shape
    if n < 2 * (p + 1):
        return None
    order = np.lexsort(values.T)
    rows = values[order]
    with np.errstate(over="ignore"):
        spread = rows.std(axis=0)
    if not ((spread > 0) & np.isfinite(spread)).all() or np.linalg.matrix_rank((rows - rows.mean(axis=0)) / spread) < p:
        return None
    scaled = rows / spread
    fitted = scaled
    if n > FIT_ROWS:
        fitted = scaled[np.sort(np.random.default_rng(seed).choice(n, FIT_ROWS, replace=False))]
    estimate = minimum_covariance_determinant(fitted, seed)
    if estimate is None:  # a column without spread in the best half
        return None
    if min(np.linalg.matrix_rank(covariance) for covariance in (estimate.raw_covariance, estimate.covariance)) < p:
        return None
    return estimate, fitted, order, scaled, spread
