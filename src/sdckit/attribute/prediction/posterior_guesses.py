"""What posterior draws say of the values a record may have: logs in, probabilities out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Floats, Ints

LogOf = Callable[[int, int], Floats]
BLOCK = 100_000  # logs held at once: no more than the processor's cache takes
FAINT = 1e-140  # the square of a smaller number is not exact any more


@dataclass(frozen=True, eq=False)
class Guesses:
    """What an intruder holds of each record: posterior probabilities of the guesses, and what these rest on.

    `draws` are those that the worst supported guess rests on: (sum of weights)^2 / sum of squares.
    """

    probability: Floats  # (n, G)
    draws: Floats  # (n,)


@dataclass(frozen=True, eq=False)
class Part:
    """Draws of some parameters, and what they say of guesses and releases.

    Parameters that are independent given the original make a part each: p(release | y) is the product.
    """

    log_guess: LogOf  # from first and last row (exclusive) to log p(guess | draw), shape (H, rows, G)
    log_truth: Floats  # log p(true value | draw), shape (H, n)
    log_released: Sequence[Floats]  # for each release log p(release | draw), shape (H,)


def normal_logs(values: Floats, mean: Floats, sd: Floats) -> Floats:
    """Log density of values (n, G) given draws of mean (H, n) and sd (H, n), shape (H, n, G)."""
    away = (values[None] - mean[:, :, None]) / sd[:, :, None]
    logs: Floats = -0.5 * (away**2 + np.log(2 * np.pi)) - np.log(sd)[:, :, None]
    return logs


def poisson_logs(values: Floats, rate: Floats) -> Floats:
    """Log probability of counts (n, G) given draws of their mean (H, n), shape (H, n, G)."""
    from scipy.special import gammaln

    logs: Floats = values[None] * np.log(rate)[:, :, None] - rate[:, :, None] - gammaln(values + 1)
    return logs


def poisson_log_above(limit: float, rate: Floats) -> Floats:
    """Log probability of a count above a limit, of the shape of `rate`; exact far out in the tail too.

    Examples
    --------
    >>> poisson_log_above(0, np.array([0.5])).round(4).tolist()  # log(1 - exp(-0.5))
    [-0.9328]
    """
    from scipy.special import gammainc, gammaln, hyp1f1

    share = gammainc(limit + 1, rate)
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(share)
    if (far := share < FAINT).any():  # the first term of the tail times the sum of the others, relative to it
        few = rate[far]
        logs[far] = (limit + 1) * np.log(few) - few - gammaln(limit + 2) + np.log(hyp1f1(1, limit + 2, few))
    return logs


def category_logs(probability: Floats, codes: Ints) -> Floats:
    """Log probability (H, n) of the level that each record has; -inf where a draw rules it out."""
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(np.take_along_axis(probability, codes[None, :, None], axis=2)[:, :, 0])
    return logs


def posterior_of_guesses(parts: Sequence[Part], log_prior: Floats) -> Guesses:
    """Importance sampling: draws given the true file are weighted to stand for one with a guess in a record's place.

    `log_prior` (n, G) is -inf for what is no guess of a record.
    """
    from scipy.special import logsumexp

    n, g = log_prior.shape
    probability, draws = np.empty((n, g)), np.empty(n)
    step = max(1, BLOCK // (g * max(len(part.log_truth) for part in parts)))
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        score, least = log_prior[rows].copy(), np.full((rows.stop - start, g), np.inf)
        for part in parts:
            weight = part.log_guess(rows.start, rows.stop) - part.log_truth[:, rows, None]
            top = weight.max(axis=0)
            weight -= np.where(np.isfinite(top), top, 0.0)
            share = np.exp(weight)
            with np.errstate(divide="ignore"):
                log_total = np.log(share.sum(axis=0))
            for one in part.log_released:
                found, effective = _weighted(weight, share, one)
                with np.errstate(invalid="ignore"):
                    score += np.where(np.isfinite(top), found - log_total, -np.inf)
                least = np.fmin(least, np.where(np.isfinite(score), effective, np.inf))
        probability[rows] = np.exp(score - logsumexp(score, axis=1, keepdims=True))
        draws[rows] = least.min(axis=1)
    return Guesses(probability, draws)


def _weighted(weight: Floats, share: Floats, log_released: Floats) -> tuple[Floats, Floats]:
    """Log of sum_h share_h p(release | draw h), and the draws it rests on; ``share`` is ``exp(weight)``, (H, n, G)."""
    from scipy.special import logsumexp

    h, shape = len(share), share.shape[1:]
    top = log_released.max()
    made = np.exp(log_released - top)
    flat = share.reshape(h, -1)
    first, second = made @ flat, made**2 @ flat**2
    with np.errstate(divide="ignore", invalid="ignore"):
        found, effective = np.log(first) + top, first**2 / second
    if len(faint := np.flatnonzero(first < FAINT)):  # weights and release favour draws far apart
        logs = weight.reshape(h, -1)[:, faint] + log_released[:, None]
        found[faint] = logsumexp(logs, axis=0)
        with np.errstate(invalid="ignore"):
            effective[faint] = np.exp(2 * found[faint] - logsumexp(2 * logs, axis=0))
    return found.reshape(shape), effective.reshape(shape)


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
