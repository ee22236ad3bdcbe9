"""A density against SciPy, and the bandwidth against R's rule."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import gaussian_kde

from sdckit.numerics.kernel_density import bandwidth, kernel_density


def test_the_density_is_that_of_scipy():
    rng = np.random.default_rng(3)
    values, size = rng.normal(0, 2, 40), rng.integers(1, 5, 40)
    at, found = kernel_density(values, size, 0.7, 60)
    every = np.repeat(values, size)
    expected = gaussian_kde(every, bw_method=0.7 / every.std(ddof=1))(at)
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    assert at[0] == pytest.approx(values.min() - 2.1)
    assert at[-1] == pytest.approx(values.max() + 2.1)


def test_the_area_is_one():
    at, found = kernel_density(np.array([0.0, 0.5]), np.array([9, 1]), 0.05, 512)
    assert np.trapezoid(found, at) == pytest.approx(1, abs=3e-3)


@pytest.mark.parametrize(
    ("values", "quartiles", "expected"),
    [
        # Silverman's rule as in the documentation of bw.nrd0:
        # 0.9 * min(sd, IQR / 1.34) * n ^ -0.2; sd where the quartiles are equal, else the first value, else 1.
        ([1.0, 2, 4, 7, 11], (2.0, 7.0), 0.9 * 5 / 1.34 * 5**-0.2),
        ([0.0, 0, 0, 0, 3], (0.0, 0.0), 0.9 * 1.8**0.5 * 5**-0.2),
        ([5.0, 5], (5.0, 5.0), 0.9 * 5 * 2**-0.2),
        ([0.0, 0], (0.0, 0.0), 0.9 * 2**-0.2),
        ([2.0], (2.0, 2.0), 0.9 * 2),
    ],
)
def test_the_bandwidth_follows_the_rule(values, quartiles, expected):
    found, size = np.unique(values, return_counts=True)
    assert bandwidth(found, size, quartiles) == pytest.approx(expected)
