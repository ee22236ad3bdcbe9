"""Which model, does it fit the type, and missing values first."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression, RidgeClassifier
from sklearn.tree import DecisionTreeClassifier

from sdckit.data.frames import open_frame
from sdckit.errors import ColumnError, DataError
from sdckit.protect.synthesis.synthesis_design import seen
from sdckit.protect.synthesis.synthesis_models import (
    Settings,
    _WithMissing,
    fit_model,
    kept_draws,
    read_models,
    unconverged,
)
from sdckit.protect.synthesis.synthesis_variables import MISSING, read_variable

RNG = np.random.default_rng(4)
N = 300
FRAME = pl.DataFrame(
    {
        "sex": RNG.choice(["f", "m"], N), "income": RNG.normal(0, 1, N), "kids": RNG.poisson(1, N),
        "job": RNG.choice(["a", "b", "c"], N), "flag": RNG.choice(["n", "y"], N),
    }
).with_columns(
    income=pl.when(pl.col("sex") == "f").then(None).otherwise("income"),
    flag=pl.when(pl.int_range(N) % 5 == 0).then(None).otherwise("flag"),
)  # fmt: skip
V = {name: read_variable(open_frame(FRAME)[name]) for name in FRAME.columns}


def models(given, names=("income", "kids", "job", "sex", "flag")):
    return read_models(given, [V[one] for one in names], dict.fromkeys(names, 0.0))


def test_cart_where_nothing_is_said():
    found = models({"kids": "poisson"})
    assert [one.name for one in found.values()] == ["cart", "poisson", "cart", "cart", "cart"]
    assert [one.is_linear for one in found.values()] == [False, True, False, False, False]
    assert {one.name for one in models("sample").values()} == {"sample"}
    assert models({"job": DecisionTreeClassifier()})["job"].name == "DecisionTreeClassifier"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"job": "normal"}, "'normal' does not fit column 'job', a category"),
        ({"income": "poisson"}, "other values than counts"),
        ({"job": "logistic"}, "of 3 values: it draws one of two"),
        ({"income": "multinomial"}, "at most 50"),
        ({"job": "crt"}, "'crt' is no model; did you mean 'cart'"),
        ({"job": LinearRegression()}, "LinearRegression predicts numbers; the column is a category"),
        ({"income": DecisionTreeClassifier()}, "tells categories apart; the column is a number"),
        ({"job": RidgeClassifier()}, "no probabilities"),
        ({"job": 3}, "scikit-learn estimator"),
        ({"job": DecisionTreeClassifier}, "scikit-learn estimator"),
    ],
)
def test_misfits(given, message):
    with pytest.raises(DataError, match=message):
        models(given)


def test_a_model_for_another_column():
    with pytest.raises(ColumnError, match="'jib' is not among"):
        models({"jib": "cart"})


@pytest.mark.parametrize("model", ["cart", "normal", "sample", LinearRegression()])
def test_missing_numbers_are_drawn_first(model):
    chosen = models({"income": model})["income"]
    fitted = fit_model(
        V["income"], chosen, [V["sex"]], np.arange(N), Settings(5, 3, False), np.random.default_rng(1)
    )
    made = fitted.draw({"sex": seen(V["sex"], V["sex"].held)}, N, np.random.default_rng(2), 0)
    gone = np.isnan(made.number)
    assert ((made.level == -1) == gone).all()
    if model == "sample":
        assert gone.mean() == pytest.approx(0.5, abs=0.1)
    else:  # women's incomes are missing
        assert (gone == (FRAME["sex"] == "f").to_numpy()).mean() > 0.98


def test_kept_draws():
    settings = Settings(5, 3, False)
    for name, model in (("income", "normal"), ("flag", "logistic"), ("kids", "poisson"), ("job", "cart")):
        fitted = fit_model(
            V[name], models({name: model})[name], [V["sex"]], np.arange(N), settings, np.random.default_rng(1)
        )
        kept = kept_draws(fitted)
        assert (kept is None) == (model == "cart")
        assert not unconverged(fitted)
        if kept is not None:
            assert (kept["missing"] is not None) == (name in {"income", "flag"})


def test_an_estimator_that_fails_says_nothing_of_the_values():
    stubborn = DecisionTreeClassifier(max_depth=-1)
    with pytest.raises(
        DataError, match="DecisionTreeClassifier could not be fitted to 300 records"
    ) as caught:
        fit_model(
            V["job"], models({"job": stubborn})["job"], [V["sex"]], np.arange(N), Settings(5, 0, False),
            np.random.default_rng(1),
        )  # fmt: skip
    assert caught.value.__suppress_context__


def test_where_no_predictor_varies_values_are_drawn_from_those_there_are():
    chosen = models({"kids": LinearRegression()})["kids"]
    rows = np.flatnonzero(V["sex"].held.level == 0)
    fitted = fit_model(V["kids"], chosen, [V["sex"]], rows, Settings(5, 0, False), np.random.default_rng(1))
    assert (fitted.draw({}, 9, np.random.default_rng(2), 0).level >= 0).all()


@pytest.mark.parametrize("number", [True, False])
def test_where_every_value_is_drawn_missing_no_model_is_asked(number):
    class Nothing:
        def draw(self, *_):
            return SimpleNamespace(level=np.ones(4, np.int64))

    class Refusing:
        def draw(self, *_):
            raise AssertionError

    variable = SimpleNamespace(amounts=np.array([1.0]) if number else None)
    drawn = _WithMissing(Nothing(), Refusing(), variable).draw({}, 4, np.random.default_rng(1), 0)
    assert (drawn.level == MISSING).all()
    assert drawn.number is None if not number else np.isnan(drawn.number).all()
