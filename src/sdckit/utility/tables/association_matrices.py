"""How strongly variables go together within one file: correlations, Cramér's V, correlation ratios."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.threads import run
from sdckit.utility.tables.table_counts import count_pairs

NARROW = 1 << 16  # whole numbers within such a range are numbered without sorting
FLAT = 1e-12  # a variance below this share of the mean square is rounding


def pearson(x: Floats, y: Floats) -> float:
    """Correlation of two columns without missing values; NaN where one is constant.

    >>> round(pearson(np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 5.0])), 6)
    0.866025
    """
    if len(x) < 2 or x.min() == x.max() or y.min() == y.max():
        return math.nan
    a, b = x - x.mean(), y - y.mean()
    a, b = a / np.abs(a).max(), b / np.abs(b).max()
    return float(np.clip(a @ b / math.sqrt((a @ a) * (b @ b)), -1, 1))


def pearson_matrix(columns: Sequence[Floats]) -> Floats:
    """Pearson's correlations, each on the records with both values; NaN where one of them is constant there.

    >>> pearson_matrix([np.array([1.0, 2.0, np.nan]), np.array([3.0, 1.0, 7.0])]).round(6).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    known = [~np.isnan(one) for one in columns]
    out: Floats
    scaled = [_scaled(one, here) for one, here in zip(columns, known, strict=True)]
    x = np.column_stack([one for one, _ in scaled])
    if all(here.all() for here in known):
        cross = x.T @ x
        root = np.sqrt(np.diag(cross))
        out = cross / np.outer(np.where(root > 0, root, np.nan), np.where(root > 0, root, np.nan))
    else:
        mask = np.column_stack(known).astype(np.float64)
        n, sums, squares = mask.T @ mask, x.T @ mask, (x**2).T @ mask
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = squares - sums**2 / n
            spread[spread <= FLAT * squares] = np.nan
            out = (x.T @ x - sums * sums.T / n) / np.sqrt(spread * spread.T)
    constant = np.array([flat for _, flat in scaled])
    out[constant, :] = out[:, constant] = np.nan
    out = np.clip((out + out.T) / 2, -1, 1)
    np.fill_diagonal(out, np.where(np.isnan(np.diag(out)), np.nan, 1.0))
    return out


def _scaled(values: Floats, known: NDArray[np.bool_]) -> tuple[Floats, bool]:
    """Values with mean 0 and largest 1, 0 where missing; and whether they are constant."""
    inside = values[known]
    if len(inside) < 2 or inside.min() == inside.max():
        return np.zeros(len(values)), True
    centred = np.where(known, values - inside.mean(), 0.0)
    return centred / np.abs(centred).max(), False


def spearman_matrix(columns: Sequence[Floats]) -> Floats:
    """Spearman's correlations: Pearson's of the ranks among the records with both values, ties sharing theirs.

    >>> spearman_matrix([np.array([1.0, 2.0, 9.0]), np.array([1.0, 4.0, 5.0])]).round(6).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    places = run(_places, columns)
    if all(one.min(initial=1) > 0 for one in places):
        return pearson_matrix([_mid_ranks(np.bincount(one))[one] for one in places])
    out = np.full((len(columns), len(columns)), np.nan)
    pairs = list(itertools.combinations(range(len(columns)), 2))
    for (i, j), value in zip(
        pairs, run(lambda pair: _rank_correlation(places[pair[0]], places[pair[1]]), pairs), strict=True
    ):
        out[i, j] = out[j, i] = value
    for j, place in enumerate(places):
        out[j, j] = 1.0 if place.max(initial=0) > 1 else np.nan
    return out


def _places(values: Floats) -> NDArray[np.int32]:
    """Place of each value among the different ones, from 1; 0 where missing."""
    known = ~np.isnan(values)
    inside = values[known]
    out = np.zeros(len(values), np.int32)
    if len(inside) and inside.max() - inside.min() < NARROW and (inside == np.floor(inside)).all():
        shifted = (inside - inside.min()).astype(np.int64)
        out[known] = np.cumsum(np.bincount(shifted) > 0)[shifted]
    else:
        out[known] = np.unique(inside, return_inverse=True)[1] + 1
    return out


def _mid_ranks(size: Ints) -> Floats:
    """Rank that so many equal values share, group after group."""
    ranks: Floats = np.cumsum(size) - (size - 1) / 2
    return ranks


def _rank_correlation(first: NDArray[np.int32], second: NDArray[np.int32]) -> float:
    """Spearman's correlation of two columns of places; 0 is missing."""
    shape = (int(first.max(initial=0)) + 1, int(second.max(initial=0)) + 1)
    if shape[0] * shape[1] > len(first):
        both = (first > 0) & (second > 0)
        x, y = first[both], second[both]
        return pearson(_mid_ranks(np.bincount(x))[x], _mid_ranks(np.bincount(y))[y])
    table = count_pairs(first, second, shape)[1:, 1:]  # few values: the table says it all
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    if (rows > 0).sum() < 2 or (columns > 0).sum() < 2:
        return math.nan
    middle = (rows.sum() + 1) / 2
    a, b = _mid_ranks(rows) - middle, _mid_ranks(columns) - middle
    found = (a @ table @ b) / math.sqrt((rows @ a**2) * (columns @ b**2))
    return float(np.clip(found, -1, 1))


def cramers_v(codes: Sequence[NDArray[np.integer[Any]]], counts: Ints) -> float:
    """Cramér's V of a table, 0 to 1 (the root, not its square); NaN where a variable is constant.

    `codes` and `counts` (L,): the two levels of each cell, and its records.

    >>> cramers_v([np.array([0, 1]), np.array([1, 0])], np.array([3, 4]))
    1.0
    """
    first, second = codes
    rows, columns = np.bincount(first, counts), np.bincount(second, counts)
    smaller = min(int((rows > 0).sum()), int((columns > 0).sum()))
    if smaller < 2:
        return math.nan
    n, used = counts.sum(), counts > 0
    expected = rows[first[used]] * columns[second[used]] / n
    squared = float(((counts[used] - expected) ** 2 / expected).sum())
    empty = float(n - expected.sum())  # the cells without a record
    return math.sqrt(min(1.0, (squared + empty) / (n * (smaller - 1))))


def correlation_ratios(categories: Sequence[NDArray[np.integer[Any]]], values: Floats) -> list[float]:
    """Correlation ratio eta of a number within the levels of each category, 0 to 1 (the root, not its square).

    Records without a number are left out; NaN where the number or the category is constant.

    >>> correlation_ratios([np.array([0, 0, 1, 1]), np.array([3, 4, 3, 4])], np.array([1.0, 1.0, 5.0, 5.0]))
    [1.0, 0.0]
    """
    known = ~np.isnan(values)
    centred, constant = _scaled(values, known)
    if constant:
        return [math.nan] * len(categories)
    total, counted = float(centred @ centred), None if known.all() else known.astype(np.float64)
    out = []
    for codes in categories:
        size = np.bincount(codes, counted)
        used = size > 0
        between = float((np.bincount(codes, centred)[used] ** 2 / size[used]).sum())
        out.append(math.sqrt(min(1.0, between / total)) if used.sum() > 1 else math.nan)
    return out
