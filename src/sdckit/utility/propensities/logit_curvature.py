"""Which columns of a design are independent, and the steps that its curvature allows."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["Curvature", "independent_columns"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
BLOCK = 64  # columns whose combinations are looked for one by one
FLAT = 1e-11  # share of a column's curvature that is left by the others, below which there is none


def independent_columns(matrix: Floats, tolerance: float) -> tuple[Ints, Floats]:
    """Columns of a matrix of cross products that are no combination of earlier ones.

    The matrix is (k, k). `tolerance`: share of a diagonal element that is left when those before are taken out,
    below which it is nothing. Returns the columns (r,) and a root (r, r): lower triangular, with root @ root.T
    equal to the kept part of the matrix scaled to a diagonal of 1.

    >>> x = np.array([[1.0, 0, 1], [1, 1, 2], [1, 0, 1]])
    >>> independent_columns(x.T @ x, 1e-10)[0].tolist()
    [0, 1]
    """
    diagonal = np.diag(matrix)
    some = np.flatnonzero(diagonal > 0)
    scale = np.sqrt(diagonal[some])
    scaled = _scaled(matrix, some, scale)
    root, kept = np.zeros_like(scaled), np.zeros(len(scaled), np.int64)
    r = 0
    for first in range(0, len(scaled), BLOCK):
        last = min(first + BLOCK, len(scaled))
        # what the columns kept so far leave of the products of these columns and of all that follow
        left = scaled[first:, first:last] - root[first:, :r] @ root[first:last, :r].T
        of_block, own = _root_of_block(left[: last - first], tolerance)
        root[first:last, r : r + len(own)] = of_block
        if len(own) and last < len(scaled):
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
    from scipy.linalg import solve_triangular

    found: Floats = solve_triangular(root, products.T, lower=True, check_finite=False).T
    return found


def _scaled(matrix: Floats, some: Ints, scale: Floats) -> Floats:
    """Part of a matrix, as a copy with a diagonal of 1."""
    found: Floats = matrix[np.ix_(some, some)]
    found /= scale
    found /= scale[:, None]
    return found


class Curvature:
    """A matrix of second derivatives, factored; columns in which nothing curves are left out.

    `matrix` (r, r): of the columns `kept` (r,) among `n_columns`; only its lower triangle is read. `at`: columns that
    are not left out.
    """

    def __init__(self, matrix: Floats, kept: Ints, n_columns: int) -> None:
        from scipy.linalg.lapack import dpstrf

        diagonal = np.diag(matrix)
        some = np.flatnonzero(diagonal > 0)
        scale = np.sqrt(diagonal[some])
        scaled = _scaled(matrix, some, scale).T  # LAPACK counts columns first
        root, place, rank, _ = (
            dpstrf(scaled, lower=0, tol=FLAT, overwrite_a=1) if len(some) else (scaled, np.ones(0), 0, 0)
        )
        chosen = np.asarray(place[:rank], np.int64) - 1
        self.at: Ints = kept[some[chosen]]
        self._scale = scale[chosen]
        self._root: Floats = root[:rank, :rank]  # its upper triangle
        self._n_columns = n_columns

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
        from scipy.linalg import cho_solve

        inner: Floats = cho_solve((self._root, False), np.eye(len(self.at)), check_finite=False)
        inner /= self._scale
        inner /= self._scale[:, None]
        return inner
