"""Population uniques from the table of class sizes alone: Zayatz, Pitman's sampling formula, Dankar's rule.

Symbols: n records of N in the population, pi = n/N, s_j classes of j records, u classes in all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

MIN_ALPHA = 1e-4  # below it the digamma form of Pitman's equations loses digits
DANKAR_FRACTION = 0.1


@dataclass(frozen=True, eq=False)
class SizeTable:
    """How many classes have each size."""

    size: NDArray[np.float64]  # sizes j that occur, ascending
    classes: NDArray[np.float64]  # s_j
    n: float  # records in the file
    population: float  # and in the population

    @property
    def pi(self) -> float:
        """Sampling fraction."""
        return self.n / self.population

    @property
    def u(self) -> float:
        """Classes."""
        return float(self.classes.sum())

    def of(self, j: int) -> float:
        """Classes of j records."""
        return float(self.classes[self.size == j].sum())


@dataclass(frozen=True)
class SizeEstimate:
    """An estimate of the number of population uniques.

    Attributes
    ----------
    uniques : float
        Expected population uniques; NaN where the model has no solution.
    share : float
        The same as a share of the population.
    p_unique : float
        Chance that a sample unique is population unique; for Pitman the average.
    status : str
        "ok", or what happened: "census", "no_uniques", "ewens", "all_unique", "one_class", "no_pairs",
        "no_root", "several", "above_n"; for Dankar's rule the model used.
    parameters : mapping of str to float
        Of the fitted model.
    """

    uniques: float
    share: float
    p_unique: float
    status: str
    parameters: Mapping[str, float] = field(default_factory=dict)


def size_table(sizes: NDArray[np.int64], population: float) -> SizeTable:
    """Count classes by size.

    Examples
    --------
    >>> size_table(np.array([1, 3, 1]), 50).classes.tolist()
    [2.0, 1.0]
    """
    size, classes = np.unique(sizes, return_counts=True)
    return SizeTable(size.astype(float), classes.astype(float), float(sizes.sum()), float(population))


def undefined(status: str, parameters: Mapping[str, float] | None = None) -> SizeEstimate:
    """No solution, with the reason."""
    return SizeEstimate(math.nan, math.nan, math.nan, status, parameters or {})


def estimate(
    table: SizeTable, uniques: float, p_unique: float, parameters: Mapping[str, float], status: str = "ok"
) -> SizeEstimate:
    """An estimate with its share of the population."""
    return SizeEstimate(
        float(uniques), float(uniques) / table.population, float(p_unique), status, parameters
    )


def settled(table: SizeTable) -> SizeEstimate | None:
    """What no model is needed for: a census, or no sample uniques."""
    if table.of(1) == 0:
        return estimate(table, 0.0, math.nan, {}, "no_uniques")
    if table.n >= table.population:
        return estimate(table, table.of(1), 1.0, {}, "census")
    return None


# --- Zayatz ------------------------------------------------------------------------------------


def zayatz(table: SizeTable) -> SizeEstimate:
    """Bayes with the sample's distribution of class sizes as the prior of the population's.

    References
    ----------
    Zayatz, L. (1991). Estimation of the percent of unique population elements on a microdata file using
    the sample. Bureau of the Census, SRD 91/08. Dankar, F., El Emam, K., Neisa, A. and Roffey, T. (2012).
    Estimating the re-identification risk of clinical data sets. BMC Medical Informatics 12, 66.
    """
    if (found := settled(table)) is not None:
        return found
    p = table.of(1) * table.pi / float(table.classes @ _chance_of_one(table))
    return estimate(table, table.of(1) * p / table.pi, p, {})


def _chance_of_one(table: SizeTable) -> NDArray[np.float64]:
    """P(one record sampled | class of j), without replacement, in beta functions: exact for large N."""
    from scipy.special import betaln

    j, n, N = table.size, table.n, table.population
    chance = np.full(len(j), n / N)
    several = (j > 1) & (N - j >= n - 1)
    k = j[several]
    log_chance = betaln(N - k + 1, k) - betaln(N - n - k + 2, k - 1) + np.log(n * k / (k - 1))
    chance[j > 1] = 0.0
    chance[several] = np.exp(log_chance)
    return chance


# --- Pitman --------------------------------------------------------------------------------------


def pitman(table: SizeTable) -> SizeEstimate:
    """Maximum likelihood in Pitman's sampling formula; the number of singletons expected at N records.

    References
    ----------
    Hoshino, N. (2001). Applying Pitman's sampling formula to microdata disclosure risk assessment.
    Journal of Official Statistics 17, 499-520.
    """
    if (found := settled(table)) is not None:
        return found
    if table.u == table.n:
        return undefined("all_unique")
    if table.u == 1:
        return undefined("one_class")
    if _score(table, MIN_ALPHA) < 0:
        alpha, theta, status = 0.0, _ewens_theta(table), "ewens"
    else:
        grid = np.linspace(MIN_ALPHA, 1 - 1e-6, 101)
        scores = [_score(table, a) for a in grid]
        below = next((i for i, score in enumerate(scores) if score < 0), None)
        if below is None:
            return undefined("no_root")
        alpha = _root(lambda a: _score(table, a), float(grid[below - 1]), float(grid[below]))
        theta, status = _theta(table, alpha), "ok"
    uniques = _singletons(theta, alpha, table.population)
    parameters = {"alpha": alpha, "theta": theta, "log_likelihood": log_likelihood(table, theta, alpha)}
    return estimate(table, uniques, min(1.0, table.pi * uniques / table.of(1)), parameters, status)


def log_likelihood(table: SizeTable, theta: float, alpha: float) -> float:
    """Logarithm of Pitman's sampling formula without the terms that no parameter enters."""
    from scipy.special import gammaln

    several = table.size > 1
    j, s = table.size[several], table.classes[several]
    if alpha > 0:
        t = theta / alpha
        classes = (table.u - 1) * math.log(alpha) + gammaln(t + table.u) - gammaln(t + 1)
    else:
        classes = (table.u - 1) * math.log(theta)
    records = gammaln(theta + table.n) - gammaln(theta + 1)
    return float(classes - records + s @ (gammaln(j - alpha) - gammaln(1 - alpha)))


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    from scipy.optimize import brentq

    return float(brentq(function, low, high, xtol=1e-13, rtol=1e-13))


def _bracket(falling: Callable[[float], float]) -> tuple[float, float]:
    """Two numbers above 0 between which a falling function has its root."""
    high = low = 1.0
    while falling(high) > 0:
        high *= 4
    while falling(low) < 0:
        low /= 4
    return low, high


def _theta(table: SizeTable, alpha: float) -> float:
    """Theta that solves its equation at a given alpha > 0, found by its distance from -alpha."""
    from scipy.special import digamma

    def score(distance: float) -> float:
        theta, t = distance - alpha, distance / alpha  # t is theta/alpha + 1
        over_classes = (digamma(t + table.u - 1) - digamma(t)) / alpha
        return float(over_classes - digamma(theta + table.n) + digamma(theta + 1))

    return _root(score, *_bracket(score)) - alpha


def _score(table: SizeTable, alpha: float) -> float:
    """Derivative of the likelihood in alpha where theta is at its best."""
    from scipy.special import digamma

    theta = _theta(table, alpha)
    t = theta / alpha
    several = table.size > 1
    spread = table.classes[several] @ (digamma(table.size[several] - alpha) - digamma(1 - alpha))
    return float((table.u - 1) / alpha - t / alpha * (digamma(t + table.u) - digamma(t + 1)) - spread)


def _ewens_theta(table: SizeTable) -> float:
    from scipy.special import digamma

    def score(theta: float) -> float:
        return float((table.u - 1) / theta - digamma(theta + table.n) + digamma(theta + 1))

    return _root(score, *_bracket(score))


def _singletons(theta: float, alpha: float, population: float) -> float:
    """Classes of one expected in the whole population; exact, in beta functions."""
    from scipy.special import betaln, gammaln

    ratio = betaln(population + theta + alpha - 1, 1 - alpha) - gammaln(1 - alpha)
    return float(population * np.exp(ratio + gammaln(theta + 1) - gammaln(theta + alpha)))


# --- Dankar's rule ---------------------------------------------------------------------------------


def dankar(
    table: SizeTable, by_zayatz: SizeEstimate, by_pitman: SizeEstimate, by_snb: SizeEstimate
) -> SizeEstimate:
    """Choose between the others as ARX does, by the sampling fraction and by which is smaller.

    References
    ----------
    Dankar, F., El Emam, K., Neisa, A. and Roffey, T. (2012), as read in ARX.
    """
    if (found := settled(table)) is not None:
        return found
    if table.pi <= DANKAR_FRACTION + 1e-12:
        name, chosen = ("zayatz", by_zayatz) if math.isnan(by_pitman.uniques) else ("pitman", by_pitman)
    else:
        snb = by_snb.uniques <= by_zayatz.uniques  # False where there is none
        name, chosen = ("snb", by_snb) if snb else ("zayatz", by_zayatz)
    return SizeEstimate(chosen.uniques, chosen.share, chosen.p_unique, name, {})
