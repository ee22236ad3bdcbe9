"""Records drawn down a tree of tables, with counts within one of what is expected."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sdckit.numerics.array_types import Codes, Floats, Ints
from sdckit.protect.margins.consistent_margins import Clique


def draw_records(cliques: Sequence[Clique], n_variables: int, n: int, rng: np.random.Generator) -> Codes:
    """Codes of n records, shape (variables, n): table after table, given the variables it shares with those before."""
    out = np.zeros((n_variables, n), np.int32)
    for clique in cliques:
        k = len(clique.separator)
        shape = clique.table.shape
        shared = tuple(out[v] for v in clique.separator)
        parent = np.ravel_multi_index(shared, shape[:k]) if k else np.zeros(n, np.int64)
        cells = draw_cells(clique.table.reshape(int(np.prod(shape[:k])), -1), parent, rng)
        for variable, codes in zip(clique.variables[k:], np.unravel_index(cells, shape[k:]), strict=True):
            out[variable] = codes
    return out


def draw_cells(table: Floats, parent: Ints, rng: np.random.Generator) -> Ints:
    """A cell of the row of each record's parent, at random, each as often as expected in the parent up to one.

    `table`, shape (parents, cells), holds counts or shares.

    >>> cells = draw_cells(np.array([[1.0, 3.0]]), np.zeros(8, np.int64), np.random.default_rng(1))
    >>> np.bincount(cells).tolist()
    [2, 6]
    """
    n_parents, n_cells = table.shape
    sums = table.sum(axis=1, keepdims=True)
    share = np.divide(table, sums, out=np.full_like(table, 1 / n_cells), where=sums > 0)
    upto = np.cumsum(share, axis=1)
    upto /= upto[:, -1:]
    records = rng.permutation(len(parent))
    order = records[np.argsort(parent[records], kind="stable")]
    size = np.bincount(parent, minlength=n_parents)
    start, of_row = np.cumsum(size) - size, parent[order]
    offset = np.asarray(rng.random(n_parents))
    place = (np.arange(len(order)) - start[of_row] + offset[of_row]) / size[of_row]
    # each row's shares lie in an interval of their own, so that one search serves all
    found = np.searchsorted((upto + np.arange(n_parents)[:, None]).ravel(), of_row + place, side="right")
    out = np.empty(len(parent), np.int64)
    out[order] = np.clip(found - of_row * n_cells, 0, n_cells - 1)
    return out
