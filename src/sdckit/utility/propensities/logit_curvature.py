"""Which columns of a design are independent, and the steps that its curvature allows."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["Curvature", "independent_columns"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
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
    scaled = matrix[np.ix_(some, some)] / np.outer(scale, scale)
    try:
        root: Floats = np.linalg.cholesky(scaled)
    except np.linalg.LinAlgError:
        root = np.zeros((0, 0))
    if len(root) and (np.diag(root) ** 2).min() > tolerance:
        return some, root
    root = np.zeros_like(scaled)
    kept: list[int] = []
    for j in range(len(scaled)):
        r = len(kept)
        row = np.zeros(r)
        if r:
            from scipy.linalg import solve_triangular

            row = solve_triangular(root[:r, :r], scaled[kept, j], lower=True, check_finite=False)
        left = 1.0 - float(row @ row)
        if left > tolerance:
            root[r, :r], root[r, r] = row, math.sqrt(left)
            kept.append(j)
    return some[kept], root[: len(kept), : len(kept)]


class Curvature:
    """A matrix of second derivatives, factored; columns in which nothing curves are left out.

    `at` (r,): columns that are not left out.
    """

    def __init__(self, matrix: Floats, kept: Ints) -> None:
        from scipy.linalg.lapack import dpstrf

        diagonal = np.diag(matrix)[kept]
        some = kept[diagonal > 0]
        scale = np.sqrt(diagonal[diagonal > 0])
        scaled = matrix[np.ix_(some, some)] / np.outer(scale, scale)
        root, place, rank, _ = dpstrf(scaled, lower=1, tol=FLAT) if len(some) else (scaled, np.ones(0), 0, 0)
        chosen = np.asarray(place[:rank], np.int64) - 1
        self.at: Ints = some[chosen]
        self._scale = scale[chosen]
        self._root: Floats = np.tril(root[:rank, :rank])
        self._n_columns = len(matrix)

    def solve(self, gradient: Floats) -> Floats:
        """The step that a gradient asks for; 0 where nothing curves."""
        from scipy.linalg import cho_solve

        step = np.zeros(self._n_columns)
        if len(self.at):
            inner = cho_solve((self._root, True), gradient[self.at] / self._scale, check_finite=False)
            step[self.at] = inner / self._scale
        return step

    def inverse(self) -> Floats:
        """The inverse of the part that is not left out, in the order of `at`."""
        from scipy.linalg import cho_solve

        inner: Floats = cho_solve((self._root, True), np.eye(len(self.at)), check_finite=False)
        inverse: Floats = inner / np.outer(self._scale, self._scale)
        return inverse
