"""Classifiers of scikit-learn behind one door."""

from __future__ import annotations

import warnings
from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from sdckit.cells.pair import open_pair
from sdckit.errors import DataError
from sdckit.utility.propensities import classifiers as membership_tree, classifiers as stacking
from sdckit.utility.propensities.classifiers import (
    HALF,
    Atom,
    Stacked,
    Tree,
    checked_classifier,
    features_of,
    fit_scores,
    grow,
    grow_tree,
    importances,
    stack,
    tree_columns,
)

X = np.array([[0.0, 1], [0, 2], [0, 3], [1, 1], [1, 2], [1, 3]])
MEMBER = np.array([0, 0, 1, 0, 1, 1], bool)


class Odd(ClassifierMixin, BaseEstimator):
    """Gives what it is told to, with a warning."""

    def __init__(self, score=0.5):
        self.score = score

    def fit(self, x, y):
        if self.score is None:
            raise ValueError(f"first value {x[0]}")
        warnings.warn("not well", UserWarning, stacklevel=1)
        return self

    def predict_proba(self, x):
        return np.full((len(x), 2), self.score)


def test_names():
    assert checked_classifier("logit", 1, seeded=False) == ("logit", None)
    assert checked_classifier("cart", 7, seeded=False) == ("cart", Tree(leaves=64, smallest_leaf=5))


def test_an_estimator_is_copied_and_seeded():
    forest = RandomForestClassifier(random_state=3)
    assert checked_classifier(forest, 7, seeded=True)[1].random_state == 7
    assert checked_classifier(forest, 7, seeded=False)[1].random_state == 3
    assert forest.random_state == 3
    pipeline = make_pipeline(StandardScaler(), RandomForestClassifier())
    name, found = checked_classifier(pipeline, 7, seeded=False)
    assert name == "Pipeline"
    assert found.get_params()["randomforestclassifier__random_state"] == 7


@pytest.mark.parametrize("model", ["tree", LinearSVC(), RandomForestClassifier, 5])
def test_unknown_models(model):
    with pytest.raises(DataError, match="'logit', 'cart' or a scikit-learn classifier"):
        checked_classifier(model, 1, seeded=False)


def test_scores():
    score, fitted = fit_scores(DecisionTreeClassifier(max_leaf_nodes=2, random_state=0), X, MEMBER)
    assert score == pytest.approx([0, 0.5, 1, 0, 0.5, 1], abs=0.26)
    assert importances(fitted, X, ["a", "b"]) == {"a": 0.0, "b": 1.0}


def test_warnings_are_counted_and_not_shown():
    warned: Counter[str] = Counter()
    assert fit_scores(Odd(), X, MEMBER, warned)[0].tolist() == [0.5] * 6
    assert warned == {"UserWarning": 1}


@pytest.mark.parametrize(("score", "words"), [(1.5, "a probability from 0 to 1"), (None, r"\(ValueError\)")])
def test_models_that_fail(score, words):
    with pytest.raises(DataError, match=words) as caught:
        fit_scores(Odd(score), X, MEMBER)
    assert "first value" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_importance_of_slopes_counts_the_spread_of_a_column():
    fitted = LogisticRegression().fit(X, MEMBER)
    found = importances(fitted, X, ["a", "b"])
    weight = np.abs(fitted.coef_[0]) * X.std(axis=0)
    assert list(found.values()) == pytest.approx(weight / weight.sum())
    assert importances(fitted, X, ["a", "a"]) == {"a": pytest.approx(1.0)}
    assert importances(Odd(), X, ["a", "b"]) is None
    assert importances(DecisionTreeClassifier().fit(X, np.zeros(6)), X, ["a", "b"]) == {"a": 0.0, "b": 0.0}


# The tree of `propensity` beside scikit-learn's, and the columns that trees share.


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
    assert len(membership_tree._split.signatures) <= 1


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


# The tree against one that tries every cut of every leaf on the records themselves.


ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 4), st.integers(0, 9), st.booleans()), min_size=1, max_size=40
)


def kernel(rows, leaves, smallest):
    """A category of three levels, a number of five values that is counted, one of ten that is sorted."""
    level, counted, many, member = (np.array(column) for column in zip(*rows, strict=True))
    n = len(rows)
    cells = np.stack([level, 3 + counted], axis=1).astype(np.int32)
    order = np.sort((many.astype(np.int64) << HALF) | (np.arange(n) << 1))[None]
    columns = cells, np.array([0, 3, 8]), np.array([False, True])
    return grow(columns, order, member.astype(np.uint8), leaves, smallest)


def cuts(rows):
    """Every way to cut in two, in the order of the columns, and of the levels of each."""
    for level in range(3):
        yield 0, [row[0] == level for row in rows]
    for column, top in ((1, 5), (2, 10)):
        for value in range(top):
            yield column, [row[column] <= value for row in rows]


def gini(members):
    """Records times their Gini index, halved."""
    ones = sum(members)
    return Fraction(ones * (len(members) - ones), len(members))


def best_cut(rows, place, smallest):
    members, found = [rows[i][3] for i in place], None
    if len(set(members)) < 2:
        return None
    for column, left in cuts([rows[i] for i in place]):
        sides = [[m for m, there in zip(members, left, strict=True) if there == side] for side in (True, False)]
        if min(map(len, sides)) >= smallest:
            gain = gini(members) - sum(map(gini, sides))
            if found is None or gain > found[0]:
                found = gain, column, left
    return found


def plain(rows, leaves, smallest):
    """Shares of members by row, and gains by column, exactly."""
    parts, gains = [list(range(len(rows)))], [Fraction(0)] * 3
    while len(parts) < leaves:
        found = [(best_cut(rows, part, smallest), part) for part in parts]
        found = [(cut, part) for cut, part in found if cut is not None]
        if not found:
            break
        (gain, column, left), part = max(found, key=lambda one: one[0][0])
        gains[column] += gain
        at = parts.index(part)
        sides = [[i for i, there in zip(part, left, strict=True) if there == side] for side in (True, False)]
        parts[at : at + 1] = []
        parts += sides
    share = [0.0] * len(rows)
    for part in parts:
        for i in part:
            share[i] = sum(rows[j][3] for j in part) / len(part)
    return share, gains


@given(ROWS, st.integers(1, 8), st.integers(1, 4))
def test_the_tree_is_the_one_that_tries_every_cut(rows, leaves, smallest):
    share, taken = kernel(rows, leaves, smallest)
    expected, gains = plain(rows, leaves, smallest)
    np.testing.assert_array_equal(share, expected)
    np.testing.assert_allclose(taken, [float(one) for one in gains], rtol=1e-12, atol=1e-12)


# Two files below each other, as codes and numbers.


ORIGINAL = pl.DataFrame({"x": [1.0, 3.0, None], "c": ["p", None, "q"], "k": ["u"] * 3, "z": [7.0, 7.0, None]})
RELEASED = pl.DataFrame({"x": [5.0, 3.0], "c": ["q", "r"], "k": ["u"] * 2, "z": [7.0, 7.0]})


def stacking_stacked(names=("x", "c", "k", "z"), *, scale, original=ORIGINAL, released=RELEASED, release=0):
    numeric = [name for name in ("x", "z") if name in names]
    pair = open_pair(
        original, released, categories={"v": [name for name in names if name not in numeric]}, numeric={"n": numeric}
    )
    return stack(pair, release, names, numeric, scale=scale)


def test_numbers_and_gaps():
    rows = stacking_stacked(scale=False)
    assert [(atom.variable, atom.kind) for atom in rows.atoms] == [
        ("x", "value"),
        ("x", "gap"),
        ("c", "level"),
        ("z", "gap"),
    ]
    assert rows.values.tolist() == [[1.0, 3.0, 0.0, 5.0, 3.0]]
    assert rows.codes.tolist() == [[0, 0, 1, 0, 0], [0, 3, 1, 1, 2], [0, 0, 1, 0, 0]]
    assert rows.constant == ("k",)
    assert (rows.share, rows.total.tolist()) == (0.4, [1.0] * 5)
    assert rows.atoms[2].labels == ("=q", "=r", "=(missing)")


def test_numbers_in_standard_deviations():
    values = stacking_stacked(scale=True).values[0]
    known = np.array([1.0, 3.0, 5.0, 3.0])
    assert values[[0, 1, 3, 4]] == pytest.approx((known - 3) / known.std())
    assert values[2] == 0.0


def test_very_large_numbers():
    large = [frame.with_columns(x=pl.col("x") * 1e300) for frame in (ORIGINAL, RELEASED)]
    assert stacking_stacked(scale=True, original=large[0], released=large[1]).values == pytest.approx(
        stacking_stacked(scale=True).values
    )


def test_equal_rows_of_categories_are_counted():
    many = [pl.concat([frame.select("c", "k")] * 20) for frame in (ORIGINAL, RELEASED)]
    rows = stacking_stacked(["c", "k"], scale=True, original=many[0], released=many[1])
    assert rows.codes.tolist() == [[0, 1, 2, 3]]
    assert rows.original.tolist() == [20.0, 20.0, 0.0, 20.0]
    assert rows.released.tolist() == [0.0, 20.0, 20.0, 0.0]
    assert rows.share == 0.4
    assert len(stacking_stacked(["c"], scale=False, original=many[0], released=many[1]).total) == 100


def test_combinations_that_are_too_many_are_not_counted(monkeypatch):
    monkeypatch.setattr(stacking, "DENSE", 0)
    assert len(stacking_stacked(["c"], scale=True).total) == 5


def test_levels_of_another_release_have_no_column():
    rows = stacking_stacked(["c"], scale=True, released=[RELEASED, RELEASED.with_columns(c=pl.lit("w"))], release=1)
    assert rows.atoms[0].labels == ("=q", "=w", "=(missing)")


def test_the_order_of_rows():
    rows = stacking_stacked(["x", "c"], scale=False)
    mixed = stacking_stacked(["x", "c"], scale=False, original=ORIGINAL[[2, 0, 1]], released=RELEASED[[1, 0]])
    one, two = rows.in_order(), mixed.in_order()
    for name in ("codes", "values", "original", "released"):
        assert np.array_equal(getattr(one, name), getattr(two, name))
    assert stacking_stacked(["k"], scale=True).in_order().total.tolist() == [1.0] * 5


def test_a_matrix_of_features():
    matrix, variables = features_of(stacking_stacked(scale=False), np.float32, level=0.5)
    assert matrix.dtype == np.float32
    assert variables == ["x", "x", "c", "c", "c", "c", "z"]
    assert matrix[1].tolist() == [3.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.0]
    assert matrix[2].tolist() == [0.0, 1.0, 0.0, 0.5, 0.0, 0.0, 1.0]


def test_a_matrix_that_would_be_too_large(monkeypatch):
    monkeypatch.setattr(stacking, "FEATURES", 10)
    with pytest.raises(DataError, match="5 rows of 7 columns"):
        features_of(stacking_stacked(scale=False), np.float64)
