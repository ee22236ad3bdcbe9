"""Records that a combination of columns tells apart for sure."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Floats, Ints
from sdckit.utility.propensities.logit_curvature import independent_columns
from sdckit.utility.propensities.logit_kernel import Design, lower_gram, sweep, written_out

LIKELY = 0.3  # only rows whose scores are as near to their membership may be told apart
MOST = 4_000  # of such rows, and of directions that leave all others alone
NOTHING = 1e-9  # products that are 0 but for rounding
LEFT = 1e-6  # how far the direction found may move another row, in steps of those it tells apart


def separated_rows(
    design: Design, total: Floats, released: Floats, score: Floats, kept: Ints, tolerance: float
) -> NDArray[np.bool_]:
    """Rows that some direction tells apart while it leaves all others where they are (Konis 2007).

    `score` (n_rows,): of a model that is not fitted to the end, but near it. `kept`: columns that are no combination
    of earlier ones; `tolerance`: as in `independent_columns`. Of the rows that are nearly sure already a linear
    programme finds those that can be made as sure as one likes, none of them in the wrong direction.
    """
    outcome = np.divide(released, total, out=np.full(len(total), 0.5), where=total > 0)
    likely = (np.abs(outcome - score) < LIKELY) & ((outcome == 0) | (outcome == 1))
    rows, none = np.flatnonzero(likely), np.zeros(len(total), np.bool_)
    if not 0 < len(rows) <= MOST:
        return none
    ahead, directions = _directions(design, np.where(likely, 0.0, total), rows, kept, tolerance)
    if not len(directions):
        return none
    ahead *= np.where(outcome[rows] == 1, 1.0, -1.0)[:, None]
    ahead[np.abs(ahead) < NOTHING] = 0.0
    weights, sure = _farthest(ahead)
    found = none.copy()
    found[rows[sure]] = True
    return found if _leaves_others(design, weights @ directions, (total > 0) & ~found) else none


def _directions(
    design: Design, total: Floats, rows: Ints, kept: Ints, tolerance: float
) -> tuple[Floats, Floats]:
    """Directions of the coefficients that move no row with a total, and how they move some other rows.

    Shapes (n_rows, n_directions) and (n_directions, n_columns).
    """
    from scipy.linalg import cho_solve

    cross = lower_gram(design, total, kept)
    held, root = independent_columns(cross, tolerance)
    free = np.setdiff1d(np.arange(len(kept)), held)
    if not 0 < len(free) <= MOST:
        return np.empty((len(rows), 0)), np.empty((0, design.n_columns))
    scale = np.sqrt(np.diag(cross)[held])
    both = cross[np.ix_(held, free)] + cross[np.ix_(free, held)].T  # one of them is 0
    made = cho_solve((root, True), both / scale[:, None]) / scale[:, None]
    entries = written_out(design, rows)[:, kept]
    directions = np.zeros((len(free), design.n_columns))
    directions[np.arange(len(free)), kept[free]] = 1.0
    directions[:, kept[held]] = -made.T
    return entries[:, free] - entries[:, held] @ made, directions


def _farthest(ahead: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Weights of the directions that move as many rows ahead as can be, and none of them back; and which these are."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack

    n, k = ahead.shape
    some: Any = csr_array(ahead)
    found = linprog(
        np.concatenate([np.zeros(k), -np.ones(n)]),
        A_ub=hstack([-some, eye_array(n)], format="csr"),
        b_ub=np.zeros(n),
        bounds=[(None, None)] * k + [(0, 1)] * n,
        method="highs",
    )
    if found.x is None:
        return np.zeros(k), np.zeros(n, np.bool_)
    return found.x[:k], found.x[k:] > 0.5


def _leaves_others(design: Design, direction: Floats, others: NDArray[np.bool_]) -> bool:
    """Whether a direction does not move some rows."""
    n = design.n_rows
    score = np.full(n, 0.5)
    sweep(design, direction, np.ones(n), np.zeros(n), score)
    return bool((np.abs(score[others] - 0.5) < LEFT).all())
