"""Predicting the target of some records from others: by nearest neighbours, or by a model of scikit-learn."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdckit.cells.pair import Pair
from sdckit.data.seeds import with_state
from sdckit.errors import DataError
from sdckit.numerics.array_types import AnyInts, Floats, Ints, Values
from sdckit.numerics.coding import differences
from sdckit.numerics.compiling import njit
from sdckit.numerics.grouping import first_of_groups
from sdckit.numerics.outlying import deviation, unit_of
from sdckit.numerics.search.neighbours import prepare

# Features: the keys of training records and of records to predict, as numbers.


DESIGN_LIMIT = 100_000_000  # entries of a design matrix
WORD = 63  # bits of an int64 that a packed sorting key may use


@dataclass(frozen=True, eq=False)
class Features:
    """Keys of training and query records, side by side.

    Attributes
    ----------
    numbers : tuple of (train, query) of ndarray, float64
        Numeric keys; a missing value is the mean of the training values.
    codes : tuple of (train, query) of ndarray
        Categories, a missing value being one; and for a numeric key with missing values whether it is.
    scale : tuple of float
        Standard deviation of the known training values of each numeric key; 0 where there is none.
    """

    numbers: tuple[tuple[Floats, Floats], ...]
    codes: tuple[tuple[AnyInts, AnyInts], ...]
    scale: tuple[float, ...]

    @property
    def sizes(self) -> tuple[int, int]:
        """Number of training and of query records."""
        train, query = (*self.numbers, *self.codes)[0]
        return len(train), len(query)

    def units(self, *, scaled: bool) -> tuple[Floats, float]:
        """What numbers are divided by, 0 for those that do not vary, and what the places of categories are.

        Numbers as they are, not `scaled`, are divided by a power of two where their squares would be infinite.
        """
        if scaled:
            return np.array(self.scale), 1.0
        largest = max((float(np.abs(values).max(initial=0.0)) for pair in self.numbers for values in pair), default=0.0)
        unit = float(unit_of(largest))
        return np.full(len(self.scale), unit), unit

    def design(self) -> tuple[Floats, Floats]:
        """Design matrices of both: the numbers, and an indicator for each category."""
        widths, places = [], []
        for train, query in self.codes:
            levels, inverse = np.unique(np.concatenate([train, query]), return_inverse=True)
            widths.append(len(levels))
            places.append((inverse[: len(train)], inverse[len(train) :]))
        columns = len(self.numbers) + sum(widths)
        if sum(self.sizes) * columns > DESIGN_LIMIT:
            size = f"{sum(self.sizes)} rows of {columns} columns (one per category of the keys)"
            raise DataError(f"{size} are too many for this model; use model='knn', coarser keys or a sample")
        out = tuple(np.zeros((n, columns)) for n in self.sizes)
        for j, pair in enumerate(self.numbers):
            for matrix, values in zip(out, pair, strict=True):
                matrix[:, j] = values
        first = len(self.numbers)
        for width, place in zip(widths, places, strict=True):
            for matrix, at in zip(out, place, strict=True):
                matrix[np.arange(len(at)), first + at] = 1.0
            first += width
        return out[0], out[1]


@dataclass(frozen=True, eq=False)
class Selection:
    """Some records of one of the files: 0 is the original."""

    file: int
    rows: Ints


def features_of(
    pair: Pair, keys: Sequence[str], numeric: Sequence[str], train: Selection, query: Selection
) -> Features:
    """Features of some records to train on and of some to predict.

    Examples
    --------
    >>> import polars as pl
    >>> from sdckit.cells.pair import open_pair
    >>> a, b = pl.DataFrame({"age": [20.0, None]}), pl.DataFrame({"age": [30.0, 50.0]})
    >>> pair = open_pair(a, b, categories={"keys": ["age"]}, numeric={"numeric": ["age"]})
    >>> found = features_of(pair, ["age"], ["age"], Selection(1, np.array([0, 1])), Selection(0, np.array([0, 1])))
    >>> found.numbers[0][1].tolist(), found.codes[0][1].tolist(), round(found.scale[0], 3)
    ([20.0, 40.0], [0, 1], 14.142)
    """
    numbers, codes, scale = [], [], []
    for key in keys:
        if key not in numeric:
            shared = pair.codes(key).codes
            codes.append((shared[train.file][train.rows], shared[query.file][query.rows]))
            continue
        values = pair.numbers(key)
        both = values[train.file][train.rows], values[query.file][query.rows]
        gone = np.isnan(both[0]), np.isnan(both[1])
        known = both[0][~gone[0]]
        mean = float(known.mean()) if len(known) else 0.0
        numbers.append((np.where(gone[0], mean, both[0]), np.where(gone[1], mean, both[1])))
        scale.append(float(deviation(known)) if len(known) > 1 else 0.0)
        if gone[0].any() or gone[1].any():
            codes.append((gone[0].astype(np.int32), gone[1].astype(np.int32)))
    return Features(tuple(numbers), tuple(codes), tuple(scale))


def first_of_each(of_row: AnyInts, rows: Ints) -> tuple[Ints, Ints]:
    """A representative record of each group among some rows, and the representative of each row.

    Examples
    --------
    >>> first, place = first_of_each(np.array([4, 2, 4]), np.array([0, 1, 2]))
    >>> first.tolist(), place.tolist()
    ([1, 0], [1, 0, 1])
    """
    groups = of_row[rows]
    first = first_of_groups(groups, int(groups.max(initial=0)) + 1)
    present = first >= 0
    return rows[first[present]], (np.cumsum(present) - 1)[groups]


def order_of_rows(pair: Pair, names: Sequence[str], file: int) -> Ints:
    """A sorting of a file's records by their values only, independent of file order."""
    columns = [pair.codes(name) for name in names]
    bits = [int(column.n_levels).bit_length() for column in columns]
    if sum(bits) > WORD:
        return np.lexsort([column.codes[file] for column in columns])
    words = np.zeros(len(columns[0].codes[file]), np.int64)
    for column, before in zip(columns, np.cumsum([0, *bits[:-1]]).tolist(), strict=True):
        words |= column.codes[file].astype(np.int64) << before
    return np.argsort(words, kind="stable")


# The k nearest training records by a k-d tree; ties as R's FNN resolves them, in the order of the search.


ALIKE = 0.999  # among box sides at least so long, relative to the longest, that with most spread is cut


def tree_neighbours(features: Features, k: int, *, scaled: bool) -> Ints:
    """Indices of the k nearest training records of each query, shape (n_query, k), nearest first.

    A k-d tree with one point in a leaf, cut at the middle of a box's longest side, or where that leaves a part empty
    at its outermost point (Maneewongvatana and Mount 1999). Euclidean; a different category counts 1.

    >>> one = (np.array([1.0, 3.0, 1.0]), np.array([2.0]))
    >>> tree_neighbours(Features((one,), (), (1.0,)), 2, scaled=False).tolist()
    [[1, 2]]
    """
    train, query = features.design()
    n_numbers = len(features.numbers)
    units, of_categories = features.units(scaled=scaled)
    for matrix in (train, query):
        matrix[:, :n_numbers] /= np.where(units > 0, units, np.inf)
        matrix[:, n_numbers:] *= np.sqrt(0.5) / of_categories
    return np.asarray(_nearest(train, query, k), np.int64)


@njit(cache=True, nogil=True)
def _split(points: Floats, rows: Ints, low: Floats, high: Floats) -> tuple[int, float, int]:
    """Partition `rows` in place around a cut; return its column, its value, and the number of rows below it."""
    n, longest = len(rows), (high - low).max()
    column, widest, least, most = 0, -1.0, 0.0, 0.0
    for at in range(points.shape[1]):
        if high[at] - low[at] >= ALIKE * longest:
            start, stop = points[rows[0], at], points[rows[0], at]
            for row in rows:
                start, stop = min(start, points[row, at]), max(stop, points[row, at])
            if stop - start > widest:
                column, widest, least, most = at, stop - start, start, stop
    middle = (low[column] + high[column]) / 2
    cut = min(max(middle, least), most)
    below = _order(points, rows, column, cut, np.int64(0), strict=True)
    upto = _order(points, rows, column, cut, below, strict=False)
    if middle < least:
        return column, cut, 1
    if middle > most:
        return column, cut, n - 1
    return column, cut, min(max(n // 2, below), upto)


@njit(cache=True, nogil=True)
def _order(points: Floats, rows: Ints, column: int, cut: float, start: int, strict: bool) -> int:
    """Partition `rows[start:]` in place, those below the cut (not `strict`: or at it) first; return where they end."""
    left, right, n = start, len(rows) - 1, len(rows)
    while True:
        while left < n and (points[rows[left], column] < cut or (not strict and points[rows[left], column] == cut)):
            left += 1
        while right >= start and (points[rows[right], column] > cut or (strict and points[rows[right], column] == cut)):
            right -= 1
        if left > right:
            return left
        rows[left], rows[right] = rows[right], rows[left]
        left, right = left + 1, right - 1


@njit(cache=True, nogil=True)
def _tree(points: Floats) -> tuple[Ints, Ints, Floats]:
    """Nodes of the k-d tree: (column, or -1 and a row), children, (cut, low and high end of the box in its column)."""
    n, p = points.shape
    size = 2 * n
    node, child, ends = np.full((size, 2), -1), np.full((size, 2), -1), np.zeros((size, 3))
    rows = np.arange(n)
    low, high = np.empty((size, p)), np.empty((size, p))
    first, last = np.zeros(size, np.int64), np.zeros(size, np.int64)
    for at in range(p):
        low[0, at], high[0, at] = points[:, at].min(), points[:, at].max()
    last[0], used = n, 1
    for now in range(size):
        if now >= used:
            break
        if last[now] - first[now] == 1:
            node[now, 1] = rows[first[now]]
            continue
        column, cut, below = _split(points, rows[first[now] : last[now]], low[now], high[now])
        node[now, 0] = column
        ends[now, 0], ends[now, 1], ends[now, 2] = cut, low[now, column], high[now, column]
        for side in range(2):
            child[now, side] = used
            for at in range(p):  # an assignment of slices takes 2 s more to compile
                low[used, at], high[used, at] = low[now, at], high[now, at]
            if side == 0:
                high[used, column] = cut
                first[used], last[used] = first[now], first[now] + below
            else:
                low[used, column] = cut
                first[used], last[used] = first[now] + below, last[now]
            used += 1
    return node, child, ends


@njit(cache=True, nogil=True)
def _nearest(train: Floats, query: Floats, k: int) -> Ints:
    """Indices of the k nearest rows of `train` (n, p) for each row of `query` (m, p): shape (m, k), nearest first."""
    node, child, ends = _tree(train)
    nearest = np.empty((len(query), k), np.int64)
    near, place = np.empty(k), np.empty(k, np.int64)
    waiting, away = np.empty(len(node), np.int64), np.empty(len(node))
    low = np.array([train[:, at].min() for at in range(train.shape[1])])
    high = np.array([train[:, at].max() for at in range(train.shape[1])])
    for i in range(len(query)):
        have, depth = 0, 1
        waiting[0], away[0] = 0, 0.0
        for at in range(train.shape[1]):
            outside = max(low[at] - query[i, at], query[i, at] - high[at], 0.0)
            away[0] += outside**2
        sure = 1  # the nearer child is entered whatever its distance
        while depth:
            depth -= 1
            now, distance = waiting[depth], away[depth]
            if not sure and have == k and distance >= near[k - 1]:
                continue
            sure = 0
            column = node[now, 0]
            if column < 0:
                have = _insert(train, query[i], node[now, 1], near, place, have, k)
                continue
            cut, start, stop = ends[now]
            value = query[i, column]
            off = value - cut
            nearer = 0 if off < 0 else 1
            outside = max(start - value, 0.0) if off < 0 else max(value - stop, 0.0)
            waiting[depth], away[depth] = child[now, 1 - nearer], distance + off**2 - outside**2
            waiting[depth + 1], away[depth + 1] = child[now, nearer], distance
            depth, sure = depth + 2, 1
        nearest[i] = place
    return nearest


@njit(cache=True, nogil=True)
def _insert(train: Floats, query: Floats, row: int, near: Floats, place: Ints, have: int, k: int) -> int:
    """Insert a training record into the sorted nearest (`near`, `place`), behind ties; return their number."""
    distance = 0.0
    for at in range(len(query)):
        distance += (query[at] - train[row, at]) ** 2
    if have == k and distance >= near[k - 1]:
        return have
    at = have if have < k else k - 1
    while at > 0 and near[at - 1] > distance:
        near[at], place[at] = near[at - 1], place[at - 1]
        at -= 1
    near[at], place[at] = distance, row
    return min(have + 1, k)


# The k nearest training records by brute force; of ties those first in the file.


BLOCK = 20_000_000  # distances at a time
ROUNDING = 1e-9  # of a squared distance: less tells none apart


def first_neighbours(features: Features, k: int, *, scaled: bool) -> Ints:
    """Indices of the k nearest training records of each query, shape (n_query, k), nearest first.

    Euclidean; a different category counts 1. `scaled`: numbers over their standard deviations. Every pair is
    compared: n_query times n_train distances, some millions of them at a time.

    >>> one = (np.array([1.0, 3.0, 1.0]), np.array([2.0]))
    >>> first_neighbours(Features((one,), (), (1.0,)), 2, scaled=False).tolist()
    [[0, 1]]
    """
    n_train, n_query = features.sizes
    nearest = np.empty((n_query, k), np.int64)
    units, of_categories = features.units(scaled=scaled)
    width = max(1, BLOCK // n_train)
    for start in range(0, n_query, width):
        rows = slice(start, min(start + width, n_query))
        away = np.zeros((rows.stop - start, n_train))
        for (train, query), unit in zip(features.numbers, units, strict=True):
            if unit > 0:
                away += ((query[rows, None] - train[None]) / unit) ** 2
        for codes, of_query in features.codes:
            differs = np.asarray(of_query[rows, None] != codes[None], np.float64)
            away += differs / of_categories / of_categories  # whose square may be infinite
        nearest[rows] = _first(away, k)
    return nearest


def _first(away: Floats, k: int) -> Ints:
    """Columns of the k smallest of each row, by value and then by column."""
    n = away.shape[1]
    limit = np.partition(away, k - 1, axis=1)[:, k - 1 : k]
    slack = ROUNDING * limit
    below = away < limit - slack
    level = below ^ (away <= limit + slack)
    missing = k - below.sum(axis=1)
    taken = below | (level & (np.cumsum(level, axis=1) <= missing[:, None]))
    columns = np.broadcast_to(np.arange(n), away.shape)[taken].reshape(-1, k)
    order = np.argsort(np.take_along_axis(away, columns, axis=1), axis=1, kind="stable")
    return np.take_along_axis(columns, order, axis=1).astype(np.int64)


MODELS = ("knn", "tree", "forest", "boosting")


@dataclass(frozen=True, eq=False)
class Model:
    """How targets are predicted."""

    name: str  # one of `MODELS`, or the class of an estimator
    n_neighbors: int
    estimator: Any  # of scikit-learn, to be cloned; None for nearest neighbours
    scaled: bool = True  # whether nearest neighbours take numbers over their standard deviations
    ties: str = "all"  # which of tied neighbours count: all, the first in the file, or the first in the search tree


@dataclass(frozen=True, eq=False)
class Guesses:
    """Predicted levels of each query; of tied levels any may be drawn."""

    best: Floats  # (n_query,) votes of the leading levels
    ties: Ints  # (n_query,) number of leading levels
    of_truth: Floats  # (n_record,) votes of the true level of each record


def checked_model(
    model: Any, *, numeric: bool, n_neighbors: int, state: int, seeded: bool, scaled: bool = True, ties: str = "all",
) -> Model:  # fmt: skip
    """The model asked for, its random numbers seeded by `state`.

    Where the caller gave a seed (`seeded`), it replaces a state that the estimator has of its own.
    """
    if isinstance(model, str):
        if model not in MODELS:
            words = f"model {model!r} is unknown; use {', '.join(MODELS)} or a scikit-learn estimator"
            raise DataError(words, argument="model")
        if model == "knn":
            return Model(model, n_neighbors, None, scaled, ties)
        return Model(model, n_neighbors, with_state(_own_estimator(model, numeric), state, seeded=True))
    if isinstance(model, type) or not (hasattr(model, "fit") and hasattr(model, "predict")):
        words = "model is a name or an instance of a scikit-learn estimator with fit and predict"
        raise DataError(words, argument="model")
    from sklearn.base import is_classifier, is_regressor

    if not (is_regressor(model) if numeric else is_classifier(model)):
        needs = "a number needs a regressor" if numeric else "categories need a classifier"
        words = f"{type(model).__name__} cannot guess this target: {needs}; numeric= says which columns are numbers"
        raise DataError(words, argument="model")
    return Model(type(model).__name__, n_neighbors, with_state(model, state, seeded=seeded))


def _own_estimator(name: str, numeric: bool) -> Any:
    from sklearn import ensemble, tree

    if name == "tree":
        return (tree.DecisionTreeRegressor if numeric else tree.DecisionTreeClassifier)(min_samples_leaf=5)
    if name == "forest":
        kind = ensemble.RandomForestRegressor if numeric else ensemble.RandomForestClassifier
        return kind(n_estimators=100, min_samples_leaf=5)
    kind = ensemble.HistGradientBoostingRegressor if numeric else ensemble.HistGradientBoostingClassifier
    return kind(early_stopping=False)


def guess_numbers(model: Model, features: Features, target: Floats) -> Floats:
    """Predict a number for each query.

    Examples
    --------
    >>> one = (np.array([0.0, 1.0, 9.0]), np.array([0.4]))
    >>> guess_numbers(Model("knn", 2, None), Features((one,), (), (1.0,)), np.array([10.0, 20.0, 90.0])).tolist()
    [15.0]
    """
    if model.estimator is not None:
        return np.asarray(_fit_and_predict(model, features, target), np.float64)
    if model.ties != "all":
        return np.asarray(target[_neighbours(model, features)].mean(axis=1), np.float64)
    index, query = _index(features, scaled=model.scaled)
    sums, count = index.totals(query, min(model.n_neighbors, features.sizes[0]), target[:, None])
    guessed: Floats = sums[:, 0] / count
    return guessed


def guess_levels(model: Model, features: Features, target: AnyInts, truth: AnyInts, place: AnyInts) -> Guesses:
    """Predict a level for each query, and count the votes of the true level of each record it stands for.

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
    """Expected cost of the prediction of each record, drawn among tied levels.

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
    """Yield blocks of levels with the votes of each query (numbers of neighbours): a full table may be too large."""
    used = np.unique(target)
    k = min(model.n_neighbors, features.sizes[0])
    width = max(1, BLOCK // max(features.sizes))
    if model.ties != "all":
        near = target[_neighbours(model, features)]
        for start in range(0, len(used), width):
            levels = used[start : start + width]
            yield levels, np.stack([(near == level).sum(axis=1) for level in levels], axis=1).astype(np.float64)
        return
    index, query = _index(features, scaled=model.scaled)
    if len(used) <= width:  # the search itself adds the votes up
        yield used, index.totals(query, k, (target[:, None] == used).astype(np.float64))[0]
        return
    within = index.within(query, k)
    for start in range(0, len(used), width):
        levels = used[start : start + width]
        yield levels, within.totals((target[:, None] == levels).astype(np.float64))[0]


def _neighbours(model: Model, features: Features) -> AnyInts:
    """Exactly k neighbours, whatever the ties."""
    search = first_neighbours if model.ties == "first" else tree_neighbours
    return search(features, min(model.n_neighbors, features.sizes[0]), scaled=model.scaled)


def _index(features: Features, *, scaled: bool) -> tuple[Any, Any]:
    """A search index of the training records, and the encoded queries."""
    numbers = [
        (train / scale, query / scale) if scaled else (train, query)
        for (train, query), scale in zip(features.numbers, features.scale, strict=True)
        if scale > 0
    ]
    codes = list(features.codes)
    if not numbers and not codes:  # no variable varies: all records are equally near
        n_train, n_query = features.sizes
        codes = [(np.zeros(n_train, np.int32), np.zeros(n_query, np.int32))]
    base, query = differences(numbers, codes, power=2)
    return prepare(base), query


def _fit_and_predict(model: Model, features: Features, target: Values) -> Values:
    from sklearn.base import clone

    train, query = features.design()
    estimator = clone(model.estimator)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they may show values; what matters is how well it guesses
            guessed: Values = estimator.fit(train, target).predict(query)
    except Exception as error:  # noqa: BLE001 - any estimator may be given, and its messages may show values
        words = f"the model {model.name} could not be fitted and asked ({type(error).__name__})"
        raise DataError(f"{words}; try it on the data alone to see why") from None
    return guessed
