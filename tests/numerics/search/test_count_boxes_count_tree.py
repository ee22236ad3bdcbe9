"""The tree: its nodes halve the points and know their extremes."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.numerics.search.count_boxes import LEAF, build_tree, count_tree, halve


@pytest.mark.parametrize("levels", [1, 3, 1000])
def test_halving(levels):
    rng = np.random.default_rng(levels)
    values = rng.integers(0, levels, 200).astype(float)
    order = np.arange(200)
    halve(values, order, 20, 180, 77)
    assert sorted(order.tolist()) == list(range(200))
    assert order[:20].tolist() == list(range(20))
    assert order[180:].tolist() == list(range(180, 200))
    assert values[order[20:77]].max() <= values[order[77:180]].min()


@pytest.mark.parametrize("n", [1, LEAF, LEAF + 1, 333])
def test_nodes(n):
    rng = np.random.default_rng(n)
    key = rng.normal(size=(3, n))
    upper, lower = key + 1, key - 2
    above, below, order, bounds = build_tree(key, upper, lower, 0, n)
    assert sorted(order.tolist()) == list(range(n))
    assert above.tolist() == upper[:, order].tolist()
    assert below.tolist() == lower[:, order].tolist()
    assert bounds[0, 1].tolist() == [upper[1].min(), upper[1].max(), lower[1].min(), lower[1].max()]
    for node in range((len(bounds) - 1) // 2):
        for extreme, pick in ((0, np.minimum), (1, np.maximum), (2, np.minimum), (3, np.maximum)):
            children = bounds[2 * node + 1, :, extreme], bounds[2 * node + 2, :, extreme]
            assert pick(*children).tolist() == bounds[node, :, extreme].tolist()


def test_counting():
    rng = np.random.default_rng(7)
    key = np.round(rng.normal(0, 2, (3, 400)))
    low = np.round(rng.normal(0, 2, (3, 50))) - 1
    high = low + rng.integers(0, 5, (3, 50))
    count = np.full(50, -1)
    above, below, order, bounds = build_tree(key, key, key, 30, 390)
    count_tree(bounds, above, below, low, high, 10, 50, count)
    assert sorted(order.tolist()) == list(range(30, 390))
    some = key[:, 30:390, None]
    inside = ((some >= low[:, None]) & (some <= high[:, None])).all(axis=0).sum(axis=0)
    assert count.tolist() == [-1] * 10 + inside[10:].tolist()
