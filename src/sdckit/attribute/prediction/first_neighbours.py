"""The k nearest training records, those that come first in the file where several are equally far."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdckit.attribute.prediction.key_features import Features
from sdckit.numerics.array_types import Floats

BLOCK = 20_000_000  # distances at a time


def first_neighbours(features: Features, k: int, *, scaled: bool) -> NDArray[np.int64]:
    """Places of the k nearest training records of each query, shape (n_query, k), nearest first.

    Euclidean; a different category counts 1. `scaled`: numbers over their standard deviations. Every pair is
    compared: n_query times n_train distances, some millions of them at a time.

    >>> one = (np.array([1.0, 3.0, 1.0]), np.array([2.0]))
    >>> first_neighbours(Features((one,), (), (1.0,)), 2, scaled=False).tolist()
    [[0, 1]]
    """
    n_train, n_query = features.sizes
    found = np.empty((n_query, k), np.int64)
    units = [scale if scaled else 1.0 for scale in features.scale]
    width = max(1, BLOCK // n_train)
    for start in range(0, n_query, width):
        rows = slice(start, min(start + width, n_query))
        away = np.zeros((rows.stop - start, n_train))
        for (train, query), unit in zip(features.numbers, units, strict=True):
            if unit > 0:
                away += ((query[rows, None] - train[None]) / unit) ** 2
        for codes, asked in features.codes:
            away += np.asarray(asked[rows, None] != codes[None], np.float64)
        found[rows] = _first(away, k)
    return found


def _first(away: Floats, k: int) -> NDArray[np.int64]:
    """Columns of the k smallest of each row, by value and then by place."""
    n = away.shape[1]
    limit = np.partition(away, k - 1, axis=1)[:, k - 1 : k]
    below, level = away < limit, away == limit
    missing = k - below.sum(axis=1)
    taken = below | (level & (np.cumsum(level, axis=1) <= missing[:, None]))
    columns = np.broadcast_to(np.arange(n), away.shape)[taken].reshape(-1, k)
    order = np.argsort(np.take_along_axis(away, columns, axis=1), axis=1, kind="stable")
    return np.take_along_axis(columns, order, axis=1).astype(np.int64)
