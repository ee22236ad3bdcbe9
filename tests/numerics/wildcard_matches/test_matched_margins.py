"""Figures of margins with missing values that match any, beside loops over pairs of cells."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st

import ways
from numerics.wildcard_matches.test_wildcards import (
    BITS as FILLING_BITS,
    MISSING as FILLING_MISSING,
    by_pairs as filling_by_pairs,
    cells,
    pack,
)
from sdckit.numerics.risk_kernel import mean_inverse
from sdckit.numerics.wildcard_matches import matched_margins, wildcards as few_matches
from sdckit.numerics.wildcard_matches.matched_margins import (
    Wild,
    add_up_field,
    match_merged,
    matched_sums,
    merge,
    recode,
)
from sdckit.numerics.wildcard_matches.submargins import Branch, weigh
from sdckit.numerics.wildcard_matches.wildcards import patterns_of

BITS = 3
MISSING = 7
LIMITS = [1 + 1e-9, 3 - 1e-9]
HALVES = np.array([0, 0, 2, 2, 4, 4, 6, 7], np.uint64)


def by_pairs(codes, size, weight, wild, alpha, kept):
    """Records with few matches and the sum of risks, on the keys kept."""
    codes, first = codes[:, kept], {}
    for row in codes.tolist():
        first.setdefault(tuple(row), len(first))
    cell = np.array([first[tuple(row)] for row in codes.tolist()])
    codes, n = np.array(list(first)).reshape(len(first), len(kept)), len(first)
    size, weight = np.bincount(cell, size, n), np.bincount(cell, weight, n)
    gone = (codes == MISSING) & np.array([wild[j] for j in kept], bool)
    below, risk = [0] * len(LIMITS), 0.0
    for i in range(n):
        match = ((codes == codes[i]) | gone | gone[i]).all(axis=1)
        credit = np.where(gone.any(axis=1), alpha, 1.0) * match
        if len(kept) > 1:
            credit[(codes == MISSING).all(axis=1)] = 0.0
        credit[i] = 1.0
        f = float(credit @ size)
        for k, limit in enumerate(LIMITS):
            below[k] += int(size[i]) if f < limit else 0
        risk += mean_inverse(f, float(credit @ weight)) * size[i]
    return below, risk


@given(
    st.integers(0, 2**32),
    st.integers(1, 80),
    st.lists(st.booleans(), min_size=4, max_size=4).filter(any),
    st.sampled_from([0.0, 0.3, 1.0]),
    st.sampled_from([None, 0.0, 5.0, 1e9]),
)
def test_agrees_with_pairs(seed, n, wild, alpha, cost):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 5, (n, 4))
    codes[rng.random((n, 4)) < 0.3] = MISSING
    codes = np.unique(codes, axis=0)
    size, weight = rng.integers(1, 4, len(codes)), rng.integers(20, 90, len(codes)) / 4
    words = sum(codes[:, j].astype(np.uint64) << np.uint64(BITS * j) for j in range(4))
    plan = [([3], [Branch(0, (1, 2), HALVES), Branch(1, (2,)), Branch(2)]), ([0, 1, 2], [Branch(3)])]
    levels = np.unique(codes[codes < MISSING])
    levels = np.arange(2) if len(levels) == 0 else levels
    rule = Wild([MISSING] * 4, [levels if free else None for free in wild], alpha)
    with pytest.MonkeyPatch.context() as patch:
        if cost is not None:  # else by NumPy
            patch.setattr(few_matches, "PAIRS", -1)
            patch.setattr(matched_margins, "COST_OF_FILLED_MARGINS", cost)  # filled only, either, looked up only
        patch.setattr(matched_margins, "PARTNERS", 1)
        found = matched_sums(
            weigh(words, size, weight), plan, shifts=[0, 3, 6, 9], bits=[BITS] * 4, limits=LIMITS, wild=rule
        )
    assert [len(some) for some in found] == [3, 1]
    assert [len(one.together) for one in found[0]] == [2, 1, 0]
    coarse = codes.copy()
    coarse[:, 0] = HALVES[codes[:, 0]]
    pairs = [
        (found[0][0].coarse, coarse, [0, 1, 2, 3]),
        (found[0][0].alone, codes, [1, 2, 3]),
        (found[0][0].together[0], codes, [2, 3]),
        (found[0][0].together[1], codes, [1, 3]),
        (found[0][1].alone, codes, [0, 2, 3]),
        (found[0][1].together[0], codes, [0, 3]),
        (found[0][2].alone, codes, [0, 1, 3]),
        (found[1][0].alone, codes, [0, 1, 2]),
    ]
    for sums, by_row, kept in pairs:
        below, risk = by_pairs(by_row, size, weight, wild, alpha, kept)
        assert sums.below.tolist() == below
        assert sums.risk == pytest.approx(risk, rel=1e-12)
    assert found[1][0].coarse is None


def test_rooms_are_used_again(monkeypatch):
    monkeypatch.setattr(few_matches, "PAIRS", -1)  # by kernels
    rng = np.random.default_rng(1)
    words = np.unique(rng.integers(0, 1 << 12, 500).astype(np.uint64))
    rule = Wild([MISSING] * 4, [np.arange(7)] * 4, 1.0)
    branches = [Branch(0, (1, 2)), Branch(1, (2,)), Branch(2)]
    same = {"shifts": [0, 3, 6, 9], "bits": [BITS] * 4, "limits": LIMITS, "wild": rule}
    cells = weigh(words, np.ones(len(words), np.int64), None)
    (together,) = matched_sums(cells, [([3], branches)], **same)
    for branch, one in zip(branches, together, strict=True):
        ((alone,),) = matched_sums(cells, [([3], [branch])], **same)
        assert alone.alone.risk == one.alone.risk
        assert [sums.risk for sums in alone.together] == [sums.risk for sums in one.together]


# Filling incomplete cells against loops over pairs, whichever way each pattern is matched.


@pytest.mark.parametrize("cost", [0.0, 3.0, 1e9])  # always fill, choose, always probe
@given(st.integers(0, 2**32), st.integers(1, 5), st.sampled_from([0.0, 0.4, 1.0]), st.data())
def test_agrees_with_pairs_of_filling(cost, seed, n_keys, alpha, data):
    wild = data.draw(st.lists(st.booleans(), min_size=n_keys, max_size=n_keys).filter(any))
    rng = np.random.default_rng(seed)
    codes = cells(rng, 60, n_keys, 3, 0.3)
    size = rng.integers(1, 5, len(codes))
    weight = rng.random(len(codes)) if data.draw(st.booleans()) else np.empty(0)
    merged = merge(pack(codes), size, weight)
    keys = [j for j, free in enumerate(wild) if free]
    shifts = [FILLING_BITS * j for j in keys]
    full = np.full(len(keys), FILLING_MISSING, np.uint64)
    pattern = patterns_of(merged.words, np.array(shifts, np.uint64), full, full)
    clear_of = {
        bits: ~sum(FILLING_MISSING << shifts[i] for i in range(len(keys)) if bits >> i & 1) & 0xFFFFFFFFFFFFFFFF
        for bits in np.unique(pattern).tolist()
    }
    levels = [np.unique(codes[codes[:, j] != FILLING_MISSING, j]) for j in keys]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matched_margins, "COST_OF_FILLING", cost)
        found = match_merged(merged, pattern, shifts=shifts, codes=levels, clear_of=clear_of, alpha=alpha)
    # a merge of distinct words keeps their order
    expected = filling_by_pairs(codes, size, weight if len(weight) else np.zeros(len(codes)), wild, alpha)
    np.testing.assert_allclose(found.size, expected[:, 0], rtol=1e-12)
    np.testing.assert_allclose(found.weight, expected[:, 1], rtol=1e-12, atol=1e-12)


# Merging words against a dictionary.


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
    ways.take(monkeypatch, few=request.param == "few")


@pytest.mark.usefixtures("way")
def test_recode_touches_one_field():
    words = np.array([0b11_01_1, 0b00_10_0], np.uint64)
    table = np.array([0, 3, 1, 2], np.uint64)
    assert recode(words, shift=1, bits=2, table=table).tolist() == [0b11_11_1, 0b00_01_0]


@given(
    st.lists(st.tuples(st.integers(0, 2**20 - 1), st.integers(1, 9)), max_size=40),
    st.sampled_from([3, 13]),
    st.booleans(),
)
def test_sizes_by_field(rows, bits, few):
    expected = np.zeros(1 << bits, np.int64)
    for word, count in rows:
        expected[word >> 4 & (1 << bits) - 1] += count
    words, size = np.array([w for w, _ in rows], np.uint64), np.array([s for _, s in rows], np.int64)
    with pytest.MonkeyPatch.context() as patch:
        ways.take(patch, few=few)
        assert add_up_field(words, size, shift=4, bits=bits).tolist() == expected.tolist()
