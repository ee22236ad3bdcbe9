"""A log-linear model fitted to cells, and the risk of the sample uniques under it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdckit.identity.population.fit_statistics import FitStatistics, fit_statistics, sum_grid
from sdckit.identity.population.forward_search import generators, grid_statistics
from sdckit.identity.population.grid_lattice import STEP, expected_histogram, sum_lattice
from sdckit.identity.population.log_linear import (
    MAX_GRID,
    TOLERANCE,
    Grid,
    Term,
    dense_main_effects,
    expected_main_effects,
    fit_terms,
    shares_of,
)
from sdckit.identity.population.size_fit import expected_by_cell

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
