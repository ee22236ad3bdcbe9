"""Models: which may be asked for, how ties of neighbours vote, what happens where one fails."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sdckit.attribute.prediction import prediction_models
from sdckit.attribute.prediction.key_features import Features
from sdckit.attribute.prediction.prediction_models import (
    MODELS,
    Model,
    checked_model,
    guess_levels,
    guess_numbers,
)
from sdckit.errors import DataError


def checked(model, numeric=True, n_neighbors=3, seeded=True):
    return checked_model(model, numeric=numeric, n_neighbors=n_neighbors, state=7, seeded=seeded)


def on_a_line(train, query):
    return Features(((np.array(train, float), np.array(query, float)),), (), (1.0,))


KNN = [Model("knn", k, None) for k in range(5)]


def test_numbers_are_means_over_all_that_are_tied():
    features = on_a_line([0, 1, 1, 3], [0, 2, 9])
    target = np.array([10.0, 20.0, 40.0, 80.0])
    assert guess_numbers(KNN[1], features, target).tolist() == pytest.approx([10, 140 / 3, 80])
    assert guess_numbers(KNN[2], features, target).tolist() == pytest.approx([70 / 3, 140 / 3, 140 / 3])


def test_more_neighbours_than_records_are_all():
    assert guess_numbers(Model("knn", 9, None), on_a_line([0, 5], [1]), np.array([1.0, 3.0])).tolist() == [
        2.0
    ]


def test_keys_that_tell_nothing_apart():
    constant = Features(((np.ones(3), np.array([1.0, 5.0])),), (), (0.0,))
    assert guess_numbers(KNN[1], constant, np.array([1.0, 2.0, 6.0])).tolist() == [3.0, 3.0]


@pytest.mark.parametrize("block", [1, 1000])
def test_votes_for_levels(monkeypatch, block):
    monkeypatch.setattr(prediction_models, "BLOCK", block)
    features = on_a_line([0, 0, 0, 4, 4], [0, 4, 2])
    target, truth, place = (
        np.array([2, 2, 5, 5, 9]),
        np.array([2, 5, 9, 4, 9, 2]),
        np.array([0, 0, 1, 1, 2, 2]),
    )
    found = guess_levels(KNN[2], features, target, truth, place)
    assert found.best.tolist() == [2.0, 1.0, 2.0]
    assert found.ties.tolist() == [1, 2, 2]
    assert found.of_truth.tolist() == [2.0, 1.0, 1.0, 0.0, 1.0, 2.0]


def test_a_classifier_says_one_level():
    features = on_a_line([0, 0, 4, 4], [0, 4])
    model = Model("tree", 3, DecisionTreeClassifier(random_state=0))
    found = guess_levels(model, features, np.array([1, 1, 2, 2]), np.array([1, 2, 2]), np.array([0, 0, 1]))
    assert found.of_truth.tolist() == [1.0, 0.0, 1.0]
    assert (found.best.tolist(), found.ties.tolist()) == ([1.0, 1.0], [1, 1])


@pytest.mark.parametrize("numeric", [True, False])
@pytest.mark.parametrize("name", MODELS)
def test_models_by_name(name, numeric):
    model = checked(name, numeric)
    assert model.name == name
    if name == "knn":
        assert model.estimator is None
    else:
        assert model.estimator.get_params()["random_state"] == 7
        assert type(model.estimator).__name__.endswith("Regressor" if numeric else "Classifier")


def test_an_estimator_is_cloned_and_its_state_set():
    mine = make_pipeline(StandardScaler(), DecisionTreeRegressor(max_depth=2, random_state=1))
    assert checked(mine).estimator.get_params()["decisiontreeregressor__random_state"] == 7
    assert checked(mine, seeded=False).estimator.get_params()["decisiontreeregressor__random_state"] == 1
    assert checked(DecisionTreeRegressor(), seeded=False).estimator.random_state == 7
    assert mine.get_params()["decisiontreeregressor__random_state"] == 1
    assert checked(mine).name == "Pipeline"
    assert guess_numbers(checked(mine), on_a_line([0, 9], [8]), np.array([1.0, 2.0])).tolist() == [2.0]


@pytest.mark.parametrize(
    ("model", "numeric", "n_neighbors", "words"),
    [
        (
            "svm",
            True,
            3,
            "model 'svm' is unknown; use knn, tree, forest, boosting or a scikit-learn estimator",
        ),
        (DummyRegressor, True, 3, "an instance of a scikit-learn estimator"),
        (3, True, 3, "an instance of a scikit-learn estimator"),
        (DummyClassifier(), True, 3, "DummyClassifier cannot guess this target: a number needs a regressor"),
        (DummyRegressor(), False, 3, "DummyRegressor cannot guess this target: categories need a classifier"),
    ],
)
def test_models_that_cannot_be(model, numeric, n_neighbors, words):
    with pytest.raises(DataError, match=words):
        checked(model, numeric, n_neighbors)


def test_a_model_that_fails_says_nothing_of_the_data():
    model = checked(LogisticRegression(), numeric=False)
    features = on_a_line([0, 1234567.5], [0])
    with pytest.raises(
        DataError, match=r"LogisticRegression could not be fitted and asked \(ValueError\)"
    ) as found:
        guess_levels(model, features, np.array([1, 1]), np.array([1]), np.array([0]))
    assert found.value.__cause__ is None
    assert "1234567" not in str(found.value)
