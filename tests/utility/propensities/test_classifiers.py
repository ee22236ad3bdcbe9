"""Classifiers of scikit-learn behind one door."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from sdckit.errors import DataError
from sdckit.utility.propensities.classifiers import checked_classifier, fit_scores, importances
from sdckit.utility.propensities.membership_tree import Tree

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
