"""Few queries of few rows: the same as the kernels of large files find, to the last bit but for sums of values."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.numerics.coding import Metric
from sdckit.numerics.search import box_search as box_few
from sdckit.numerics.search.box_search import Queries, find, visit
from sdckit.numerics.search.box_tree import LEAF, build

pytestmark = pytest.mark.usefixtures("first_job")


def rounded(rng, n, p, q):
    """Rows with many ties."""
    return np.round(rng.normal(size=(n, p)), 1), rng.integers(0, 3, (n, q)).astype(np.int32)


@pytest.fixture
def first_job(nothing_compiled, monkeypatch):
    """The first job of a process, which may do without kernels."""
    monkeypatch.setattr("sdckit.numerics.threads.jobs.running", 1)


@pytest.mark.parametrize(("p", "q"), [(1, 0), (0, 3), (3, 2)])
@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("leaf", [LEAF, 10**6])
def test_what_the_kernels_find(monkeypatch, p, q, power, k, leaf):
    rng = np.random.default_rng(k)
    (numbers, codes), asked = rounded(rng, 700, p, q), rounded(rng, 90, p, q)
    metric = Metric(power, rng.uniform(0.5, 3.0, p), rng.uniform(0.1, 1.0, q))
    tree = build(numbers, codes, metric, leaf=leaf)
    sizes, first = rng.integers(1, 4, 700), rng.permutation(700)
    queries = Queries(*asked, np.where(np.arange(90) % 3, rng.integers(0, 700, 90), -1))
    values = rng.normal(size=(700, 2))

    def found():
        assert box_few.is_few(tree, queries, k) == (box_few.PAIRS > 0)
        one, limits = find(tree, sizes, first, queries, k, values=values)
        assert (find(tree, sizes, first, queries, k, counted=False)[0].smallest == one.smallest).all()
        seen = visit(tree, sizes, first, queries, limits, values=np.ones((700, 1)))
        many = seen.sums[:, 0].astype(np.int64)
        begins = np.cumsum(many) - many
        listed = visit(tree, sizes, first, queries, limits, begins=begins, n_listed=int(many.sum())).listed
        rows = [sorted(part) for part in np.split(listed.tolist(), begins[1:])]
        exact = [array.tolist() for array in (*one[:4], *limits, *seen)]
        return exact, rows, one.sums

    plain = found()
    monkeypatch.setattr(box_few, "PAIRS", -1)
    kernels = found()
    assert plain[:2] == kernels[:2]
    assert plain[2] == pytest.approx(kernels[2], rel=1e-12, abs=1e-12)


def test_queries_a_slice_at_a_time(monkeypatch):
    rng = np.random.default_rng(9)
    numbers, codes = rounded(rng, 400, 2, 1)
    tree = build(numbers, codes, Metric(1, np.full(2, 9.0), np.ones(1)))
    ones, rows = np.ones(400, np.int64), np.arange(400)
    queries = Queries(numbers[:50], codes[:50], np.full(50, -1))
    whole = find(tree, ones, rows, queries, 3)[0]
    monkeypatch.setattr(box_few, "ROOM", 1)
    for one, other in zip(whole, find(tree, ones, rows, queries, 3)[0], strict=True):
        assert one.tolist() == other.tolist()


def test_more_neighbours_than_are_sorted_sooner_take_the_kernel():
    tree = build(np.zeros((1, 1)), np.empty((1, 0), np.int32), Metric(1, np.ones(1), np.empty(0)))
    queries = Queries(np.zeros((1, 1)), np.empty((1, 0), np.int32), np.array([-1]))
    assert box_few.is_few(tree, queries, box_few.MOST)
    assert not box_few.is_few(tree, queries, box_few.MOST + 1)
