"""Relations of a few small numbers, with every point that meets them."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import strategies as st

from sdckit.numerics.linear_bounds import Relations

MOST = 6
EVERY_POINT = np.array(list(itertools.product(range(MOST + 1), repeat=4)))


def relations_of(factors: np.ndarray, lower: list[float], upper: list[float]) -> Relations:
    """Every number in every relation."""
    nrelations_of, n = factors.shape
    return Relations(
        np.arange(nrelations_of + 1) * n, np.tile(np.arange(n), nrelations_of), factors.ravel().astype(float),
        np.array(lower, float), np.array(upper, float),
        np.arange(n + 1) * nrelations_of, np.tile(np.arange(nrelations_of), n), np.ones(n, bool),
    )  # fmt: skip


@st.composite
def cases(draw: st.DrawFn) -> tuple[Relations, np.ndarray, list[tuple[int, ...]]]:
    """Relations of four whole numbers up to six, and every point that meets them."""
    n = draw(st.integers(1, 3))
    factors = np.array(draw(st.lists(st.lists(st.sampled_from([-3, -2, -1, 1, 2]), min_size=4, max_size=4),
                                     min_size=n, max_size=n)))  # fmt: skip
    ends = [sorted(draw(st.lists(st.integers(-9, 12), min_size=2, max_size=2))) for _ in range(n)]
    lower, upper = [float(a) for a, _ in ends], [float(b) for _, b in ends]
    values = EVERY_POINT @ factors.T
    points = EVERY_POINT[((lower <= values) & (values <= upper)).all(axis=1)]
    return relations_of(factors, lower, upper), factors, list(map(tuple, points.tolist()))
