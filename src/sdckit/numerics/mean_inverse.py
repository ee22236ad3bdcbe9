"""E[1/F | f] for f records that stand for F persons, one cell at a time: for kernels to call.

F given f is negative binomial (Benedetti & Franconi 1998). With p = f/F and q = 1 - p the mean is
(p/f) 2F1(1, 1; f + 1; q): a series of positive terms where q or 1/f is small, else a recurrence that halves
its errors for whole f, and Gauss's continued fraction for the rest.
"""

from __future__ import annotations

import math

from sdckit.numerics.compiling import njit

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
    """E[1/F | f] for a real f of 1 or more; 1/f where F is not above it.

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
