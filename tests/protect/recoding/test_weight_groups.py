"""Groups of neighbouring weights: of k units, and none that tells."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings, strategies as st

from sdckit.protect.recoding.weight_groups import weight_groups


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 2)), min_size=1, max_size=40), st.integers(1, 5),
    st.sampled_from([0.5, 0.7, 0.9]),
)  # fmt: skip
@settings(deadline=None)
def test_every_group_is_large_enough_hides_and_is_of_neighbours(records, k, most):
    n = len(records)
    unit = np.cumsum([one[0] > 0 for one in records])
    unit -= unit[0]
    codes = np.array([[one[1] for one in records]])
    group, n_groups = weight_groups(np.arange(n), unit, codes, k, most)
    if n_groups == 0:
        known = codes[0][codes[0] >= 0]
        too_few = len(np.unique(unit)) < k
        assert too_few or (len(known) and np.bincount(known).max() > most * len(known))
        return
    assert (np.diff(group) >= 0).all()
    assert group[-1] == n_groups - 1
    assert group[0] == 0
    for g in range(n_groups):
        inside = group == g
        assert len(np.unique(unit[inside])) >= k
        known = codes[0][inside & (codes[0] >= 0)]
        assert len(known) == 0 or np.bincount(known).max() <= most * len(known) + 1e-9
    assert all(len(np.unique(group[unit == one])) == 1 for one in np.unique(unit))


def test_groups_are_no_larger_than_they_must_be():
    group, n_groups = weight_groups(np.arange(7), np.arange(7), np.empty((0, 7), np.int64), 3, 1.0)
    assert group.tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert n_groups == 2


def test_records_come_in_the_order_given():
    group, _ = weight_groups(np.array([3, 1, 0, 2]), np.arange(4), np.empty((0, 4), np.int64), 2, 1.0)
    assert group.tolist() == [1, 0, 1, 0]
