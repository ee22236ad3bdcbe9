"""The figures, records and options of prediction risk; that the neighbours are right is shown in laws/ and golden/."""

from __future__ import annotations

import math
import pickle

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression

from plans import on_frames
from sdckit import Scenario, prediction_risk
from sdckit.attribute.prediction.prediction_risk import (
    categorical_figures,
    compared_losses,
    costs_of,
    loss_figures,
    loss_of_numbers,
    named_loss,
    numeric_figures,
    record_values,
)
from sdckit.cells.pair import open_pair
from sdckit.errors import ColumnError, DataError, ScenarioError

ORIGINAL = pl.DataFrame(
    {
        "age": [20, 30, 40, 50, 60, 70],
        "sex": ["f", "m", "f", "m", "f", "m"],
        "income": [10.0, 20.0, 30.0, 40.0, 50.0, None],
        "job": ["a", "a", "b", "b", "b", None],
        "who": list("uvwxyz"),
    }
)
RELEASED = ORIGINAL.with_columns(income=pl.Series([20.0, 20.0, 30.0, 30.0, 50.0, 60.0]), job=pl.lit("b"))
KEYS = ["age", "sex"]


def risk(original=ORIGINAL, released=RELEASED, **options):
    return prediction_risk(original, released, **{"keys": KEYS, "target": "income", "n_neighbors": 1, **options})


def same(one, two):
    """Whether two results have the same figures for each release."""
    return [list(release.values()) for release in one.per_release] == pytest.approx(
        np.array([list(release.values()) for release in two.per_release]), nan_ok=True
    )


def test_a_number():
    result = risk()
    assert (result.n, result.numeric, result.model) == (5, True, "knn")
    assert result.mse_original == 0.0
    assert result.mse_released == pytest.approx((100 + 0 + 0 + 100 + 0) / 5)
    assert result.share_less_accurate == pytest.approx(2 / 5)
    assert result.baseline == pytest.approx(200.0)
    assert math.isnan(result.accuracy_released)
    assert result.notes["accuracy_released"] == "for categories only; the target is a number"
    assert result.notes["n"] == "1 records of the original have no target and are left out"
    assert result.notes["numeric"].startswith("taken as numbers because they are stored so: age, income;")
    assert result.records["error_released"].to_list()[:5] == [10.0, 0.0, 0.0, 10.0, 0.0]
    assert result.records["error_original"].is_nan().to_list() == [False] * 5 + [True]
    assert "level of its own" in result.missing_rule


def test_categories():
    result = risk(target="job")
    assert (result.accuracy_original, result.accuracy_released) == (1.0, pytest.approx(0.6))
    assert (result.baseline, result.share_less_accurate) == (pytest.approx(0.6), pytest.approx(0.4))
    assert math.isnan(result.mse_original)
    assert result.notes["mse_original"] == "for a number only; the target is not"
    assert result.records.columns == ["correct_released", "correct_original"]


def test_several_releases_are_averaged():
    one, two, both = risk(), risk(released=ORIGINAL), risk(released=[RELEASED, ORIGINAL])
    assert both.m == 2
    assert both.mse_released == pytest.approx((one.mse_released + two.mse_released) / 2)
    assert both.spread["mse_released"] == (0.0, one.mse_released)
    assert both.records["error_released"][0] == pytest.approx(5.0)
    assert both.notes["released"].startswith("1 of 2 releases")
    assert both.by_release["release"].to_list() == [1, 2]


def test_rows_need_not_correspond():
    result = risk(released=RELEASED[[5, 0, 0, 2]])
    assert result.records.height == 6
    assert same(risk(released=RELEASED.reverse()), risk())


def test_for_a_plot():
    binned = risk().before_after()
    assert binned["low"].to_list() == [0.0, 0.1, 0.25, 0.5, 1.0, 2.0]
    assert binned["high"].to_list()[-1] == math.inf
    assert binned["original"].to_list() == [5, 0, 0, 0, 0, 0]
    assert binned["released"].to_list() == [3, 0, 0, 2, 0, 0]  # 10 is 0.7 standard deviations
    binned = risk(target="job").before_after()
    assert binned["high"].to_list() == [0.25, 0.5, 0.75, 1.0]
    assert (binned["original"].to_list(), binned["released"].to_list()) == ([0, 0, 0, 5], [2, 0, 0, 3])
    flat = risk(original=ORIGINAL.with_columns(income=pl.lit(1.0)), released=RELEASED)
    assert flat.before_after()["original"].to_list() == [6, 0, 0, 0, 0, 0]


def test_which_columns_are_numbers():
    declared = risk(target="job", numeric=["age"])
    assert "numeric" not in declared.notes
    none = risk(target="income", numeric=[])
    assert (none.numeric, none.accuracy_original) == (False, 1.0)
    scenario = Scenario(keys=KEYS, sensitive=["income"], numeric=["income"])
    by_scenario = prediction_risk(ORIGINAL, RELEASED, scenario=scenario, n_neighbors=2)
    assert by_scenario.numeric
    assert by_scenario.to_dict()["figures"] == risk(numeric=["income"], n_neighbors=2).to_dict()["figures"]
    silent = prediction_risk(ORIGINAL, RELEASED, scenario=Scenario(keys=KEYS, sensitive=["income"]))
    assert silent.notes["numeric"].startswith("taken as numbers")


@pytest.mark.parametrize("model", ["tree", "forest", LinearRegression()])
def test_models_of_scikit_learn(model):
    rng = np.random.default_rng(3)
    original = pl.DataFrame({"x": rng.normal(size=80), "g": rng.integers(0, 3, 80).astype(str)})
    original = original.with_columns(y=2 * pl.col("x") + rng.normal(0, 0.1, 80))
    released = original.with_columns(y=pl.col("y").shuffle(seed=1))
    given = {"keys": ["x", "g"], "target": "y", "model": model, "seed": 5}
    result = prediction_risk(original, [original, released], **given)
    again = prediction_risk(original, [original, released], **given)
    assert same(result, again)
    first, second = result.per_release
    assert first["mse_released"] == pytest.approx(first["mse_original"])
    assert second["mse_released"] > first["mse_original"]
    assert first["share_less_accurate"] == 0.0


def test_a_model_for_categories():
    rng = np.random.default_rng(3)
    original = pl.DataFrame({"x": rng.integers(0, 40, 120)}).with_columns(y=(pl.col("x") > 20).cast(pl.String))
    for model in ("tree", "forest"):
        result = prediction_risk(original, original, keys=["x"], target="y", model=model, seed=1)
        assert result.accuracy_original == result.accuracy_released > 0.95


def test_boosting():
    frame = pl.DataFrame({"x": np.arange(60.0)}).with_columns(y=pl.col("x") // 20)
    result = prediction_risk(frame, frame, keys=["x"], target="y", model="boosting", seed=1)
    assert result.mse_released == result.mse_original < 0.1


def test_folds_keep_a_record_from_predicting_itself():
    rng = np.random.default_rng(8)
    frame = pl.DataFrame({"x": np.arange(50.0), "y": rng.normal(size=50)})
    given = {"keys": ["x"], "target": "y", "n_neighbors": 1}
    plain = prediction_risk(frame, frame, **given)
    honest = prediction_risk(frame, frame, **given, cross_fit=True, seed=2)
    assert plain.mse_original == 0.0 == honest.mse_released
    assert honest.mse_original > 0.5
    assert same(honest, prediction_risk(frame, frame, **given, cross_fit=True, seed=2))
    other = prediction_risk(frame, frame, **given, cross_fit=True, seed=3)
    assert other.mse_original != honest.mse_original


def test_a_pair_opened_before():
    pair = open_pair(ORIGINAL, RELEASED, categories={"keys": KEYS})
    result = prediction_risk(pair, keys=KEYS, target="income", n_neighbors=1)
    assert same(result, risk())


@on_frames
def test_every_engine(make):
    result = risk(make(ORIGINAL), make(RELEASED), id="who", prefix="x_")
    assert result.mse_released == pytest.approx(40.0)
    records = nw.from_native(result.records).to_polars()
    assert records.columns == ["who", "x_error_released", "x_error_original"]
    assert records.sort("who")["x_error_released"].to_list()[:5] == [10.0, 0.0, 0.0, 10.0, 0.0]


def test_small_files():
    one = risk(original=ORIGINAL[:1], released=RELEASED[:1], n_neighbors=3)
    assert (one.mse_original, one.mse_released, one.baseline) == (0.0, 100.0, 0.0)
    assert one.notes["n_neighbors"] == "a file has fewer records than n_neighbors: all of them are taken"


def test_pickled_it_keeps_its_figures_only():
    result = risk()
    again = pickle.loads(pickle.dumps(result))
    assert again.to_dict() == result.to_dict()
    for what in ("records", "by_release"):
        with pytest.raises(DataError, match="let go of the data"):
            getattr(again, what)
    with pytest.raises(DataError, match="let go of the data"):
        again.before_after()


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"keys": None}, ScenarioError, "say which variables an intruder knows"),
        ({"target": None}, ScenarioError, "say which variable an intruder would learn"),
        ({"target": "age"}, ColumnError, "target 'age' is a key"),
        ({"keys": ["age", "size"]}, ColumnError, "the original has no column 'size'"),
        ({"released": None}, DataError, "released= is missing"),
        ({"released": []}, DataError, "empty list"),
        ({"released": RELEASED.with_columns(age=pl.lit("old"))}, ColumnError, "'age'"),
        ({"numeric": ["who"]}, ColumnError, "numeric: 'who' is neither a key nor the target"),
        ({"numeric": ["sex"]}, DataError, "numeric 'sex' is .* not numbers"),
        ({"numeric": "age"}, ColumnError, r"write numeric=\['age'\]"),
        ({"released": RELEASED.with_columns(income=pl.lit(None, pl.Float64))}, DataError, "no value at all"),
        ({"target": "job", "released": RELEASED.with_columns(job=pl.lit(None, pl.String))}, DataError,
         "the release: target 'job' has no value at all"),
        ({"cross_fit": True, "target": "job", "original": ORIGINAL[:3]}, DataError, "cross_fit=True needs 5 records"),
        ({"model": "svm"}, DataError, "model 'svm' is unknown"),
        ({"released": RELEASED.with_columns(income=pl.lit(math.inf))}, DataError, "infinite in rows 1"),
    ],
)  # fmt: skip
def test_what_cannot_be(options, error, words):
    with pytest.raises(error, match=words):
        risk(**options)


# --- losses, scales and ties ------------------------------------------------------------------------------


ILL = pl.DataFrame({"age": [1.0, 2.0, 3.0, 4.0], "ill": ["no", "no", "yes", "yes"]})
BLURRED = ILL.with_columns(ill=pl.Series(["no", "yes", "yes", "no"]))


def test_what_a_wrong_guess_costs():
    given = {"keys": ["age"], "target": "ill", "numeric": ["age"], "n_neighbors": 1}
    plain = prediction_risk(ILL, BLURRED, **given)
    assert (plain.mean_loss_released, plain.mean_loss_original) == (0.5, 0.0)
    costly = prediction_risk(ILL, BLURRED, loss={"no": {"yes": 1}, "yes": {"no": 10}}, **given)
    assert (costly.mean_loss_released, costly.mean_loss_original) == (11 / 4, 0.0)
    assert (costly.share_less_accurate, costly.share_more_accurate) == (0.5, 0.0)
    assert costly.accuracy_released == plain.accuracy_released
    assert costly.records["loss_released"].to_list() == [0.0, 1.0, 0.0, 10.0]
    tied = prediction_risk(ILL, BLURRED, loss=[[0, 1], [10, 0]], **{**given, "n_neighbors": 4})
    assert tied.mean_loss_released == (0.5 * 2 * 1 + 0.5 * 2 * 10) / 4


@pytest.mark.parametrize(("loss", "expected"), [("squared", 50.0), ("relative", (0.0 + 1.0 + 0.0 + 0.25) / 3)])
def test_losses_of_numbers(loss, expected):
    original = pl.DataFrame({"age": [20, 30, 40, 50], "income": [0.0, 10.0, 30.0, 40.0]})
    released = original.with_columns(income=pl.Series([0.0, 20.0, 30.0, 50.0]))
    given = {"keys": ["age"], "target": "income", "n_neighbors": 1}
    found = prediction_risk(original, released, loss=loss, **given)
    assert found.mean_loss_released == pytest.approx(expected)
    assert found.share_less_accurate == 0.5
    assert found.share_more_accurate == 0.0
    if loss == "relative":
        assert "1 record has a target of 0 and" in found.notes["mean_loss_released"]
        assert found.records["loss_released"].to_list()[1:] == [1.0, 0.0, 0.25]


def test_ties_and_scales():
    original = pl.DataFrame({"x": [0.0, 1.0, 1.0, 1.0], "z": [0.0, 0.0, 100.0, 0.0], "y": [0.0, 1.0, 2.0, 6.0]})
    asked = {"keys": ["x", "z"], "target": "y", "numeric": ["x", "z", "y"], "n_neighbors": 1}
    every = prediction_risk(original, original, **asked)
    assert every.records["error_released"].to_list() == [0.0, 2.5, 0.0, 2.5]
    first = prediction_risk(original, original, ties="first", **asked)
    assert first.records["error_released"].to_list() == [0.0, 0.0, 0.0, 5.0]
    tree = prediction_risk(original, original, ties="tree", scale=None, **asked)
    assert sorted(tree.records["error_released"].to_list()) == [0.0, 0.0, 0.0, 5.0]
    far = pl.DataFrame({"x": [0.0, 3.0], "z": [90.0, 0.0], "y": [1.0, 2.0]})
    asked["n_neighbors"] = 1
    unscaled = prediction_risk(
        pl.DataFrame({"x": [1.0, 1.0], "z": [10.0, 9.0], "y": [2.0, 2.0]}), far, scale=None, **asked
    )
    assert unscaled.mse_released == 0.0
    with pytest.raises(DataError, match="ties"):
        prediction_risk(original, original, ties="last", **asked)


# The figures of predictions are the means of what is told of each record.


BEFORE, AFTER = np.array([1.0, 0.0, 2.0]), np.array([2.0, 0.0, 1.0])


def test_errors_that_differ_by_rounding_are_equal():
    worse, better = compared_losses(BEFORE, AFTER + 1e-12, np.ones(3))
    assert worse.tolist() == [True, False, False]
    assert better.tolist() == [False, False, True]


@pytest.mark.parametrize("kind", ["numeric", "categorical", "costs"])
def test_means_of_what_is_told_are_the_figures(kind):
    if kind == "numeric":
        truth = np.array([5.0, 1.0, 3.0])
        figures = numeric_figures(BEFORE, AFTER, truth)
    else:
        truth = np.array([1, 2, 1])
        figures = categorical_figures(BEFORE / 2, AFTER / 2, truth)
    paid = (np.array([0.0, 3.0, 1.0]), np.array([2.0, 0.0, 1.0]))
    loss = "costs" if kind == "costs" else "absolute"
    figures |= loss_figures(*paid, loss)
    scores = (BEFORE, [AFTER]) if kind == "numeric" else (BEFORE / 2, [AFTER / 2])
    asked = np.array([9, 4, 6])
    told = record_values(kind == "numeric", truth, asked, scores, (paid[0], [paid[1]]), loss)
    assert told.pop("rows").tolist() == [4, 6, 9]
    for name, values in told.items():
        assert values.mean() == pytest.approx(figures[name]), name


# What a wrong guess costs.


LABELS = ["a", "b", "c"]


def test_losses_of_numbers_of_prediction_losses():
    error, truth = np.array([1.0, 2.0, 3.0]), np.array([2.0, -4.0, 0.0])
    np.testing.assert_allclose(loss_of_numbers(error, truth, "absolute"), error)
    np.testing.assert_allclose(loss_of_numbers(error, truth, "squared"), [1, 4, 9])
    np.testing.assert_allclose(loss_of_numbers(error, truth, "relative"), [0.5, 0.5, np.nan])


def test_names():
    assert named_loss(None, numeric=True) == "absolute"
    assert named_loss("relative", numeric=True) == "relative"
    assert named_loss(None, numeric=False) == "wrong"
    assert named_loss({"a": {}}, numeric=False) == "costs"
    for loss, numeric in (("cubic", True), ([[0]], True), ("absolute", False), (3, False)):
        with pytest.raises(DataError) as caught:
            named_loss(loss, numeric=numeric)
        assert caught.value.argument == "loss"


@pytest.mark.parametrize(
    "loss", [[[0, 1, 2], [3, 0, 4], [5, 6, 0]],
             {"a": {"b": 1, "c": 2}, "b": {"a": 3, "c": 4}, "c": {"a": 5, "b": 6}}]
)  # fmt: skip
def test_tables(loss):
    assert costs_of(loss, LABELS).tolist() == [[0, 1, 2], [3, 0, 4], [5, 6, 0]]


@pytest.mark.parametrize(
    ("loss", "says"),
    [
        ([[0, 1], [1, 0]], "for each of the 3 levels"),
        ([[0, -1, 1], [1, 0, 1], [1, 1, 0]], "0 or more"),
        ([[1, 1, 1], [1, 0, 1], [1, 1, 0]], "a right guess costs nothing"),
        ({"a": {"b": 1}}, "for each of the 3 levels"),
        ({"z": {"a": 1}}, "'z' is no level"),
        ({"a": 1}, "for each of the 3 levels"),
        ([["x"] * 3] * 3, "for each of the 3 levels"),
    ],
)
def test_what_is_refused(loss, says):
    with pytest.raises(DataError, match=says):
        costs_of(loss, LABELS)


def test_squares_that_no_floating_number_holds_are_undefined_and_the_rest_is_measured():
    dice = np.random.default_rng(3)
    survey = pl.DataFrame({"age": dice.normal(40, 9, 60), "group": ["a", "b"] * 30})
    survey = survey.with_columns(pay=pl.col("age") * 20 + dice.normal(0, 40, 60))
    release = survey.with_columns(pl.col("pay") + dice.normal(0, 60, 60))
    large = [frame.with_columns(pl.col("pay") * 2.0**532) for frame in (survey, release)]
    options = {"keys": ["age"], "target": "pay", "by": "group"}
    plain, found = (prediction_risk(*files, **options) for files in ((survey, release), large))
    squares = ["mse_released", "mse_original", "baseline"]
    assert np.isnan([getattr(found, name) for name in squares]).all()
    assert all("divide the target" in found.notes[name] for name in squares)
    assert np.isfinite([getattr(plain, name) for name in squares]).all()
    assert not set(squares) & set(plain.notes)
    assert found.by_group["mse_released"].is_nan().all()
    squared = prediction_risk(*large, **options, loss="squared")
    for name in (*squares, "mean_loss_released", "mean_loss_original"):  # nor infinite, nor of those that it holds
        assert math.isnan(getattr(squared, name))
        assert squared.by_group[name].is_nan().all()
    assert found.share_less_accurate == plain.share_less_accurate
    assert found.mean_loss_released / 2.0**532 == pytest.approx(plain.mean_loss_released)
    assert found.before_after().equals(plain.before_after())
    assert plain.deviation == math.sqrt(plain.baseline)
    for mine, other in zip(found.sides(), plain.sides(), strict=True):
        assert mine.tolist() == pytest.approx(other.tolist())
    squared = prediction_risk(*large, keys=["age"], target="pay", loss="squared")
    assert math.isnan(squared.mean_loss_released)
    assert "divide the target" in squared.notes["mean_loss_released"]
