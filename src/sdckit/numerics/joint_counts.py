"""Two figures of every record, counted together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Floats


def joint_counts(one: Floats, other: Floats) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Distinct pairs of two columns, ascending, and the rows that have each; rows with a NaN are left out.

    >>> first, second, n = joint_counts(np.array([1.0, 0, 1, np.nan]), np.array([2.0, 5, 2, 0]))
    >>> first.tolist(), second.tolist(), n.tolist()
    ([0.0, 1.0], [5.0, 2.0], [1, 2])
    """
    known = ~(np.isnan(one) | np.isnan(other))
    firsts, i = np.unique(one[known], return_inverse=True)
    seconds, j = np.unique(other[known], return_inverse=True)
    width = max(1, len(seconds))
    code, n = np.unique(i.astype(np.int64) * width + j, return_counts=True)
    return firsts[code // width], seconds[code % width], n.astype(np.int64)
