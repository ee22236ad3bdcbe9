"""Synthesis by regression: normal, logistic, probit, multinomial and Poisson, with draws from their posterior."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdckit.errors import DataError
from sdckit.numerics.array_types import Floats, Ints
from sdckit.protect.synthesis.synthesis_design import Seen, Term, design_matrix, make_terms, seen
from sdckit.protect.synthesis.synthesis_draws import MOST_RATE, PosteriorDraws, posterior_draws
from sdckit.protect.synthesis.synthesis_formulas import Predicted
from sdckit.protect.synthesis.synthesis_probit import fit_probit
from sdckit.protect.synthesis.synthesis_variables import MISSING, Values, Variable

TELLS_LEVELS = ("logistic", "probit", "multinomial")
PRIOR = 0.01  # precision a priori of a standardised predictor's coefficient: only where the data are silent
ITERATIONS = 2000


@dataclass(frozen=True, eq=False)
class LinearFit:
    """A fitted regression."""

    variable: Variable
    model: str
    terms: tuple[Term, ...]
    levels: Ints  # levels of the variable that the model tells apart
    best: tuple[Floats, float]  # coefficients, shape (K, p), and the residual standard deviation
    # coefficients, shape (H, K, p), and residual standard deviations, shape (H,), from the posterior
    drawn: tuple[Floats, Floats]
    proper: bool  # whether release r is drawn with the r-th of these instead of the best
    converged: bool

    def draw(self, held: Mapping[str, Seen], n: int, rng: np.random.Generator, release: int) -> Values:
        """New values of n records from their predictors."""
        B, sd = (self.drawn[0][release], float(self.drawn[1][release])) if self.proper else self.best
        eta = design_matrix(self.terms, held, n) @ B.T
        if self.model == "normal":
            return self.variable.of_numbers(eta[:, 0] + sd * rng.standard_normal(n))
        if self.model == "poisson":
            rate = np.exp(np.minimum(eta[:, 0], MOST_RATE))
            return self.variable.of_numbers(rng.poisson(rate).astype(float))
        if self.model in {"logistic", "probit"}:
            second = rng.random(n) < (_expit if self.model == "logistic" else _normal_cdf)(eta[:, 0])
            return self.variable.of_levels(self.levels[second.astype(np.int64)])
        return self.variable.of_levels(self.levels[choose(_softmax(eta), rng)])

    def log_shares(self, eta: Floats) -> Floats:
        """Log probability of each level, shape (n, L), from the linear predictors."""
        if self.model == "multinomial":
            from scipy.special import log_softmax

            return np.asarray(log_softmax(eta, axis=1), np.float64)
        from scipy.special import log_expit, log_ndtr

        log_share = log_expit if self.model == "logistic" else log_ndtr
        return np.stack([log_share(-eta[:, 0]), log_share(eta[:, 0])], axis=1)

    def kept(self) -> PosteriorDraws:
        """The draws in their plain form."""
        texts: list[str | None] = []
        if self.model in TELLS_LEVELS:
            labels = self.variable.labels
            texts = [None if at == MISSING else labels[at] for at in self.levels]
        scale = self.drawn[1] if self.model == "normal" else None
        return posterior_draws(self.variable.name, self.model, self.terms, texts, self.drawn[0], scale)


def fit_linear(
    variable: Variable, model: str, predictors: Sequence[Variable], rows: Ints, *,
    n_draws: int, proper: bool, rng: np.random.Generator, predicted: Predicted | None = None,
    more_freedom: int = 0,
) -> LinearFit:  # fmt: skip
    """Fit a regression of one variable on others, and draw from its posterior.

    The coefficients have a normal prior with standard deviation 10 for a standardised predictor, so that
    collinear predictors and perfect separation have an answer. The posterior is the exact one of the normal
    model (given the prior on the variance 1/variance), and the normal approximation at the mode of the others.
    `more_freedom`: added to the residual degrees of freedom of a normal model, which is then one regression of a joint
    normal distribution.
    """
    terms = make_terms(predictors, rows, predicted)
    told = predicted.told_apart if predicted else frozenset[str]()
    held = {one.name: seen(one, one.held.take(rows), told=one.name in told) for one in predictors}
    X = design_matrix(terms, held, len(rows))
    level = variable.held.level[rows]
    levels = np.unique(level) if model in TELLS_LEVELS else np.zeros(0, np.int64)
    if model in {"normal", "poisson"}:
        assert variable.held.number is not None
        y = variable.held.number[rows]
    else:
        y = np.searchsorted(levels, level).astype(float)
    gauss, chi = rng.spawn(2)
    best, sd, precision, converged = FITS[model](X, y)
    normals = gauss.standard_normal((n_draws, precision.shape[0]))
    deviations = np.full(n_draws, sd)
    if model == "normal":
        freedom = max(1, len(rows) - X.shape[1] + more_freedom)
        deviations = sd * np.sqrt(freedom / chi.chisquare(freedom, n_draws))
    drawn = _around(best, precision, normals)
    if model == "normal":  # the precision is that at a variance of one
        drawn = best + (drawn - best) * deviations[:, None, None]
    return LinearFit(variable, model, terms, levels, (best, sd), (drawn, deviations), proper, converged)


def _around(best: Floats, precision: Floats, normals: Floats) -> Floats:
    """Draws of a normal distribution by its precision."""
    from scipy.linalg import cholesky, solve_triangular

    if not len(normals):
        return np.empty((0, *best.shape))
    root = cholesky(precision, lower=True)
    away = solve_triangular(root, normals.T, lower=True, trans="T").T
    return np.asarray(best + away.reshape(-1, *best.shape), np.float64)


def _penalty(p: int) -> Floats:
    return np.diag(np.r_[1e-8, np.full(p - 1, PRIOR)])


def _normal(X: Floats, y: Floats) -> tuple[Floats, float, Floats, bool]:
    from sklearn.linear_model import Ridge

    n, p = X.shape
    if n <= p:
        raise DataError(
            f"a normal model with {p} coefficients needs more records than that to be fitted to, there are {n}; "
            "name fewer predictors or use 'cart'"
        )
    if p == 1:
        best = np.array([[y.mean()]])
    else:
        found = Ridge(alpha=PRIOR, solver="cholesky").fit(X[:, 1:], y)
        best = np.r_[found.intercept_, found.coef_][None, :]
    left = y - X @ best[0]
    sd = float(np.sqrt(left @ left / (n - p)))
    return best, sd, X.T @ X + _penalty(p), True


def _logistic(X: Floats, y: Floats) -> tuple[Floats, float, Floats, bool]:
    n, p = X.shape
    if p == 1:
        share = (y.sum() + 0.5) / (n + 1)
        best, converged = np.array([[np.log(share / (1 - share))]]), True
    else:
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(C=1 / PRIOR, solver="newton-cholesky", tol=1e-8, max_iter=ITERATIONS)
        found = model.fit(X[:, 1:], y)
        best = np.c_[found.intercept_, found.coef_]
        converged = bool(found.n_iter_.max() < ITERATIONS)
    share = _expit(X @ best[0])
    return best, 1.0, (X.T * (share * (1 - share))) @ X + _penalty(p), converged


def _poisson(X: Floats, y: Floats) -> tuple[Floats, float, Floats, bool]:
    n, p = X.shape
    if p == 1:
        best, converged = np.array([[np.log(max(y.mean(), 0.5 / n))]]), True
    else:
        from sklearn.linear_model import PoissonRegressor

        model = PoissonRegressor(alpha=PRIOR / n, solver="newton-cholesky", tol=1e-8, max_iter=ITERATIONS)
        found = model.fit(X[:, 1:], y)
        best = np.r_[found.intercept_, found.coef_][None, :]
        converged = bool(found.n_iter_ < ITERATIONS)
    rate = np.exp(np.minimum(X @ best[0], MOST_RATE))
    return best, 1.0, (X.T * rate) @ X + _penalty(p), converged


def _multinomial(X: Floats, y: Floats) -> tuple[Floats, float, Floats, bool]:
    n, p = X.shape
    K = int(y.max()) + 1
    if p == 1:
        best, converged = np.log(np.bincount(y.astype(np.int64), minlength=K) / n)[:, None], True
        best = best - best.mean()
    elif K == 2:  # scikit-learn fits two levels by one set of coefficients: half to each is the same
        one, _, _, converged = _logistic(X, y)
        best = np.r_[-one / 2, one / 2]
    else:
        from sklearn.linear_model import LogisticRegression

        found = LogisticRegression(C=1 / PRIOR, tol=1e-6, max_iter=ITERATIONS).fit(X[:, 1:], y)
        best = np.c_[found.intercept_, found.coef_]
        converged = bool(found.n_iter_.max() < ITERATIONS)
    share = _softmax(X @ best.T)
    precision = np.kron(np.eye(K), np.diag(np.full(p, PRIOR)))
    for a in range(K):
        for b in range(a + 1):
            weight = share[:, a] * ((a == b) - share[:, b])
            block = (X.T * weight) @ X
            precision[a * p : (a + 1) * p, b * p : (b + 1) * p] += block
            if a != b:
                precision[b * p : (b + 1) * p, a * p : (a + 1) * p] += block.T
    return np.asarray(best, np.float64), 1.0, np.asarray(precision, np.float64), converged


def _probit(X: Floats, y: Floats) -> tuple[Floats, float, Floats, bool]:
    best, precision, converged = fit_probit(X, y, _penalty(X.shape[1]))
    return best[None, :], 1.0, precision, converged


FITS: dict[str, Callable[[Floats, Floats], tuple[Floats, float, Floats, bool]]] = {
    "normal": _normal, "logistic": _logistic, "probit": _probit, "multinomial": _multinomial, "poisson": _poisson,
}  # fmt: skip


def choose(share: Floats, rng: np.random.Generator) -> Ints:
    """Draw a column for each row, with the row's probabilities.

    >>> choose(np.array([[0.0, 1.0], [1.0, 0.0]]), np.random.default_rng(0)).tolist()
    [1, 0]
    """
    running = np.cumsum(share, axis=1)
    mark = rng.random(len(share)) * running[:, -1]
    found: Any = (running <= mark[:, None]).sum(axis=1)
    return np.asarray(np.minimum(found, share.shape[1] - 1), np.int64)


def _normal_cdf(eta: Floats) -> Floats:
    from scipy.special import ndtr

    return np.asarray(ndtr(eta), np.float64)


def _expit(eta: Floats) -> Floats:
    from scipy.special import expit

    return np.asarray(expit(eta), np.float64)


def _softmax(eta: Floats) -> Floats:
    from scipy.special import softmax

    return np.asarray(softmax(eta, axis=1), np.float64)
