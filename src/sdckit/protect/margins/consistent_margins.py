"""Noisy or rounded tables made consistent: no negative counts, one total, equal margins; records drawn from them.

All of it works on what has been protected already.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sdckit.numerics.array_types import Codes, Floats, Ints
from sdckit.numerics.grouping import in_place

OneWay = Mapping[int, Floats] | Sequence[Floats]  # one-way margins, by variable
ROUNDS = 200  # of proportional fitting, at most
NEAR = 1e-9  # of the total: margins fit
FLOOR = 1e-9  # of the expected count is added everywhere, so that every margin can be fitted


@dataclass(frozen=True, eq=False)
class Clique:
    """A table of the tree: the variables it shares with the tables before it, all its variables, its counts.

    `variables`: those of `separator` first; `table` has an axis for each. `apart`: records by which a margin that it
    was fitted to still missed before the last round.
    """

    separator: tuple[int, ...]
    variables: tuple[int, ...]
    table: Floats
    apart: float = 0.0


def on_simplex(counts: Floats, total: float) -> Floats:
    """The nearest table without negative counts that has the total, in the Euclidean norm.

    >>> on_simplex(np.array([3.0, 2.0, -4.0]), 4.0).tolist()
    [2.5, 1.5, 0.0]
    """
    flat = counts.ravel().astype(np.float64)
    down = np.sort(flat)[::-1]
    over = (np.cumsum(down) - total) / np.arange(1, len(down) + 1)
    last = np.flatnonzero(down > over)[-1]
    out: Floats = np.maximum(flat - over[last], 0.0).reshape(counts.shape)
    return out


def fit_margins(table: Floats, margins: Mapping[tuple[int, ...], Floats]) -> tuple[Floats, float]:
    """The table scaled in turn to each margin, until all hold, and by how much one still missed in the last round.

    `margins`: by the axes that they keep.
    """
    total, off = table.sum(), 0.0
    for _ in range(ROUNDS):
        off = 0.0
        for axes, margin in margins.items():
            now = table.sum(axis=tuple(set(range(table.ndim)) - set(axes)), keepdims=True)
            aim = margin.reshape(now.shape)
            off = max(off, float(np.abs(aim - now).max()))
            table = table * np.divide(aim, now, out=np.zeros_like(now), where=now > 0)
        if off <= NEAR * total:
            break
    return table, off


def margin_of(clique: Clique, variables: Sequence[int]) -> Floats:
    """The counts of a clique by some of its variables, in the order in which they are named."""
    axes = [clique.variables.index(variable) for variable in variables]
    left = clique.table.sum(axis=tuple(set(range(clique.table.ndim)) - set(axes)))
    return np.transpose(left, np.argsort(np.argsort(axes)).tolist()) if len(axes) > 1 else left


def expected_counts(variables: Sequence[int], n_shared: int, shared: Floats, single: OneWay) -> Floats:
    """Counts if what is new were independent: the margin of the shared variables by the one-way margins of the others.

    >>> expected_counts([0, 1], 0, np.array(4.0), [np.array([1.0, 3.0]), np.array([2.0, 2.0])]).tolist()
    [[0.5, 0.5], [1.5, 1.5]]
    """
    table = np.asarray(shared, np.float64)
    for variable in variables[n_shared:]:
        table = table[..., None] * (single[variable] / single[variable].sum())
    return table


def consistent(
    counts: Floats | Ints, separator: tuple[int, ...], variables: tuple[int, ...], shared: Floats, single: OneWay,
) -> Clique:  # fmt: skip
    """A protected table fitted to the margin it shares with its parent, and to the one-way margins of what is new."""
    total, k = float(np.sum(shared)), len(separator)
    expected = expected_counts(variables, k, shared, single)
    start = on_simplex(np.asarray(counts, np.float64), total) + FLOOR * (expected + total / expected.size)
    margins = {tuple(range(k)): shared} if k else {}
    margins |= {(axis,): single[variables[axis]] for axis in range(k, len(variables))}
    return Clique(separator, variables, *fit_margins(start, margins))


def separators(cliques: Sequence[Clique], most: int = 2) -> dict[tuple[int, ...], Floats]:
    """The margins of up to `most` variables to which a further table can be attached."""
    out: dict[tuple[int, ...], Floats] = {}
    for clique in cliques:
        for k in range(1, most + 1):
            for shared in itertools.combinations(sorted(clique.variables), k):
                if shared not in out:
                    out[shared] = margin_of(clique, shared)
    return out


def expected_error(clique: Clique, scale: float, rng: np.random.Generator, draws: int = 8) -> float:
    """Expected total variation of a table from noise of this scale alone: noise once more on what was made of it."""
    total = float(clique.table.sum())
    apart = [
        np.abs(on_simplex(clique.table + rng.normal(0, scale, clique.table.shape), total) - clique.table).sum()
        for _ in range(draws)
    ]
    return float(np.mean(apart) / (2 * total))


# Records, drawn table after table.


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
    return in_place(np.clip(found - of_row * n_cells, 0, n_cells - 1), order)
