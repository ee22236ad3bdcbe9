"""Figures of margins with missing values that match any, beside loops over pairs of cells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdckit.numerics.mean_inverse import mean_inverse
from sdckit.numerics.search.buckets import weigh
from sdckit.numerics.wildcard_matches import few_matches, matched_margins
from sdckit.numerics.wildcard_matches.matched_margins import Wild, matched_sums
from sdckit.numerics.wildcard_matches.submargins import Branch

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
            patch.setattr(matched_margins, "COST_OF_FILLING", cost)  # filled only, either, looked up only
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
