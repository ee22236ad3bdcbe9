"""Rows that differ in few columns, counted by what they agree in."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.numerics.encode import Metric
from sdckit.numerics.search import column_sets as module
from sdckit.numerics.search.agreement import Base, find_agreeing
from sdckit.numerics.search.column_sets import column_sets, pack


def search(base, query, weights, k, *, sizes=None, skip=None, counted=True):
    base, query = np.array(base, np.int32), np.array(query, np.int32)
    packed = pack(base, query, np.array(weights))
    sets = column_sets(Metric(1, np.empty(0), np.array(weights)), packed.fields)
    rows = Base(packed.base, np.array(sizes or [1] * len(base)), np.arange(len(base)))
    none = np.full(len(query), -1)
    return find_agreeing(
        rows, packed.query, none if skip is None else np.array(skip), sets, k, counted=counted
    )


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
