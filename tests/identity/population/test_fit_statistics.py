"""B1 and B2 against their definition, with derivatives of the risk functions in high precision."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdckit.identity.population.fit_statistics import (
    FitStatistics,
    _coefficients,
    _correct,
    _functions,
    _sum_functions,
    fit_statistics,
    grid_functions,
    sum_grid,
)


def by_definition(mu, pi):
    """a = -l e^-m h'(l) and b = l e^-m h''(l) / (2 pi) for both risk functions of l = mu/pi."""
    with mpmath.workdps(60):
        mu, pi = mpmath.mpf(mu), mpmath.mpf(pi)
        lam = mu / pi
        functions = (
            lambda v: mpmath.exp(-(1 - pi) * v),
            lambda v: -mpmath.expm1(-(1 - pi) * v) / ((1 - pi) * v),
        )
        found = []
        for h in functions:
            found.append(float(-lam * mpmath.exp(-mu) * mpmath.diff(h, lam)))
            found.append(float(lam * mpmath.exp(-mu) * mpmath.diff(h, lam, 2) / (2 * pi)))
    return found


@pytest.mark.parametrize("pi", [0.01, 0.3, 0.9])
@pytest.mark.parametrize("x", [1e-9, 9e-5, 1.1e-4, 9e-3, 1.1e-2, 0.4, 3.0, 40.0])
def test_coefficients(x, pi):
    mu = x * pi / (1 - pi)
    for kernel in (_coefficients, _coefficients.py_func):
        assert kernel(mu, pi) == pytest.approx(by_definition(mu, pi), rel=2e-9)


def test_nothing_expected_contributes_nothing():
    assert _coefficients.py_func(0.0, 0.1) == (0.0, 0.0, 0.0, 0.0)
    assert not grid_functions(np.zeros(3), 0.1).any()
    one_cell = sum_grid(np.array([5.0]), 0.1)
    assert math.isnan(fit_statistics(one_cell, np.array([5.0]), np.array([5.0]), 0.1).robust_z1)


counts = st.lists(st.tuples(st.floats(1e-6, 5), st.integers(0, 20)), min_size=2, max_size=30)


@given(counts, st.sampled_from([0.1, 0.4]))
def test_sums_over_cells_one_by_one(cells, pi):
    mu, f = (np.array(column, float) for column in zip(*cells, strict=True))
    parts, variance, scale = [], np.zeros(2), np.zeros(2)
    for m, n in cells:
        a1, b1, a2, b2 = _coefficients.py_func(m, pi)
        parts.append([a * (n - m) + b * ((n - m) ** 2 - n) for a, b in ((a1, b1), (a2, b2))])
        scale += [a * (n + m) + b * ((n - m) ** 2 + n + m * m) for a, b in ((a1, b1), (a2, b2))]
        variance += [a * a * m + 2 * b * b * m * m for a, b in ((a1, b1), (a2, b2))]
    parts = np.array(parts)
    seen = f > 0
    found = fit_statistics(sum_grid(mu, pi), mu[seen], f[seen], pi)
    b, spread = parts.sum(0), parts.std(0, ddof=1) * math.sqrt(len(cells))
    assert (found.b1, found.b2) == pytest.approx(b, abs=1e-9 * scale.max())
    assert (found.z1, found.z2) == pytest.approx(
        b / np.sqrt(variance), abs=1e-7 * (scale / np.sqrt(variance)).max()
    )
    if (spread > 1e-6 * scale).all():
        expected = b / spread
        assert (found.robust_z1, found.robust_z2) == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_compiled_and_plain_kernels_agree():
    mu, f = np.array([0.0, 1e-6, 0.3, 4.0]), np.array([0.0, 1.0, 2.0, 3.0])
    plain = np.empty((6, 4))
    _functions.py_func(mu, 0.2, plain)
    np.testing.assert_allclose(grid_functions(mu, 0.2), plain, rtol=1e-12)
    np.testing.assert_allclose(_sum_functions.py_func(mu, 0.2), plain.sum(1), rtol=1e-12)
    np.testing.assert_allclose(sum_grid(mu, 0.2).values, plain.sum(1), rtol=1e-12)
    np.testing.assert_allclose(_correct.py_func(mu, f, 0.2), _correct(mu, f, 0.2), rtol=1e-12)


def test_a_census_leaves_nothing_to_estimate():
    found = fit_statistics(sum_grid(np.ones(3), 1.0), np.ones(3), np.ones(3), 1.0)
    assert all(math.isnan(value) for value in vars(found).values())
    assert isinstance(found, FitStatistics)


def test_z_is_standard_normal_when_the_model_is_right():
    """Poisson counts around known expectations: mean 0, standard deviation 1 (400 draws: 0.05 and 0.035 of error)."""
    rng = np.random.default_rng(11)
    mu, pi = rng.gamma(0.4, 0.6, 4000), 0.1
    sums, z = sum_grid(mu, pi), []
    for _ in range(400):
        f = rng.poisson(mu).astype(float)
        found = fit_statistics(sums, mu[f > 0], f[f > 0], pi)
        z.append([found.z1, found.z2, found.robust_z1, found.robust_z2])
    assert np.abs(np.mean(z, 0)).max() < 0.3
    assert np.abs(np.std(z, 0) - 1).max() < 0.15
