"""Sums over a product grid too large to visit: how many possible cells have each expected count.

Under main effects the logarithm of an expected count is a sum with one summand per key, so its histogram
over the grid is a convolution of one small histogram per key. Each summand is split between its two
neighbours on a lattice so that its mean is kept; only curvature is lost, and bounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sdckit.identity.population.fit_statistics import GridSums, grid_functions

STEP = 1e-3  # of the lattice, in log expected counts


def expected_histogram(
    shares: Sequence[NDArray[np.float64]], step: float = STEP
) -> tuple[int, NDArray[np.float64]]:
    """Possible cells by the logarithm of the product of their shares; levels that do not occur are left out.

    Gives `first` and `mass`: ``mass[i]`` counts cells near ``(first + i) * step``.
    """
    first, mass = 0, np.ones(1)
    for share in shares:
        place = np.log(share[share > 0]) / step
        below = np.floor(place).astype(np.int64)
        high = place - below
        low = int(below.min())
        weights = np.bincount(below - low, 1 - high) if len(below) else np.zeros(1)
        weights = np.append(weights, 0.0)
        weights[1:] += np.bincount(below - low, high, len(weights) - 1)
        wider = np.zeros(len(mass) + len(weights) - 1)
        # all masses are positive: adding shifted copies cancels nothing, as a Fourier transform would
        for shift in np.flatnonzero(weights).tolist():
            wider[shift : shift + len(mass)] += weights[shift] * mass
        first, mass = first + low, wider
    return first, mass


def sum_lattice(shares: Sequence[NDArray[np.float64]], n: float, pi: float, step: float = STEP) -> GridSums:
    """Sum over all possible cells of n records under main effects, with a bound of the error.

    `shares` are those of the records at each level of each key; the error falls with the square of `step`.

    Examples
    --------
    >>> half = [np.array([0.5, 0.5])] * 3
    >>> sum_lattice(half, 8, 0.5).n_possible
    8.0
    """
    from scipy.ndimage import maximum_filter1d

    first, mass = expected_histogram(shares, step)
    reach = len(shares) + 1
    wide = np.arange(first - reach - 1, first + len(mass) + reach + 1)
    values = grid_functions(np.exp(math.log(n) + wide * step), pi)
    curvature = np.abs(np.diff(values, 2, axis=1)) / step**2
    worst = maximum_filter1d(curvature, 2 * reach + 1, axis=1)[:, reach : reach + len(mass)]
    errors = reach * step**2 / 8 * (worst @ mass)
    return GridSums(values[:, reach + 1 : reach + 1 + len(mass)] @ mass, errors, float(mass.sum()))
