"""Choose two-way interactions one at a time until the fit statistic accepts the model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sdckit.identity.population.fit_statistics import FitStatistics, fit_statistics, sum_grid
from sdckit.identity.population.log_linear import TOLERANCE, Grid, Term, dense_main_effects, fit_terms
from sdckit.identity.population.model_terms import maximal
from sdckit.numerics.threads import run

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
