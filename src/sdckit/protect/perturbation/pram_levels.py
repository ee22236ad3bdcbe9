"""The levels of a column that is to be randomised: who has which, and moving from one to another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdckit.data.columns import code_column
from sdckit.data.level_order import categories_of, places_in_order
from sdckit.errors import DataError
from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.compiling import FEW, njit, sparing
from sdckit.numerics.threads import chunks, run
from sdckit.protect.draws import PIECE

MOST_LEVELS = 2000  # a matrix of so many rows and columns is 32 MB
MOVE = 12  # steps of a record that is moved, about
WIDE = 1 << 16  # codes that span more are numbered anew first
TAKEN = (np.dtype(np.int64), np.dtype(np.uint32))  # types of codes that the kernels take as they are
EVERY = np.empty(0, np.int64)  # the rows of a stratum that is the whole file


class _Column(NamedTuple):
    """As of `Levels`, for the kernels."""

    codes: Ints | NDArray[np.uint32]
    low: int
    level: Ints
    first: Ints


@njit(cache=True, nogil=True)
def _count(codes, low, rows, start, stop, first, count):  # type: ignore[no-untyped-def]
    """Records of each code among some rows, and the first of them."""
    for t in range(start, stop):
        i = rows[t] if len(rows) else t
        here = codes[i] - low
        if count[here] == 0:
            first[here] = i
        count[here] += 1


@njit(cache=True, nogil=True)
def _move(column, rows, start, stop, chance, stay, other, source):  # type: ignore[no-untyped-def]
    """Which row lends each record its level, by a chance each; how many records change theirs."""
    codes, low, level, first = column
    moved, last = 0, len(stay) - 1
    for t in range(start, stop):
        i = rows[t] if len(rows) else t
        here = level[codes[i] - low]
        source[i] = i
        if here < 0 or chance[t - start] < stay[here]:
            continue
        mark = (chance[t - start] - stay[here]) / (1.0 - stay[here])
        least, most = 0, last
        while least < most:  # the first level whose running total is above the mark
            middle = (least + most) // 2
            if other[here, middle] > mark:
                most = middle
            else:
                least = middle + 1
        source[i] = first[least]
        moved += 1
    return moved


@dataclass(frozen=True, eq=False)
class Levels:
    """One column as levels in a canonical order: numbers ascending, categories as declared, else by their text."""

    # shape (n,); where they begin says `low`: whole numbers are taken as they are
    codes: Ints | NDArray[np.uint32]
    low: int
    # shape (span + 1,); level of each code, -1 of a missing value (the last code) and of codes nobody has
    level: Ints
    labels: list[str]  # the levels, printed
    numeric: bool  # whether they are numbers
    first: Ints  # shape (L,); a row that has each level
    count: Ints  # shape (L,); records of each

    @property
    def of_record(self) -> Ints:
        """Level of each record, -1 where missing."""
        return self.level[self.codes.astype(np.int64, copy=False) - self.low]

    def counts(self, rows: Ints) -> Ints:
        """Records of each level in a stratum."""
        if len(rows) == 0:
            return self.count
        by_code, first = np.zeros(len(self.level), np.int64), np.empty(len(self.level), np.int64)
        sparing(_count, 4 * len(rows))(self.codes, self.low, rows, 0, len(rows), first, by_code)
        there = self.level >= 0
        count = np.zeros(len(self.labels), np.int64)
        count[self.level[there]] = by_code[there]
        return count

    def move(self, rows: Ints, matrix: Floats, source: Ints, rng: np.random.Generator) -> int:
        """Draw a new level for each record of a stratum; `source` takes the rows that lend theirs.

        Returns how many records change.
        """
        n = len(rows) or len(self.codes)
        others = matrix.copy()
        np.fill_diagonal(others, 0.0)
        away = others.sum(axis=1)
        stay = np.where(away > 0, np.diagonal(matrix), 1.0)
        running = np.cumsum(others, axis=1) / np.where(away > 0, away, 1.0)[:, None]
        last = running.shape[1] - 1 - np.argmax(others[:, ::-1] > 0, axis=1)
        running[np.arange(len(last)), last] = 2.0  # whatever rounding did to the total

        def moved(part: tuple[int, int]) -> int:
            """The pieces of a thread: their chances never leave the cache."""
            chance, total = np.empty(PIECE), 0
            for piece in range(*part):
                first, end = piece * PIECE, min((piece + 1) * PIECE, n)
                own[piece].random(out=chance[: end - first])
                total += lend(column, rows, first, end, chance, stay, running, source)
            return total

        lend = sparing(_move, MOVE * n)
        column, own = _Column(self.codes, self.low, self.level, self.first), rng.spawn(-(-n // PIECE))
        return sum(run(moved, chunks(len(own), minimum=1)))


def read_levels(frame: Any, name: str) -> Levels:
    """Read a column of any type.

    Raises `DataError`: one level, none, or more than 2,000.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> found = read_levels(open_frame(pl.DataFrame({"job": ["smith", None, "clerk"]})), "job")
    >>> found.labels, found.of_record.tolist(), found.count.tolist()
    (['clerk', 'smith'], [1, -1, 0], [1, 1])
    """
    coded = code_column(frame[name])
    span = coded.span
    plain = coded.values.dtype in TAKEN and len(coded.valid) == 0 and span <= WIDE
    codes, low = (coded.values, coded.low) if plain else (coded.codes(), 0)
    if span > WIDE:
        seen = np.unique(codes[codes < span])
        _check_number(name, len(seen))
        codes = np.where(codes < span, np.searchsorted(seen, codes), len(seen))
        span = len(seen)
    by_code, first = _counted(codes, low, span + 1)
    seen = np.flatnonzero(by_code[:span])
    _check_number(name, len(seen))
    one_each = code_column(frame[name][first[seen].tolist()])  # printing levels needs a record of each only
    labels = one_each.labels(one_each.codes())
    numeric = coded.kind in {"integer", "number"}
    if numeric:
        order = sorted(range(len(seen)), key=lambda at: float(labels[at]))
    else:
        order = places_in_order(labels, categories_of(coded))
    level = np.full(span + 1, -1, np.int64)
    level[seen[order]] = np.arange(len(seen))
    texts, first, count = [labels[at] for at in order], first[seen[order]], by_code[seen[order]]
    return Levels(codes, low, level, texts, numeric, first, count)


def _counted(codes: Ints | NDArray[np.uint32], low: int, n_codes: int) -> tuple[Ints, Ints]:
    """Records of each code, and the first of them."""
    if len(codes) <= FEW:
        here, first = codes.astype(np.int64, copy=False) - low, np.zeros(n_codes, np.int64)
        first[here[::-1]] = np.arange(len(here))[::-1]  # the last one written is the first
        return np.bincount(here, minlength=n_codes), first
    parts = chunks(len(codes))
    count, first = np.zeros((len(parts), n_codes), np.int64), np.zeros((len(parts), n_codes), np.int64)
    run(lambda at: _count(codes, low, EVERY, *parts[at], first[at], count[at]), range(len(parts)))
    earliest = np.argmax(count > 0, axis=0)
    return count.sum(axis=0), first[earliest, np.arange(n_codes)]


def _check_number(name: str, n_levels: int) -> None:
    if not 2 <= n_levels <= MOST_LEVELS:
        what = "has no value" if n_levels == 0 else f"has {n_levels:,} level{'s' * (n_levels > 1)}"
        todo = "recode it to fewer" if n_levels > 1 else "there is nothing to change it to; leave it out"
        raise DataError(f"column {name!r} {what}; {todo}")
