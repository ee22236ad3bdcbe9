"""Pairs of figures are counted, and counted once."""

from __future__ import annotations

from collections import Counter

import numpy as np

from sdckit.numerics.grouping import joint_counts, pair_counts


def test_every_row_is_in_one_pair():
    rng = np.random.default_rng(1)
    one, other = rng.integers(0, 7, 500) / 7, rng.integers(0, 5, 500) / 5
    first, second, n = joint_counts(one, other)
    expected = Counter(zip(one.tolist(), other.tolist(), strict=True))
    assert dict(zip(zip(first.tolist(), second.tolist(), strict=True), n.tolist(), strict=True)) == expected
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == sorted(expected)


def test_what_is_not_known_is_left_out():
    gap = np.array([np.nan, 1.0])
    assert joint_counts(gap, gap[::-1])[2].sum() == 0
    assert [len(one) for one in joint_counts(np.array([]), np.array([]))] == [0, 0, 0]


def test_pairs_are_counted_alike_whether_there_are_many_or_few():
    rng = np.random.default_rng(2)
    for most in (3, 40, 10**6):
        first, second = rng.integers(0, most, 500), rng.integers(0, 7, 500)
        pairs, counts = np.unique(np.column_stack([first, second]), axis=0, return_counts=True)
        found = pair_counts(first, second, 7)
        assert [part.tolist() for part in found] == [pairs[:, 0].tolist(), pairs[:, 1].tolist(), counts.tolist()]
    assert [len(part) for part in pair_counts(np.zeros(0, np.int64), np.zeros(0, np.int64), 7)] == [0, 0, 0]
