"""B1 and B2: whether a log-linear model is good enough for the risk it is used for.

Each cell of the full grid contributes ``a (f - mu) + b ((f - mu)^2 - f)``. Empty cells contribute
``phi(mu) = -a mu + b mu^2``, a function of mu alone, so sums over the grid need no more than the expected counts:
all of them, or how many there are of each size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.compiling import njit
from sdckit.numerics.threads import chunks, run


@dataclass(frozen=True)
class GridSums:
    """Sums over every possible cell as if it were empty."""

    values: NDArray[np.float64]  # (6,) sum of phi, its square and the variance term; for B1, then for B2
    errors: NDArray[np.float64]  # (6,) bounds of their errors, 0 where every cell was visited
    n_possible: float  # possible cells


@dataclass(frozen=True)
class FitStatistics:
    """B for the two risk functions, standardised in two ways.

    Attributes
    ----------
    b1, b2 : float
        Estimated error of tau1 and tau2 from the model: above 0 overestimated, below 0 overfitted.
    z1, z2 : float
        B over its standard deviation under the model.
    robust_z1, robust_z2 : float
        B over the standard deviation of the cells' own contributions.
    b1_error, b2_error : float
        Bounds of the numerical error of B; 0 where every possible cell was visited.
    """

    b1: float = math.nan
    b2: float = math.nan
    z1: float = math.nan
    z2: float = math.nan
    robust_z1: float = math.nan
    robust_z2: float = math.nan
    b1_error: float = math.nan
    b2_error: float = math.nan


@njit(cache=True, nogil=True, inline="always")
def _coefficients(mu, pi):  # type: ignore[no-untyped-def]
    """Weights a and b of B1 and of B2; series where differences of near-equal numbers lose digits."""
    lam = mu / pi
    x = (1 - pi) * lam
    flat = lam * math.exp(-lam)
    a1 = (1 - pi) * flat
    b1 = (1 - pi) * (1 - pi) * flat / (2 * pi)
    e = math.exp(-x)
    r = -math.expm1(-x) / x if x > 0 else 1.0
    first = x / 2 - x * x / 3 + x * x * x / 8 if x < 1e-4 else r - e
    if x < 1e-2:
        second = x * x * (1 / 6 + x * (-1 / 8 + x * (1 / 20 + x * (-1 / 72 + x / 336))))
    else:
        second = r - e * (1 + x / 2)
    e = math.exp(-mu)
    return a1, b1, e * first, e * second / mu if mu > 0 else 0.0


@njit(cache=True, nogil=True)
def _functions(mu, pi, out):  # type: ignore[no-untyped-def]
    for i in range(len(mu)):
        m = mu[i]
        a1, b1, a2, b2 = _coefficients(m, pi)
        phi1, phi2 = -a1 * m + b1 * m * m, -a2 * m + b2 * m * m
        out[0, i], out[1, i], out[2, i] = phi1, phi1 * phi1, a1 * a1 * m + 2 * b1 * b1 * m * m
        out[3, i], out[4, i], out[5, i] = phi2, phi2 * phi2, a2 * a2 * m + 2 * b2 * b2 * m * m


@njit(cache=True, nogil=True)
def _sum_functions(mu, pi):  # type: ignore[no-untyped-def]
    sums = np.zeros(6)
    for i in range(len(mu)):
        m = mu[i]
        a1, b1, a2, b2 = _coefficients(m, pi)
        phi1, phi2 = -a1 * m + b1 * m * m, -a2 * m + b2 * m * m
        sums[0] += phi1
        sums[1] += phi1 * phi1
        sums[2] += a1 * a1 * m + 2 * b1 * b1 * m * m
        sums[3] += phi2
        sums[4] += phi2 * phi2
        sums[5] += a2 * a2 * m + 2 * b2 * b2 * m * m
    return sums


@njit(cache=True, nogil=True)
def _correct(mu, f, pi):  # type: ignore[no-untyped-def]
    """What cells that occur add to the sums of contributions and of their squares."""
    out = np.zeros(4)
    for i in range(len(mu)):
        m, n = mu[i], f[i]
        a1, b1, a2, b2 = _coefficients(m, pi)
        spread = n * n - 2 * n * m - n
        for k, a, b in ((0, a1, b1), (2, a2, b2)):
            empty = -a * m + b * m * m
            more = a * n + b * spread
            out[k] += more
            out[k + 1] += (empty + more) ** 2 - empty * empty
    return out


def grid_functions(mu: NDArray[np.float64], pi: float) -> NDArray[np.float64]:
    """The six functions of an expected count that are summed over the grid, shape (6, len(mu))."""
    out = np.empty((6, len(mu)))
    _functions(mu, pi, out)
    return out


def sum_grid(mu: NDArray[np.float64], pi: float) -> GridSums:
    """Sum over the expected counts of every possible cell, on threads."""
    parts = run(lambda part: _sum_functions(mu[part[0] : part[1]], pi), chunks(len(mu)))
    return GridSums(np.sum(parts, axis=0), np.zeros(6), float(len(mu)))


def fit_statistics(
    sums: GridSums, mu: NDArray[np.float64], f: NDArray[np.float64], pi: float
) -> FitStatistics:
    """B1 and B2 from sums over the grid and the cells that occur.

    `mu` and `f` (K,) are the expected and the observed count of each cell that occurs. With a census (sampling
    fraction pi of 1) nothing is estimated and B is undefined.

    References
    ----------
    Skinner, C. and Shlomo, N. (2008). Assessing identification risk in survey microdata using
    log-linear models. Journal of the American Statistical Association 103, 989-1001.
    """
    if pi >= 1:
        return FitStatistics()
    more = _correct(mu, f, pi)
    found = []
    for k in (0, 1):
        total, squares = sums.values[3 * k] + more[2 * k], sums.values[3 * k + 1] + more[2 * k + 1]
        found.append((total, _ratio(total, sums.values[3 * k + 2]), _robust(total, squares, sums.n_possible)))
    (b1, z1, r1), (b2, z2, r2) = found
    errors = float(sums.errors[0]), float(sums.errors[3])
    return FitStatistics(float(b1), float(b2), z1, z2, r1, r2, *errors)


def _ratio(total: float, variance: float) -> float:
    return float(total / math.sqrt(variance)) if variance > 0 else math.nan


def _robust(total: float, squares: float, m: float) -> float:
    if m < 2:
        return math.nan
    return _ratio(total, m * (squares - total * total / m) / (m - 1))
