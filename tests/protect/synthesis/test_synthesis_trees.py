"""Trees: donors come from the record's own leaf."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor

from sdckit.data.frames import open_frame
from sdckit.protect.synthesis import synthesis_trees as regression_tree
from sdckit.protect.synthesis.synthesis_design import seen
from sdckit.protect.synthesis.synthesis_trees import SampleFit, fit_estimator, fit_tree, grow
from sdckit.protect.synthesis.synthesis_variables import read_variable

RNG = np.random.default_rng(3)
N = 400
TOWN = RNG.choice([f"t{i}" for i in range(12)], N)
AGE = RNG.integers(20, 80, N).astype(float)
FRAME = pl.DataFrame(
    {
        "town": TOWN,
        "age": pl.Series([None if i % 9 == 0 else x for i, x in enumerate(AGE)]),
        "rich": np.isin(TOWN, ["t1", "t5", "t9"]),
        "three": [{"t1": "x", "t2": "y"}.get(one, "z") for one in TOWN],
        "income": np.where(np.isin(TOWN, ["t1", "t5"]), 100.0, 10.0) + RNG.normal(0, 1, N),
    }
)
V = {name: read_variable(open_frame(FRAME)[name]) for name in FRAME.columns}
HELD = {name: seen(one, one.held) for name, one in V.items()}
ROWS = np.arange(N)


def draw(fitted, seed=0):
    return fitted.draw(HELD, N, np.random.default_rng(seed), 0)


def tree(name, predictors=("town", "age"), **options):
    return fit_tree(
        V[name],
        [V[predictor] for predictor in predictors],
        ROWS,
        **{"min_leaf": 5, "smoothing": 0.0, "state": 0, **options},
    )


def test_a_split_of_unordered_categories_is_found_at_once():
    found = tree("rich", ("town",))
    assert found.tree.tree_.node_count == 3
    assert draw(found).level.tolist() == V["rich"].held.level.tolist()
    assert draw(tree("three", ("town",))).level.tolist() == V["three"].held.level.tolist()


def test_donors_share_the_leaf():
    found = tree("income")
    sizes = np.diff(found.edges)
    assert sorted(found.members.tolist()) == ROWS.tolist()
    assert sizes[sizes > 0].min() >= 5
    made = draw(found)
    assert (made.level >= 0).all()
    assert np.allclose(made.number > 50, V["income"].held.number > 50)


def test_smoothed_numbers_are_new_and_within_the_range():
    made = draw(tree("income", smoothing=1.0))
    assert (made.level < 0).mean() > 0.9
    assert FRAME["income"].min() <= made.number.min()
    assert made.number.max() <= FRAME["income"].max()
    assert made.number.mean() == pytest.approx(FRAME["income"].mean(), rel=0.2)


def test_heaped_numbers_are_not_smoothed():
    frame = FRAME.with_columns(pl.when(pl.col("income") > 50).then(0.0).otherwise("income").alias("income"))
    one = read_variable(open_frame(frame)["income"])
    found = fit_tree(one, [V["age"]], ROWS, min_leaf=20, smoothing=1.0, state=0)
    made = draw(found)
    assert (made.number == 0).mean() == pytest.approx((frame["income"] == 0).mean(), abs=0.08)


def test_sample():
    found = draw(SampleFit(V["rich"], ROWS[V["rich"].held.level == 1]))
    assert (found.level == 1).all()


def test_estimators():
    classes = draw(fit_estimator(V["rich"], [V["income"]], ROWS, estimator=GaussianNB()))
    assert classes.level.mean() == pytest.approx(V["rich"].held.level.mean(), abs=0.1)
    made = draw(fit_estimator(V["income"], [V["town"]], ROWS, estimator=LinearRegression()))
    assert made.number.mean() == pytest.approx(FRAME["income"].mean(), rel=0.1)
    assert np.corrcoef(made.number, FRAME["income"])[0, 1] > 0.9


# The tree of many records: that of scikit-learn where nothing is tied.


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
    assert found.node_count == DecisionTreeRegressor().fit(near[:, None], np.arange(12.0)).tree_.node_count == 1


def test_equally_good_columns_are_taken_in_turn():
    X = np.tile(np.arange(8, dtype=np.float32)[:, None], (1, 3))
    taken = {int(grow(X, np.arange(8.0), min_leaf=1, seed=seed).tree.column[0]) for seed in range(40)}
    assert taken == {0, 1, 2}
