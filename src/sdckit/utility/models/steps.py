"""Numbers told in steps, because they count records."""

from __future__ import annotations

import math


def rounded_up(step: float) -> float:
    """The next of 1, 2 and 5 times a power of ten; 0 for what is no step.

    >>> rounded_up(0.031), rounded_up(0.0)
    (0.05, 0.0)
    """
    if not (step > 0 and math.isfinite(step)):
        return 0.0
    power = 10.0 ** math.floor(math.log10(step))
    return next(many * power for many in (1, 2, 5, 10) if many * power >= step * (1 - 1e-9))


def in_steps(value: float, step: float) -> float:
    """A number told in steps; as it is where the step is 0.

    >>> in_steps(-1.37, 0.5), in_steps(-1.37, 0.0)
    (-1.5, -1.37)
    """
    if step == 0 or not math.isfinite(value):
        return value
    return round(round(value / step) * step, 12) + 0.0


def stepped(value: float, low: float, high: float, step: float) -> tuple[float, float, float]:
    """An estimate and the ends of its interval, in steps: the ends from the told estimate and half the width.

    Each rounded by itself would be three looks at the same count.

    >>> stepped(0.93, 0.41, 1.45, 0.2), stepped(0.93, 0.41, 1.45, 0.0)
    ((1.0, 0.4, 1.6), (0.93, 0.41, 1.45))
    """
    if step == 0:
        return value, low, high
    middle, half = in_steps(value, step), max(step, in_steps((high - low) / 2, step))
    return middle, round(middle - half, 12), round(middle + half, 12)
