"""Packed rows, and sets of columns in the order of what they weigh."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdckit.numerics.encode import Metric
from sdckit.numerics.search import column_sets as module
from sdckit.numerics.search.column_sets import column_sets, pack


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
    expected = sorted(
        sum(weights[j] for j in one) for r in range(len(used) + 1) for one in combinations(used, r)
    )
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
