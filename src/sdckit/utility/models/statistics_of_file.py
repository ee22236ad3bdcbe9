"""Estimates of a statistic with their variance, in each of several files: a named one, or a user function."""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np

from sdckit.cells.pair import Pair
from sdckit.cells.shared_coding import SharedCoding
from sdckit.data.columns import first_rows
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Floats
from sdckit.utility.comparison import FileEstimates
from sdckit.utility.models.model_design import FEWEST, MOST_OF_FEW, MOST_OF_ONE, PART, RARE, sum_of_few

Statistic = Literal["mean", "total", "proportion", "quantile"]
NAMED: tuple[Statistic, ...] = get_args(Statistic)
MOST_LEVELS = 1000  # a variable with more levels is not categorical
Estimates = tuple[tuple[str, ...], list[FileEstimates]]
Estimated = tuple[float, float, float]  # estimate, variance, degrees of freedom
UNDEFINED = (math.nan, math.nan, math.nan)
Judged = tuple[Estimated, tuple[bool, bool], int]  # estimate, whether it and its variance rest on few, records
Top = Callable[[int], Floats]


def estimate_mean(values: Floats, weights: Floats) -> Estimated:
    """Weighted mean, its variance by linearisation, and the degrees of freedom.

    With equal weights the variance is that of the values (ddof 1) divided by their number.

    >>> estimate_mean(np.array([1.0, 2.0, 3.0]), np.ones(3))
    (2.0, 0.3333333333333333, 2.0)
    """
    n, total = len(values), float(weights.sum())
    if n == 0 or total == 0:
        return UNDEFINED
    mean = float(weights @ values) / total
    if n == 1:
        return mean, math.nan, math.nan
    used = values[weights > 0]
    if used.min() == used.max():  # what rounding leaves is no variance
        return float(used[0]), 0.0, n - 1.0
    residual = weights * (values - mean)
    with np.errstate(over="ignore"):  # the interval of numbers beyond 1e150 has no end
        return mean, float(residual @ residual) * n / (n - 1) / total**2, n - 1.0


def estimate_total(values: Floats, weights: Floats) -> Estimated:
    """Weighted total, its variance as if drawn with replacement, and the degrees of freedom.

    >>> estimate_total(np.array([1.0, 2.0, 3.0]), np.ones(3))
    (6.0, 3.0, 2.0)
    """
    n = len(values)
    expanded = weights * values
    if n < 2:
        return (float(expanded.sum()) if n else math.nan), math.nan, math.nan
    spread = float(n * expanded.var(ddof=1)) if expanded.min() < expanded.max() else 0.0
    return float(expanded.sum()), spread, n - 1.0


def quantile_of(values: Floats, weights: Floats | None, share: float) -> float:
    """A quantile: type 7 without weights, the smallest value that reaches the share with them (NaN if all are 0).

    >>> quantile_of(np.array([1.0, 2.0, 4.0]), None, 0.25), quantile_of(np.array([1.0, 2.0]), np.array([3.0, 1.0]), 0.5)
    (1.5, 1.0)
    """
    if weights is None:
        return float(np.quantile(values, share))
    order = np.argsort(values, kind="stable")
    order = order[weights[order] > 0]
    if len(order) == 0:
        return math.nan
    reached = np.cumsum(weights[order])
    held = reached / reached[-1] >= share * (1 - 1e-12)  # tolerance for rounding of the share
    return float(values[order][np.argmax(held)])


def estimate_quantile(values: Floats, weights: Floats | None, share: float, level: float) -> Estimated:
    """A quantile, and the variance implied by Woodruff's interval of the level.

    >>> median, variance, _ = estimate_quantile(np.arange(101.0), None, 0.5, 0.95)
    >>> median, round(variance, 2)
    (50.0, 25.0)
    """
    if len(values) == 0 or (weights is not None and not weights.any()):
        return UNDEFINED
    quantile = quantile_of(values, weights, share)
    if len(values) == 1:
        return quantile, math.nan, math.nan
    z = normal_reach(level)
    low, high = woodruff_ends(values, weights, share, z)
    return quantile, ((high - low) / (2 * z)) ** 2, math.inf


def normal_reach(level: float) -> float:
    """Standard errors from the middle to an end of a normal interval of the level."""
    from scipy.stats import norm

    return float(norm.ppf((1 + level) / 2))


def woodruff_ends(values: Floats, weights: Floats | None, share: float, z: float) -> tuple[float, float]:
    """Bounds of Woodruff's interval of a quantile, `z` standard errors of the share to either side.

    >>> woodruff_ends(np.arange(101.0), None, 0.5, 2.0)
    (40.0, 60.0)
    """
    spread = share * (1 - share) / (len(values) - 1)
    if weights is not None:
        below = (values <= quantile_of(values, weights, share)).astype(np.float64)
        spread = estimate_mean(below, weights)[1]
    reach = z * math.sqrt(spread)
    low, high = (quantile_of(values, weights, min(max(share + sign * reach, 0.0), 1.0)) for sign in (-1, 1))
    return low, high


def weights_of(pair: Pair, weight: str | None) -> tuple[Floats, ...] | None:
    """Checked weights of each file; None without a weight.

    Raises DataError: missing or negative weights, or none above 0; names the file and the rows.
    """
    if weight is None:
        return None
    files = pair.numbers(weight, "weight")
    for label, values in zip(pair.names, files, strict=True):
        for bad, what in ((np.isnan(values), "missing"), (values < 0, "negative")):
            if bad.any():
                raise DataError(f"{label}: weight {weight!r} is {what} in {first_rows(bad)}")
        if not values.any():
            raise DataError(f"{label}: weight {weight!r} is 0 in every row")
    return files


def named_estimates(
    pair: Pair, statistic: Statistic, variables: Sequence[str], weight: str | None, share: float, level: float
) -> Estimates:
    """A mean, total, proportion or quantile of each variable in each file; missing values are left out.

    Returns the names (for proportions ``variable=level``), and the estimates of each file, the original first.
    """
    weights = weights_of(pair, weight)
    names: list[str] = []
    estimates: list[list[Estimated]] = [[] for _ in pair.names]
    few: list[list[tuple[bool, bool]]] = [[] for _ in pair.names]
    used = [0] * len(pair.names)
    for variable in variables:
        names += [variable] if statistic != "proportion" else names_of_levels(checked_levels(pair.codes(variable)))[0]
        for j in range(len(pair.names)):
            given = None if weights is None else weights[j]
            judged = (
                proportions(pair.codes(variable), j, given) if statistic == "proportion"
                else [_judged(statistic, pair.numbers(variable, "variables")[j], given, share, level)]
            )  # fmt: skip
            estimates[j] += [row[0] for row in judged]
            few[j] += [row[1] for row in judged]
            used[j] = max([used[j], *(row[2] for row in judged)])
    files = []
    for rows, flags, n in zip(estimates, few, used, strict=True):
        value, variance, df = np.array(rows, np.float64).reshape(-1, 3).T
        files.append(FileEstimates(value, variance, df, n, None, *np.array(flags, bool).reshape(-1, 2).T))
    return tuple(names), files


def _judged(
    statistic: Statistic, column: Floats, weights: Floats | None, share: float, level: float
) -> Judged:  # fmt: skip
    known = ~np.isnan(column)
    values, given = column[known], None if weights is None else weights[known]
    estimate = _estimate(statistic, values, given, share, level)
    return estimate, _of_few(statistic, values, given, share, level), len(values)


# Proportions of the levels of a variable: from sums by level, so that no level goes through the records.


def proportions(shared: SharedCoding, file: int, weights: Floats | None) -> list[Judged]:
    """The share of each level among the records of a file that have one, with its variance."""
    codes = shared.codes[file]
    given = np.ones(len(codes)) if weights is None else weights
    order = np.argsort(-given, kind="stable") if weights is not None else np.arange(len(codes))
    order = order[codes[order] > 0]
    ranked, of_rank = given[order], codes[order]
    size = shared.n_levels + 1
    heaviest = np.zeros(size)
    np.maximum.at(heaviest, codes, given)
    sums = np.array([
        np.bincount(codes, given, size), heaviest, np.bincount(codes, given > 0, size),
        np.bincount(codes, given**2, size),
    ])  # fmt: skip

    def largest(k: int, code: int, *, off: bool) -> Floats:
        return np.asarray(ranked[(of_rank != code) if off else (of_rank == code)][:k])

    records = np.bincount(codes, minlength=size).astype(np.float64)
    return [estimate_proportion(records, sums, code, largest, weighted=weights is not None) for code in range(1, size)]


def estimate_proportion(
    records: Floats, sums: Floats, code: int, largest: Callable[..., Floats], *, weighted: bool
) -> Judged:
    """The share of a level, as `estimate_mean` and `sum_of_few` of 0 and 1.

    `records` (levels + 1,): records of each, 0 being missing. `sums` (4, levels + 1): as `PairTables.level_weights`.
    `largest`: a function of k, a level and `off`: the k largest weights of the level, or of others.
    """
    n = int(records[1:].sum())
    weights, heaviest, used, squares = sums[:, 1:]
    own = code - 1
    total, all_squares, n_used = float(weights.sum()), float(squares.sum()), int(used.sum())
    if n == 0 or total == 0:
        return UNDEFINED, (True, True), n
    p = float(weights[own]) / total
    if n == 1:
        return (p, math.nan, math.nan), (True, True), n
    about = squares[own] * (1 - p) ** 2 + (all_squares - squares[own]) * p**2
    estimate = p, float(about) * n / (n - 1) / total**2, n - 1.0
    if n_used < FEWEST:
        return estimate, (True, True), n
    ones, others = int(used[own]), n_used - int(used[own])
    mode = max(ones, others)
    most_off = float(np.delete(heaviest, own).max(initial=0.0))

    def tops(k: int, inside: float, outside: float) -> Floats:
        """The k largest of the weights of the level and of others, each times a factor."""
        parts = [
            factor * largest(k, code, off=off) for factor, off in ((inside, False), (outside, True)) if factor
        ]  # fmt: skip
        return np.sort(np.concatenate(parts))[::-1][:k]

    inside, outside = (1.0, 0.0) if ones < others else (0.0, 1.0) if ones > others else (0.5, 0.5)
    apart = inside * weights[own] + outside * (total - weights[own])
    first = max(inside * heaviest[own], outside * most_off)
    few = (
        (weighted and heavy(all_squares, float(heaviest.max()), lambda k: tops(k, 1.0, 1.0)))
        or (mode >= FEWEST and 0 < n_used - mode < FEWEST)
        or dominated(float(apart), float(first), lambda k: tops(k, inside, outside), PART)
    )
    furthest = max(heaviest[own] * (1 - p), most_off * p) ** 2
    wide = few or dominated(float(about), float(furthest), lambda k: tops(k, 1 - p, p) ** 2, 2 * PART)
    return estimate, (few, wide), n


def heavy(squares: float, heaviest: float, top: Top) -> bool:
    """Whether one weight, or four, have most of the sum of squares."""
    if heaviest**2 > MOST_OF_ONE * squares:
        return True
    if (FEWEST - 1) * heaviest**2 <= MOST_OF_FEW * squares:
        return False
    return bool((top(FEWEST - 1) ** 2).sum() > MOST_OF_FEW * squares)


def dominated(total: float, first: float, top: Top, part: float) -> bool:
    """As `is_dominated`, from the sum of all and the largest; `top` gives the two largest."""
    if first <= 0 or total - 2 * first >= part * first:
        return False
    first, second = (*top(2).tolist(), 0.0, 0.0)[:2]
    return bool(first > 0 and total - first - second < part * first)


def checked_levels(shared: SharedCoding) -> SharedCoding:
    """Raise DataError: a variable with more levels than a category has."""
    if shared.n_levels > MOST_LEVELS:
        raise DataError(
            f"{shared.name!r} has {shared.n_levels} different values: no proportions; group them first, or use "
            "statistic='mean'"
        )
    return shared


def names_of_levels(shared: SharedCoding) -> tuple[list[str], list[str]]:
    """Names of proportions, and as published: levels of fewer than five records of the original as "rare"."""
    labels, counts = shared.labels()[1:], shared.counts[0, 1:].tolist()
    return [f"{shared.name}={label}" for label in labels], [
        f"{shared.name}={label if n >= FEWEST else RARE}" for label, n in zip(labels, counts, strict=True)
    ]


def _estimate(statistic: Statistic, values: Floats, weights: Floats | None, share: float, level: float) -> Estimated:
    if statistic == "quantile":
        return estimate_quantile(values, weights, share, level)
    given = np.ones(len(values)) if weights is None else weights
    return (estimate_total if statistic == "total" else estimate_mean)(values, given)


def _of_few(
    statistic: Statistic, values: Floats, weights: Floats | None, share: float, level: float
) -> tuple[bool, bool]:
    """Whether an estimate, and whether its variance, rests on fewer than five records."""
    if statistic == "quantile":
        return quantile_of_few(values, weights, share, level)
    return sum_of_few(np.ones(len(values)) if weights is None else weights, values)


def quantile_of_few(values: Floats, weights: Floats | None, share: float, level: float) -> tuple[bool, bool]:
    """Whether fewer than five records lie beyond a quantile on either side, or beyond the ends of its interval.

    A value that five records share is no record's own.

    >>> quantile_of_few(np.arange(100.0), None, 0.5, 0.95), quantile_of_few(np.arange(100.0), None, 0.98, 0.95)
    ((False, False), (True, True))
    """
    if len(values) < FEWEST or (weights is not None and not weights.any()):
        return True, True
    z = normal_reach(level)
    few = _few_beyond(values, quantile_of(values, weights, share))
    return few, few or any(_few_beyond(values, end) for end in woodruff_ends(values, weights, share, z))


def _few_beyond(values: Floats, quantile: float) -> bool:
    above, below = np.count_nonzero(values > quantile), np.count_nonzero(values < quantile)
    return bool(min(above, below) < FEWEST > np.count_nonzero(values == quantile))


def called_estimates(pair: Pair, statistic: Callable[[Any], Any]) -> Estimates:
    """Estimates by a user function of each file.

    Raises DataError: it fails on a file, or gives something else than estimates and variances; names the file;
    ColumnError: it does not name the same quantities for every file.
    """
    names: tuple[str, ...] = ()
    files = []
    for label, frame in zip(pair.names, (pair.original, *pair.released), strict=True):
        try:
            with warnings.catch_warnings():  # their messages may show values
                warnings.simplefilter("ignore")
                given = statistic(frame.to_native())
        except Exception as error:  # noqa: BLE001 - any function may be given, and its messages may show values
            raise DataError(
                f"{label}: the statistic failed ({type(error).__name__}); call it on that file alone to see why"
            ) from None
        own, values, variances = _read(given, label)
        if names and own != names:
            raise ColumnError(f"{label}: the statistic does not name the same quantities as for the original")
        names = own
        files.append(FileEstimates(values, variances, np.full(len(values), np.inf), len(frame)))
    return names, files


def _read(given: Any, label: str) -> tuple[tuple[str, ...], Floats, Floats]:
    """Names, estimates and variances from numbers, arrays or mappings."""
    wrong = DataError(
        f"{label}: the statistic must give (estimate, variance): two numbers, two arrays of equal length, or two "
        "mappings with the same names"
    )
    if not isinstance(given, tuple) or len(given) != 2:
        raise wrong
    names: tuple[str, ...] | None = None
    if all(hasattr(part, "keys") for part in given):
        first, second = (dict(part) if isinstance(part, Mapping) else dict(part.items()) for part in given)
        if set(first) != set(second):
            raise wrong
        names = tuple(map(str, first))
        given = (list(first.values()), [second[name] for name in first])
    try:
        values, variances = (np.atleast_1d(np.asarray(part, np.float64)) for part in given)
    except (TypeError, ValueError):
        raise wrong from None
    if values.ndim != 1 or values.shape != variances.shape or len(values) == 0:
        raise wrong
    if not (np.isfinite(values).all() and np.isfinite(variances).all()):
        raise DataError(f"{label}: the statistic gives a missing or infinite number")
    if (variances < 0).any():
        raise DataError(f"{label}: the statistic gives a negative variance; it must be a squared standard error")
    if names is None:
        names = ("estimate",) if len(values) == 1 else tuple(str(j + 1) for j in range(len(values)))
    return names, values, variances
