"""E[1/F | f], the individual risk of a key held by f records that stand for F persons.

The formula itself, for one cell, is in `numerics/mean_inverse.py`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.compiling import njit, sparing
from sdckit.numerics.mean_inverse import mean_inverse
from sdckit.numerics.threads import chunks, run

TERMS = 32  # steps of the risk of one cell, about


@njit(cache=True, nogil=True)
def _exact(f, big_f, start, stop, out):  # type: ignore[no-untyped-def]
    for i in range(start, stop):
        out[i] = mean_inverse(f[i], big_f[i])


@njit(cache=True, nogil=True)
def _approximate(f, big_f, start, stop, out):  # type: ignore[no-untyped-def]
    for i in range(start, stop):
        if f[i] < 3.0:
            out[i] = mean_inverse(f[i], big_f[i])
        else:
            out[i] = f[i] / (f[i] * big_f[i] - (big_f[i] - f[i]))  # p/(f - q), multiplied out


def exact_risk(f: NDArray[np.float64], big_f: NDArray[np.float64]) -> NDArray[np.float64]:
    """E[1/F | f] for real f of 1 or more and F of f or more.

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
    """The closed forms for f of 1 and 2, p/(f - q) from 3 on (Franconi & Polettini 2004)."""
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
    """Sum of the exact risk (of 1/f without F) over the records; records with f below each limit."""
    total, census = 0.0, len(big_f) == 0
    for i in range(len(f)):
        one = np.float64(f[i])
        risk = 1.0 / one if census else mean_inverse(one, max(one, big_f[i]))
        total += risk * size[i]
        for k in range(len(limits)):
            if one < limits[k]:
                below[k] += size[i]
    return total


def sums_of_cells(
    f: NDArray[np.float64] | NDArray[np.int64],
    big_f: NDArray[np.float64] | None,
    size: NDArray[np.int64],
    limits: NDArray[np.float64],
) -> tuple[float, list[int]]:
    """Sum of the risk over the records of cells, and the records whose f is below each limit, in one pass.

    Examples
    --------
    >>> sums_of_cells(np.array([1.0, 2.0]), None, np.array([1, 2]), np.array([1.5]))
    (2.0, [1])
    """
    below = np.zeros(len(limits), np.int64)
    sums = sparing(_sums, len(f) * (TERMS + len(limits)))
    total = sums(f, np.empty(0) if big_f is None else big_f, size, limits, below)
    return float(total), [int(count) for count in below]
