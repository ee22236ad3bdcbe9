"""Regressions: the fits beside statsmodels, and their posterior."""

from __future__ import annotations

import json
import pickle
from functools import cache

import numpy as np
import polars as pl
import pytest
from scipy import stats
from statsmodels.discrete.discrete_model import Logit, Probit
from statsmodels.genmod import families
from statsmodels.genmod.generalized_linear_model import GLM
from statsmodels.regression.linear_model import OLS

from sdckit import bayesian_attribute_risk, load_demo, synthesize
from sdckit.attribute.prediction.bayesian_attribute_risk import evidence
from sdckit.cells.pair import open_pair
from sdckit.data.frames import open_frame
from sdckit.errors import ColumnError, DataError
from sdckit.protect.synthesis.synthesis_design import design_matrix, seen
from sdckit.protect.synthesis.synthesis_linear import PosteriorDraws, choose, fit_linear, fit_probit, posterior_draws
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
    helpers = [VARIABLES[predictor] for predictor in predictors]
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
        made = fit_linear(one, model, found[:2], np.arange(N), n_draws=2, proper=False, rng=np.random.default_rng(0))
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


# Draws kept for measures of risk: their densities, and their plain form.


DRAWS_RNG = np.random.default_rng(5)
DRAWS_N = 120
DATA = pl.DataFrame(
    {
        "sex": DRAWS_RNG.choice(["f", "m"], DRAWS_N),
        "age": DRAWS_RNG.integers(20, 60, DRAWS_N),
        "kids": DRAWS_RNG.poisson(1.5, DRAWS_N),
        "job": pl.Series(DRAWS_RNG.choice(["a", "b", None], DRAWS_N), dtype=pl.String),
        "income": [None if i % 7 == 0 else float(x) for i, x in enumerate(DRAWS_RNG.normal(100, 10, DRAWS_N).round(1))],
        "member": DRAWS_RNG.choice([True, False], DRAWS_N),
    }
)
MODELS = {"kids": "poisson", "job": "multinomial", "income": "normal", "member": "logistic"}


@cache
def made_change():
    return synthesize(DATA, columns=list(MODELS), models=MODELS, posterior_draws=7, seed=1).change


def made_draws():
    return made_change().secret["draws"]


def grid(name, values):
    """The first record's density at every value of a variable."""
    guesses = pl.concat([DATA[:1]] * len(values)).with_columns(pl.Series(name, values, dtype=DATA.schema[name]))
    return np.exp(made_draws()[name].log_density(guesses))


def test_shapes():
    assert list(made_draws()) == list(MODELS)
    for name, one in made_draws().items():
        assert one.log_density(DATA).shape == (7, DRAWS_N)
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
    assert (made_draws()["job"].log_density(other) == -np.inf).all()


def test_the_same_from_an_internal_log():
    log = json.loads(json.dumps(made_change().to_dict(internal=True)))
    for name, one in log["secret"]["draws"].items():
        assert np.allclose(PosteriorDraws(one).log_density(DATA), made_draws()[name].log_density(DATA))
    assert "draws" not in json.dumps(made_change().to_dict())


def test_engines_agree():
    for draws in made_draws().values():
        assert np.allclose(draws.log_density(DATA.to_pandas()), draws.log_density(DATA))


def test_it_prints_no_value():
    assert repr(made_draws()["job"]) == "PosteriorDraws('job', 'multinomial', 7 draws)"


def log_by_hand(found, values):
    """Log density of each record's value as `predictive` describes it, draw by draw."""
    gone = np.array([value is None for value in values])
    if "probability" in found:
        order = {level: at for at, level in enumerate(found["levels"])}
        at = [order.get(None if value is None else str(value), 0) for value in values]
        logs = np.log(found["probability"][:, np.arange(len(values)), at])
    else:
        held = np.array([0.0 if value is None else value for value in values])
        of = stats.poisson(found["rate"]) if "rate" in found else None
        logs = of.logpmf(held) if of else stats.norm.logpdf(held, found["mean"], found["sd"][:, None])
    if "missing" in found:
        return np.where(gone, np.log(found["missing"]), np.log1p(-found["missing"]) + logs)
    return logs


@pytest.mark.parametrize("name", MODELS)
def test_the_predictive_distribution_is_what_the_densities_say(name):
    found = made_draws()[name].predictive(DATA)
    assert log_by_hand(found, DATA[name].to_list()) == pytest.approx(made_draws()[name].log_density(DATA))
    if "probability" in found:
        assert found["probability"].sum(axis=2) == pytest.approx(np.ones((7, DRAWS_N)))


def test_what_predictive_gives():
    assert set(made_draws()["kids"].predictive(DATA)) == {"rate"}
    assert set(made_draws()["income"].predictive(DATA)) == {"mean", "sd", "missing"}
    assert made_draws()["job"].predictive(DATA)["levels"] == ["a", "b", None]
    assert made_draws()["member"].predictive(DATA)["levels"] == ["False", "True"]


GAPS = DATA.with_columns(
    member=pl.when(pl.int_range(DRAWS_N) % 5 > 0).then("member"),
    kids=pl.when(pl.int_range(DRAWS_N) % 4 > 0).then("kids"),
    age=pl.when(pl.int_range(DRAWS_N) % 3 > 0).then("age"),
)


@pytest.mark.parametrize("name", MODELS)
def test_missing_values_of_the_target_and_of_predictors(name):
    change = synthesize(
        GAPS, columns=[name], models=MODELS[name], predictors=["age", "sex"], posterior_draws=6, seed=1
    ).change
    draws = change.secret["draws"][name]
    assert [term["kind"] for term in draws["terms"]] == ["number", "missing", "level"]
    found = draws.predictive(GAPS)
    assert log_by_hand(found, GAPS[name].to_list()) == pytest.approx(draws.log_density(GAPS))
    assert ("missing" in found) == (name != "job")
    two = GAPS[:2].with_columns(age=pl.Series([None, None], dtype=pl.Int64), sex=pl.lit("f"))
    same = draws.predictive(two)  # a missing predictor is one value: the other columns do not matter
    for values in (one for key, one in same.items() if key not in {"levels", "sd"}):
        assert values[:, 0] == pytest.approx(values[:, 1])


def test_no_count_and_no_missing_value_where_none_can_be():
    odd = DATA.with_columns(kids=pl.Series([-1.0, 1.5, None] + [2.0] * (DRAWS_N - 3)))
    found = made_draws()["kids"].log_density(odd)
    assert (found[:, :3] == -np.inf).all()
    assert np.isfinite(found[:, 3:]).all()
    normal = posterior_draws("y", "normal", (), [], np.zeros((1, 1, 1)), np.ones(1))
    assert normal.log_density(pl.DataFrame({"y": [None]}, schema={"y": pl.Float64})).tolist() == [[-np.inf]]


@pytest.mark.parametrize(
    "values",
    [
        pl.Series("y", ["9", "10", "100"] * 20),  # sorted as texts, not as the numbers they look like
        pl.Series("y", ["low", "mid", "high"] * 20, dtype=pl.Enum(["low", "mid", "high"])),
        pl.Series("y", [9.5, 10.0, -1.0] * 20),
        pl.Series("y", [9, 100, None] * 20),
        pl.Series("y", [True, False, False] * 20),
    ],
    ids=["codes", "enum", "numbers", "missing", "booleans"],
)
def test_levels_are_found_in_the_file_whatever_their_order(values):
    frame = pl.DataFrame({"y": values, "x": DRAWS_RNG.normal(size=60)})
    released, change = synthesize(frame, columns=["y"], models="multinomial", posterior_draws=50, seed=1)
    draws = change.secret["draws"]["y"]
    pair = open_pair(frame, released, categories={"target": ["y"]}, aligned=True)
    found = evidence(pair, "y", draws.predictive(frame), None, None)
    (part,) = found.parts
    assert part.log_truth == pytest.approx(draws.log_density(frame))
    assert part.log_released[0] == pytest.approx(draws.log_density(released).sum(axis=1))


def test_draws_the_files_were_drawn_with_are_left_out():
    given = {"columns": ["kids"], "models": "poisson", "predictors": ["age"], "seed": 1, "m": 2}
    draws = synthesize(DATA, **given, proper=True, posterior_draws=5).change.secret["draws"]["kids"]
    assert draws.log_density(DATA).shape == (5, DRAWS_N)
    by_hand = draws.log_density(DATA)[2:]
    assert log_by_hand(draws.predictive(DATA), DATA["kids"].to_list()) == pytest.approx(by_hand)
    same = synthesize(DATA, **given, posterior_draws=5).change.secret["draws"]["kids"]
    assert same.predictive(DATA)["rate"].shape == (5, DRAWS_N)
    few = synthesize(DATA, **given, proper=True, posterior_draws=1).change.secret["draws"]["kids"]
    with pytest.raises(DataError, match=r"'kids'.*larger posterior_draws"):
        few.predictive(DATA)


def test_columns_without_draws_say_why():
    models = {"kids": "cart", "job": "multinomial", "member": "sample"}
    draws = synthesize(DATA, columns=list(models), models=models, seed=1).change.secret["draws"]
    assert list(draws) == ["job"]
    assert draws.get("kids") is None
    for name in ("kids", "member"):
        with pytest.raises(
            DataError, match=f"'{name}' was synthesised by '{models[name]}'.*'dirichlet_multinomial' keep them"
        ):
            draws[name]
    with pytest.raises(ColumnError, match="no column 'jib' was synthesised; did you mean 'job'"):
        draws["jib"]
    none = synthesize(DATA, columns=["job"], models="multinomial", posterior_draws=0, seed=1).change.secret["draws"]
    with pytest.raises(DataError, match="posterior_draws=0 kept no draws"):
        none["job"]
    nobody = synthesize(DATA, columns=["job"], models="multinomial", rows=[False] * DRAWS_N, seed=1).change.secret[
        "draws"
    ]
    with pytest.raises(DataError, match="no record is flagged"):
        nobody["job"]
    kept = pickle.loads(pickle.dumps(draws))
    assert dict(kept["job"]) == dict(draws["job"])
    assert kept.models == models


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("frame", [DATA.drop_nulls(), GAPS], ids=["whole", "gaps"])
def test_the_risk_of_our_own_synthesis(name, frame):
    given = {"columns": [name], "models": MODELS[name], "predictors": ["sex", "age"], "proper": True}
    files, change = synthesize(frame, **given, m=2, posterior_draws=102, seed=3)
    draws = change.secret["draws"][name].predictive(frame)
    found = bayesian_attribute_risk(frame, files, target=name, draws=draws)
    probability = found.records["probability"]
    assert (len(probability), found.n_draws) == (len(frame), 100)
    assert probability.is_between(0, 1).all()
    assert found.mean_probability == pytest.approx(probability.mean())
    missing = frame[name].null_count()
    assert ("missing" in found.notes) == (missing > 0)
    if name == "kids":  # 0, 1, ..., the largest, more, and missing where some are
        assert found.baseline == pytest.approx(1 / (frame["kids"].max() + 2 + (missing > 0)))
    in_pandas = frame.to_pandas()
    same = bayesian_attribute_risk(
        in_pandas, [file.to_pandas() for file in files], target=name,
        draws=change.secret["draws"][name].predictive(in_pandas),
    )  # fmt: skip
    assert same.mean_probability == pytest.approx(found.mean_probability)


def test_the_demo_survey():
    survey = load_demo().with_columns(pl.col("children").floor().cast(pl.Int64))
    given = {"columns": ["children"], "models": "poisson", "predictors": ["age"], "proper": True}
    made, change = synthesize(survey, **given, posterior_draws=301, seed=1)
    draws = change.secret["draws"]["children"].predictive(survey)
    found = bayesian_attribute_risk(survey, made, target="children", draws=draws)
    assert (found.n, found.n_draws, found.mean_guesses) == (6366, 300, 7.0)
    assert abs(found.gain) < 0.02  # one answer among thousands moves two coefficients little
    assert found.effective_draws > 30


# Probit regression beside statsmodels.


PROBIT_RNG = np.random.default_rng(3)
PROBIT_N = 700
PROBIT_X = np.c_[np.ones(PROBIT_N), PROBIT_RNG.normal(0, 1, (PROBIT_N, 2))]
Y = (PROBIT_X @ [0.3, 1.0, -0.5] + PROBIT_RNG.normal(0, 1, PROBIT_N) > 0).astype(float)


def test_without_a_prior_it_is_maximum_likelihood():
    best, _, converged = fit_probit(PROBIT_X, Y, np.zeros((3, 3)))
    np.testing.assert_allclose(best, Probit(Y, PROBIT_X).fit(disp=0, tol=1e-10).params, rtol=1e-7)
    assert converged


def test_the_precision_is_the_expected_information():
    best, precision, _ = fit_probit(PROBIT_X, Y, np.zeros((3, 3)))
    information = -Probit(Y, PROBIT_X).hessian(best)  # the observed one, near it in a file of this size
    np.testing.assert_allclose(precision, information, rtol=0.1, atol=0.05 * np.abs(information).max())


def test_a_prior_holds_where_the_data_say_too_much():
    side = np.c_[np.ones(40), np.repeat([-1.0, 1.0], 20)]
    best, precision, converged = fit_probit(side, (side[:, 1] > 0).astype(float), np.diag([1e-8, 0.01]))
    assert converged
    assert 2 < best[1] < 30
    assert np.linalg.eigvalsh(precision).min() > 0


def test_with_a_constant_alone_the_share_comes_back():
    from scipy.special import ndtr

    best, _, _ = fit_probit(np.ones((PROBIT_N, 1)), Y, np.zeros((1, 1)))
    np.testing.assert_allclose(ndtr(best[0]), Y.mean(), rtol=1e-9)
