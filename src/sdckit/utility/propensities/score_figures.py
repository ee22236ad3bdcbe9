"""How well scores tell released records from original ones."""

from __future__ import annotations

import math

import numpy as np

from sdckit.numerics.array_types import Floats

DIGITS = 12  # scores that agree to so many digits after the point are equal


def mean_squared_error(score: Floats, original: Floats, released: Floats) -> float:
    """Mean squared distance of the scores from the share of released records (pMSE).

    >>> mean_squared_error(np.array([0.25, 0.75]), np.array([3.0, 1.0]), np.array([1.0, 3.0]))
    0.0625
    """
    total = original + released
    n = float(total.sum())
    c = float(released.sum()) / n
    return float(total @ (score - c) ** 2) / n


def score_figures(score: Floats, original: Floats, released: Floats) -> dict[str, float]:
    """All figures of one release.

    `score` (n_rows,): predicted probability of being released. `original` and `released` (n_rows,): records of each
    file with this score. Returns ``pmse``, ``specks``, ``po50``, ``u``, ``auc``.

    >>> found = score_figures(np.array([0.25, 0.75]), np.array([3.0, 1.0]), np.array([1.0, 3.0]))
    >>> found["specks"], found["po50"], found["u"], found["auc"]
    (0.5, 0.25, 12.0, 0.75)
    """
    n, n_released = float(original.sum()), float(released.sum())
    rounded = np.round(score, DIGITS)
    order = np.argsort(rounded)
    ordered = rounded[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    of_original = np.add.reduceat(original[order], first)
    of_released = np.add.reduceat(released[order], first)
    below = np.cumsum(of_original)
    apart = np.abs(below / n - np.cumsum(of_released) / n_released)
    u = math.fsum((of_released * (below - of_original / 2)).tolist())
    above = ordered[first] > 0.5
    right = float(of_released[above].sum() + of_original[~above].sum())
    return {
        "pmse": mean_squared_error(score, original, released),
        "specks": float(apart.max()),
        "po50": right / (n + n_released) - 0.5,
        "u": u,
        "auc": u / (n * n_released),
    }
