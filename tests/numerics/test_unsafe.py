"""Small tables counted in place, hashed, and of more cells than a word can number."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from sdckit.numerics import unsafe
from sdckit.numerics.unsafe import count_unsafe


@pytest.mark.parametrize(("direct", "most"), [(1 << 20, 1 << 62), (1, 1 << 62), (1, 4), (1 << 20, 4)])
def test_agrees_with_counting(monkeypatch, direct, most):
    monkeypatch.setattr(unsafe, "DIRECT", direct)
    monkeypatch.setattr(unsafe, "MOST", most)
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 3, (4, 40)).astype(np.int32)
    size = rng.integers(1, 4, 40)
    variables, threshold = [0, 2, 3], 3
    marks = np.zeros((40, 5), np.int32)
    found = count_unsafe(codes, np.full(4, 3), size, variables, threshold, marks)
    counts: Counter = Counter()
    cell = [tuple(codes[variables, i].tolist()) for i in range(40)]
    for one, held in zip(cell, size.tolist(), strict=True):
        counts[one] += held
    rare = {one: held for one, held in counts.items() if held <= threshold}
    assert found == (len(counts), len(rare), sum(rare.values()))
    expected = [one in rare for one in cell]
    for j in range(5):
        assert marks[:, j].tolist() == ([0] * 40 if j == 1 else [int(hit) for hit in expected])


def test_more_cells_than_a_word_numbers():
    codes = np.tile(np.arange(50, dtype=np.int32), (12, 1))
    marks = np.zeros((50, 13), np.int32)
    assert count_unsafe(codes, np.full(12, 50), np.ones(50, np.int64), range(12), 1, marks) == (50, 50, 50)
