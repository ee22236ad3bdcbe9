"""The kernel makes the groups that comparing all with all makes."""

from __future__ import annotations

import numpy as np
import pytest

from protect.plain_mdav import plain_mdav, same_partition
from sdckit.protect.mdav_kernel import mdav_groups


@pytest.mark.parametrize(
    ("n", "d", "k"),
    [(3, 2, 3), (5, 2, 3), (6, 1, 3), (7, 2, 2), (300, 4, 3), (401, 2, 5), (200, 9, 4), (90, 3, 30)],
)
def test_the_groups_of_the_definition(n, d, k):
    z = np.random.default_rng(n).normal(size=(n, d)) ** 3
    found = mdav_groups(z, k)
    assert same_partition(found, plain_mdav(z, k))
    sizes = np.bincount(found)
    assert (sizes[:-1] == k).all()
    assert k <= sizes[-1] < 2 * k


def test_ties():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        z = rng.integers(0, 4, (rng.integers(4, 70), 2)).astype(float)
        k = int(rng.integers(2, 5))
        if len(z) >= k:
            assert same_partition(mdav_groups(z, k), plain_mdav(z, k)), seed


def test_all_records_alike():
    assert np.bincount(mdav_groups(np.ones((50, 3)), 4)).tolist() == [4] * 11 + [6]


def test_around_given_records():
    z = np.random.default_rng(5).normal(size=(157, 3))
    ranking = np.random.default_rng(6).permutation(157)
    assert same_partition(mdav_groups(z, 4, ranking=ranking), plain_mdav(z, 4, ranking))


def test_a_long_file_far_from_zero():
    """Several trees and lists, and sums that lose no digits."""
    z = np.random.default_rng(7).normal(size=(1500, 2)) + 1e6
    assert same_partition(mdav_groups(z, 3), plain_mdav(z, 3))
    assert z.min() > 1e5  # the data is left alone
