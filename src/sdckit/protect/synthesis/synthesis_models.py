"""The synthesis model of each variable: choosing it, checking that it fits the type, and fitting it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from sdckit.data import arguments
from sdckit.data.nearest import did_you_mean
from sdckit.errors import ColumnError, DataError, sure
from sdckit.numerics.array_types import Floats, Ints
from sdckit.protect.synthesis import synthesis_linear, synthesis_trees
from sdckit.protect.synthesis.synthesis_design import Predicted, Seen, make_terms
from sdckit.protect.synthesis.synthesis_variables import MISSING, NEW, Values, Variable

# Dirichlet-multinomial synthesis: shares of the levels of a variable in each combination of its predictors.


MOST_VALUES = 50  # of a number that predicts: it is taken as categories
MOST_CODES = 2**62
MOST_KEPT = 5_000_000  # numbers that the draws of one variable may consist of


@dataclass(frozen=True, eq=False)
class CellsFit:
    """Counts of levels (columns) in the cells that occur (rows), and the concentration of the prior."""

    variable: Variable
    predictors: tuple[Variable, ...]
    cells: Ints  # shape (C,); codes of the cells, ascending
    levels: Ints  # shape (L,); of the variable
    counts: Floats  # shape (C + 1, L); the last row: a cell that no record is in
    concentration: float
    states: tuple[int, ...]  # one for each draw from the posterior
    proper: bool

    def draw(self, held: Mapping[str, Seen], n: int, rng: np.random.Generator, release: int) -> Values:
        """New values of n records from their predictors."""
        shares = self.drawn(release) if self.proper else _shares(self.counts + self.concentration)
        running = np.cumsum(shares, axis=1)
        running /= running[:, -1:]
        marks = (running + np.arange(len(running))[:, None]).ravel()  # cell c covers c to c + 1
        cell = self.cell_of({predictor.name: held[predictor.name].values for predictor in self.predictors}, n)
        at = np.searchsorted(marks, cell + rng.random(n), side="right") - cell * len(self.levels)
        return self.variable.of_levels(self.levels[np.clip(at, 0, len(self.levels) - 1)])

    def drawn(self, at: int) -> Floats:
        """The shares of one draw from the posterior, shape (C + 1, L)."""
        return _shares(np.random.default_rng(self.states[at]).standard_gamma(self.counts + self.concentration))

    def cell_of(self, held: Mapping[str, Values], n: int) -> Ints:
        """The row of each record's cell; the last where no record of the original is in it."""
        codes = _codes(self.predictors, held, n)
        at = np.minimum(np.searchsorted(self.cells, codes), len(self.cells) - 1)
        return np.where(self.cells[at] == codes, at, len(self.cells))

    def kept(self) -> synthesis_linear.PosteriorDraws | None:
        """The posterior draws as plain numbers, texts and lists; None where they would take too much room."""
        if len(self.states) * self.counts.size > MOST_KEPT:
            return None
        labels = self.variable.labels
        sizes = [predictor.n_levels + 1 for predictor in self.predictors]
        places = np.unravel_index(self.cells, sizes) if sizes else ()
        return synthesis_linear.PosteriorDraws({
            "column": self.variable.name, "model": "dirichlet_multinomial", "terms": [],
            "levels": [None if at == MISSING else labels[at] for at in self.levels],
            "coefficients": [self.drawn(at).tolist() for at in range(len(self.states))],
            "scale": None, "missing": None,
            "cells": {
                predictor.name: [None if at == predictor.n_levels else predictor.labels[at] for at in place.tolist()]
                for predictor, place in zip(self.predictors, places, strict=True)
            },
        })  # fmt: skip


def fit_cells(
    variable: Variable, predictors: Sequence[Variable], rows: Ints, *, concentration: float, n_draws: int,
    proper: bool, rng: np.random.Generator,
) -> CellsFit:  # fmt: skip
    """Count the levels of a variable in each cell of its predictors.

    Raises `DataError`: a predictor of many numbers, or more cells than can be told apart.
    """
    for predictor in predictors:
        if predictor.amounts is not None and predictor.n_levels > MOST_VALUES:
            raise DataError(
                f"models of {variable.name!r}: 'dirichlet_multinomial' counts cells, and {predictor.name!r} "
                f"has {predictor.n_levels:,} values; band it, or name what predicts: "
                f"predictors={{{variable.name!r}: [...]}}",
                argument="models",
            )
    held = {predictor.name: predictor.held.take(rows) for predictor in predictors}
    cells, cell = np.unique(_codes(predictors, held, len(rows)), return_inverse=True)
    levels, level = np.unique(variable.held.level[rows], return_inverse=True)
    size = (len(cells), len(levels))
    counts = np.bincount(cell.reshape(-1) * size[1] + level.reshape(-1), minlength=size[0] * size[1])
    table = np.vstack([counts.reshape(size), np.zeros(size[1])]).astype(np.float64)
    if concentration == 0:  # nothing is known of a cell without records: the shares of all
        table[-1] = np.bincount(level.reshape(-1), minlength=size[1])
    states = tuple(int(integer) for integer in rng.integers(2**63, size=n_draws))
    return CellsFit(variable, tuple(predictors), cells, levels, table, concentration, states, proper)


def _codes(predictors: Sequence[Variable], held: Mapping[str, Values], n: int) -> Ints:
    """One code for the levels of all predictors; -1 with a number that the original does not have."""
    codes, size = np.zeros(n, np.int64), 1
    fresh = np.zeros(n, np.bool_)
    for predictor in predictors:
        size *= predictor.n_levels + 1
        if size > MOST_CODES:
            raise DataError(
                f"models: there are more cells of {', '.join(known.name for known in predictors)} than can be counted; "
                "name fewer predictors",
                argument="models",
            )
        level = held[predictor.name].level
        codes = codes * (predictor.n_levels + 1) + np.where(level == MISSING, predictor.n_levels, np.maximum(level, 0))
        fresh |= level < MISSING
    return np.where(fresh, -1, codes)


def _shares(weights: Floats) -> Floats:
    """Weights as shares of their row; equal shares where a row sums to 0."""
    total = weights.sum(axis=1, keepdims=True)
    return np.where(total > 0, weights / np.where(total > 0, total, 1.0), 1 / weights.shape[1])


JOINT = "multivariate_normal"
NAMES = ("cart", "sample", *synthesis_linear.REGRESSIONS, synthesis_linear.CELLS)
LARGEST_LOG = 700.0  # of a number that is drawn
MOST_OUTCOMES = 50  # levels that a regression distinguishes


class Fitted(Protocol):
    """A fitted model."""

    def draw(self, held: Mapping[str, Seen], n: int, rng: np.random.Generator, release: int) -> Values:
        """New values of n records from their predictors."""


@dataclass(frozen=True)
class Settings:
    """How models are fitted: least records of a leaf, draws kept, and whether releases differ in parameters."""

    min_leaf: int
    n_draws: int
    proper: bool
    concentration: float = 1.0


@dataclass(frozen=True, eq=False)
class Chosen:
    """The model of one variable."""

    name: str
    estimator: Any
    smoothing: float
    more_freedom: int = 0  # of the residuals of a joint normal's regression
    log: bool = False  # whether the logarithms of the values are modelled

    @property
    def is_linear(self) -> bool:
        """Whether it has coefficients with a posterior."""
        return self.name in synthesis_linear.REGRESSIONS

    @property
    def has_posterior(self) -> bool:
        """Whether its parameters can be drawn, rather than fitted to a bootstrap sample."""
        return self.is_linear or self.name == synthesis_linear.CELLS

    @property
    def regression(self) -> str:
        """What is fitted: a joint normal is the chain of its regressions."""
        return "normal" if self.name == JOINT else self.name


@dataclass(frozen=True, eq=False)
class _WithMissing:
    """A model in two parts: whether a value is missing is drawn first, then the values present."""

    gone: Fitted
    rest: Fitted
    variable: Variable

    def draw(self, held: Mapping[str, Seen], n: int, rng: np.random.Generator, release: int) -> Values:
        first, second = rng.spawn(2)
        here = np.flatnonzero(self.gone.draw(held, n, first, release).level == 0)
        if not len(here):  # no model predicts nothing
            return Values(np.full(n, MISSING), None if self.variable.amounts is None else np.full(n, np.nan))
        part = {name: Seen(predictor.values.take(here), predictor.labels) for name, predictor in held.items()}
        values = self.rest.draw(part, len(here), second, release)
        level = np.full(n, MISSING)
        level[here] = values.level
        if values.number is None:
            return Values(level, None)
        number = np.full(n, np.nan)
        number[here] = values.number
        return Values(level, number)


@dataclass(frozen=True, eq=False)
class _OnLogScale:
    """A model of the logarithms of a variable's values."""

    of_logs: Fitted
    variable: Variable

    def draw(self, held: Mapping[str, Seen], n: int, rng: np.random.Generator, release: int) -> Values:
        made = self.of_logs.draw(held, n, rng, release)
        lent = self.variable.of_levels(made.level)  # a donor's value stays to the last digit
        new = self.variable.of_numbers(np.exp(np.minimum(sure(made.number), LARGEST_LOG)))
        is_new = made.level == NEW
        return Values(np.where(is_new, new.level, lent.level), np.where(is_new, sure(new.number), sure(lent.number)))


def _logs(variable: Variable, rows: Ints) -> Variable:
    """A variable with the logarithms of its values, those of some records above 0.

    Raises `DataError`: one of these is not.
    """
    amounts, numbers = sure(variable.amounts), sure(variable.held.number)
    if (low := int(np.count_nonzero(numbers[rows] <= 0))) > 0:
        raise DataError(
            f"transform: {variable.name!r} is 0 or less in {low:,} records that its model is fitted to, and has no "
            "logarithm there; set these values by a rule (rules=), or leave the column out of transform=",
            argument="transform",
        )
    positive = amounts > 0  # the others, which rules set, only keep their place below
    logs = np.log(amounts, out=np.full(len(amounts), -np.inf), where=positive)
    logs[~positive] = np.nextafter(logs[positive][0], -np.inf)
    held = np.where(variable.held.level >= 0, logs[variable.held.level], np.nan)
    return replace(variable, amounts=logs, held=Values(variable.held.level, held), decimals=None,
                   ends=(-np.inf, np.inf))  # fmt: skip


def on_log_scale(chosen: Mapping[str, Chosen], transform: Any, variables: Mapping[str, Variable]) -> dict[str, Chosen]:
    """The models, those of the columns in `transform` ({column: "log"}) of the logarithms of their values.

    Raises `ColumnError`: a column that is not synthesised; `DataError`: another transform, or a model that draws
    no numbers from a distribution on the log scale.
    """
    by_column = {} if transform is None else arguments.mapping(transform, "transform", 'is {column: "log"}')
    for name, how in by_column.items():
        if name not in chosen:
            hint = did_you_mean(str(name), list(chosen))
            says = f"transform: {name!r} is not among the columns to synthesise; {hint}"
            raise ColumnError(says, argument="transform")
        arguments.choice(how, "transform", ("log",))
        model = chosen[name]
        if variables[name].kind != "number" or _classifies(model) or (
            model.estimator is None and model.name not in {"normal", "cart"}
        ):  # fmt: skip
            what = f"{name!r}, a {variables[name].kind} drawn by {model.name!r}"
            says = f"transform: 'log' is for numbers drawn by 'normal', 'cart' or a regressor, not for {what}"
            raise DataError(says, argument="transform")
    return {name: replace(model, log=name in by_column) for name, model in chosen.items()}


def read_models(given: Any, variables: Sequence[Variable], smoothing: Mapping[str, float]) -> dict[str, Chosen]:
    """Read which model each variable has; "cart" where none is named.

    Raises `ColumnError`: a model for a column that is not synthesised; `DataError`: an unknown model, or one
    that does not fit the type.
    """
    names = [variable.name for variable in variables]
    default = "cart" if given is None else given
    by_column = given if isinstance(given, Mapping) else dict.fromkeys(names, default)
    for name in by_column:
        if name not in names:
            raise ColumnError(
                f"models: {name!r} is not among the columns to synthesise; {did_you_mean(str(name), names)}",
                argument="models",
            )
    return {
        variable.name: _read_model(by_column.get(variable.name, "cart"), variable, smoothing[variable.name])
        for variable in variables
    }


def as_joint(chosen: Mapping[str, Chosen], order: Sequence[str]) -> dict[str, Chosen]:
    """Joint normal variables as a chain of regressions, the factors of their joint distribution.

    With Jeffreys' prior the covariance of q variables given p coefficients each is inverse Wishart with n - p degrees
    of freedom: that of variable j (from 0) given those before has n - p - (q - 1 - j), its own regression n - p - j.
    """
    joint = [name for name in order if chosen[name].name == JOINT]
    last = len(joint) - 1
    return {**chosen, **{name: replace(chosen[name], more_freedom=2 * at - last) for at, name in enumerate(joint)}}


def _read_model(given: Any, variable: Variable, smoothing: float) -> Chosen:
    if isinstance(given, str):
        if given not in NAMES:
            raise DataError(
                f"models: {given!r} is no model; {did_you_mean(given, NAMES)} (or give a scikit-learn estimator)",
                argument="models",
            )
        if why := _misfit(given, variable):
            raise DataError(f"models: {given!r} does not fit column {variable.name!r}, {why}", argument="models")
        return Chosen(given, None, smoothing)
    from sklearn.base import clone, is_classifier

    if isinstance(given, type) or not hasattr(given, "fit") or not hasattr(given, "predict"):
        says = f"models of {variable.name!r}: give one of {', '.join(NAMES)}, or a scikit-learn estimator"
        raise DataError(says, argument="models")
    label = type(given).__name__
    if is_classifier(given):
        if not hasattr(given, "predict_proba"):
            raise DataError(f"models of {variable.name!r}: {label} gives no probabilities to draw from")
        if variable.kind != "category" and variable.n_levels > MOST_OUTCOMES:
            raise DataError(
                f"models of {variable.name!r}: {label} tells categories apart; the column is a {variable.kind} "
                f"of {variable.n_levels:,} values"
            )
    elif variable.kind != "number":
        what = f"{label} predicts numbers; the column is a {variable.kind}"
        raise DataError(f"models of {variable.name!r}: {what}")
    return Chosen(label, clone(given), smoothing)


def _misfit(name: str, variable: Variable) -> str | None:
    """Why a model is not for a variable."""
    kind, levels = variable.kind, variable.n_levels
    if name in {"normal", "poisson", JOINT} and kind != "number":
        return f"a {kind}: it draws numbers"
    amounts = variable.amounts
    if name == "poisson" and amounts is not None and (variable.decimals != 0 or amounts[0] < 0):
        return "which holds other values than counts (whole numbers of 0 or more)"
    if name in {"logistic", "probit"} and levels != 2:
        return f"of {levels:,} values: it draws one of two; use 'multinomial' or 'cart'"
    if name in {"multinomial", synthesis_linear.CELLS} and (levels > MOST_OUTCOMES or kind == "date"):
        return f"a {kind} of {levels:,} values: it draws one of at most {MOST_OUTCOMES}; use 'cart'"
    return None


def fit_model(
    variable: Variable, chosen: Chosen, predictors: Sequence[Variable], rows: Ints,
    settings: Settings, rng: np.random.Generator, predicted: Predicted | None = None,
) -> Fitted:  # fmt: skip
    """Fit a variable's model to some records; a model of its missing values first, where it needs one."""
    if settings.proper and not chosen.has_posterior:
        rows = rows[rng.integers(len(rows), size=len(rows))]
    gone = variable.held.level[rows] == MISSING
    draws_number = chosen.name not in {"sample", "multinomial", synthesis_linear.CELLS} and not _classifies(chosen)
    two_steps = chosen.name in {"logistic", "probit"} or (variable.held.number is not None and draws_number)
    if not (two_steps and gone.any()) or gone.all():
        return _fit_one(variable, chosen, predictors, rows, settings, rng, predicted)
    level = (variable.held.level == MISSING).astype(np.int64)
    event = replace(
        variable, kind="category", texts=("present", "missing"), amounts=None, held=Values(level, None),
        first=np.zeros(2, np.int64), n_missing=0,
    )  # fmt: skip
    how = Chosen("logistic" if chosen.is_linear else "cart", None, 0.0)
    first = _fit_one(event, how, predictors, rows, settings, rng, predicted)
    rest = _fit_one(variable, chosen, predictors, rows[~gone], settings, rng, predicted)
    return _WithMissing(first, rest, variable)


def _fit_one(
    variable: Variable, chosen: Chosen, predictors: Sequence[Variable], rows: Ints,
    settings: Settings, rng: np.random.Generator, predicted: Predicted | None,
) -> Fitted:  # fmt: skip
    level = variable.held.level[rows]
    if chosen.name == "sample" or (level == level[0]).all():
        return synthesis_trees.SampleFit(variable, rows)
    if chosen.log:
        logs, of_logs = _logs(variable, rows), replace(chosen, log=False)
        fitted = _fit_one(logs, of_logs, predictors, rows, settings, rng, predicted)
        return fitted if isinstance(fitted, synthesis_trees.SampleFit) else _OnLogScale(fitted, variable)
    if chosen.is_linear:
        return synthesis_linear.fit_linear(
            variable, chosen.regression, predictors, rows, n_draws=settings.n_draws, proper=settings.proper, rng=rng,
            predicted=predicted, more_freedom=chosen.more_freedom,
        )  # fmt: skip
    if chosen.name == synthesis_linear.CELLS:
        return fit_cells(
            variable, predictors, rows, concentration=settings.concentration, n_draws=settings.n_draws,
            proper=settings.proper, rng=rng,
        )  # fmt: skip
    if not make_terms(predictors, rows):  # nothing varies among these records
        return synthesis_trees.SampleFit(variable, rows)
    state = int(rng.integers(2**31))
    if chosen.estimator is None:
        leaf, smoothing = settings.min_leaf, chosen.smoothing
        return synthesis_trees.fit_tree(variable, predictors, rows, min_leaf=leaf, smoothing=smoothing, state=state)
    from sklearn.base import clone

    estimator = clone(chosen.estimator)
    states = {name: state for name in estimator.get_params() if name.split("__")[-1] == "random_state"}
    try:
        return synthesis_trees.fit_estimator(variable, predictors, rows, estimator=estimator.set_params(**states))
    except (ValueError, TypeError):  # the message of the estimator may show values
        raise DataError(
            f"models of {variable.name!r}: {chosen.name} could not be fitted to {len(rows):,} records"
        ) from None


def _classifies(chosen: Chosen) -> bool:
    from sklearn.base import is_classifier

    return chosen.estimator is not None and bool(is_classifier(chosen.estimator))


def kept_draws(fitted: Fitted) -> synthesis_linear.PosteriorDraws | None:
    """The draws from the posterior of a fitted model, where it has one."""
    if isinstance(fitted, synthesis_linear.LinearFit | CellsFit):
        return fitted.kept()
    if isinstance(fitted, _OnLogScale) and isinstance(fitted.of_logs, synthesis_linear.LinearFit):
        return synthesis_linear.PosteriorDraws({**fitted.of_logs.kept(), "transform": "log"})
    if isinstance(fitted, _WithMissing) and (rest := kept_draws(fitted.rest)) is not None:
        gone = kept_draws(fitted.gone)
        return synthesis_linear.PosteriorDraws({**rest, "missing": None if gone is None else dict(gone)})
    return None


def unconverged(fitted: Fitted) -> bool:
    """Whether a regression did not converge."""
    if isinstance(fitted, _WithMissing):
        return unconverged(fitted.gone) or unconverged(fitted.rest)
    return isinstance(fitted, synthesis_linear.LinearFit) and not fitted.converged
