"""Fitted models and the risk of sample uniques under them."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from sdckit.identity.population import population_model
from sdckit.identity.population.log_linear import Grid
from sdckit.identity.population.population_model import bootstrap_interval, fit_model, unique_risk


def drawn(n=400, seed=2):
    rng = np.random.default_rng(seed)
    rows, counts = np.unique(rng.integers(0, (9, 7, 4), (n, 3)).T, axis=1, return_counts=True)
    return Grid(tuple(rows), (9, 7, 4)), counts.astype(float)


@pytest.mark.parametrize("mu", [0.0, 1e-300, 1e-12, 0.03, 5.0, 1e4])
@pytest.mark.parametrize("pi", [0.01, 0.5, 1.0])
def test_the_risk_of_a_unique(mu, pi):
    p, match = unique_risk(np.array([mu]), pi)
    x = mpmath.mpf(mu) * (1 - mpmath.mpf(pi)) / mpmath.mpf(pi)
    assert p[0] == pytest.approx(float(mpmath.exp(-x)), rel=1e-12, abs=1e-300)
    expected = -mpmath.expm1(-x) / x if x else mpmath.mpf(1)
    assert match[0] == pytest.approx(float(expected), rel=1e-12)


def test_the_risk_is_that_of_poisson_counts():
    """1 + Poisson(x) people share a unique record's key: P(F = 1) and E[1/F]."""
    x = 1.7
    weights = [math.exp(-x) * x**k / math.factorial(k) for k in range(80)]
    p, match = unique_risk(np.array([x / 9]), 0.1)
    assert p[0] == pytest.approx(weights[0])
    assert match[0] == pytest.approx(math.fsum(w / (1 + k) for k, w in enumerate(weights)))


def test_main_effects_by_both_routes(monkeypatch):
    grid, counts = drawn()
    visited = fit_model(grid, (), counts, 0.1)
    monkeypatch.setattr(population_model, "MAX_GRID", 10)
    summed = fit_model(grid, (), counts, 0.1)
    assert (visited.mu == summed.mu).all()
    a, b = visited.statistics, summed.statistics
    assert a.b1_error == 0 < b.b1_error
    assert abs(a.b1 - b.b1) <= b.b1_error
    assert abs(a.b2 - b.b2) <= b.b2_error
    for name in ("z1", "z2", "robust_z1", "robust_z2"):
        assert getattr(b, name) == pytest.approx(getattr(a, name), rel=1e-3, abs=1e-3)


def test_a_census_is_not_judged():
    grid, counts = drawn()
    assert math.isnan(fit_model(grid, (), counts, 1.0).statistics.z2)
    assert math.isnan(fit_model(grid, ((0, 1),), counts, 1.0).statistics.z2)


@pytest.mark.parametrize("terms", [(), ((0, 1),)])
def test_the_bootstrap(terms):
    grid, counts = drawn()
    model = fit_model(grid, terms, counts, 0.1)
    found = bootstrap_interval(grid, model, counts, 0.1, np.random.default_rng(5))
    p, match = unique_risk(model.mu[counts == 1], 0.1)
    assert found["tau1"][0] < p.sum() < found["tau1"][1]
    assert found["tau2"][0] < match.sum() < found["tau2"][1]
    assert found == bootstrap_interval(grid, model, counts, 0.1, np.random.default_rng(5))
    assert found != bootstrap_interval(grid, model, counts, 0.1, np.random.default_rng(6))
