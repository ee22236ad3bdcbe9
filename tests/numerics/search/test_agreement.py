"""Rows that differ in few columns, counted by what they agree in."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdckit.numerics.coding import Metric
from sdckit.numerics.search import agreement as module
from sdckit.numerics.search.agreement import Base, column_sets, find_agreeing, pack

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
    assert (search(base, query, weights, k, sizes=sizes.tolist(), counted=False).smallest == found.smallest).all()


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


# Packed rows, and sets of columns in the order of what they weigh.


def metric(*weights, power=1):
    return Metric(power, np.empty(0), np.array(weights, float))


def fields(n):
    return np.array([1 << j for j in range(n)], np.uint64)


@given(st.lists(st.lists(st.integers(0, 300), min_size=3, max_size=3), min_size=2, max_size=20))
def test_words_differ_where_rows_do(rows):
    codes = np.array(rows, np.int32)
    packed = pack(codes[1:], codes[:1], np.ones(3))
    for row, word in zip(codes[1:], packed.base, strict=True):
        apart = (word ^ packed.query[0]) & packed.fields
        assert ((apart != 0) == (row != codes[0])).all()


def test_a_column_that_weighs_nothing_is_left_out():
    packed = pack(np.array([[1, 900], [2, 7]], np.int32), np.array([[1, 5]], np.int32), np.array([1.0, 0.0]))
    assert packed.base.tolist() == [1, 2]
    assert packed.fields.tolist() == [3, 0]


@pytest.mark.parametrize("codes", [[[2**31 - 1] * 3], [[-1, 0, 0]]])
def test_what_does_not_fit_into_a_word_is_not_packed(codes):
    assert pack(np.array(codes, np.int32), np.zeros((1, 3), np.int32), np.ones(3)) is None
    assert pack(np.zeros((1, 3), np.int32), np.array(codes, np.int32), np.ones(3)) is None


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.5, 7.25]), min_size=1, max_size=5), st.integers(1, 2))
def test_all_sets_by_weight(weights, power):
    used = [j for j, weight in enumerate(weights) if weight > 0]
    if not used:
        return
    found = column_sets(metric(*weights, power=power), fields(len(weights)))
    expected = sorted(sum(weights[j] for j in one) for r in range(len(used) + 1) for one in combinations(used, r))
    assert found.weight.tolist() == expected
    assert found.complete
    for weight, columns, kept in zip(found.weight, found.columns.tolist(), found.kept.tolist(), strict=True):
        assert weight == sum(one for j, one in enumerate(weights) if columns >> j & 1)
        assert kept == (1 << len(weights)) - 1 & ~columns
    assert [expected[b] for b in found.begins[:-1]] == sorted(set(expected))


def test_sets_end_before_the_first_that_is_not_listed(monkeypatch):
    monkeypatch.setattr(module, "MOST_SETS", 4)
    found = column_sets(metric(1, 2, 4), fields(3))
    assert not found.complete
    assert found.weight.tolist() == [0, 1, 2]  # {1, 2} weighs 3, less than {4}


def test_weights_that_rounding_does_not_tell_apart_or_nearly_so():
    one = column_sets(metric(1, 1 + 1e-15), fields(2))
    assert np.diff(one.begins).tolist() == [1, 2, 1]
    assert column_sets(metric(1, 1 + 2e-12), fields(2)) is None
