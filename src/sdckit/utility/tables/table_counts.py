"""Contingency tables of several files at once: the cells that are occupied in any file, with the counts of each."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sdckit.cells import packing, shared_coding
from sdckit.cells.plans.pair_tables import PairTables
from sdckit.data.frames import built
from sdckit.numerics.array_types import AnyInts, Codes, Floats, Ints
from sdckit.numerics.compiling import njit
from sdckit.numerics.grouping import places_among

# Distances between two files in one contingency table (Raab, Nowok & Dibben 2021).


STATISTICS = (
    "n_cells", "df", "df_g", "vw", "ft", "g", "jsd", "specks", "mabsdd", "wmabsdd", "dbhatt", "pmse", "po50",
    "u", "auc", "s_vw", "s_ft", "s_g", "s_jsd", "s_wmabsdd", "s_pmse",
)  # fmt: skip


def differences(original: Ints, released: Ints) -> Floats:
    """(Observed - expected) / sqrt(expected) released count of each cell: normal under correct synthesis.

    >>> differences(np.array([50, 50]), np.array([20, 30])).round(3).tolist()
    [-1.035, 0.968]
    """
    n, n_s = int(original.sum()), int(released.sum())
    total = original + released
    expected = n_s / (n + n_s) * total
    out: Floats = np.divide(released - n_s / n * original, np.sqrt(expected), out=np.zeros(len(total)), where=total > 0)
    return out


def table_statistics(original: Ints, released: Ints) -> dict[str, float]:
    """All statistics of one table.

    `original` and `released` (L,): records of each file in each cell; cells empty in both are left out. Returns
    `STATISTICS`; standardised ones are NaN where there are no degrees of freedom, all but the first are where a
    file has no record.

    >>> found = table_statistics(np.array([50, 50]), np.array([40, 60]))
    >>> found["df"], round(found["specks"], 4), round(found["vw"], 4), round(found["s_jsd"], 4)
    (1.0, 0.1, 4.0404, 4.0475)
    """
    used = original + released > 0
    o, s = original[used], released[used]
    n, n_s = int(o.sum()), int(s.sum())
    if not n or not n_s:
        return {**dict.fromkeys(STATISTICS, math.nan), "n_cells": float(len(o))}
    df, in_both = len(o) - 1, (o > 0) & (s > 0)
    df_g = int(in_both.sum()) - 1
    p_o, p_s = o / n, s / n_s
    c = n_s / (n + n_s)
    z = differences(o, s)
    distance = min(2.0, float(np.abs(p_s - p_o).sum()))
    roots = min(2.0, float(((np.sqrt(p_s) - np.sqrt(p_o)) ** 2).sum()))
    statistics = {
        "n_cells": float(len(o)),
        "df": float(df),
        "df_g": float(df_g) if df_g >= 0 else math.nan,
        "vw": float(z @ z),
        "ft": 4 * n_s * roots,
        "g": _likelihood_ratio(o[in_both], s[in_both]),
        "jsd": _jensen_shannon(p_o, p_s),
        "specks": distance / 2,
        "mabsdd": distance,
        "wmabsdd": float(np.abs(z).sum()) / math.sqrt(2 / math.pi),
        "dbhatt": math.sqrt(roots / 2),
        "po50": _more_likely(o, s) / (n + n_s) - 0.5,
        "u": _larger_scores(o, s),
    }
    statistics["pmse"] = statistics["vw"] * c * (1 - c) ** 2 / (n + n_s)
    statistics["auc"] = statistics["u"] / (n * n_s)
    for name in ("vw", "ft", "wmabsdd"):
        statistics[f"s_{name}"] = _per_degree(statistics[name], df)
    statistics["s_g"] = _per_degree(statistics["g"], df_g)
    statistics["s_jsd"] = _per_degree(8 * n_s * math.log(2) * statistics["jsd"], df)
    statistics["s_pmse"] = _per_degree(statistics["pmse"] * (n + n_s) / (c * (1 - c) ** 2), df)
    return {name: statistics[name] for name in STATISTICS}


def _per_degree(value: float, df: int) -> float:
    return value / df if df > 0 else math.nan


def _jensen_shannon(p_o: Floats, p_s: Floats) -> float:
    """Jensen-Shannon divergence in bits, by the relative difference x so that nearly equal files do not cancel."""
    total = p_o + p_s
    x = np.abs(p_o - p_s) / total
    inner = x < 1
    y = x[inner]
    parts = np.full(len(x), 2 * math.log(2))  # the value of a cell that one file lacks
    parts[inner] = 2 * y * np.arctanh(y) + np.log1p(-(y**2))
    return min(1.0, float(total @ parts) / (4 * math.log(2)))


def _likelihood_ratio(o: Ints, s: Ints) -> float:
    """Likelihood ratio statistic over the cells that both files have."""
    if not len(o):
        return math.nan
    p_o, p_s = o / o.sum(), s / s.sum()
    x = (p_o - p_s) / p_s  # both sum to 1, so x may be added: each term is then positive
    return 2 * float(s @ (x - np.log1p(x)))


def _more_likely(o: Ints, s: Ints) -> int:
    """Number of records in cells where their own file has the larger share (the original in ties)."""
    return int(np.where(s * int(o.sum()) > o * int(s.sum()), s, o).sum())


def sums_by_score(score: Floats, original: Any, released: Any) -> tuple[Floats, Any, Any]:
    """The different scores, ascending, and the records of either file that have each."""
    order = np.argsort(score)
    ordered = score[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return ordered[first], np.add.reduceat(original[order], first), np.add.reduceat(released[order], first)


def _larger_scores(o: Ints, s: Ints) -> float:
    """Mann-Whitney U: pairs of a released and an original record, the former's cell with more released; ties half."""
    score = s / (s + o)  # equal ratios of whole numbers are equal as floats
    _, of_original, of_released = sums_by_score(score, o, s)
    before = np.cumsum(of_original) - of_original
    return float((of_released * before).sum()) + float((of_released * of_original).sum()) / 2


DENSE = 1 << 16  # cells of a table that is counted densely, however few the records


@njit(cache=True, nogil=True)
def _count_one(codes, out):  # type: ignore[no-untyped-def]
    """Add 1 to `out` at the code of each record."""
    for i in range(len(codes)):
        out[codes[i]] += 1


@njit(cache=True, nogil=True)
def _count_two(words, codes, width, out):  # type: ignore[no-untyped-def]
    """Add 1 to `out` at the cell word * `width` + code of each record."""
    for i in range(len(codes)):
        out[words[i] * width + codes[i]] += 1


@dataclass(frozen=True, eq=False)
class Crossed:
    """The cells of a contingency table that are occupied in any file.

    `counts` (files, L): records of each file in each cell, the original first. `shape`: codes of each variable,
    missing included. `place` (L,): where the cells lie in the full table; None where that is too large to be
    numbered. `sample`: the codes of the cells, variable by variable, in that case.
    """

    counts: Ints
    shape: tuple[int, ...]
    place: Ints | None = None
    sample: tuple[AnyInts, ...] | None = None

    @cached_property
    def codes(self) -> tuple[AnyInts, ...]:
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
    """Number of records with each code.

    >>> count_levels(np.array([2, 0, 2], np.int32), 4).tolist()
    [1, 0, 2, 0]
    """
    out = np.zeros(n_codes, np.int64)
    _count_one(codes, out)
    return out


def count_pairs(first: Codes, second: Codes, shape: tuple[int, int]) -> Ints:
    """Number of records with each pair of codes, as a dense table.

    >>> count_pairs(np.array([0, 1, 1], np.int32), np.array([1, 0, 0], np.int32), (2, 2)).tolist()
    [[0, 1], [2, 0]]
    """
    out = np.zeros(shape[0] * shape[1], np.int64)
    _count_two(first, second, shape[1], out)
    return out.reshape(shape)


def _is_dense(shape: Sequence[int], n: int) -> bool:
    return math.prod(shape) <= max(DENSE, n)


def prefix_words(columns: Sequence[Sequence[Codes]], shape: Sequence[int]) -> tuple[Codes, ...] | None:
    """The first variables of several tables packed into one number per record, file by file.

    `columns`: of each variable its codes in each file. `shape`: codes of each variable. None where their table
    would have more cells than there are records.
    """
    if not _is_dense(shape, sum(len(codes) for codes in columns[0])):
        return None
    words = tuple(columns[0])
    for column, width in zip(columns[1:], shape[1:], strict=True):
        words = tuple(word * np.int32(width) + codes for word, codes in zip(words, column, strict=True))
    return words


def cross_from(words: tuple[Codes, ...] | None, columns: Sequence[Sequence[Codes]], shape: Sequence[int]) -> Crossed:
    """One table; `words` packs all its variables but the last (see `prefix_words`)."""
    if words is None or not _is_dense(shape, sum(len(codes) for codes in columns[-1])):
        return _sparse(columns, shape)
    full = np.zeros((len(columns[-1]), int(np.prod(shape))), np.int64)
    for out, word, codes in zip(full, words, columns[-1], strict=True):
        _count_two(word, codes, shape[-1], out)
    place = np.flatnonzero(full.any(axis=0))
    return Crossed(full[:, place], tuple(shape), place)


def cross(columns: Sequence[Sequence[Codes]], shape: Sequence[int], sizes: Sequence[Ints] | None = None) -> Crossed:
    """Contingency table of one, two or more variables.

    `columns`: for each variable its codes in each file, the original first. `shape`: codes of each variable,
    missing included. `sizes`: records of each row, in each file, where rows are not records.

    >>> sex = [np.array([1, 1, 2], np.int32), np.array([1, 2, 2], np.int32)]
    >>> found = cross([sex, sex], [3, 3])
    >>> found.counts.tolist(), [codes.tolist() for codes in found.codes]
    ([[2, 1], [1, 2]], [[1, 2], [1, 2]])
    """
    if sizes is not None:
        return _sparse(columns, shape, sizes)
    if len(columns) > 1:
        return cross_from(prefix_words(columns[:-1], shape[:-1]), columns, shape)
    counts = np.array([count_levels(codes, shape[0]) for codes in columns[0]])
    place = np.flatnonzero(counts.any(axis=0))
    return Crossed(counts[:, place], tuple(shape), place)


def cross_codings(sets: Sequence[Sequence[shared_coding.SharedCoding]], tables: PairTables | None) -> list[Crossed]:
    """The contingency tables of several sets of variables; of plans (`tables`) all are counted at once."""
    shapes = [[coding.n_levels + 1 for coding in codings] for codings in sets]
    if tables is None:
        columns = [[coding.codes for coding in codings] for codings in sets]
        return [cross(of_set, shape) for of_set, shape in zip(columns, shapes, strict=True)]
    counted = built(lambda: tables.count(sets))
    return [cross(of_set.columns, shape, of_set.sizes) for of_set, shape in zip(counted, shapes, strict=True)]


def in_groups(crossed: Crossed, groups: Crossed) -> Crossed:
    """A table whose first variables are those of another one: the row there, from 1, in place of their codes."""
    k, n = len(groups.codes), groups.counts.shape[1]
    stacked = [np.concatenate([group, codes]) for group, codes in zip(groups.codes, crossed.codes, strict=False)]
    number = packing.group_codes(stacked, len(stacked[0])).of_row
    row = places_among(number[:n], int(number.max()) + 1).astype(np.int32) + np.int32(1)
    return Crossed(crossed.counts, (n + 1, *crossed.shape[k:]), sample=(row[number[n:]], *crossed.codes[k:]))


def _sparse(columns: Sequence[Sequence[Codes]], shape: Sequence[int], sizes: Sequence[Ints] | None = None) -> Crossed:
    """Table with more cells than records, by grouping the records; cells sorted by their codes."""
    stacked = [np.concatenate(list(column)) for column in columns]
    ends = np.cumsum([0, *(len(codes) for codes in columns[0])])
    groups = packing.group_codes(stacked, int(ends[-1]))
    n_cells = len(groups.size)
    row = places_among(groups.of_row, n_cells)
    codes = [column[row] for column in stacked]
    order = np.lexsort(codes[::-1])
    of_files = [None] * (len(ends) - 1) if sizes is None else sizes
    parts = zip(itertools.pairwise(ends), of_files, strict=True)
    counts = [np.bincount(groups.of_row[a:b], size, n_cells) for (a, b), size in parts]
    return Crossed(np.array(counts, np.int64)[:, order], tuple(shape), sample=tuple(code[order] for code in codes))
