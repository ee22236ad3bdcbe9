"""Points in boxes: every way of counting gives what comparing all pairs gives."""

from __future__ import annotations

import numpy as np
import pytest

import ways
from sdckit.numerics.search import count_boxes
from sdckit.numerics.search.count_boxes import Dimension, count_in_boxes, order_by_group


def drawn(rng, dims, points, boxes, *, tied, split):
    """Dimensions with many ties or none; with points of one number or of two."""
    found = []
    for _ in range(dims):
        y = rng.normal(0, 3, points)
        x = rng.normal(0, 3, boxes)
        y, x = (np.round(y), np.round(x)) if tied else (y, x)
        w = rng.choice([0.0, 0.5, 2.0])
        found.append(Dimension(y, y + w, y - w, x, x) if split else Dimension(y, y, y, x - w, x + w))
    return found


def all_pairs(dimensions, group_of_point, group_of_box):
    inside = group_of_point[:, None] == group_of_box
    for one in dimensions:
        inside &= (one.upper[:, None] >= one.low) & (one.lower[:, None] <= one.high)
    return inside.sum(axis=0).tolist()


@pytest.fixture(params=["all pairs", "all pairs by a kernel", "searched"], autouse=True)
def way(request, monkeypatch):
    """Points compared one by one with the boxes, as in small files, and searched for, as in large ones."""
    ways.take(monkeypatch, few=request.param == "all pairs")
    monkeypatch.setattr(count_boxes, "PAIRS", -1 if request.param == "searched" else 10**12)
    if request.param != "all pairs":
        monkeypatch.setattr(count_boxes, "BUCKETS", -1)


@pytest.mark.parametrize("dims", [1, 2, 3, 4])
@pytest.mark.parametrize("points", [1, 40, 65, 700])
@pytest.mark.parametrize("split", [False, True])
def test_agrees_with_all_pairs(dims, points, split, monkeypatch):
    rng = np.random.default_rng(20_09 + dims)
    for n_groups, large, tied in ((1, 1 << 14, True), (1, 500, False), (3, 1 << 14, False), (3, 100, True)):
        monkeypatch.setattr(count_boxes, "LARGE", large)
        dimensions = drawn(rng, dims, points, 90, tied=tied, split=split)
        groups = [rng.integers(0, n_groups, n).astype(np.int32) for n in (points, 90)]
        assert count_in_boxes(dimensions, *groups, n_groups).tolist() == all_pairs(dimensions, *groups)


def test_a_large_bucket_and_boxes_without_a_point(monkeypatch):
    monkeypatch.setattr(count_boxes, "LARGE", 100)
    rng = np.random.default_rng(1)
    dimensions = drawn(rng, 2, 5000, 3000, tied=False, split=False)
    point, box = np.zeros(5000, np.int32), rng.integers(0, 3, 3000).astype(np.int32)
    assert count_in_boxes(dimensions, point, box, 3).tolist() == all_pairs(dimensions, point, box)


def test_an_empty_interval_holds_nothing():
    y = np.arange(100.0)
    for dims in (1, 2, 3):
        line = Dimension(y, y, y, np.full(9, 60.0), np.full(9, 40.0))
        everything = Dimension(y, y, y, np.full(9, -np.inf), np.full(9, np.inf))
        zero = [np.zeros(n, np.int32) for n in (100, 9)]
        assert count_in_boxes([everything] * (dims - 1) + [line], *zero, 1).tolist() == [0] * 9


def test_the_order_by_group_is_stable():
    group = np.array([2, 0, 2, 3, 0], np.int32)
    order, edges = order_by_group(group, 5)
    assert order.tolist() == [1, 4, 0, 2, 3]
    assert edges.tolist() == [0, 2, 2, 4, 5, 5]
