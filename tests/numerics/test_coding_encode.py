"""Distances written out by hand against the encoded rows."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.errors import DataError
from sdckit.numerics.coding import differences, gower, ranks, stacked_ranges, whitened
from sdckit.numerics.search.neighbours import paired, pairwise

NAN = float("nan")
X = (np.array([0.0, 2.0, NAN, 10.0]), np.array([5.0, NAN, NAN, 10.0]))
Y = (np.array([1.0, 1.0, 1.0, 1.0]), np.array([1.0, 1.0, 1.0, NAN]))  # no range at all
C = (np.array([1, 0, 0, 2]), np.array([2, 0, 1, 2]))


def test_gower_by_hand():
    a, b = gower([X, Y], [C], weights=[2.0, 1.0, 1.0])
    # x: 5/10; missing against a value 1; missing against missing 0; equal. y: only missing counts. c: 1 0 1 0.
    assert paired(a, b) == pytest.approx([(2 * 0.5 + 0 + 1) / 4, (2 * 1 + 0 + 0) / 4, (0 + 0 + 1) / 4, (0 + 1 + 0) / 4])
    assert pairwise(a, b)[0, 1] == pytest.approx((2 * 1 + 0 + 1) / 4)


def test_gower_with_given_ranges_counts_larger_differences_as_one():
    a, b = gower([X], ranges=np.array([4.0]))
    assert paired(a, b).tolist() == [1.0, 1.0, 0.0, 0.0]
    c, d = gower([X], ranges=np.array([0.0]))
    assert paired(c, d).tolist() == [1.0, 1.0, 0.0, 0.0]  # no range: equal or not


def test_differences_by_hand():
    a, b = differences([X, Y], [C], power=1, weights=[2.0, 1.0, 3.0])
    assert paired(a, b) == pytest.approx([2 * 5 + 3, 2 * 10, 3, 0])
    c, d = differences([X, Y], [C], power=2, weights=[2.0, 1.0, 3.0])
    assert paired(c, d) == pytest.approx(np.sqrt([2 * 25 + 3, 2 * 100, 3, 0]))


def test_mahalanobis_agrees_with_its_definition():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(20, 3)) * [1, 100, 0.01], rng.normal(size=(15, 3)) * [1, 100, 0.01]
    found = whitened([(x[:, j], y[:, j]) for j in range(3)])
    assert found is not None
    inverse = np.linalg.inv(np.cov(np.concatenate([x, y]).T))
    expected = [[np.sqrt((p - q) @ inverse @ (p - q)) for q in y] for p in x]
    assert pairwise(*found) == pytest.approx(np.array(expected), rel=1e-9)


@pytest.mark.parametrize(
    "columns",
    [
        [(np.array([1.0]), np.array([2.0])), (np.array([1.0]), np.array([3.0]))],  # too few rows
        [(np.array([1.0, 1.0]), np.array([1.0]))],  # no variance
        [(np.arange(9.0), np.arange(9.0)), (2 * np.arange(9.0), 2 * np.arange(9.0))],
    ],
)
def test_no_mahalanobis_distance(columns):
    assert whitened(columns) is None


def test_ranges_and_ranks():
    nothing = np.full(2, NAN)
    assert stacked_ranges([X, Y, (nothing, nothing)]).tolist() == [10.0, 0.0, 0.0]
    assert ranks(np.array([3.0, 3.0, NAN, 1.0])) == pytest.approx([2.5 / 3, 2.5 / 3, NAN, 1 / 3], nan_ok=True)
    assert np.isnan(ranks(nothing)).all()


@pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0], [0.0, 0.0], [1.0, NAN]])
def test_weights_that_are_none(weights):
    with pytest.raises(DataError, match="weights must be 2 finite numbers"):
        gower([X, Y], weights=weights)


def test_no_variable_at_all():
    with pytest.raises(DataError, match="at least one variable"):
        gower([])


LARGE = 2.0**532  # a power of two, beyond which no square is a floating number


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("weights", [None, [2.0, 1.0]])
def test_differences_of_numbers_whose_squares_are_infinite(power, weights):
    usual = differences([X, Y], power=power, weights=weights)
    large = differences([[column * LARGE for column in files] for files in (X, Y)], power=power, weights=weights)
    assert (usual[0].unit, large[0].take(np.array([0])).unit > 1) == (1.0, True)
    expected = paired(*usual)
    assert (paired(*large) * (large[0].unit / LARGE)).tolist() == pytest.approx(expected, rel=1e-14)
    heavy = differences([X], power=power, weights=[1e300 if power == 1 else 1e301])
    assert np.isfinite(paired(*heavy)).all()
    mixed = differences([[column * LARGE for column in X]], [C], power=power)
    assert paired(*mixed)[[2, 3]].tolist() == pytest.approx([1 / mixed[0].unit, 0.0], abs=1e-300)


def test_mahalanobis_of_numbers_whose_squares_are_infinite():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(20, 2)), rng.normal(size=(15, 2))
    usual = whitened([(x[:, j], y[:, j]) for j in range(2)])
    large = whitened([(x[:, 0], y[:, 0]), (x[:, 1] * LARGE, y[:, 1] * LARGE)])
    assert usual is not None
    assert large is not None
    assert (pairwise(*large) == pairwise(*usual)).all()
