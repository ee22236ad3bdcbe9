"""The tree of `propensity` beside scikit-learn's, and the columns that trees share."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from sdckit.utility.propensities import membership_tree
from sdckit.utility.propensities.membership_tree import Tree, grow_tree, tree_columns
from sdckit.utility.propensities.stacking import Atom, Stacked, features_of

ATOMS = (
    Atom("region", "level", ("=b", "=c", "=d"), 0),
    Atom("income", "value", ("",), 0),
    Atom("income", "gap", (" (missing)",), 1),
    Atom("age", "value", ("",), 1),
    Atom("sex", "level", ("=m",), 2),
)


def stacked(n=1500, seed=1):
    """Files that differ in several columns, some of them together; no two columns part records alike."""
    rng = np.random.default_rng(seed)
    codes = np.array([rng.integers(0, 4, n), rng.random(n) < 0.2, rng.integers(0, 2, n)], np.int32)
    values = np.array([np.where(codes[1] == 1, 0.0, rng.normal(9, 1, n)), rng.integers(0, 86, n)], np.float64)
    pull = 0.5 * (codes[0] == 2) + 0.4 * (values[0] > 9.5) - 0.6 * ((values[1] > 60) & (codes[2] == 1))
    released = (rng.random(n) < 0.4 + 0.5 * pull).astype(np.float64)
    return Stacked(ATOMS, codes, values, 1 - released, released, ())


@pytest.mark.parametrize("few", [4096, 10, 0])
def test_the_tree_of_scikit_learn(few, monkeypatch):
    monkeypatch.setattr(membership_tree, "FEW", few)
    rows, tree = stacked(), Tree(leaves=20)
    columns = tree_columns(rows)
    assert columns.order.shape[0] == {4096: 0, 10: 2, 0: 2}[few]
    score, importance = grow_tree(columns, tree, rows.released)
    features, variables = features_of(rows, np.float32)
    peer = DecisionTreeClassifier(max_leaf_nodes=20, min_samples_leaf=5, random_state=1)
    peer.fit(features, rows.released)
    np.testing.assert_allclose(score, peer.predict_proba(features)[:, 1], rtol=1e-12)
    expected = dict.fromkeys(importance, 0.0)
    for name, part in zip(variables, peer.feature_importances_, strict=True):
        expected[name] += part
    assert importance == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_a_second_tree_finds_the_columns_as_they_were(monkeypatch):
    monkeypatch.setattr(membership_tree, "FEW", 10)
    rows = stacked()
    columns = tree_columns(rows)
    first = grow_tree(columns, Tree(), rows.released)
    grow_tree(columns, Tree(), rows.released[::-1].copy())
    again = grow_tree(columns, Tree(), rows.released)
    np.testing.assert_array_equal(again[0], first[0])
    assert again[1] == first[1]


def test_leaves_are_as_many_as_the_records_bear():
    assert [Tree().sized(n).leaves for n in (20, 500, 10**6)] == [2, 10, 64]
    rows = stacked()
    for tree in (Tree(7, 5), Tree(64, 200)):
        score = grow_tree(tree_columns(rows), tree, rows.released)[0]
        size = np.unique(score, return_counts=True)[1]
        assert len(size) <= tree.leaves
        assert size.min() >= tree.smallest_leaf


def test_nothing_to_go_by():
    one = np.array([1.0, 0, 1, 0, 0, 0, 0, 0, 0, 0])
    rows = Stacked((), np.empty((0, 10), np.int32), np.empty((0, 10)), 1 - one, one, ())
    score, importance = grow_tree(tree_columns(rows), Tree(), one)
    assert score.tolist() == [0.2] * 10
    assert importance == {}
    atoms = (Atom("sex", "level", ("=m",), 0),)
    flat = Stacked(atoms, np.zeros((1, 10), np.int32), np.empty((0, 10)), 1 - one, one, ())
    assert grow_tree(tree_columns(flat), Tree(), one)[1] == {"sex": 0.0}
