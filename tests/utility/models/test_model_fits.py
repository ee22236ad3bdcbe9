"""Fits against closed forms and against the equations that their coefficients must solve."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.genmod.families import Binomial, Poisson
from statsmodels.genmod.generalized_linear_model import GLM

from sdckit.errors import DataError
from sdckit.utility.models.model_fits import fit_family, tellable

RNG = np.random.default_rng(8)
N = 200
X = np.column_stack([np.ones(N), RNG.normal(size=N), RNG.integers(0, 2, N)])
ETA = X @ [0.2, 0.5, -0.4]
W = RNG.uniform(0.5, 4, N)
OUTCOMES = {
    "linear": ETA + RNG.normal(size=N),
    "logistic": (RNG.random(N) < 1 / (1 + np.exp(-ETA))).astype(float),
    "poisson": RNG.poisson(np.exp(ETA)).astype(float),
    "multinomial": RNG.integers(0, 3, N).astype(float),
}
MEANS = {"linear": lambda eta: eta, "logistic": lambda eta: 1 / (1 + np.exp(-eta)), "poisson": np.exp}


def fitted(family, y=None, x=X, weights=None):
    y = OUTCOMES[family] if y is None else y
    return fit_family(family, y, x, weights, n_outcomes=3 if family == "multinomial" else 1, label="the release")


@pytest.mark.parametrize("family", MEANS)
@pytest.mark.parametrize("weights", [None, W], ids=["equal", "weighted"])
def test_coefficients_solve_the_score_equations(family, weights):
    found = fitted(family, weights=weights)
    residual = OUTCOMES[family] - MEANS[family](X @ found.value)
    given = np.ones(N) if weights is None else weights
    assert np.abs(X.T @ (given * residual)).max() < 1e-7
    assert found.n_used == N


def test_least_squares_by_the_formula():
    found = fitted("linear")
    inverse = np.linalg.inv(X.T @ X)
    residual = OUTCOMES["linear"] - X @ found.value
    np.testing.assert_allclose(found.covariance, inverse * (residual @ residual) / (N - 3), rtol=1e-9)
    assert found.df.tolist() == [N - 3.0] * 3


@pytest.mark.parametrize("family", MEANS)
def test_the_weighted_covariance_is_a_sandwich(family):
    found, scaled = fitted(family, weights=W), fitted(family, weights=10 * W)
    mean = MEANS[family](X @ found.value)
    spread = {"linear": np.ones(N), "logistic": mean * (1 - mean), "poisson": mean}[family]
    bread = np.linalg.inv(X.T @ ((W * spread)[:, None] * X))
    score = (W * (OUTCOMES[family] - mean))[:, None] * X
    np.testing.assert_allclose(found.covariance, bread @ score.T @ score @ bread * N / (N - 1), rtol=1e-6)
    np.testing.assert_allclose(scaled.covariance, found.covariance, rtol=1e-6)


@pytest.mark.parametrize("family", ["logistic", "poisson"])
def test_standard_errors_are_the_librarys(family):
    kind = Binomial() if family == "logistic" else Poisson()
    peer = GLM(OUTCOMES[family], X, family=kind).fit()
    np.testing.assert_allclose(np.sqrt(fitted(family).variance), peer.bse, rtol=1e-5)


def test_a_multinomial_model_with_an_intercept_gives_the_shares():
    found = fitted("multinomial", x=np.ones((N, 1)))
    counts = np.bincount(OUTCOMES["multinomial"].astype(int))
    np.testing.assert_allclose(found.value, np.log(counts[1:] / counts[0]), rtol=1e-8)
    expected = 1 / counts[0] + np.diag(1 / counts[1:])
    np.testing.assert_allclose(found.covariance, expected, rtol=1e-8)


def test_two_outcomes_are_a_logistic_model():
    two = fit_family("multinomial", OUTCOMES["logistic"], X, None, n_outcomes=2, label="x")
    one = fitted("logistic")
    np.testing.assert_allclose(two.value, one.value, rtol=1e-7)
    np.testing.assert_allclose(two.covariance, one.covariance, rtol=1e-6)


@pytest.mark.parametrize("family", OUTCOMES)
def test_a_column_that_follows_from_others_gets_no_coefficient(family):
    more = np.column_stack([X[:, :2], X[:, 0] + X[:, 1], X[:, 2]])
    found, plain = fitted(family, x=more), fitted(family)
    gone = np.isnan(found.value).reshape(-1, 4)
    assert gone.tolist() == [[False, False, True, False]] * len(gone)
    np.testing.assert_allclose(found.value[~gone.ravel()], plain.value, rtol=1e-9)
    np.testing.assert_allclose(found.variance[~gone.ravel()], plain.variance, rtol=1e-9)


def test_as_many_terms_as_records_have_no_variance():
    found = fitted("linear", y=OUTCOMES["linear"][:3], x=np.eye(3))
    assert not np.isnan(found.value).any()
    assert np.isnan(found.variance).all()
    weighted = fitted("linear", y=OUTCOMES["linear"][:3], x=np.eye(3), weights=W[:3])
    assert np.isnan(weighted.variance).all()


def test_records_of_weight_zero_do_not_determine_a_term():
    only = (np.arange(N) < 5).astype(float)
    found = fitted("linear", x=np.column_stack([X, only]), weights=np.where(only, 0.0, W))
    assert np.isnan(found.value).tolist() == [False, False, False, True]


SPLIT = (X[:, 1] > 0).astype(float)
RARE = (np.arange(N) < 3).astype(float)


@pytest.mark.parametrize(
    ("family", "y", "x"),
    [
        ("logistic", SPLIT, X),  # perfectly
        ("logistic", np.where(RARE, 1.0, OUTCOMES["logistic"]), np.column_stack([X, RARE])),  # some records
        ("poisson", np.where(RARE, 0.0, OUTCOMES["poisson"]), np.column_stack([X, RARE])),
        ("multinomial", np.where(RARE, 2.0, OUTCOMES["multinomial"]), np.column_stack([X, RARE])),
        ("logistic", np.zeros(N), X),
    ],
)
@pytest.mark.parametrize("scale", [1.0, 1e-3])
def test_separation_is_told_with_the_file(family, y, x, scale):
    with pytest.raises(DataError, match=rf"the release: a {family} coefficient has no finite estimate"):
        fitted(family, y=y, x=x * scale)


def test_a_strong_effect_is_no_separation():
    x = np.column_stack([np.ones(N), np.linspace(-6, 6, N)])
    y = (x[:, 1] > 0).astype(float)
    y[[N // 2 - 1, N // 2]] = 1.0, 0.0
    found = fitted("logistic", y=y, x=x)
    assert 1 < found.value[1] < 40


def test_a_fit_that_fails_is_told_with_the_file():
    with pytest.raises(DataError, match="the release: the poisson model could not be fitted") as caught:
        fitted("poisson", y=OUTCOMES["poisson"][:50])
    assert caught.value.__cause__ is None


# What a document may say of coefficients that count records.


SEX = (np.arange(N) % 2).astype(float)
TELLABLE_X = np.column_stack([np.ones(N), SEX])


def judged(family, outcome, weights=None):
    n_outcomes = len(np.unique(outcome)) if family == "multinomial" else 2
    value = fit_family(family, outcome, TELLABLE_X, weights, n_outcomes=n_outcomes, label="it").value
    return tellable(family, outcome, TELLABLE_X, weights, value)


def yes(of_f: int, of_m: int) -> np.ndarray:
    rank = np.arange(N) // 2
    return np.where(SEX == 0, rank < of_f, rank < of_m).astype(float)


def test_a_continuous_outcome_has_no_steps():
    y = np.random.default_rng(1).normal(size=N)
    assert judged("linear", y).steps.tolist() == [0, 0]


@pytest.mark.parametrize("family", ["linear", "logistic", "poisson", "multinomial"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_step_is_what_five_records_change(family, weighted):
    """Held against the fit itself, five records changed."""
    if weighted and family == "multinomial":
        return
    weights = np.where(np.arange(N) % 3 == 0, 2.0, 1.0) if weighted else None
    coefficients = [
        fit_family(family, yes(of_f, 50), TELLABLE_X, weights, n_outcomes=2, label="it").value for of_f in (40, 45)
    ]
    moved = np.abs(coefficients[1] - coefficients[0])
    steps = judged(family, yes(40, 50), weights).steps
    assert (steps >= 0.8 * moved).all()
    assert (steps <= 6 * moved.max()).all()


def test_few_of_an_outcome_of_several():
    outcome = np.where(np.arange(N) < 4, 2.0, yes(40, 50))
    found = judged("multinomial", outcome)
    assert found.few.tolist() == [False, False, True, True]
    base = np.where(np.arange(N) < 4, 0.0, 1 + yes(40, 50))
    assert judged("multinomial", base).few.all()


def test_few_of_an_outcome_in_one_group():
    assert judged("logistic", yes(3, 50)).few.tolist() == [True, False]
    assert judged("linear", yes(3, 50)).few.tolist() == [True, False]
    assert judged("logistic", yes(50, 97)).few[1]
