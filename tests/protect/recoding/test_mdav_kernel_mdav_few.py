"""Few records, compared all with all, in the groups that the trees of many make, and numbers too large to square."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from protect.plain_mdav import same_partition
from sdckit.numerics import compiling
from sdckit.protect.recoding import mdav_kernel
from sdckit.protect.recoding.mdav_kernel import group_few, mdav_groups


def by_trees(z, k, ranking):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mdav_kernel, "is_little", lambda *_, **__: False)
        return mdav_groups(z, k, ranking=ranking)


@given(
    st.tuples(st.integers(1, 90), st.integers(1, 5)).flatmap(
        lambda shape: arrays(np.float64, shape, elements=st.integers(-3, 3).map(lambda x: x / 4))
    ),
    st.integers(2, 6), st.booleans(),
)  # fmt: skip
def test_the_groups_of_the_trees(z, k, given_ranking):
    ranking = np.random.default_rng(len(z)).permutation(len(z)) if given_ranking else None
    assert mdav_groups(z, k, ranking=ranking).tolist() == by_trees(z, k, ranking).tolist()


def test_the_groups_of_the_trees_in_a_longer_file():
    rng = np.random.default_rng(17)
    z = np.where(rng.random((3000, 3)) < 0.4, 0.0, np.exp(rng.normal(size=(3000, 3))))
    assert same_partition(mdav_groups(z, 3), by_trees(z, 3, None))


def test_distances_that_are_no_number_any_more():
    z = np.array([[1e200], [-1e200], [0.0], [2e200], [1.0], [3e200]])
    assert np.bincount(group_few(z, 3, np.empty(0, np.int64))).tolist() == [3, 3]


@pytest.mark.usefixtures("nothing_compiled")
def test_without_trees_only_until_they_are_worth_compiling(monkeypatch):
    ways = []
    monkeypatch.setattr(mdav_kernel, "group_few", lambda z, *_: ways.append(len(z)) or np.zeros(len(z), np.int64))
    rng = np.random.default_rng(1)
    for _ in range(6):
        mdav_groups(rng.normal(size=(20, 2)), 3)
    assert ways == [20] * mdav_kernel.OFTEN
    compiling._spent.clear()
    mdav_groups(rng.normal(size=(8_000, 2)), 3)
    assert len(ways) == mdav_kernel.OFTEN
    compiling._spent.clear()
    mdav_groups(rng.normal(size=(6_000, 2)), 3)
    assert ways[-1] == 6_000
