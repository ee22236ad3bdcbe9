"""Drawing the units of a file anew: how far a mean would move with other people of the same kind in the file."""

from __future__ import annotations

import numpy as np

from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.compiling import njit
from sdckit.numerics.threads import chunks, run

DRAWS = 200
COVERAGE = (0.025, 0.975)
FEW = 16  # units per kind of unit from which on their numbers are drawn instead of the units themselves
AT_ONCE = 4_000_000  # numbers drawn at a time


@njit(cache=True, nogil=True)
def _mixed(state):  # type: ignore[no-untyped-def]
    """A number from 0 to below 1 of a state that is counted up: splitmix64 (Steele, Lea & Flood 2014)."""
    z = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return float(z >> np.uint64(11)) * 2.0**-53


@njit(cache=True, nogil=True)
def _draw_units(units, seeds, out):  # type: ignore[no-untyped-def]
    """Add up n units drawn with replacement, for each seed.

    How often each is drawn is first a Poisson number with a mean a little below 1, read in the order of memory; the
    draws that are left to n are made one by one. Together that is n draws, exactly: given their sum, Poisson numbers
    of equal mean are how often n draws hit each unit. In the rare case that the sum is above n all start again.
    """
    n, q = units.shape
    step = np.uint64(0x9E3779B97F4A7C15)
    mean = max(0.0, 1.0 - 4.0 / np.sqrt(n))
    c0 = np.exp(-mean)
    p3 = c0 * mean**3 / 6
    c1, c2 = c0 * (1 + mean), c0 * (1 + mean + mean**2 / 2)
    c3 = c2 + p3
    for draw in range(len(seeds)):
        state, drawn = np.uint64(seeds[draw]), n + 1
        while drawn > n:
            out[draw, :] = 0.0
            drawn = 0
            for i in range(n):
                state += step
                u = _mixed(state)
                times = int(u >= c0) + int(u >= c1) + int(u >= c2)
                if u >= c3:
                    times, p, c = 4, p3 * mean / 4, c3 + p3 * mean / 4
                    while u >= c and p > 0.0:
                        times += 1
                        p *= mean / times
                        c += p
                drawn += times
                for j in range(q):
                    out[draw, j] += times * units[i, j]
        for _ in range(n - drawn):
            state += step
            at = int(_mixed(state) * n)
            for j in range(q):
                out[draw, j] += units[at, j]


def merge_equal(values: Floats, size: Ints) -> tuple[Floats, Ints]:
    """Put units with the same values together, where few kinds of them differ; as they are otherwise.

    `values` (q, K): a row for each figure, a column for each kind of unit; `size` (K,) units of each kind.

    Examples
    --------
    >>> merged, size = merge_equal(np.array([[1.0, 0.0, 1.0]]), np.array([1, 1, 2]))
    >>> merged.tolist(), size.tolist()
    ([[0.0, 1.0]], [1, 3])
    """
    most = max(2, int(size.sum()) // FEW)
    code, n_codes = np.zeros(values.shape[1], np.int64), 1
    for row in values:
        distinct, inverse = np.unique(row, return_inverse=True)
        if len(distinct) > most:
            return values, size
        used, code = np.unique(code * len(distinct) + inverse, return_inverse=True)
        n_codes = len(used)
        if n_codes > most:
            return values, size
    first = np.empty(n_codes, np.int64)
    first[code[::-1]] = np.arange(len(code) - 1, -1, -1)
    return values[:, first], np.bincount(code, size, n_codes).astype(np.int64)


def resampled_sums(values: Floats, size: Ints, rng: np.random.Generator, draws: int = DRAWS) -> Floats:
    """Sums of values over as many units as there are, drawn with replacement; shape (draws, q).

    `values` (q, K) and `size` (K,) as for `merge_equal`.

    Examples
    --------
    >>> sums = resampled_sums(np.array([[0.0, 1.0]]), np.array([50, 50]), np.random.default_rng(1))
    >>> sums.shape, bool(abs(sums.mean() - 50) < 2)
    ((200, 1), True)
    """
    n, kinds = int(size.sum()), len(size)
    if kinds * FEW <= n or kinds <= 2:
        return _drawn_by_kind(values, size / n, n, rng, draws)
    units = np.ascontiguousarray(values.T if n == kinds else np.repeat(values, size, axis=1).T)
    # a seed for each draw, so that it does not matter which thread makes it
    seeds = rng.integers(0, 1 << 63, draws)
    out = np.zeros((draws, len(values)))

    def part(edges: tuple[int, int]) -> None:
        _draw_units(units, seeds[edges[0] : edges[1]], out[edges[0] : edges[1]])

    run(part, chunks(draws, minimum=1))
    return out


def _drawn_by_kind(values: Floats, share: Floats, n: int, rng: np.random.Generator, draws: int) -> Floats:
    out = np.empty((draws, len(values)))
    step = max(1, AT_ONCE // len(share))
    for start in range(0, draws, step):
        stop = min(start + step, draws)
        out[start:stop] = rng.multinomial(n, share, size=stop - start) @ values.T
    return out


def percentile_ends(drawn: Floats) -> tuple[float, float]:
    """The ends of the 95 % percentile interval; NaN where the figure was undefined in every draw.

    Examples
    --------
    >>> percentile_ends(np.arange(201.0))
    (5.0, 195.0)
    """
    known = drawn[~np.isnan(drawn)]
    if len(known) == 0:
        return float("nan"), float("nan")
    low, high = np.quantile(known, COVERAGE)
    return float(low), float(high)
