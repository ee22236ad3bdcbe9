"""Code tables: a column whose values stand one-to-one for those of another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Codes, Floats

BORNE = 5  # records of the half that is fitted to, by which a pair of values is borne
MOSTLY = 0.8  # of the records of either value that the pair must have


def code_table(codes: Codes, n_levels: int, truth: Floats, rows: NDArray[np.int64]) -> Floats:
    """The value that each code (0 to `n_levels`) stands for, on the records `rows`; NaN for none.

    >>> codes, truth = np.repeat([1, 2, 3], 10).astype(np.int32), np.repeat([7.0, 8.0, 8.0], 10)
    >>> code_table(codes, 3, truth, np.arange(30)).tolist()
    [nan, 7.0, nan, nan]
    """
    table = np.full(n_levels + 1, np.nan)
    rows = rows[(codes[rows] > 0) & ~np.isnan(truth[rows])]
    if not len(rows) or n_levels > len(rows) / BORNE:
        return table
    values, of = np.unique(truth[rows], return_inverse=True)
    if not 1 < len(values) <= len(rows) / BORNE:
        return table
    pairs, counts = np.unique(codes[rows].astype(np.int64) * len(values) + of, return_counts=True)
    code, value = pairs // len(values), pairs % len(values)
    of_code, of_value = np.bincount(codes[rows], minlength=n_levels + 1), np.bincount(of)
    good = (counts >= BORNE) & (counts >= MOSTLY * of_code[code]) & (counts >= MOSTLY * of_value[value])
    table[code[good]] = values[value[good]]
    return table
