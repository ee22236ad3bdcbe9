"""Fits of which most records count: the smallest residuals, and their mean."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.attacks.recovery import trimmed_fits


def test_the_smallest_residuals_are_told_apart() -> None:
    rng = np.random.default_rng(6)
    some, others = np.empty(41), np.empty(41)
    for values in (rng.random(40), rng.integers(0, 4, 40) * 1.0, np.zeros(40), 10.0 ** rng.integers(-12, 6, 40)):
        for h in (1, 30, 40):
            limit, mean = trimmed_fits._nearest(values, 40, h, some, others)
            assert limit == np.sort(values)[h - 1]
            assert mean == pytest.approx(np.sort(values)[:h].mean(), rel=1e-12)
            total = 0.0
            for value in np.sort(values)[:h].tolist():
                total += value
            assert trimmed_fits._mean_in_order(values, 40, h, limit, some) == total / h
