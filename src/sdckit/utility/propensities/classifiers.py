"""Classifiers of membership (released or original): logistic, a tree, or any classifier of scikit-learn."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sdckit.cells.pair import Pair
from sdckit.data.seeds import with_state
from sdckit.errors import DataError
from sdckit.numerics.array_types import Bools, Codes, Floats, Ints, Values
from sdckit.numerics.compiling import njit

# An original and a release stacked, as codes and numbers.


ALIGNED = "rows correspond (aligned=True): correct synthesis is not what this release would be compared with"
FEATURES = 150_000_000  # entries of a dense matrix
DENSE = 4  # largest number of combinations of levels, per record, that are counted in a table


@dataclass(frozen=True, eq=False)
class Atom:
    """A variable in the part that one kind of column represents.

    `kind`: "level" for its categories, "value" for its numbers, "gap" for whether its number is missing. `labels`:
    what its columns print after the variable's name; the baseline of a category is left out. `slot`: where it
    stands in `Stacked.codes` or `Stacked.values`.
    """

    variable: str
    kind: str
    labels: tuple[str, ...]
    slot: int


@dataclass(frozen=True, eq=False)
class Stacked:
    """The rows of an original and a release, or their distinct rows with counts.

    `codes` (n_code_atoms, n_rows): 0 is the baseline: the smallest level; a missing value is the last one. `values`
    (n_value_atoms, n_rows): 0 where missing. `original` and `released` (n_rows,): records of each file that a row
    stands for. `constant`: variables with a single value, that have no atom.
    """

    atoms: tuple[Atom, ...]
    codes: Codes
    values: Floats
    original: Floats
    released: Floats
    constant: tuple[str, ...]

    @property
    def total(self) -> Floats:
        """Records of both files in each row."""
        return self.original + self.released

    @property
    def share(self) -> float:
        """Share of the records that are released, c."""
        return float(self.released.sum() / self.total.sum())

    def in_order(self) -> Stacked:
        """The same rows in an order that depends on their values only."""
        return self.take(np.lexsort((*self.values, *self.codes))) if self.atoms else self

    def take(self, rows: Ints | slice) -> Stacked:
        """Some of the rows."""
        return replace(
            self, codes=self.codes[:, rows], values=self.values[:, rows], original=self.original[rows],
            released=self.released[rows],
        )  # fmt: skip


def stack(pair: Pair, release: int, names: Sequence[str], numeric: Sequence[str], *, scale: bool) -> Stacked:
    """Stack an original and a release.

    `release`: from 0 on. `numeric`: those of the variables that are numbers. `scale`: numbers as deviations from
    their mean in standard deviations (of both files together); rows that are alike in all of only categories
    counted.

    >>> import polars as pl
    >>> from sdckit.cells.pair import open_pair
    >>> a, b = pl.DataFrame({"x": ["p", "q", "q"]}), pl.DataFrame({"x": ["q", None]})
    >>> found = stack(open_pair(a, b, categories={"v": ["x"]}), 0, ["x"], [], scale=True)
    >>> found.codes.tolist(), found.original.tolist(), found.released.tolist()
    ([[0, 1, 2]], [1.0, 2.0, 0.0], [0.0, 1.0, 1.0])
    """
    n, size = len(pair.original), len(pair.released[release])
    atoms: list[Atom] = []
    codes: list[Codes] = []
    values, used = np.empty((sum(name in numeric for name in names), n + size)), 0
    constant = []
    for name in names:
        before = len(atoms)
        if name in numeric:
            files = pair.numbers(name)
            np.concatenate([files[0], files[1 + release]], out=values[used])
            varies, gap = _number(values[used], scale=scale)
            if varies:
                atoms.append(Atom(name, "value", ("",), used))
                used += 1
            if gap is not None:
                atoms.append(Atom(name, "gap", (" (missing)",), len(codes)))
                codes.append(gap)
        else:
            level, present = _level(pair, name, release)
            if len(present) > 1:
                printed = pair.codes(name).labels()
                labels = tuple("=" + printed[code] for code in present[1:].tolist())
                atoms.append(Atom(name, "level", labels, len(codes)))
                codes.append(level)
        if len(atoms) == before:
            constant.append(name)
    original, released = np.zeros(n + size), np.zeros(n + size)
    original[:n], released[n:] = (1.0, 1.0) if pair.times is None else (pair.times[0], pair.times[1 + release])
    stacked = Stacked(
        tuple(atoms), np.array(codes, np.int32).reshape(len(codes), n + size),
        values[:used], original, released, tuple(constant),
    )  # fmt: skip
    return _counted(stacked) if scale and not used else stacked


def _number(values: Floats, *, scale: bool) -> tuple[bool, Codes | None]:
    """Whether a number varies, and where it is missing; in place its values are scaled then, and 0 where missing."""
    missing = np.isnan(values)
    gap = missing.astype(np.int32) if missing.any() else None
    known = values if gap is None else values[~missing]
    low, high = float(known.min()), float(known.max())
    if low == high:
        return False, gap
    if scale:
        values /= max(-low, high)  # first: squares of very large numbers overflow
        known = values if gap is None else values[~missing]
        mean, deviation = known.mean(), known.std()
        values -= mean
        values /= deviation
    if gap is not None:
        values[missing] = 0.0
    return True, gap


def _level(pair: Pair, name: str, release: int) -> tuple[Codes, Ints]:
    """Codes from 0 of the levels that occur in either file, and these levels."""
    shared = pair.codes(name)
    files = shared.codes[0], shared.codes[1 + release]
    counts = np.sum([np.bincount(codes, minlength=shared.n_levels + 1) for codes in files], axis=0)
    present = np.flatnonzero(counts[1:]) + 1
    if counts[0]:
        present = np.append(present, 0)
    table = np.zeros(shared.n_levels + 1, np.int32)
    table[present] = np.arange(len(present))
    return np.concatenate([table[files[0]], table[files[1]]]), present


def _counted(stacked: Stacked) -> Stacked:
    """One row per combination of categories with its counts, where combinations are few."""
    n = stacked.codes.shape[1]
    widths = [len(atom.labels) + 1 for atom in stacked.atoms]
    if not widths or math.prod(widths) > DENSE * n:
        return stacked
    place = np.zeros(n, np.int64)
    for width, codes in zip(widths, stacked.codes, strict=True):
        place *= width
        place += codes
    size = math.prod(widths)
    original, released = (
        np.bincount(place, weights=weight, minlength=size).astype(np.float64)
        for weight in (stacked.original, stacked.released)
    )
    kept = np.flatnonzero(original + released)
    codes = np.array(np.unravel_index(kept, widths), np.int32)
    return Stacked(
        stacked.atoms, codes, stacked.values[:, : len(kept)], original[kept], released[kept], stacked.constant
    )


def features_of(stacked: Stacked, dtype: Any, *, level: float = 1.0) -> tuple[Values, list[str]]:
    """Feature matrix: numbers, and an indicator column for each level (one for two levels).

    `level`: what stands in the columns of variables with more than two levels; 1 in those of others. Returns the
    matrix (n_rows, n_columns) and the variable of each column. Raises DataError: it would be too large.
    """
    all_levels = [atom.kind == "level" and len(atom.labels) > 1 for atom in stacked.atoms]
    widths = [len(atom.labels) + every for atom, every in zip(stacked.atoms, all_levels, strict=True)]
    n = stacked.codes.shape[1]
    if n * sum(widths) > FEATURES:
        raise DataError(
            f"{n} rows of {sum(widths)} columns (one per category) are too many; give fewer variables=[...], "
            "coarser levels, or a sample (for a propensity model='logit' needs no such matrix)"
        )
    matrix = np.zeros((n, sum(widths)), dtype, order="F")
    first = 0
    for atom, every, width in zip(stacked.atoms, all_levels, widths, strict=True):
        if atom.kind == "value":
            matrix[:, first] = stacked.values[atom.slot]
        else:
            for j in range(width):
                at = stacked.codes[atom.slot] == j + (not every)
                matrix[:, first + j] = at * level if every else at
        first += width
    return matrix, [atom.variable for atom, width in zip(stacked.atoms, widths, strict=True) for _ in range(width)]


# A classification tree of membership, grown best first; columns are coded or sorted once for many trees.


# Packed into one int64: records (low half) and members (high half) of a level; and rank (high half), row and
# membership (lowest bit) of a record in a sorted column.
HALF = 32
LOW = (1 << HALF) - 1


@njit(cache=True, nogil=True, inline="always")
def _gini_gain(ones_left, left, ones, n):  # type: ignore[no-untyped-def]
    """Decrease of the Gini index by a cut, times half the records: `left` of n records, `ones_left` of the members."""
    gap = float(ones_left * n - ones * left)
    return gap * gap / (float(left) * float(n - left) * float(n))


@njit(cache=True, nogil=True)
def _best_level(counts, first, ordered, n, ones, smallest):  # type: ignore[no-untyped-def]
    """Best cut of a node by a coded column: (gain, column, index of its level); `counts`: packed, of all levels."""
    best, column, cut = -1.0, -1, -1
    for j in range(len(ordered)):
        left, ones_left = 0, 0
        for place in range(first[j], first[j + 1]):
            if counts[place] == 0:
                continue
            if not ordered[j]:
                left, ones_left = 0, 0
            left += counts[place] & LOW
            ones_left += counts[place] >> HALF
            if left < smallest or n - left < smallest:
                continue
            gain = _gini_gain(ones_left, left, ones, n)
            if gain > best:
                best, column, cut = gain, j, place
    return best, column, cut


@njit(cache=True, nogil=True)
def _best_place(entries, ones, smallest):  # type: ignore[no-untyped-def]
    """Best cut of a node by a sorted column (packed `entries`): (gain, number of records below)."""
    n = len(entries)
    best, cut, ones_left = -1.0, -1, 0
    for i in range(smallest - 1):
        ones_left += entries[i] & 1
    for i in range(smallest - 1, n - smallest):
        ones_left += entries[i] & 1
        gap = float(ones_left * n - ones * (i + 1))
        # dividing only what can win
        if gap * gap > best * (float(i + 1) * float(n - i - 1) * n) and entries[i] >> HALF != entries[i + 1] >> HALF:
            gain = _gini_gain(ones_left, i + 1, ones, n)
            if gain > best:
                best, cut = gain, i + 1
    return best, cut


@njit(cache=True, nogil=True)
def _best(node, spans, tallies, slot, columns, order, smallest, cuts, gains):  # type: ignore[no-untyped-def]
    """Store the best cut of a node in `cuts` and `gains`; a gain below 0 where there is none."""
    start, stop, ones = spans[node]
    n = stop - start
    gains[node] = -1.0
    if n < 2 * smallest or ones in (0, n):
        return
    _, first, ordered = columns
    best, column, cut = _best_level(tallies[slot[node]], first, ordered, n, ones, smallest)
    for a in range(len(order)):
        gain, place = _best_place(order[a, start:stop], ones, smallest)
        if gain > best:
            best, column, cut = gain, len(ordered) + a, place
    if best >= 0.0:
        gains[node], cuts[node, 0], cuts[node, 1] = best, column, cut


@njit(cache=True, nogil=True)
def _mark_left(span, cut, columns, order, rows, goes_left):  # type: ignore[no-untyped-def]
    """Mark in `goes_left` the records of a node that a cut sends left; return their number."""
    start, stop, _ = span
    cells, _, ordered = columns
    j, at = cut
    left = 0
    if j >= len(ordered):
        entries = order[j - len(ordered)]
        for i in range(start, stop):
            goes_left[(entries[i] & LOW) >> 1] = i < start + at
        return at
    for i in range(start, stop):
        place = cells[rows[i], j]
        there = place <= at if ordered[j] else place == at
        goes_left[rows[i]] = there
        left += there
    return left


@njit(cache=True, nogil=True)
def _partition(start, stop, order, rows, goes_left, held):  # type: ignore[no-untyped-def]
    """Stable partition of a node in `rows` and in every sorted column: records that go left first."""
    to, kept = start, 0
    for i in range(start, stop):
        row = rows[i]
        there = goes_left[row]
        rows[to], held[kept] = row, row
        to += there
        kept += 1 - there
    for i in range(kept):
        rows[to + i] = held[i]
    for a in range(len(order)):
        entries = order[a]
        to, kept = start, 0
        for i in range(start, stop):
            entry = entries[i]
            there = goes_left[(entry & LOW) >> 1]
            entries[to], held[kept] = entry, entry
            to += there
            kept += 1 - there
        for i in range(kept):
            entries[to + i] = held[i]


@njit(cache=True, nogil=True)
def _tally(cells, rows, member, counts):  # type: ignore[no-untyped-def]
    """Count records and members (packed) of each level among some rows into `counts`; return the members."""
    ones = 0
    counts[:] = 0
    for row in rows:
        unit = 1 + (np.int64(member[row]) << HALF)
        ones += member[row]
        for j in range(cells.shape[1]):
            counts[cells[row, j]] += unit
    return ones


@njit(cache=True, nogil=True)
def _split(node, n_nodes, spans, tallies, slot, columns, order, rows, member, work):  # type: ignore[no-untyped-def]
    """Split a node into nodes `n_nodes` and `n_nodes + 1`; the smaller is counted, the larger gets the difference."""
    goes_left, held, cuts = work
    start, stop, ones = spans[node]
    middle = start + _mark_left(spans[node], cuts[node], columns, order, rows, goes_left)
    _partition(start, stop, order, rows, goes_left, held)
    small, large = (n_nodes, n_nodes + 1) if middle - start <= stop - middle else (n_nodes + 1, n_nodes)
    spans[n_nodes, 0], spans[n_nodes, 1] = start, middle
    spans[n_nodes + 1, 0], spans[n_nodes + 1, 1] = middle, stop
    slot[small], slot[large] = n_nodes // 2 + 1, slot[node]
    counted = tallies[slot[small]]
    spans[small, 2] = _tally(columns[0], rows[spans[small, 0] : spans[small, 1]], member, counted)
    spans[large, 2] = ones - spans[small, 2]
    for at in range(len(counted)):  # arrays as a whole take 2 s more to compile
        tallies[slot[large], at] -= counted[at]


@njit(cache=True, nogil=True)
def grow(columns, order, member, leaves, smallest):  # type: ignore[no-untyped-def]
    """Grow a tree; return the share of members in the leaf of each row, and the Gini decrease by each column.

    `columns`: `cells` (n, n_coded), the place of each row's level in a table of all levels; `first` (n_coded + 1,),
    where the levels of each column begin; `ordered` (n_coded,), whether it is cut between levels or at one. `order`
    (n_sorted, n): rank and row of each record, ascending; overwritten. `member` (n,): 0 or 1. At most `leaves`
    leaves, each of at least `smallest` rows.
    """
    cells, first, ordered = columns
    n = len(member)
    for a in range(len(order)):
        for i in range(n):
            order[a, i] |= np.int64(member[(order[a, i] & LOW) >> 1])
    spans = np.empty((2 * leaves, 3), np.int64)
    cuts = np.empty((2 * leaves, 2), np.int64)
    gains, slot = np.full(2 * leaves, -1.0), np.zeros(2 * leaves, np.int64)
    tallies = np.zeros((leaves, first[-1]), np.int64)
    work = np.empty(n, np.uint8), np.empty(n, np.int64), cuts
    rows = np.arange(n)
    spans[0, 0], spans[0, 1] = 0, n
    spans[0, 2] = _tally(cells, rows, member, tallies[0])
    _best(np.int64(0), spans, tallies, slot, columns, order, smallest, cuts, gains)
    taken = np.zeros(len(ordered) + len(order))
    is_leaf = np.zeros(2 * leaves, np.bool_)
    is_leaf[0] = True
    n_nodes = np.int64(1)
    while n_nodes < 2 * leaves - 1:
        node = np.argmax(gains)
        if gains[node] < 0.0:
            break
        taken[cuts[node, 0]] += gains[node]
        _split(node, n_nodes, spans, tallies, slot, columns, order, rows, member, work)
        gains[node], is_leaf[node] = -1.0, False
        for child in (n_nodes, n_nodes + 1):
            is_leaf[child] = True
            _best(child, spans, tallies, slot, columns, order, smallest, cuts, gains)
        n_nodes += 2
    score = np.empty(n)
    for number in range(n_nodes):
        if is_leaf[number]:
            start, stop, ones = spans[number]
            score[rows[start:stop]] = ones / (stop - start)
    return score, taken


# The tree of `propensity`: the coded columns are shared by many trees on the same records.


LEAVES, SMALLEST_LEAF = 64, 5
RECORDS = 50  # records of both files per leaf of a tree, at least
FEW = 4096  # up to as many distinct values a number is counted like levels; with more it is sorted


@dataclass(frozen=True)
class Tree:
    """Size limits of a tree."""

    leaves: int = LEAVES
    smallest_leaf: int = SMALLEST_LEAF

    def sized(self, n: int) -> Tree:
        """The tree for files of `n` records together, with fewer leaves where these are few.

        >>> Tree().sized(1000).leaves
        20
        """
        return Tree(max(2, min(self.leaves, n // RECORDS)), self.smallest_leaf)


@dataclass(frozen=True, eq=False)
class TreeColumns:
    """The columns of the records in the form the tree takes.

    `cells` (n, n_coded), `first` (n_coded + 1,) and `ordered` (n_coded,): as in `grow`. `order` (n_sorted, n): of
    numbers with many values, rank and row of each record, ascending. `variables`: of the coded, then of the sorted
    columns.
    """

    cells: Codes
    first: Ints
    ordered: Bools
    order: Ints
    variables: tuple[str, ...]


def tree_columns(stacked: Stacked) -> TreeColumns:
    """Code or sort each column. Numbers are compared in single precision, as scikit-learn does.

    >>> from sdckit.utility.propensities.classifiers import Atom
    >>> atoms = Atom("c", "level", ("=b", "=c"), 0), Atom("x", "value", ("",), 0)
    >>> one = np.ones(3)
    >>> rows = Stacked(atoms, np.array([[0, 1, 2]], np.int32), np.array([[7.0, 5.0, 7.0]]), one, one, ())
    >>> found = tree_columns(rows)
    >>> found.cells.tolist(), found.first.tolist(), found.ordered.tolist()
    ([[0, 4], [1, 3], [2, 4]], [0, 3, 5], [False, True])
    """
    n = stacked.codes.shape[1]
    cells: list[Values] = []
    order: list[Ints] = []
    widths: list[int] = []
    ordered: list[bool] = []
    coded: list[str] = []
    many: list[str] = []
    for atom in stacked.atoms:
        if atom.kind != "value":
            codes: Values = stacked.codes[atom.slot]
            width = len(atom.labels) + 1
        else:
            distinct, codes = np.unique(stacked.values[atom.slot].astype(np.float32), return_inverse=True)
            width = len(distinct)
            if width > FEW:
                order.append(np.sort((codes.astype(np.int64) << HALF) | (np.arange(n) << 1)))
                many.append(atom.variable)
                continue
        cells.append(codes + sum(widths))
        widths.append(width)
        ordered.append(atom.kind == "value")
        coded.append(atom.variable)
    return TreeColumns(
        np.array(cells, np.int32).reshape(len(cells), n).T.copy(),
        np.concatenate([[0], np.cumsum(widths)]).astype(np.int64),
        np.array(ordered, np.bool_), np.array(order, np.int64).reshape(len(order), n), (*coded, *many),
    )  # fmt: skip


def grow_tree(columns: TreeColumns, tree: Tree, released: Floats) -> tuple[Floats, dict[str, float]]:
    """Share of released records in the leaf of each row, and the importance of each variable.

    `released` (n_rows,): 0 or 1. Best first: the next cut is the one that takes most from the Gini index of the whole
    file. Of cuts that take the same the first one is made.
    """
    arrays = columns.cells, columns.first, columns.ordered
    score, taken = grow(arrays, columns.order.copy(), released.astype(np.uint8), tree.leaves, tree.smallest_leaf)
    return score, _by_variable(columns.variables, taken)


def _by_variable(variables: Iterable[str], taken: Floats) -> dict[str, float]:
    total = float(taken.sum())
    shares = dict.fromkeys(variables, 0.0)
    for name, part in zip(variables, taken.tolist(), strict=True):
        shares[name] += part / total if total > 0 else 0.0
    return shares


def checked_classifier(model: Any, state: int, *, seeded: bool) -> tuple[str, Any]:
    """Name of the model, and the model: None for ``"logit"``, a `Tree`, or an estimator to be cloned.

    The random numbers of an estimator are fixed.

    `seeded`: whether the caller gave a seed: it then replaces a state that the estimator has of its own. Raises
    DataError: an unknown name, or an estimator that gives no probabilities.
    """
    if isinstance(model, str):
        if model == "logit":
            return model, None
        if model == "cart":
            return model, Tree()
        raise DataError(
            f"model {model!r} is unknown; give 'logit', 'cart' or a scikit-learn classifier", argument="model"
        )
    if not hasattr(model, "fit") or not hasattr(model, "predict_proba") or isinstance(model, type):
        raise DataError(
            "model must be 'logit', 'cart' or a scikit-learn classifier (an object with fit and predict_proba)",
            argument="model",
        )
    return type(model).__name__, with_state(model, state, seeded=seeded)


def fit_scores(
    estimator: Any, features: Values, member: Bools, warned: Counter[str] | None = None
) -> tuple[Floats, Any]:
    """Fit a clone; the probability of being released for each row, and the fitted clone.

    `features` (n_rows, n_columns). `member` (n_rows,): whether the row is released. `warned`: told the kinds of
    warnings. Raises DataError: it cannot be fitted or asked, or gives something else than probabilities.
    """
    from sklearn.base import clone

    fitted = clone(estimator)
    name = type(estimator).__name__
    try:
        with warnings.catch_warnings(record=True) as caught:  # their messages may show values
            warnings.simplefilter("always")
            score = np.asarray(fitted.fit(features, member.astype(np.int64)).predict_proba(features), np.float64)[:, 1]
    except Exception as error:  # noqa: BLE001 - any estimator may be given, and its messages may show values
        raise DataError(
            f"the model {name} could not be fitted and asked ({type(error).__name__}); try it on the data alone to "
            "see why"
        ) from None
    if score.shape != member.shape or not (np.isfinite(score).all() and score.min() >= 0 and score.max() <= 1):
        raise DataError(f"the model {name} does not give a probability from 0 to 1 for each row")
    if warned is not None:
        warned.update(warning.category.__name__ for warning in caught)
    return score, fitted


def importances(fitted: Any, features: Values, variables: Sequence[str]) -> dict[str, float] | None:
    """Importance of each variable, summed over its columns, as shares; None where the model has none.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> x = np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 1.0]])
    >>> importances(DecisionTreeClassifier().fit(x, [0, 0, 1]), x, ["sex", "age"])
    {'sex': 1.0, 'age': 0.0}
    """
    weight = getattr(fitted, "feature_importances_", None)
    if weight is None and (slopes := getattr(fitted, "coef_", None)) is not None:
        slope = np.asarray(slopes, np.float64)
        weight = np.abs(slope.reshape(-1, slope.shape[-1])).sum(axis=0)
        weight = weight * features.std(axis=0) if len(weight) == features.shape[1] else None
    if weight is None or len(weight) != len(variables):
        return None
    return _by_variable(variables, np.asarray(weight))
