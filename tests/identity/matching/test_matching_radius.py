"""Numbers within a radius, group by group, beside a full table of distances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdckit.identity.matching.matching_kernel import Category, Interval
from sdckit.identity.matching.matching_radius import match_in_ball

WHOLE = st.integers(-3, 3) | st.none()


@given(
    st.lists(st.tuples(st.integers(0, 2), WHOLE, WHOLE, WHOLE, WHOLE), min_size=1, max_size=25),
    st.sampled_from([0.0, 1.0, 1.5, 2.5]),
    st.booleans(),
)
def test_counts_and_hits(rows, radius, closed):
    group = np.array([row[0] for row in rows], np.int32)
    x, y, u, v = (
        np.array([np.nan if row[at] is None else row[at] for row in rows], float) for at in range(1, 5)
    )
    intervals = [
        Interval(one, other, radius, False, 0.0, closed, True, False) for one, other in ((x, u), (y, v))
    ]
    units = [2.0, 1.0]
    count, true = match_in_ball([Category(group, group, False)], intervals, units, np.arange(len(rows)))
    near = np.zeros((len(rows), len(rows)))
    same = group[:, None] == group[None]
    for one, other, unit in ((x, u, 2.0), (y, v, 1.0)):
        gap = np.isnan(one)[:, None] != np.isnan(other)[None]
        same &= ~gap
        near += np.nan_to_num(((one[:, None] - other[None]) / unit) ** 2)
    within = same & (np.sqrt(near) <= radius if closed else np.sqrt(near) < radius)
    assert count.tolist() == within.sum(axis=1).tolist()
    assert true.tolist() == within.diagonal().tolist()


@pytest.mark.parametrize(("closed", "expected"), [(True, [2, 2]), (False, [0, 0])])
def test_a_radius_of_nothing_is_equality(closed, expected):
    one = Interval(np.array([1.0, 1.0]), np.array([1.0, 1.0]), 0.0, False, 0.0, closed, True, False)
    assert match_in_ball([], [one], [1.0], np.arange(2))[0].tolist() == expected
