"""E8: predictors and formulas by variable, joint models, files of another size."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import RandomForestClassifier

from protect.synthesis_survey import ALL, SURVEY, N, made
from sdckit import synthesize
from sdckit.errors import DataError

# --- what predicts each variable ------------------------------------------------------------------------


def test_predictors_by_variable_set_the_order_and_alone_predict():
    data, change = made(
        columns=["income", "age"], predictors={"income": "~ age * sex", "age": ["sex"]}, models="normal"
    )
    assert change.parameters["order"] == ["age", "income"]
    assert change.parameters["predictors"] == {"income": "~ age * sex", "age": ["sex"]}
    asked = {"income": "~ age * sex", "age": ["sex"]}
    draws = made(columns=["income", "age"], predictors=asked, models="normal", posterior_draws=3).change.secret["draws"]
    assert [term["kind"] for term in draws["income"]["terms"]] == ["number", "level", "product"]
    assert [term["column"] for term in draws["age"]["terms"]] == ["sex"]
    assert data["marital"].equals(SURVEY["marital"])


def test_a_formula_finds_what_main_effects_cannot():
    rng = np.random.default_rng(1)
    n = 4000
    sex, x = rng.choice([0, 1], n), rng.normal(0, 1, n)
    data = pl.DataFrame(
        {"sex": np.where(sex == 1, "m", "f"), "x": x, "y": np.where(sex == 1, 1, -1) * x + rng.normal(0, 0.3, n)}
    )
    slopes = {}
    for formula in ("~ x + sex", "~ x * sex"):
        got = synthesize(data, columns=["y"], predictors={"y": formula}, models="normal", seed=1).data
        slopes[formula] = [
            np.polyfit(part["x"], part["y"], 1)[0] for part in (got.filter(sex="f"), got.filter(sex="m"))
        ]
    np.testing.assert_allclose(slopes["~ x * sex"], [-1, 1], atol=0.03)
    assert abs(slopes["~ x + sex"][0] - slopes["~ x + sex"][1]) < 0.1


@pytest.mark.parametrize("models", ["cart", "sample", {"income": RandomForestClassifier(3)}])
def test_trees_take_the_columns_of_a_formula(models):
    data = SURVEY.with_columns(income=(pl.col("income").fill_null(0) // 1000).cast(pl.String))
    found = synthesize(data, columns=["income"], predictors={"income": "~ age * sex"}, models=models, seed=1)
    assert found.change.parameters["predictors"] == {"income": "~ age * sex"}
    assert set(found.data["income"]) <= set(data["income"])


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"predictors": {"age": ["income"], "income": ["age"]}}, DataError, "in a circle"),
        ({"predictors": {"age": ["income"]}, "order": ALL}, DataError, "'income' is drawn after it"),
        ({"predictors": {"age": ["person"]}}, DataError, "'person' does not vary, or is a list of names"),
        ({"predictors": {"age": "~ log(sex)"}, "models": {"age": "normal"}}, DataError, "holds categories"),
        ({"models": {"age": "multivariate_normal", "sex": "multivariate_normal"}}, DataError, "draws numbers"),
        ({"models": {"sex": "probit", "marital": "probit", "income": "probit"}}, DataError, "one of two"),
        ({"concentration": -1}, DataError, "concentration"),
    ],
)
def test_predictors_that_cannot_be(options, error, says):
    with pytest.raises(error, match=says):
        made(**options)


def test_a_joint_normal_keeps_mean_and_covariance():
    rng = np.random.default_rng(2)
    root = np.array([[2.0, 0, 0], [1, 1, 0], [-1, 0.5, 0.7]])
    values = rng.normal(0, 1, (3000, 3)) @ root.T + [1, 2, 3]
    data = pl.DataFrame(dict(zip("abc", values.T, strict=True)))
    models = dict.fromkeys("ac", "multivariate_normal")
    found = synthesize(data, n=60_000, models={**models, "b": "normal"}, seed=3)
    assert found.change.parameters["order"] == ["a", "c", "b"]
    np.testing.assert_allclose(np.cov(found.data.to_numpy().T), np.cov(values.T), atol=0.09)
    np.testing.assert_allclose(found.data.mean().row(0), values.mean(axis=0), atol=0.05)


def test_the_posterior_of_a_joint_normal_is_inverse_wishart():
    """The chain of regressions draws the covariance as the joint model does: its log determinant and trace."""
    from scipy.stats import invwishart, kstest

    from sdckit.protect.synthesis.synthesis_linear import PosteriorDraws

    rng = np.random.default_rng(3)
    n = 60
    values = rng.normal(0, 1, (n, 2)) @ np.array([[2.0, 0.7], [0, 1.0]])
    data = pl.DataFrame({"a": values[:, 0], "b": values[:, 1]})
    draws = synthesize(data, models="multivariate_normal", posterior_draws=4000, seed=1).change.secret["draws"]
    first, second = draws["a"], draws["b"]
    assert isinstance(second, PosteriorDraws)
    variance = np.asarray(first["scale"]) ** 2
    left = np.asarray(second["scale"]) ** 2
    scatter = (n - 1) * np.cov(values.T)
    # degrees of freedom n - 1 for the first, n - 2 for the second given it: the inverse Wishart with n - 1 + 1 - 1
    reference = invwishart(n - 1, scatter).rvs(20_000, random_state=1)
    assert (
        kstest(np.log(variance), np.log(invwishart(n - 1, scatter[:1, :1]).rvs(20_000, random_state=2))).pvalue > 0.01
    )
    conditional = np.log(np.linalg.det(reference)) - np.log(reference[:, 0, 0])
    assert abs(np.log(left).mean() - conditional.mean()) < 0.03
    assert abs(np.log(left).std() - conditional.std()) < 0.02


# --- files of another size ------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [60, 500])
@pytest.mark.parametrize(
    "frame", [SURVEY.drop("person"), SURVEY.drop("person").to_pandas(), SURVEY.drop("person").to_arrow()]
)
def test_files_of_another_size(frame, n):
    files, change = synthesize(frame, n=n, m=2, seed=1)
    for file in files:
        held = pl.from_pandas(file) if isinstance(file, pd.DataFrame) else pl.DataFrame(file)
        assert held.height == n
        assert set(held["land"]) == {"here"}
        assert set(held["sex"]) == {"f", "m"}
        assert held["age"].is_between(10, 70).all()
    assert change.n == 2 * n
    assert change.parameters["n"] == n
    assert change.changed["age"] == 2 * n
    assert "none stands for one of the original" in change.notes["n"]
    assert f"of {n} records equal one of the original" in change.notes["copies"]


def test_the_size_of_the_data_is_no_other_size():
    assert made(n=N).data.equals(made().data)
    assert "n" not in made(n=N).change.parameters


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"n": 0}, "n counts the records of each file"),
        ({"n": 10}, "'person' is not drawn"),
        ({"n": 10, "rows": np.ones(N, bool)}, "rows= keeps the 240 of the file; leave one out"),
        ({"n": 10, "household": "person"}, "a household .household=, or that of a scenario. keeps the 240"),
    ],
)
def test_sizes_that_cannot_be(options, says):
    with pytest.raises(DataError, match=says):
        made(**options)


def test_models_draw_with_parameters_of_their_own():
    for model, columns in (
        ("probit", ["sex"]),
        ("dirichlet_multinomial", ["marital"]),
        ("multivariate_normal", ["age", "income"]),
    ):
        options = {"columns": columns, "models": model, "predictors": ["member"], "posterior_draws": 5}
        two, change = made(m=2, proper=True, **options)
        assert not two[0].equals(two[1])
        assert change.secret["draws"][columns[0]].log_density(SURVEY).shape == (5, N)
        assert made(m=2, proper=True, **options).data[1].equals(two[1])
