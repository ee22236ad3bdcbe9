"""Rows that differ in few columns, counted by what they agree in."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.numerics.encode import Metric
from sdckit.numerics.search import column_sets as module
from sdckit.numerics.search.agreement import Base, find_agreeing
from sdckit.numerics.search.column_sets import column_sets, pack

MANY = 40  # of each query: a few are left to another search sooner than many


def search(base, query, weights, k, *, sizes=None, skip=None, counted=True):
    base, query = np.array(base, np.int32), np.array(query, np.int32)
    packed = pack(base, np.tile(query, (MANY, 1)), np.array(weights))
    sets = column_sets(Metric(1, np.empty(0), np.array(weights)), packed.fields)
    rows = Base(packed.base, np.array(sizes or [1] * len(base)), np.arange(len(base)))
    own = np.tile(np.full(len(query), -1) if skip is None else np.array(skip), MANY)
    found = find_agreeing(rows, packed.query, own, sets, k, counted=counted)
    return found.take(np.arange(len(query)))


@pytest.mark.parametrize("weights", [[1.0] * 4, [1.0, 0.5, 2.25, 0.125]])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_counts_are_those_of_all_pairs(weights, k):
    rng = np.random.default_rng(1)
    base = np.unique(rng.integers(0, 4, (80, 4)), axis=0)
    query, sizes = rng.integers(0, 5, (60, 4)), rng.integers(1, 4, len(base))
    found = search(base, query, weights, k, sizes=sizes.tolist())
    away = np.repeat((query[:, None, :] != base) @ np.array(weights), sizes, axis=1)
    last = np.sort(away)[:, k - 1 : k]
    assert (found.smallest == np.sort(away)[:, :k]).all()
    assert found.closer.tolist() == (away < last).sum(axis=1).tolist()
    assert found.tied.tolist() == (away == last).sum(axis=1).tolist()
    of_row = np.repeat(np.arange(len(base)), sizes)
    assert found.nearest.tolist() == of_row[away.argmin(axis=1)].tolist()
    assert (
        search(base, query, weights, k, sizes=sizes.tolist(), counted=False).smallest == found.smallest
    ).all()


def test_a_row_does_not_find_itself_but_those_like_it():
    found = search([[1, 1], [2, 2]], [[1, 1], [2, 2]], [1.0, 1.0], 1, sizes=[2, 1], skip=[0, 1])
    assert found.smallest.ravel().tolist() == [0.0, 2.0]
    assert found.tied.tolist() == [1, 2]
    assert found.nearest.tolist() == [0, 0]
    assert search([[1, 1], [1, 2]], [[1, 1], [1, 2]], [1.0, 1.0], 1, skip=[0, 1]).nearest.tolist() == [1, 0]


def test_what_sets_do_not_settle_is_left(monkeypatch):
    monkeypatch.setattr(module, "MOST_SETS", 5)
    found = search([[1, 1, 1]], [[1, 1, 2], [2, 2, 2], [1, 1, 1]], [1.0] * 3, 1)
    assert found.tied.tolist() == [1, -1, 1]


def test_few_queries_are_left_to_another_search():
    codes = np.array([[1, 1, 1], [1, 1, 2]], np.int32)
    packed = pack(codes[:1], codes, np.ones(3))
    rows, sets = (
        Base(packed.base, np.ones(1, np.int64), np.zeros(1, np.int64)),
        column_sets(Metric(1, np.empty(0), np.ones(3)), packed.fields),
    )
    assert find_agreeing(rows, packed.query, np.full(2, -1), sets, 1).tied.tolist() == [1, -1]
