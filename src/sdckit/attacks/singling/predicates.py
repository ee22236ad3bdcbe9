"""Predicates on the columns of a file as arrays: no query text, so none can fail to be understood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Ints
from sdckit.numerics.compiling import njit
from sdckit.numerics.threads import chunks, run

EQUAL, UNEQUAL, AT_MOST, AT_LEAST, BELOW, ABOVE = range(6)
SIGNS = ("=", "≠", "≤", "≥", "<", ">")
LARGEST = np.iinfo(np.int32).max


@dataclass(frozen=True, eq=False)
class Table:
    """The distinct records of one file, column by column.

    Attributes
    ----------
    codes : ndarray, int32, shape (p, n)
        0 where missing, else ascending by value.
    rows : ndarray, int64, shape (n,)
        The row of the file each stands for: the first of those equal on all columns.
    """

    codes: NDArray[np.int32]
    rows: Ints

    @property
    def n(self) -> int:
        """Distinct records."""
        return int(self.codes.shape[1])

    def take(self, chosen: Ints) -> Table:
        """Some of the records."""
        return Table(np.ascontiguousarray(self.codes[:, chosen]), self.rows[chosen])

    def join(self, other: Table) -> Table:
        """The records of both files, these first."""
        return Table(
            np.concatenate([self.codes, other.codes], axis=1), np.concatenate([self.rows, other.rows])
        )


@dataclass(frozen=True, eq=False)
class Predicates:
    """Conjunctions of conditions, each on a column of its own.

    Attributes
    ----------
    column : ndarray, int64, shape (q, k)
        Ascending within a predicate.
    operator : ndarray, int8, shape (q, k)
        One of EQUAL, UNEQUAL, AT_MOST, AT_LEAST, BELOW, ABOVE.
    value : ndarray, int32, shape (q, k)
        Code; EQUAL to 0 asks for a missing value. A missing value is neither below nor above any.
    """

    column: Ints
    operator: NDArray[np.int8]
    value: NDArray[np.int32]

    @property
    def n(self) -> int:
        """Predicates."""
        return len(self.column)

    def take(self, chosen: NDArray[np.integer[Any]] | slice) -> Predicates:
        """Some of the predicates."""
        return Predicates(self.column[chosen], self.operator[chosen], self.value[chosen])

    def keys(self) -> list[bytes]:
        """Equal for equal predicates only."""
        packed = np.concatenate([self.column, self.operator, self.value], axis=1, dtype=np.int64)
        return [row.tobytes() for row in packed]

    def texts(self, names: Sequence[str], labels: Sequence[Sequence[str]]) -> list[str]:
        """In words; values stand as they are printed."""
        out = []
        for columns, operators, values in zip(
            self.column.tolist(), self.operator.tolist(), self.value.tolist(), strict=True
        ):
            parts = [
                f"{names[c]} {SIGNS[o]} {labels[c][v]}"
                for c, o, v in zip(columns, operators, values, strict=True)
            ]
            out.append(" and ".join(parts))
        return out

    def bounds(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.bool_]]:
        """Lowest and highest code of each condition, and whether it is turned round."""
        value, operator = self.value, self.operator
        low = np.where((operator == AT_MOST) | (operator == BELOW), 1, value) + (operator == ABOVE)
        high = np.where((operator == AT_LEAST) | (operator == ABOVE), LARGEST, value) - (operator == BELOW)
        return low.astype(np.int32), high.astype(np.int32), operator == UNEQUAL


def matches(table: Table, predicates: Predicates, most: int = 1) -> tuple[Ints, Ints]:
    """How many records each predicate is true of, and which.

    Counts, shape (q,), where ``most + 1`` stands for more than `most`; positions in the table, shape (q, most),
    -1 behind the last.

    Examples
    --------
    >>> table = Table(np.array([[1, 2, 2]], np.int32), np.arange(3))
    >>> queries = Predicates(np.array([[0], [0]]), np.array([[0, ], [3]], np.int8), np.array([[1], [1]], np.int32))
    >>> [found.tolist() for found in matches(table, queries)]
    [[1, 2], [[0], [0]]]
    """
    count, rows = np.zeros(predicates.n, np.int64), np.full((predicates.n, most), -1, np.int64)
    low, high, turned = predicates.bounds()

    def part(ends: tuple[int, int]) -> None:
        _find(table.codes, predicates.column, low, high, turned, count, rows, *ends)

    run(part, chunks(predicates.n, minimum=64))
    return count, rows


@njit(cache=True, nogil=True)
def _find(codes, column, low, high, turned, count, rows, start, stop):  # type: ignore[no-untyped-def]
    n, k, most = codes.shape[1], column.shape[1], rows.shape[1]
    for q in range(start, stop):
        for i in range(n):
            true = True
            for j in range(k):
                code = codes[column[q, j], i]
                if (low[q, j] <= code <= high[q, j]) == turned[q, j]:
                    true = False
                    break
            if true:
                if count[q] == most:
                    count[q] = most + 1
                    break
                rows[q, count[q]] = i
                count[q] += 1


def random_predicates(
    table: Table, ordered: NDArray[np.bool_], n: int, k: int, rng: np.random.Generator
) -> Predicates:
    """Draw what somebody would ask who guesses: random columns, any of their values, random operators.

    The table holds the released records; `ordered`, shape (p,), marks the columns that are asked for above and
    below too. There are `n` predicates of `k` conditions.
    """
    column = random_columns(len(ordered), n, k, rng)
    levels = [np.unique(codes) for codes in table.codes]
    sizes = np.array([len(one) for one in levels])
    begins = np.cumsum(sizes) - sizes
    value = np.concatenate(levels)[begins[column] + rng.integers(0, sizes[column])]
    operator = np.where(ordered[column] & (value > 0), rng.integers(0, 6, (n, k)), rng.integers(0, 2, (n, k)))
    return Predicates(column, operator.astype(np.int8), value)


def random_columns(p: int, n: int, k: int, rng: np.random.Generator) -> Ints:
    """K of p columns for each of n predicates, ascending."""
    if k == 1:
        return rng.integers(0, p, (n, 1))
    return np.sort(np.argsort(rng.random((n, p)), axis=1)[:, :k], axis=1)
