"""Nearest records by a k-d tree: the distances are those of a full comparison, whatever is equally far."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from sdckit.attribute.prediction.key_features import Features
from sdckit.attribute.prediction.tree_neighbours import tree_neighbours

POINTS = st.lists(
    st.tuples(st.integers(-3, 3), st.integers(0, 5), st.integers(0, 2)), min_size=3, max_size=40
)


@given(POINTS, POINTS, st.integers(1, 3), st.booleans())
def test_the_distances_are_the_smallest(train, query, k, scaled):
    one, other = np.array(train, float), np.array(query, float)
    units = (1.5, 2.0) if scaled else (1.0, 1.0)
    numbers = tuple((one[:, at], other[:, at]) for at in range(2))
    codes = ((one[:, 2].astype(np.int32), other[:, 2].astype(np.int32)),)
    found = tree_neighbours(Features(numbers, codes, (1.5, 2.0)), k, scaled=scaled)
    away = (other[:, None, 2] != one[None, :, 2]).astype(float)
    for at in range(2):
        away += ((other[:, None, at] - one[None, :, at]) / units[at]) ** 2
    taken = np.take_along_axis(away, found, axis=1)
    np.testing.assert_allclose(taken, np.sort(away, axis=1)[:, :k], atol=1e-9)
    assert all(len(set(row)) == k for row in found.tolist())


def test_equal_points_are_all_found():
    same = (np.zeros(9), np.zeros(2))
    found = tree_neighbours(Features((same,), (), (0.0,)), 9, scaled=True)
    assert [sorted(row) for row in found.tolist()] == [list(range(9))] * 2
