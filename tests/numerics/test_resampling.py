from __future__ import annotations

import math

import numpy as np
import pytest

from numerics.as_python import both_forms
from sdckit.numerics import resampling
from sdckit.numerics.resampling import merge_equal, percentile_ends, resampled_sums


def test_units_that_are_equal_are_put_together():
    values = np.array([[0.0, 1.0] * 50, [2.0, 2.0] * 50])
    merged, size = merge_equal(values, np.ones(100, np.int64))
    assert merged.shape == (2, 2)
    assert sorted(size.tolist()) == [50, 50]
    assert (merged @ size).tolist() == values.sum(axis=1).tolist()


def test_units_that_differ_stay_as_they_are():
    values = np.arange(100.0)[None, :]
    merged, size = merge_equal(values, np.ones(100, np.int64))
    assert merged is values
    assert len(size) == 100


@pytest.mark.parametrize("kinds", [2, 3, 10, 900])
def test_sums_have_the_mean_and_the_variance_of_drawing_with_replacement(kinds):
    rng = np.random.default_rng(kinds)
    values, size = rng.random((2, kinds)), rng.integers(1, 4, kinds)
    n = int(size.sum())
    drawn = resampled_sums(values, size, rng, 4000)
    mean = values @ size / n
    variance = (values**2 @ size / n - mean**2) * n
    assert drawn.mean(axis=0) == pytest.approx(mean * n, abs=5 * np.sqrt(variance.max() / 4000))
    assert drawn.var(axis=0) == pytest.approx(variance, rel=0.12)


def test_as_many_units_are_drawn_as_there_are():
    for n in (5, 20, 3000):
        drawn = resampled_sums(
            np.ones((1, n)) * np.arange(n) ** 0, np.ones(n, np.int64), np.random.default_rng(n)
        )
        assert (drawn == n).all()


def test_a_unit_is_drawn_as_often_as_by_a_binomial_distribution():
    n, draws = 400, 20_000
    first = np.zeros((1, n))
    first[0, 7] = 1.0
    spread = first + 0.0
    times = resampled_sums(
        np.vstack([spread, np.arange(n)]), np.ones(n, np.int64), np.random.default_rng(1), draws
    )
    found = np.bincount(times[:, 0].astype(int), minlength=8)[:5] / draws
    expected = [math.comb(n, k) * (1 / n) ** k * (1 - 1 / n) ** (n - k) for k in range(5)]
    assert found == pytest.approx(expected, abs=0.012)


def test_the_kernel_compiled_and_as_python_draws_the_same():
    units, seeds = np.arange(12.0).reshape(6, 2), np.array([3, 2**62], np.int64)
    found = []
    for kernel in both_forms(resampling, "_draw_units", "_mixed"):
        out = np.zeros((2, 2))
        kernel(units, seeds, out)
        found.append(out)
    assert np.array_equal(*found)


def test_a_seed_gives_the_same_whatever_thread_draws():
    values, size = np.arange(500.0)[None, :], np.ones(500, np.int64)
    one, again = (resampled_sums(values, size, np.random.default_rng(7)) for _ in range(2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, resampled_sums(values, size, np.random.default_rng(8)))


def test_the_ends_leave_out_what_is_undefined():
    assert percentile_ends(np.array([*np.arange(201.0), np.nan])) == (5.0, 195.0)
    assert np.isnan(percentile_ends(np.array([np.nan, np.nan]))).all()
