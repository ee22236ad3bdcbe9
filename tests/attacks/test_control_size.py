"""Successes on a smaller file, scaled to a larger one."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.attacks.control_size import _isolated, size_factor
from sdckit.attacks.predicates import Predicates, Table


def rare_queries(n, q):
    """One number per person; equality with q rare ones."""
    return Predicates(
        np.zeros((q, 1), np.int64), np.zeros((q, 1), np.int8), np.arange(1, q + 1, dtype=np.int32)[:, None]
    )


def population(n, weight, q, rng):
    """Each of q values has this share of the people."""
    codes = np.where(rng.random(n) < weight * q, rng.integers(1, q + 1, n), q + 1)
    return Table(codes[None].astype(np.int32), np.arange(n))


@pytest.mark.parametrize("weight", [1e-4, 1e-3])
def test_the_expected_number_is_met(weight):
    rng = np.random.default_rng(1)
    small, large, q = 800, 2400, 400
    chance = [n * weight * (1 - weight) ** (n - 1) for n in (small, large)]
    found = [
        size_factor(population(small, weight, q, rng), rare_queries(small, q), large, rng) for _ in range(5)
    ]
    assert np.mean(found) == pytest.approx(chance[1] / chance[0], rel=0.25)
    assert max(found) <= 3


def test_nothing_to_scale():
    rng = np.random.default_rng(1)
    table, queries = population(50, 0.01, 10, rng), rare_queries(50, 10)
    assert size_factor(table, queries, 50, rng) == 1
    assert size_factor(table, queries, 40, rng) == 1
    assert size_factor(table, queries.take(slice(0)), 90, rng) == 1
    assert size_factor(table, Predicates(queries.column, queries.operator, queries.value + 90), 90, rng) == 1


def test_the_closed_form_is_the_integral():
    weight, s = 0.02, 70
    grid = np.linspace(0, weight, 200_001)
    integral = np.trapezoid(s * grid * (1 - grid) ** (s - 1), grid)
    assert _isolated(np.array([s]), np.float64(weight))[0] == pytest.approx(integral, rel=1e-6)
