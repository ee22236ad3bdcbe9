"""Synthesis by cells: the shares of a variable's levels in each combination of the predictors' values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sdckit.errors import DataError
from sdckit.numerics.array_types import Floats, Ints
from sdckit.protect.synthesis.synthesis_design import Seen
from sdckit.protect.synthesis.synthesis_draws import PosteriorDraws
from sdckit.protect.synthesis.synthesis_variables import MISSING, Values, Variable

MOST_VALUES = 50  # of a number that predicts: it is taken as categories
MOST_CODES = 2**62
MOST_KEPT = 5_000_000  # numbers that the draws of one variable may take


@dataclass(frozen=True, eq=False)
class CellsFit:
    """Counts of levels (columns) in the cells that occur (rows), and the prior's weight of each level."""

    variable: Variable
    predictors: tuple[Variable, ...]
    cells: Ints  # shape (C,); codes of the cells, ascending
    levels: Ints  # shape (L,); of the variable
    counts: Floats  # shape (C + 1, L); the last row: a cell that no record is in
    concentration: float
    states: tuple[int, ...]  # one for each draw from the posterior
    proper: bool

    def draw(self, held: Mapping[str, Seen], n: int, rng: np.random.Generator, release: int) -> Values:
        """New values of n records from their predictors."""
        shares = self.drawn(release) if self.proper else _shares(self.counts + self.concentration)
        running = np.cumsum(shares, axis=1)
        running /= running[:, -1:]
        marks = (running + np.arange(len(running))[:, None]).ravel()  # cell c covers c to c + 1
        cell = self.cell_of({one.name: held[one.name].values for one in self.predictors}, n)
        at = np.searchsorted(marks, cell + rng.random(n), side="right") - cell * len(self.levels)
        return self.variable.of_levels(self.levels[np.clip(at, 0, len(self.levels) - 1)])

    def drawn(self, at: int) -> Floats:
        """The shares of one draw from the posterior, shape (C + 1, L)."""
        shape = self.counts + self.concentration
        return _shares(np.random.default_rng(self.states[at]).standard_gamma(shape))

    def cell_of(self, held: Mapping[str, Values], n: int) -> Ints:
        """The row of each record's cell; the last where none of the original is in it."""
        codes = _codes(self.predictors, held, n)
        at = np.minimum(np.searchsorted(self.cells, codes), len(self.cells) - 1)
        return np.where(self.cells[at] == codes, at, len(self.cells))

    def kept(self) -> PosteriorDraws | None:
        """The draws in their plain form; None where they would take too much room."""
        if len(self.states) * self.counts.size > MOST_KEPT:
            return None
        labels = self.variable.labels
        sizes = [one.n_levels + 1 for one in self.predictors]
        places = np.unravel_index(self.cells, sizes) if sizes else ()
        return PosteriorDraws({
            "column": self.variable.name, "model": "dirichlet_multinomial", "terms": [],
            "levels": [None if at == MISSING else labels[at] for at in self.levels],
            "coefficients": [self.drawn(at).tolist() for at in range(len(self.states))],
            "scale": None, "missing": None,
            "cells": {
                one.name: [None if at == one.n_levels else one.labels[at] for at in place.tolist()]
                for one, place in zip(self.predictors, places, strict=True)
            },
        })  # fmt: skip


def fit_cells(
    variable: Variable, predictors: Sequence[Variable], rows: Ints, *, concentration: float, n_draws: int,
    proper: bool, rng: np.random.Generator,
) -> CellsFit:  # fmt: skip
    """Count the levels of a variable in each cell of its predictors.

    Raises `DataError`: a predictor of many numbers, or more cells than can be told apart.
    """
    for one in predictors:
        if one.amounts is not None and one.n_levels > MOST_VALUES:
            raise DataError(
                f"models of {variable.name!r}: 'dirichlet_multinomial' counts cells, and {one.name!r} has "
                f"{one.n_levels:,} values; band it, or name what predicts: predictors={{{variable.name!r}: [...]}}",
                argument="models",
            )
    held = {one.name: one.held.take(rows) for one in predictors}
    cells, cell = np.unique(_codes(predictors, held, len(rows)), return_inverse=True)
    levels, level = np.unique(variable.held.level[rows], return_inverse=True)
    size = (len(cells), len(levels))
    counts = np.bincount(cell.reshape(-1) * size[1] + level.reshape(-1), minlength=size[0] * size[1])
    table = np.vstack([counts.reshape(size), np.zeros(size[1])]).astype(np.float64)
    if concentration == 0:  # nothing is known of a cell without records: the shares of all
        table[-1] = np.bincount(level.reshape(-1), minlength=size[1])
    states = tuple(int(one) for one in rng.integers(2**63, size=n_draws))
    return CellsFit(variable, tuple(predictors), cells, levels, table, concentration, states, proper)


def _codes(predictors: Sequence[Variable], held: Mapping[str, Values], n: int) -> Ints:
    """One number for the levels that a record holds; a new number is in no cell."""
    codes, size = np.zeros(n, np.int64), 1
    fresh = np.zeros(n, np.bool_)
    for one in predictors:
        size *= one.n_levels + 1
        if size > MOST_CODES:
            raise DataError(
                f"models: there are more cells of {', '.join(known.name for known in predictors)} than can be counted; "
                "name fewer predictors",
                argument="models",
            )
        level = held[one.name].level
        codes = codes * (one.n_levels + 1) + np.where(level == MISSING, one.n_levels, np.maximum(level, 0))
        fresh |= level < MISSING
    return np.where(fresh, -1, codes)


def _shares(weights: Floats) -> Floats:
    """Weights as shares of their row; alike where a row has none."""
    total = weights.sum(axis=1, keepdims=True)
    return np.where(total > 0, weights / np.where(total > 0, total, 1.0), 1 / weights.shape[1])
