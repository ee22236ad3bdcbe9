"""C5: how well a model trained on the release predicts a person's confidential value."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from sdckit.attribute.disclosure.target_roles import BeforeAfter, identical_note, known_and_learnt
from sdckit.attribute.prediction import prediction_models
from sdckit.attribute.prediction.prediction_models import Features, Model, Selection
from sdckit.cells.number_columns import number_columns
from sdckit.cells.pair import Pair, open_pair
from sdckit.cells.record_result import IntervalKind, breakdown
from sdckit.data import arguments
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError
from sdckit.numerics.array_types import AnyInts, Bools, Floats, Ints, Values
from sdckit.numerics.outlying import unit_of
from sdckit.result import FileFigure

# C5: figures of predictions from the values of each record: errors, probabilities, losses.


ROUNDING = 1e-9  # errors that differ by less are equal


def numeric_figures(original: Floats, released: Floats, truth: Floats) -> dict[str, float]:
    """Figures of the absolute errors after training on the original and on a release."""
    worse, better = compared_losses(original, released, np.maximum(original, np.abs(truth)))
    variance, unit = variance_of(truth)
    return {
        "mse_released": _finite(np.mean(_squares(released))),
        "mse_original": _finite(np.mean(_squares(original))),
        "share_less_accurate": float(worse.mean()),
        "share_more_accurate": float(better.mean()),
        "accuracy_released": math.nan,
        "accuracy_original": math.nan,
        "baseline": _finite(variance * unit * unit),
    }


def variance_of(truth: Floats) -> tuple[float, float]:
    """The variance (ddof 0) of numbers in a unit, 1 but where no floating number holds the squares; and the unit.

    >>> variance_of(np.array([1.0, 3.0])), variance_of(np.array([1.0, 3.0]) * 2.0**600) == (0.25, 2.0**601)
    ((1.0, 1.0), True)
    """
    unit = float(unit_of(np.abs(truth).max()))
    return float(np.var(truth / unit)), unit


def _squares(values: Floats) -> Floats:
    with np.errstate(over="ignore"):
        return np.asarray(values**2, np.float64)


def _with_sum(values: Floats) -> Floats:
    """Values by release of which a floating number holds the sum; else none is told, nor the mean of a group."""
    with np.errstate(over="ignore"):
        return np.where(np.isfinite(np.nansum(values, axis=-1, keepdims=True)), values, np.nan)


def _finite(figure: Any) -> float:
    """A mean of squares; NaN where no floating number holds it."""
    return float(figure) if np.isfinite(figure) else math.nan


def categorical_figures(original: Floats, released: Floats, truth: AnyInts) -> dict[str, float]:
    """Figures of the probabilities of a right prediction after training on the original and on a release."""
    worse, better = _compared_chances(original, released)
    return {
        "mse_released": math.nan,
        "mse_original": math.nan,
        "share_less_accurate": float(worse.mean()),
        "share_more_accurate": float(better.mean()),
        "accuracy_released": float(np.mean(released)),
        "accuracy_original": float(np.mean(original)),
        "baseline": float(np.bincount(truth).max() / len(truth)),
    }


def loss_figures(original: Floats, released: Floats, loss: str) -> dict[str, float]:
    """Mean losses; for costs also the shares of records that the release predicts worse and better."""
    figures = {"mean_loss_released": _mean(released), "mean_loss_original": _mean(original)}
    if loss != "costs":
        return figures
    worse, better = compared_losses(original, released, np.maximum(original, 1.0))
    return {**figures, "share_less_accurate": float(worse.mean()), "share_more_accurate": float(better.mean())}


def _mean(losses: Floats) -> float:
    known = losses[~np.isnan(losses)]
    return _finite(known.mean()) if len(known) else math.nan


def record_values(
    numeric: bool, truth: Values, queried: Ints, scores: tuple[Floats, Sequence[Floats]],
    losses: tuple[Floats, Sequence[Floats]], loss: str,
) -> dict[str, Values]:  # fmt: skip
    """Record-level values whose means the figures are, for the records asked for, in file order."""
    (before, after), (paid, paid_after) = ((own, np.stack(list(others))) for own, others in (scores, losses))
    if loss == "costs":
        worse, better = compared_losses(paid, paid_after, np.maximum(paid, 1.0))
    elif numeric:
        worse, better = compared_losses(before, after, np.maximum(before, np.abs(truth)))
    else:
        worse, better = _compared_chances(before, after)
    terms: dict[str, Values] = {
        "share_less_accurate": worse, "share_more_accurate": better, "mean_loss_released": paid_after,
        "mean_loss_original": paid,
    }  # fmt: skip
    if numeric:
        squares = {"mse_released": after, "mse_original": before, "baseline": truth - truth.mean()}
        terms |= {name: _squares(values) for name, values in squares.items()}
        terms |= {name: _with_sum(terms[name]) for name in (*SQUARES, *LOSS_FIGURES)}
    else:
        guess = truth == np.bincount(truth).argmax()
        terms |= {"accuracy_released": after, "accuracy_original": before, "baseline": guess}
    order = np.argsort(queried)
    return {"rows": queried[order], **{name: term[..., order] for name, term in terms.items()}}


def compared_losses(original: Floats, released: Floats, scale: Floats) -> tuple[Bools, Bools]:
    """Which records have a larger loss after training on a release than on the original, and which a smaller one."""
    margin = ROUNDING * scale
    return released > original + margin, original > released + margin


def _compared_chances(original: Floats, released: Floats) -> tuple[Bools, Bools]:
    """The same for probabilities of a right prediction, where smaller is worse."""
    return compared_losses(-original, -released, np.ones(len(original)))


# Loss of a wrong prediction: a function of the error for numbers, a table of costs for categories.


LOSSES = ("absolute", "squared", "relative")


def named_loss(loss: Any, *, numeric: bool) -> str:
    """Name of a loss: of numbers one of `LOSSES`, of categories "wrong" or "costs".

    Raises `DataError`: a loss that is not for this target.

    >>> named_loss(None, numeric=True), named_loss([[0, 1], [2, 0]], numeric=False)
    ('absolute', 'costs')
    """
    if numeric:
        return str(arguments.choice("absolute" if loss is None else loss, "loss", LOSSES))
    if loss is None:
        return "wrong"
    if isinstance(loss, str) or not isinstance(loss, (Mapping, Sequence, np.ndarray)):
        says = "loss of categories is a table of costs: {true: {guessed: cost}}, or rows in the order of the levels"
        raise DataError(says, argument="loss")
    return "costs"


def loss_of_numbers(error: Floats, truth: Floats, loss: str) -> Floats:
    """Loss of each absolute error; NaN where a relative one has no base.

    >>> loss_of_numbers(np.array([2.0, 2.0]), np.array([4.0, 0.0]), "relative").tolist()
    [0.5, nan]
    """
    if loss == "squared":
        return _squares(error)
    if loss == "relative":
        base = np.abs(truth)
        return np.where(base > 0, error / np.where(base > 0, base, 1.0), np.nan)
    return error


def costs_of(loss: Any, labels: Sequence[str]) -> Floats:
    """Cost of each predicted level (columns) by the true level (rows), in the order of the labels.

    Raises `DataError`: not a cost of 0 or more for every pair of levels, or one of a right guess.

    >>> costs_of({"no": {"yes": 1}, "yes": {"no": 5}}, ["no", "yes"]).tolist()
    [[0.0, 1.0], [5.0, 0.0]]
    """
    n = len(labels)
    how = f"loss: give a cost for each of the {n} levels and each guess ({', '.join(labels[:3])}, ...)"
    rows: Any = loss
    if isinstance(loss, Mapping):
        named = {str(true): row for true, row in loss.items()}
        if unknown := [true for true in named if true not in labels]:
            raise DataError(f"loss: {unknown[0]!r} is no level of the target; {how}", argument="loss")
        if any(not isinstance(row, Mapping) for row in named.values()):
            raise DataError(how, argument="loss")
        by_text = {true: {str(to): cost for to, cost in row.items()} for true, row in named.items()}
        rows = [[0.0 if true == to else by_text.get(true, {}).get(to, np.nan) for to in labels] for true in labels]
    try:
        costs = np.asarray(rows, np.float64)
    except (TypeError, ValueError):
        raise DataError(how, argument="loss") from None
    if costs.shape != (n, n) or not (np.isfinite(costs) & (costs >= 0)).all():
        raise DataError(f"{how}; each 0 or more", argument="loss")
    if np.diag(costs).any():
        raise DataError("loss: a right guess costs nothing; the diagonal is 0", argument="loss")
    return costs


FOLDS = 5
ERROR_EDGES = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0, math.inf)  # in standard deviations of the target
CHANCE_EDGES = (0.0, 0.25, 0.5, 0.75, 1.0)
SQUARES = ("mse_released", "mse_original", "baseline")
LOSS_FIGURES = ("mean_loss_released", "mean_loss_original")
TOO_LARGE = "no floating number holds the squares of numbers this large; divide the target first"
MISSING_RULE = (
    "a missing category is a level of its own, a missing numeric key the mean and a mark that it is missing; "
    "records without a target are left out"
)


# --- result -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class PredictionRisk(BeforeAfter):
    """Predictions of a confidential target by a model trained on the release, beside one trained on the original.

    Attributes
    ----------
    n : int
        Records of the original with a known target: those that are predicted.
    mse_released, mse_original : float
        Mean squared error of a numeric target; means over the releases, like all that follow.
    share_less_accurate, share_more_accurate : float
        Share of the records that are predicted worse from the release than from the original, and better; the rest
        equally well. A course's code counts the second, ``mean(error_con > error_syn)``, where its own sentence
        speaks of the first. By costs, where `loss` is a table of them.
    mean_loss_released, mean_loss_original : float
        Mean of the `loss` over the records (of relative errors over those whose target is not 0).
    accuracy_released, accuracy_original : float
        Share of categories guessed right; a guess drawn among k tied ones counts 1/k.
    baseline : float
        What is reached without any key: the error of always guessing the mean of the original, or the
        accuracy of always guessing its most frequent value.
    numeric : bool
        Whether the target is a number.
    deviation : float
        Standard deviation of a numeric target in the original, the unit of `before_after`.
    model : str
    records : frame
        ``error_released``, ``error_original`` (absolute), or ``correct_released``, ``correct_original``
        (0 to 1); means over the releases, NaN where the target is missing. With another `loss` than the default
        ``loss_released`` and ``loss_original``, too.
    """

    measure: ClassVar[str] = "prediction_risk"
    figures: ClassVar[tuple[str, ...]] = (
        "n", "mse_released", "mse_original", "share_less_accurate", "share_more_accurate", "accuracy_released",
        "accuracy_original", "mean_loss_released", "mean_loss_original", "baseline",
    )  # fmt: skip
    target: str = ""
    model: str = "knn"
    numeric: bool = True
    deviation: float = math.nan
    mse_released: float = math.nan
    mse_original: float = math.nan
    share_less_accurate: float = math.nan
    share_more_accurate: float = math.nan
    mean_loss_released: float = math.nan
    mean_loss_original: float = math.nan
    loss: str = "absolute"
    accuracy_released: float = math.nan
    accuracy_original: float = math.nan
    baseline: float = math.nan

    def file_figures(self) -> tuple[FileFigure, ...]:
        """The record column behind each file-level figure, and how it is summarised."""
        of = "records with a known target"
        names = (
            ["share_more_accurate", "share_less_accurate", "mse_released", "mse_original", *LOSS_FIGURES]
            if self.numeric
            else ["accuracy_released", "share_more_accurate", "share_less_accurate", "accuracy_original", *LOSS_FIGURES]
        )
        higher: dict[str, Any] = {
            "share_less_accurate": "safer", "mse_released": "safer", "mse_original": "reference",
            "accuracy_original": "reference", "mean_loss_released": "safer", "mean_loss_original": "reference",
        }  # fmt: skip
        return (
            *(FileFigure(name, name, higher=higher.get(name, "riskier"), of=of) for name in names),
            FileFigure("baseline", "baseline", higher="reference", of=of),
        )

    def told_frame(self) -> tuple[Any, Ints]:
        """The original, and which of its rows have a target."""
        return self.pair.original, self.each["rows"]

    def sides(self) -> tuple[Floats, Floats]:
        """The values that `before_after` counts, or relative errors where they are the loss; NaN without target."""
        what = "loss" if self.loss == "relative" else "error" if self.numeric else "correct"
        values, unit = dict(self.columns.items()), self.deviation if what == "error" else 1.0
        return values[f"{what}_original"] / (unit or 1.0), values[f"{what}_released"] / (unit or 1.0)

    def before_after(self) -> Any:
        """Records by how well they are predicted, counted for a plot.

        Returns
        -------
        frame
            ``low`` and ``high`` (included below, excluded above but for the last), ``original`` and
            ``released`` (records): absolute errors in standard deviations of the target, or chances that
            the guess is right.
        """
        edges = list(ERROR_EDGES if self.numeric else CHANCE_EDGES)
        unit = (self.deviation or 1.0) if self.numeric else 1.0
        counts = {}
        for name, values in self.columns.items():
            if name.startswith("loss"):
                continue
            known = values[~np.isnan(values)] / unit
            place = np.clip(np.searchsorted(edges, known, side="right") - 1, 0, len(edges) - 2)
            counts[name.split("_")[1]] = np.bincount(place, minlength=len(edges) - 1).tolist()
        return self.pair.table(
            {"low": edges[:-1], "high": edges[1:], "original": counts["original"],
             "released": counts["released"]}
        )  # fmt: skip


# --- measure ------------------------------------------------------------------------------------------


def prediction_risk(
    original: Any,
    released: Any = None,
    *,
    keys: Sequence[str] | None = None,
    target: str | None = None,
    numeric: Sequence[str] | None = None,
    model: Any = "knn",
    n_neighbors: int = 3,
    scale: Literal["sd"] | None = "sd",
    ties: Literal["all", "first", "tree"] = "all",
    loss: Any = None,
    cross_fit: bool = False,
    seed: int | np.random.Generator | None = None,
    by: Sequence[str] | str | None = None,
    interval: IntervalKind | None = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> PredictionRisk:
    """Measure how well an intruder who trains a model on the release predicts the target of the original's records.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        One release or several; rows need not correspond to those of the original.
    keys : sequence of str
        Variables that the intruder knows.
    target : str
        Variable that they would learn.
    numeric : sequence of str, optional
        Which of the keys and the target are numbers. Default: those that the scenario declares; where it
        declares none, the columns stored as numbers. An empty list: none.
    model : {"knn", "tree", "forest", "boosting"} or scikit-learn estimator
        "knn": mean (or most frequent value) of the nearest training records, all those tied at the k-th
        distance included; Euclidean, numeric keys divided by their standard deviation in the training file,
        a different category counts 1. Others get the numbers as they are and 0 and 1 for each category;
        trees and forests have 5 records in a leaf at least.
    n_neighbors : int
        Nearest records for "knn"; all where the training file has fewer.
    scale : {"sd", None}
        Whether "knn" divides numeric keys by their standard deviation in the training file, or takes them as
        they are.
    ties : {"all", "first", "tree"}
        Which of the training records at the k-th distance "knn" takes: all of them, or as many as are needed, those
        first in the file (every pair of records is compared), or those that a k-d tree comes to first, as R's FNN
        does. The last two depend on the order of the file.
    loss : {"absolute", "squared", "relative"} or table, optional
        What counts as worse. Of a number its error, as it is (the default), squared, or over the true value. Of
        categories the chance of a wrong guess (the default), or what it costs, by the true level:
        ``{"ill": {"well": 10}, "well": {"ill": 1}}``, or rows in the order of the levels.
    cross_fit : bool
        Predict each record of the original by a model trained on the other four fifths of it, so that
        `mse_original` and `accuracy_original` do not profit from the record's own value.
    seed : int, numpy.random.Generator or None
        For the fifths, for models that draw random numbers, and for the bootstrap.
    by : str or sequence of str, optional
        Columns of the original whose combinations are subgroups; see ``by_group``. A missing value is a group of its
        own.
    interval : "bootstrap", optional
        95 % percentile intervals of means and sums over the records, from 200 resamples of the records (of whole
        households where they are declared). A record keeps what it has in this file: drawing it twice does not make
        it less rare.
    scenario : Scenario, optional
        Gives keys, target (its one sensitive variable) and numeric variables where not given here.
    id, prefix : str, optional
        Column carried along in `.records`; text before the names of result columns.

    Returns
    -------
    PredictionRisk
        ``mse_released``, ``mse_original``, ``share_less_accurate``, ``share_more_accurate``, or ``accuracy_released``,
        ``accuracy_original``; ``baseline``, ``records``, ``before_after()``.

    Raises
    ------
    ColumnError
        Columns absent in a file, text in one and numbers in another; a target among the keys; numeric names
        that are neither key nor target.
    DataError
        A declared number that is none, without any value, or infinite; no target in a file; an unknown
        model, or one that cannot guess this target or be fitted; fewer than 5 records to cross-fit; a design
        too large for the model.
    ScenarioError
        No keys or no target.

    Notes
    -----
    The model is trained on a whole release and asked about the keys of the original's records. With
    ``cross_fit=False`` the model of the original has seen the values it is asked for: it is a reference for
    how much the release takes away, not for what can be learnt from others. A missing category is a level
    of its own. A missing numeric key becomes the mean of the training file, with a second key that says so.
    Records without a target teach nothing and are not asked for.

    References
    ----------
    Choi, E., Biswal, S., Malin, B., Duke, J., Stewart, W. and Sun, J. (2017). Generating multi-label discrete
    patient records using generative adversarial networks (on attribute disclosure). PMLR 68. Hastie, T.,
    Tibshirani, R. and Friedman, J. (2009). The Elements of Statistical Learning, chapter 13. Springer.

    Examples
    --------
    >>> import polars as pl
    >>> original = pl.DataFrame({"age": [20, 30, 40, 50], "income": [10.0, 20.0, 30.0, 40.0]})
    >>> released = original.with_columns(income=pl.Series([20.0, 20.0, 30.0, 30.0]))
    >>> result = prediction_risk(original, released, keys=["age"], target="income", n_neighbors=1)
    >>> result.mse_original, result.mse_released, result.share_less_accurate, result.baseline
    (0.0, 50.0, 0.5, 125.0)
    """
    arguments.count(n_neighbors, "n_neighbors", "counts the nearest records")
    arguments.flag(cross_fit, "cross_fit")
    arguments.choice(ties, "ties", ("all", "first", "tree"))
    if scale is not None:
        arguments.choice(scale, "scale", ("sd",))
    rng = arguments.seed(seed)
    names, (learnt,) = known_and_learnt(keys, target, scenario)
    broken = breakdown(original, by, PredictionRisk, interval, seed, scenario, prefix)
    pair = open_pair(
        original, released, categories={"keys": names, "target": (learnt,)}, also=broken.also, aligned=False,
        id=id,
    )  # fmt: skip
    notes = identical_note(pair, [*names, learnt])
    used = [*names, learnt]
    numbers = number_columns(
        used, numeric, scenario, lambda: tuple(name for name in used if pair.codes(name).kind == "numbers"), notes,
        role="neither a key nor the target",
    )  # fmt: skip
    open_pair(pair, categories={}, numeric={"numeric": numbers})
    how = named_loss(loss, numeric=learnt in numbers)
    costs = costs_of(loss, pair.codes(learnt).labels()[1:]) if how == "costs" else None
    task = _Task(pair, names, learnt, numbers, learnt in numbers, in_file_order=ties != "all", costs=costs)
    state = int(rng.integers(2**31 - 1))
    fitted = prediction_models.checked_model(
        model, numeric=task.numeric, n_neighbors=n_neighbors, state=state, seeded=seed is not None,
        scaled=scale is not None, ties=ties,
    )  # fmt: skip
    if cross_fit and len(task.known(0)) < FOLDS:
        words = f"cross_fit=True needs {FOLDS} records with a target; there are {len(task.known(0))}"
        raise DataError(words, argument="cross_fit")
    queried, trained = task.known(0), [task.known(file) for file in range(1, pair.m + 1)]
    fold = rng.permutation(len(queried)) % FOLDS if cross_fit else None

    def with_all_models(scores: Callable[[Model, Selection, Ints], Floats]) -> tuple[Floats, list[Floats]]:
        whole = Selection(0, queried)
        own = scores(fitted, whole, queried) if fold is None else task.cross_fitted(scores, fitted, fold)
        return own, [scores(fitted, Selection(1 + j, rows), queried) for j, rows in enumerate(trained)]

    before, after = with_all_models(task.scores)
    truth = task.truth(0)[queried]
    if how == "costs":
        losses = with_all_models(task.paid)
    elif how == "wrong":
        losses = 1 - before, [1 - chance for chance in after]
    else:
        losses = loss_of_numbers(before, truth, how), [loss_of_numbers(error, truth, how) for error in after]
    if fitted.estimator is None and min(len(queried), *map(len, trained)) < n_neighbors:
        notes["n_neighbors"] = "a file has fewer records than n_neighbors: all of them are taken"
    result = _result(task, fitted, queried, (before, after), losses, notes, prefix, how)
    return broken.of(result, record_values(task.numeric, truth, queried, (before, after), losses, how))


@dataclass(frozen=True, eq=False)
class _Task:
    """What to predict, from which keys, in which files."""

    pair: Pair
    keys: tuple[str, ...]
    target: str
    numbers: tuple[str, ...]
    numeric: bool
    in_file_order: bool = False
    costs: Floats | None = None

    def truth(self, file: int) -> Values:
        """Target of every record: a number, NaN where missing; or a level, 0 where missing."""
        if self.numeric:
            return self.pair.numbers(self.target)[file]
        return self.pair.codes(self.target).codes[file]

    def known(self, file: int) -> Ints:
        """Records with a target, in an order that depends on their values only, or in file order where asked."""
        truth = self.truth(file)
        if self.in_file_order:
            order = np.arange(len(truth), dtype=np.int64)
        else:
            order = prediction_models.order_of_rows(self.pair, (*self.keys, self.target), file)
        rows: Ints = order[~np.isnan(truth[order]) if self.numeric else truth[order] > 0]
        if len(rows) == 0:
            raise DataError(f"{self.pair.names[file]}: target {self.target!r} has no value at all")
        return rows

    def scores(self, model: Model, train: Selection, queried: Ints) -> Floats:
        """Absolute error, or probability of a right prediction, of the original's records asked for."""
        features, place = self._features(train, queried)
        values, truth = self.truth(train.file)[train.rows], self.truth(0)[queried]
        if self.numeric:
            return np.abs(prediction_models.guess_numbers(model, features, values)[place] - truth)
        guesses = prediction_models.guess_levels(model, features, values, truth, place)
        return np.where(guesses.of_truth == guesses.best[place], 1.0 / guesses.ties[place], 0.0)

    def paid(self, model: Model, train: Selection, queried: Ints) -> Floats:
        """Expected costs of the predictions of categories."""
        assert self.costs is not None
        features, place = self._features(train, queried)
        values, truth = self.truth(train.file)[train.rows], self.truth(0)[queried]
        return prediction_models.mean_costs(model, features, values, truth, place, self.costs)

    def _features(self, train: Selection, queried: Ints) -> tuple[Features, Ints]:
        """Features of both, each combination asked for once, and the combination of each record."""
        first, place = prediction_models.first_of_each(self.pair.groups(self.keys).of_row[0], queried)
        return prediction_models.features_of(self.pair, self.keys, self.numbers, train, Selection(0, first)), place

    def cross_fitted(self, scores: Callable[..., Floats], model: Model, fold: Ints) -> Floats:
        """The same for the original by cross-fitting: each fifth by a model trained on the others."""
        queried = self.known(0)
        out = np.empty(len(queried))
        for held_out in range(FOLDS):
            out[fold == held_out] = scores(model, Selection(0, queried[fold != held_out]), queried[fold == held_out])
        return out


def _result(
    task: _Task, model: Model, queried: Ints, scores: tuple[Floats, Sequence[Floats]],
    losses: tuple[Floats, Sequence[Floats]], notes: dict[str, str], prefix: str, loss: str,
) -> PredictionRisk:  # fmt: skip
    pair, truth = task.pair, task.truth(0)[queried]
    (before, after), (paid, paid_after) = scores, losses
    figures = numeric_figures if task.numeric else categorical_figures
    per_release = tuple(
        {**figures(before, score, truth), **loss_figures(paid, cost, loss)}
        for score, cost in zip(after, paid_after, strict=True)
    )
    if loss == "relative" and (zeros := int((truth == 0).sum())):
        notes["mean_loss_released"] = notes["mean_loss_original"] = (
            f"{'1 record has' if zeros == 1 else f'{zeros} records have'} a target of 0 and no relative error"
        )
    other = ("accuracy", "categories") if task.numeric else ("mse", "a number")
    notes |= {
        f"{other[0]}_{side}": f"for {other[1]} only; the target is " + ("a number" if task.numeric else "not")
        for side in ("released", "original")
    }
    variance, unit = variance_of(truth) if task.numeric else (math.nan, 1.0)
    squares = (*SQUARES, *(LOSS_FIGURES if loss == "squared" else ())) if task.numeric else ()
    notes |= {name: TOO_LARGE for name in squares if any(math.isnan(row[name]) for row in per_release)}
    if len(queried) < pair.n:
        notes["n"] = f"{pair.n - len(queried)} records of the original have no target and are left out"
    what, columns = ("error" if task.numeric else "correct"), {}
    for side, values in (("released", np.mean(after, axis=0)), ("original", before)):
        columns[f"{what}_{side}"] = np.full(pair.n, math.nan)
        columns[f"{what}_{side}"][queried] = values
    if loss not in {"absolute", "wrong"}:
        for side, values in (("released", np.mean(paid_after, axis=0)), ("original", paid)):
            columns[f"loss_{side}"] = np.full(pair.n, math.nan)
            columns[f"loss_{side}"][queried] = values
    return PredictionRisk.of(
        pair, per_release, MISSING_RULE, notes, target=task.target, model=model.name, numeric=task.numeric,
        deviation=math.sqrt(variance) * unit, n=len(queried), columns=columns, prefix=prefix, loss=loss,
    )  # fmt: skip
