"""Losses of values and matrices by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sdckit.utility.losses.loss_kernels import (
    angle_distance,
    category_distance,
    correlations,
    covariances,
    eigenvalue_loss,
    inverse_correlation_loss,
    rank_distance,
    relative_loss,
    scaled_loss,
)

NAN = math.nan


def test_relative_and_scaled_losses():
    x, y = np.array([10.0, 0.0, -4.0, NAN, 5.0]), np.array([12.0, 1.0, -3.0, 2.0, NAN])
    assert relative_loss(x, y) == (20.0 + 25.0, 2)
    spread = np.array([10.0, 0.0, -4.0, 5.0]).std(ddof=1)
    total, cells = scaled_loss(x, y)
    assert (total, cells) == (pytest.approx((2 + 1 + 1) / (math.sqrt(2) * spread)), 3)
    assert relative_loss(np.zeros(2), np.ones(2)) == (0.0, 0)
    assert math.isnan(scaled_loss(np.ones(3), np.zeros(3))[0])
    assert math.isnan(scaled_loss(np.ones(1), np.zeros(1))[0])


def test_matrices():
    values = np.array([[1.0, 5.0], [2.0, 5.0], [4.0, 5.0]])
    assert covariances(values)[0, 0] == pytest.approx(values[:, 0].var(ddof=1))
    assert np.isnan(covariances(values[:1])).all()
    assert covariances(values[:, :1]).shape == (1, 1)
    found = correlations(covariances(values))
    assert found[0, 0] == 1.0
    assert np.isnan(found[1]).all()


def test_eigenvalues_by_hand():
    one, other = np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([[1.0, -0.2], [-0.2, 1.0]])
    assert eigenvalue_loss(one, other) == pytest.approx(abs(1.5 - 1.2) / 1.5 + abs(0.5 - 0.8) / 0.5)
    assert math.isnan(eigenvalue_loss(np.ones((2, 2)), other))
    assert math.isnan(eigenvalue_loss(one, np.full((2, 2), NAN)))
    assert eigenvalue_loss(one, np.ones((2, 2))) > 0


def test_inverse_correlations_by_hand():
    one = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]])
    unit = np.array([4 / 3, 4 / 3, 1.0]) / np.linalg.norm([4 / 3, 4 / 3, 1.0])
    expected = np.linalg.norm(unit - np.ones(3) / math.sqrt(3)) / math.sqrt(2)
    assert inverse_correlation_loss(one, np.eye(3)) == pytest.approx(expected)
    for singular in (np.ones((2, 2)), np.full((2, 2), NAN)):
        assert math.isnan(inverse_correlation_loss(np.eye(2), singular))
        assert math.isnan(inverse_correlation_loss(singular, np.eye(2)))
    assert math.isnan(inverse_correlation_loss(np.eye(1), np.eye(1)))


def test_distances_with_missing_values():
    x, y = np.array([1.0, NAN, NAN, 3.0]), np.array([2.0, NAN, 9.0, NAN])
    largest = 2 / math.pi * math.atan(8.0)  # from 1 to 9
    assert angle_distance(x, y).tolist() == pytest.approx([0.5, 0.0, largest, largest])
    assert angle_distance(y, x).tolist() == pytest.approx(angle_distance(x, y).tolist())
    a, b = np.array([0, 0, 1, 1], np.int32), np.array([0, 2, 2, 1], np.int32)
    assert category_distance(a, b).tolist() == [0.0, 1.0, 1.0, 0.0]
    assert rank_distance(a, b, 5).tolist() == [0.0, 1.0, 0.25, 0.0]
    assert rank_distance(a, a, 1).tolist() == [0.0] * 4
