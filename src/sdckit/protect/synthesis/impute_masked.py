"""E8: replace values by draws of the true ones, given masked copies of them and all other variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdckit.data import arguments, columns, nearest, replace, seeds
from sdckit.errors import ColumnError, DataError, sure
from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.threads import run
from sdckit.protect.change import Change, Protected
from sdckit.protect.synthesis import synthesis_design as design, synthesis_models
from sdckit.protect.synthesis.synthesis_design import Predicted, Seen, Term
from sdckit.protect.synthesis.synthesis_linear import LinearFit, choose, fit_linear
from sdckit.protect.synthesis.synthesis_variables import MISSING, Values, Variable, read_variable, written

# Masking models: noise of numbers, confusion matrices of categories.


@dataclass(frozen=True, eq=False)
class MaskedVariable:
    """A variable, its masked copy, and the model of the masking."""

    variable: Variable
    copy: str
    number: Floats | None  # shape (n,); the masked numbers
    sd: float  # of the noise of numbers
    level: Ints | None  # shape (n,); the masked levels, among those of the variable
    log_confusion: Floats | None  # shape (L, L); log probability of each masked level (columns) given the true one

    @property
    def name(self) -> str:
        """The variable."""
        return self.variable.name


def read_masked(
    variables: Mapping[str, Variable], copies: Mapping[str, str], errors: Mapping[str, Any]
) -> list[MaskedVariable]:
    """Read masked copies and the models of their masking.

    Raises `ColumnError`: errors for other variables than those masked; `DataError`: an error of 0, or above the
    variable's spread; a matrix that holds no probabilities, or by which the copy could not be; a copy of another kind,
    or missing elsewhere.
    """
    if set(copies) != set(errors):
        odd = sorted(set(copies) ^ set(errors))[0]
        says = f"error= says for exactly the variables of masked= how they were masked; {odd!r} is in one of them only"
        raise ColumnError(says, argument="error")
    return [_read(variables[name], variables[copy], errors[name]) for name, copy in copies.items()]


def _read(variable: Variable, copy: Variable, error: Any) -> MaskedVariable:
    gone, name = variable.held.level == MISSING, variable.name
    if not np.array_equal(gone, copy.held.level == MISSING):
        says = f"masked: {copy.name!r} is missing elsewhere than {name!r}; mask after missing values are settled"
        raise DataError(says, argument="masked")
    if variable.kind not in {"number", "category"} or copy.kind != variable.kind:
        kinds = f"{variable.name!r} is a {variable.kind} and {copy.name!r} a {copy.kind}"
        raise DataError(f"masked: {kinds}; give two numbers or two categories", argument="masked")
    if variable.held.number is not None:
        sd = arguments.amount_above(error, "error", f"is the standard deviation of the noise in {copy.name!r}")
        if not sd <= float(np.nanstd(variable.held.number, ddof=1)):
            says = (
                f"error of {variable.name!r}: noise of {sd:g} is wider than the variable itself; give its standard "
                "deviation in the variable's units"
            )
            raise DataError(says, argument="error")
        return MaskedVariable(variable, copy.name, sure(copy.held.number), sd, None, None)
    matrix = _confusion(variable, error)
    level = _levels_in(variable, copy)
    if never := int((matrix[variable.held.level, level] == 0)[~gone].sum()):
        says = f"error of {name!r}: by it {never:,} of its records could not hold what {copy.name!r} holds there"
        raise DataError(f"{says}; give the probabilities of the masking that was done", argument="error")
    with np.errstate(divide="ignore"):
        return MaskedVariable(variable, copy.name, None, 0.0, level, np.log(matrix))


def _levels_in(variable: Variable, copy: Variable) -> Ints:
    """The masked levels as those of the variable."""
    place = {text: at for at, text in enumerate(variable.texts)}
    if any(text not in place for text in copy.texts):
        says = f"masked: {copy.name!r} holds a category that {variable.name!r} does not have"
        raise DataError(says, argument="masked")
    table = np.array([*(place[text] for text in copy.texts), MISSING], np.int64)
    return np.asarray(table[copy.held.level], np.int64)


def _confusion(variable: Variable, error: Any) -> Floats:
    """Probability of each masked level (columns) given the true one (rows)."""
    size, texts = variable.n_levels, variable.texts
    if columns.is_number(error):
        stay = arguments.within(error, "error", f"is the probability that {variable.name!r} stays", 0, 1, "()")
        return np.full((size, size), (1 - stay) / (size - 1)) + np.eye(size) * (stay - (1 - stay) / (size - 1))
    how = f"error of {variable.name!r}: give the probability of staying, or of each masked category by the true one"
    if isinstance(error, Mapping):
        if set(error) - set(texts) or any(not isinstance(row, Mapping) for row in error.values()):
            raise DataError(how, argument="error")
        rows: Sequence[Any] = [[error.get(true, {}).get(text, 0.0) for text in texts] for true in texts]
    else:
        rows = error
    try:
        matrix = np.asarray(rows, np.float64)
    except (TypeError, ValueError):
        raise DataError(how, argument="error") from None
    if matrix.shape != (size, size) or not (matrix >= 0).all() or np.abs(matrix.sum(axis=1) - 1).max() > 1e-6:
        says = f"{how}; {size} rows of {size} that sum to 1, in the order of its categories"
        raise DataError(says, argument="error")
    if np.array_equal(matrix, np.eye(size)):
        says = f"error of {variable.name!r}: nothing is masked, there is nothing to draw; leave it out"
        raise DataError(says, argument="error")
    return matrix


# Data augmentation: true values drawn in turn, given their masked copies and all other variables.


@dataclass(frozen=True, eq=False)
class Chain:
    """Final state and trace of a Markov chain."""

    values: dict[str, Values]
    trace: dict[str, Floats]  # mean of numbers, or share of the first level, after each iteration
    accepted: dict[str, float]  # acceptance rate of the moves of numbers


def is_affine(terms: Sequence[Term], column: str) -> bool:
    """Whether a design is affine in a number given all else: its full conditional distribution is then normal."""
    for term in terms:
        if term.kind == "product":
            using = [factor for factor in term.factors if column in factor.reads]
            if len(using) > 1 or not is_affine(using, column):
                return False
        elif column in term.reads and term.kind not in {"number", "missing"}:
            return False
    return True


class _State:
    """The current values of a chain, and the linear predictors and likelihoods derived from them."""

    def __init__(self, fits: Mapping[str, LinearFit], held: dict[str, Seen], of_chain: int, n: int) -> None:
        self.fits, self.held, self.n = fits, held, n
        self.parameters = {name: fit.parameters(of_chain) for name, fit in fits.items()}
        self.moving: dict[str, tuple[list[Term], Floats]] = {}
        self.still: dict[str, Floats] = {}
        for name, fit in fits.items():  # terms without a masked variable are constant
            B = self.parameters[name][0]
            moves = np.array([bool(set(fits) & set(term.reads)) for term in fit.terms], np.bool_)
            at = np.flatnonzero(moves)
            self.moving[name] = ([fit.terms[place] for place in at], B[:, at + 1].T)
            rest = np.flatnonzero(~moves)
            kept = design.design_matrix([fit.terms[place] for place in rest], held, n)
            self.still[name] = np.asarray(kept @ B[:, np.r_[0, rest + 1]].T, np.float64)
        self.children = {
            name: [other for other, fit in fits.items() if any(name in term.reads for term in fit.terms)]
            for name in fits
        }

    def eta(self, name: str) -> Floats:
        """Linear predictors of a variable's own model, shape (n, K)."""
        terms, B = self.moving[name]
        if not terms:
            return self.still[name]
        return np.asarray(self.still[name] + design.design_matrix(terms, self.held, self.n)[:, 1:] @ B, np.float64)

    def log_likelihood(self, name: str) -> Floats:
        """Log-likelihood of each record in a variable given its predictors; 0 where it is missing."""
        fit, eta, values = self.fits[name], self.eta(name), self.held[name].values
        if fit.model == "normal":
            log_density = -0.5 * ((sure(values.number) - eta[:, 0]) / self.parameters[name][1]) ** 2
            return np.where(np.isnan(log_density), 0.0, log_density)
        shares = fit.log_shares(eta)
        at = np.searchsorted(fit.levels, np.maximum(values.level, 0))
        return np.where(values.level == MISSING, 0.0, shares[np.arange(self.n), at])

    def set_number(self, name: str, number: Floats) -> None:
        self.held[name] = Seen(Values(self.held[name].values.level, number), self.held[name].labels)

    def set_level(self, name: str, level: Ints) -> None:
        self.held[name] = Seen(Values(level, None), self.held[name].labels)


def run_chain(
    masked: Sequence[MaskedVariable], fits: Mapping[str, LinearFit], others: Mapping[str, Seen],
    iterations: int, of_chain: int, rng: np.random.Generator,
) -> Chain:  # fmt: skip
    """Draw the true values of all masked variables in turn, for some iterations, starting at the masked ones.

    `fits`: the model of each masked variable given those before it and the others.
    """
    held = {**others, **{target.name: _start(target) for target in masked}}
    state = _State(fits, held, of_chain, len(masked[0].variable.held.level))
    trace = {target.name: np.empty(iterations) for target in masked}
    moves = {target.name: 0.0 for target in masked if target.number is not None}
    for step in range(iterations):
        for target in masked:
            if target.number is not None:
                moves[target.name] += _draw_numbers(target, state, rng) / iterations
                trace[target.name][step] = np.nanmean(sure(state.held[target.name].values.number))
            else:
                _draw_levels(target, state, rng)
                level = state.held[target.name].values.level
                trace[target.name][step] = np.mean(level[level >= 0] == 0)
    return Chain({target.name: state.held[target.name].values for target in masked}, trace, moves)


def _start(target: MaskedVariable) -> Seen:
    if target.level is not None:
        return Seen(Values(target.level, None), target.variable.texts)
    return Seen(Values(target.variable.held.level, target.number), ())


def _draw_numbers(target: MaskedVariable, state: _State, rng: np.random.Generator) -> float:
    """Draw a number from its normal full conditional; other models enter by a Metropolis step.

    A normal model that is linear in the number contributes to the precision and the mean of the proposal. Returns the
    acceptance rate.
    """
    now = sure(state.held[target.name].values.number)
    sd = state.parameters[target.name][1]
    precision = np.full(state.n, 1 / sd**2 + 1 / target.sd**2)
    pull = state.eta(target.name)[:, 0] / sd**2 + sure(target.number) / target.sd**2
    rest: list[str] = []
    for name in state.children[target.name]:
        if state.fits[name].model != "normal" or not is_affine(state.fits[name].terms, target.name):
            rest.append(name)
            continue
        slope, away, spread = _line(target.name, name, now, state)
        precision += (slope / spread) ** 2
        pull += slope * away / spread**2
    drawn = pull / precision + rng.standard_normal(state.n) / np.sqrt(precision)
    if not rest:
        state.set_number(target.name, drawn)
        return 1.0
    before = sum((state.log_likelihood(name) for name in rest), np.zeros(state.n))
    state.set_number(target.name, drawn)
    after = sum((state.log_likelihood(name) for name in rest), np.zeros(state.n))
    taken = np.log(rng.random(state.n)) < after - before
    state.set_number(target.name, np.where(taken, drawn, now))
    here = ~np.isnan(now)
    return float(taken[here].mean()) if here.any() else 1.0


def _line(column: str, name: str, now: Floats, state: _State) -> tuple[Floats, Floats, float]:
    """Slope of the mean of a model in a number, residuals without that number, and their standard deviation."""
    outcome = sure(state.held[name].values.number)
    here = state.eta(name)[:, 0]
    state.set_number(column, now + 1.0)
    slope = state.eta(name)[:, 0] - here
    state.set_number(column, now)
    away = outcome - (here - slope * now)
    silent = np.isnan(away)
    return np.where(silent, 0.0, slope), np.where(silent, 0.0, away), state.parameters[name][1]


def _draw_levels(target: MaskedVariable, state: _State, rng: np.random.Generator) -> None:
    """Draw the level of each record from its full conditional distribution."""
    fit, now, log_confusion = state.fits[target.name], sure(target.level), sure(target.log_confusion)
    shares = fit.log_shares(state.eta(target.name))
    score = np.full((state.n, len(fit.levels)), -np.inf)
    for at, level in enumerate(fit.levels.tolist()):
        state.set_level(target.name, np.where(now == MISSING, MISSING, level))
        score[:, at] = shares[:, at] + log_confusion[level, np.maximum(now, 0)]
        for name in state.children[target.name]:
            score[:, at] += state.log_likelihood(name)
    score -= score.max(axis=1, keepdims=True)
    drawn = fit.levels[choose(np.exp(score), rng)]
    state.set_level(target.name, np.where(now == MISSING, MISSING, drawn))


def potential_scale_reduction(traces: Floats) -> float:
    """The split R-hat of the second halves of chains, shape (chains, iterations); near 1 where they agree.

    Gelman, A. and Rubin, D. B. (1992). Inference from iterative simulation using multiple sequences. Statistical
    Science 7, 457-472.

    >>> round(potential_scale_reduction(np.random.default_rng(1).normal(size=(4, 400))), 1)
    1.0
    """
    kept = traces[:, traces.shape[1] // 2 :]
    half = kept.shape[1] // 2
    if half < 2:
        return float("nan")
    parts = np.concatenate([kept[:, :half], kept[:, half : 2 * half]])
    within = float(parts.var(axis=1, ddof=1).mean())
    between = float(parts.mean(axis=1).var(ddof=1))
    if within == 0:
        return 1.0 if between == 0 else float("inf")
    return float(np.sqrt((half - 1) / half + between / within))


MODELS = ("normal", "logistic", "probit", "multinomial")
FAR = 1.1  # R-hat above which chains have not met


def impute_masked(
    data: Any,
    *,
    masked: Mapping[str, str],
    error: Mapping[str, Any],
    predictors: Mapping[str, Any] | None = None,
    models: Mapping[str, str] | None = None,
    m: int = 10,
    iterations: int = 100,
    proper: bool = False,
    seed: arguments.Seed = None,
) -> Protected:
    """Make m files in which masked variables hold draws of their true values, given the masked ones and the rest.

    Parameters
    ----------
    data : data frame
        The originals with masked copies of some variables, as ``mask_continuous(..., suffix="_masked")`` gives them.
    masked : dict of str to str
        The masked copy of each variable that is to be replaced.
    error : dict of str to float or matrix
        How each was masked. Of a number the standard deviation of the noise, in its units. Of a category the
        probability of staying, where all others are alike, or the probability of each masked category (inner)
        by the true one: ``{"own": {"own": .8, "rent": .2}, "rent": {...}}``, or rows in the order of the categories.
    predictors : dict, optional
        By masked variable the names or the formula of what its model has, as in `synthesize`; default all
        variables that are not masked, and the masked ones before it.
    models : dict of str to str, optional
        "normal", "logistic", "probit" or "multinomial"; default by the type.
    m : int
        Files to make, each the end of a chain of its own.
    iterations : int
        Rounds of a chain, in each of which every masked variable is drawn once; the chain starts at the masked values.
    proper : bool
        Whether each file has parameters of its own, drawn from their posterior, instead of those fitted.
    seed : int or numpy.random.Generator, optional
        Whoever guesses it undoes what is drawn: leave it out for a release, ``change.secret`` keeps a long one.

    Returns
    -------
    Protected
        ``data``, a frame without the masked copies (a list of m where ``m > 1``), and ``change``.
        ``change.parameters["convergence"]`` has by variable ``rhat`` (near 1 where the chains agree) and of numbers
        ``accepted``, the share of the moves that were taken; ``change.secret["trace"]`` the means of numbers, or
        shares of the first category, after each round, shape (m, iterations).

    Raises
    ------
    ColumnError
        A variable that the data does not have; errors for other variables than those masked.
    DataError
        An error of 0, or above the variable's spread; a matrix that holds no probabilities; predictors in a circle;
        a model that does not fit the type.

    Notes
    -----
    The models are fitted to the originals. With f the model of a variable given its predictors and g the masking,
    a value y is drawn with probability or density proportional to f(y | others) g(masked | y), times the density
    of every other masked variable that y predicts. Numbers in normal models that are straight lines in them have
    an exact normal distribution; else the draw is one move of Metropolis and Hastings, proposed from it. Missing
    values stay missing. Estimates of the m files are combined by ``combine(kind="imputed")``: the rule for partly
    synthetic files leaves out what the masking adds, and robosynth uses it.

    References
    ----------
    Jiang, B., Raftery, A. E., Steele, R. J. and Wang, N. (2022). Balancing inferential integrity and disclosure
    risk via model targeted masking and multiple imputation. Journal of the American Statistical Association 117.

    Examples
    --------
    >>> import polars as pl
    >>> from sdckit import mask_continuous
    >>> survey = pl.DataFrame({"sex": ["f", "m"] * 50, "income": [float(x) for x in range(100)]})
    >>> both = mask_continuous(survey, columns=["income"], sd=10.0, suffix="_masked", seed=1).data
    >>> found = impute_masked(both, masked={"income": "income_masked"}, error={"income": 10.0}, m=2, seed=1)
    >>> found.data[0].columns, len(found.data), found.change.parameters["convergence"]["income"]["accepted"]
    (['sex', 'income'], 2, 1.0)
    """
    arguments.count(m, "m", "counts files")
    arguments.count(iterations, "iterations", "counts the rounds of a chain")
    arguments.flag(proper, "proper")
    for name, given in (("predictors", predictors), ("models", models)):
        if given is not None and not isinstance(given, Mapping):
            raise DataError(f"{name}= is given by masked variable, as a dict", argument=name)
    frame = replace.open_eager(data, {"masked": _copies(masked)})
    variables = {name: read_variable(frame[name]) for name in frame.columns}
    errors = _errors(error)
    read = {target.name: target for target in read_masked(variables, masked, errors)}
    known = {name: variable for name, variable in variables.items() if name not in masked.values()}
    chosen = _models(models, read)
    helpers, unused = design.general_predictors(None, tuple(masked), set(masked.values()), variables, len(frame))
    order, predicting, formulas = design.in_order(
        tuple(masked), predictors, known, joint=(), helpers=helpers, fixed=False
    )
    _refuse_levels_of_numbers(read, formulas)
    rng, secret = seeds.open_rng(seed)
    for_fits, for_chains = rng.spawn(2)
    fits = {
        name: _fit(read[name].variable, chosen[name], [known[predictor] for predictor in predicting[name]],
                   m if proper else 0, own, formulas.get(name))
        for name, own in zip(order, for_fits.spawn(len(order)), strict=True)
    }  # fmt: skip
    categorical = {column for formula in formulas.values() for column in formula.categorical}
    others = {
        name: design.seen(known[name], known[name].held, categorical=name in categorical)
        for name in {name for names in predicting.values() for name in names} - set(order)
    }
    chains = run(
        lambda work: run_chain([read[name] for name in order], fits, others, iterations, *work),
        list(enumerate(for_chains.spawn(m))),
    )
    met = _convergence(order, chains)
    rows = np.arange(len(frame))
    rest = replace.open_eager(frame.drop(*masked.values()).to_native(), {})
    made = [_rounded(known, chain.values) for chain in chains]
    notes = dict(unused)
    if slow := [name for name, figures in met.items() if not figures["rhat"] <= FAR]:
        words = f"the chains of {', '.join(slow)} did not meet in {iterations} rounds"
        notes["converged"] = f"{words}; give more iterations"
    if m > 1:
        notes["several files"] = "averaged over the files, numbers come nearer to the true ones than in any of them"
    change = Change(
        "impute_masked", m * len(frame),
        {name: sum(int((drawn[name].level != known[name].held.level).sum()) for drawn in made) for name in order},
        parameters={
            "m": m, "iterations": iterations, "masked": dict(masked), "models": {name: chosen[name] for name in order},
            "predictors": {name: list(predicting[name]) for name in order}, "proper": proper, "convergence": met,
        },
        secret={
            "seed": secret, "error": errors,
            "trace": {name: np.stack([chain.trace[name] for chain in chains]).tolist() for name in order},
        },
        notes=notes,
    )  # fmt: skip
    files = [written(rest, known, rows, drawn) for drawn in made]
    return Protected(files if m > 1 else files[0], change)


def _copies(masked: Any) -> list[str]:
    """The variables and their copies, as columns that must be there."""
    if not isinstance(masked, Mapping) or not masked or not all(isinstance(copy, str) for copy in masked.values()):
        says = 'masked= says which column is the masked copy of each variable: {"income": "income_masked"}'
        raise DataError(says, argument="masked")
    names = [*masked, *masked.values()]
    if len(set(names)) < len(names):
        raise ColumnError("masked: a variable and its copy are two columns, each named once", argument="masked")
    return names


def _errors(given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise DataError('error= says by variable how it was masked: {"income": 500.0, "tenure": 0.8}', argument="error")
    return dict(given)


def _models(given: Mapping[str, str] | None, masked: Mapping[str, MaskedVariable]) -> dict[str, str]:
    """The model of each masked variable."""
    models = {}
    for name in given or {}:
        if name not in masked:
            says = f"models: {name!r} is not masked; {nearest.did_you_mean(str(name), list(masked))}"
            raise ColumnError(says, argument="models")
    for name, target in masked.items():
        levels = target.variable.n_levels
        default = "normal" if target.number is not None else "logistic" if levels == 2 else "multinomial"
        model = (given or {}).get(name, default)
        arguments.choice(model, "models", MODELS)
        fits = (model == "normal") == (target.number is not None)
        if (
            not fits
            or (model in {"logistic", "probit"} and levels != 2)
            or (model != "normal" and levels > synthesis_models.MOST_OUTCOMES)
        ):
            says = f"models: {model!r} does not fit {name!r}, a {target.variable.kind} of {levels:,} values"
            raise DataError(says, argument="models")
        models[name] = model
    return models


def _refuse_levels_of_numbers(masked: Mapping[str, MaskedVariable], formulas: Mapping[str, Predicted]) -> None:
    for name, formula in formulas.items():
        for column in formula.categorical:
            if column in masked and masked[column].number is not None:
                says = f"predictors of {name!r}: C({column}) has no levels, {column!r} is drawn as a number"
                raise DataError(says, argument="predictors")


def _fit(
    variable: Variable, model: str, predictors: list[Variable], n_draws: int, rng: np.random.Generator,
    predicted: Predicted | None,
) -> LinearFit:  # fmt: skip
    rows = np.flatnonzero(variable.held.level != MISSING)
    return fit_linear(
        variable, model, predictors, rows, n_draws=n_draws, proper=n_draws > 0, rng=rng, predicted=predicted
    )


def _convergence(order: tuple[str, ...], chains: list[Chain]) -> dict[str, dict[str, float]]:
    """R-hat, and of numbers the acceptance rate, by variable."""
    convergence = {}
    for name in order:
        rhat = potential_scale_reduction(np.stack([chain.trace[name] for chain in chains]))
        convergence[name] = {"rhat": round(rhat, 2)}
        if name in chains[0].accepted:
            convergence[name]["accepted"] = round(float(np.mean([chain.accepted[name] for chain in chains])), 2)
    return convergence


def _rounded(variables: Mapping[str, Variable], ended: Mapping[str, Values]) -> dict[str, Values]:
    """Numbers rounded to the digits of their variables."""
    return {name: held if held.number is None else variables[name].of_numbers(held.number)
            for name, held in ended.items()}  # fmt: skip
