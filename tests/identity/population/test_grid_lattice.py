"""Sums over a grid that nobody visits against the same sums over every cell."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdckit.identity.population.fit_statistics import sum_grid
from sdckit.identity.population.grid_lattice import expected_histogram, sum_lattice

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
