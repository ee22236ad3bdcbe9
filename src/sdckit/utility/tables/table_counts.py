"""Contingency tables of several files at once: the cells that any of them has, with the counts of each."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.packing import group_codes
from sdckit.numerics.array_types import Codes, Ints
from sdckit.numerics.compiling import njit

DENSE = 1 << 16  # cells of a table that is written out in full, however few records there are


@njit(cache=True, nogil=True)
def _count_one(codes, out):  # type: ignore[no-untyped-def]
    for i in range(len(codes)):
        out[codes[i]] += 1


@njit(cache=True, nogil=True)
def _count_two(words, codes, width, out):  # type: ignore[no-untyped-def]
    for i in range(len(codes)):
        out[words[i] * width + codes[i]] += 1


@dataclass(frozen=True, eq=False)
class Crossed:
    """The cells of a table that are not empty in every file.

    `counts` (files, L): records of each file in each cell, the original first. `shape`: codes of each variable,
    missing included. `place` (L,): where the cells lie in the full table; None where that is too large to be
    numbered. `sample`: the codes of the cells, variable by variable, in that case.
    """

    counts: Ints
    shape: tuple[int, ...]
    place: Ints | None = None
    sample: tuple[Codes, ...] | None = None

    @cached_property
    def codes(self) -> tuple[NDArray[np.integer[Any]], ...]:
        """Code of each variable in each cell; 0 is a missing value."""
        if self.place is None:
            return self.sample or ()
        return tuple(np.unravel_index(self.place, self.shape))

    def complete(self) -> Crossed:
        """The cells without a missing value."""
        known = np.all([codes > 0 for codes in self.codes], axis=0)
        kept = tuple(codes[known].astype(np.int32) for codes in self.codes)
        return Crossed(self.counts[:, known], self.shape, sample=kept)


def count_levels(codes: Codes, n_codes: int) -> Ints:
    """Records with each code.

    >>> count_levels(np.array([2, 0, 2], np.int32), 4).tolist()
    [1, 0, 2, 0]
    """
    out = np.zeros(n_codes, np.int64)
    _count_one(codes, out)
    return out


def count_pairs(first: Codes, second: Codes, shape: tuple[int, int]) -> Ints:
    """Records with each pair of codes, written out in full.

    >>> count_pairs(np.array([0, 1, 1], np.int32), np.array([1, 0, 0], np.int32), (2, 2)).tolist()
    [[0, 1], [2, 0]]
    """
    out = np.zeros(shape[0] * shape[1], np.int64)
    _count_two(first, second, shape[1], out)
    return out.reshape(shape)


def _is_dense(shape: Sequence[int], n: int) -> bool:
    cells = 1
    for width in shape:
        cells *= width
    return cells <= max(DENSE, n)


def prefix_words(columns: Sequence[Sequence[Codes]], shape: Sequence[int]) -> tuple[Codes, ...] | None:
    """The first variables of several tables packed into one number per record, file by file.

    `columns`: of each variable its codes in each file. `shape`: codes of each variable. None where their table
    would have more cells than there are records.
    """
    n = sum(len(codes) for codes in columns[0])
    if not _is_dense(shape, n):
        return None
    words = tuple(columns[0])
    for column, width in zip(columns[1:], shape[1:], strict=True):
        words = tuple(word * np.int32(width) + codes for word, codes in zip(words, column, strict=True))
    return words


def cross_from(
    words: tuple[Codes, ...] | None, columns: Sequence[Sequence[Codes]], shape: Sequence[int]
) -> Crossed:
    """One table; `words` packs all its variables but the last (see `prefix_words`)."""
    n = sum(len(codes) for codes in columns[-1])
    if words is None or not _is_dense(shape, n):
        return _sparse(columns, shape)
    full = np.zeros((len(columns[-1]), int(np.prod(shape))), np.int64)
    for out, word, codes in zip(full, words, columns[-1], strict=True):
        _count_two(word, codes, shape[-1], out)
    place = np.flatnonzero(full.any(axis=0))
    return Crossed(full[:, place], tuple(shape), place)


def cross(columns: Sequence[Sequence[Codes]], shape: Sequence[int]) -> Crossed:
    """The table of one, two or more variables.

    `columns`: for each variable its codes in each file, the original first. `shape`: codes of each variable,
    missing included.

    >>> sex = [np.array([1, 1, 2], np.int32), np.array([1, 2, 2], np.int32)]
    >>> found = cross([sex, sex], [3, 3])
    >>> found.counts.tolist(), [codes.tolist() for codes in found.codes]
    ([[2, 1], [1, 2]], [[1, 2], [1, 2]])
    """
    if len(columns) > 1:
        return cross_from(prefix_words(columns[:-1], shape[:-1]), columns, shape)
    counts = np.array([count_levels(codes, shape[0]) for codes in columns[0]])
    place = np.flatnonzero(counts.any(axis=0))
    return Crossed(counts[:, place], tuple(shape), place)


def _sparse(columns: Sequence[Sequence[Codes]], shape: Sequence[int]) -> Crossed:
    """A table with more cells than records, by grouping the records; cells in the order of their codes."""
    stacked = [np.concatenate(list(column)) for column in columns]
    ends = np.cumsum([0, *(len(codes) for codes in columns[0])])
    groups = group_codes(stacked, int(ends[-1]))
    n_cells = len(groups.size)
    row = np.empty(n_cells, np.int64)
    row[groups.of_row] = np.arange(int(ends[-1]))
    codes = [column[row] for column in stacked]
    order = np.lexsort(codes[::-1])
    counts = [np.bincount(groups.of_row[a:b], minlength=n_cells) for a, b in itertools.pairwise(ends)]
    return Crossed(np.array(counts)[:, order], tuple(shape), sample=tuple(one[order] for one in codes))
