"""Regressions: the fits beside statsmodels, and their posterior."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from statsmodels.api import GLM, OLS, Logit, families

from sdckit.data.frames import open_frame
from sdckit.errors import DataError
from sdckit.protect.synthesis.synthesis_design import design_matrix, seen
from sdckit.protect.synthesis.synthesis_linear import choose, fit_linear
from sdckit.protect.synthesis.synthesis_variables import read_variable

RNG = np.random.default_rng(2)
N = 800
X = RNG.normal(0, 1, N)
SEX = RNG.choice(["f", "m"], N)
FRAME = pl.DataFrame(
    {
        "x": X, "sex": SEX, "y": 2 + 3 * X + RNG.normal(0, 2, N), "count": RNG.poisson(np.exp(0.4 * X + 0.2)),
        "flag": RNG.random(N) < 1 / (1 + np.exp(-X)), "job": RNG.choice(["a", "b", "c"], N, p=[0.5, 0.3, 0.2]),
    }
)  # fmt: skip
VARIABLES = {name: read_variable(open_frame(FRAME)[name]) for name in FRAME.columns}


def fit(name, model, *, n_draws=0, predictors=("x", "sex"), rows=None, proper=False):
    rows = np.arange(N) if rows is None else rows
    helpers = [VARIABLES[one] for one in predictors]
    return fit_linear(
        VARIABLES[name], model, helpers, rows, n_draws=n_draws, proper=proper, rng=np.random.default_rng(1)
    )


def design(found):
    return design_matrix(found.terms, {name: seen(one, one.held) for name, one in VARIABLES.items()}, N)


@pytest.mark.parametrize(
    ("name", "model", "peer"),
    [
        ("y", "normal", lambda y, Z: OLS(y, Z).fit()),
        ("flag", "logistic", lambda y, Z: Logit(y, Z).fit(disp=0)),
        ("count", "poisson", lambda y, Z: GLM(y, Z, family=families.Poisson()).fit()),
    ],
)
def test_fit_and_posterior_beside_statsmodels(name, model, peer):
    found = fit(name, model, n_draws=4000)
    theirs = peer(FRAME[name].to_numpy().astype(float), design(found))
    assert np.allclose(found.best[0][0], theirs.params, atol=1e-3)
    drawn = found.drawn[0][:, 0]
    assert np.allclose(drawn.mean(axis=0), theirs.params, atol=0.01)
    assert np.allclose(np.cov(drawn.T), theirs.cov_params(), atol=0.1 * np.abs(theirs.cov_params()).max())
    if model == "normal":
        assert found.best[1] ** 2 == pytest.approx(theirs.scale, rel=1e-6)
    assert found.converged


def test_a_multinomial_model_keeps_the_shares():
    found = fit("job", "multinomial", n_draws=3)
    held = {name: seen(one, one.held) for name, one in VARIABLES.items()}
    counts = np.bincount(found.draw(held, N, np.random.default_rng(3), 0).level) / N
    assert np.allclose(counts, np.bincount(VARIABLES["job"].held.level) / N, atol=0.06)
    alone = fit("job", "multinomial", predictors=())
    share = np.exp(alone.best[0][:, 0])
    assert np.allclose(share / share.sum(), np.bincount(VARIABLES["job"].held.level) / N)


def test_two_levels_by_a_multinomial_model():
    one, two = fit("flag", "logistic"), fit("flag", "multinomial")
    assert np.allclose(two.best[0][1] - two.best[0][0], one.best[0][0])


def test_separation_and_collinear_predictors_have_an_answer():
    wide = pl.DataFrame({"x": X, "same": 2 * X, "up": X > 0})
    found = [read_variable(open_frame(wide)[name]) for name in wide.columns]
    for one, model in ((found[2], "logistic"), (VARIABLES["y"], "normal")):
        made = fit_linear(
            one, model, found[:2], np.arange(N), n_draws=2, proper=False, rng=np.random.default_rng(0)
        )
        assert np.isfinite(made.best[0]).all()
        assert np.isfinite(made.drawn[0]).all()


def test_proper_releases_have_parameters_of_their_own():
    held = {name: seen(one, one.held) for name, one in VARIABLES.items()}
    made = fit("y", "normal", n_draws=2, proper=True)
    first, second = (made.draw(held, N, np.random.default_rng(0), release).number for release in (0, 1))
    assert not np.allclose(first, second)


def test_too_few_records():
    with pytest.raises(DataError, match="needs more records"):
        fit("y", "normal", rows=np.arange(3))


def test_choose():
    share = np.tile([0.2, 0.0, 0.8], (5000, 1))
    counts = np.bincount(choose(share, np.random.default_rng(0)), minlength=3)
    assert counts[1] == 0
    assert counts[0] / 5000 == pytest.approx(0.2, abs=0.02)
