"""Queries in blocks of neighbours."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from sdckit.numerics.coding import Metric
from sdckit.numerics.search import box_tree as box_blocks
from sdckit.numerics.search.box_search import Queries, find
from sdckit.numerics.search.box_tree import MOST, blocks_of, build, fit, push_near


@pytest.fixture(autouse=True)
def _large(monkeypatch):
    monkeypatch.setattr(box_blocks, "CACHED", 0)


def places(n, p):
    """A tree of n rows of p numbers, and as many queries."""
    rng = np.random.default_rng([n, p])
    none = np.empty((n, 0), np.int32)
    return build(rng.random((n, p)), none, Metric(2, np.ones(p), np.empty(0))), rng.random((n, p)), none


def test_every_query_is_in_one_block_of_neighbours():
    tree, numbers, codes = places(5000, 2)
    order, begins = blocks_of(tree, numbers, codes)
    assert sorted(order.tolist()) == list(range(5000))
    assert begins[0] == 0
    assert begins[-1] == 5000
    size = np.diff(begins)
    assert 1 <= size.min() <= size.max() <= MOST
    placed = numbers[order]
    wide = [np.ptp(placed[a:b], axis=0).max() for a, b in pairwise(begins)]
    assert np.median(wide) < 0.1  # 16 of 5,000 in a square of side 1


def test_few_queries_are_alone():
    tree, numbers, codes = places(5000, 2)
    assert np.diff(blocks_of(tree, numbers[:100], codes[:100])[1]).tolist() == [1] * 100


def test_queries_of_many_columns_are_alone():
    tree, numbers, codes = places(1000, 5)
    assert np.diff(blocks_of(tree, numbers, codes)[1]).tolist() == [1] * 1000


def test_rows_of_a_small_tree_are_asked_in_turn(monkeypatch):
    monkeypatch.setattr(box_blocks, "CACHED", 10_000)
    tree, numbers, codes = places(100, 2)
    order, begins = blocks_of(tree, numbers, codes)
    assert order.tolist() == list(range(100))
    assert begins.tolist() == list(range(101))


def test_equal_queries_are_in_blocks_that_are_no_larger():
    tree, _, codes = places(1000, 1)
    begins = blocks_of(tree, np.zeros((1000, 1)), codes)[1]
    assert np.diff(begins).max() == MOST
    assert begins[-1] == 1000


@pytest.mark.parametrize("many_alike", [True, False])
@pytest.mark.parametrize("k", [1, 3])
def test_blocks_find_what_each_query_finds_alone(k, many_alike, monkeypatch):
    rng = np.random.default_rng([k, many_alike])
    n, levels = 9000, 2 if many_alike else 40
    metric = Metric(2, np.full(2, 4.0), np.array([1.0, 0.5]))
    (rows, codes), (asked, of_asked) = (
        (np.unique(rng.integers(0, 400, (n, 2)), axis=0) / 100, rng.integers(0, levels, (n, 2)).astype(np.int32))
        for _ in range(2)
    )
    codes, of_asked = codes[: len(rows)], of_asked[: len(asked)]
    tree = build(rows, codes, metric)
    queries = Queries(asked, of_asked, np.full(len(asked), -1))
    values = rng.random((len(rows), 1))[tree.order]
    ones = np.ones(len(rows), np.int64)
    together, _ = find(tree, ones, tree.order, queries, k, values=values)
    monkeypatch.setattr(box_blocks, "CACHED", 10**9)
    alone, _ = find(tree, ones, tree.order, queries, k, values=values)
    assert together.smallest == pytest.approx(alone.smallest, abs=1e-15)
    assert together.sums == pytest.approx(alone.sums, rel=1e-12)
    for one, other in zip(together[1:4], alone[1:4], strict=True):
        assert one.tolist() == other.tolist()


def test_the_box_of_a_block_and_the_categories_that_are_alike():
    low, high = np.empty(1), np.empty(1)
    queries = Queries(np.array([[9.0], [2.0], [1.0]]), np.array([[5], [3], [3]], np.int32), np.full(3, -1))
    assert fit(queries, 1, 3, low, high).tolist() == [3]
    assert (low[0], high[0]) == (1.0, 2.0)
    assert fit(queries, 0, 3, low, high).tolist() == []
    assert (low[0], high[0]) == (1.0, 9.0)


def test_the_nearer_child_of_a_box_is_looked_at_first():
    numbers = np.concatenate([np.linspace(0.0, 1.0, 40), np.linspace(10.0, 11.0, 40)])[:, None]
    tree = build(numbers, np.empty((80, 0), np.int32), Metric(1, np.full(1, 20.0), np.empty(0)))
    stack, bounds, none = np.empty(9, np.int64), np.empty(9), np.empty(0, np.int32)
    ends = np.array([8.0]), np.array([9.0])
    assert push_near(tree, stack, bounds, 0, 0, np.inf, *ends, none) == 2
    assert bounds[:2].tolist() == [7.0, 1.0]
    assert tree.nodes.low[stack[1], 0] == 10.0
    assert push_near(tree, stack, bounds, 0, 0, 5.0, *ends, none) == 1
    assert bounds[0] == 1.0
