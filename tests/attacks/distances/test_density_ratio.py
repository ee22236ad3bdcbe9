"""The kernel density of the calibrated ratio: beside a sum written out, folds left out, ranges and gaps."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.attacks.distances import density_ratio
from sdckit.attacks.distances.density_ratio import BLOCK, SPREAD, WIDTH, kernel_rows, log_density

GAP = np.nan


def summed(numbers, codes, levels, spans, target, rows):
    """The logarithm of the mean over some rows of the product of kernels, one after the other."""
    total = 0.0
    for row in rows:
        product = 1.0
        for (own, other), span in zip(numbers, spans, strict=True):
            a, b = own[target], other[row]
            if np.isnan(a) or np.isnan(b):
                product *= 1 - SPREAD if np.isnan(a) and np.isnan(b) else SPREAD
            else:
                product *= np.exp(-abs(a - b) / (WIDTH * span))
        for (own, other), n_levels in zip(codes, levels, strict=True):
            product *= 1 - SPREAD if own[target] == other[row] else SPREAD / (n_levels - 1)
        total += product
    return np.log(total / len(rows))


@pytest.fixture
def drawn():
    rng = np.random.default_rng(1)
    sizes = 7, BLOCK + 300
    numbers = [tuple(np.where(rng.random(n) < 0.1, GAP, rng.normal(size=n)) for n in sizes) for _ in range(2)]
    codes = [tuple(rng.integers(0, levels, n) for n in sizes) for levels in (2, 5)]
    return numbers, codes


def test_as_written_out(drawn):
    numbers, codes = drawn
    pooled = [np.concatenate(files) for files in numbers]
    spans = [np.ptp(np.percentile(values[~np.isnan(values)], (1, 99))) for values in pooled]
    people, rows = kernel_rows(numbers, codes)
    folds = np.random.default_rng(2).integers(0, 5, BLOCK + 300)
    own = np.array([0, 1, 2, 3, 4, 0, 1])
    whole, left_out = log_density(people, rows), log_density(people, rows, fold=own, folds=folds)
    for i in range(7):
        every = summed(numbers, codes, (2, 5), spans, i, range(BLOCK + 300))
        others = summed(numbers, codes, (2, 5), spans, i, np.flatnonzero(folds != own[i]))
        assert whole[i] == pytest.approx(every, abs=1e-12)
        assert left_out[i] == pytest.approx(others, abs=1e-12)


def test_the_order_of_rows_and_files_of_threads_change_nothing(drawn):
    people, rows = kernel_rows(*drawn)
    order = np.random.default_rng(3).permutation(BLOCK + 300)
    np.testing.assert_allclose(log_density(people, rows), log_density(people, rows.take(order)), rtol=0, atol=1e-12)
    alone = [log_density(people.take(np.array([i])), rows)[0] for i in range(7)]
    np.testing.assert_array_equal(log_density(people, rows), alone)
    many = people.take(np.arange(7).repeat(30))  # in slices
    np.testing.assert_array_equal(log_density(many, rows), np.repeat(alone, 30))
    assert len(density_ratio._log_sums.signatures) == 1


@pytest.mark.parametrize(
    ("own", "other", "density"),
    [([3.0], [3.0, 3.0], 0.8), ([3.0], [3.0, GAP], 0.5), ([GAP], [GAP, 3.0], 0.5), ([GAP], [GAP, GAP], 0.8)],
)
def test_a_number_without_a_range_has_two_levels(own, other, density):
    people, rows = kernel_rows([(np.array(own), np.array(other))], [])
    assert np.exp(log_density(people, rows)) == pytest.approx(density)


def test_far_rows_do_not_vanish():
    """No row is near: the likeliest counts, however unlikely."""
    columns = [(np.zeros(1, int), np.ones(3, int))] * 400
    people, rows = kernel_rows([], columns)
    assert log_density(people, rows)[0] == pytest.approx(400 * np.log(SPREAD))


def test_targets_near_and_far_from_every_row_stand_side_by_side():
    own = np.repeat([[0], [1], [0], [1]], 400, axis=1).T
    people, rows = kernel_rows([], [(column, np.ones(2 * BLOCK + 3, int)) for column in own])
    near, far = 400 * np.log(1 - SPREAD), 400 * np.log(SPREAD)
    assert log_density(people, rows) == pytest.approx([far, near, far, near])
