"""E[1/F | f], the individual re-identification risk in a cell of sample frequency f and population frequency F."""

import math

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.compiling import njit, sparing
from sdckit.numerics.threads import chunks, run

# E[1/F | f] of one cell, for kernels to call; F stands for its estimate, the sum of the sampling weights.
# F given f is negative binomial (Benedetti & Franconi 1998). With p = f/F and q = 1 - p the mean is (p/f)
# 2F1(1, 1; f + 1; q): a series of positive terms where q or 1/f is small, else a recurrence that halves
# its errors for whole f, and Gauss's continued fraction for the rest.


SERIES_FROM = 40.0
EPS = 1e-17
TINY = 1e-300


@njit(cache=True, nogil=True)
def _series(f, q):  # type: ignore[no-untyped-def]
    """2F1(1, 1; f + 1; q) term by term: n!/((f + 1)...(f + n)) q^n."""
    total, term, n = 1.0, 1.0, 1.0
    while term > EPS * total:
        term *= n / (f + n) * q
        total += term
        n += 1.0
    return total


@njit(cache=True, nogil=True)
def _continued_fraction(f, q):  # type: ignore[no-untyped-def]
    """2F1(1, 1; f + 1; q) as 1/(1 - a1 q/(1 - a2 q/(1 - ...))), by modified Lentz."""
    h, c, d = 1.0, 1.0, 0.0
    for n in range(1, 100_000):
        m = n // 2
        if n % 2:
            a = -q * (m + 1.0) * (f + m) / ((f + 2.0 * m) * (f + 2.0 * m + 1.0))
        else:
            a = -q * m * (f + m - 1.0) / ((f + 2.0 * m - 1.0) * (f + 2.0 * m))
        d = 1.0 + a * d
        d = TINY if d == 0.0 else d
        c = 1.0 + a / c
        c = TINY if c == 0.0 else c
        d = 1.0 / d
        h *= c * d
        if abs(c * d - 1.0) < 1e-16:
            break
    return 1.0 / h


@njit(cache=True, nogil=True)
def mean_inverse(f, big_f):  # type: ignore[no-untyped-def]
    """E[1/F | f] for real f >= 1 and F; 1/f if F <= f.

    >>> round(mean_inverse(1.0, 215.0), 9), round(mean_inverse(2.0, 360.0), 9)
    (0.025096439, 0.00542452)
    """
    if big_f <= f:
        return 1.0 / f
    if big_f <= 2.0 * f or f >= SERIES_FROM:
        return _series(f, (big_f - f) / big_f) / big_f
    if f != math.floor(f):
        return _continued_fraction(f, (big_f - f) / big_f) / big_f
    ratio = f / (big_f - f)  # p/q
    risk = ratio * math.log(big_f / f)
    for k in range(1, int(f)):
        risk = ratio * (1.0 / k - risk)
    return risk


TERMS = 32  # steps of the risk of one cell, about


@njit(cache=True, nogil=True)
def _exact(f, big_f, start, stop, out):  # type: ignore[no-untyped-def]
    """Write `mean_inverse` of the frequencies `f` and `big_f` (K,) into `out` (K,), for cells start to stop."""
    for i in range(start, stop):
        out[i] = mean_inverse(f[i], big_f[i])


@njit(cache=True, nogil=True)
def _approximate(f, big_f, start, stop, out):  # type: ignore[no-untyped-def]
    """Write the risk into `out` (K,), exact below f = 3, else by p/(f - q), for cells start to stop."""
    for i in range(start, stop):
        if f[i] < 3.0:
            out[i] = mean_inverse(f[i], big_f[i])
        else:
            out[i] = f[i] / (f[i] * big_f[i] - (big_f[i] - f[i]))  # p/(f - q), multiplied out


def exact_risk(f: NDArray[np.float64], big_f: NDArray[np.float64]) -> NDArray[np.float64]:
    """E[1/F | f] for real f >= 1 and F >= f.

    Examples
    --------
    >>> exact_risk(np.array([1.0, 2.0]), np.array([215.0, 360.0])).round(9).tolist()
    [0.025096439, 0.00542452]
    """
    out = np.empty(len(f))
    exact = sparing(_exact, TERMS * len(f))
    run(lambda part: exact(f, big_f, *part, out), chunks(len(f)))
    return out


def approximate_risk(f: NDArray[np.float64], big_f: NDArray[np.float64]) -> NDArray[np.float64]:
    """The closed forms for f = 1 and f = 2, the approximation p/(f - q) from f = 3 on (Franconi & Polettini 2004)."""
    out = np.empty(len(f))
    approximate = sparing(_approximate, TERMS * len(f))
    run(lambda part: approximate(f, big_f, *part, out), chunks(len(f)))
    return out


def worst_case_risk(f: NDArray[np.float64], big_f: NDArray[np.float64]) -> NDArray[np.float64]:
    """1/F: the intruder's file holds the whole population."""
    return 1.0 / np.maximum(f, big_f)


def census_risk(f: NDArray[np.float64]) -> NDArray[np.float64]:
    """1/f: the file is the population."""
    return 1.0 / f


@njit(cache=True, nogil=True)
def _sums(f, big_f, size, limits, below):  # type: ignore[no-untyped-def]
    """Sum of the exact risk (of 1/f if `big_f` is empty) over the records; adds records with f below each limit.

    `f`, `big_f` and `size` (K,): frequencies and records of each cell; `limits` and `below` (L,), the latter filled.
    """
    total, census = 0.0, len(big_f) == 0
    for i in range(len(f)):
        records = np.float64(f[i])
        risk = 1.0 / records if census else mean_inverse(records, max(records, big_f[i]))
        total += risk * size[i]
        for k in range(len(limits)):
            if records < limits[k]:
                below[k] += size[i]
    return total


def sums_of_cells(
    f: NDArray[np.float64] | NDArray[np.int64], big_f: NDArray[np.float64] | None, size: NDArray[np.int64],
    limits: NDArray[np.float64],
) -> tuple[float, list[int]]:  # fmt: skip
    """Sum of the risk over the records of cells, and the number of records with f below each limit, in one pass.

    Examples
    --------
    >>> sums_of_cells(np.array([1.0, 2.0]), None, np.array([1, 2]), np.array([1.5]))
    (2.0, [1])
    """
    below = np.zeros(len(limits), np.int64)
    sums = sparing(_sums, len(f) * (TERMS + len(limits)))
    total = sums(f, np.empty(0) if big_f is None else big_f, size, limits, below)
    return float(total), [int(count) for count in below]
