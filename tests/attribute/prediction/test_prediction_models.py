"""Models: which may be asked for, how ties of neighbours vote, what happens where one fails."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sdckit.attribute.prediction import (
    prediction_models,
    prediction_models as key_features,
    prediction_models as module,
)
from sdckit.attribute.prediction.prediction_models import (
    MODELS,
    Features,
    Model,
    Selection,
    checked_model,
    features_of,
    first_neighbours,
    first_of_each,
    guess_levels,
    guess_numbers,
    order_of_rows,
    tree_neighbours,
)
from sdckit.cells.pair import open_pair
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
    assert guess_numbers(Model("knn", 9, None), on_a_line([0, 5], [1]), np.array([1.0, 3.0])).tolist() == [2.0]


def test_keys_that_tell_nothing_apart():
    constant = Features(((np.ones(3), np.array([1.0, 5.0])),), (), (0.0,))
    assert guess_numbers(KNN[1], constant, np.array([1.0, 2.0, 6.0])).tolist() == [3.0, 3.0]


@pytest.mark.parametrize("block", [1, 1000])
def test_votes_for_levels(monkeypatch, block):
    monkeypatch.setattr(prediction_models, "BLOCK", block)
    features = on_a_line([0, 0, 0, 4, 4], [0, 4, 2])
    target, truth, place = (np.array([2, 2, 5, 5, 9]), np.array([2, 5, 9, 4, 9, 2]), np.array([0, 0, 1, 1, 2, 2]))
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
        ("svm", True, 3, "model 'svm' is unknown; use knn, tree, forest, boosting or a scikit-learn estimator"),
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
    with pytest.raises(DataError, match=r"LogisticRegression could not be fitted and asked \(ValueError\)") as found:
        guess_levels(model, features, np.array([1, 1]), np.array([1]), np.array([0]))
    assert found.value.__cause__ is None
    assert "1234567" not in str(found.value)


# Nearest records by a k-d tree: the distances are those of a full comparison, whatever is equally far.


POINTS = st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 5), st.integers(0, 2)), min_size=3, max_size=40)


@given(POINTS, POINTS, st.integers(1, 3), st.booleans())
def test_the_distances_are_the_smallest(train, query, k, scaled):
    one, other = np.array(train, float), np.array(query, float)
    units = (1.5, 2.0) if scaled else (1.0, 1.0)
    numbers = tuple((one[:, at], other[:, at]) for at in range(2))
    codes = ((one[:, 2].astype(np.int32), other[:, 2].astype(np.int32)),)
    found = tree_neighbours(Features(numbers, codes, (1.5, 2.0)), k, scaled=scaled)
    away = (other[:, None, 2] != one[None, :, 2]).astype(float)
    for at in range(2):
        away += ((other[:, None, at] - one[None, :, at]) / units[at]) ** 2
    taken = np.take_along_axis(away, found, axis=1)
    np.testing.assert_allclose(taken, np.sort(away, axis=1)[:, :k], atol=1e-9)
    assert all(len(set(row)) == k for row in found.tolist())


def test_equal_points_are_all_found():
    same = (np.zeros(9), np.zeros(2))
    found = tree_neighbours(Features((same,), (), (0.0,)), 9, scaled=True)
    assert [sorted(row) for row in found.tolist()] == [list(range(9))] * 2


# Nearest records with ties by the order of the file, beside a stable sort of all distances.


NEIGHBOURS_POINTS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), min_size=3, max_size=30)


def features(train, query, unit=2.0):
    one, other = np.array(train, float), np.array(query, float)
    codes = (one[:, 1].astype(np.int32), other[:, 1].astype(np.int32))
    return Features(((one[:, 0], other[:, 0]),), (codes,), (unit,))


@given(NEIGHBOURS_POINTS, NEIGHBOURS_POINTS, st.integers(1, 3), st.booleans())
def test_beside_a_stable_sort(train, query, k, scaled):
    found = first_neighbours(features(train, query), k, scaled=scaled)
    one, other = np.array(train, float), np.array(query, float)
    unit = 2.0 if scaled else 1.0
    away = ((other[:, None, 0] - one[None, :, 0]) / unit) ** 2 + (other[:, None, 1] != one[None, :, 1])
    assert found.tolist() == np.argsort(away, axis=1, kind="stable")[:, :k].tolist()


def test_equally_far_but_for_rounding():
    """0.3 - 0.2 is less than 0.2 - 0.1 by the last digit."""
    tenths = (np.array([0.1, 0.3]), np.array([0.2]))
    assert first_neighbours(Features((tenths,), (), (1.0,)), 1, scaled=False).tolist() == [[0]]


def test_block_by_block(monkeypatch: pytest.MonkeyPatch):
    rng = np.random.default_rng(1)
    pair = features(rng.integers(0, 5, (40, 2)), rng.integers(0, 5, (30, 2)))
    whole = first_neighbours(pair, 3, scaled=True)
    monkeypatch.setattr(module, "BLOCK", 90)
    assert first_neighbours(pair, 3, scaled=True).tolist() == whole.tolist()


# Keys as numbers: means and marks of missing values, design matrices, an order that rows do not decide.


ORIGINAL = pl.DataFrame({"age": [20.0, None, 40.0], "place": ["x", "y", None]})
RELEASED = pl.DataFrame({"age": [10.0, 30.0, None, 50.0], "place": ["y", "y", "z", None]})


def pair():
    return open_pair(ORIGINAL, RELEASED, categories={"keys": ["age", "place"]}, numeric={"numeric": ["age"]})


def select(file, *rows):
    return Selection(file, np.array(rows, np.int64))


def test_a_missing_number_is_the_training_mean_with_a_mark():
    found = features_of(pair(), ["age", "place"], ["age"], select(1, 0, 1, 2), select(0, 0, 1, 2))
    train, query = found.numbers[0]
    assert (train.tolist(), query.tolist()) == ([10.0, 30.0, 20.0], [20.0, 20.0, 40.0])
    assert [part.tolist() for part in found.codes[0]] == [[0, 0, 1], [0, 1, 0]]
    assert found.scale == (pytest.approx(np.std([10, 30], ddof=1)),)
    large = [frame.with_columns(pl.col("age") * 1e300) for frame in (ORIGINAL, RELEASED)]
    opened = open_pair(*large, categories={"keys": []}, numeric={"numeric": ["age"]})
    scale = features_of(opened, ["age"], ["age"], select(1, 0, 1), select(0, 0)).scale
    assert scale == (pytest.approx(found.scale[0] * 1e300),)
    assert found.sizes == (3, 3)
    train, query = found.codes[1]
    assert (train[0] == train[1]) == (train[0] == query[1])


def test_without_missing_values_there_is_no_mark():
    found = features_of(pair(), ["age"], ["age"], select(1, 0, 1), select(0, 0))
    assert found.codes == ()


def test_training_rows_without_any_value():
    found = features_of(pair(), ["age"], ["age"], select(1, 2), select(0, 0, 1))
    assert (found.numbers[0][0].tolist(), found.scale) == ([0.0], (0.0,))


def test_a_number_declared_a_category_is_one():
    found = features_of(pair(), ["age"], [], select(1, 0), select(0, 0))
    assert (found.numbers, len(found.codes)) == ((), 1)


def test_the_design_holds_numbers_and_a_column_per_category():
    found = features_of(pair(), ["age", "place"], ["age"], select(1, 0, 1), select(0, 0, 2))
    train, query = found.design()
    assert train[:, 0].tolist() == [10.0, 30.0]
    assert train.shape[1] == query.shape[1] == 1 + 3  # x, y and missing
    assert train[:, 1:].sum(axis=1).tolist() == query[:, 1:].sum(axis=1).tolist() == [1.0, 1.0]
    assert (train[0, 1:] == train[1, 1:]).all()
    assert not (query[0, 1:] == query[1, 1:]).all()


def test_a_design_that_is_too_large(monkeypatch):
    monkeypatch.setattr(key_features, "DESIGN_LIMIT", 5)
    one = (np.zeros(2), np.zeros(1))
    with pytest.raises(DataError, match=r"3 rows of 2 columns .* use model='knn', coarser keys or a sample"):
        Features((one, one), (), (1.0, 1.0)).design()


def test_one_record_stands_for_all_with_its_key():
    of_row = np.array([5, 3, 5, 9, 3])
    first, place = first_of_each(of_row, np.array([4, 2, 1, 0]))
    assert (of_row[first[place]] == of_row[[4, 2, 1, 0]]).all()
    assert len(first) == 2


def test_the_order_is_that_of_the_values():
    found = pair()
    order = order_of_rows(found, ("age", "place"), 1)
    backwards = open_pair(ORIGINAL, RELEASED.reverse(), categories={"keys": ["age", "place"]})
    again = order_of_rows(backwards, ("age", "place"), 1)
    assert RELEASED[order.tolist()].equals(RELEASED.reverse()[again.tolist()])


@pytest.mark.parametrize("search", [first_neighbours, tree_neighbours])
def test_numbers_whose_squares_are_infinite_have_neighbours_without_a_scale_too(search):
    rng = np.random.default_rng(8)
    train, query = rng.normal(size=(60, 2)), rng.normal(size=(9, 2))
    usual, large = (
        Features(tuple((train[:, j] * factor, query[:, j] * factor) for j in range(2)), (), (1.0, 1.0))
        for factor in (1.0, 2.0**532)
    )
    assert search(large, 3, scaled=False).tolist() == search(usual, 3, scaled=False).tolist()
    codes = (np.arange(60) % 2, np.zeros(9, np.int64))  # a category counts 1 beside numbers of that size: nothing
    with_codes = Features(large.numbers, (codes,), large.scale)
    assert search(with_codes, 3, scaled=False).tolist() == search(usual, 3, scaled=False).tolist()
