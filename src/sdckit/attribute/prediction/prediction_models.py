"""Guessing the target of some records from others: nearest neighbours, or a model of scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.attribute.prediction.first_neighbours import first_neighbours
from sdckit.attribute.prediction.key_features import Features
from sdckit.attribute.prediction.tree_neighbours import tree_neighbours
from sdckit.errors import DataError
from sdckit.numerics.array_types import AnyInts, Floats

MODELS = ("knn", "tree", "forest", "boosting")
BLOCK = 20_000_000  # numbers of a table of levels by records


@dataclass(frozen=True, eq=False)
class Model:
    """How targets are guessed."""

    name: str  # one of `MODELS`, or the class of an estimator
    n_neighbors: int
    estimator: Any  # of scikit-learn, to be cloned; None for nearest neighbours
    scaled: bool = True  # whether nearest neighbours take numbers over their standard deviations
    ties: str = "all"  # which of those equally far count: all, the first in the file, or in a search tree


@dataclass(frozen=True, eq=False)
class Guesses:
    """Guesses of a level for each query: of tied levels any may be drawn."""

    best: Floats  # (n_query,) votes of the levels that have most
    ties: NDArray[np.int64]  # (n_query,) how many have them
    of_truth: Floats  # (n_record,) votes of the true level of each record


def checked_model(
    model: Any, *, numeric: bool, n_neighbors: int, state: int, seeded: bool, scaled: bool = True,
    ties: str = "all",
) -> Model:  # fmt: skip
    """The model asked for, with its random numbers fixed by `state`.

    Where the caller gave a seed (`seeded`), it replaces a state that the estimator has of its own.
    """
    if isinstance(model, str):
        if model not in MODELS:
            words = f"model {model!r} is unknown; use {', '.join(MODELS)} or a scikit-learn estimator"
            raise DataError(words, argument="model")
        if model == "knn":
            return Model(model, n_neighbors, None, scaled, ties)
        return Model(model, n_neighbors, _with_state(_own_estimator(model, numeric), state, seeded=True))
    if isinstance(model, type) or not (hasattr(model, "fit") and hasattr(model, "predict")):
        words = "model is a name or an instance of a scikit-learn estimator with fit and predict"
        raise DataError(words, argument="model")
    from sklearn.base import is_classifier, is_regressor

    if not (is_regressor(model) if numeric else is_classifier(model)):
        needs = "a number needs a regressor" if numeric else "categories need a classifier"
        words = f"{type(model).__name__} cannot guess this target: {needs}; numeric= says which columns are numbers"
        raise DataError(words, argument="model")
    return Model(type(model).__name__, n_neighbors, _with_state(model, state, seeded=seeded))


def _own_estimator(name: str, numeric: bool) -> Any:
    from sklearn import ensemble, tree

    if name == "tree":
        return (tree.DecisionTreeRegressor if numeric else tree.DecisionTreeClassifier)(min_samples_leaf=5)
    if name == "forest":
        kind = ensemble.RandomForestRegressor if numeric else ensemble.RandomForestClassifier
        return kind(n_estimators=100, min_samples_leaf=5)
    kind = ensemble.HistGradientBoostingRegressor if numeric else ensemble.HistGradientBoostingClassifier
    return kind(early_stopping=False)


def _with_state(estimator: Any, state: int, *, seeded: bool) -> Any:
    from sklearn.base import clone

    copy = clone(estimator)
    states = {
        name: state
        for name, value in copy.get_params(deep=True).items()
        if (name == "random_state" or name.endswith("__random_state")) and (seeded or value is None)
    }
    return copy.set_params(**states)


def guess_numbers(model: Model, features: Features, target: Floats) -> Floats:
    """Guess a number for each query.

    Examples
    --------
    >>> one = (np.array([0.0, 1.0, 9.0]), np.array([0.4]))
    >>> guess_numbers(Model("knn", 2, None), Features((one,), (), (1.0,)), np.array([10.0, 20.0, 90.0])).tolist()
    [15.0]
    """
    if model.estimator is not None:
        return np.asarray(_fit_and_predict(model, features, target), np.float64)
    if model.ties != "all":
        return np.asarray(target[_some(model, features)].mean(axis=1), np.float64)
    index, query = _index(features, scaled=model.scaled)
    sums, count = index.totals(query, min(model.n_neighbors, features.sizes[0]), target[:, None])
    guessed: Floats = sums[:, 0] / count
    return guessed


def guess_levels(
    model: Model, features: Features, target: AnyInts, truth: AnyInts, place: AnyInts
) -> Guesses:
    """Guess a level for each query, and how the true levels of the records fare that the queries stand for.

    `target` (n_train,) are the levels of the training records, 1 and up; `truth` and `place` (n_record,) the true
    level of each record, and the query it is.

    Examples
    --------
    >>> one = (np.array([0.0, 1.0, 9.0]), np.array([0.4]))
    >>> features = Features((one,), (), (1.0,))
    >>> found = guess_levels(Model("knn", 2, None), features, np.array([1, 2, 2]), np.array([2]), np.array([0]))
    >>> found.best.tolist(), found.ties.tolist(), found.of_truth.tolist()
    ([1.0], [2], [1.0])
    """
    n_query = features.sizes[1]
    if model.estimator is not None:
        guessed = np.asarray(_fit_and_predict(model, features, target))
        of_truth = (guessed[place] == truth).astype(np.float64)
        return Guesses(np.ones(n_query), np.ones(n_query, np.int64), of_truth)
    best, ties, of_truth = np.zeros(n_query), np.zeros(n_query, np.int64), np.zeros(len(truth))
    for levels, votes in _votes(model, features, target):
        top = votes.max(axis=1)
        count = np.count_nonzero(votes == top[:, None], axis=1)
        ties = np.where(top > best, count, ties + np.where(top == best, count, 0))
        best = np.maximum(best, top)
        at = np.searchsorted(levels, truth)
        here = (at < len(levels)) & (levels[np.minimum(at, len(levels) - 1)] == truth)
        of_truth[here] = votes[place[here], at[here]]
    return Guesses(best, ties, of_truth)


def mean_costs(
    model: Model, features: Features, target: AnyInts, truth: AnyInts, place: AnyInts, costs: Floats
) -> Floats:
    """What the guess for each record costs, a guess drawn among tied levels.

    `costs`: by true level (rows) and guessed one (columns), levels from 1.

    Examples
    --------
    >>> one = (np.array([0.0, 1.0, 9.0]), np.array([0.4]))
    >>> features, costs = Features((one,), (), (1.0,)), np.array([[0.0, 1.0], [4.0, 0.0]])
    >>> mean_costs(Model("knn", 2, None), features, np.array([1, 2, 2]), np.array([2]), np.array([0]), costs).tolist()
    [2.0]
    """
    if model.estimator is not None:
        guessed = np.asarray(_fit_and_predict(model, features, target))
        return np.asarray(costs[truth - 1, guessed[place] - 1], np.float64)
    n_query = features.sizes[1]
    best, ties, total = np.full(n_query, -1.0), np.zeros(n_query), np.zeros(len(truth))
    for levels, votes in _votes(model, features, target):
        top = votes.max(axis=1)
        chosen = votes == top[:, None]
        count, paid = chosen.sum(axis=1), (chosen[place] * costs[truth - 1][:, levels - 1]).sum(axis=1)
        better, same = top > best, top == best
        ties = np.where(better, count, ties + np.where(same, count, 0))
        total = np.where(better[place], paid, total + np.where(same[place], paid, 0.0))
        best = np.maximum(best, top)
    return np.asarray(total / ties[place], np.float64)


def _votes(model: Model, features: Features, target: AnyInts) -> Iterator[tuple[AnyInts, Floats]]:
    """Some levels and how many neighbours of each query hold each: a few at a time, a table of all may not fit."""
    used = np.unique(target)
    k = min(model.n_neighbors, features.sizes[0])
    width = max(1, BLOCK // max(features.sizes))
    if model.ties != "all":
        near = target[_some(model, features)]
        for start in range(0, len(used), width):
            levels = used[start : start + width]
            counts = [(near == level).sum(axis=1) for level in levels]
            yield levels, np.stack(counts, axis=1).astype(np.float64)
        return
    index, query = _index(features, scaled=model.scaled)
    if len(used) <= width:  # added up in the search itself
        yield used, index.totals(query, k, (target[:, None] == used).astype(np.float64))[0]
        return
    within = index.within(query, k)
    for start in range(0, len(used), width):
        levels = used[start : start + width]
        yield levels, within.totals((target[:, None] == levels).astype(np.float64))[0]


def _some(model: Model, features: Features) -> AnyInts:
    """As many neighbours as asked for, whatever is equally far."""
    search = first_neighbours if model.ties == "first" else tree_neighbours
    return search(features, min(model.n_neighbors, features.sizes[0]), scaled=model.scaled)


def _index(features: Features, *, scaled: bool) -> tuple[Any, Any]:
    """The training records ready for searching, and the queries."""
    from sdckit.numerics.coding import differences
    from sdckit.numerics.search.neighbours import prepare

    numbers = [
        (train / scale, query / scale) if scaled else (train, query)
        for (train, query), scale in zip(features.numbers, features.scale, strict=True)
        if scale > 0
    ]
    codes = list(features.codes)
    if not numbers and not codes:  # nothing tells records apart: all are equally near
        n_train, n_query = features.sizes
        codes = [(np.zeros(n_train, np.int32), np.zeros(n_query, np.int32))]
    base, query = differences(numbers, codes, power=2)
    return prepare(base), query


def _fit_and_predict(model: Model, features: Features, target: NDArray[Any]) -> NDArray[Any]:
    from sklearn.base import clone

    train, query = features.design()
    estimator = clone(model.estimator)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they may show values; what matters is how well it guesses
            guessed: NDArray[Any] = estimator.fit(train, target).predict(query)
    except Exception as error:  # noqa: BLE001 - any estimator may be given, and its messages may show values
        words = f"the model {model.name} could not be fitted and asked ({type(error).__name__})"
        raise DataError(f"{words}; try it on the data alone to see why") from None
    return guessed
