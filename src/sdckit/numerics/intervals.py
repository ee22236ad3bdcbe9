"""Intervals of shares by Wilson, and of what a share exceeds another by."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Wilson", "excess", "wilson"]


@dataclass(frozen=True)
class Wilson:
    """Centre and half-width of Wilson's interval of a share.

    Attributes
    ----------
    centre, half : float
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


def wilson(successes: float, n: int, level: float = 0.95) -> Wilson:
    """Interval of a share from `successes` of `n` (Wilson 1927).

    Parameters
    ----------
    successes : float
        0 to `n`; need not be whole.
    n : int
        At least 1.
    level : float
        Confidence, between 0 and 1.

    Returns
    -------
    Wilson

    Examples
    --------
    >>> found = wilson(5, 10)
    >>> round(found.low, 4), round(found.high, 4)
    (0.2366, 0.7634)
    """
    from statistics import NormalDist

    z2 = NormalDist().inv_cdf((1 + level) / 2) ** 2
    centre = (successes + z2 / 2) / (n + z2)
    half = math.sqrt(z2 * (successes * (n - successes) / n + z2 / 4)) / (n + z2)
    return Wilson(centre, half)


def excess(attack: Wilson, control: Wilson) -> tuple[float, float, float]:
    """Share of the failures of a control that succeed in an attack, (a - c) / (1 - c), with its interval.

    Half-widths are propagated to first order; nothing is cut off at 0 and 1.

    Parameters
    ----------
    attack, control : Wilson
        The centre of the control is below 1, as Wilson's always is.

    Returns
    -------
    tuple of float
        Estimate, lower and upper end.

    Examples
    --------
    >>> [round(x, 3) for x in excess(wilson(60, 100), wilson(20, 100))]
    [0.488, 0.359, 0.618]
    """
    left = 1 - control.centre
    value = (attack.centre - control.centre) / left
    half = math.hypot(attack.half / left, control.half * (1 - attack.centre) / left**2)
    return value, value - half, value + half
