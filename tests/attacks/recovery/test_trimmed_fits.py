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


def test_the_normal_equations_are_those_of_the_near_records() -> None:
    rng = np.random.default_rng(7)
    x, own, off = rng.normal(size=(3, 40)), rng.normal(size=40), rng.random(40)
    at, matrix, right = np.empty(41, np.int64), np.empty((4, 4)), np.empty(4)
    trimmed_fits._normal(x, own, off, 0.6, 40, at, matrix, right)
    near = np.vstack([np.ones(40), x])[:, off <= 0.6]
    assert 0 < near.shape[1] < 40
    np.testing.assert_allclose(matrix, near @ near.T, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(right, near @ own[off <= 0.6], rtol=1e-12, atol=1e-12)
