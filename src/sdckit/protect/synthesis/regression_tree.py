"""A regression tree of many records: that of scikit-learn, grown from columns that are sorted once.

A column of few values is counted value by value in each node. One of many is sorted before the first cut; every cut
keeps that order, so that no node sorts anything. Columns of a node lie in one line of memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.coding import hash_word
from sdckit.numerics.compiling import njit
from sdckit.numerics.threads import chunks, run

FEW = 256  # values of a column that is counted; they are coded as bytes
SAME = np.float32(1e-7)  # values no farther apart are one, as in scikit-learn
PURE = np.finfo(np.float64).eps  # a variance up to this is none
FLAT = {"reassoc", "contract", "nsz", "nnan"}  # sums whose order does not matter


class Columns(NamedTuple):
    """Predictors of the records of each node, and what they predict.

    Of few values, p of them: `codes` (p, n), `values` (p, 256) and `spans` (p,), how many each has. Of many, q: the
    ascending numbers `line` (q, n), whose they are (`rows`) and what is predicted there (`there`). `y` (n,) and `own`
    (n,): what is predicted, and the record, in the order of `codes`. `place` (p + q,): columns of the matrix.
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
    """Of each node the column and the limit up to which records go left, and the left child; -1: a leaf."""

    column: NDArray[np.int64]
    limit: NDArray[np.float64]
    left: NDArray[np.int64]


@njit(cache=True, nogil=True)
def _midway(low, high):  # type: ignore[no-untyped-def]
    found = np.float64(low) / 2.0 + np.float64(high) / 2.0
    return np.float64(low) if found == high or np.isinf(found) else found


@njit(cache=True, nogil=True)
def _cut_codes(columns, d, start, stop, total, min_leaf, held, best):  # type: ignore[no-untyped-def]
    """The best cut of a node by a column of few values: what it gains, the limit, the last code to the left."""
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
            found = below * below / left + (total - below) * (total - below) / (n - left)
            if found > gain:
                gain, limit, last = found, _midway(values[before], values[code]), before
        left, below, before = left + counts[code], below + sums[code], code
    return gain, limit, last


@njit(cache=True, nogil=True)
def _cut_line(columns, d, start, stop, total, min_leaf, best):  # type: ignore[no-untyped-def]
    """The best cut of a node by a column of many values: what it gains, the limit, where the right side begins."""
    line, there = columns.line[d], columns.there[d]
    gain, limit, last = best, 0.0, -1
    below = 0.0
    for i in range(start, stop - min_leaf):
        below += there[i]
        left, right = i + 1 - start, stop - i - 1
        if left >= min_leaf and line[i + 1] > line[i] + SAME:
            found = below * below / left + (total - below) * (total - below) / right
            if found > gain:
                gain, limit, last = found, _midway(line[i], line[i + 1]), i + 1
    return gain, limit, last


@njit(cache=True, nogil=True)
def _part(goes, start, stop, column, spare):  # type: ignore[no-untyped-def]
    """Put what goes left first, both sides in their order."""
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
    """Divide the columns of a node by its cut; how many records go left."""
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
    total, squares = 0.0, 0.0
    for i in range(start, stop):
        total += y[i]
        squares += y[i] * y[i]
    return total, squares


@njit(cache=True, nogil=True)
def _grow(columns, min_leaf, seed, tree, leaf_of):  # type: ignore[no-untyped-def]
    """Grow the tree, `leaf_of` telling the leaf of each record; how many nodes it has."""
    n, n_few = len(columns.y), len(columns.codes)
    n_columns = n_few + len(columns.line)
    goes, mark = np.empty(n, np.int64), np.empty(n, np.uint8)
    spare = np.empty(n, np.uint8), np.empty(n, np.float32), np.empty(n, np.int32), np.empty(n)
    held = np.empty(FEW, np.int64), np.empty(FEW)
    stack = np.empty((n // min_leaf + 2, 3), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, 0, n
    depth, used = 1, 1
    while depth:
        depth -= 1
        node, start, stop = stack[depth]
        total, squares = _sums(columns.y, start, stop)
        size = stop - start
        variance = squares / size - (total / size) ** 2
        column, limit, last, gain = np.int64(-1), 0.0, -1, -np.inf
        if size >= 2 * min_leaf and variance > PURE:
            first = np.int64(hash_word(np.uint64(seed) ^ np.uint64(node)) >> np.uint64(8)) % n_columns
            for turn in range(
                n_columns
            ):  # begins with any column, so that none wins all that are equally good
                d = (first + turn) % n_columns
                if d < n_few:
                    found = _cut_codes(columns, d, start, stop, total, min_leaf, held, gain)
                else:
                    found = _cut_line(columns, d - n_few, start, stop, total, min_leaf, gain)
                if found[2] >= 0:
                    column, gain, limit, last = d, found[0], found[1], found[2]
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
    """Grow a tree that predicts `y` from the columns of `X`, with the least squares.

    Each cut is the one that lowers the sum of squares most, of those that leave `min_leaf` records on both sides; a
    leaf is what no cut divides. Of cuts that are equally good the first is taken, the columns beginning with any.

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
    for row, (_, _, found) in zip(values, few, strict=True):
        row[: len(found)] = found
    rows = np.array([order for _, _, order in many], np.int32).reshape(-1, n)
    return Columns(
        np.array([codes for _, codes, _ in few], np.uint8).reshape(-1, n), values,
        np.array([len(found) for _, _, found in few], np.int64),
        np.array([line for _, line, _ in many], np.float32).reshape(-1, n), rows, y[rows],
        y.copy(), np.arange(n, dtype=np.int32), np.array([at for at, *_ in few + many], np.int64),
    )  # fmt: skip
