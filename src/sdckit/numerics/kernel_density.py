"""The density of a figure, as a picture of it needs one."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Floats

BEYOND = 3  # bandwidths on both sides, as R's density draws


def bandwidth(values: Floats, size: NDArray[np.int64], quartiles: tuple[float, float]) -> float:
    """Silverman's rule of thumb (R's bw.nrd0) for values that `size` records each have.

    >>> round(bandwidth(np.arange(5.0), np.ones(5, np.int64), (1.0, 3.0)), 6)
    0.973585
    """
    n = int(size.sum())
    mean = float(values @ size) / n
    spread = math.sqrt(float((values - mean) ** 2 @ size) / (n - 1)) if n > 1 else 0.0
    low = min(spread, (quartiles[1] - quartiles[0]) / 1.34) or spread or abs(float(values[0])) or 1.0
    return float(0.9 * low * n**-0.2)


def kernel_density(
    values: Floats, size: NDArray[np.int64], width: float, points: int
) -> tuple[Floats, Floats]:
    """Gaussian kernel density at equally far points: from three bandwidths below the smallest value to as far above.

    >>> at, found = kernel_density(np.array([0.0]), np.array([1]), 1.0, 7)
    >>> at.tolist(), found[3].round(6).item()
    ([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0], 0.398942)
    """
    at: Floats = np.linspace(values.min() - BEYOND * width, values.max() + BEYOND * width, points)
    share = size / (size.sum() * width * math.sqrt(2 * math.pi))
    found = np.array([np.exp(-0.5 * ((one - values) / width) ** 2) @ share for one in at])
    return at, found
