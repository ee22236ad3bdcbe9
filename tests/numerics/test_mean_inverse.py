"""E[1/F | f] of one cell against 50 digits, and compiled against its own source."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import brute
from sdckit.numerics.mean_inverse import _continued_fraction, _series, mean_inverse


@pytest.mark.parametrize("f", [1.0, 2.0, 3.0, 7.0, 39.0, 40.0, 250.0, 1.05, 1.999, 2.5, 17.25, 39.9, 40.1])
@pytest.mark.parametrize("p", [1 - 1e-9, 0.999, 0.75, 0.5000001, 0.5, 0.4999, 0.1, 1e-3, 1e-4])
def test_against_fifty_digits(f, p):
    assert mean_inverse(f, f / p) == pytest.approx(float(brute.risk(f, f / p)), rel=1e-12)


@given(st.floats(1, 500), st.floats(0, 8))
def test_any_f(f, digits):
    big_f = f * (1 + 10**digits / 1e4)
    assert mean_inverse(f, big_f) == pytest.approx(float(brute.risk(f, big_f)), rel=1e-11)


def test_the_whole_population_in_the_file():
    assert mean_inverse(4.0, 4.0) == mean_inverse(4.0, 3.9999) == 0.25
    assert mean_inverse(1.0, np.nextafter(1.0, 2.0)) == pytest.approx(1, rel=1e-14)


@pytest.mark.parametrize(
    ("f", "p"), [(1.0, 0.3), (5.0, 0.2), (2.5, 0.1), (60.0, 0.01), (3.0, 0.9), (3.0, 1.0)]
)
def test_compiled_does_what_the_source_says(f, p):
    assert mean_inverse.py_func(f, f / p) == pytest.approx(mean_inverse(f, f / p), rel=1e-13)
    for kernel in (_series, _continued_fraction):
        assert kernel.py_func(f, 1 - p) == pytest.approx(kernel(f, 1 - p), rel=1e-13)


def test_series_and_fraction_are_one_function():
    for f in (1.3, 2.0, 6.5, 30.0):
        for q in (0.05, 0.4, 0.5, 0.6):
            assert _series(f, q) == pytest.approx(_continued_fraction(f, q), rel=1e-13)
