"""Wildcard matches of few cells beside a loop over pairs, and which cells are few."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdckit.numerics.wildcard_matches.wildcards import LOOKED_UP, PAIRS, are_few, credit_few

FIELDS = [0b11 << 2 * j for j in range(3)]
EVERY = sum(FIELDS)


@given(st.sets(st.integers(0, EVERY), min_size=1, max_size=60), st.sampled_from([0.0, 0.3, 1.0]), st.integers(1, 3))
def test_the_same_as_a_loop_over_pairs(drawn, alpha, width):
    def lacks(word):  # a field of ones is missing
        return sum(1 << j for j, field in enumerate(FIELDS) if word & field == field)

    cells = sorted(drawn, key=lacks)
    patterns = [lacks(word) for word in cells]
    present = sorted({0, *patterns})
    clears = [EVERY & ~sum(field for j, field in enumerate(FIELDS) if p >> j & 1) for p in present]
    edges = np.array([*(sum(one < p for one in patterns) for p in present), len(cells)])
    sums = np.random.default_rng(len(cells)).integers(1, 9, (len(cells), width)).astype(float)
    expected, by_complete = np.zeros(sums.shape), np.zeros(len(cells))
    for i, mine in enumerate(cells):
        for j, other in enumerate(cells):
            keep = clears[present.index(patterns[i])] & clears[present.index(patterns[j])]
            if patterns[i] != patterns[j] and (mine ^ other) & keep == 0:
                expected[i] += sums[j] * (alpha if patterns[j] else 1.0)
                by_complete[i] += 0 if patterns[j] else sums[j, 0]
    add = np.zeros(sums.shape)
    found = credit_few(np.array(cells, np.uint64), sums, add, np.array(clears, np.uint64), edges, alpha)
    np.testing.assert_allclose(add, expected, rtol=1e-12)
    assert found.tolist() == by_complete.tolist()


@pytest.mark.parametrize(
    ("edges", "few"),
    [
        ([0, LOOKED_UP // 2], True),
        ([0, LOOKED_UP // 2 + 1], False),
        ([0, 0, int(PAIRS**0.5)], True),
        ([0, 0, int(PAIRS**0.5) + 1], False),
    ],
)
def test_few_cells(edges, few):
    assert are_few(np.array(edges)) == few
