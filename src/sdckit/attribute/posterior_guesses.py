"""What posterior draws say of the values a record may have: logs in, probabilities out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Guesses", "category_logs", "normal_logs", "posterior_of_guesses", "rank_of_truth"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
LogOf = Callable[[int, int], Floats]
BLOCK = 2_000_000  # logs held at once


@dataclass(frozen=True, eq=False)
class Guesses:
    """What an intruder holds of each record.

    Attributes
    ----------
    probability : ndarray, float64, shape (n, G)
        Posterior probability of each guess.
    draws : ndarray, float64, shape (n,)
        Draws that the worst supported guess rests on, of those given: (sum of weights)^2 / sum of squares.
    """

    probability: Floats
    draws: Floats


def normal_logs(values: Floats, mean: Floats, sd: Floats) -> Floats:
    """Log density of values (n, G) given draws of mean (H, n) and sd (H, n), shape (H, n, G)."""
    away = (values[None] - mean[:, :, None]) / sd[:, :, None]
    logs: Floats = -0.5 * (away**2 + np.log(2 * np.pi)) - np.log(sd)[:, :, None]
    return logs


def category_logs(probability: Floats, codes: Ints) -> Floats:
    """Log probability (H, n) of the level that each record has; -inf where a draw rules it out."""
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(np.take_along_axis(probability, codes[None, :, None], axis=2)[:, :, 0])
    return logs


def posterior_of_guesses(
    log_guess: LogOf,
    log_truth: Floats,
    log_released: Sequence[Floats],
    log_prior: Floats,
) -> Guesses:
    """Importance sampling: draws given the true file are weighted to stand for one with a guess in a record's place.

    Parameters
    ----------
    log_guess : callable
        From first and last row (exclusive) to log p(guess | draw), shape (H, rows, G).
    log_truth : ndarray, shape (H, n)
        log p(true value | draw).
    log_released : sequence of ndarray, shape (H,)
        For each release log p(release | draw).
    log_prior : ndarray, shape (n, G)
        -inf for what is no guess of a record.
    """
    from scipy.special import logsumexp

    (h, n), g = log_truth.shape, log_prior.shape[1]
    probability, draws = np.empty((n, g)), np.empty(n)
    step = max(1, BLOCK // (h * g))
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        weight = log_guess(rows.start, rows.stop) - log_truth[:, rows, None]
        total = logsumexp(weight, axis=0)
        weight = weight - np.where(np.isfinite(total), total, 0.0)
        score, least = log_prior[rows].copy(), np.full(total.shape, np.inf)
        for one in log_released:
            combined = weight + one[:, None, None]
            found = logsumexp(combined, axis=0)
            score += found
            with np.errstate(invalid="ignore"):
                effective = np.exp(2 * found - logsumexp(2 * combined, axis=0))
            least = np.fmin(least, np.where(np.isfinite(score), effective, np.inf))
        probability[rows] = np.exp(score - logsumexp(score, axis=1, keepdims=True))
        draws[rows] = least.min(axis=1)
    return Guesses(probability, draws)


def rank_of_truth(probability: Floats, truth: Ints, possible: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Rank of the true value among the guesses (1: the most probable, equal ones share), and its chance to be first.

    Examples
    --------
    >>> shares = np.array([[0.2, 0.5, 0.3], [0.4, 0.4, 0.2]])
    >>> rank, first = rank_of_truth(shares, np.array([2, 0]), np.ones((2, 3), bool))
    >>> rank.tolist(), first.tolist()
    ([2.0, 1.5], [0.0, 0.5])
    """
    own = np.take_along_axis(probability, truth[:, None], axis=1)
    slack = 1e-12
    above = (possible & (probability > own + slack)).sum(axis=1)
    equal = (possible & (np.abs(probability - own) <= slack)).sum(axis=1)
    rank: Floats = above + (equal + 1) / 2
    first: Floats = np.where(above == 0, 1 / equal, 0.0)
    return rank, first
