"""Groups of records against the same counted by hand."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from sdckit.data.scenarios.guessing.groups import Groups

ids = st.lists(st.integers(0, 6), min_size=1, max_size=40).map(lambda found: np.array(found, dtype=float))


@given(ids, st.randoms(use_true_random=False))
def test_by_hand(codes, random):
    values = np.array([random.randint(0, 2) for _ in codes], dtype=float)
    groups = Groups.of(codes)
    members = [values[codes == one] for one in np.unique(codes)]
    several = [one for one in members if len(one) > 1]
    assert groups.n == len(members)
    assert groups.n_several == len(several)
    assert groups.largest == max(map(len, members))
    expected = np.mean([len(set(one)) == 1 for one in several]) if several else np.nan
    assert np.array_equal(groups.share_constant(values), expected, equal_nan=True)
    sizes = np.array([(codes == one).sum() for one in codes], dtype=float)
    assert groups.counted_by(sizes) == 1
    assert groups.together == (sum(np.diff(codes) != 0) + 1 == len(members))


@given(ids)
def test_a_numbering_is_found_in_any_order(codes):
    number = np.array([(codes[:i] == codes[i]).sum() for i in range(len(codes))], dtype=float)
    order = np.random.default_rng(1).permutation(len(codes))
    for first in (0, 1):
        assert Groups.of(codes[order]).numbered_by(number[order] + first) == 1
    assert Groups.of(codes).repeated([number]) == 0


def test_what_is_no_numbering():
    codes = np.repeat(np.arange(50.0), 3)
    assert Groups.of(codes).numbered_by(np.tile([1.0, 2, 2], 50)) < 0.9
    assert Groups.of(codes).numbered_by(np.tile([1.0, 3, 3], 50)) == 0
    assert Groups.of(codes).numbered_by(np.tile([1.0, 1, 3], 50)) == 0  # the ends are right, the middle not
    assert Groups.of(codes).numbered_by(np.full(150, np.nan)) == 0
    assert Groups.of(codes).repeated([np.tile([1.0, 1, 2], 50)]) == 50 / 150
