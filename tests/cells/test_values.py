"""Figures per record, held per cell, against the same figures of the records written out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

import brute
from sdckit.cells.values import CellValues, PartedValues

cells = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0, 7.5]), st.integers(1, 5)), min_size=1, max_size=12
)


def both(pairs):
    values, size = np.array([v for v, _ in pairs]), np.array([n for _, n in pairs])
    return CellValues(values, size), np.repeat(values, size)


@given(cells, st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_as_if_written_out(pairs, shares):
    held, rows = both(pairs)
    assert held.n == len(rows)
    assert held.total() == pytest.approx(rows.sum(), rel=1e-12)
    assert held.extremes() == (rows.min(), rows.max())
    limits = [0.1, 0.3, 7.5]
    assert held.count_below(limits) == [int((rows < limit).sum()) for limit in limits]
    assert held.count_above(limits) == [int((rows > limit).sum()) for limit in limits]
    assert held.quantiles(shares) == pytest.approx(np.quantile(rows, shares).tolist(), rel=1e-12)
    median = np.median(rows)
    assert held.median_and_deviation() == pytest.approx((median, np.median(np.abs(rows - median))))


@given(cells, st.floats(0, 60))
def test_the_cap(pairs, total):
    held, rows = both(pairs)
    assert held.cap_for(total) == pytest.approx(brute.cap(rows.tolist(), total), nan_ok=True)


def test_no_cap_is_low_enough():
    assert math.isnan(CellValues(np.array([0.5]), np.array([4])).cap_for(2.0))
    assert CellValues(np.array([0.5]), np.array([4])).cap_for(2.1) == 0.5


@given(cells)
def test_the_distribution_is_sorted_and_complete(pairs):
    held, rows = both(pairs)
    values, counts = held.distribution()
    expected = np.unique(rows, return_counts=True)
    np.testing.assert_array_equal(values, expected[0])
    np.testing.assert_array_equal(counts, expected[1])
    assert counts.dtype == np.int64


@given(cells, cells, st.lists(st.floats(0, 1), min_size=1, max_size=3), st.floats(0, 60))
def test_parts_are_as_one(first, second, shares, total):
    (a, _), (b, _), (whole, _) = both(first), both(second), both(first + second)
    parts = PartedValues(((a.values, a.size), (b.values, b.size)))
    limits = [0.1, 0.3, 7.5]
    assert (parts.n, parts.extremes()) == (whole.n, whole.extremes())
    assert parts.total() == pytest.approx(whole.total(), rel=1e-14)
    assert (parts.count_below(limits), parts.count_above(limits)) == (
        whole.count_below(limits), whole.count_above(limits),
    )  # fmt: skip
    assert parts.quantiles(shares) == whole.quantiles(shares)
    assert parts.median_and_deviation() == whole.median_and_deviation()
    assert parts.cap_for(total) == pytest.approx(whole.cap_for(total), nan_ok=True)
