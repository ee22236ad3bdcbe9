"""Singling out in files of different sizes: what would be isolated among as many people."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.intervals import excess, wilson

ENOUGH = 20  # a predicate expected to be true of so many people of a part of the file isolates nobody there
MOST = 4_000


def counted(n: int, size: int) -> int:
    """Up to how many matches among `n` people must be told apart for `isolated` among `size` of them.

    Examples
    --------
    >>> counted(100, 100), counted(1000, 100)
    (1, 200)
    """
    return 1 if size >= n else min(math.ceil(ENOUGH * n / size), MOST)


def isolated(matches: NDArray[np.int64], n: int, size: int) -> NDArray[np.float64]:
    """Chance that exactly one of some people is among `size` drawn from `n`.

    `matches` says how many people a predicate is true of; more than `counted` are as good as infinitely many. 1
    or 0 where all are drawn.

    Examples
    --------
    >>> isolated(np.array([0, 1, 2]), 4, 4).tolist(), isolated(np.array([0, 1, 2]), 4, 2).round(3).tolist()
    ([0.0, 1.0, 0.0], [0.0, 0.5, 0.667])
    """
    most = min(int(matches.max(initial=0)), counted(n, size))
    chance = np.zeros(int(matches.max(initial=0)) + 1)
    others = 1.0  # none of the others is drawn
    for t in range(1, most + 1):
        chance[t] = t * size / n * others
        others *= max(n - size - t + 1, 0) / max(n - t, 1)
    found: NDArray[np.float64] = chance[matches]
    return found


@dataclass(frozen=True)
class Scaled:
    """What a smaller control file says of as many people as the original has.

    Its success rate is multiplied by `factor`; `residual` is (a - c) / (1 - c), with lower and upper end, of the
    success rate a and the multiplied control rate c.
    """

    factor: float
    residual: tuple[float, float, float]


def scaled(successes: float, same_size: float, control: float, n: float, level: float) -> Scaled:
    """Compare successes on a file with those on a smaller one.

    What the original isolates, over what is expected among as many of its people as the control file has, is
    what the control's successes are multiplied by. If the release owes nothing to the original, that is as
    unbiased as the two are alike; of a copy nothing is lost, as it would be if the original itself were cut.

    `same_size` is what is expected on as many people of the original as the control file has; `n` counts
    attempts, the equivalent number of independent ones if successes are reduced likewise. The interval is that of
    control / same_size by the score test, beside Wilson's of the success rate. It covers 0 where the score test
    does not tell the two apart.

    Examples
    --------
    >>> found = scaled(40, 10, 1, 100, 0.95)
    >>> found.factor, round(found.residual[0], 3)
    (4.0, 0.375)
    """
    if successes <= 0 or same_size <= 0:
        return Scaled(1.0, excess(same_size, n, control, n, level))
    share, (odds, least, most) = successes / n, excess(n - control, n, n - same_size, n, level)
    ends = wilson(successes, n, level)
    low = min(_residual(rate, 1 - least) for rate in (ends.low, ends.high))
    high = max(_residual(rate, 1 - most) for rate in (ends.low, ends.high))
    return Scaled(successes / same_size, (_residual(share, 1 - odds), low, high))


def _residual(rate: float, ratio: float) -> float:
    """(a - c) / (1 - c) for c = ratio * a."""
    chance = ratio * rate if rate else 0.0
    if chance < 1:
        return (rate - chance) / (1 - chance)
    return 0.0 if rate == chance else -math.inf
