"""Fitted models and the risk of sample uniques under them."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdckit.identity.population import population_risk as population_model
from sdckit.identity.population.log_linear import Grid, fit_terms, sum_grid
from sdckit.identity.population.population_risk import (
    ACCEPT,
    bootstrap_interval,
    expected_histogram,
    fit_model,
    forward_search,
    generators,
    grid_statistics,
    sum_lattice,
    unique_risk,
)


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


# The forward search: where it starts, what it adds, when it stops.


def search_drawn(depends, n=3000, seed=5):
    """Three keys of which the first two depend on each other, or none."""
    rng = np.random.default_rng(seed)
    a, c = rng.integers(0, 12, n), rng.integers(0, 10, n)
    b = np.where(rng.random(n) < (0.7 if depends else 0), a, rng.integers(0, 12, n))
    rows, counts = np.unique(np.stack([a, b, c]), axis=1, return_counts=True)
    return Grid(tuple(rows), (12, 12, 10)), counts.astype(float)


def test_keys_that_do_not_depend_need_no_term():
    grid, counts = search_drawn(False)
    terms, path = forward_search(grid, counts, 0.1)
    assert terms == ()
    assert [step.term for step in path] == [None]
    assert path[0].z2 < ACCEPT


def test_the_term_that_is_there_is_found_first():
    grid, counts = search_drawn(True)
    terms, path = forward_search(grid, counts, 0.1)
    assert terms[0] == (0, 1)
    assert path[0].z2 > ACCEPT > path[-1].z2
    tried = []
    for term in ((0, 1), (0, 2), (1, 2)):
        mu, _ = fit_terms(grid, generators(grid, (term,)), counts)
        tried.append(abs(grid_statistics(grid, mu, counts, 0.1).z2))
    assert abs(path[1].z2) == min(tried)


def test_all_terms_may_not_be_enough():
    rng = np.random.default_rng(8)
    a, b = rng.integers(0, 6, (2, 900))
    rows, counts = np.unique(np.stack([a, b, (a + b) % 6]), axis=1, return_counts=True)
    terms, path = forward_search(Grid(tuple(rows), (6, 6, 6)), counts.astype(float), 0.1)
    assert len(terms) == 3 or path[-1].z2 < ACCEPT
    assert len(path) == len(terms) + 1


def test_one_key_has_nothing_to_add():
    terms, path = forward_search(Grid((np.array([0, 1]),), (2,)), np.array([1.0, 3.0]), 0.5)
    assert terms == ()
    assert math.isfinite(path[0].z2)


def test_margins_to_fit():
    grid = Grid((np.zeros(1, int),) * 3, (1, 1, 1))
    assert generators(grid, ((0, 2),)) == ((0, 2), (1,))


# Sums over a grid that nobody visits against the same sums over every cell.


levels = st.lists(st.lists(st.integers(0, 1000), min_size=1, max_size=6).filter(any), min_size=1, max_size=4)


@given(levels, st.sampled_from([0.02, 0.1, 0.6]), st.sampled_from([0.01, 0.003]), st.integers(1, 100_000))
def test_the_error_is_within_its_bound(counts, pi, step, n):
    shares = [np.array(one) / sum(one) for one in counts]
    mu = np.array([float(n)])
    for share in shares:
        mu = np.multiply.outer(mu, share[share > 0]).ravel()
    exact, found = sum_grid(mu, pi), sum_lattice(shares, n, pi, step)
    assert found.n_possible == pytest.approx(len(mu), rel=1e-12)
    rounding = 1e-9 * (1 + np.abs(exact.values).max())  # of tails like exp(-1000), too, that matter to nobody
    assert (np.abs(found.values - exact.values) <= found.errors + rounding).all()


def test_the_histogram_keeps_number_and_mean():
    shares = [np.array([0.5, 0.3, 0.2]), np.array([0.9, 0.1, 0.0])]
    first, mass = expected_histogram(shares, 0.01)
    logs = [math.log(a * b) for a in shares[0] for b in shares[1] if b]
    assert mass.sum() == pytest.approx(6)
    assert mass @ ((first + np.arange(len(mass))) * 0.01) == pytest.approx(sum(logs))


def test_thirty_keys_of_fifty_levels():
    rng = np.random.default_rng(4)
    shares = [one / one.sum() for one in rng.random((30, 50))]
    found = sum_lattice(shares, 1e6, 0.1)
    assert found.n_possible == pytest.approx(50.0**30, rel=1e-9)
    assert np.isfinite(found.values).all()
