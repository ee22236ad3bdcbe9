"""Dominance counts against a comparison of all with all, and nothing left out or counted twice."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.utility import ecdf_kernel
from sdckit.utility.ecdf_kernel import ecdf_difference, ranks_of


def by_comparing(points, n):
    """(F_S - F_O) n n_s at every row, and the rows."""
    below = (points[:, :, None] <= points[:, None, :]).all(axis=0)
    n_s = points.shape[1] - n
    return n * below[n:].sum(axis=0) - n_s * below[:n].sum(axis=0)


def spread_out(points, n):
    difference, size = ecdf_difference(points, n)
    return sorted(np.repeat(difference, size).tolist())


@pytest.mark.parametrize("d", [1, 2, 3, 5])
@pytest.mark.parametrize("levels", [2, 7, 400])
def test_every_pair(d, levels):
    rng = np.random.default_rng(10 * d + levels)
    n, n_s = 150, 90
    points = rng.integers(0, levels, (d, n + n_s)).astype(np.int32)
    assert spread_out(points, n) == sorted(by_comparing(points, n).tolist())


def test_divided_to_the_end(monkeypatch):
    """The kernel as plain Python, dividing wherever it can."""
    monkeypatch.setattr(ecdf_kernel, "SMALL", 1)
    for name in ("_sum_below", "_merge", "_compare", "_span"):
        monkeypatch.setattr(ecdf_kernel, name, getattr(ecdf_kernel, name).py_func)
    rng = np.random.default_rng(4)
    for levels in (2, 30):
        points = rng.integers(0, levels, (4, 40)).astype(np.int32)
        assert spread_out(points, 13) == sorted(by_comparing(points, 13).tolist())


def test_too_many_distinct_rows():
    points = np.arange(30, dtype=np.int32).reshape(3, 10)
    assert ecdf_difference(points, 5, most=9) is None
    assert ecdf_difference(points, 5, most=10) is not None
    assert ecdf_difference(points[:2], 5, most=1) is not None


def test_ranks():
    assert ranks_of([np.array([0.5]), np.array([-1.0, 0.5, 2.0])]).tolist() == [1, 0, 1, 2]
