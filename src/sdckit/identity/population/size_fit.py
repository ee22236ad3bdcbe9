"""How well a model of the population expects the groups that the file has: groups by size, expected and observed."""

from __future__ import annotations

import math

import numpy as np

from sdckit.identity.population.size_models import SizeEstimate, SizeTable
from sdckit.numerics.array_types import Floats

LARGEST = 99  # sizes that are computed one by one; larger ones together
EDGES = (1, 2, 3, 4, 5, 10, 25, 50, 100)  # where classes of sizes begin
CLOSE = 0.03  # an index of dissimilarity up to this: a close fit, whatever the sample size (Agresti)
BIN = 0.005  # of log expected counts, when cells are counted by them


def dissimilarity(expected: Floats, observed: Floats) -> float:
    """Share of the groups that would have to be of another size for the model to be exact.

    References
    ----------
    Agresti, A. (2013). Categorical Data Analysis, 3rd ed., section 4.5.2; the index is Gini's.

    Examples
    --------
    >>> dissimilarity(np.array([70.0, 20.0, 10.0]), np.array([80.0, 15.0, 5.0]))
    0.1
    """
    groups = float(observed.sum())
    if not groups or not np.isfinite(expected).all():
        return math.nan
    return float(np.abs(expected - observed).sum() / (2 * groups))


def pooled_sizes(one_by_one: Floats, larger: float) -> Floats:
    """Groups of sizes 1, 2, ..., 99 and of all larger ones, in the classes of `EDGES`."""
    starts = np.array(EDGES[:-1]) - 1
    return np.append(np.add.reduceat(one_by_one, starts), max(0.0, larger))


def observed_sizes(table: SizeTable) -> Floats:
    """The groups of the file by class of size.

    Examples
    --------
    >>> from sdckit.identity.population.size_models import size_table
    >>> observed_sizes(size_table(np.array([1, 1, 3, 7, 200]), 1000)).tolist()
    [2.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
    """
    at = np.searchsorted(EDGES, table.size, side="right") - 1
    groups: Floats = np.bincount(at, table.classes, len(EDGES)).astype(float)
    return groups


def expected_by_model(name: str, table: SizeTable, estimate: SizeEstimate) -> Floats:
    """Groups of the file by class of size as a model of sizes expects them; NaN where it has no solution."""
    if not math.isfinite(estimate.uniques) or estimate.status in ("census", "no_uniques"):
        return np.full(len(EDGES), np.nan)
    if name == "zayatz":
        return _by_zayatz(table)
    if name == "pitman":
        return _by_pitman(table, estimate.parameters["theta"], estimate.parameters["alpha"])
    return _by_slide(table, **{part: estimate.parameters[part] for part in ("K", "alpha", "beta")})


def _sizes() -> Floats:
    return np.arange(1, LARGEST + 1, dtype=float)


def _by_zayatz(table: SizeTable) -> Floats:
    """Of as many groups as the file has: sizes drawn from the file's own, each member kept with the fraction."""
    from scipy.stats import binom

    j = _sizes()
    seen = table.classes @ -np.expm1(table.size * np.log1p(-table.pi))
    kept = np.array([table.classes @ binom.pmf(one, table.size, table.pi) for one in j])
    scale = table.u / seen
    return pooled_sizes(scale * kept, table.u - scale * float(kept.sum()))


def _by_pitman(table: SizeTable, theta: float, alpha: float) -> Floats:
    """C(n, j) (1 - alpha)_(j-1) (theta + alpha)_(n-j) / (theta + 1)_(n-1), with rising factorials."""
    from scipy.special import digamma, gammaln

    n = table.n
    j = _sizes()[: int(min(LARGEST, n))]
    log = gammaln(n + 1) - gammaln(j + 1) - gammaln(n - j + 1)
    log += gammaln(j - alpha) - gammaln(1 - alpha)
    log += gammaln(theta + alpha + n - j) - gammaln(theta + alpha)
    log += gammaln(theta + 1) - gammaln(theta + n)
    if alpha > 0:
        grown = gammaln(theta + 1) + gammaln(theta + n + alpha) - gammaln(theta + n) - gammaln(theta + alpha)
        groups = (math.exp(grown) - theta) / alpha
    else:
        groups = theta * float(digamma(theta + n) - digamma(theta))
    one_by_one = np.zeros(LARGEST)
    one_by_one[: len(j)] = np.exp(log)
    return pooled_sizes(one_by_one, groups - float(one_by_one.sum()))


def _by_slide(table: SizeTable, K: float, alpha: float, beta: float) -> Floats:
    """A group of 1 + Z members, Z negative binomial; thinned, Z is negative binomial with beta/D."""
    from scipy.stats import nbinom

    pi = table.pi
    rest = nbinom(alpha, beta / (1 - (1 - beta) * (1 - pi)))
    j = _sizes()
    chance = (1 - pi) * rest.pmf(j) + pi * rest.pmf(j - 1)
    seen = 1 - (1 - pi) * rest.pmf(0)
    return pooled_sizes(K * chance, K * float(seen - chance.sum()))


def expected_by_cell(mu: Floats, mass: Floats | None = None) -> Floats:
    """The same where the count of every possible cell is Poisson with its own expectation.

    `mu` are expected counts, `mass` how many cells have each; without it they are put together by their logarithm.
    """
    from scipy.special import gammaln

    mu, mass = _binned(mu) if mass is None else (mu, mass)
    log, groups = np.log(mu), float(mass @ -np.expm1(-mu))
    one_by_one = np.array([mass @ np.exp(j * log - mu - gammaln(j + 1)) for j in _sizes()])
    return pooled_sizes(one_by_one, groups - float(one_by_one.sum()))


def _binned(mu: Floats) -> tuple[Floats, Floats]:
    mu = mu[mu > 0]
    place = np.floor(np.log(mu) / BIN).astype(np.int64)
    place -= place.min(initial=0)
    mass = np.bincount(place).astype(float)
    total = np.bincount(place, mu)
    used = mass > 0
    return total[used] / mass[used], mass[used]
