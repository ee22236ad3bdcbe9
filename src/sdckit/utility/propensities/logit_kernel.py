"""Logistic regression on a design that is never written out: sums over the few columns each row has."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.compiling import njit
from sdckit.numerics.threads import chunks, n_threads, run

ROWS = 1 << 13  # rows worth a thread of their own
WRITTEN = 1 << 20  # numbers of a design that is written out sooner than a kernel is compiled
SUMS = 50_000_000  # numbers that the threads' own sums may take together


@dataclass(frozen=True, eq=False)
class Design:
    """Which columns of the design a row has, and with which values.

    An atom is a column of codes (0 adds nothing, code c is its column c - 1) or of values (one column). A term
    is a product of atoms; its columns lie behind each other from its offset.

    `codes` are (n_code_atoms, n_rows), `values` (n_value_atoms, n_rows). `slot` (n_atoms,): row of `codes` or of
    `values` that the atom stands in. `width` (n_atoms,): columns of the atom; 0 for an atom of values (it has one).
    `terms` (n_terms, order): atoms of each term, filled up with -1; the intercept has none. `offset` (n_terms,):
    first column of each term.
    """

    codes: NDArray[np.int32]
    values: Floats
    slot: Ints
    width: Ints
    terms: Ints
    offset: Ints
    n_columns: int

    @property
    def n_rows(self) -> int:
        """Rows of the design."""
        return int(self.codes.shape[1])

    @property
    def indicators(self) -> NDArray[np.bool_]:
        """Whether each column is 0 and 1 only: no value takes part in it."""
        plain = [all(self.width[atom] > 0 for atom in atoms if atom >= 0) for atoms in self.terms.tolist()]
        return np.repeat(plain, np.diff(np.append(self.offset, self.n_columns)))

    @cached_property
    def written(self) -> Floats | None:
        """The whole design as a matrix; None unless it is small."""
        if self.n_rows * self.n_columns > WRITTEN:
            return None
        out = np.zeros((self.n_rows, self.n_columns))
        for atoms, offset in zip(self.terms.tolist(), self.offset.tolist(), strict=True):
            column, entry = np.full(self.n_rows, 0), np.ones(self.n_rows)
            for atom in (one for one in atoms if one >= 0):
                if self.width[atom] == 0:
                    entry *= self.values[self.slot[atom]]
                    continue
                code = self.codes[self.slot[atom]]
                column = column * self.width[atom] + code - 1
                entry[code == 0] = 0.0
            rows = np.flatnonzero(entry)
            out[rows, offset + column[rows]] = entry[rows]
        return out

    @property
    def arrays(self) -> tuple[Any, ...]:
        """What the kernels take."""
        return self.codes, self.values, self.slot, self.width, self.terms, self.offset


@njit(cache=True, nogil=True, inline="always")
def _fill(row, codes, values, slot, width, terms, offset, columns, entries):  # type: ignore[no-untyped-def]
    """Columns and entries of one row that are not 0; gives their number."""
    found = 0
    for t in range(terms.shape[0]):
        column, entry = 0, 1.0
        for o in range(terms.shape[1]):
            atom = terms[t, o]
            if atom < 0:
                break
            if width[atom] == 0:
                entry *= values[slot[atom], row]
                continue
            code = codes[slot[atom], row]
            if code == 0:
                entry = 0.0
                break
            column = column * width[atom] + code - 1
        if entry != 0.0:
            columns[found], entries[found] = offset[t] + column, entry
            found += 1
    return found


@njit(cache=True, nogil=True)
def _add_gram(arrays, weight, first, last, place, out):  # type: ignore[no-untyped-def]
    """Add weight x x' of some rows to the lower triangle of `out`; a column without a place is left out."""
    codes, values, slot, width, terms, offset = arrays
    columns = np.empty(terms.shape[0], np.int64)
    entries = np.empty(terms.shape[0])
    for row in range(first, last):
        if weight[row] == 0.0:
            continue
        found, all_found = 0, _fill(row, codes, values, slot, width, terms, offset, columns, entries)
        for i in range(all_found):
            columns[found], entries[found] = place[columns[i]], entries[i]
            found += columns[found] >= 0
        for i in range(found):
            scaled = weight[row] * entries[i]
            at = columns[i]
            for j in range(i + 1):  # columns ascend with the terms
                out[at, columns[j]] += scaled * entries[j]


@njit(cache=True, nogil=True)
def _add_scores(arrays, beta, total, released, first, last, score, gradient):  # type: ignore[no-untyped-def]
    """New scores of some rows; gives the log likelihood and the largest change of a score."""
    codes, values, slot, width, terms, offset = arrays
    columns = np.empty(terms.shape[0], np.int64)
    entries = np.empty(terms.shape[0])
    likelihood, change = 0.0, 0.0
    for row in range(first, last):
        if total[row] == 0.0 and released[row] == 0.0:
            continue
        found = _fill(row, codes, values, slot, width, terms, offset, columns, entries)
        eta = 0.0
        for i in range(found):
            eta += beta[columns[i]] * entries[i]
        small = np.exp(-abs(eta))  # never overflows
        new = 1.0 / (1.0 + small) if eta >= 0.0 else small / (1.0 + small)
        likelihood += released[row] * eta - total[row] * (max(eta, 0.0) + np.log1p(small))
        change = max(change, abs(new - score[row]))
        score[row] = new
        rest = released[row] - total[row] * new
        for i in range(found):
            gradient[columns[i]] += rest * entries[i]
    return likelihood, change


@njit(cache=True, nogil=True)
def _write_out(arrays, rows, out):  # type: ignore[no-untyped-def]
    codes, values, slot, width, terms, offset = arrays
    columns = np.empty(terms.shape[0], np.int64)
    entries = np.empty(terms.shape[0])
    for at, row in enumerate(rows):
        found = _fill(row, codes, values, slot, width, terms, offset, columns, entries)
        for i in range(found):
            out[at, columns[i]] = entries[i]


def written_out(design: Design, rows: Ints) -> Floats:
    """Some rows of the design, as a matrix."""
    if design.written is not None:
        return design.written[rows]
    out = np.zeros((len(rows), design.n_columns))
    _write_out(design.arrays, rows, out)
    return out


def lower_gram(design: Design, weight: Floats, kept: Ints) -> Floats:
    """Sum of weight x x' over the rows, of some columns in ascending order: its lower triangle; 0 above."""
    if design.written is not None:
        columns = design.written[:, kept]
        return np.tril(columns.T @ (columns * weight[:, None]))
    k = len(kept)
    parts = max(1, min(n_threads(), SUMS // max(1, k * k)))
    place = np.full(design.n_columns, -1, np.int64)
    place[kept] = np.arange(k)

    def part(span: tuple[int, int]) -> Floats:
        out = np.zeros((k, k))
        _add_gram(design.arrays, weight, span[0], span[1], place, out)
        return out

    sums = run(part, chunks(design.n_rows, minimum=ROWS, parts=parts))
    lower = sums[0]
    for other in sums[1:]:
        lower += other
    return lower


def sweep(
    design: Design, beta: Floats, total: Floats, released: Floats, score: Floats
) -> tuple[float, Floats, float]:
    """Scores at `beta`, written over the old ones.

    `total` and `released` (n_rows,): records, and those among them that are released; rows without any keep their
    old score. `score` (n_rows,): old scores; overwritten. Returns the log likelihood at `beta`, its gradient
    (n_columns,), and the largest difference between an old and a new score.
    """
    if design.written is not None:
        return _sweep_written(design.written, beta, total, released, score)

    def part(span: tuple[int, int]) -> tuple[float, Floats, float]:
        gradient = np.zeros(design.n_columns)
        likelihood, change = _add_scores(
            design.arrays, beta, total, released, span[0], span[1], score, gradient
        )
        return likelihood, gradient, change

    found = run(part, chunks(design.n_rows, minimum=ROWS))
    return (
        sum(one[0] for one in found),
        np.sum([one[1] for one in found], axis=0),
        max(one[2] for one in found),
    )


def _sweep_written(
    x: Floats, beta: Floats, total: Floats, released: Floats, score: Floats
) -> tuple[float, Floats, float]:
    """As `_add_scores` for all rows of a matrix."""
    used = (total != 0) | (released != 0)
    eta = x @ beta
    small = np.exp(-np.abs(eta))
    new = np.where(eta >= 0, 1.0, small) / (1.0 + small)
    likelihood = (released * eta - total * (np.maximum(eta, 0.0) + np.log1p(small)))[used].sum()
    change = np.abs(new - score)[used].max(initial=0.0)
    score[used] = new[used]
    return float(likelihood), x.T @ np.where(used, released - total * new, 0.0), float(change)


def column_sums(design: Design, weight: Floats) -> Floats:
    """Sum of weight x over the rows."""
    nothing = np.zeros(design.n_rows)
    return sweep(design, np.zeros(design.n_columns), nothing, weight, nothing.copy())[1]


def rows_with(design: Design, columns: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Rows that have a 1 in one of some columns of 0 and 1."""
    score = np.zeros(design.n_rows)
    sweep(design, columns.astype(np.float64), np.zeros(design.n_rows), np.ones(design.n_rows), score)
    return np.asarray(score > 0.5)
