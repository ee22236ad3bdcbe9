"""Confidence intervals by the score test: of a proportion, and of the excess of one success rate over another."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

WIDEST = 30.0


@dataclass(frozen=True)
class Wilson:
    """Centre and half-width of Wilson's interval of a proportion.

    The interval is ``centre - half`` to ``centre + half``.
    """

    centre: float
    half: float

    @property
    def low(self) -> float:
        """Lower end, never below 0."""
        return max(self.centre - self.half, 0.0)

    @property
    def high(self) -> float:
        """Upper end, never above 1."""
        return min(self.centre + self.half, 1.0)


def wilson(successes: float, n: float, level: float = 0.95) -> Wilson:
    """Confidence interval of a proportion from `successes` of `n` (Wilson 1927).

    `successes`: 0 to `n`; need not be whole. `n`: above 0; the equivalent number of independent attempts where they
    are not independent. `level`: confidence, between 0 and 1.

    >>> found = wilson(5, 10)
    >>> round(found.low, 4), round(found.high, 4)
    (0.2366, 0.7634)
    """
    z2 = NormalDist().inv_cdf((1 + level) / 2) ** 2
    centre = (successes + z2 / 2) / (n + z2)
    half = math.sqrt(z2 * (successes * (n - successes) / n + z2 / 4)) / (n + z2)
    return Wilson(centre, half)


@lru_cache(maxsize=1024)  # a document asks for the interval of an attack once more, a group for that of another
def excess(
    attack: float, n_attack: float, control: float, n_control: float, level: float = 0.95
) -> tuple[float, float, float]:
    """Success rate of an attack beyond that of a control, (a - c) / (1 - c), with its score interval.

    That is 1 minus the ratio of two failure rates, whose interval is that of Miettinen and Nurminen (1985): all
    ratios that the score test does not reject. It keeps its coverage where the numbers of attempts differ and
    where nearly all of them succeed. It is not truncated at 0.

    `attack` and `control`: successes; they need not be whole. `n_attack` and `n_control`: attempts, above 0; the
    equivalent number of independent ones where they are not independent. `level`: confidence, between 0 and 1.
    Returns estimate, lower and upper end; 0 where all attempts succeed in both, minus infinity for an estimate or a
    lower end where the control never fails.

    >>> [round(x, 3) for x in excess(60, 100, 20, 100)]
    [0.5, 0.36, 0.619]
    """
    first, second = n_attack - attack, n_control - control  # failures
    z = NormalDist().inv_cdf((1 + level) / 2)
    estimate = 0.0 if first == second == 0 else _minus(first / n_attack, second / n_control)

    def score(log_ratio: float) -> float:
        return _score(first, n_attack, second, n_control, math.exp(log_ratio))

    low = -math.inf if second == 0 else 1 - math.exp(_crossing(score, -z))
    high = 1.0 if first == 0 else 1 - math.exp(_crossing(score, z))
    return estimate, min(low, estimate), max(high, estimate)  # the ends are found by bisection in a finite range


def _minus(first: float, second: float) -> float:
    return 1 - first / second if second > 0 else -math.inf


def _score(first: float, n_first: float, second: float, n_second: float, ratio: float) -> float:
    """Score statistic of two proportions under a `ratio` of the first to the second: 0 at the ratio observed."""
    both = first + second
    b = first + n_second + ratio * (n_first + second)
    root = math.sqrt(max(b * b - 4 * ratio * (n_first + n_second) * both, 0.0))
    p = 2 * both / (b + root)  # maximum likelihood estimate of the second proportion under the ratio
    q = min(ratio * p, 1.0)
    variance = q * (1 - q) / n_first + ratio**2 * p * max(1 - p, 0.0) / n_second
    variance *= (n_first + n_second) / max(n_first + n_second - 1, 1)
    difference = first / n_first - ratio * second / n_second
    if variance <= 0:
        return math.copysign(math.inf, difference) if difference else 0.0
    return difference / math.sqrt(variance)


def _crossing(score: Callable[[float], float], at: float) -> float:
    """Where a decreasing function takes a value, by bisection over logarithms of ratios from 1e-13 to 1e13."""
    low, high = -WIDEST, WIDEST
    while high - low > 1e-13 * max(abs(low), 1.0):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if score(middle) > at else (low, middle)
    return (low + high) / 2
