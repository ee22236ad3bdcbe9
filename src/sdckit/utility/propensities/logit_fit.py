"""Logistic regression of membership, fitted until the scores converge, whatever the rank of the design."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sdckit.numerics.array_types import Bools, Codes, Floats, Ints
from sdckit.numerics.compiling import is_few, njit
from sdckit.numerics.threads import chunks, n_threads, run

# Linearly independent columns of a design, and Newton steps by its curvature.


BLOCK = 64  # columns that are factored one by one
FLAT = 1e-11  # share of a column's curvature left after the others, below which it is 0


def independent_columns(matrix: Floats, tolerance: float) -> tuple[Ints, Floats]:
    """Columns of a matrix of cross products that are no linear combination of earlier ones.

    The matrix is (k, k); only its lower triangle is read. `tolerance`: share of a diagonal element that is left when
    those before are taken out, below which it is nothing. Returns the columns (r,) and a root (r, r): lower triangular,
    with root @ root.T equal to the kept part of the matrix scaled to a diagonal of 1.

    >>> x = np.array([[1.0, 0, 1], [1, 1, 2], [1, 0, 1]])
    >>> independent_columns(x.T @ x, 1e-10)[0].tolist()
    [0, 1]
    """
    diagonal = np.diag(matrix)
    some = np.flatnonzero(diagonal > 0)
    scale, k = np.sqrt(diagonal[some]), len(some)
    root, kept = np.zeros((k, k)), np.zeros(k, np.int64)
    r = 0
    for first in range(0, k, BLOCK):
        last = min(first + BLOCK, k)
        # Schur complement: cross products of these and all following columns after the columns kept so far
        left = matrix[np.ix_(some[first:], some[first:last])]
        left /= scale[first:last]
        left /= scale[first:, None]
        left -= root[first:, :r] @ root[first:last, :r].T
        of_block, own = _root_of_block(left[: last - first], tolerance)
        root[first:last, r : r + len(own)] = of_block
        if len(own) and last < k:
            root[last:, r : r + len(own)] = _times_inverse(left[last - first :, own], of_block[own])
        kept[r : r + len(own)] = first + own
        r += len(own)
    return some[kept[:r]], root[kept[:r], :r]


def _root_of_block(products: Floats, tolerance: float) -> tuple[Floats, Ints]:
    """Cholesky root of a block, dependent columns skipped: its rows for all columns, and the independent columns."""
    left, own, roots = products.copy(), [], []
    for j in range(len(left)):
        if left[j, j] > tolerance:
            column = np.zeros(len(left))
            column[j:] = left[j:, j] / math.sqrt(left[j, j])
            left[j:, j:] -= np.outer(column[j:], column[j:])
            own.append(j)
            roots.append(column)
    return np.array(roots).reshape(len(own), len(left)).T, np.array(own, np.int64)


def _times_inverse(products: Floats, root: Floats) -> Floats:
    from scipy.linalg.blas import dtrsm

    return np.asarray(dtrsm(1.0, root, products.T, lower=1).T)


class Curvature:
    """A factored matrix of second derivatives, without columns in which there is no curvature.

    `root` (r, r): its upper triangle, transposed, times itself is the matrix scaled to a diagonal of 1. `scale` (r,):
    roots of the diagonal. `at` (r,): columns, among `n_columns`, that are not left out.
    """

    def __init__(self, root: Floats, scale: Floats, at: Ints, n_columns: int) -> None:
        self._root, self._scale, self.at, self._n_columns = root, scale, at, n_columns

    @classmethod
    def of(cls, matrix: Floats, kept: Ints, n_columns: int) -> Curvature:
        """Factor a matrix (r, r) of the columns `kept` (r,).

        Only its lower triangle is read, and it is written over.
        """
        from scipy.linalg.lapack import dpstrf

        diagonal = np.diag(matrix)
        some = np.flatnonzero(diagonal > 0)
        scale = np.sqrt(diagonal[some])
        if len(some) < len(matrix):
            matrix = matrix[np.ix_(some, some)]
        matrix /= scale
        matrix /= scale[:, None]
        root, place, rank, _ = (  # LAPACK is column-major
            dpstrf(matrix.T, lower=0, tol=FLAT, overwrite_a=1) if len(some) else (matrix, np.ones(0), 0, 0)
        )
        chosen = np.asarray(place[:rank], np.int64) - 1
        return cls(root[:rank, :rank], scale[chosen], kept[some[chosen]], n_columns)

    def solve(self, gradient: Floats) -> Floats:
        """The Newton step of a gradient; 0 where there is no curvature."""
        from scipy.linalg import cho_solve

        step = np.zeros(self._n_columns)
        if len(self.at):
            inner = cho_solve((self._root, False), gradient[self.at] / self._scale, check_finite=False)
            step[self.at] = inner / self._scale
        return step

    def inverse(self) -> Floats:
        """Inverse of the part with curvature, in the order of `at`."""
        from scipy.linalg.lapack import dpotri

        if not len(self.at):
            return np.empty((0, 0))
        inner: Floats = dpotri(self._root, lower=0)[0].T
        inner /= self._scale
        inner /= self._scale[:, None]
        _mirror(inner)
        return inner


def _mirror(lower: Floats) -> None:
    """Copy the lower triangle of a matrix to its upper one, in place."""
    for first in range(0, len(lower), BLOCK):
        last = first + BLOCK
        lower[:first, first:last] = lower[first:last, :first].T
        within = lower[first:last, first:last]
        within[:] = np.tril(within) + np.tril(within, -1).T


# Logistic regression on a sparse design that is never stored: sums over the few entries of each row.


ROWS = 1 << 13  # fewest rows of a thread
FEW_TERMS, MANY_LEVELS = 64, 8  # terms, and columns of each, of designs that a first job needs no kernels for
WRITTEN = 1 << 13  # entries of a design that is stored densely, which is faster than compiling a kernel
SUMS = 50_000_000  # entries of the partial sums of all threads together


@dataclass(frozen=True, eq=False)
class Design:
    """A sparse design: for each row its nonzero columns and their values.

    An atom is a column of codes (0 adds nothing, code c is its column c - 1) or of values (one column). A term
    is a product of atoms; its columns lie behind each other from its offset.

    `codes` are (n_code_atoms, n_rows), `values` (n_value_atoms, n_rows). `slot` (n_atoms,): row of `codes` or of
    `values` that the atom stands in. `width` (n_atoms,): columns of the atom; 0 for an atom of values (it has one).
    `terms` (n_terms, order): atoms of each term, filled up with -1; the intercept has none. `offset` (n_terms,):
    first column of each term.
    """

    codes: Codes
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
    def indicators(self) -> Bools:
        """Whether each column is an indicator (0 and 1 only): no atom of values is in its term."""
        plain = [all(self.width[atom] > 0 for atom in atoms if atom >= 0) for atoms in self.terms.tolist()]
        return np.repeat(plain, np.diff(np.append(self.offset, self.n_columns)))

    @cached_property
    def written(self) -> Floats | None:
        """The design as a dense matrix; None unless it is small."""
        if self.n_rows * self.n_columns > WRITTEN:
            return None
        out = np.zeros((self.n_rows, self.n_columns))
        np.add.at(out, (np.arange(self.n_rows), self.by_term[0]), self.by_term[1])
        return out

    @cached_property
    def by_term(self) -> tuple[Ints, Floats]:
        """Column and value of the entry of each term in each row, (n_terms, n_rows); 0 and 0.0 where it has none."""
        columns, entries = np.zeros((len(self.terms), self.n_rows), np.int64), np.ones((len(self.terms), self.n_rows))
        for t, atoms in enumerate(self.terms.tolist()):
            column, entry = columns[t], entries[t]
            for atom in (number for number in atoms if number >= 0):
                if self.width[atom] == 0:
                    entry *= self.values[self.slot[atom]]
                    continue
                code = self.codes[self.slot[atom]]
                column *= self.width[atom]
                column += code - 1
                entry[code == 0] = 0.0
        columns += self.offset[:, None]
        columns[entries == 0] = 0
        return columns, entries

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The arrays that the kernels take."""
        return self.codes, self.values, self.slot, self.width, self.terms, self.offset


@njit(cache=True, nogil=True, inline="always")
def _fill(row, codes, values, slot, width, terms, offset, columns, entries):  # type: ignore[no-untyped-def]
    """Write the columns and values of the nonzero entries of one row; return their number."""
    n_entries = 0
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
            columns[n_entries], entries[n_entries] = offset[t] + column, entry
            n_entries += 1
    return n_entries


@njit(cache=True, nogil=True)
def _add_gram(arrays, weight, first, last, place, out):  # type: ignore[no-untyped-def]
    """Add weight x x' of rows `first` to `last` - 1 to the lower triangle of `out`; `place` -1: column left out."""
    codes, values, slot, width, terms, offset = arrays
    columns = np.empty(terms.shape[0], np.int64)
    entries = np.empty(terms.shape[0])
    for row in range(first, last):
        if weight[row] == 0.0:
            continue
        n_kept, n_entries = 0, _fill(row, codes, values, slot, width, terms, offset, columns, entries)
        for i in range(n_entries):
            columns[n_kept], entries[n_kept] = place[columns[i]], entries[i]
            n_kept += columns[n_kept] >= 0
        for i in range(n_kept):
            scaled = weight[row] * entries[i]
            at = columns[i]
            for j in range(i + 1):  # columns ascend with the terms
                out[at, columns[j]] += scaled * entries[j]


@njit(cache=True, nogil=True)
def _add_scores(arrays, beta, total, released, first, last, score, gradient):  # type: ignore[no-untyped-def]
    """Update `score` at `beta` and add to `gradient`; return log likelihood and largest change of a score."""
    codes, values, slot, width, terms, offset = arrays
    columns = np.empty(terms.shape[0], np.int64)
    entries = np.empty(terms.shape[0])
    likelihood, change = 0.0, 0.0
    for row in range(first, last):
        if total[row] == 0.0 and released[row] == 0.0:
            continue
        n_entries = _fill(row, codes, values, slot, width, terms, offset, columns, entries)
        eta = 0.0
        for i in range(n_entries):
            eta += beta[columns[i]] * entries[i]
        small = np.exp(-abs(eta))  # never overflows
        new = 1.0 / (1.0 + small) if eta >= 0.0 else small / (1.0 + small)
        likelihood += released[row] * eta - total[row] * (max(eta, 0.0) + np.log1p(small))
        change = max(change, abs(new - score[row]))
        score[row] = new
        rest = released[row] - total[row] * new
        for i in range(n_entries):
            gradient[columns[i]] += rest * entries[i]
    return likelihood, change


@njit(cache=True, nogil=True)
def _write_out(arrays, rows, out):  # type: ignore[no-untyped-def]
    """Write some rows of the design to the dense matrix `out` (len(rows), n_columns)."""
    codes, values, slot, width, terms, offset = arrays
    columns = np.empty(terms.shape[0], np.int64)
    entries = np.empty(terms.shape[0])
    for at, row in enumerate(rows):
        n_entries = _fill(row, codes, values, slot, width, terms, offset, columns, entries)
        for i in range(n_entries):
            out[at, columns[i]] = entries[i]


def written_out(design: Design, rows: Ints) -> Floats:
    """Some rows of the design, as a dense matrix."""
    if design.written is not None:
        return design.written[rows]
    out = np.zeros((len(rows), design.n_columns))
    _write_out(design.arrays, rows, out)
    return out


def lower_gram(design: Design, weight: Floats, kept: Ints) -> Floats:
    """Sum of weight x x' over the rows, for some columns in ascending order: lower triangle, 0 above."""
    if design.written is not None:
        columns = design.written[:, kept]
        return np.tril(columns.T @ (columns * weight[:, None]))
    k = len(kept)
    place = np.full(design.n_columns, -1, np.int64)
    place[kept] = np.arange(k)
    if _is_few(design, _add_gram):
        return _gram_by_terms(design, weight, place, k)
    parts = max(1, min(n_threads(), SUMS // max(1, k * k)))

    def part(span: tuple[int, int]) -> Floats:
        out = np.zeros((k, k))
        _add_gram(design.arrays, weight, span[0], span[1], place, out)
        return out

    sums = run(part, chunks(design.n_rows, minimum=ROWS, parts=parts))
    lower = sums[0]
    for other in sums[1:]:
        lower += other
    return lower


def sweep(design: Design, beta: Floats, total: Floats, released: Floats, score: Floats) -> tuple[float, Floats, float]:
    """Scores at `beta`, written over the old ones.

    `total` and `released` (n_rows,): records, and those among them that are released; rows without any keep their
    old score. `score` (n_rows,): old scores; overwritten. Returns the log likelihood at `beta`, its gradient
    (n_columns,), and the largest difference between an old and a new score.
    """
    if design.written is not None:
        return _sweep_written(design.written, beta, total, released, score)
    if _is_few(design, _add_scores):
        return _sweep_by_terms(design, beta, total, released, score)

    def part(span: tuple[int, int]) -> tuple[float, Floats, float]:
        gradient = np.zeros(design.n_columns)
        likelihood, change = _add_scores(design.arrays, beta, total, released, span[0], span[1], score, gradient)
        return likelihood, gradient, change

    sums = run(part, chunks(design.n_rows, minimum=ROWS))
    return (
        sum(chunk[0] for chunk in sums),
        np.sum([chunk[1] for chunk in sums], axis=0),
        max(chunk[2] for chunk in sums),
    )


def _sweep_written(
    x: Floats, beta: Floats, total: Floats, released: Floats, score: Floats
) -> tuple[float, Floats, float]:
    """As `_add_scores`, for all rows of a dense matrix."""
    used = (total != 0) | (released != 0)
    eta = x @ beta
    small = np.exp(-np.abs(eta))
    new = np.where(eta >= 0, 1.0, small) / (1.0 + small)
    likelihood = (released * eta - total * (np.maximum(eta, 0.0) + np.log1p(small)))[used].sum()
    change = np.abs(new - score)[used].max(initial=0.0)
    score[used] = new[used]
    return float(likelihood), x.T @ np.where(used, released - total * new, 0.0), float(change)


# Designs of few rows in the first job of a process, for which nothing is compiled: to the last bit as the kernels. Each
# column is of one term, so that its sums are added in the order of the rows here, too.


def _is_few(design: Design, kernel: Any) -> bool:
    # Of so few rows the kernels make one sum, on one thread.
    return max(len(design.terms), design.n_columns // MANY_LEVELS) <= FEW_TERMS and is_few(kernel, design.n_rows + 1)


def _gram_by_terms(design: Design, weight: Floats, place: Ints, k: int) -> Floats:
    """As `_add_gram`, for all rows."""
    columns, entries = design.by_term
    at, out = np.maximum(place[columns], 0), np.zeros(k * k)
    kept = np.where(place[columns] >= 0, entries, 0.0)
    for t, scaled in enumerate(weight * kept):
        out += np.bincount((at[t] * k + at[: t + 1]).ravel(), (scaled * kept[: t + 1]).ravel(), minlength=k * k)
    return out.reshape(k, k)


def _sweep_by_terms(
    design: Design, beta: Floats, total: Floats, released: Floats, score: Floats
) -> tuple[float, Floats, float]:
    """As `_add_scores`, for all rows; exponentials and logarithms are the C library's, as NumPy's may differ."""
    columns, entries = design.by_term
    used = (total != 0) | (released != 0)
    eta = np.zeros(design.n_rows)
    for of_term in beta[columns] * entries:
        eta += of_term
    small = np.array([math.exp(-away) for away in np.abs(eta).tolist()])
    grown = np.maximum(eta, 0.0) + np.array([math.log1p(share) for share in small.tolist()])
    new = np.where(eta >= 0, 1.0, small) / (1.0 + small)
    likelihood = np.cumsum(np.append(0.0, (released * eta - total * grown)[used]))[-1]  # one by one, as in the kernel
    change = np.abs(new - score)[used].max(initial=0.0)
    score[used] = new[used]
    rest = np.where(used, released - total * new, 0.0)
    gradient = np.bincount(columns.ravel(), (rest * entries).ravel(), minlength=design.n_columns)
    return float(likelihood), np.asarray(gradient, np.float64), float(change)


def column_sums(design: Design, weight: Floats) -> Floats:
    """Sum of weight x over the rows."""
    nothing = np.zeros(design.n_rows)
    return sweep(design, np.zeros(design.n_columns), nothing, weight, nothing.copy())[1]


def rows_with(design: Design, columns: Bools) -> Bools:
    """Rows with a 1 in any of some indicator columns."""
    score = np.zeros(design.n_rows)
    sweep(design, columns.astype(np.float64), np.zeros(design.n_rows), np.ones(design.n_rows), score)
    return np.asarray(score > 0.5)


# Separation: records whose membership a linear combination of columns determines.


LIKELY = 0.3  # only rows with a score this near to their membership are tested for separation
MOST = 4_000  # most such rows, and most directions that move no other row
NOTHING = 1e-9  # products that are numerically 0
LEFT = 1e-6  # largest move of another row by the direction found, relative to the rows it separates


def separated_rows(
    design: Design, total: Floats, released: Floats, score: Floats, kept: Ints, tolerance: float
) -> Bools:
    """Rows that some direction separates while it moves no other row (Konis 2007).

    `score` (n_rows,): of a model that is not fitted to the end, but near it. `kept`: columns that are no combination
    of earlier ones; `tolerance`: as in `independent_columns`. Of the rows that are nearly sure already a linear
    programme finds those that can be made as sure as one likes, none of them in the wrong direction.
    """
    outcome = np.divide(released, total, out=np.full(len(total), 0.5), where=total > 0)
    likely = (np.abs(outcome - score) < LIKELY) & ((outcome == 0) | (outcome == 1))
    rows, none = np.flatnonzero(likely), np.zeros(len(total), np.bool_)
    if not 0 < len(rows) <= MOST:
        return none
    ahead, directions = _directions(design, np.where(likely, 0.0, total), rows, kept, tolerance)
    if not len(directions):
        return none
    ahead *= np.where(outcome[rows] == 1, 1.0, -1.0)[:, None]
    ahead[np.abs(ahead) < NOTHING] = 0.0
    weights, sure = _separating_weights(ahead)
    separated = none.copy()
    separated[rows[sure]] = True
    return separated if _leaves_others(design, weights @ directions, (total > 0) & ~separated) else none


def _directions(design: Design, total: Floats, rows: Ints, kept: Ints, tolerance: float) -> tuple[Floats, Floats]:
    """Directions of the coefficients that move no row with a total, and how far they move some other rows.

    Shapes (n_rows, n_directions) and (n_directions, n_columns).
    """
    from scipy.linalg import cho_solve

    cross = lower_gram(design, total, kept)
    held, root = independent_columns(cross, tolerance)
    free = np.setdiff1d(np.arange(len(kept)), held)
    if not 0 < len(free) <= MOST:
        return np.empty((len(rows), 0)), np.empty((0, design.n_columns))
    scale = np.sqrt(np.diag(cross)[held])
    both = cross[np.ix_(held, free)] + cross[np.ix_(free, held)].T  # one of the two summands is 0
    made = cho_solve((root, True), both / scale[:, None]) / scale[:, None]
    entries = written_out(design, rows)[:, kept]
    directions = np.zeros((len(free), design.n_columns))
    directions[np.arange(len(free)), kept[free]] = 1.0
    directions[:, kept[held]] = -made.T
    return entries[:, free] - entries[:, held] @ made, directions


def _separating_weights(ahead: Floats) -> tuple[Floats, Bools]:
    """Weights of the directions that separate most rows and move none backwards (a linear programme); these rows."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack

    n, k = ahead.shape
    some: Any = csr_array(ahead)
    solution = linprog(
        np.concatenate([np.zeros(k), -np.ones(n)]),
        A_ub=hstack([-some, eye_array(n)], format="csr"),
        b_ub=np.zeros(n),
        bounds=[(None, None)] * k + [(0, 1)] * n,
        method="highs",
    )
    if solution.x is None:
        return np.zeros(k), np.zeros(n, np.bool_)
    return solution.x[:k], solution.x[k:] > 0.5


def _leaves_others(design: Design, direction: Floats, others: Bools) -> bool:
    """Whether a direction moves none of some rows."""
    n = design.n_rows
    score = np.full(n, 0.5)
    sweep(design, direction, np.ones(n), np.zeros(n), score)
    return bool((np.abs(score[others] - 0.5) < LEFT).all())


STILL = 1e-12  # largest change of a score between the last two steps, for each hundred coefficients
STEPS = 100
HALVINGS = 30
FAST = 1e-4  # ratio of successive Newton decrements below which the old curvature is kept
FAST_MANY = 0.3  # the same for many columns, whose curvature takes as long as twenty steps
MANY = 500
PATIENCE = 4  # curvatures after which the rows are tested for separation
ALIASED = 1e-10  # share of a column's square left after those before it, below which it is aliased
CERTAIN = 1e-8  # scores nearer to 0 or 1 than this have infinite coefficients


@dataclass(frozen=True, eq=False)
class Start:
    """What a fit needs of the design alone, before membership is known.

    `total` (n_rows,): records of each row. `sums` (n_columns,): of the columns over all records. `kept` (r,): columns
    that are no combination of earlier ones. `squares` (r,): their sums of squares. `root` (r, r): as in
    `independent_columns`.
    """

    total: Floats
    sums: Floats
    kept: Ints
    squares: Floats
    root: Floats

    @property
    def rank(self) -> int:
        """Rank of the design."""
        return len(self.kept)

    def curvature(self, weight: float = 1.0) -> Curvature:
        """The curvature with equal weights of all records."""
        return Curvature(self.root.T, np.sqrt(self.squares * weight), self.kept, len(self.sums))


@dataclass(frozen=True, eq=False)
class LogitFit:
    """A fitted model.

    `coefficients` (n_columns,): NaN for columns that are combinations of earlier ones; infinite where a column of
    categories tells its records apart for sure, all other coefficients being those of the model without these
    records. `score` (n_rows,): fitted probability of being released: 0 or 1 in the limit. `still`: largest change
    of a score in the last step. `likelihood`: its logarithm. `pull` (n_columns,): gradient where every score is the
    share of released records.
    """

    coefficients: Floats
    score: Floats
    still: float
    steps: int
    likelihood: float
    pull: Floats
    allowed: float = STILL

    @property
    def converged(self) -> bool:
        """Whether the scores have converged."""
        return self.still <= self.allowed

    @property
    def certain(self) -> Bools:
        """Rows whose membership the model determines, by coefficients that go to infinity."""
        return np.asarray((self.score < CERTAIN) | (self.score > 1 - CERTAIN))


def start_of(design: Design, total: Floats, among: Ints | None = None) -> Start:
    """Rank and factored cross products of a design.

    `total` (n_rows,): records that each row stands for. `among`: columns that all others are combinations of.
    """
    columns = np.arange(design.n_columns) if among is None else among
    cross = lower_gram(design, total, columns)
    chosen, root = independent_columns(cross, ALIASED)
    return Start(total, column_sums(design, total), columns[chosen], np.diag(cross)[chosen], root)


def fit_logit(design: Design, start: Start, released: Floats) -> LogitFit:
    """Maximise the likelihood, or follow it to its limit where it has no maximum.

    `released` (n_rows,): released records of each row.

    >>> codes = np.array([[0, 1]], np.int32)
    >>> at = np.array([0])
    >>> design = Design(codes, np.empty((0, 2)), at, at + 1, np.array([[-1], [0]]), np.array([0, 1]), 2)
    >>> fit = fit_logit(design, start_of(design, np.array([4.0, 10.0])), np.array([1.0, 5.0]))
    >>> fit.score.round(12).tolist(), fit.converged
    ([0.25, 0.5], True)
    """
    if _is_twice(design, start.total, released):
        nothing, likelihood = np.zeros(design.n_columns), -math.log(2) * float(start.total.sum())
        half = np.full(design.n_rows, 0.5)
        return LogitFit(_known(nothing, start.kept), half, 0.0, 1, likelihood, nothing)
    of_all, of_released = start.sums, column_sums(design, released)
    pull = of_released - of_all * (released.sum() / start.total.sum())
    sure, limits = _separated_by_indicators(design, start.total, released, of_all, of_released)
    if not sure.any():
        fit, kept = _fit_with_separation(design, start, released, pull)
    else:
        total, rest = np.where(sure, 0.0, start.total), np.where(sure, 0.0, released)
        score = np.divide(released, start.total, out=np.zeros(design.n_rows), where=start.total > 0)
        if total.sum() == 0:
            return LogitFit(np.where(limits == 0, math.nan, limits), score, 0.0, 0, 0.0, pull)
        others = start_of(design, total, start.kept)
        of_rest = column_sums(design, rest) - others.sums * (rest.sum() / total.sum())
        fit, kept = _fit_with_separation(design, others, rest, of_rest)
        fit = replace(fit, score=np.where(sure, score, fit.score))
    return replace(fit, coefficients=np.where(limits == 0, _known(fit.coefficients, kept), limits), pull=pull)


def _is_twice(design: Design, total: Floats, released: Floats) -> bool:
    """Whether the second half of the rows is released and the same as the first, as of a file beside itself."""
    n = design.n_rows // 2
    if 2 * n != design.n_rows or not total.any() or released[:n].any():
        return False
    if not np.array_equal(released[n:], total[n:]) or not np.array_equal(total[:n], total[n:]):
        return False
    return all(np.array_equal(row[:n], row[n:]) for rows in (design.codes, design.values) for row in rows)


def _fit_with_separation(design: Design, start: Start, released: Floats, gradient: Floats) -> tuple[LogitFit, Ints]:
    """Maximise; where the scores converge slowly, without the rows that are separated.

    Gives the columns that have a coefficient, too.
    """
    fit, kept = _climb(design, start, released, gradient, patience=PATIENCE), start.kept
    while not fit.converged and fit.steps < STEPS:
        sure = separated_rows(design, start.total, released, fit.score, start.kept, ALIASED)
        if sure.any():
            score = np.divide(released, start.total, out=np.zeros(design.n_rows), where=start.total > 0)
            fit = replace(fit, score=np.where(sure, score, fit.score))
            start = start_of(design, np.where(sure, 0.0, start.total), start.kept)
            released = np.where(sure, 0.0, released)
        likelihood, gradient, _ = sweep(design, fit.coefficients, start.total, released, fit.score)
        at = replace(fit, likelihood=likelihood, pull=gradient)
        patience = PATIENCE if sure.any() else STEPS
        fit = _climb_on(design, start, released, at, _curvature(design, start, fit.score), patience)
    return fit, kept


def _known(coefficients: Floats, kept: Ints) -> Floats:
    known = np.full(len(coefficients), math.nan)
    known[kept] = coefficients[kept]
    return known


def _separated_by_indicators(
    design: Design, total: Floats, released: Floats, of_all: Floats, of_released: Floats
) -> tuple[Bools, Floats]:
    """Rows whose membership an indicator column determines, and the limits (±inf) of the coefficients of such columns.

    Where all records with a level (or a combination of levels) are from one file, its coefficient runs off to
    infinity, and the model of all other records is that without them; which may tell more apart.
    """
    sure, limits = np.zeros(design.n_rows, np.bool_), np.zeros(design.n_columns)
    while True:
        some = design.indicators & (of_all > 0)
        all_in, none_in = some & (of_released == of_all), some & (of_released == 0)
        if not (all_in | none_in).any():
            return sure, limits
        limits[all_in], limits[none_in] = math.inf, -math.inf
        sure |= rows_with(design, all_in | none_in)
        of_all = column_sums(design, np.where(sure, 0.0, total))
        of_released = column_sums(design, np.where(sure, 0.0, released))


def _climb(design: Design, start: Start, released: Floats, gradient: Floats, *, patience: int = STEPS) -> LogitFit:
    """Newton steps from the model without variables; a new curvature only where the old one is slow."""
    c = float(released.sum() / start.total.sum())
    beta = np.zeros(design.n_columns)
    beta[0] = math.log(c / (1 - c))
    score = np.full(design.n_rows, c)
    likelihood = float(released.sum() * math.log(c) + (start.total - released).sum() * math.log(1 - c))
    at = LogitFit(beta, score, math.inf, 0, likelihood, gradient)
    return _climb_on(design, start, released, at, start.curvature(c * (1 - c)), patience)


def _curvature(design: Design, start: Start, score: Floats) -> Curvature:
    weight = start.total * score * (1 - score)
    return Curvature.of(lower_gram(design, weight, start.kept), start.kept, design.n_columns)


def _climb_on(
    design: Design, start: Start, released: Floats, at: LogitFit, curvature: Curvature, patience: int
) -> LogitFit:
    """The same from a model, whose `pull` is its gradient and whose scores are written over.

    `patience`: curvatures after which it is given up.
    """
    beta, score, change, steps = at.coefficients, at.score, at.still, at.steps
    likelihood, gradient = at.likelihood, at.pull
    allowed = STILL * max(1.0, start.rank / 100)
    fast = FAST_MANY if start.rank > MANY else FAST
    fresh, decrement, curvatures = True, math.inf, 1
    while steps < STEPS:
        step = curvature.solve(gradient)
        before, decrement = decrement, float(gradient @ step)
        if fresh or decrement <= fast * before:
            moved = _line_search(design, start.total, released, beta, step, likelihood, score)
            if moved is not None:
                beta, likelihood, gradient, change = moved
                steps, fresh = steps + 1, False
                if change <= allowed:
                    break
                continue
            if fresh:
                break
        if curvatures == patience:
            break
        curvature = _curvature(design, start, score)
        fresh, decrement, curvatures = True, math.inf, curvatures + 1
    return LogitFit(beta, score, change, steps, likelihood, gradient, allowed)


def lost_without(start: Start, fit: LogitFit, made_of: Sequence[frozenset[str]], c: float) -> dict[str, float]:
    """Loss of explained variance of a linear model of membership on the same columns, without each variable.

    Finite where coefficients are not, and the same for every coding of the levels.

    `made_of`: the variables of each column. `c`: share of released records. Each loss is 0 to 1; the variables are
    in the order in which they appear.
    """
    names = list(dict.fromkeys(name for variables in made_of for name in sorted(variables)))
    curvature = start.curvature()
    slope = curvature.solve(fit.pull)[curvature.at]
    inverse = curvature.inverse()
    variance = float(start.total.sum()) * c * (1 - c)
    shares = {}
    for name in names:
        own = [i for i, at in enumerate(curvature.at.tolist()) if name in made_of[at]]
        lost = float(slope[own] @ np.linalg.solve(inverse[np.ix_(own, own)], slope[own])) if own else 0.0
        shares[name] = min(max(lost / variance, 0.0), 1.0)
    return shares


def _line_search(
    design: Design, total: Floats, released: Floats, beta: Floats, step: Floats, likelihood: float, score: Floats
) -> tuple[Floats, float, Floats, float] | None:
    """The point after a step, halved until the likelihood does not fall; None where it always falls."""
    slack = 1e-12 * (1.0 + abs(likelihood))  # rounding of a sum over all records
    old = score.copy()
    for _ in range(HALVINGS):
        tried = beta + step
        reached, gradient, change = sweep(design, tried, total, released, score)
        if reached >= likelihood - slack:
            return tried, reached, gradient, change
        score[:] = old
        step = step / 2
    return None
