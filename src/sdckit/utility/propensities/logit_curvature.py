"""Which columns of a design are independent, and the steps that its curvature allows."""

from __future__ import annotations

import math

import numpy as np

from sdckit.numerics.array_types import Floats, Ints

BLOCK = 64  # columns whose combinations are looked for one by one
FLAT = 1e-11  # share of a column's curvature that is left by the others, below which there is none


def independent_columns(matrix: Floats, tolerance: float) -> tuple[Ints, Floats]:
    """Columns of a matrix of cross products that are no combination of earlier ones.

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
        # what the columns kept so far leave of the products of these columns and of all that follow
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
    """Columns that are no combination of earlier ones, and what all of them are made of by their roots."""
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

    found: Floats = dtrsm(1.0, root, products.T, lower=1).T
    return found


class Curvature:
    """A matrix of second derivatives, factored; columns in which nothing curves are left out.

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
        root, place, rank, _ = (  # LAPACK counts columns first
            dpstrf(matrix.T, lower=0, tol=FLAT, overwrite_a=1) if len(some) else (matrix, np.ones(0), 0, 0)
        )
        chosen = np.asarray(place[:rank], np.int64) - 1
        return cls(root[:rank, :rank], scale[chosen], kept[some[chosen]], n_columns)

    def solve(self, gradient: Floats) -> Floats:
        """The step that a gradient asks for; 0 where nothing curves."""
        from scipy.linalg import cho_solve

        step = np.zeros(self._n_columns)
        if len(self.at):
            inner = cho_solve((self._root, False), gradient[self.at] / self._scale, check_finite=False)
            step[self.at] = inner / self._scale
        return step

    def inverse(self) -> Floats:
        """The inverse of the part that is not left out, in the order of `at`."""
        from scipy.linalg.lapack import dpotri

        if not len(self.at):
            return np.empty((0, 0))
        inner: Floats = dpotri(self._root, lower=0)[0].T
        inner /= self._scale
        inner /= self._scale[:, None]
        _mirror(inner)
        return inner


def _mirror(lower: Floats) -> None:
    """Write the lower triangle of a matrix over its upper one."""
    for first in range(0, len(lower), BLOCK):
        last = first + BLOCK
        lower[:first, first:last] = lower[first:last, :first].T
        within = lower[first:last, first:last]
        within[:] = np.tril(within) + np.tril(within, -1).T
