"""Logistic regression of membership, fitted until the scores stand still, whatever the rank of the design."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Floats, Ints
from sdckit.utility.propensities.logit_curvature import Curvature, independent_columns
from sdckit.utility.propensities.logit_kernel import Design, column_sums, lower_gram, rows_with, sweep
from sdckit.utility.propensities.logit_separation import separated_rows

STILL = 1e-12  # largest change of a score between the last two steps, for each hundred coefficients
STEPS = 100
HALVINGS = 30
FAST = 1e-4  # a step whose decrement is smaller than this times the one before needs no new curvature
FAST_MANY = 0.3  # the same of many columns: their curvature takes as long as twenty steps
MANY = 500
PATIENCE = 4  # curvatures after which rows are looked for that keep the scores from standing still
ALIASED = 1e-10  # share of a column's square that is left by those before it, below which it is one of them
CERTAIN = 1e-8  # scores nearer to 0 or 1 than this are endless in the coefficients


@dataclass(frozen=True, eq=False)
class Start:
    """What a design gives before membership is looked at.

    `total` (n_rows,): records of each row. `sums` (n_columns,): of the columns over all records. `kept` (r,): columns
    that are no combination of earlier ones. `squares` (r,): their sums of squares. `root` (r, r): as in
    `independent_columns`.
    """

    total: Floats
    sums: Floats
    kept: Ints
    squares: Floats
    root: Floats

    @property
    def rank(self) -> int:
        """Rank of the design."""
        return len(self.kept)

    def curvature(self, weight: float = 1.0) -> Curvature:
        """The curvature where every record weighs the same."""
        return Curvature(self.root.T, np.sqrt(self.squares * weight), self.kept, len(self.sums))


@dataclass(frozen=True, eq=False)
class LogitFit:
    """A fitted model.

    `coefficients` (n_columns,): NaN for columns that are combinations of earlier ones; infinite where a column of
    categories tells its records apart for sure, all other coefficients being those of the model without these
    records. `score` (n_rows,): fitted probability of being released: 0 or 1 in the limit. `still`: largest change
    of a score in the last step. `likelihood`: its logarithm. `pull` (n_columns,): gradient where every score is the
    share of released records.
    """

    coefficients: Floats
    score: Floats
    still: float
    steps: int
    likelihood: float
    pull: Floats
    allowed: float = STILL

    @property
    def converged(self) -> bool:
        """Whether the scores stand still."""
        return self.still <= self.allowed

    @property
    def certain(self) -> NDArray[np.bool_]:
        """Rows whose membership the model is sure of: coefficients run off to infinity there."""
        return np.asarray((self.score < CERTAIN) | (self.score > 1 - CERTAIN))


def start_of(design: Design, total: Floats, among: Ints | None = None) -> Start:
    """Rank and roots of a design.

    `total` (n_rows,): records that each row stands for. `among`: columns that all others are combinations of.
    """
    columns = np.arange(design.n_columns) if among is None else among
    cross = lower_gram(design, total, columns)
    chosen, root = independent_columns(cross, ALIASED)
    return Start(total, column_sums(design, total), columns[chosen], np.diag(cross)[chosen], root)


def fit_logit(design: Design, start: Start, released: Floats) -> LogitFit:
    """Maximise the likelihood, or follow it to its limit where it has no maximum.

    `released` (n_rows,): released records of each row.

    >>> codes = np.array([[0, 1]], np.int32)
    >>> at = np.array([0])
    >>> design = Design(codes, np.empty((0, 2)), at, at + 1, np.array([[-1], [0]]), np.array([0, 1]), 2)
    >>> fit = fit_logit(design, start_of(design, np.array([4.0, 10.0])), np.array([1.0, 5.0]))
    >>> fit.score.round(12).tolist(), fit.converged
    ([0.25, 0.5], True)
    """
    of_all, of_released = start.sums, column_sums(design, released)
    pull = of_released - of_all * (released.sum() / start.total.sum())
    sure, limits = _told_apart(design, start.total, released, of_all, of_released)
    if not sure.any():
        fit, kept = _to_the_limit(design, start, released, pull)
    else:
        total, rest = np.where(sure, 0.0, start.total), np.where(sure, 0.0, released)
        score = np.divide(released, start.total, out=np.zeros(design.n_rows), where=start.total > 0)
        if total.sum() == 0:
            return LogitFit(np.where(limits == 0, math.nan, limits), score, 0.0, 0, 0.0, pull)
        others = start_of(design, total, start.kept)
        of_rest = column_sums(design, rest) - others.sums * (rest.sum() / total.sum())
        fit, kept = _to_the_limit(design, others, rest, of_rest)
        fit = replace(fit, score=np.where(sure, score, fit.score))
    slopes = np.where(limits == 0, _known(fit.coefficients, kept), limits)
    return replace(fit, coefficients=slopes, pull=pull)


def _to_the_limit(design: Design, start: Start, released: Floats, gradient: Floats) -> tuple[LogitFit, Ints]:
    """Climb; where the scores do not come to a stand soon, without the rows that a combination of columns tells apart.

    Gives the columns that have a coefficient, too.
    """
    fit, kept = _climb(design, start, released, gradient, patience=PATIENCE), start.kept
    while not fit.converged and fit.steps < STEPS:
        sure = separated_rows(design, start.total, released, fit.score, start.kept, ALIASED)
        if sure.any():
            score = np.divide(released, start.total, out=np.zeros(design.n_rows), where=start.total > 0)
            fit = replace(fit, score=np.where(sure, score, fit.score))
            start, released = (
                start_of(design, np.where(sure, 0.0, start.total), start.kept),
                np.where(sure, 0.0, released),
            )
        likelihood, gradient, _ = sweep(design, fit.coefficients, start.total, released, fit.score)
        at = replace(fit, likelihood=likelihood, pull=gradient)
        patience = PATIENCE if sure.any() else STEPS
        fit = _climb_on(design, start, released, at, _curvature(design, start, fit.score), patience)
    return fit, kept


def _known(coefficients: Floats, kept: Ints) -> Floats:
    found = np.full(len(coefficients), math.nan)
    found[kept] = coefficients[kept]
    return found


def _told_apart(
    design: Design, total: Floats, released: Floats, of_all: Floats, of_released: Floats
) -> tuple[NDArray[np.bool_], Floats]:
    """Rows that a column of categories tells apart for sure, and the limits of such columns' coefficients.

    Where all records with a level (or a combination of levels) are from one file, its coefficient runs off to
    infinity, and the model of all other records is that without them; which may tell more apart.
    """
    sure, limits = np.zeros(design.n_rows, np.bool_), np.zeros(design.n_columns)
    while True:
        some = design.indicators & (of_all > 0)
        one, other = some & (of_released == of_all), some & (of_released == 0)
        if not (one | other).any():
            return sure, limits
        limits[one], limits[other] = math.inf, -math.inf
        sure |= rows_with(design, one | other)
        of_all = column_sums(design, np.where(sure, 0.0, total))
        of_released = column_sums(design, np.where(sure, 0.0, released))


def _climb(
    design: Design, start: Start, released: Floats, gradient: Floats, *, patience: int = STEPS
) -> LogitFit:
    """Newton's steps from a model without variables, with new curvature only where the old one is slow."""
    c = float(released.sum() / start.total.sum())
    beta = np.zeros(design.n_columns)
    beta[0] = math.log(c / (1 - c))
    score = np.full(design.n_rows, c)
    likelihood = float(released.sum() * math.log(c) + (start.total - released).sum() * math.log(1 - c))
    at = LogitFit(beta, score, math.inf, 0, likelihood, gradient)
    return _climb_on(design, start, released, at, start.curvature(c * (1 - c)), patience)


def _curvature(design: Design, start: Start, score: Floats) -> Curvature:
    weight = start.total * score * (1 - score)
    return Curvature.of(lower_gram(design, weight, start.kept), start.kept, design.n_columns)


def _climb_on(
    design: Design, start: Start, released: Floats, at: LogitFit, curvature: Curvature, patience: int
) -> LogitFit:
    """The same from a model, whose `pull` is its gradient and whose scores are written over.

    `patience`: curvatures after which it is given up.
    """
    beta, score, change, steps = at.coefficients, at.score, at.still, at.steps
    likelihood, gradient = at.likelihood, at.pull
    allowed = STILL * max(1.0, start.rank / 100)
    fast = FAST_MANY if start.rank > MANY else FAST
    fresh, decrement, curvatures = True, math.inf, 1
    while steps < STEPS:
        step = curvature.solve(gradient)
        before, decrement = decrement, float(gradient @ step)
        if fresh or decrement <= fast * before:
            moved = _moved(design, start.total, released, beta, step, likelihood, score)
            if moved is not None:
                beta, likelihood, gradient, change = moved
                steps, fresh = steps + 1, False
                if change <= allowed:
                    break
                continue
            if fresh:
                break
        if curvatures == patience:
            break
        curvature = _curvature(design, start, score)
        fresh, decrement, curvatures = True, math.inf, curvatures + 1
    return LogitFit(beta, score, change, steps, likelihood, gradient, allowed)


def lost_without(
    start: Start, fit: LogitFit, made_of: Sequence[frozenset[str]], c: float
) -> dict[str, float]:
    """What a linear model of membership on the same columns would lose in explained variance without a variable.

    Finite where coefficients are not, and the same for every coding of the levels.

    `made_of`: the variables of each column. `c`: share of released records. Each loss is 0 to 1; the variables are
    in the order in which they appear.
    """
    names = list(dict.fromkeys(name for one in made_of for name in sorted(one)))
    curvature = start.curvature()
    slope = curvature.solve(fit.pull)[curvature.at]
    inverse = curvature.inverse()
    variance = float(start.total.sum()) * c * (1 - c)
    found = {}
    for name in names:
        own = [i for i, at in enumerate(curvature.at.tolist()) if name in made_of[at]]
        part = inverse[np.ix_(own, own)]
        lost = float(slope[own] @ np.linalg.solve(part, slope[own])) if own else 0.0
        found[name] = min(max(lost / variance, 0.0), 1.0)
    return found


def _moved(
    design: Design,
    total: Floats,
    released: Floats,
    beta: Floats,
    step: Floats,
    likelihood: float,
    score: Floats,
) -> tuple[Floats, float, Floats, float] | None:
    """The point after a step, halved until the likelihood does not fall; None where it always does."""
    slack = 1e-12 * (1.0 + abs(likelihood))  # rounding of a sum over all records
    old = score.copy()
    for _ in range(HALVINGS):
        tried = beta + step
        found, gradient, change = sweep(design, tried, total, released, score)
        if found >= likelihood - slack:
            return tried, found, gradient, change
        score[:] = old
        step = step / 2
    return None
