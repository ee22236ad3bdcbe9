"""The tree of many records: that of scikit-learn where nothing is tied."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from sdckit.protect.synthesis import regression_tree
from sdckit.protect.synthesis.regression_tree import grow


def drawn(n, seed):
    """Columns of two, six and many values, one of them twice as often 0, and one that is constant."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([
        rng.integers(0, 2, n), rng.integers(0, 6, n), rng.normal(size=n),
        np.where(rng.random(n) < 0.5, 0, rng.normal(size=n)), np.ones(n),
    ]).astype(np.float32)  # fmt: skip
    y = X[:, 0] + X[:, 2] ** 2 + np.sin(X[:, 3]) + rng.normal(0, 0.5, n)
    return X, (y - y.mean()) / y.std()


def same_parts(a, b):
    """Whether two labels put rows together alike."""
    pairs = np.unique(np.stack([a, b]), axis=1)
    return len(np.unique(a)) == len(np.unique(b)) == pairs.shape[1]


@pytest.mark.parametrize("min_leaf", [1, 5, 40])
@pytest.mark.parametrize("few", [256, 0])
def test_the_leaves_are_those_of_scikit_learn(min_leaf, few, monkeypatch):
    monkeypatch.setattr(regression_tree, "FEW", few)
    for seed in range(4):
        X, y = drawn(3000, seed)
        theirs = DecisionTreeRegressor(min_samples_leaf=min_leaf, random_state=0).fit(X, y)
        ours = grow(X, y, min_leaf=min_leaf, seed=1)
        assert ours.node_count == theirs.tree_.node_count
        if min_leaf > 1:  # of two records in a node, every column cuts alike
            assert same_parts(ours.leaf_of, theirs.apply(X))
            fresh, _ = drawn(2000, seed + 100)
            means = [np.bincount(leaf, y, ours.node_count) / np.maximum(np.bincount(leaf, minlength=ours.node_count), 1)
                     for leaf in (ours.leaf_of, theirs.apply(X))]  # fmt: skip
            alike = np.isclose(means[0][ours.apply(fresh)], means[1][theirs.apply(fresh)], rtol=0, atol=1e-12)
            # columns that divide the few records of a node alike divide others differently
            assert alike.mean() > (0.99 if min_leaf < 40 else 0.9999)
        assert (ours.apply(X) == ours.leaf_of).all()
        assert np.bincount(ours.leaf_of)[np.unique(ours.leaf_of)].min() >= min_leaf


def test_nothing_to_cut_by():
    y = np.arange(10.0)
    assert grow(np.zeros((10, 2), np.float32), y, min_leaf=2, seed=0).node_count == 1
    X = np.arange(10, dtype=np.float32)[:, None]
    assert grow(X, np.ones(10), min_leaf=1, seed=0).node_count == 1
    assert grow(X, y, min_leaf=6, seed=0).node_count == 1
    assert grow(X, y, min_leaf=5, seed=0).node_count == 3


def test_values_that_hardly_differ_are_one():
    near = np.float32(0.5) + np.array([0, 3e-8, 6e-8], np.float32).repeat(4)
    assert len(np.unique(near)) > 1
    found = grow(near[:, None], np.arange(12.0), min_leaf=1, seed=0)
    assert (
        found.node_count == DecisionTreeRegressor().fit(near[:, None], np.arange(12.0)).tree_.node_count == 1
    )


def test_equally_good_columns_are_taken_in_turn():
    X = np.tile(np.arange(8, dtype=np.float32)[:, None], (1, 3))
    taken = {int(grow(X, np.arange(8.0), min_leaf=1, seed=seed).tree.column[0]) for seed in range(40)}
    assert taken == {0, 1, 2}
