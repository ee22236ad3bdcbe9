"""Merging words against a dictionary."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdckit.numerics.wildcard_matches import merging
from sdckit.numerics.wildcard_matches.merging import add_up_field, merge, recode


@given(
    st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(1, 9)), min_size=1, max_size=60),
    st.integers(0, 2**64 - 1),
)
def test_agrees_with_a_dictionary(rows, keep):
    words, size = np.array([w for w, _ in rows], np.uint64), np.array([s for _, s in rows])
    weight = size * 0.5
    expected: Counter = Counter()
    for word, count in rows:
        expected[word & keep] += count
    for given_weight in (weight, np.empty(0)):
        found = merge(words, size, given_weight, keep=keep)
        assert dict(zip(found.words.tolist(), found.size.tolist(), strict=True)) == dict(expected)
        assert len(found.words) == len(expected)
    assert merge(words, size, weight, keep=keep).weight.tolist() == [
        expected[word] / 2 for word in merge(words, size, weight, keep=keep).words.tolist()
    ]


def test_many_words_and_their_places():
    rng = np.random.default_rng(1)
    words = rng.integers(0, 5000, 50_000).astype(np.uint64)
    found = merge(words, np.ones(len(words), np.int64))
    assert found.size.sum() == len(words)
    assert sorted(found.words.tolist()) == np.unique(words).tolist()
    assert sorted(found.slots[found.slots >= 0].tolist()) == list(range(len(found.words)))


@pytest.fixture(params=["few", "many"])
def way(monkeypatch, request):
    monkeypatch.setattr(merging, "FEW", 10**9 if request.param == "few" else -1)


@pytest.mark.usefixtures("way")
def test_recode_touches_one_field():
    words = np.array([0b11_01_1, 0b00_10_0], np.uint64)
    table = np.array([0, 3, 1, 2], np.uint64)
    assert recode(words, shift=1, bits=2, table=table).tolist() == [0b11_11_1, 0b00_01_0]


@given(
    st.lists(st.tuples(st.integers(0, 2**20 - 1), st.integers(1, 9)), max_size=40),
    st.sampled_from([3, 13]),
    st.sampled_from([-1, 100]),
)
def test_sizes_by_field(rows, bits, few):
    expected = np.zeros(1 << bits, np.int64)
    for word, count in rows:
        expected[word >> 4 & (1 << bits) - 1] += count
    words, size = np.array([w for w, _ in rows], np.uint64), np.array([s for _, s in rows], np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merging, "FEW", few)
        assert add_up_field(words, size, shift=4, bits=bits).tolist() == expected.tolist()
