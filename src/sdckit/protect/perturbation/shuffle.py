"""E7: data shuffling: permute values so that margins are kept exactly and rank correlations approximately."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sdckit.data import arguments, replace, seeds
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Floats, Ints
from sdckit.protect.change import Change, Protected, chosen, count_changed, draw, numbers


def shuffle(data: Any, *, columns: Sequence[str], given: Sequence[str] = (), seed: arguments.Seed = None) -> Protected:
    """Hand the values of confidential numbers out anew, by their relation to other variables alone.

    Parameters
    ----------
    data : data frame
    columns : sequence of str
        Confidential variables of numbers: each keeps exactly its values, in other hands.
    given : sequence of str
        Variables of numbers, or ordered codes, that stay as they are; rank correlations with them are kept.
    seed : int or numpy.random.Generator, optional
        Whoever guesses it undoes what is drawn: leave it out for a release, ``change.secret`` keeps a long one.

    Returns
    -------
    Protected
        ``data`` and ``change``.

    Raises
    ------
    ColumnError
        A column that the data does not have, or one listed in both.
    DataError
        Text, infinite values, a constant column, fewer complete records than variables.

    Notes
    -----
    Ranks (r - 1/2) / n become normal scores, and rank correlations r_s the correlations 2 sin(pi r_s / 6) of
    these. With S the given and X the confidential variables, new scores of X are drawn from their
    distribution given the scores of S: mean S R_ss^-1 R_sx, covariance R_xx - R_xs R_ss^-1 R_sx. The record
    whose new score has rank r gets the r-th smallest value. Given S, the new values are independent of the
    old ones: nobody learns more about a record from them than from S.

    Missing values of a confidential variable stay missing; a missing given value is drawn at random for the
    purpose. Rank correlations are those of records complete in all the variables.

    References
    ----------
    Muralidhar, K. and Sarathy, R. (2006). Data shuffling: a new masking approach for numerical data.
    Management Science 52, 658-670.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"age": [20, 30, 40, 50, 60], "income": [10, 15, 30, 25, 40]})
    >>> found = shuffle(survey, columns=["income"], given=["age"], seed=4)
    >>> sorted(found.data["income"].to_list()), found.data["age"].to_list()
    ([10, 15, 25, 30, 40], [20, 30, 40, 50, 60])
    """
    names, known = chosen(columns), arguments.names(given, "given") or ()
    if both := [name for name in names if name in known]:
        raise ColumnError(f"{both[0]!r} is in columns and in given; it is moved or stays", argument="given")
    frame = replace.open_eager(data, {"columns": names, "given": known})
    values = numbers(frame, names, constant="so there is nothing to shuffle")
    fixed = numbers(frame, known, constant="so nothing depends on it")
    correlation = _correlation([*fixed.values(), *values.values()])
    rng, secret = seeds.open_rng(seed)
    scores = _new_scores(list(fixed.values()), correlation, len(frame), len(names), rng)
    source = {name: _handed_out(values[name], scores[:, j]) for j, name in enumerate(names)}
    made = {name: values[name][rows] for name, rows in source.items()}
    changed, parameters = count_changed(values, made), {"columns": list(names), "given": list(known)}
    change = Change("shuffle", len(frame), changed, parameters, {"seed": secret})
    return Protected(replace.take_rows(frame, source), change)


def _ranks(values: Floats) -> Floats:
    """Ranks from 1, equal values sharing their mean; NaN where missing."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(values, nan_policy="omit"), np.float64)


def _normal_scores(values: Floats) -> Floats:
    from scipy.special import ndtri

    n = int(np.count_nonzero(~np.isnan(values)))
    return np.asarray(ndtri((_ranks(values) - 0.5) / n), np.float64)


def _correlation(columns: list[Floats]) -> Floats:
    """Correlation matrix of the normal scores implied by the rank correlations, made positive semidefinite."""
    matrix = np.column_stack(columns)
    whole = matrix[~np.isnan(matrix).any(axis=1)]
    if len(whole) <= len(columns):
        raise DataError(
            f"{len(whole)} records are complete in the {len(columns)} variables; more are needed to relate them"
        )
    if len(columns) == 1:
        return np.ones((1, 1))
    flat = (whole == whole[0]).all(axis=0)
    if flat.any():
        raise DataError("a variable is constant among the records complete in all of them; leave it out")
    ranks = np.column_stack([_ranks(column) for column in whole.T])
    correlation = 2 * np.sin(np.pi / 6 * np.corrcoef(ranks.T))
    roots, vectors = np.linalg.eigh(correlation)
    if roots[0] < 0:
        correlation = (vectors * np.maximum(roots, 0.0)) @ vectors.T
        unit = np.sqrt(np.diagonal(correlation))
        correlation = correlation / np.outer(unit, unit)
    return np.asarray(correlation, np.float64)


def _new_scores(fixed: list[Floats], correlation: Floats, n: int, n_new: int, rng: np.random.Generator) -> Floats:
    """Draw normal scores of the confidential variables from their distribution given those of the others."""
    normal = np.column_stack([draw(rng, n, lambda own, piece: own.standard_normal(out=piece)) for _ in range(n_new)])
    m = len(fixed)
    inside, across = correlation[m:, m:], correlation[:m, m:]
    mean: Floats | float = 0.0
    if m:
        scores = np.column_stack([_filled(_normal_scores(values), rng) for values in fixed])
        slopes = np.linalg.pinv(correlation[:m, :m]) @ across
        mean, inside = scores @ slopes, inside - across.T @ slopes
    roots, vectors = np.linalg.eigh(inside)
    half = vectors * np.sqrt(np.maximum(roots, 0.0))
    return np.asarray(mean + normal @ half.T, np.float64)


def _filled(scores: Floats, rng: np.random.Generator) -> Floats:
    gaps = np.isnan(scores)
    scores[gaps] = rng.standard_normal(int(gaps.sum()))
    return scores


def _handed_out(values: Floats, scores: Floats) -> Ints:
    """The row whose value each record gets: the r-th smallest value where its score has rank r."""
    rows = np.flatnonzero(~np.isnan(values))
    source = np.arange(len(values))
    source[rows[np.argsort(scores[rows], kind="stable")]] = rows[np.argsort(values[rows], kind="stable")]
    return source
