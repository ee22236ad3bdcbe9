"""Synthesis by trees: a record takes the value of one that falls into the same leaf. And by any estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.search.count_boxes import order_by_group
from sdckit.protect.synthesis.regression_tree import grow
from sdckit.protect.synthesis.synthesis_design import Seen, Term, design_matrix, make_terms, seen
from sdckit.protect.synthesis.synthesis_linear import choose
from sdckit.protect.synthesis.synthesis_variables import Values, Variable

MANY = 50_000  # records from which on regression trees are grown here, not by scikit-learn
HEAPED = 0.1  # share of the records that makes a number an answer, no measurement: it is not smoothed


@dataclass(frozen=True, eq=False)
class Place:
    """One column of a tree's predictors."""

    column: str
    # of categories: the rank of each level, that of a missing value last. None: the number as it is.
    rank: Floats | None
    centre: float  # of numbers
    scale: float
    missing: bool  # whether the column tells if a number is missing instead


@dataclass(frozen=True, eq=False)
class SampleFit:
    """Values drawn from those that records have, whatever the predictors."""

    variable: Variable
    rows: Ints

    def draw(self, held: Mapping[str, Seen], n: int, rng: np.random.Generator, release: int) -> Values:
        """New values of n records."""
        del held, release
        return self.variable.held.take(self.rows[rng.integers(len(self.rows), size=n)])


@dataclass(frozen=True, eq=False)
class TreeFit:
    """A fitted tree, and the records in each of its leaves."""

    variable: Variable
    places: tuple[Place, ...]
    tree: Any
    members: Ints
    edges: Ints
    smoothing: float

    def draw(self, held: Mapping[str, Seen], n: int, rng: np.random.Generator, release: int) -> Values:
        """New values of n records: each that of a donor from its leaf."""
        del release
        leaf = self.tree.apply(_matrix(self.places, held, n))
        size = self.edges[leaf + 1] - self.edges[leaf]
        donor = self.members[self.edges[leaf] + (rng.random(n) * size).astype(np.int64)]
        found = self.variable.held.take(donor)
        if self.smoothing == 0 or self.variable.kind != "number":
            return found
        return self._smoothed(found, leaf, rng)

    def _smoothed(self, found: Values, leaf: Ints, rng: np.random.Generator) -> Values:
        """A draw from the kernel density of each leaf, within the range of the whole variable."""
        one = self.variable
        assert one.held.number is not None
        assert one.amounts is not None
        assert found.number is not None
        numbers, n_leaves = one.held.number[self.members], len(self.edges) - 1
        of = np.repeat(np.arange(n_leaves), np.diff(self.edges))
        size = np.maximum(np.bincount(of, minlength=n_leaves), 1)
        mean = np.bincount(of, numbers, n_leaves) / size
        spread = np.sqrt(np.bincount(of, (numbers - mean[of]) ** 2, n_leaves) / size)
        width = self.smoothing * 0.9 * spread * size**-0.2
        moved = found.number + width[leaf] * rng.standard_normal(len(leaf))
        low, high = one.amounts[0], one.amounts[-1]
        moved = low + np.abs((moved - low) % (2 * (high - low) or 1.0))  # reflected at both ends
        moved = np.where(moved > high, 2 * high - moved, moved)
        counts = np.bincount(one.held.level[self.members], minlength=one.n_levels)
        heaped = counts > HEAPED * len(self.members)
        return one.of_numbers(np.where(heaped[found.level], found.number, moved))


@dataclass(frozen=True, eq=False)
class EstimatorFit:
    """An estimator of the caller's: probabilities of levels, or predictions with residuals drawn to them."""

    variable: Variable
    terms: tuple[Term, ...]
    estimator: Any
    residuals: Floats | None

    def draw(self, held: Mapping[str, Seen], n: int, rng: np.random.Generator, release: int) -> Values:
        """New values of n records from their predictors."""
        del release
        X = design_matrix(self.terms, held, n)[:, 1:]
        if self.residuals is None:
            return self.variable.of_levels(
                np.asarray(self.estimator.classes_)[choose(self.estimator.predict_proba(X), rng)]
            )
        left = self.residuals[rng.integers(len(self.residuals), size=n)]
        return self.variable.of_numbers(np.asarray(self.estimator.predict(X), float).reshape(n) + left)


def fit_tree(
    variable: Variable, predictors: Sequence[Variable], rows: Ints, *, min_leaf: int, smoothing: float,
    state: int,
) -> TreeFit:  # fmt: skip
    """Grow a tree for one variable from others.

    Categories among the predictors are ranked: by the mean of a number, else by the first principal component
    of the shares of the levels. That finds the best cut into two for a number and for two levels, and a good
    one for several.

    Coppersmith, D., Hong, S. J. and Hosking, J. R. M. (1999). Partitioning nominal attributes in decision
    trees. Data Mining and Knowledge Discovery 3, 197-217.
    """
    if variable.held.number is None:
        y: NDArray[Any] = variable.held.level[rows]
    else:
        numbers = variable.held.number[rows]
        y = (numbers - numbers.mean()) / (numbers.std() or 1.0)
    places = tuple(place for one in predictors for place in _places(one, y, rows))
    held = {one.name: seen(one, one.held.take(rows)) for one in predictors}
    X = _matrix(places, held, len(rows))
    tree, leaf, n_nodes = _grown(X, y, min_leaf, state)
    order, edges = order_by_group(leaf, n_nodes)
    return TreeFit(variable, places, tree, rows[order], edges, smoothing)


def _grown(X: NDArray[np.float32], y: NDArray[Any], min_leaf: int, state: int) -> tuple[Any, Ints, int]:
    """A tree, the leaf of each record, and its nodes.

    Both ways grow the same tree of numbers; of cuts that are equally good they may take different ones. Ours needs
    seconds to be compiled, which a small file does not pay back.
    """
    if y.dtype.kind == "f" and len(y) >= MANY:
        found = grow(X, y, min_leaf=min_leaf, seed=state)
        return found, found.leaf_of, found.node_count
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    kind = DecisionTreeRegressor if y.dtype.kind == "f" else DecisionTreeClassifier
    tree = kind(min_samples_leaf=min_leaf, random_state=state).fit(X, y)
    return tree, tree.apply(X), tree.tree_.node_count


def fit_estimator(
    variable: Variable, predictors: Sequence[Variable], rows: Ints, *, estimator: Any
) -> EstimatorFit:
    """Fit an estimator of the caller's to one variable."""
    from sklearn.base import is_classifier

    terms = make_terms(predictors, rows)
    held = {one.name: seen(one, one.held.take(rows)) for one in predictors}
    X = design_matrix(terms, held, len(rows))[:, 1:]
    if is_classifier(estimator):
        return EstimatorFit(variable, terms, estimator.fit(X, variable.held.level[rows]), None)
    assert variable.held.number is not None
    y = variable.held.number[rows]
    estimator.fit(X, y)
    left = y - np.asarray(estimator.predict(X), float).reshape(len(y))
    return EstimatorFit(variable, terms, estimator, left)


def _places(one: Variable, y: NDArray[Any], rows: Ints) -> list[Place]:
    level = one.held.level[rows]
    if one.held.number is not None:
        known = one.held.number[rows]
        known = known[~np.isnan(known)]
        if not len(known):
            return [Place(one.name, None, 0.0, 1.0, True)]
        made = [Place(one.name, None, float(np.median(known)), float(known.std()) or 1.0, False)]
        return [*made, Place(one.name, None, 0.0, 1.0, True)] if one.n_missing else made
    ranks = _ranks(np.where(level < 0, one.n_levels, level), one.n_levels + 1, y)
    return [Place(one.name, ranks, 0.0, 1.0, False)]


def _ranks(level: Ints, n_levels: int, y: NDArray[Any]) -> Floats:
    """The place of each level in the order that predicts best; levels not met stand in the middle."""
    counts = np.bincount(level, minlength=n_levels)
    there = np.maximum(counts, 1)
    if y.dtype.kind == "f":
        score = np.bincount(level, y, n_levels) / there
    else:
        there_are = np.bincount(y - y.min()) > 0
        K, code = int(there_are.sum()), (np.cumsum(there_are) - 1)[y - y.min()]
        share = np.bincount(level * K + code, minlength=n_levels * K).reshape(n_levels, K) / there[:, None]
        away = (share - np.bincount(code, minlength=K) / len(y)) * (counts > 0)[:, None]
        if K == 2:
            score = away[:, 1]
        else:
            axes = np.linalg.eigh((away.T * counts) @ away)[1]
            axis = axes[:, -1]
            score = away @ (axis * np.sign(axis[np.argmax(np.abs(axis))]))
    score = np.where(counts > 0, score, 0.0 if y.dtype.kind != "f" else y.mean())
    rank = np.empty(n_levels)
    rank[np.argsort(score, kind="stable")] = np.arange(n_levels)
    return rank


def _matrix(places: Sequence[Place], held: Mapping[str, Seen], n: int) -> NDArray[np.float32]:
    made = np.empty((n, len(places)), np.float32)
    for at, place in enumerate(places):
        one = held[place.column].values
        if place.rank is not None:
            made[:, at] = place.rank[one.level]  # a missing value's level of -1 is the last rank
        elif place.missing:
            assert one.number is not None
            made[:, at] = np.isnan(one.number)
        else:
            assert one.number is not None
            made[:, at] = np.where(np.isnan(one.number), 0.0, (one.number - place.centre) / place.scale)
    return made
