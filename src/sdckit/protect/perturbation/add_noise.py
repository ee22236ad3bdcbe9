"""E6: random noise on numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from sdckit.data import arguments, replace, seeds
from sdckit.errors import DataError
from sdckit.numerics.array_types import Bools, Floats
from sdckit.numerics.outlying import robust_distances
from sdckit.protect.by_household import in_two_parts
from sdckit.protect.change import Change, Protected, became_fractions, chosen, count_changed, draw, key, numbers

ROUNDS = 8  # of rotations: a record is mixed with thousands of others
FAR = 0.975  # of the chi-squared distribution: beyond it a record is an outlier
ENDS = (0.01, 0.99)  # quantiles beyond which a value is one


def _normal(rng: np.random.Generator, n: int) -> Floats:
    return draw(rng, n, lambda generator, piece: generator.standard_normal(out=piece))


def _spread(values: Floats) -> float:
    known = values[~np.isnan(values)] if np.isnan(values).any() else values
    return float(known.std(ddof=1))


def additive(columns: list[Floats], share: float, rng: np.random.Generator) -> list[Floats]:
    """Independent noise, its standard deviation a share of the column's.

    >>> x = np.array([1.0, 2.0, np.nan])
    >>> np.isnan(additive([x], 0.1, np.random.default_rng(1))[0]).tolist()
    [False, False, True]
    """
    made = []
    for values in columns:
        noise = _normal(rng, len(values))
        noise *= share * _spread(values)
        noise += values
        made.append(noise)
    return made


def _joint(columns: list[Floats], rng: np.random.Generator) -> tuple[list[Floats], Floats]:
    """Normal noise with the covariance matrix of the complete records, one array per column, and the means."""
    matrix = np.column_stack(columns)
    whole = matrix[~np.isnan(matrix).any(axis=1)]
    if len(whole) < 2:
        raise DataError("fewer than two records are complete in the columns; take how='additive'")
    roots, vectors = np.linalg.eigh(np.atleast_2d(np.cov(whole.T)))
    half = vectors * np.sqrt(np.maximum(roots, 0.0))
    plain = np.column_stack([_normal(rng, len(matrix)) for _ in columns])
    return list((plain @ half.T).T), np.nanmean(matrix, axis=0)


def correlated(columns: list[Floats], share: float, rng: np.random.Generator) -> list[Floats]:
    """Correlated noise: the covariance matrix of the data times the square of `share`.

    >>> len(correlated([np.array([1.0, 2.0, 4.0])], 0.1, np.random.default_rng(1)))
    1
    """
    if len(columns) == 1:
        return additive(columns, share, rng)
    noise, _ = _joint(columns, rng)
    return [values + share * shift for values, shift in zip(columns, noise, strict=True)]


def moments_kept(columns: list[Floats], share: float, rng: np.random.Generator) -> list[Floats]:
    """Correlated noise on data shrunk towards the mean: means and covariances are kept in expectation.

    >>> moments_kept([np.array([1.0, 2.0, 4.0])], 0.1, np.random.default_rng(1))[0].shape
    (3,)
    """
    noise, means = _joint(columns, rng)
    inwards = math.sqrt(1 - share**2)
    return [
        inwards * values + (1 - inwards) * mean + share * shift
        for values, mean, shift in zip(columns, means, noise, strict=True)
    ]


def outlying(columns: list[Floats], seed: int) -> tuple[list[Bools], str | None]:
    """Flag the outliers of each column; and a note where the robust distance could not be computed.

    A value beyond the 1st or 99th percentile of its column, and every value of a record whose robust
    Mahalanobis distance is beyond the 97.5th percentile of what normal data would have.
    """
    from scipy.stats import chi2

    matrix = np.column_stack(columns)
    whole = ~np.isnan(matrix).any(axis=1)
    far, note = np.zeros(len(matrix), np.bool_), None
    if len(columns) > 1:
        away = robust_distances(matrix[whole], seed) if whole.any() else None
        if away is None:
            note = "the robust covariance is singular: outliers are those of single columns only"
        else:
            far[whole] = away**2 > chi2.ppf(FAR, len(columns))
    outliers = []
    for values in columns:
        low, high = np.nanquantile(values, ENDS)
        outliers.append((values < low) | (values > high) | (far & ~np.isnan(values)))
    return outliers, note


def on_outliers(columns: list[Floats], share: float, rng: np.random.Generator) -> tuple[list[Floats], int, str | None]:
    """Noise on outliers, its standard deviation a share of their distance from the column's median.

    Returns the columns, the number of outliers, and the note of `outlying`.

    >>> x = np.append(np.zeros(150), 100.0)
    >>> made, count, _ = on_outliers([x], 0.1, np.random.default_rng(1))
    >>> count, int((made[0] != x).sum())
    (1, 1)
    """
    out, note = outlying(columns, int(key(rng) >> np.uint64(33)))
    made = []
    for values, far in zip(columns, out, strict=True):
        noise = _normal(rng, len(values)) * share * np.abs(values - np.nanmedian(values))
        made.append(np.where(far, values + noise, values))
    return made, int(sum(far.sum() for far in out)), note


def rotated(columns: list[Floats], share: float, rng: np.random.Generator) -> list[Floats]:
    """Multiply the data by a random orthogonal matrix that keeps means and covariances exactly.

    The matrix is a product of random rotations of three records each around their mean; it is never formed itself.

    >>> x = np.array([1.0, 2.0, 4.0, 9.0])
    >>> (made,) = rotated([x], 0.1, np.random.default_rng(1))
    >>> np.allclose([made.mean(), made.var()], [x.mean(), x.var()])
    True
    """
    matrix = np.column_stack(columns)
    out = matrix.copy()
    gaps, of_row = np.unique(np.isnan(matrix), axis=0, return_inverse=True)
    of_row = of_row.reshape(-1)
    sizes = np.bincount(of_row)
    there = ~gaps.all(axis=1)
    if (sizes[there] < 3).any():
        raise DataError(
            f"{int(sizes[there][sizes[there] < 3].sum())} records miss values in columns in which fewer than two "
            "others do; method 'romm' rotates three with the same columns present: leave out a column, or impute"
        )
    for pattern in np.flatnonzero(there):
        rows = np.flatnonzero(of_row == pattern)
        known = np.flatnonzero(~gaps[pattern])
        out[np.ix_(rows, known)] = _rotate(matrix[np.ix_(rows, known)], share, rng)
    return list(out.T)


def _rotate(values: Floats, share: float, rng: np.random.Generator) -> Floats:
    centre = values.mean(axis=0)
    z = values - centre
    same = (1 - share**2 / 2) ** (1 / ROUNDS)  # what a round leaves of the correlation with the original
    angle = math.sqrt(-2 * math.log(1 - 1.5 * (1 - same)))
    third = len(z) // 3
    for _ in range(ROUNDS):
        a, b, c = rng.permutation(len(z))[: 3 * third].reshape(3, third)
        turn = rng.normal(0.0, angle, (third, 1))
        x, y, w = z[a], z[b], z[c]
        middle, cos, sin = (x + y + w) / 3, np.cos(turn), np.sin(turn) / math.sqrt(3)
        rest = middle * (1 - cos)
        z[a] = x * cos + (w - y) * sin + rest
        z[b] = y * cos + (x - w) * sin + rest
        z[c] = w * cos + (y - x) * sin + rest
    return np.asarray(z + centre, np.float64)


KINDS = {"additive": additive, "correlated": correlated, "correlated2": moments_kept, "romm": rotated}
METHODS = (*KINDS, "outlier")
BELOW_100 = ("correlated2", "romm")


def add_noise(
    data: Any,
    *,
    columns: Sequence[str],
    noise: float = 10.0,
    how: str = "additive",
    keep_zeros: bool = False,
    household: str | None = None,
    household_variables: Sequence[str] | None = None,
    seed: arguments.Seed = None,
) -> Protected:
    """Add random noise to numbers.

    Parameters
    ----------
    data : data frame
    columns : sequence of str
        Variables of numbers to change.
    noise : float
        Standard deviation of the noise in percent of that of the variable, whatever the method; above 0.
        "correlated2" and "romm" need less than 100. For "outlier", in percent of the value's distance from
        the median.
    how : {"additive", "correlated", "correlated2", "outlier", "romm"}
        Independent noise ("additive"); noise with the correlations of the data ("correlated"); the same,
        with the data drawn in so that means and covariances are kept in expectation ("correlated2"); on
        outliers only, the more the farther out they are ("outlier"); random orthogonal masking, which keeps
        means and covariances exactly ("romm").
    keep_zeros : bool
        Whether a 0 stays a 0; not with "romm".
    household : str, optional
        Column that numbers the households; household variables among `columns` are then treated once for each
        household, and all its members get what came of it.
    household_variables : sequence of str, optional
        Variables that members share; default those found (`household_variables`). An empty list: none.
    seed : int or numpy.random.Generator, optional
        Whoever guesses it undoes what is drawn: leave it out for a release, ``change.secret`` keeps a long one.

    Returns
    -------
    Protected
        ``data`` and ``change``. Columns of whole numbers become fractions: round them by `round_to`. The seed
        is in ``change.secret`` only: with it the noise can be taken off again.

    Raises
    ------
    ColumnError
        A column that the data does not have.
    DataError
        Text, infinite values, a constant column, noise out of range, and method "restr" of sdcMicro, which
        adds none.

    Notes
    -----
    Missing values stay. Covariances are those of records complete in the columns. Outliers are values beyond
    the 1st or 99th percentile of their column, and all values of records whose robust Mahalanobis distance
    squared is beyond the 97.5th percentile of the chi-squared distribution.

    "romm" multiplies the data by a random orthogonal matrix that leaves means alone, made of eight rounds of
    random rotations of three records each: memory grows with the records, not with their square. Records are
    mixed with those that have the same columns present.

    References
    ----------
    Brand, R. (2002). Microdata protection through noise addition. In: Inference Control in Statistical
    Databases, LNCS 2316, 97-116.
    Ting, D., Fienberg, S. E. and Trottini, M. (2008). Random orthogonal matrix masking methodology for
    microdata release. International Journal of Information and Computer Security 2, 86-105.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"id": [1, 2, 3, 4], "income": [100.0, 200.0, 400.0, None]})
    >>> found = add_noise(survey, columns=["income"], noise=5, seed=1)
    >>> found.change.changed, found.data["id"].to_list(), found.data["income"].null_count()
    ({'income': 3}, [1, 2, 3, 4], 1)
    """
    names = chosen(columns)
    share = _check_options(noise, how, keep_zeros)
    method = partial(add_noise, noise=noise, how=how, keep_zeros=keep_zeros)
    parted = in_two_parts(data, names, household, household_variables, seed, method)
    if parted is not None:
        return parted
    frame = replace.open_eager(data, {"columns": names})
    values = numbers(frame, names, constant="so its noise would be none")
    rng, secret_seed = seeds.open_rng(seed)
    before = list(values.values())
    secret: dict[str, Any] = {"seed": secret_seed}
    notes: dict[str, str] = {}
    if how == "outlier":
        noisy, secret["outliers"], note = on_outliers(before, share, rng)
        notes |= {"outliers": note} if note else {}
        notes |= {} if secret["outliers"] else {"changed": "no value is an outlier"}
    else:
        noisy = KINDS[how](before, share, rng)
    if keep_zeros:
        noisy = [np.where(old == 0, old, new) for old, new in zip(before, noisy, strict=True)]
    made = dict(zip(names, noisy, strict=True))
    out = replace.with_numbers(frame, made)
    parameters = {"columns": list(names), "noise": float(noise), "how": how, "keep_zeros": keep_zeros}
    notes |= became_fractions(frame, out, names)
    change = Change("add_noise", len(frame), count_changed(values, made), parameters, secret, notes)
    return Protected(out, change)


def _check_options(noise: object, how: str, keep_zeros: object) -> float:
    if how == "restr":
        raise DataError(
            "method 'restr' adds no noise: it is a fixed linear map that anybody can turn back; "
            "'correlated2' keeps means and covariances",
            argument="how",
        )
    arguments.choice(how, "how", METHODS)
    says = "is the noise's standard deviation in percent of the variable's"
    percent = arguments.amount_above(noise, "noise", says)
    if how in BELOW_100 and percent >= 100:
        raise DataError(f"noise of method {how!r} is below 100 percent", argument="noise")
    if arguments.flag(keep_zeros, "keep_zeros") and how == "romm":
        raise DataError("keep_zeros: method 'romm' cannot keep zeros", argument="keep_zeros")
    return percent / 100
