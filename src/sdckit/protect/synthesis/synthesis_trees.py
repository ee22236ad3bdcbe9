"""Synthesis by trees (CART), values of donors from the same leaf; and by any scikit-learn estimator."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdckit.errors import sure
from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.coding import hash_word
from sdckit.numerics.compiling import njit
from sdckit.numerics.grouping import in_place
from sdckit.numerics.search.count_boxes import order_by_group
from sdckit.numerics.threads import chunks, run
from sdckit.protect.synthesis.synthesis_design import Seen, Term, design_matrix, make_terms, seen
from sdckit.protect.synthesis.synthesis_linear import choose
from sdckit.protect.synthesis.synthesis_variables import Values, Variable

# A regression tree for many records: that of scikit-learn, grown from columns that are sorted once.
# A column of few distinct values is tabulated in each node. One of many is sorted before the first split;
# every split keeps that order, so that no node sorts anything. The records of a node are contiguous in
# memory.


FEW = 256  # distinct values of a column that is tabulated; their codes are bytes
SAME = np.float32(1e-7)  # values no farther apart are one, as in scikit-learn
PURE = np.finfo(np.float64).eps  # a variance up to this counts as zero
FLAT = {"reassoc", "contract", "nsz", "nnan"}  # sums whose order does not matter


class Columns(NamedTuple):
    """Predictors and outcome of the records, those of each node contiguous.

    With few distinct values, p columns: `codes` (p, n), `values` (p, 256), and `spans` (p,), how many each has. With
    many, q columns: the ascending numbers `line` (q, n), their records (`rows`) and their outcomes (`there`). `y` (n,)
    and `own` (n,): outcome and record in the order of `codes`. `place` (p + q,): columns of the matrix.
    """

    codes: NDArray[np.uint8]
    values: NDArray[np.float32]
    spans: NDArray[np.int64]
    line: NDArray[np.float32]
    rows: NDArray[np.int32]
    there: NDArray[np.float64]
    y: NDArray[np.float64]
    own: NDArray[np.int32]
    place: NDArray[np.int64]


class Tree(NamedTuple):
    """For each node the column and limit of its split (up to it records go left) and the left child; -1: a leaf."""

    column: NDArray[np.int64]
    limit: NDArray[np.float64]
    left: NDArray[np.int64]


@njit(cache=True, nogil=True)
def _midway(low, high):  # type: ignore[no-untyped-def]
    """The limit between two values of type float32."""
    middle = np.float64(low) / 2.0 + np.float64(high) / 2.0
    return np.float64(low) if middle == high or np.isinf(middle) else middle


@njit(cache=True, nogil=True)
def _cut_codes(columns, d, start, stop, total, min_leaf, held, best):  # type: ignore[no-untyped-def]
    """The best split of a node by a column of few values: its score, the limit, the last code to the left.

    `total`: sum of the outcome in the node. `held`: work space. `best`: score to beat; the last code is -1 where none
    does.
    """
    counts, sums = held
    codes, y, span, values = columns.codes[d], columns.y, columns.spans[d], columns.values[d]
    for code in range(span):
        counts[code], sums[code] = 0, 0.0
    for i in range(start, stop):
        counts[codes[i]] += 1
        sums[codes[i]] += y[i]
    gain, limit, last = best, 0.0, -1
    n, left, below, before = stop - start, 0, 0.0, -1
    for code in range(span):
        if counts[code] == 0:
            continue
        if before >= 0 and left >= min_leaf and n - left >= min_leaf:
            score = below * below / left + (total - below) * (total - below) / (n - left)
            if score > gain:
                gain, limit, last = score, _midway(values[before], values[code]), before
        left, below, before = left + counts[code], below + sums[code], code
    return gain, limit, last


@njit(cache=True, nogil=True)
def _cut_line(columns, d, start, stop, total, min_leaf, best):  # type: ignore[no-untyped-def]
    """The best split of a node by a column of many values: its score, the limit, where the right side begins.

    `total`: sum of the outcome in the node. `best`: score to beat; the last figure is -1 where none does.
    """
    line, there = columns.line[d], columns.there[d]
    gain, limit, last = best, 0.0, -1
    below = 0.0
    for i in range(start, stop - min_leaf):
        below += there[i]
        left, right = i + 1 - start, stop - i - 1
        if left >= min_leaf and line[i + 1] > line[i] + SAME:
            score = below * below / left + (total - below) * (total - below) / right
            if score > gain:
                gain, limit, last = score, _midway(line[i], line[i + 1]), i + 1
    return gain, limit, last


@njit(cache=True, nogil=True)
def _part(goes, start, stop, column, spare):  # type: ignore[no-untyped-def]
    """Stable partition of `column[start:stop]`: entries whose `goes` is 1 first; `spare`: work space."""
    at, n_spare = start, 0
    for i in range(start, stop):
        value = column[i]
        column[at] = value
        spare[n_spare] = value
        at += goes[i]
        n_spare += 1 - goes[i]
    for i in range(n_spare):
        column[at + i] = spare[i]


@njit(cache=True, nogil=True)
def _divide(columns, start, stop, split, goes, mark, spare):  # type: ignore[no-untyped-def]
    """Partition all columns of a node by its split; return the number of records that go left.

    `split`: the column, and its last code to the left or where the right side begins. `goes`, `mark`, `spare`: work
    space.
    """
    bytes_, floats, ints, doubles = spare
    n_few, (column, last) = len(columns.codes), split
    if column < n_few:
        codes = columns.codes[column]
        for i in range(start, stop):
            mark[columns.own[i]] = codes[i] <= last
    else:
        rows = columns.rows[column - n_few]
        for i in range(start, stop):
            mark[rows[i]] = i < last
    left = 0
    for i in range(start, stop):
        goes[i] = mark[columns.own[i]]
        left += goes[i]
    for d in range(n_few):
        _part(goes, start, stop, columns.codes[d], bytes_)
    _part(goes, start, stop, columns.y, doubles)
    _part(goes, start, stop, columns.own, ints)
    for d in range(len(columns.line)):
        rows = columns.rows[d]
        for i in range(start, stop):
            goes[i] = mark[rows[i]]
        _part(goes, start, stop, columns.line[d], floats)
        _part(goes, start, stop, columns.there[d], doubles)
        _part(goes, start, stop, rows, ints)
    return left


@njit(cache=True, nogil=True, fastmath=FLAT)
def _sums(y, start, stop):  # type: ignore[no-untyped-def]
    """Sum and sum of squares of `y[start:stop]`."""
    total, squares = 0.0, 0.0
    for i in range(start, stop):
        total += y[i]
        squares += y[i] * y[i]
    return total, squares


@njit(cache=True, nogil=True)
def _grow(columns, min_leaf, seed, tree, leaf_of):  # type: ignore[no-untyped-def]
    """Grow the tree depth first; fill `tree` and `leaf_of`, the leaf of each record; return the number of nodes."""
    n, n_few = len(columns.y), len(columns.codes)
    n_columns = n_few + len(columns.line)
    goes, mark = np.empty(n, np.int64), np.empty(n, np.uint8)
    spare = np.empty(n, np.uint8), np.empty(n, np.float32), np.empty(n, np.int32), np.empty(n)
    n_values = columns.values.shape[1]
    held = np.empty(n_values, np.int64), np.empty(n_values)
    stack = np.empty((n // min_leaf + 2, 3), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, 0, n
    depth, used = 1, 1
    while depth:
        depth -= 1
        node, start, stop = stack[depth]
        total, squares = _sums(columns.y, start, stop)
        size = stop - start
        variance = squares / size - (total / size) ** 2
        column, limit, last, gain = np.int64(-1), 0.0, np.int64(-1), -np.inf
        if size >= 2 * min_leaf and variance > PURE:
            first = np.int64(hash_word(np.uint64(seed) ^ np.uint64(node)) >> np.uint64(8)) % n_columns
            for turn in range(n_columns):  # begins with a random column, so that none wins all ties
                d = (first + turn) % n_columns
                if d < n_few:
                    cut = _cut_codes(columns, d, start, stop, total, min_leaf, held, gain)
                else:
                    cut = _cut_line(columns, d - n_few, start, stop, total, min_leaf, gain)
                if cut[2] >= 0:
                    column, gain, limit, last = d, cut[0], cut[1], cut[2]
        tree.left[node] = -1
        if column < 0:
            for i in range(start, stop):
                leaf_of[columns.own[i]] = node
            continue
        n_left = _divide(columns, start, stop, (column, last), goes, mark, spare)
        tree.column[node], tree.limit[node], tree.left[node] = columns.place[column], limit, used
        stack[depth, 0], stack[depth, 1], stack[depth, 2] = used + 1, start + n_left, stop
        stack[depth + 1, 0], stack[depth + 1, 1], stack[depth + 1, 2] = used, start, start + n_left
        depth, used = depth + 2, used + 2
    return used


@njit(cache=True, nogil=True)
def _apply(tree, X, first, last, leaf):  # type: ignore[no-untyped-def]
    """Fill `leaf` with the leaf of each of the rows first to last of X."""
    for i in range(first, last):
        node = np.int64(0)
        while tree.left[node] >= 0:
            right = X[i, tree.column[node]] > tree.limit[node]
            node = tree.left[node] + np.int64(right)
        leaf[i] = node


@dataclass(frozen=True, eq=False)
class GrownTree:
    """A tree, and the leaf of each record that it was grown from."""

    tree: Tree
    leaf_of: NDArray[np.int64]

    @property
    def node_count(self) -> int:
        """Nodes, leaves among them."""
        return len(self.tree.left)

    def apply(self, X: NDArray[np.float32]) -> NDArray[np.int64]:
        """The leaf of each row of a matrix like that the tree was grown from."""
        leaf = np.empty(len(X), np.int64)
        run(lambda part: _apply(self.tree, X, *part, leaf), chunks(len(X)))
        return leaf


def grow(X: NDArray[np.float32], y: NDArray[np.float64], *, min_leaf: int, seed: int) -> GrownTree:
    """Grow a least-squares regression tree that predicts `y` from the columns of `X`.

    Each split is the one that lowers the sum of squares most, of those that leave `min_leaf` records on both sides; a
    leaf is a node without such a split. Of ties the first is taken, beginning with a random column.

    Breiman, L., Friedman, J. H., Olshen, R. A. and Stone, C. J. (1984). Classification and regression trees.

    >>> X = np.array([[1.0], [2.0], [8.0], [9.0]], np.float32)
    >>> found = grow(X, np.array([0.0, 0.0, 1.0, 1.0]), min_leaf=1, seed=0)
    >>> found.node_count, found.tree.limit.tolist()[0], bool((found.apply(X) == found.leaf_of).all())
    (3, 5.0, True)
    """
    n, room = len(X), 2 * (len(X) // min_leaf) + 3
    columns = _columns(X, y)
    tree = Tree(np.zeros(room, np.int64), np.zeros(room), np.empty(room, np.int64))
    leaf_of = np.empty(n, np.int64)
    used = _grow(columns, min_leaf, seed, tree, leaf_of)
    column, limit, left = tree
    return GrownTree(Tree(column[:used].copy(), limit[:used].copy(), left[:used].copy()), leaf_of)


def _columns(X: NDArray[np.float32], y: NDArray[np.float64]) -> Columns:
    n = len(X)
    few: list[tuple[int, NDArray[np.uint8], NDArray[np.float32]]] = []
    many: list[tuple[int, NDArray[np.float32], NDArray[np.int32]]] = []
    for at in range(X.shape[1]):
        column = np.ascontiguousarray(X[:, at])
        values = np.unique(column)
        if len(values) <= FEW and (np.diff(values) > SAME).all():
            few.append((at, np.searchsorted(values, column).astype(np.uint8), values))
        else:
            order = np.argsort(column, kind="stable").astype(np.int32)
            many.append((at, column[order], order))
    values = np.zeros((len(few), FEW), np.float32)
    for row, (_, _, distinct) in zip(values, few, strict=True):
        row[: len(distinct)] = distinct
    rows = np.array([order for _, _, order in many], np.int32).reshape(-1, n)
    return Columns(
        np.array([codes for _, codes, _ in few], np.uint8).reshape(-1, n), values,
        np.array([len(distinct) for _, _, distinct in few], np.int64),
        np.array([line for _, line, _ in many], np.float32).reshape(-1, n), rows, y[rows],
        y.copy(), np.arange(n, dtype=np.int32), np.array([at for at, *_ in few + many], np.int64),
    )  # fmt: skip


MANY = 50_000  # records from which on regression trees are grown here, not by scikit-learn
HEAPED = 0.1  # share of the records from which on a number is an answer, no measurement: it is not smoothed


@dataclass(frozen=True, eq=False)
class Place:
    """One column of a tree's predictors."""

    column: str
    # of categories: the rank of each level, that of a missing value last. None: the number as it is.
    rank: Floats | None
    centre: float  # of numbers
    scale: float
    missing: bool  # whether it is the indicator of a missing number instead


@dataclass(frozen=True, eq=False)
class SampleFit:
    """Values drawn from the observed ones, whatever the predictors."""

    variable: Variable
    rows: Ints

    def draw(self, held: Mapping[str, Seen], n: int, rng: np.random.Generator, release: int) -> Values:  # noqa: ARG002
        """New values of n records."""
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

    def draw(self, held: Mapping[str, Seen], n: int, rng: np.random.Generator, release: int) -> Values:  # noqa: ARG002
        """New values of n records: each that of a donor from its leaf."""
        leaf = self.tree.apply(_matrix(self.places, held, n))
        size = self.edges[leaf + 1] - self.edges[leaf]
        values = self.variable.held.take(self.members[self.edges[leaf] + (rng.random(n) * size).astype(np.int64)])
        is_smoothed = self.smoothing != 0 and self.variable.kind == "number"
        return self._smoothed(values, leaf, rng) if is_smoothed else values

    def _smoothed(self, values: Values, leaf: Ints, rng: np.random.Generator) -> Values:
        """A draw from the kernel density of each leaf, within the range of the whole variable."""
        variable, drawn, amounts = self.variable, sure(values.number), sure(self.variable.amounts)
        numbers, n_leaves = sure(variable.held.number)[self.members], len(self.edges) - 1
        of = np.repeat(np.arange(n_leaves), np.diff(self.edges))
        size = np.maximum(np.bincount(of, minlength=n_leaves), 1)
        mean = np.bincount(of, numbers, n_leaves) / size
        spread = np.sqrt(np.bincount(of, (numbers - mean[of]) ** 2, n_leaves) / size)
        width = self.smoothing * 0.9 * spread * size**-0.2
        moved = drawn + width[leaf] * rng.standard_normal(len(leaf))
        low, high = amounts[0], amounts[-1]
        moved = low + np.abs((moved - low) % (2 * (high - low) or 1.0))  # reflected at both ends
        moved = np.where(moved > high, 2 * high - moved, moved)
        counts = np.bincount(variable.held.level[self.members], minlength=variable.n_levels)
        return variable.of_numbers(np.where((counts > HEAPED * len(self.members))[values.level], drawn, moved))


@dataclass(frozen=True, eq=False)
class EstimatorFit:
    """A fitted scikit-learn estimator: probabilities of levels, or predictions with residuals drawn to them."""

    variable: Variable
    terms: tuple[Term, ...]
    estimator: Any
    residuals: Floats | None

    def draw(self, held: Mapping[str, Seen], n: int, rng: np.random.Generator, release: int) -> Values:  # noqa: ARG002
        """New values of n records from their predictors."""
        X = design_matrix(self.terms, held, n)[:, 1:]
        if self.residuals is None:
            return self.variable.of_levels(
                np.asarray(self.estimator.classes_)[choose(self.estimator.predict_proba(X), rng)]
            )
        left = self.residuals[rng.integers(len(self.residuals), size=n)]
        return self.variable.of_numbers(np.asarray(self.estimator.predict(X), float).reshape(n) + left)


def fit_tree(
    variable: Variable, predictors: Sequence[Variable], rows: Ints, *, min_leaf: int, smoothing: float, state: int
) -> TreeFit:
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
    places = tuple(place for predictor in predictors for place in _places(predictor, y, rows))
    held = {predictor.name: seen(predictor, predictor.held.take(rows)) for predictor in predictors}
    tree, leaf, n_nodes = _grown(_matrix(places, held, len(rows)), y, min_leaf, state)
    order, edges = order_by_group(leaf, n_nodes)
    return TreeFit(variable, places, tree, rows[order], edges, smoothing)


def _grown(X: NDArray[np.float32], y: NDArray[Any], min_leaf: int, state: int) -> tuple[Any, Ints, int]:
    """A tree, the leaf of each record, and the number of nodes.

    The kernel and scikit-learn grow the same regression tree, but may differ in ties. The kernel takes seconds to
    compile, which a small file does not pay back.
    """
    if y.dtype.kind == "f" and len(y) >= MANY:
        grown = grow(X, y, min_leaf=min_leaf, seed=state)
        return grown, grown.leaf_of, grown.node_count
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    kind = DecisionTreeRegressor if y.dtype.kind == "f" else DecisionTreeClassifier
    tree = kind(min_samples_leaf=min_leaf, random_state=state).fit(X, y)
    return tree, tree.apply(X), tree.tree_.node_count


def fit_estimator(variable: Variable, predictors: Sequence[Variable], rows: Ints, *, estimator: Any) -> EstimatorFit:
    """Fit a scikit-learn estimator to one variable."""
    from sklearn.base import is_classifier

    terms = make_terms(predictors, rows)
    held = {predictor.name: seen(predictor, predictor.held.take(rows)) for predictor in predictors}
    X = design_matrix(terms, held, len(rows))[:, 1:]
    if is_classifier(estimator):
        return EstimatorFit(variable, terms, estimator.fit(X, variable.held.level[rows]), None)
    y = sure(variable.held.number)[rows]
    estimator.fit(X, y)
    return EstimatorFit(variable, terms, estimator, y - np.asarray(estimator.predict(X), float).reshape(len(y)))


def _places(variable: Variable, y: NDArray[Any], rows: Ints) -> list[Place]:
    level = variable.held.level[rows]
    if variable.held.number is not None:
        known = variable.held.number[rows]
        known = known[~np.isnan(known)]
        if not len(known):
            return [Place(variable.name, None, 0.0, 1.0, True)]
        made = [Place(variable.name, None, float(np.median(known)), float(known.std()) or 1.0, False)]
        return [*made, Place(variable.name, None, 0.0, 1.0, True)] if variable.n_missing else made
    ranks = _ranks(np.where(level < 0, variable.n_levels, level), variable.n_levels + 1, y)
    return [Place(variable.name, ranks, 0.0, 1.0, False)]


def _ranks(level: Ints, n_levels: int, y: NDArray[Any]) -> Floats:
    """Rank of each level in the order that predicts best; levels without records stand in the middle."""
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
            axis = np.linalg.eigh((away.T * counts) @ away)[1][:, -1]
            score = away @ (axis * np.sign(axis[np.argmax(np.abs(axis))]))
    score = np.where(counts > 0, score, 0.0 if y.dtype.kind != "f" else y.mean())
    return in_place(np.arange(float(n_levels)), np.argsort(score, kind="stable"))


def _matrix(places: Sequence[Place], held: Mapping[str, Seen], n: int) -> NDArray[np.float32]:
    made = np.empty((n, len(places)), np.float32)
    for at, place in enumerate(places):
        values = held[place.column].values
        if place.rank is not None:
            made[:, at] = place.rank[values.level]  # a missing value's level of -1 is the last rank
            continue
        number = sure(values.number)
        gone = np.isnan(number)
        made[:, at] = gone if place.missing else np.where(gone, 0.0, (number - place.centre) / place.scale)
    return made
