"""The chance that one alone of some people is among those drawn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import hypergeom

from sdckit.attacks.control_size import ENOUGH, counted, isolated, scaled
from sdckit.numerics.intervals import excess


@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 60))
def test_it_is_the_hypergeometric_distribution(n, size, matches):
    size, matches = min(size, n), min(matches, n)
    found = isolated(np.array([matches]), n, size)[0]
    assert found == pytest.approx(hypergeom.pmf(1, n, matches, size), abs=1e-12)


def test_what_is_true_of_many_isolates_nobody():
    n, size = 10_000, 500
    most = counted(n, size)
    assert most == ENOUGH * 20
    assert hypergeom.pmf(1, n, most, size) < 1e-6
    assert isolated(np.array([most + 1]), n, size)[0] == 0


def test_all_drawn():
    assert counted(50, 50) == 1
    assert isolated(np.array([0, 1, 2, 1]), 50, 50).tolist() == [0, 1, 0, 1]
    assert isolated(np.zeros(0, np.int64), 50, 20).tolist() == []


@given(st.integers(5, 500), st.data())
def test_files_of_one_size_are_compared_as_they_are(n, data):
    successes, same, control = (data.draw(st.integers(0, n)) for _ in range(3))
    found = scaled(successes, successes, control, n, 0.95)
    assert found.factor == 1
    if control < n:
        assert found.residual[0] == pytest.approx(excess(successes, n, control, n)[0], abs=1e-9)
    estimate, low, high = scaled(successes, same, control, n, 0.95).residual
    assert low - 1e-9 <= estimate <= high + 1e-9
    tested = excess(n - control, n, n - same, n)  # of control / same
    if successes and same:
        assert (low <= 0 <= high) == (tested[1] <= 0 <= tested[2])


def test_a_copy_loses_nothing_to_a_small_control_file():
    found = scaled(500, 50, 1, 500, 0.95)
    assert found.factor == 10
    assert found.residual == (1.0, pytest.approx(0.99, abs=0.02), 1.0)


def test_nothing_isolated():
    assert scaled(0, 0, 5, 100, 0.95).residual == excess(0, 100, 5, 100)
    assert scaled(0, 3, 5, 100, 0.95).factor == 1
