"""Cells dealt into buckets: all there, in order, those that agree side by side."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.numerics.risk_kernel import exact_risk
from sdckit.numerics.search import buckets
from sdckit.numerics.search.buckets import deal, weigh


def cells(n, seed=0):
    rng = np.random.default_rng(seed)
    words = rng.permutation(1 << 17)[:n].astype(np.uint64)
    size = rng.integers(1, 5, n)
    return words, size, size * rng.uniform(1, 90, n)


def test_weighed():
    words, size, weight = cells(1000)
    found = weigh(words, size, weight)
    np.testing.assert_allclose(found.risk, exact_risk(size.astype(float), weight) * size, rtol=1e-13)
    assert found.words.tolist() == words.tolist()
    assert found.size.tolist() == size.tolist()
    census = weigh(words, size, None)
    assert set(census.risk.round(14)) == {1.0}
    assert census.weight.tolist() == size.tolist()


@pytest.mark.parametrize("n", [0, 1, 50, 100_000])
def test_dealt(n, monkeypatch):
    given = weigh(*cells(n))
    dealt, edges = deal(given, 0b1111_1100_0000)
    monkeypatch.setattr(buckets, "FEW", 10**9 if n > buckets.FEW else -1)
    other, same = deal(given, 0b1111_1100_0000)
    assert edges.tolist() == same.tolist()
    assert dealt.risk.tolist() == other.risk.tolist()
    assert (edges[0], edges[-1]) == (0, n)
    assert sorted(dealt.words.tolist()) == sorted(given.words.tolist())
    place = {word: i for i, word in enumerate(given.words.tolist())}
    came = np.array([place[word] for word in dealt.words.tolist()], np.int64)
    for name in ("size", "weight", "risk"):
        assert getattr(dealt, name).tolist() == getattr(given, name)[came].tolist()
    bucket = np.repeat(np.arange(len(edges) - 1), np.diff(edges))
    assert np.all((np.diff(came) > 0) | (np.diff(bucket) > 0))
    owner = {}
    for word, one in zip(
        (dealt.words >> np.uint64(6) & np.uint64(63)).tolist(), bucket.tolist(), strict=True
    ):
        assert owner.setdefault(word, one) == one
    if n > 1000:
        assert len(set(owner.values())) > 30
