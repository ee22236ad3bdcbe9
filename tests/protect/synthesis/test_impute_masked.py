"""E8: true values drawn given masked copies: files, seeds, missing values, and what is refused."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest

import sdckit as sdc
from sdckit.data.frames import open_frame
from sdckit.errors import ColumnError, DataError
from sdckit.protect.synthesis.impute_masked import is_affine, potential_scale_reduction, read_masked, run_chain
from sdckit.protect.synthesis.synthesis_design import make_terms, read_predictors, seen
from sdckit.protect.synthesis.synthesis_linear import fit_linear
from sdckit.protect.synthesis.synthesis_variables import read_variable

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
    assert found.change.changed["tenure"] == sum(int((one["tenure"] != SURVEY["tenure"]).sum()) for one in found.data)
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


# Draws of true values: beside the exact distribution where there is one, and whether chains agree.


DRAWS = np.random.default_rng(4)
ROWS = 600
X = DRAWS.normal(0, 1, ROWS)
U = 1 + X + DRAWS.normal(0, 1, ROWS)
V = 2 * U - X + DRAWS.normal(0, 1, ROWS)
W = np.where(DRAWS.random(ROWS) < 1 / (1 + np.exp(-U)), "yes", "no")
FRAME = pl.DataFrame(
    {"x": X, "u": U, "v": V, "w": W, "u_z": U + DRAWS.normal(0, 0.8, ROWS), "v_z": V + DRAWS.normal(0, 1.5, ROWS),
     "w_z": np.where(DRAWS.random(ROWS) < 0.8, W, np.where(W == "yes", "no", "yes"))}
)  # fmt: skip
VARIABLES = {name: read_variable(open_frame(FRAME)[name]) for name in FRAME.columns}
ERRORS = {"u": 0.8, "v": 1.5, "w": 0.8}


def chains(order, models, predicting, *, n_chains, iterations):
    masked = read_masked(VARIABLES, {name: f"{name}_z" for name in order}, {name: ERRORS[name] for name in order})
    fits = {
        name: fit_linear(VARIABLES[name], models[name], [VARIABLES[one] for one in predicting[name]], np.arange(ROWS),
                         n_draws=0, proper=False, rng=np.random.default_rng(1))
        for name in order
    }  # fmt: skip
    others = {"x": seen(VARIABLES["x"], VARIABLES["x"].held)}
    found = [run_chain(masked, fits, others, iterations, 0, np.random.default_rng(at)) for at in range(n_chains)]
    return fits, found


def test_two_numbers_have_their_joint_normal_distribution():
    """u and v given both masked copies: mean and covariance from the joint normal of truth and copies."""
    predicting = {"u": ("x",), "v": ("x", "u")}
    fits, found = chains(("u", "v"), {"u": "normal", "v": "normal"}, predicting, n_chains=400, iterations=12)
    su, sv = fits["u"].best[1], fits["v"].best[1]
    mean_u = _mean(fits["u"], {"x": X})
    at0, at1 = _mean(fits["v"], {"x": X, "u": X * 0}), _mean(fits["v"], {"x": X, "u": X * 0 + 1})
    slope = float((at1 - at0).mean())
    prior = np.array([[su**2, slope * su**2], [slope * su**2, slope**2 * su**2 + sv**2]])
    noise = np.diag([0.8**2, 1.5**2])
    gain = prior @ np.linalg.inv(prior + noise)
    means = np.stack([mean_u, at0 + slope * mean_u], axis=1)
    copies = FRAME.select("u_z", "v_z").to_numpy()
    expected = means + (copies - means) @ gain.T
    spread = prior - gain @ prior
    drawn = np.stack([np.stack([one.values[name].number for name in ("u", "v")], axis=1) for one in found])
    assert np.abs(drawn.mean(axis=0) - expected).max() < 5 * np.sqrt(spread.max() / 400)
    left = drawn - expected
    np.testing.assert_allclose(np.einsum("hni,hnj->ij", left, left) / (400 * ROWS), spread, rtol=0.03, atol=0.01)
    assert all(one.accepted == {"u": 1.0, "v": 1.0} for one in found)


def _mean(fit, values):
    frame = open_frame(pl.DataFrame(values))
    held = {name: seen(one := read_variable(frame[name]), one.held) for name in frame.columns}
    from sdckit.protect.synthesis.synthesis_design import design_matrix

    return design_matrix(fit.terms, held, ROWS) @ fit.best[0][0]


def test_a_number_with_a_category_after_it_has_the_distribution_of_bayes():
    """u by Metropolis, since w is logistic in it: the mean and spread beside sums over a grid."""
    predicting = {"u": ("x",), "w": ("x", "u")}
    fits, found = chains(("u", "w"), {"u": "normal", "w": "logistic"}, predicting, n_chains=300, iterations=15)
    grid = np.linspace(-6, 8, 701)
    one = 7
    at = {"x": np.full(ROWS, X[one]), "u": np.resize(grid, ROWS)}
    eta = np.concatenate([_mean(fits["w"], at), _mean(fits["w"], {**at, "u": np.resize(grid[ROWS:], ROWS)})])[:701]
    prior = -0.5 * ((grid - _mean(fits["u"], {"x": X})[one]) / fits["u"].best[1]) ** 2
    copy = -0.5 * ((FRAME["u_z"][one] - grid) / 0.8) ** 2
    total = np.zeros(701)
    for level, stays in ((0, FRAME["w_z"][one] == "no"), (1, FRAME["w_z"][one] == "yes")):
        share = 1 / (1 + np.exp(-eta if level else eta))
        total += np.exp(prior + copy) * share * (0.8 if stays else 0.2)
    total /= total.sum()
    mean = float(total @ grid)
    sd = float(np.sqrt(total @ (grid - mean) ** 2))
    drawn = np.array([chain.values["u"].number[one] for chain in found])
    assert abs(drawn.mean() - mean) < 4 * sd / np.sqrt(300)
    assert drawn.std() == pytest.approx(sd, rel=0.15)
    assert 0.5 < np.mean([chain.accepted["u"] for chain in found]) < 1


@pytest.mark.parametrize(
    ("formula", "expected"),
    [("~ u", True), ("~ u * x", True), ("~ x", True), ("~ I(u ** 2)", False), ("~ u:log(u + 9)", False),
     ("~ log(x + 9) * u", True)],
)  # fmt: skip
def test_what_is_a_straight_line(formula, expected):
    predicted = read_predictors({"v": formula}, ["v"], list("xuv"))["v"]
    terms = make_terms([VARIABLES[column] for column in predicted.columns], np.arange(ROWS), predicted)
    assert is_affine(terms, "u") == expected


def test_chains_that_agree_and_chains_that_do_not():
    rng = np.random.default_rng(1)
    same = rng.normal(size=(4, 2000))
    assert potential_scale_reduction(same) == pytest.approx(1, abs=0.01)
    apart = same + np.arange(4)[:, None]
    assert potential_scale_reduction(apart) > 1.4
    drifting = same + np.linspace(0, 4, 2000)
    assert potential_scale_reduction(drifting) > 1.1
    assert potential_scale_reduction(np.ones((3, 40))) == 1.0
    assert np.isnan(potential_scale_reduction(same[:, :4]))


def test_all_pairs_of_levels_have_their_probability():
    """Two categories, one predicting the other: the exact joint distribution by enumeration."""
    frame = pl.DataFrame({"a": DRAWS.choice(["p", "q"], 400), "c": DRAWS.choice(["r", "s", "t"], 400)})
    frame = frame.with_columns(a_z=pl.col("a"), c_z=pl.col("c"))
    variables = {name: read_variable(open_frame(frame)[name]) for name in frame.columns}
    masked = read_masked(variables, {"a": "a_z", "c": "c_z"}, {"a": 0.7, "c": 0.6})
    rows = np.arange(400)
    given = {"n_draws": 0, "proper": False, "rng": np.random.default_rng(1)}
    fits = {
        "a": fit_linear(variables["a"], "logistic", [], rows, **given),
        "c": fit_linear(variables["c"], "multinomial", [variables["a"]], rows, **given),
    }
    found = [run_chain(masked, fits, {}, 10, 0, np.random.default_rng(at)) for at in range(150)]
    shares_a = np.exp(fits["a"].log_shares(np.full((1, 1), fits["a"].best[0][0][0])))[0]
    weights = {}
    for a, c in itertools.product(range(2), range(3)):
        held = {"a": seen(variables["a"], variables["a"].held.take(variables["a"].first[[a]]))}
        from sdckit.protect.synthesis.synthesis_design import design_matrix

        eta = design_matrix(fits["c"].terms, held, 1) @ fits["c"].best[0].T
        share_c = np.exp(fits["c"].log_shares(eta))[0]
        weights[a, c] = shares_a[a] * share_c[c] * (0.7 if a == 0 else 0.3) * (0.6 if c == 0 else 0.2)
    total = sum(weights.values())
    here = np.flatnonzero((variables["a"].held.level == 0) & (variables["c"].held.level == 0))
    for (a, c), weight in weights.items():
        share = np.mean(
            [((one.values["a"].level[here] == a) & (one.values["c"].level[here] == c)).mean() for one in found]
        )
        assert share == pytest.approx(weight / total, abs=0.012)


# What masked copies must be, and how an error may be given.


ERRORS_FRAME = pl.DataFrame(
    {
        "x": [1.0, 2.0, None, 4.0], "x_z": [1.5, 2.0, None, 3.0], "gap": [1.0, None, 3.0, 4.0],
        "job": ["a", "b", "c", None], "job_z": ["b", "b", "c", None], "odd": ["a", "b", "d", None],
    }
)  # fmt: skip
ERRORS_VARIABLES = {name: read_variable(open_frame(ERRORS_FRAME)[name]) for name in ERRORS_FRAME.columns}
MATRIX = [[0.8, 0.1, 0.1], [0.2, 0.8, 0.0], [0.0, 0.3, 0.7]]


def read(copies, errors):
    return read_masked(ERRORS_VARIABLES, copies, errors)


def test_numbers():
    (found,) = read({"x": "x_z"}, {"x": 0.5})
    assert (found.name, found.copy, found.sd) == ("x", "x_z", 0.5)
    np.testing.assert_allclose(found.number, [1.5, 2.0, np.nan, 3.0])


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (0.8, [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]),
        (MATRIX, MATRIX),
        ({"a": {"a": 0.8, "b": 0.1, "c": 0.1}, "b": {"a": 0.2, "b": 0.8}, "c": {"b": 0.3, "c": 0.7}}, MATRIX),
    ],
)
def test_categories(error, expected):
    (found,) = read({"job": "job_z"}, {"job": error})
    np.testing.assert_allclose(np.exp(found.log_confusion), expected)
    assert found.level.tolist() == [1, 1, 2, -1]


@pytest.mark.parametrize(
    ("copies", "errors", "kind", "says"),
    [
        ({"x": "x_z"}, {"job": 1}, ColumnError, "'job' is in one of them only"),
        ({"x": "x_z"}, {"x": 0}, DataError, "standard deviation of the noise in 'x_z'; give a number above 0"),
        ({"x": "x_z"}, {"x": 1.6}, DataError, "noise of 1.6 is wider than the variable itself"),
        ({"x": "gap"}, {"x": 0.5}, DataError, "'gap' is missing elsewhere than 'x'"),
        ({"x": "job_z"}, {"x": 0.5}, DataError, "missing elsewhere"),
        ({"job": "odd"}, {"job": 0.5}, DataError, "'odd' holds a category that 'job' does not have"),
        ({"job": "job_z"}, {"job": 1.0}, DataError, "probability that 'job' stays"),
        ({"job": "job_z"}, {"job": [[1, 0], [0, 1]]}, DataError, "3 rows of 3 that sum to 1"),
        ({"job": "job_z"}, {"job": np.eye(3).tolist()}, DataError, "nothing is masked"),
        ({"job": "job_z"}, {"job": {"z": {}}}, DataError, "give the probability of staying"),
        ({"job": "job_z"}, {"job": [[0.5, 0.5, 0.5]] * 3}, DataError, "sum to 1"),
        ({"job": "job_z"}, {"job": [[1, 0, 0], [0, 0.5, 0.5], [0, 0, 1]]}, DataError, "1 of its records could not"),
    ],
)
def test_what_is_refused_of_masking_errors(copies, errors, kind, says):
    with pytest.raises(kind, match=says):
        read(copies, errors)
