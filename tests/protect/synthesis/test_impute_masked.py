"""E8: true values drawn given masked copies: files, seeds, missing values, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import sdckit as sdc
from sdckit.errors import ColumnError, DataError

RNG = np.random.default_rng(5)
N = 400
SEX = RNG.choice(["f", "m"], N)
INCOME = 2000 + 500 * (SEX == "m") + RNG.normal(0, 300, N)
SURVEY = pl.DataFrame(
    {
        "sex": SEX,
        "income": [None if at % 50 == 0 else round(x) for at, x in enumerate(INCOME)],
        "tenure": np.where(RNG.random(N) < 1 / (1 + np.exp(-(INCOME - 2200) / 300)), "own", "rent"),
    }
)
MASKED = {"income": "income_z", "tenure": "tenure_z"}
ERROR = {"income": 200.0, "tenure": 0.8}


def both(data=SURVEY):
    one = sdc.mask_continuous(data, columns=["income"], sd=200.0, suffix="_z", seed=1)
    return sdc.mask_categorical(one.data, columns=["tenure"], probability=0.8, suffix="_z", seed=2).data


def imputed(data=None, **options):
    given = {"masked": MASKED, "error": ERROR, "m": 2, "iterations": 20, "seed": 3, **options}
    return sdc.impute_masked(both() if data is None else data, **given)


def test_files_without_the_copies_and_with_the_types_of_the_originals():
    found = imputed()
    assert [one.schema for one in found.data] == [SURVEY.schema] * 2
    assert not found.data[0].equals(found.data[1])
    for one in found.data:
        assert one["sex"].equals(SURVEY["sex"])
        assert one["income"].is_null().equals(SURVEY["income"].is_null())
        assert set(one["tenure"]) == {"own", "rent"}
    assert found.change.n == 2 * N
    assert found.change.changed["tenure"] == sum(
        int((one["tenure"] != SURVEY["tenure"]).sum()) for one in found.data
    )
    assert found.change.parameters["models"] == {"income": "normal", "tenure": "logistic"}


def test_draws_are_nearer_the_truth_than_the_copies():
    data = both()
    found = imputed(data, m=1, iterations=30)
    truth = SURVEY["income"].cast(float)
    masked = float(((data["income_z"] - truth) ** 2).mean())
    posterior_mean = np.mean(
        [imputed(data, m=1, iterations=30, seed=at).data["income"].cast(float).to_numpy() for at in range(20)], axis=0
    )  # fmt: skip
    assert float(np.nanmean((posterior_mean - truth.to_numpy()) ** 2)) < 0.8 * masked
    assert (found.data["tenure"] == SURVEY["tenure"]).mean() > 0.6


@pytest.mark.parametrize("make", [pl.DataFrame.to_pandas, pl.DataFrame.to_arrow])
def test_other_engines_have_the_same_values(make):
    expected = imputed(m=1).data
    found = imputed(make(both()), m=1).data
    assert (pl.from_pandas(found) if isinstance(found, pd.DataFrame) else pl.from_arrow(found))[
        "tenure"
    ].to_list() == expected["tenure"].to_list()


def test_the_same_seed_the_same_files_and_parameters_of_their_own():
    assert imputed().data[1].equals(imputed().data[1])
    assert not imputed().data[0].equals(imputed(seed=4).data[0])
    assert not imputed(proper=True).data[0].equals(imputed().data[0])
    assert imputed(seed=None).change.secret["seed"] > 2**60


def test_convergence_is_told():
    found = imputed(m=4, iterations=100)
    told = found.change.parameters["convergence"]
    assert told["income"]["rhat"] < 1.1
    assert 0.8 < told["income"]["accepted"] <= 1
    assert "accepted" not in told["tenure"]
    assert np.shape(found.change.secret["trace"]["income"]) == (4, 100)
    assert "converged" not in found.change.notes
    assert "averaged over the files" in found.change.notes["several files"]
    assert "several files" not in imputed(m=1).change.notes
    assert "did not meet in 3 rounds" in imputed(iterations=3).change.notes["converged"]


def test_predictors_and_models_by_variable():
    found = imputed(
        predictors={"income": "~ sex * tenure", "tenure": ["sex"]}, models={"tenure": "probit"}
    ).change.parameters
    assert found["predictors"] == {"tenure": ["sex"], "income": ["sex", "tenure"]}
    assert found["models"]["tenure"] == "probit"


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"error": {**ERROR, "income": 0.0}}, DataError, "give a number above 0"),
        ({"error": {**ERROR, "income": 1e5}}, DataError, "wider than the variable itself"),
        ({"error": {"income": 200.0}}, ColumnError, "'tenure' is in one of them only"),
        ({"error": 200.0}, DataError, "says by variable"),
        ({"masked": {"income": "nope"}}, ColumnError, "no column 'nope'"),
        ({"masked": {"income": "income"}}, ColumnError, "two columns"),
        ({"masked": {}}, DataError, "which column is the masked copy"),
        ({"predictors": {"income": ["tenure"], "tenure": ["income"]}}, DataError, "in a circle"),
        ({"predictors": {"income": ["income_z"]}}, ColumnError, "no column 'income_z'"),
        ({"predictors": {"tenure": "~ C(income)"}}, DataError, "'income' is drawn as a number"),
        ({"models": {"sex": "logistic"}}, ColumnError, "'sex' is not masked"),
        ({"models": {"income": "multinomial"}}, DataError, "does not fit 'income', a number"),
        ({"models": {"income": "cart"}}, DataError, "models"),
        ({"m": 0}, DataError, "m counts files"),
        ({"iterations": 0}, DataError, "iterations counts the rounds"),
    ],
)
def test_what_is_refused(options, error, says):
    with pytest.raises(error, match=says):
        imputed(**options)


def test_a_recipe_masks_and_draws():
    recipe = sdc.Recipe(
        [
            {"method": "mask_continuous", "columns": ["income"], "sd": 200.0, "suffix": "_z"},
            {"method": "impute_masked", "masked": {"income": "income_z"}, "error": {"income": 200.0}, "m": 1},
        ]
    )
    applied = recipe.apply(SURVEY)
    assert applied.data.columns == SURVEY.columns
    assert not applied.data["income"].equals(SURVEY["income"])
    assert sdc.Recipe.replay(SURVEY, applied.log).data.equals(applied.data)
