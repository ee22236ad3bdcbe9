"""What a prediction is made from: the keys of training records and of those to be predicted, as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.pair import Pair
from sdckit.errors import DataError
from sdckit.numerics.array_types import AnyInts, Floats

DESIGN_LIMIT = 100_000_000  # numbers of a design matrix
WORD = 63  # bits of a whole number that sorts as it is


@dataclass(frozen=True, eq=False)
class Features:
    """Keys of training and query records, side by side.

    Attributes
    ----------
    numbers : tuple of (train, query) of ndarray, float64
        Numeric keys; a missing value is the mean of the training values.
    codes : tuple of (train, query) of ndarray
        Categories, a missing value being one; and for a numeric key with missing values whether it is.
    scale : tuple of float
        Standard deviation of the known training values of each numeric key; 0 where there is none.
    """

    numbers: tuple[tuple[Floats, Floats], ...]
    codes: tuple[tuple[AnyInts, AnyInts], ...]
    scale: tuple[float, ...]

    @property
    def sizes(self) -> tuple[int, int]:
        """Training and query records."""
        train, query = (*self.numbers, *self.codes)[0]
        return len(train), len(query)

    def design(self) -> tuple[Floats, Floats]:
        """Two matrices: the numbers, and 0 and 1 for each category."""
        widths, places = [], []
        for train, query in self.codes:
            levels, inverse = np.unique(np.concatenate([train, query]), return_inverse=True)
            widths.append(len(levels))
            places.append((inverse[: len(train)], inverse[len(train) :]))
        columns = len(self.numbers) + sum(widths)
        if sum(self.sizes) * columns > DESIGN_LIMIT:
            size = f"{sum(self.sizes)} rows of {columns} columns (one per category of the keys)"
            raise DataError(f"{size} are too many for this model; use model='knn', coarser keys or a sample")
        out = tuple(np.zeros((n, columns)) for n in self.sizes)
        for j, pair in enumerate(self.numbers):
            for matrix, values in zip(out, pair, strict=True):
                matrix[:, j] = values
        first = len(self.numbers)
        for width, place in zip(widths, places, strict=True):
            for matrix, at in zip(out, place, strict=True):
                matrix[np.arange(len(at)), first + at] = 1.0
            first += width
        return out[0], out[1]


@dataclass(frozen=True, eq=False)
class Selection:
    """Some records of one of the files: 0 is the original."""

    file: int
    rows: NDArray[np.int64]


def features_of(
    pair: Pair, keys: Sequence[str], numeric: Sequence[str], train: Selection, query: Selection
) -> Features:
    """The keys of some records to train on and of some to predict.

    Examples
    --------
    >>> import polars as pl
    >>> from sdckit.cells.pair import open_pair
    >>> a, b = pl.DataFrame({"age": [20.0, None]}), pl.DataFrame({"age": [30.0, 50.0]})
    >>> pair = open_pair(a, b, categories={"keys": ["age"]}, numeric={"numeric": ["age"]})
    >>> found = features_of(pair, ["age"], ["age"], Selection(1, np.array([0, 1])), Selection(0, np.array([0, 1])))
    >>> found.numbers[0][1].tolist(), found.codes[0][1].tolist(), round(found.scale[0], 3)
    ([20.0, 40.0], [0, 1], 14.142)
    """
    numbers, codes, scale = [], [], []
    for key in keys:
        if key not in numeric:
            shared = pair.codes(key).codes
            codes.append((shared[train.file][train.rows], shared[query.file][query.rows]))
            continue
        values = pair.numbers(key)
        both = values[train.file][train.rows], values[query.file][query.rows]
        gone = np.isnan(both[0]), np.isnan(both[1])
        known = both[0][~gone[0]]
        mean = float(known.mean()) if len(known) else 0.0
        numbers.append((np.where(gone[0], mean, both[0]), np.where(gone[1], mean, both[1])))
        scale.append(float(known.std(ddof=1)) if len(known) > 1 else 0.0)
        if gone[0].any() or gone[1].any():
            codes.append((gone[0].astype(np.int32), gone[1].astype(np.int32)))
    return Features(tuple(numbers), tuple(codes), tuple(scale))


def first_of_each(of_row: AnyInts, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A record of each group among some rows, and which of them stands for each row.

    Examples
    --------
    >>> first, place = first_of_each(np.array([4, 2, 4]), np.array([0, 1, 2]))
    >>> first.tolist(), place.tolist()
    ([1, 0], [1, 0, 1])
    """
    groups = of_row[rows]
    first = np.full(int(groups.max(initial=0)) + 1, -1, np.int64)
    first[groups[::-1]] = np.arange(len(groups) - 1, -1, -1)
    present = first >= 0
    return rows[first[present]], (np.cumsum(present) - 1)[groups]


def order_of_rows(pair: Pair, names: Sequence[str], file: int) -> NDArray[np.int64]:
    """An order of a file's records that depends on their values only, not on where they stand."""
    columns = [pair.codes(name) for name in names]
    bits = [int(column.n_levels).bit_length() for column in columns]
    if sum(bits) > WORD:
        return np.lexsort([column.codes[file] for column in columns])
    words = np.zeros(len(columns[0].codes[file]), np.int64)
    for column, before in zip(columns, np.cumsum([0, *bits[:-1]]).tolist(), strict=True):
        words |= column.codes[file].astype(np.int64) << before
    return np.argsort(words, kind="stable")
