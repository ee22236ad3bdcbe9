"""Draws of true values: beside the exact distribution where there is one, and whether chains agree."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest

from sdckit.data.frames import open_frame
from sdckit.protect.synthesis.masking_chain import is_affine, potential_scale_reduction, run_chain
from sdckit.protect.synthesis.masking_errors import read_masked
from sdckit.protect.synthesis.synthesis_design import make_terms, seen
from sdckit.protect.synthesis.synthesis_formulas import read_predictors
from sdckit.protect.synthesis.synthesis_linear import fit_linear
from sdckit.protect.synthesis.synthesis_variables import read_variable

RNG = np.random.default_rng(4)
N = 600
X = RNG.normal(0, 1, N)
U = 1 + X + RNG.normal(0, 1, N)
V = 2 * U - X + RNG.normal(0, 1, N)
W = np.where(RNG.random(N) < 1 / (1 + np.exp(-U)), "yes", "no")
FRAME = pl.DataFrame(
    {"x": X, "u": U, "v": V, "w": W, "u_z": U + RNG.normal(0, 0.8, N), "v_z": V + RNG.normal(0, 1.5, N),
     "w_z": np.where(RNG.random(N) < 0.8, W, np.where(W == "yes", "no", "yes"))}
)  # fmt: skip
VARIABLES = {name: read_variable(open_frame(FRAME)[name]) for name in FRAME.columns}
ERRORS = {"u": 0.8, "v": 1.5, "w": 0.8}


def chains(order, models, predicting, *, n_chains, iterations):
    masked = read_masked(
        VARIABLES, {name: f"{name}_z" for name in order}, {name: ERRORS[name] for name in order}
    )
    fits = {
        name: fit_linear(VARIABLES[name], models[name], [VARIABLES[one] for one in predicting[name]], np.arange(N),
                         n_draws=0, proper=False, rng=np.random.default_rng(1))
        for name in order
    }  # fmt: skip
    others = {"x": seen(VARIABLES["x"], VARIABLES["x"].held)}
    found = [
        run_chain(masked, fits, others, iterations, 0, np.random.default_rng(at)) for at in range(n_chains)
    ]
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
    np.testing.assert_allclose(np.einsum("hni,hnj->ij", left, left) / (400 * N), spread, rtol=0.03, atol=0.01)
    assert all(one.accepted == {"u": 1.0, "v": 1.0} for one in found)


def _mean(fit, values):
    frame = open_frame(pl.DataFrame(values))
    held = {name: seen(one := read_variable(frame[name]), one.held) for name in frame.columns}
    from sdckit.protect.synthesis.synthesis_design import design_matrix

    return design_matrix(fit.terms, held, N) @ fit.best[0][0]


def test_a_number_with_a_category_after_it_has_the_distribution_of_bayes():
    """u by Metropolis, since w is logistic in it: the mean and spread beside sums over a grid."""
    predicting = {"u": ("x",), "w": ("x", "u")}
    fits, found = chains(
        ("u", "w"), {"u": "normal", "w": "logistic"}, predicting, n_chains=300, iterations=15
    )
    grid = np.linspace(-6, 8, 701)
    one = 7
    at = {"x": np.full(N, X[one]), "u": np.resize(grid, N)}
    eta = np.concatenate([_mean(fits["w"], at), _mean(fits["w"], {**at, "u": np.resize(grid[N:], N)})])[:701]
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
    terms = make_terms([VARIABLES[one] for one in predicted.columns], np.arange(N), predicted)
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
    frame = pl.DataFrame({"a": RNG.choice(["p", "q"], 400), "c": RNG.choice(["r", "s", "t"], 400)})
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
            [
                ((one.values["a"].level[here] == a) & (one.values["c"].level[here] == c)).mean()
                for one in found
            ]
        )
        assert share == pytest.approx(weight / total, abs=0.012)
