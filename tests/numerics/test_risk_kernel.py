"""E[1/F | f] against 50 digits, against the closed forms, and compiled against its own source."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

import brute
from sdckit.numerics import compiling, risk_kernel
from sdckit.numerics.risk_kernel import (
    _continued_fraction,
    _series,
    approximate_risk,
    census_risk,
    exact_risk,
    mean_inverse,
    sums_of_cells,
    worst_case_risk,
)

WHOLE = [1.0, 2.0, 3.0, 4.0, 7.0, 12.0, 39.0, 40.0, 41.0, 250.0, 1e5]
FRACTIONAL = [1.05, 1.5, 1.999, 2.5, 3.7, 17.25, 39.9, 40.1, 1234.5]
SHARES = [1 - 1e-9, 1 - 1e-6, 0.999, 0.9, 0.75, 0.5000001, 0.5, 0.4999, 0.3, 0.1, 0.01, 1e-3, 1e-4]


def one(kernel, f, big_f):
    return float(kernel(np.array([f]), np.array([big_f]))[0])


@pytest.mark.parametrize("f", [*WHOLE, *FRACTIONAL])
def test_exact_against_fifty_digits(f):
    for p in SHARES:
        big_f = f / p
        truth = float(brute.risk(f, big_f))
        assert one(exact_risk, f, big_f) == pytest.approx(truth, rel=1e-12), p


@pytest.mark.parametrize("f", [1.0, 1.5, 2.0, 2.3, 5.0, 7.7, 39.9])
def test_exact_where_the_population_is_a_million_times_larger(f):
    assert one(exact_risk, f, f * 1e6) == pytest.approx(float(brute.risk(f, f * 1e6)), rel=1e-10)


@given(st.floats(1, 500), st.floats(0, 8))
def test_exact_for_any_f(f, digits):
    big_f = f * (1 + 10**digits / 1e4)
    assert one(exact_risk, f, big_f) == pytest.approx(float(brute.risk(f, big_f)), rel=1e-11)


@pytest.mark.parametrize("f", [1.0, 2.0, 3.5, 7.0, 100.0])
def test_the_whole_population_in_the_file(f):
    for kernel in (exact_risk, approximate_risk, worst_case_risk):
        assert one(kernel, f, f) == pytest.approx(1 / f, rel=1e-15)
        assert one(kernel, f, f * (1 - 1e-10)) == pytest.approx(1 / f, rel=1e-9)  # a deficit of rounding
    assert one(exact_risk, f, np.nextafter(f, 1e9)) == pytest.approx(1 / f, rel=1e-14)


@pytest.mark.parametrize("p", [0.9, 0.5, 0.1, 1e-3])
def test_the_published_closed_forms(p):
    q, log = 1 - mpmath.mpf(p), mpmath.log(1 / mpmath.mpf(p))
    first, second = p / q * log, p / q - (p / q) ** 2 * log
    for kernel in (exact_risk, approximate_risk):
        assert one(kernel, 1.0, 1 / p) == pytest.approx(float(first), rel=1e-11)
        assert one(kernel, 2.0, 2 / p) == pytest.approx(float(second), rel=1e-11)


@pytest.mark.parametrize("f", [3.0, 4.0, 10.0, 3.5, 1000.0])
def test_the_approximation_from_three_on(f):
    for p in (0.9, 0.5, 0.01):
        assert one(approximate_risk, f, f / p) == pytest.approx(p / (f - (1 - p)), rel=1e-13)


@pytest.mark.parametrize("f", [1.5, 2.5, 2.999])
def test_the_approximation_of_fractions_below_three_is_exact(f):
    assert one(approximate_risk, f, 7 * f) == one(exact_risk, f, 7 * f)


def test_worst_case_and_census():
    assert worst_case_risk(np.array([2.0, 4.0]), np.array([8.0, 3.999])).tolist() == [1 / 8, 1 / 4]
    assert census_risk(np.array([1.0, 4.0])).tolist() == [1.0, 0.25]


def test_many_cells_at_once():
    f = np.tile([1.0, 2.0, 3.5, 80.0], 20_000)
    big_f = f * 11
    singles = [one(exact_risk, value, value * 11) for value in f[:4]]
    assert exact_risk(f, big_f).tolist() == singles * 20_000


@pytest.mark.parametrize(("f", "p"), [(1.0, 0.3), (2.0, 0.9), (5.0, 0.2), (2.5, 0.1), (60.0, 0.01), (3.0, 1.0)])
def test_compiled_kernels_do_what_their_source_says(f, p):
    big_f = f / p
    outs = [np.empty(1), np.empty(1)]
    risk_kernel._approximate(np.array([f]), np.array([big_f]), 0, 1, outs[0])
    risk_kernel._approximate.py_func(np.array([f]), np.array([big_f]), 0, 1, outs[1])
    assert outs[0][0] == pytest.approx(outs[1][0], rel=1e-14)


def test_no_value_is_lost_where_f_is_nearly_the_population():
    # written as p/q - (p/q)^2 ln(1/p) this has no digit left
    for gap in (1e-5, 1e-8, 1e-12):
        truth = float(brute.risk(2.0, mpmath.mpf(2) * (1 + mpmath.mpf(gap))))
        assert one(exact_risk, 2.0, 2 * (1 + gap)) == pytest.approx(truth, rel=1e-13)
    assert math.isclose(one(exact_risk, 1.0, 1 + 1e-15), 1.0, rel_tol=1e-14)


def test_sums_of_cells_are_those_of_the_kernels():
    rng = np.random.default_rng(8)
    f, size = rng.integers(1, 9, 200), rng.integers(1, 5, 200)
    big_f = f * rng.uniform(0.9, 30, 200)  # some below f, by rounding of the weights
    total, below = sums_of_cells(f, big_f, size, np.array([2.0, 5.0]))
    assert total == pytest.approx(np.dot(exact_risk(f.astype(float), np.maximum(f, big_f)), size), rel=1e-12)
    assert below == [int(size[f < 2].sum()), int(size[f < 5].sum())]
    assert sums_of_cells(f, None, size, np.array([]))[0] == pytest.approx((size / f).sum(), rel=1e-12)


@pytest.mark.usefixtures("nothing_compiled")
def test_few_cells_have_the_same_risks_without_compiling(monkeypatch):
    f = np.array([one for one in WHOLE[:-1] + FRACTIONAL for _ in SHARES])
    big_f = f / np.tile(SHARES, len(WHOLE) - 1 + len(FRACTIONAL))
    size, limits = np.arange(len(f)), np.array([2.0, 5.0])

    def risks():
        return (
            exact_risk(f, big_f).tolist(),
            approximate_risk(f, big_f).tolist(),
            sums_of_cells(f, big_f, size, limits),
        )

    plain = risks()
    monkeypatch.setattr(compiling, "STEPS", -1)
    assert risks() == plain


# E[1/F | f] of one cell against 50 digits, and compiled against its own source.


@pytest.mark.parametrize("f", [1.0, 2.0, 3.0, 7.0, 39.0, 40.0, 250.0, 1.05, 1.999, 2.5, 17.25, 39.9, 40.1])
@pytest.mark.parametrize("p", [1 - 1e-9, 0.999, 0.75, 0.5000001, 0.5, 0.4999, 0.1, 1e-3, 1e-4])
def test_against_fifty_digits(f, p):
    assert mean_inverse(f, f / p) == pytest.approx(float(brute.risk(f, f / p)), rel=1e-12)


@given(st.floats(1, 500), st.floats(0, 8))
def test_any_f(f, digits):
    big_f = f * (1 + 10**digits / 1e4)
    assert mean_inverse(f, big_f) == pytest.approx(float(brute.risk(f, big_f)), rel=1e-11)


def test_the_whole_population_in_the_file_of_mean_inverse():
    assert mean_inverse(4.0, 4.0) == mean_inverse(4.0, 3.9999) == 0.25
    assert mean_inverse(1.0, np.nextafter(1.0, 2.0)) == pytest.approx(1, rel=1e-14)


@pytest.mark.parametrize(("f", "p"), [(1.0, 0.3), (5.0, 0.2), (2.5, 0.1), (60.0, 0.01), (3.0, 0.9), (3.0, 1.0)])
def test_compiled_does_what_the_source_says(f, p):
    assert mean_inverse.py_func(f, f / p) == pytest.approx(mean_inverse(f, f / p), rel=1e-13)
    for kernel in (_series, _continued_fraction):
        assert kernel.py_func(f, 1 - p) == pytest.approx(kernel(f, 1 - p), rel=1e-13)


def test_series_and_fraction_are_one_function():
    for f in (1.3, 2.0, 6.5, 30.0):
        for q in (0.05, 0.4, 0.5, 0.6):
            assert _series(f, q) == pytest.approx(_continued_fraction(f, q), rel=1e-13)
