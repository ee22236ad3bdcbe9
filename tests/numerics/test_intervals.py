"""Wilson's interval against statsmodels, and what a share exceeds another by."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import binom
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from sdckit.numerics.intervals import excess, wilson


@pytest.mark.parametrize(("successes", "n"), [(0, 1), (1, 1), (3, 10), (0, 500), (500, 500), (77, 200)])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_as_statsmodels(successes, n, level):
    found = wilson(successes, n, level)
    low, high = proportion_confint(successes, n, 1 - level, "wilson")
    assert [found.low, found.high] == pytest.approx([low, high], abs=1e-12)
    assert 0 <= found.low < found.centre < found.high <= 1


CASES = [(60, 100, 20, 100), (450, 500, 40, 50), (7, 50, 7, 50), (3, 500, 1, 20), (480, 500, 19, 20), (0, 50, 40, 50)]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_ratio_of_failures_as_statsmodels(case, level):
    attack, n, control, n_control = case
    low, high = confint_proportions_2indep(
        n - attack, n, n_control - control, n_control, compare="ratio", method="score", alpha=1 - level,
        correction=True,
    )  # fmt: skip
    estimate, found_low, found_high = excess(attack, n, control, n_control, level)
    assert [found_low, found_high] == pytest.approx([1 - high, 1 - low], abs=1e-6)
    assert estimate == pytest.approx((attack / n - control / n_control) / (1 - control / n_control))
    assert found_low <= estimate <= found_high


def test_no_failures():
    assert excess(50, 50, 20, 50)[::2] == (1.0, 1.0)
    assert excess(50, 50, 50, 50) == (0.0, -math.inf, 1.0)
    estimate, low, high = excess(40, 50, 50, 50)
    assert (estimate, low) == (-math.inf, -math.inf)
    assert high < 0


@pytest.mark.parametrize(
    ("n", "n_control", "p"), [(500, 125, 0.9), (500, 50, 0.95), (500, 20, 0.8), (150, 150, 0.9), (150, 150, 0.05)]
)
def test_the_interval_covers_no_excess_as_often_as_it_says(n, n_control, p):
    """By enumeration, no simulation: both files alike, the chance that 0 lies within."""
    attack, control = (binom.pmf(np.arange(size + 1), size, p) for size in (n, n_control))
    covered = 0.0
    for x, y in np.argwhere(np.outer(attack, control) > 1e-7).tolist():
        _, low, high = excess(x, n, y, n_control)
        covered += attack[x] * control[y] * (low <= 0 <= high)
    assert 0.93 <= covered <= 0.975


@given(st.integers(1, 60), st.integers(1, 60), st.floats(0, 1), st.floats(0, 1))
def test_laws_of_the_excess(n, n_control, a, c):
    attack, control = a * n, c * n_control
    estimate, low, high = excess(attack, n, control, n_control)
    assert low <= estimate <= high + 1e-9
    assert high <= 1
    wider = excess(attack, n, control, n_control, 0.99)
    assert wider[1] <= low + 1e-9
    assert wider[2] >= high - 1e-9


def test_the_ends_of_an_excess_beyond_the_search_stay_in_order():
    estimate, low, high = excess(0.0, 1, 0.9999999999999999, 1)
    assert low <= estimate <= high
