"""Synthesis by regression: normal, logistic, probit, multinomial and Poisson, with draws from their posterior."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdckit.data import columns, frames, nearest, special
from sdckit.errors import ColumnError, DataError, sure
from sdckit.numerics.array_types import Bools, Floats, Ints
from sdckit.protect.synthesis import synthesis_design
from sdckit.protect.synthesis.synthesis_design import seen
from sdckit.protect.synthesis.synthesis_variables import MISSING, Values, Variable, number_label, read_variable

# Posterior draws of a synthesis model, kept for measures of risk that need them.


REGRESSIONS = ("normal", "logistic", "probit", "multinomial", "poisson", "multivariate_normal")
CELLS = "dirichlet_multinomial"
MOST_RATE = 30.0  # log of the largest mean of counts
MOST_EXPONENT = 700.0  # beyond it exp is 0 or infinite


class PosteriorDraws(Mapping[str, Any]):
    """Parameters of one column's model, drawn H times from their posterior.

    It reads as a mapping of plain numbers, texts and lists, so that an internal log can hold it;
    ``PosteriorDraws(mapping)`` makes it again from there.

    Attributes
    ----------
    column, model : str
        What is modelled, and by which of "normal", "logistic", "probit", "multinomial", "poisson" and
        "dirichlet_multinomial".
    terms : list of dict
        Columns of the design after the intercept: ``column``, ``kind``, ``level``, ``centre``, ``scale``.
    levels : list of str or None
        Of categories: their levels (None: missing). A logistic or probit model speaks of the second.
    coefficients : list, shape (H, K, p)
        p the intercept and the terms; K = 1, or the number of levels of a multinomial model. Of a
        Dirichlet-multinomial model the shares of the levels (p) in each cell (K), the last one for cells
        without records.
    scale : list of float, shape (H,), or None
        Residual standard deviation of a normal model.
    cells : dict of str to list
        Of a Dirichlet-multinomial model only: by predictor its level in each cell.
    missing : mapping or None
        The same for the model of being missing, where that was modelled first.
    transform : str
        "log" where a normal model is of the logarithms of the values; else left out.
    used : int
        How many of the first draws the files were drawn with, 0 unless `proper`; may be left out.

    Examples
    --------
    >>> import polars as pl
    >>> coin = PosteriorDraws({
    ...     "column": "y", "model": "logistic", "terms": [], "levels": ["no", "yes"],
    ...     "coefficients": [[[0.0]]], "scale": None, "missing": None,
    ... })
    >>> np.exp(coin.log_density(pl.DataFrame({"y": ["yes", "no"]}))).tolist()
    [[0.5, 0.5]]
    """

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = dict(fields)

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __repr__(self) -> str:
        return f"PosteriorDraws({self['column']!r}, {self['model']!r}, {len(self['coefficients'])} draws)"

    def log_density(self, data: Any) -> Floats:
        """Log density of what each record holds in the column, given its predictors, under each draw.

        Parameters
        ----------
        data : data frame
            The column and its predictors, typed as in the data that was synthesised: the original, a release,
            or an intruder's guesses.

        Returns
        -------
        ndarray, float64, shape (H, n)
            A density for numbers of a normal model, else a probability; minus infinity for what the model cannot
            give: a level unknown, a missing value where none was, no count of a Poisson model.
        """
        frame: Any = frames.open_frame(data)
        if self["model"] == CELLS:
            with np.errstate(divide="ignore"):
                return self._of_levels(np.log(self._shares(frame)), frame[self["column"]])
        log_density = self._density(self._linear(frame), frame[self["column"]])
        if self["missing"] is None:
            return log_density
        gone = columns.code_column(frame[self["column"]])
        is_gone = gone.codes() == gone.span
        share = PosteriorDraws(self["missing"])._of_event(frame, is_gone)
        return np.where(is_gone, share, share + log_density)

    def predictive(self, data: Any) -> dict[str, Any]:
        """The distribution of each record's value under each draw, as `bayesian_attribute_risk` takes it.

        Parameters
        ----------
        data : data frame
            The predictors, typed as in the data that was synthesised: those of the original.

        Returns
        -------
        dict of str to ndarray
            ``mean`` (H, n) and ``sd`` (H,) of a normal model, ``rate`` (H, n) of counts, and with these, where the
            column may be missing, ``missing`` (H, n), the probability of that. Of categories ``probability``
            (H, n, L) and ``levels``, a list, in which None, the last, is being missing.

        Raises
        ------
        DataError
            No draws but those that the files were drawn with; a model on the log scale.

        Notes
        -----
        The draws that files were drawn with are left out: they fit these files better than an intruder's would.

        Examples
        --------
        >>> import polars as pl
        >>> odds = {"column": "y", "model": "logistic", "terms": [], "levels": ["present", "missing"],
        ...         "coefficients": [[[0.0]]], "scale": None, "missing": None}
        >>> kids = PosteriorDraws({**odds, "model": "poisson", "levels": [], "missing": odds})
        >>> found = kids.predictive(pl.DataFrame({"y": [2, None]}))
        >>> found["rate"].tolist(), found["missing"].tolist()
        ([[1.0, 1.0]], [[0.5, 0.5]])
        """
        used = int(self.get("used", 0))
        if used >= len(self["coefficients"]):
            raise DataError(
                f"column {self['column']!r}: the draws kept are those that files were drawn with; give synthesize a "
                "larger posterior_draws"
            )
        if "transform" in self:
            raise DataError(
                f"column {self['column']!r} is modelled on the log scale, of which no distributions are given; take "
                "log_density(data)"
            )
        frame: Any = frames.open_frame(data)
        if self["model"] == CELLS:
            return self._by_level(self._shares(frame)[used:])
        eta = self._linear(frame)[used:]
        event = self["missing"]
        gone = None if event is None else np.exp(PosteriorDraws(event)._of_event(frame, True)[used:])
        if self["model"] == "normal":
            distribution: dict[str, Any] = {"mean": eta[:, 0], "sd": np.asarray(self["scale"], float)[used:]}
        elif self["model"] == "poisson":
            distribution = {"rate": np.exp(np.clip(eta[:, 0], -MOST_EXPONENT, MOST_RATE))}
        else:
            distribution = self._by_level(np.moveaxis(np.exp(self._log_shares(eta)), 1, 2))
        return distribution if gone is None else {**distribution, "missing": gone}

    def _by_level(self, share: Floats) -> dict[str, Any]:
        """Probabilities by level, shape (H, n, L), that of being missing last."""
        levels: list[str | None] = list(self["levels"])
        order = sorted(range(len(levels)), key=lambda at: levels[at] is None)
        return {"probability": share[:, :, order], "levels": [levels[at] for at in order]}

    def _log_shares(self, eta: Floats) -> Floats:
        """Log probability of each level, shape (H, L, n), from the linear predictors."""
        if self["model"] == "logistic":
            return np.stack([-np.logaddexp(0.0, eta[:, 0]), -np.logaddexp(0.0, -eta[:, 0])], axis=1)
        if self["model"] == "probit":
            return np.stack([special.log_ndtr(-eta[:, 0]), special.log_ndtr(eta[:, 0])], axis=1)
        return np.asarray(eta - np.logaddexp.reduce(eta, axis=1)[:, None], np.float64)

    def _shares(self, frame: Any) -> Floats:
        """Of a Dirichlet-multinomial model the share of each level for each record, shape (H, n, L)."""
        shares = np.asarray(self["coefficients"], float)
        cells: Mapping[str, list[str | None]] = self["cells"]
        n_cells = shares.shape[1] - 1
        where = {row: at for at, row in enumerate(zip(*cells.values(), strict=True))} if cells else {(): 0}
        held = [_texts(frame[name]) for name in cells]
        rows = list(zip(*held, strict=True)) if cells else [()] * len(frame)
        return np.asarray(shares[:, [where.get(row, n_cells) for row in rows]], np.float64)

    def _linear(self, frame: Any) -> Floats:
        """Linear predictors, shape (H, K, n)."""
        terms = [synthesis_design.term_of(term) for term in self["terms"]]
        predictors = {
            name: _read(
                frame[name],
                number=any(term.needs_number(name) for term in terms),
                labels=any(term.needs_labels(name) for term in terms),
            )
            for name in dict.fromkeys(name for term in terms for name in term.reads)
        }
        X = synthesis_design.design_matrix(terms, predictors, len(frame))
        coefficients = np.asarray(self["coefficients"], float)
        h, k, p = coefficients.shape
        return (coefficients.reshape(h * k, p) @ X.T).reshape(h, k, len(frame))

    def _of_event(self, frame: Any, event: Bools | bool) -> Floats:
        """Log probability that an event, being missing, did or did not happen."""
        eta = self._linear(frame)[:, 0]
        return np.asarray(-np.logaddexp(0.0, np.where(event, -eta, eta)), np.float64)

    def _density(self, eta: Floats, series: Any) -> Floats:
        if self["model"] in {"normal", "poisson"}:
            values = columns.float_values(series, "column")
            if "transform" in self:
                logs = np.log(values, out=np.full(len(values), np.nan), where=values > 0)
                return self._normal(eta, logs) - np.where(np.isnan(logs), 0.0, logs)  # the density of the values
            if self["model"] == "normal":
                return self._normal(eta, values)
            counts = (values >= 0) & (values == np.floor(values))
            held, rate = np.where(counts, values, 0.0), np.minimum(eta[:, 0], MOST_RATE)
            return np.where(counts, held * rate - np.exp(rate) - special.gammaln(held + 1), -np.inf)
        return self._of_levels(np.moveaxis(self._log_shares(eta), 1, 2), series)

    def _normal(self, eta: Floats, values: Floats) -> Floats:
        sd = np.asarray(self["scale"], float)[:, None]
        log_density = -0.5 * ((values - eta[:, 0]) / sd) ** 2 - np.log(sd * np.sqrt(2 * np.pi))
        return np.where(np.isnan(values), -np.inf, log_density)

    def _of_levels(self, log_shares: Floats, series: Any) -> Floats:
        """The log probability of what each record holds, from those of all levels, shape (H, n, L)."""
        seen = _read(series, number=False)
        place = {text: at for at, text in enumerate(seen.labels)}
        log_probability = np.full(log_shares.shape[:2], -np.inf)
        for at, text in enumerate(self["levels"]):
            here = seen.values.level == (MISSING if text is None else place.get(text, -9))
            log_probability[:, here] = log_shares[:, here, at]
        return log_probability


class DrawsByColumn(dict[str, PosteriorDraws]):
    """The draws of each column that has some; asked for another, it says why there are none.

    Attributes
    ----------
    models : dict of str to str
        The model of every column that was synthesised.
    kept : bool
        Whether draws were to be kept at all.

    Examples
    --------
    >>> DrawsByColumn({}, {"job": "cart"})["job"]  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    sdckit.errors.DataError: column 'job' was synthesised by 'cart', which has no posterior draws; ...
    """

    def __init__(self, draws: Mapping[str, PosteriorDraws], models: Mapping[str, str], kept: bool = True) -> None:
        super().__init__(draws)
        self.models = dict(models)
        self.kept = kept

    def __missing__(self, name: str) -> PosteriorDraws:
        if name not in self.models:
            hint = nearest.did_you_mean(str(name), list(self.models))
            raise ColumnError(f"no column {name!r} was synthesised; {hint}")
        if not self.kept:
            raise DataError(f"column {name!r}: posterior_draws=0 kept no draws; give how many to keep")
        if (model := self.models[name]) in {*REGRESSIONS, CELLS}:
            if model == CELLS:
                raise DataError(f"column {name!r} has too many cells for its draws to be kept; ask for fewer draws")
            raise DataError(
                f"column {name!r} has no posterior draws: no record is flagged, or those fitted to hold one value"
            )
        raise DataError(
            f"column {name!r} was synthesised by {model!r}, which has no posterior draws; models= with "
            f"{', '.join(map(repr, (*REGRESSIONS, CELLS)))} keep them"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return DrawsByColumn, (dict(self), self.models, self.kept)


def posterior_draws(
    column: str, model: str, terms: tuple[synthesis_design.Term, ...], levels: list[str | None],
    coefficients: Floats, scale: Floats | None,
) -> PosteriorDraws:  # fmt: skip
    """Posterior draws of one model as plain numbers, texts and lists.

    >>> posterior_draws("y", "normal", (), [], np.zeros((2, 1, 1)), np.ones(2))
    PosteriorDraws('y', 'normal', 2 draws)
    """
    return PosteriorDraws({
        "column": column, "model": model, "levels": levels,
        "terms": [synthesis_design.term_fields(term) for term in terms],
        "coefficients": coefficients.tolist(), "scale": None if scale is None else scale.tolist(), "missing": None,
    })  # fmt: skip


def _texts(series: Any) -> list[str | None]:
    """The values of a column as text; None where missing."""
    column = _read(series, number=False)
    return [None if level < 0 else column.labels[level] for level in column.values.level.tolist()]


def _read(series: Any, *, number: bool, labels: bool = True) -> synthesis_design.Seen:
    coded = columns.code_column(series)
    codes, level = np.unique(coded.codes(), return_inverse=True)
    known = codes < coded.span
    level = np.where(known[level], level, MISSING).reshape(-1)
    numbers = None
    if number:
        if coded.kind == "date":
            variable = read_variable(series)
            return synthesis_design.Seen(variable.held, variable.labels if labels else ())
        numbers = columns.float_values(series, "column")
    texts: Sequence[str] = coded.labels(codes[known]) if labels else ()
    if coded.kind in {"integer", "number"}:
        texts = [number_label(float(text)) for text in texts]
    return synthesis_design.Seen(Values(level, numbers), texts)


# Probit regression with a normal prior on its coefficients, by Fisher scoring.


STEPS = 100
NEAR = 1e-9


def fit_probit(X: Floats, y: Floats, penalty: Floats) -> tuple[Floats, Floats, bool]:
    """Posterior mode, information matrix there (the precision), and whether the iterations converged.

    `X`: shape (n, p). `y`: 0 or 1. `penalty`: precision a priori, shape (p, p).

    >>> best, precision, converged = fit_probit(np.ones((4, 1)), np.array([0.0, 0, 1, 1]), np.zeros((1, 1)))
    >>> best.round(6).tolist(), precision.round(4).tolist(), converged
    ([0.0], [[2.5465]], True)
    """
    best = np.zeros(X.shape[1])
    value = _log_posterior(X, y, penalty, best)
    for _ in range(STEPS):
        slope, information = _derivatives(X, y, penalty, best)
        step = np.linalg.solve(information, slope)
        reach = float(np.sqrt(step @ slope))
        while (new := _log_posterior(X, y, penalty, best + step)) < value and reach > NEAR:
            step, reach = step / 2, reach / 2
        best, value = best + step, new
        if reach < NEAR:
            return best, _derivatives(X, y, penalty, best)[1], True
    return best, _derivatives(X, y, penalty, best)[1], False


def _log_posterior(X: Floats, y: Floats, penalty: Floats, at: Floats) -> float:
    return float(special.log_ndtr((2 * y - 1) * (X @ at)).sum() - 0.5 * at @ penalty @ at)


def _derivatives(X: Floats, y: Floats, penalty: Floats, at: Floats) -> tuple[Floats, Floats]:
    """Gradient of the log posterior, and the expected information matrix."""
    side = 2 * y - 1
    eta = side * (X @ at)
    density = -0.5 * eta**2 - 0.5 * np.log(2 * np.pi)
    pull = np.exp(density - special.log_ndtr(eta))
    weight = np.exp(2 * density - special.log_ndtr(eta) - special.log_ndtr(-eta))
    return X.T @ (side * pull) - penalty @ at, (X.T * weight) @ X + penalty


CATEGORICAL = ("logistic", "probit", "multinomial")
PRIOR = 0.01  # precision a priori of a standardised predictor's coefficient: only where the data are silent
ITERATIONS = 2000


@dataclass(frozen=True, eq=False)
class LinearFit:
    """A fitted regression."""

    variable: Variable
    model: str
    terms: tuple[synthesis_design.Term, ...]
    levels: Ints  # levels of the variable that the model distinguishes
    best: tuple[Floats, float]  # coefficients, shape (K, p), and the residual standard deviation
    # coefficients, shape (H, K, p), and residual standard deviations, shape (H,), from the posterior
    drawn: tuple[Floats, Floats]
    proper: bool  # whether release r is drawn with the r-th of these instead of the best
    converged: bool

    def parameters(self, release: int) -> tuple[Floats, float]:
        """Coefficients and residual standard deviation with which a release is drawn."""
        return (self.drawn[0][release], float(self.drawn[1][release])) if self.proper else self.best

    def draw(self, held: Mapping[str, synthesis_design.Seen], n: int, rng: np.random.Generator, release: int) -> Values:
        """New values of n records from their predictors."""
        B, sd = self.parameters(release)
        eta = synthesis_design.design_matrix(self.terms, held, n) @ B.T
        if self.model == "normal":
            return self.variable.of_numbers(eta[:, 0] + sd * rng.standard_normal(n))
        if self.model == "poisson":
            rate = np.exp(np.minimum(eta[:, 0], MOST_RATE))
            return self.variable.of_numbers(rng.poisson(rate).astype(float))
        if self.model in {"logistic", "probit"}:
            second = rng.random(n) < (special.expit if self.model == "logistic" else special.ndtr)(eta[:, 0])
            return self.variable.of_levels(self.levels[second.astype(np.int64)])
        return self.variable.of_levels(self.levels[choose(special.softmax(eta, axis=1), rng)])

    def log_shares(self, eta: Floats) -> Floats:
        """Log probability of each level, shape (n, L), from the linear predictors."""
        if self.model == "multinomial":
            return np.asarray(special.log_softmax(eta, axis=1), np.float64)
        log_share = special.log_expit if self.model == "logistic" else special.log_ndtr
        return np.stack([log_share(-eta[:, 0]), log_share(eta[:, 0])], axis=1)

    def kept(self) -> PosteriorDraws:
        """The posterior draws as plain numbers, texts and lists."""
        texts: list[str | None] = []
        if self.model in CATEGORICAL:
            labels = self.variable.labels
            texts = [None if at == MISSING else labels[at] for at in self.levels]
        scale = self.drawn[1] if self.model == "normal" else None
        return posterior_draws(self.variable.name, self.model, self.terms, texts, self.drawn[0], scale)


def fit_linear(
    variable: Variable, model: str, predictors: Sequence[Variable], rows: Ints, *,
    n_draws: int, proper: bool, rng: np.random.Generator, predicted: synthesis_design.Predicted | None = None,
    more_freedom: int = 0,
) -> LinearFit:  # fmt: skip
    """Fit a regression of one variable on others, and draw from its posterior distribution.

    The coefficients have a normal prior with standard deviation 10 for a standardised predictor, so that
    collinear predictors and perfect separation have an answer. The posterior is the exact one of the normal
    model (given the prior on the variance 1/variance), and the normal approximation at the mode of the others.
    `more_freedom`: added to the residual degrees of freedom of a normal model, which is then one regression of a joint
    normal distribution.
    """
    terms = synthesis_design.make_terms(predictors, rows, predicted)
    categorical = predicted.categorical if predicted else frozenset[str]()
    held = {
        predictor.name: seen(predictor, predictor.held.take(rows), categorical=predictor.name in categorical)
        for predictor in predictors
    }
    X = synthesis_design.design_matrix(terms, held, len(rows))
    level = variable.held.level[rows]
    levels = np.unique(level) if model in CATEGORICAL else np.zeros(0, np.int64)
    of_levels = model not in {"normal", "poisson"}
    y = np.searchsorted(levels, level).astype(float) if of_levels else sure(variable.held.number)[rows]
    gauss, chi = rng.spawn(2)
    best, sd, precision, converged = FITS[model](X, y)
    normals = gauss.standard_normal((n_draws, precision.shape[0]))
    deviations, drawn = np.full(n_draws, sd), _around(best, precision, normals)
    if model == "normal":  # the precision is that at a variance of one
        freedom = max(1, len(rows) - X.shape[1] + more_freedom)
        deviations = sd * np.sqrt(freedom / chi.chisquare(freedom, n_draws))
        drawn = best + (drawn - best) * deviations[:, None, None]
    return LinearFit(variable, model, terms, levels, (best, sd), (drawn, deviations), proper, converged)


def _around(best: Floats, precision: Floats, normals: Floats) -> Floats:
    """Draws from a normal distribution with a given mean and precision matrix."""
    from scipy.linalg import cholesky, solve_triangular

    if not len(normals):
        return np.empty((0, *best.shape))
    away = solve_triangular(cholesky(precision, lower=True), normals.T, lower=True, trans="T").T
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
        fitted = Ridge(alpha=PRIOR, solver="cholesky").fit(X[:, 1:], y)
        best = np.r_[fitted.intercept_, fitted.coef_][None, :]
    left = y - X @ best[0]
    return best, float(np.sqrt(left @ left / (n - p))), X.T @ X + _penalty(p), True


def _logistic(X: Floats, y: Floats) -> tuple[Floats, float, Floats, bool]:
    n, p = X.shape
    if p == 1:
        share = (y.sum() + 0.5) / (n + 1)
        best, converged = np.array([[np.log(share / (1 - share))]]), True
    else:
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(C=1 / PRIOR, solver="newton-cholesky", tol=1e-8, max_iter=ITERATIONS)
        fitted = model.fit(X[:, 1:], y)
        best = np.c_[fitted.intercept_, fitted.coef_]
        converged = bool(fitted.n_iter_.max() < ITERATIONS)
    share = special.expit(X @ best[0])
    return best, 1.0, (X.T * (share * (1 - share))) @ X + _penalty(p), converged


def _poisson(X: Floats, y: Floats) -> tuple[Floats, float, Floats, bool]:
    n, p = X.shape
    if p == 1:
        best, converged = np.array([[np.log(max(y.mean(), 0.5 / n))]]), True
    else:
        from sklearn.linear_model import PoissonRegressor

        model = PoissonRegressor(alpha=PRIOR / n, solver="newton-cholesky", tol=1e-8, max_iter=ITERATIONS)
        fitted = model.fit(X[:, 1:], y)
        best = np.r_[fitted.intercept_, fitted.coef_][None, :]
        converged = bool(fitted.n_iter_ < ITERATIONS)
    rate = np.exp(np.minimum(X @ best[0], MOST_RATE))
    return best, 1.0, (X.T * rate) @ X + _penalty(p), converged


def _multinomial(X: Floats, y: Floats) -> tuple[Floats, float, Floats, bool]:
    n, p = X.shape
    K = int(y.max()) + 1
    if p == 1:
        best, converged = np.log(np.bincount(y.astype(np.int64), minlength=K) / n)[:, None], True
        best = best - best.mean()
    elif K == 2:  # scikit-learn fits two levels by one set of coefficients: half to each is the same
        coefficients, _, _, converged = _logistic(X, y)
        best = np.r_[-coefficients / 2, coefficients / 2]
    else:
        from sklearn.linear_model import LogisticRegression

        fitted = LogisticRegression(C=1 / PRIOR, tol=1e-6, max_iter=ITERATIONS).fit(X[:, 1:], y)
        best = np.c_[fitted.intercept_, fitted.coef_]
        converged = bool(fitted.n_iter_.max() < ITERATIONS)
    share = special.softmax(X @ best.T, axis=1)
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
    column: Any = (running <= mark[:, None]).sum(axis=1)
    return np.asarray(np.minimum(column, share.shape[1] - 1), np.int64)
