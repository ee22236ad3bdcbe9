"""Exposure, area under the curve and its interval, by all pairs and by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.attacks.planted.canary_rates import auc_interval, exposures, stand_out


def test_by_all_pairs():
    rng = np.random.default_rng(2)
    planted, held_out = rng.integers(0, 6, 12) / 10, rng.integers(0, 8, 9) / 10
    closer = (held_out[None] < planted[:, None] - 1e-9).sum(axis=1)
    equal = (np.abs(held_out[None] - planted[:, None]) < 1e-9).sum(axis=1)
    assert exposures(planted, held_out, 1e-9) == pytest.approx(np.log2(10) - np.log2(1 + closer + equal / 2))
    area, p_value = stand_out(planted, held_out, 1e-9)
    assert area == pytest.approx(1 - (closer + equal / 2).mean() / 9)
    draws = np.random.default_rng(3)
    together, count = np.concatenate([planted, held_out]), 0
    for _ in range(2000):
        mixed = draws.permutation(together)
        count += stand_out_area(mixed[:12], mixed[12:]) >= area - 1e-9
    assert p_value == pytest.approx(count / 2000, abs=0.03)


def stand_out_area(planted, held_out):
    away = held_out[None] - planted[:, None]
    return (away > 1e-9).mean() + (np.abs(away) <= 1e-9).mean() / 2


def test_all_equal_is_no_evidence():
    assert stand_out(np.zeros(5), np.full(5, 1e-13), 1e-12) == (0.5, 1.0)


@pytest.mark.parametrize("area", [0.0, 0.03, 0.5, 0.9, 1.0])
def test_an_interval_stays_within_0_and_1_and_turns_round(area):
    low, high = auc_interval(area, 20, 30)
    assert 0 <= low <= area <= high <= 1
    assert high - low > 0.05
    assert auc_interval(1 - area, 30, 20) == pytest.approx((1 - high, 1 - low), abs=1e-8)
    assert auc_interval(area, 200, 300)[0] >= low


def test_the_interval_holds_what_it_says():
    rng = np.random.default_rng(4)
    inside = 0
    for _ in range(300):
        area, _ = stand_out(rng.normal(-1, 1, 25), rng.normal(0, 1, 25))
        low, high = auc_interval(area, 25, 25)
        inside += low <= 0.7602499 <= high
    assert inside / 300 > 0.92
