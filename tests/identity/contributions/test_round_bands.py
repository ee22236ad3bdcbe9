"""Round edges: few, and none that a single record decides."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, strategies as st

from sdckit.identity.contributions.round_bands import round_edges


@given(
    st.lists(
        st.tuples(st.integers(-500, 500), st.integers(1, 60)),
        min_size=1,
        max_size=80,
        unique_by=lambda one: one[0],
    ),
    st.sampled_from([1, 0.01, 0.5, 37.0, 1e5]),
)
def test_the_edges_are_round_and_the_outermost_bands_full(levels, unit):
    values, size = (np.array(one) for one in zip(*sorted(levels), strict=True))
    values = values * unit
    edges = round_edges(values, size)
    if len(edges) == 0:
        return
    need = max(5, math.ceil(0.01 * size.sum()))
    assert len(edges) < 20
    assert size[values < edges[0]].sum() >= need
    assert size[values >= edges[-1]].sum() >= need
    if len(edges) > 1:
        steps = np.diff(edges)
        np.testing.assert_allclose(steps, steps[0])
        digit = steps[0] / 10 ** math.floor(math.log10(steps[0]) + 1e-9)
        assert min(abs(digit - one) for one in (1, 2, 5, 10)) < 1e-6


def test_the_largest_value_decides_nothing():
    size = np.full(61, 30)
    ages = np.arange(20.0, 81.0)
    usual = round_edges(ages, size).tolist()
    assert usual == [25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80]
    assert round_edges(np.append(ages, 114.0), np.append(size, 1)).tolist() == usual


def test_numbers_that_come_in_fives_are_put_together():
    ages = np.arange(20.0, 85.0, 5.0)
    assert round_edges(ages, np.full(13, 30)).tolist() == [30, 40, 50, 60, 70, 80]
    assert round_edges(ages / 10, np.full(13, 30)).tolist() == [3, 4, 5, 6, 7, 8]


def test_too_few_records_for_two_bands():
    assert len(round_edges(np.array([1.0, 2.0, 3.0]), np.array([3, 3, 3]))) == 0
    assert len(round_edges(np.array([7.0]), np.array([100]))) == 0
    assert round_edges(np.array([1.0, 2.0, 3.0]), np.array([30, 30, 30])).tolist() == [2]
    assert round_edges(np.array([1.0, 1.5, 4.0]), np.array([30, 30, 30])).tolist()[-1] == 4
