"""The kernel makes the groups that comparing all with all makes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from protect.plain_mdav import plain_mdav, same_partition
from sdckit.protect.recoding import mdav_kernel
from sdckit.protect.recoding.mdav_kernel import mdav_groups


@pytest.fixture(params=["few", "many"], autouse=True)
def way(request, monkeypatch):
    """All compared with all, and records in trees, as in larger files."""
    monkeypatch.setattr(mdav_kernel, "is_little", lambda *_, **__: request.param == "few")


@pytest.mark.parametrize(
    ("n", "d", "k"),
    [
        (3, 2, 3),
        (5, 2, 3),
        (6, 1, 3),
        (7, 2, 2),
        (300, 4, 3),
        (401, 2, 5),
        (200, 9, 4),
        (90, 3, 30),
        (700, 13, 3),
        (500, 21, 2),
    ],
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


@pytest.mark.parametrize("d", [3, 8, 12])
def test_outliers_ties_and_correlated_columns(d):
    rng = np.random.default_rng(d)
    for z in (
        np.exp(2 * rng.normal(size=(400, d))),
        np.round(rng.normal(size=(400, d))),
        rng.normal(size=(400, 2)) @ rng.normal(size=(2, d)),
        rng.normal(size=(400, d)) * 1e-160,  # whose squares are hardly numbers
    ):
        assert same_partition(mdav_groups(z, 3), plain_mdav(z, 3))


@given(
    st.integers(1, 9).flatmap(
        lambda d: st.tuples(
            arrays(np.float64, (40, d), elements=st.floats(-1e3, 1e3, width=32)),
            arrays(np.float64, (3, d), elements=st.floats(-1e4, 1e4, width=32)),
        )
    )
)
def test_no_record_is_beyond_the_bounds_of_its_box(drawn):
    z, (here, middle, _) = drawn[0], drawn[1]
    low, high = np.zeros((1, z.shape[1] + 1)), np.zeros((1, z.shape[1] + 1))
    low[0, :-1], high[0, :-1] = z.min(axis=0), z.max(axis=0)
    norms = [mdav_kernel._between(z, p, middle) for p in range(len(z))]
    high[0, -1] = np.sqrt(max(norms))
    away = [mdav_kernel._between(z, p, here) for p in range(len(z))]
    out = float(np.sqrt(((here - middle) ** 2).sum()))
    assert mdav_kernel._at_best(low, high, 0, here) <= min(away)
    assert mdav_kernel._at_worst(low, high, 0, here, middle, out) >= max(away)


@pytest.mark.parametrize("d", [1, 3, 4, 7, 8, 14])
def test_distances_of_a_block_are_those_of_one_record_to_the_last_digit(d):
    z, here = np.random.default_rng(d).normal(size=(32, d)), np.random.default_rng(0).normal(size=d)
    far = np.empty(32)
    mdav_kernel._apart(np.ascontiguousarray(z.T), here, far)
    assert far.tolist() == [mdav_kernel._between(z, p, here) for p in range(32)]
