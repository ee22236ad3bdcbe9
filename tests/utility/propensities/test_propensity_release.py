"""One release: what the model finds is turned into figures, importances and notes."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from releases import original, release
from sdckit.cells.pair import open_pair
from sdckit.utility.propensities.propensity_release import Plan, classified, logistic
from sdckit.utility.propensities.stacking import stack

NAMES, NUMERIC = ["sex", "region", "income"], ["income"]
FILES = original(), release().with_columns(pl.col("income") * 1.1)


def stacked(*, scale, files=FILES, names=NAMES):
    pair = open_pair(
        *files,
        categories={"v": [name for name in names if name not in NUMERIC]},
        numeric={"n": [name for name in NUMERIC if name in names]},
    )
    return stack(pair, 0, names, [name for name in NUMERIC if name in names], scale=scale)


def plan(**options):
    given = {
        "interactions": 1, "null": "permutation", "aligned": False, "resamples": 20,
        "rng": np.random.default_rng(5),
    }  # fmt: skip
    return Plan(**{**given, **options})


def test_the_logistic_model_and_that_of_scikit_learn():
    ours = logistic(stacked(scale=True), plan(null="fitted"))
    theirs = classified(stacked(scale=True), plan(), LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000))
    for name in ("pmse", "specks", "po50", "auc"):
        assert theirs.figures[name] == pytest.approx(ours.figures[name], rel=1e-5)
    assert ours.figures["n_parameters"] == 1 + 1 + 3 + 1
    assert math.isnan(theirs.figures["n_parameters"])
    assert theirs.figures["expected_pmse"] == pytest.approx(ours.figures["expected_pmse"], rel=0.4)
    assert max(ours.importance, key=ours.importance.get) == "income"
    assert max(theirs.importance, key=theirs.importance.get) == "income"
    assert [name for name, _ in ours.coefficients][:3] == ["(intercept)", "sex=m", "region=north"]
    assert theirs.coefficients == ()


def test_permutation_and_formula_agree():
    by_formula = logistic(stacked(scale=True), plan(null="fitted")).figures
    dealt = logistic(stacked(scale=True), plan(resamples=100)).figures
    assert dealt["expected_pmse"] == pytest.approx(by_formula["expected_pmse"], rel=0.25)
    assert dealt["pmse"] == pytest.approx(by_formula["pmse"], rel=1e-12)


def test_aligned_files_have_no_ratio():
    found = logistic(stacked(scale=True), plan(null="fitted", aligned=True))
    assert math.isnan(found.figures["ratio"])
    assert math.isnan(found.figures["standardised"])
    assert found.figures["expected_pmse"] > 0
    assert found.notes["ratio"].startswith("rows correspond")
    tree = classified(stacked(scale=False), plan(aligned=True), DecisionTreeClassifier(random_state=1))
    assert math.isnan(tree.figures["expected_pmse"])
    assert tree.notes["expected_pmse"].startswith("rows correspond")


def test_records_told_apart_for_sure():
    files = (
        FILES[0],
        FILES[1].with_columns(
            region=pl.when(pl.col("region") == "west").then(pl.lit("far")).otherwise(pl.col("region"))
        ),
    )
    found = logistic(stacked(scale=True, files=files), plan(null="fitted"))
    west = sum(
        int((frame["region"] == name).sum()) for frame, name in zip(files, ("west", "far"), strict=True)
    )
    assert found.notes["separation"].startswith(f"{west} records are told apart for sure")
    assert 0 < found.figures["pmse"] < 0.25
    assert max(found.importance, key=found.importance.get) == "region"
    assert all(math.isfinite(value) for value in found.importance.values())


def test_a_fit_that_does_not_end_is_said(monkeypatch):
    from sdckit.utility.propensities import logit_fit

    monkeypatch.setattr(logit_fit, "STEPS", 1)
    found = logistic(stacked(scale=True), plan(null="fitted"))
    assert found.notes["convergence"].startswith("scores still changed by ")


def test_nothing_varies():
    files = pl.DataFrame({"sex": ["f"] * 4}), pl.DataFrame({"sex": ["f"] * 2})
    for found in (
        logistic(stacked(scale=True, files=files, names=["sex"]), plan(null="fitted")),
        classified(stacked(scale=False, files=files, names=["sex"]), plan(), DecisionTreeClassifier()),
    ):
        assert (found.figures["pmse"], found.figures["auc"]) == pytest.approx((0.0, 0.5))
        assert math.isnan(found.figures["ratio"])
        assert found.notes["ratio"]
        assert found.notes["constant"] == "a single value in both files, so of no use here: sex"
        assert found.importance == {"sex": 0.0}


def test_a_model_that_does_not_say_what_it_goes_by():
    found = classified(stacked(scale=False), plan(resamples=2), KNeighborsClassifier())
    assert found.importance is None


def test_warnings_of_a_model_are_said():
    found = classified(stacked(scale=False), plan(resamples=2), LogisticRegression(max_iter=1))
    assert found.notes["model"] == "it warned while it was fitted: ConvergenceWarning (1)"
