"""Pairs of figures are counted, and counted once."""

from __future__ import annotations

from collections import Counter

import numpy as np

from sdckit.numerics.grouping import joint_counts


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
