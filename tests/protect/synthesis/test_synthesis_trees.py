"""Trees: donors come from the record's own leaf."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from sdckit.data.frames import open_frame
from sdckit.protect.synthesis.synthesis_design import seen
from sdckit.protect.synthesis.synthesis_trees import SampleFit, fit_estimator, fit_tree
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
        [V[one] for one in predictors],
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
