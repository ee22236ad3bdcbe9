"""The tree of `propensity`: what many trees on the same records share is made once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Floats
from sdckit.utility.propensities.stacking import Stacked
from sdckit.utility.propensities.tree_kernel import HALF, grow

LEAVES, SMALLEST_LEAF = 64, 5
RECORDS = 50  # of both files for each leaf that a tree may have
FEW = 4096  # different values of a number that are counted like levels; more are sorted


@dataclass(frozen=True)
class Tree:
    """How far a tree is grown."""

    leaves: int = LEAVES
    smallest_leaf: int = SMALLEST_LEAF

    def sized(self, n: int) -> Tree:
        """The tree for files of `n` records together: with no more leaves than they bear.

        >>> Tree().sized(1000).leaves
        20
        """
        return Tree(max(2, min(self.leaves, n // RECORDS)), self.smallest_leaf)


@dataclass(frozen=True, eq=False)
class TreeColumns:
    """The columns of the records as a tree goes by them.

    `cells` (n, n_coded), `first` (n_coded + 1,) and `ordered` (n_coded,): as in `grow`. `order` (n_sorted, n): of
    numbers with many values, rank and row of each record, ascending. `variables`: of the coded, then of the sorted
    columns.
    """

    cells: NDArray[np.int32]
    first: NDArray[np.int64]
    ordered: NDArray[np.bool_]
    order: NDArray[np.int64]
    variables: tuple[str, ...]


def tree_columns(stacked: Stacked) -> TreeColumns:
    """Code or sort each column. Numbers are compared in single precision, as scikit-learn does.

    >>> from sdckit.utility.propensities.stacking import Atom
    >>> atoms = Atom("c", "level", ("=b", "=c"), 0), Atom("x", "value", ("",), 0)
    >>> one = np.ones(3)
    >>> rows = Stacked(atoms, np.array([[0, 1, 2]], np.int32), np.array([[7.0, 5.0, 7.0]]), one, one, ())
    >>> found = tree_columns(rows)
    >>> found.cells.tolist(), found.first.tolist(), found.ordered.tolist()
    ([[0, 4], [1, 3], [2, 4]], [0, 3, 5], [False, True])
    """
    n = stacked.codes.shape[1]
    cells: list[NDArray[Any]] = []
    order: list[NDArray[np.int64]] = []
    widths: list[int] = []
    ordered: list[bool] = []
    coded: list[str] = []
    many: list[str] = []
    for atom in stacked.atoms:
        if atom.kind != "value":
            codes: NDArray[Any] = stacked.codes[atom.slot]
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
    """The share of released records in the leaf of each row, and each variable's share in what the tree goes by.

    `released` (n_rows,): 0 or 1. Best first: the next cut is the one that takes most from the Gini index of the whole
    file. Of cuts that take the same the first one is made.
    """
    arrays = columns.cells, columns.first, columns.ordered
    score, taken = grow(
        arrays, columns.order.copy(), released.astype(np.uint8), tree.leaves, tree.smallest_leaf
    )
    return score, _by_variable(columns.variables, taken)


def _by_variable(variables: Iterable[str], taken: Floats) -> dict[str, float]:
    total = float(taken.sum())
    found = dict.fromkeys(variables, 0.0)
    for name, part in zip(variables, taken.tolist(), strict=True):
        found[name] += part / total if total > 0 else 0.0
    return found
