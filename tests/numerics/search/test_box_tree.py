"""Every row stands in one leaf, inside the boxes of all nodes above it."""

from __future__ import annotations

import numpy as np
import pytest

import ways
from sdckit.numerics.coding import Metric
from sdckit.numerics.search import box_tree
from sdckit.numerics.search.box_tree import LEAF, build


@pytest.fixture(params=["small", "large"], autouse=True)
def way(request, monkeypatch):
    """Trees of small files and of large ones."""
    ways.take(monkeypatch, few=request.param == "small")
    monkeypatch.setattr(box_tree, "SMALL", 10**9 if request.param == "small" else -1)


def rows_of(n, p, q, *, levels=5, seed=1):
    rng = np.random.default_rng(seed)
    numbers, codes = np.round(rng.normal(size=(n, p)), 2), rng.integers(0, levels, (n, q)).astype(np.int32)
    return numbers, codes, Metric(1, np.full(p, 9.0), np.ones(q))


@pytest.mark.parametrize(("n", "p", "q"), [(1, 1, 0), (33, 2, 0), (500, 0, 3), (700, 2, 2)])
def test_leaves_share_out_the_rows(n, p, q):
    numbers, codes, metric = rows_of(n, p, q, levels=200)
    tree = build(numbers, codes, metric)
    place, low, high, levels = tree.nodes
    assert sorted(tree.order) == list(range(n))
    assert (tree.numbers == numbers[tree.order].T).all()
    assert (tree.codes == codes[tree.order].T).all()
    leaves = place[place[:, 2] < 0]
    assert sorted(t for start, stop, *_ in leaves for t in range(start, stop)) == list(range(n))
    for node, (start, stop, left, depth, alike) in enumerate(place):
        inside = tree.order[start:stop]
        if p:
            assert (low[node] == numbers[inside].min(axis=0)).all()
            assert (high[node] == numbers[inside].max(axis=0)).all()
        for j in range(q):
            assert {c % 64 for c in codes[inside, j]} == {b for b in range(64) if int(levels[node, j]) >> b & 1}
        assert alike == all(len(set(codes[inside, j])) == 1 for j in range(q))
        if left < 0:
            assert stop - start <= LEAF
        else:
            assert (place[left, 0], place[left, 1], place[left + 1, 1]) == (start, place[left + 1, 0], stop)
            assert place[left, 3] == place[left + 1, 3] == depth + 1


def test_rare_differences_are_split_where_they_are():
    numbers, codes = np.zeros((400, 2)), np.zeros((400, 2), np.int32)
    numbers[7, 1], codes[9, 1] = 1.0, 3
    tree = build(numbers, codes, Metric(1, np.ones(2), np.ones(2)))
    leaves = tree.nodes[0][tree.nodes[0][:, 2] < 0]
    sizes = sorted((leaves[:, 1] - leaves[:, 0]).tolist())
    assert sizes == [1, 1, 398]  # equal rows stay together, whatever their number


def test_a_leaf_for_all_is_one_node():
    tree = build(*rows_of(700, 2, 2), leaf=700)
    assert tree.nodes.place.tolist() == [[0, 700, -1, 0, 0]]


def test_categories_are_parted_first_where_many_rows_share_them(monkeypatch):
    monkeypatch.setattr(box_tree, "SMALL", -1)
    numbers, codes, metric = rows_of(3000, 2, 2, levels=2)
    place = build(100 * numbers, codes, metric).nodes.place
    assert place[:7, 4].tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert place[7:, 4].all()
    numbers, codes, metric = rows_of(3000, 2, 2, levels=50)
    assert not build(100 * numbers, codes, metric).nodes.place[:7, 4].any()


def test_a_long_tail_does_not_unbalance_the_search():
    numbers = np.concatenate([np.zeros(300), 2.0 ** np.arange(300)])[:, None]
    tree = build(numbers, np.empty((600, 0), np.int32), Metric(2, np.array([2.0**300]), np.empty(0)))
    leaves = tree.nodes[0][tree.nodes[0][:, 2] < 0]
    assert (leaves[:, 1] - leaves[:, 0]).sum() == 600
