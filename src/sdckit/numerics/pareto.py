"""Pairs of figures, of both less is better, that no other pair beats."""

from __future__ import annotations

import math
from collections.abc import Sequence


def pareto(pairs: Sequence[tuple[float, float]]) -> tuple[bool, ...]:
    """Which pairs no other beats: less of one and not more of the other; NaN never stands on the front.

    Examples
    --------
    >>> pareto([(1, 5), (2, 3), (2, 4), (3, 3), (1, 5)])
    (True, True, False, False, True)
    """
    found = []
    for risk, loss in pairs:
        if math.isnan(risk) or math.isnan(loss):
            found.append(False)
            continue
        beaten = any(r <= risk and l <= loss and (r < risk or l < loss) for r, l in pairs)  # noqa: E741
        found.append(not beaten)
    return tuple(found)
