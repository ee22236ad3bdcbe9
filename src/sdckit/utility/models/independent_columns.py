"""Columns of a design that do not follow from others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Floats

TOLERANCE = 1e-7  # of what a column keeps of its length beside the columns before it


def independent_columns(matrix: Floats) -> NDArray[np.bool_]:
    """Columns that do not follow from those before them.

    >>> independent_columns(np.array([[1.0, 2, 0, 1], [1, 2, 1, 0], [1, 2, 1, 0]])).tolist()
    [True, False, True, False]
    """
    length: Floats = np.linalg.norm(matrix, axis=0)
    kept: NDArray[np.bool_] = length > 0
    if not kept.any():
        return kept
    # The triangle has all inner products of the columns, in p rows instead of n.
    triangle: Floats = np.linalg.qr(matrix[:, kept] / length[kept], mode="r")  # type: ignore[assignment]
    basis: list[Floats] = []
    for j, at in enumerate(np.flatnonzero(kept).tolist()):
        rest = triangle[:, j].copy()
        for _ in range(2):  # the second pass takes away what rounding left
            for one in basis:
                rest -= (one @ rest) * one
        size = float(np.linalg.norm(rest))
        if size > TOLERANCE:
            basis.append(rest / size)
        else:
            kept[at] = False
    return kept
