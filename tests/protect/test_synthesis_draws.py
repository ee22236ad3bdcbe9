"""Draws kept for measures of risk: their densities, and their plain form."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from scipy import stats

from sdckit import bayesian_attribute_risk, synthesize
from sdckit.errors import DataError
from sdckit.protect.synthesis_draws import PosteriorDraws, posterior_draws

RNG = np.random.default_rng(5)
N = 120
DATA = pl.DataFrame(
    {
        "sex": RNG.choice(["f", "m"], N),
        "age": RNG.integers(20, 60, N),
        "kids": RNG.poisson(1.5, N),
        "job": pl.Series(RNG.choice(["a", "b", None], N), dtype=pl.String),
        "income": [None if i % 7 == 0 else float(x) for i, x in enumerate(RNG.normal(100, 10, N).round(1))],
        "member": RNG.choice([True, False], N),
    }
)
MODELS = {"kids": "poisson", "job": "multinomial", "income": "normal", "member": "logistic"}
CHANGE = synthesize(DATA, columns=list(MODELS), models=MODELS, posterior_draws=7, seed=1).change
DRAWS = CHANGE.secret["draws"]


def grid(name, values):
    """The first record's density at every value of a variable."""
    guesses = pl.concat([DATA[:1]] * len(values)).with_columns(
        pl.Series(name, values, dtype=DATA.schema[name])
    )
    return np.exp(DRAWS[name].log_density(guesses))


def test_shapes():
    assert list(DRAWS) == list(MODELS)
    for name, one in DRAWS.items():
        assert one.log_density(DATA).shape == (7, N)
        assert np.isfinite(one.log_density(DATA)).all()
        assert (one["column"], one["model"], len(one["coefficients"])) == (name, MODELS[name], 7)


@pytest.mark.parametrize(
    ("name", "values"), [("member", [True, False]), ("job", ["a", "b", None]), ("kids", range(150))]
)
def test_probabilities_sum_to_one(name, values):
    assert np.allclose(grid(name, list(values)).sum(axis=1), 1)


def test_a_number_is_missing_or_somewhere():
    values = np.arange(0, 250, 0.5)
    assert np.allclose(grid("income", values).sum(axis=1) * 0.5 + grid("income", [None])[:, 0], 1, atol=1e-6)


def test_the_normal_density_by_hand():
    one = posterior_draws("y", "normal", (), [], np.array([[[2.0]], [[0.0]]]), np.array([1.0, 3.0]))
    found = one.log_density(pl.DataFrame({"y": [1.0]}))[:, 0]
    assert np.allclose(found, [stats.norm.logpdf(1, 2, 1), stats.norm.logpdf(1, 0, 3)])


def test_unknown_levels_are_impossible():
    other = DATA.with_columns(job=pl.lit("z"))
    assert (DRAWS["job"].log_density(other) == -np.inf).all()


def test_the_same_from_an_internal_log():
    log = json.loads(json.dumps(CHANGE.to_dict(internal=True)))
    for name, one in log["secret"]["draws"].items():
        assert np.allclose(PosteriorDraws(one).log_density(DATA), DRAWS[name].log_density(DATA))
    assert "draws" not in json.dumps(CHANGE.to_dict())


def test_engines_agree():
    for one in DRAWS.values():
        assert np.allclose(one.log_density(DATA.to_pandas()), one.log_density(DATA))


def test_it_prints_no_value():
    assert repr(DRAWS["job"]) == "PosteriorDraws('job', 'multinomial', 7 draws)"


def test_the_predictive_distribution_is_what_the_densities_say():
    normal = synthesize(
        DATA.drop_nulls(), columns=["income"], models={"income": "normal"}, posterior_draws=5, seed=2
    )
    draws = normal.change.secret["draws"]["income"]
    frame = DATA.drop_nulls()
    found = draws.predictive(frame)
    by_hand = stats.norm.logpdf(frame["income"].to_numpy(), found["mean"], found["sd"][:, None])
    assert draws.log_density(frame) == pytest.approx(by_hand)
    share = DRAWS["member"].predictive(DATA)["probability"]
    assert share.shape == (7, N, 2)
    held = DATA["member"].to_numpy().astype(int)
    assert np.log(share[:, np.arange(N), held]) == pytest.approx(DRAWS["member"].log_density(DATA))


@pytest.mark.parametrize("name", ["kids", "job", "income"])
def test_counts_and_what_may_be_missing_need_other_draws(name):
    with pytest.raises(DataError, match=f"column '{name}'.*log_released"):
        DRAWS[name].predictive(DATA)


@pytest.mark.parametrize("model", ["multinomial", "normal"])
def test_the_risk_of_our_own_synthesis(model):
    whole = DATA.drop_nulls()
    target = "job" if model == "multinomial" else "income"
    released, change = synthesize(whole, columns=[target], models={target: model}, posterior_draws=40, seed=3)
    draws = change.secret["draws"][target].predictive(whole)
    found = bayesian_attribute_risk(whole, released, target=target, draws=draws)
    probability = found.records["probability"]
    assert len(probability) == len(whole)
    assert probability.is_between(0, 1).all()
