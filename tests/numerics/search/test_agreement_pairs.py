"""Rows of numbers and categories, compared where they agree in most categories."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.numerics.coding import Metric
from sdckit.numerics.search.agreement import Base, column_sets, find_agreeing, pack
from sdckit.numerics.search.agreement_pairs import (
    EXHAUSTED,
    NumberedRows,
    PackedQueries,
    find_meeting,
    lead_column,
    shares_agreeing,
    sums_agreeing,
    visit_meeting,
)
from sdckit.numerics.search.box_search import limits_of


def search(base, query, caps, weights, k, *, skip=None):
    """Of (numbers, codes) each; the base by its first number."""
    metric = Metric(1, np.array(caps, float), np.array(weights, float))
    packed = pack(np.array(base[1], np.int32), np.array(query[1], np.int32), metric.weights)
    numbers, asked = np.array(base[0], float), np.array(query[0], float)
    ones, rows = np.ones(len(numbers), np.int64), np.arange(len(numbers))
    held = NumberedRows(Base(packed.base, ones, rows), numbers, numbers[:, 0].copy())
    none = np.full(len(asked), -1) if skip is None else np.array(skip)
    queries = PackedQueries(packed.query, asked, asked[:, 0].copy(), none, caps[0], metric.tolerance)
    return find_meeting(held, queries, packed.fields, column_sets(metric, packed.fields), metric, k)


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("steps", [3, 1000])
def test_counts_are_those_of_all_pairs(k, steps):
    rng = np.random.default_rng(k)
    caps, weights = [0.5, 1.0], np.array([1.0, 0.25, 0.25])
    files = [(np.sort(rng.integers(0, steps, (n, 2)) / steps, axis=0), rng.integers(0, 3, (n, 3))) for n in (90, 40)]
    found = search(*files, caps, weights, k)
    (x, c), (y, d) = files
    away = np.minimum(np.abs(y[:, None] - x), caps).sum(axis=2) + (d[:, None] != c) @ weights
    last = np.sort(away)[:, k - 1 : k]
    assert found.smallest == pytest.approx(np.sort(away)[:, :k], abs=1e-12)
    assert found.closer.tolist() == (away < last - 1e-11).sum(axis=1).tolist()
    assert found.tied.tolist() == (np.abs(away - last) < 1e-11).sum(axis=1).tolist()
    near = away < away.min(axis=1)[:, None] + 1e-11
    assert found.nearest.tolist() == near.argmax(axis=1).tolist()


def test_a_row_does_not_find_itself():
    rows = ([[0.0], [0.25], [1.0]], [[1], [1], [1]])
    found = search(rows, rows, [1.0], [1.0], 1, skip=[0, 1, 2])
    assert found.smallest.ravel().tolist() == [0.25, 0.25, 0.75]
    assert found.nearest.tolist() == [1, 0, 1]


def test_distances_neither_equal_nor_apart_are_left_to_the_tree():
    rows = ([[0.5], [0.5 + 1e-12], [0.5 + 3e-12]], [[1]] * 3)
    assert search(rows, ([[0.0]], [[1]]), [1.0], [1.0], 1).tied.tolist() == [-1]
    assert search(([[0.5], [0.6]], [[1]] * 2), ([[0.0]], [[1]]), [1.0], [1.0], 1).tied.tolist() == [1]


def test_a_query_that_meets_too_many_rows_is_left_to_the_tree():
    n = EXHAUSTED + 10
    alike = np.column_stack([np.zeros(n), np.linspace(0.5, 1, n)])
    rows = (np.vstack([alike, [[1.0, 0.0]]]), [[1]] * n + [[2]])
    found = search(rows, ([[0.0, 0.0], [1.0, 0.0]], [[1], [2]]), [1.0, 1.0], [9.0], 1)
    assert found.tied.tolist() == [-1, 1]


def test_the_leading_number_is_the_one_that_differs_most():
    numbers = np.array([[0.0, 0.0], [0.3, 0.9], [0.6, 0.1], [0.9, 0.2]])
    assert lead_column(numbers, np.ones(2)) == 1 - int(np.abs(numbers[:2] - numbers[2:]).sum(axis=0).argmin())
    assert lead_column(numbers, np.array([1.0, 0.01])) == 0
    assert lead_column(numbers[:1], np.ones(2)) == 0


# Rows within a distance: counted, summed, listed.


@pytest.mark.parametrize("p", [0, 2])
@pytest.mark.parametrize("k", [1, 3])
def test_what_lies_within_the_kth_distance(p, k):
    rng = np.random.default_rng([p, k])
    codes, asked = rng.integers(0, 3, (50, 3)), rng.integers(0, 3, (20, 3))
    numbers, of_query = (np.sort(rng.integers(0, 4, (n, p)) / 4, axis=0) for n in (50, 20))
    metric = Metric(1, np.ones(p), np.array([1.0, 1.0, 0.5]))
    away = np.abs(of_query[:, None] - numbers).sum(axis=2) + (asked[:, None] != codes) @ metric.weights
    packed = pack(codes.astype(np.int32), asked.astype(np.int32), metric.weights)
    lead, leading = (one[:, 0].copy() if p else np.zeros(len(one)) for one in (numbers, of_query))
    rows = NumberedRows(Base(packed.base, np.ones(50, np.int64), np.arange(50)), numbers, lead)
    queries = PackedQueries(packed.query, of_query, leading, np.full(20, -1), float(p > 0), metric.tolerance)
    limits = limits_of(np.sort(away)[:, :k].copy(), metric)
    near = away <= np.sort(away)[:, k - 1 : k] + 1e-9
    values = rng.random((50, 2))
    ends = np.cumsum(near.sum(axis=1))
    given = (rows, queries, packed.fields, column_sets(metric, packed.fields), metric, limits)
    found = visit_meeting(*given, values=values, begins=ends - near.sum(axis=1), n_listed=int(ends[-1]))
    assert (found.closer + found.tied).tolist() == near.sum(axis=1).tolist()
    assert found.sums == pytest.approx(near @ values)
    assert found.nearest.tolist() == (away <= away.min(axis=1)[:, None] + 1e-9).argmax(axis=1).tolist()
    for i, listed in enumerate(np.split(found.listed, ends[:-1])):
        assert sorted(listed.tolist()) == np.flatnonzero(near[i]).tolist()


# Sums over the nearest rows and all tied with them.


@pytest.mark.parametrize("weights", [[1.0] * 5, [1.0, 0.5, 2.25, 0.125, 0.5]])
@pytest.mark.parametrize("k", [1, 2, 3, 7])
def test_sums_are_those_over_all_pairs(weights, k):
    rng = np.random.default_rng(k)
    base, query = (np.unique(rng.integers(0, 4, (200, 5)), axis=0), np.tile(rng.integers(0, 4, (90, 5)), (20, 1)))
    weights = np.array(weights)
    packed = pack(base.astype(np.int32), query.astype(np.int32), weights)
    sets = column_sets(Metric(1, np.empty(0), weights), packed.fields)
    rows = Base(packed.base, np.ones(len(base), np.int64), np.arange(len(base)))
    found = find_agreeing(rows, packed.query, np.full(len(query), -1), sets, k)
    values = rng.integers(-3, 4, (len(base), 3)).astype(float)
    away = (query[:, None] != base) @ weights
    near = away <= np.sort(away)[:, k - 1 : k]
    sums = sums_agreeing((packed.base, packed.query), (packed.fields, weights), sets, found, values)
    assert (sums == near @ values).all()


def test_what_queries_give_reaches_every_row_nearest_to_them():
    rng = np.random.default_rng(5)
    base = np.unique(rng.integers(0, 4, (200, 5)), axis=0)
    query = np.tile(rng.integers(0, 6, (90, 5)), (20, 1))
    packed = pack(base.astype(np.int32), query.astype(np.int32), np.ones(5))
    sets = column_sets(Metric(1, np.empty(0), np.ones(5)), packed.fields)
    rows = Base(packed.base, np.ones(len(base), np.int64), np.arange(len(base)))
    found = find_agreeing(rows, packed.query, np.full(len(query), -1), sets, 1)
    given = rng.integers(1, 9, len(query)).astype(float)
    away = (query[:, None] != base).sum(axis=2)
    near = away == away.min(axis=1)[:, None]
    assert (shares_agreeing((packed.base, packed.query), sets, found, given) == given @ near).all()
