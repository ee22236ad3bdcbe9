"""The search against all sums, and with more ties than it remembers."""

from __future__ import annotations

import numpy as np
import pytest

import ways
from sdckit.numerics.coding import Metric
from sdckit.numerics.search import box_search as box_few
from sdckit.numerics.search.box_search import KEPT, Limits, Queries, find, visit
from sdckit.numerics.search.box_tree import build


@pytest.fixture(params=["few", "many"], autouse=True)
def way(request, monkeypatch):
    """Without the kernels of large files, and with them."""
    ways.take(monkeypatch, few=request.param == "few")
    monkeypatch.setattr(box_few, "PAIRS", 10**12 if request.param == "few" else -1)
    monkeypatch.setattr(box_few, "MOST", 10**9)


def all_sums(tree, queries):
    away = np.abs(queries.numbers[:, :, None] - tree.numbers[None])
    numbers = (np.minimum(away, tree.metric.caps[:, None]) ** tree.metric.power).sum(axis=1)
    other = queries.codes[:, :, None] != tree.codes[None]
    return numbers + (other * tree.metric.weights[:, None]).sum(axis=1)


@pytest.mark.parametrize("power", [1, 2])
def test_the_smallest_sums_and_all_counts(power):
    rng = np.random.default_rng(power)
    numbers = np.unique(np.round(rng.normal(size=(400, 2)), 2), axis=0)
    codes = rng.integers(0, 3, (len(numbers), 1)).astype(np.int32)
    tree = build(numbers, codes, Metric(power, np.array([2.0, 1.5]), np.array([0.3])))
    k, n = len(numbers), 60
    sizes, first = rng.integers(1, 4, k), rng.permutation(k)
    skip = np.where(np.arange(n) % 2, rng.integers(0, k, n), -1)
    queries = Queries(np.round(rng.normal(size=(n, 2)), 2), rng.integers(0, 3, (n, 1)).astype(np.int32), skip)
    found, limits = find(tree, sizes, first, queries, 4)
    values = rng.normal(size=(k, 1))
    seen = visit(tree, sizes, first, queries, limits, values=values)
    for i, sums in enumerate(all_sums(tree, queries)):
        copies = sizes - (np.arange(k) == skip[i])
        expected = np.sort(np.repeat(sums, copies))[:4]
        assert found.smallest[i] == pytest.approx(expected)
        held = copies > 0
        outer = held & (sums <= limits.outer[i])
        closer = held & (sums < limits.inner[i])
        assert found.closer[i] == seen.closer[i] == copies[closer].sum()
        assert found.tied[i] == seen.tied[i] == copies[outer & ~closer].sum()
        assert found.nearest[i] == seen.nearest[i] == first[held & (sums <= limits.near[i])].min()
        assert seen.sums[i, 0] == pytest.approx(values[outer, 0].sum())


def test_more_ties_than_are_remembered():
    angle = np.linspace(0, 2 * np.pi, 5 * KEPT, endpoint=False)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    tree = build(circle, np.empty((len(circle), 0), np.int32), Metric(2, np.full(2, 9.0), np.empty(0)))
    ones, rows = np.ones(len(circle), np.int64), np.arange(len(circle))
    queries = Queries(np.zeros((1, 2)), np.empty((1, 0), np.int32), np.array([-1]))
    found, limits = find(tree, ones, rows, queries, 2)
    assert (found.closer[0], found.tied[0], found.nearest[0]) == (0, 5 * KEPT, 0)
    begins = np.zeros(1, np.int64)
    listed = visit(tree, ones, rows, queries, limits, begins=begins, n_listed=5 * KEPT).listed
    assert sorted(listed) == rows.tolist()


def test_candidates_that_have_become_too_far_are_forgotten():
    far_to_near = np.arange(1000.0)[:, None]
    tree = build(far_to_near, np.empty((1000, 0), np.int32), Metric(1, np.array([1e9]), np.empty(0)))
    ones, rows = np.ones(1000, np.int64), np.arange(1000)
    queries = Queries(np.array([[-5.0], [2000.0]]), np.empty((2, 0), np.int32), np.array([-1, -1]))
    found, _ = find(tree, ones, tree.order, queries, 400)
    assert found.smallest[0].tolist() == list(range(5, 405))
    assert found.smallest[1].tolist() == list(range(1001, 1401))
    assert (found.closer == 399).all()
    assert found.nearest.tolist() == [0, 999]
    nothing = visit(tree, ones, rows, queries, Limits(*np.zeros((3, 2))))
    assert nothing.tied.tolist() == [0, 0]
