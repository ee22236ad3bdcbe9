"""Margins of packed cells against a dictionary."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, strategies as st

import ways
from sdckit.numerics.risk_kernel import exact_risk, mean_inverse
from sdckit.numerics.wildcard_matches import submargins
from sdckit.numerics.wildcard_matches.submargins import Branch, deal, margin_sums, weigh

BITS = (3, 2, 4, 3)
SHIFTS = (0, 3, 5, 9)
LIMITS = (2, 3, 5)


def brute(rows, change):
    """Counts below each limit and the sum of risks of rows (word, size, weight) with changed words."""
    size, weight = defaultdict(int), defaultdict(float)
    for word, count, persons in rows:
        size[change(word)] += count
        weight[change(word)] += persons
    below = [sum(one for one in size.values() if one < limit) for limit in LIMITS]
    return below, sum(mean_inverse(float(size[key]), weight[key]) * size[key] for key in size)


def clear(*fields):
    mask = sum(((1 << BITS[j]) - 1) << SHIFTS[j] for j in fields)
    return lambda word: word & ~mask


def recoded(field, table):
    def change(word):
        code = word >> SHIFTS[field] & (1 << BITS[field]) - 1
        return clear(field)(word) | int(table[code]) << SHIFTS[field]

    return change


def check(rows, branches, shared):
    cells = weigh(*(np.array(column, kind) for column, kind in zip(zip(*rows, strict=True), "Qqd", strict=True)))
    found = margin_sums(cells, branches, shifts=SHIFTS, bits=BITS, shared=shared, limits=LIMITS)
    for branch, counted in zip(branches, found, strict=True):
        wanted = [(counted.alone, clear(branch.field))]
        wanted += [
            (sums, clear(branch.field, other)) for other, sums in zip(branch.partners, counted.together, strict=True)
        ]
        if branch.coarse is None:
            assert counted.coarse is None
        else:
            wanted.append((counted.coarse, recoded(branch.field, branch.coarse)))
        for sums, change in wanted:
            below, risk = brute(rows, change)
            assert sums.below.tolist() == below
            assert sums.risk == pytest.approx(risk, rel=1e-12)


cell = st.tuples(st.integers(0, 2**12 - 1), st.integers(1, 6), st.floats(6, 60))
halves = {j: (np.arange(1 << BITS[j]) // 2 * 2).astype(np.uint64) for j in range(4)}


@given(st.lists(cell, min_size=1, max_size=60, unique_by=lambda row: row[0]), st.integers(0, 3))
def test_agrees_with_a_dictionary(rows, shared):
    rest = [j for j in range(4) if j != shared]
    branches = [
        Branch(rest[0], (rest[1], rest[2]), halves[rest[0]]), Branch(rest[1], (rest[2],)), Branch(rest[2]),
    ]  # fmt: skip
    check(rows, branches, [shared])


def test_many_cells_in_many_buckets():
    rng = np.random.default_rng(3)
    words = rng.permutation(1 << 12)[:3500]
    rows = [(int(word), int(1 + rng.poisson(0.4)), float(rng.uniform(9, 99))) for word in words]
    check(rows, [Branch(0, (3,), halves[0]), Branch(3, (), halves[3])], [1, 2])
    check(rows, [Branch(1, (0, 2, 3))], [])  # nothing shared: one bucket


def test_sums_do_not_depend_on_the_threads(monkeypatch):
    rng = np.random.default_rng(5)
    cells = weigh(rng.permutation(1 << 12).astype(np.uint64), np.ones(1 << 12, np.int64), rng.uniform(1, 9, 1 << 12))
    given = {"shifts": SHIFTS, "bits": BITS, "shared": [2], "limits": LIMITS}
    many = margin_sums(cells, [Branch(0, (1,))], **given)
    monkeypatch.setattr(submargins, "run", lambda function, items: [function(item) for item in items])
    alone = margin_sums(cells, [Branch(0, (1,))], **given)
    assert many[0].alone.risk == alone[0].alone.risk
    assert many[0].together[0].risk == alone[0].together[0].risk


# Cells dealt into buckets: all there, in order, those that agree side by side.


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
    ways.take(monkeypatch, few=False)
    dealt, edges = deal(given, 0b1111_1100_0000)
    ways.take(monkeypatch, few=True)
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
    for word, one in zip((dealt.words >> np.uint64(6) & np.uint64(63)).tolist(), bucket.tolist(), strict=True):
        assert owner.setdefault(word, one) == one
    if n > 1000:
        assert len(set(owner.values())) > 30
