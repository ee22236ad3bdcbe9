"""Which model, does it fit the type, and missing values first."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from scipy.stats import dirichlet
from sklearn.linear_model import LinearRegression, RidgeClassifier
from sklearn.tree import DecisionTreeClassifier

import sdckit as sdc
from sdckit.data.frames import open_frame
from sdckit.errors import ColumnError, DataError
from sdckit.protect.synthesis.synthesis_design import seen
from sdckit.protect.synthesis.synthesis_models import (
    Settings,
    _WithMissing,
    fit_cells,
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
    return read_models(given, [V[name] for name in names], dict.fromkeys(names, 0.0))


def test_cart_where_nothing_is_said():
    found = models({"kids": "poisson"})
    assert [one.name for one in found.values()] == ["cart", "poisson", "cart", "cart", "cart"]
    assert [one.is_linear for one in found.values()] == [False, True, False, False, False]
    assert {model.name for model in models("sample").values()} == {"sample"}
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
    fitted = fit_model(V["income"], chosen, [V["sex"]], np.arange(N), Settings(5, 3, False), np.random.default_rng(1))
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
    with pytest.raises(DataError, match="DecisionTreeClassifier could not be fitted to 300 records") as caught:
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


# Shares by cell: the conjugate posterior, cells without records, and what is refused.


CELLS_FRAME = pl.DataFrame(
    {
        "sex": ["f"] * 60 + ["m"] * 40,
        "kids": [0, 1] * 50,
        "job": ["a"] * 45 + ["b"] * 15 + ["b"] * 20 + ["c"] * 19 + [None],
    }
)
VARIABLES = {name: read_variable(open_frame(CELLS_FRAME)[name]) for name in CELLS_FRAME.columns}


def fit(*, predictors=("sex",), concentration=1.0, n_draws=0, proper=False):
    return fit_cells(
        VARIABLES["job"], [VARIABLES[name] for name in predictors], np.arange(100), concentration=concentration,
        n_draws=n_draws, proper=proper, rng=np.random.default_rng(1),
    )  # fmt: skip


def held(frame=CELLS_FRAME, predictors=("sex",)):
    return {predictor: seen(VARIABLES[predictor], VARIABLES[predictor].held) for predictor in predictors}


def test_counts_by_cell():
    found = fit()
    assert found.counts.tolist() == [[0, 45, 15, 0], [1, 0, 20, 19], [0, 0, 0, 0]]


def test_the_draws_have_the_mean_and_spread_of_the_dirichlet():
    found = fit(n_draws=4000)
    shares = np.stack([found.drawn(at) for at in range(4000)])
    for row, counts in enumerate(found.counts):
        expected = dirichlet(counts + 1)
        np.testing.assert_allclose(shares[:, row].mean(axis=0), expected.mean(), atol=0.01)
        np.testing.assert_allclose(shares[:, row].var(axis=0), expected.var(), atol=0.004)


def test_values_are_drawn_with_the_shares_of_their_cell():
    found = fit(concentration=0.0)
    made = found.draw(held(), 100, np.random.default_rng(1), 0)
    assert set(made.level[:60]) == {0, 1}
    assert set(made.level[60:]) <= {-1, 1, 2}
    many = np.tile(np.arange(100), 500)
    large = {"sex": seen(VARIABLES["sex"], VARIABLES["sex"].held.take(many))}
    level = found.draw(large, len(many), np.random.default_rng(2), 0).level
    women = level[VARIABLES["sex"].held.take(many).level == 0]
    assert abs((women == 0).mean() - 0.75) < 0.01


def test_a_proper_release_has_shares_of_its_own():
    found = fit(n_draws=2, proper=True)
    assert not np.array_equal(found.drawn(0), found.drawn(1))
    assert found.draw(held(), 100, np.random.default_rng(1), 0).level.tolist() != (
        found.draw(held(), 100, np.random.default_rng(1), 1).level.tolist()
    )


@pytest.mark.parametrize(("concentration", "expected"), [(0.0, [0.01, 0.45, 0.35, 0.19]), (2.0, [0.25] * 4)])
def test_a_cell_without_records(concentration, expected):
    """Without a prior the shares of all; else the prior."""
    found = fit(predictors=("sex", "kids"), concentration=concentration)
    weights = found.counts[-1] + concentration
    np.testing.assert_allclose(weights / weights.sum(), expected)


def test_the_kept_draws_give_the_density():
    draws = fit(n_draws=3, predictors=("sex", "kids")).kept()
    found = draws.log_density(CELLS_FRAME)
    assert found.shape == (3, 100)
    shares = np.asarray(draws["coefficients"])
    place = draws["levels"].index("a")
    cell = list(zip(*draws["cells"].values(), strict=True)).index(("f", "0"))
    np.testing.assert_allclose(found[:, 0], np.log(shares[:, cell, place]))
    told = draws.predictive(CELLS_FRAME)
    np.testing.assert_allclose(told["probability"].sum(axis=2), 1)
    assert told["levels"][-1] is None
    strange = draws.log_density(CELLS_FRAME.with_columns(sex=pl.lit("x")))
    np.testing.assert_allclose(strange[:, 0], np.log(shares[:, -1, place]))


def test_a_number_of_many_values_is_refused():
    frame = CELLS_FRAME.with_columns(income=pl.Series(range(100)))
    with pytest.raises(DataError, match="counts cells, and 'income' has 100 values; band it"):
        sdc.synthesize(frame, columns=["job"], models="dirichlet_multinomial")


def test_the_saturated_model_keeps_all_tables():
    """Variable after variable with counts as they are: a large file has the shares of the original in every cell."""
    frame = CELLS_FRAME.drop_nulls()
    made = sdc.synthesize(frame, n=200_000, models="dirichlet_multinomial", concentration=0, seed=1).data
    cells = ["sex", "kids", "job"]
    expected = frame.group_by(cells).len().with_columns(pl.col("len") / frame.height)
    found = made.group_by(cells).len().with_columns(pl.col("len") / made.height)
    both = expected.join(found, on=cells, how="full", suffix="_made")
    assert both["len_made"].null_count() == both["len"].null_count() == 0
    assert (both["len"] - both["len_made"]).abs().max() < 0.005


def test_every_combination_of_levels_is_a_cell_of_its_own():
    """A missing value of one predictor is no level of the next."""
    frame = pl.DataFrame({"a": ["x", "x", "y", "y", None, None] * 5, "b": ["u", None] * 15, "c": ["1", "2", "3"] * 10})
    variables = {name: read_variable(open_frame(frame)[name]) for name in frame.columns}
    found = fit_cells(
        variables["c"], [variables["a"], variables["b"]], np.arange(30), concentration=1.0, n_draws=0, proper=False,
        rng=np.random.default_rng(1),
    )  # fmt: skip
    assert len(found.cells) == frame.select("a", "b").n_unique() == 6
