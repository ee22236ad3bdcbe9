"""A log-linear model fitted to cells, and the risk of the sample uniques under it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sdckit.identity.population.log_linear import (
    MAX_GRID,
    TOLERANCE,
    FitStatistics,
    Grid,
    GridSums,
    Term,
    dense_main_effects,
    expected_main_effects,
    fit_statistics,
    fit_terms,
    grid_functions,
    maximal,
    shares_of,
    sum_grid,
)
from sdckit.identity.population.size_models import expected_by_cell
from sdckit.numerics.threads import run

# Choose two-way interactions one at a time until the fit statistic accepts the model.


ACCEPT = 1.645  # z2 below this: the risk is not overestimated at the 5 % level of N(0, 1)


@dataclass(frozen=True)
class Step:
    """One step: the term added (None: main effects) and z2 with it."""

    term: Term | None
    z2: float


def generators(grid: Grid, terms: Sequence[Term]) -> tuple[Term, ...]:
    """The margins to fit: the interactions, and each key that none of them has."""
    return maximal([*terms, *((j,) for j in range(len(grid.shape)))])


def grid_statistics(
    grid: Grid, mu: NDArray[np.float64], counts: NDArray[np.float64], pi: float
) -> FitStatistics:
    """B1 and B2 of a model fitted on the full grid."""
    at, _ = grid.place(grid.layout)
    return fit_statistics(sum_grid(mu, pi), mu[at], counts, pi)


def forward_search(
    grid: Grid, counts: NDArray[np.float64], pi: float
) -> tuple[tuple[Term, ...], tuple[Step, ...]]:
    """Add the two-way term that brings z2 nearest to 0, until z2 is below 1.645 or no term is left.

    `grid` is small enough to be built, `counts` (K,) are the records of each cell that occurs, pi is below 1. Gives
    the interactions chosen, and z2 of main effects, then after each term. Terms whose fit does not converge are
    passed over. None is added after acceptance: overfitting lowers the risk estimated.
    """
    mu = dense_main_effects(grid, counts)
    z2 = grid_statistics(grid, mu, counts, pi).z2
    terms: tuple[Term, ...] = ()
    path = [Step(None, z2)]
    waiting: list[Term] = list(combinations(range(len(grid.shape)), 2))

    def fitted(term: Term) -> tuple[NDArray[np.float64], float]:
        return fit_terms(grid, generators(grid, (*terms, term)), counts, start=mu)

    def score(term: Term) -> float:
        found, gap = fitted(term)
        z = grid_statistics(grid, found, counts, pi).z2
        return abs(z) if gap <= TOLERANCE and not math.isnan(z) else math.inf

    while waiting and z2 >= ACCEPT:
        scores = run(score, waiting)
        best = scores.index(min(scores))
        if math.isinf(scores[best]):
            break
        chosen = waiting.pop(best)
        mu = fitted(chosen)[0]
        terms = (*terms, chosen)
        z2 = grid_statistics(grid, mu, counts, pi).z2
        path.append(Step(chosen, z2))
    return terms, tuple(path)


# Sums over a product grid too large to visit: how many possible cells have each expected count.
# Under main effects the logarithm of an expected count is a sum with one summand per key, so its histogram
# over the grid is a convolution of one small histogram per key. Each summand is split between its two
# neighbours on a lattice so that its mean is kept; only curvature is lost, and bounded.


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


RESAMPLES = 200
COVERAGE = (0.025, 0.975)


@dataclass(frozen=True, eq=False)
class FittedModel:
    """Expected sample counts of the cells that occur, and how well the model fits."""

    terms: tuple[Term, ...]  # interactions; empty for main effects
    mu: NDArray[np.float64]  # (K,)
    statistics: FitStatistics
    gap: float = 0.0  # largest distance of a fitted margin, as a share of the records
    converged: bool = True
    dense: NDArray[np.float64] | None = None  # of every possible cell, where the grid was built


def fit_model(grid: Grid, terms: Sequence[Term], counts: NDArray[np.float64], pi: float) -> FittedModel:
    """Fit main effects, which are always in, and the interactions asked for, over the full grid.

    `counts` (K,) are the records of each cell that occurs, pi is the sampling fraction.
    """
    if not terms:
        return _main_effects(grid, counts, pi)
    dense, gap = fit_terms(grid, generators(grid, terms), counts)
    mu = dense[grid.place(grid.layout)[0]]
    return FittedModel(
        tuple(terms), mu, grid_statistics(grid, dense, counts, pi), gap, gap <= TOLERANCE, dense
    )


def _main_effects(grid: Grid, counts: NDArray[np.float64], pi: float) -> FittedModel:
    mu = expected_main_effects(grid, counts)
    if pi >= 1:
        return FittedModel((), mu, FitStatistics())
    if grid.n_possible <= MAX_GRID:
        sums = sum_grid(dense_main_effects(grid, counts), pi)
    else:
        sums = sum_lattice(shares_of(grid, counts), float(counts.sum()), pi)
    return FittedModel((), mu, fit_statistics(sums, mu, counts, pi))


def expected_groups(grid: Grid, fitted: FittedModel, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Groups of the file by class of size, as a fitted model expects them."""
    if fitted.dense is not None:
        return expected_by_cell(fitted.dense)
    if grid.n_possible <= MAX_GRID:
        return expected_by_cell(dense_main_effects(grid, counts))
    first, mass = expected_histogram(shares_of(grid, counts))
    return expected_by_cell(counts.sum() * np.exp((first + np.arange(len(mass))) * STEP), mass)


def unique_risk(mu: NDArray[np.float64], pi: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Chance that a sample unique is population unique, and its expected correct match E[1/F].

    `mu` are expected sample counts, pi is the sampling fraction: mu/pi is the expected population count.

    Examples
    --------
    >>> p, r = unique_risk(np.array([0.1]), 0.1)
    >>> p.round(6).tolist(), r.round(6).tolist()
    ([0.40657], [0.659367])
    """
    x = (1 - pi) * mu / pi
    with np.errstate(invalid="ignore", divide="ignore"):
        match = np.where(x > 0, -np.expm1(-x) / x, 1.0)
    return np.exp(-x), match


def bootstrap_interval(
    grid: Grid, model: FittedModel, counts: NDArray[np.float64], pi: float, rng: np.random.Generator
) -> dict[str, tuple[float, float]]:
    """Percentile intervals of tau1 and tau2 with records resampled.

    A record keeps whether it is unique: drawing it twice does not make its key less rare. The
    model is fitted anew to each resample. Bias of the model is no part of the interval.
    """
    n = int(counts.sum())
    unique = counts == 1
    whole = grid.place(grid.layout)[0] if model.terms else None
    drawn = np.empty((RESAMPLES, 2))
    for b in range(RESAMPLES):
        again = rng.multinomial(n, counts / n).astype(np.float64)
        if whole is None:
            mu = expected_main_effects(grid, again)
        else:
            margins = generators(grid, model.terms)
            mu = fit_terms(grid, margins, again, start=model.dense, tolerance=1e-5)[0][whole]
        p, match = unique_risk(mu[unique], pi)
        drawn[b] = again[unique] @ p, again[unique] @ match
    low, high = np.quantile(drawn, COVERAGE, axis=0)
    return {name: (float(low[i]), float(high[i])) for i, name in enumerate(("tau1", "tau2"))}
