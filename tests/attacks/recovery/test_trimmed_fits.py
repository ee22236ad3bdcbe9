"""Fits of which most records count: the smallest residuals, and their mean."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import integers

from sdckit.attacks.recovery import trimmed_fits


def test_the_smallest_residuals_are_told_apart() -> None:
    rng = np.random.default_rng(6)
    some, others = np.empty(41), np.empty(41)
    for values in (rng.random(40), rng.integers(0, 4, 40) * 1.0, np.zeros(40), 10.0 ** rng.integers(-12, 6, 40)):
        for h in (1, 30, 40):
            limit, mean = trimmed_fits._nearest(values, 40, h, some, others)
            assert limit == np.sort(values)[h - 1]
            assert mean == pytest.approx(np.sort(values)[:h].mean(), rel=1e-12)
            total = 0.0
            for value in np.sort(values)[:h].tolist():
                total += value
            assert trimmed_fits._mean_in_order(values, 40, h, limit, some) == total / h


def test_the_normal_equations_are_those_of_the_near_records() -> None:
    rng = np.random.default_rng(7)
    x, own, off = rng.normal(size=(3, 40)), rng.normal(size=40), rng.random(40)
    at, matrix, right = np.empty(41, np.int64), np.empty((4, 4)), np.empty(4)
    trimmed_fits._normal(x, own, off, 0.6, 40, at, matrix, right)
    near = np.vstack([np.ones(40), x])[:, off <= 0.6]
    assert 0 < near.shape[1] < 40
    np.testing.assert_allclose(matrix, near @ near.T, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(right, near @ own[off <= 0.6], rtol=1e-12, atol=1e-12)


@given(integers(0, 2**32 - 1), integers(1, 3))
def test_no_function_of_few_terms_gives_more_records_than_the_commonest_of_each_cell(seed: int, p: int) -> None:
    rng = np.random.default_rng(seed)
    y, terms = rng.integers(0, 4, 60) * 1.0, rng.integers(0, 3, (4, 60)) * 1.0
    y[rng.random(60) < 0.1], terms[rng.random((4, 60)) < 0.1] = np.nan, np.nan
    sets = np.array([*combinations(range(4), p)])
    shares = np.empty(len(sets))
    trimmed_fits.most_hits(y, terms, sets, 4, 4 * 3**p, shares)
    for set_, share in zip(sets, shares, strict=True):
        cells: dict[bytes, Counter[float]] = {}
        for i in np.flatnonzero(np.isfinite(y) & np.isfinite(terms[set_]).all(axis=0)):
            cells.setdefault(terms[set_, i].tobytes(), Counter())[float(y[i])] += 1
        hits = sum(max(counts.values()) for counts in cells.values())
        assert share == hits / sum(sum(counts.values()) for counts in cells.values())
    # Of more levels, or of more cells than there is room for, nothing is said.
    trimmed_fits.most_hits(y, np.vstack([terms, rng.random(60)]), np.array([[4], [0]]), 4, 12, shares[:2])
    assert shares[0] == 1.0 > shares[1]
    trimmed_fits.most_hits(y, terms, np.array([[0]]), 4, 11, shares[:1])
    assert shares[0] == 1.0
