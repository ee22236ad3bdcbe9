"""Log-linear models that use the weights, or take keys as numbers: fitted over the grid by scoring."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.table import Cells
from sdckit.errors import ColumnError, DataError
from sdckit.identity.population.log_linear import TOLERANCE, Grid, Term

Floats = NDArray[np.float64]
Method = Literal["counts", "ce", "pml", "weighted"]
METHODS: tuple[Method, ...] = ("counts", "ce", "pml", "weighted")
ADDED = 0.1  # to the inverse mean weight of a cell, as in sdcMicro: a cell without records has an offset, too
MAX_ENTRIES = 20_000_000  # entries of a design: possible cells times terms
MAX_PARAMETERS = 2_000
MAX_ROUNDS = 200


def level_values(cells: Cells, linear: Sequence[str]) -> dict[int, Floats]:
    """The value of each level of the keys that enter as numbers, by the number of the key, in the grid's order."""
    values = {}
    for name in linear:
        if name not in cells.keys:
            raise ColumnError(f"linear: {name!r} is no key; it names keys that are numbers", argument="linear")
        j = list(cells.keys).index(name)
        coded = cells.levels[j]
        used = np.unique(cells.table.codes[j])
        if coded.kind not in ("integer", "number") or used[-1] >= coded.span:
            words = f"linear: key {name!r} has values that are missing or no numbers; leave it a category"
            raise DataError(words, argument="linear")
        values[j] = np.array([float(label) for label in coded.labels(used)])
    return values


def fractions_of(cells: Cells, pi: float) -> Floats:
    """The sampling fraction of each cell, records over the sum of their weights; `pi` where there are none."""
    weight = cells.table.weight
    if weight is None:
        return np.full(len(cells.table.size), pi)
    with np.errstate(divide="ignore"):
        return np.minimum(1.0, cells.table.size / weight)


def expected_counts(
    grid: Grid, terms: Sequence[Term], counts: Floats, weights: Floats, *, method: Method, values: Mapping[int, Floats]
) -> tuple[Floats, float]:
    """Expected sample count (M,) of every possible cell, in the grid's layout, and the largest gap of an equation.

    `counts` and `weights` (K,) are the records and the sum of weights of each cell that occurs; `values` the numbers
    that stand for levels, by key. "ce" offsets the model by the log of the inverse mean weight; "pml" fits the weights,
    scaled to the records; "weighted" has the sum of weights as one more predictor.

    References
    ----------
    Clogg, C. C. and Eliason, S. R. (1987). Some common problems in log-linear analysis. Sociological Methods &
    Research 16, 8-44 (the offset). Rao, J. N. K. and Thomas, D. R. (1988). The analysis of cross-classified categorical
    data from complex sample surveys. Sociological Methodology 18, 213-269 (pseudo maximum likelihood).
    """
    at, _ = grid.place(grid.layout)
    n, observed, weighed = float(counts.sum()), np.zeros(grid.n_possible), np.zeros(grid.n_possible)
    observed[at], weighed[at] = counts, weights
    offset = np.zeros(grid.n_possible)
    if method == "ce":
        offset[at] = counts / np.where(weights > 0, weights, math.inf)
        offset = np.log(offset + ADDED)
    elif method == "pml":
        observed = weighed * (n / weighed.sum())
    design, possible = _design(grid, terms, observed, values)
    if method == "weighted":
        from scipy.sparse import csr_array, hstack

        design = hstack([design, csr_array(weighed[:, None] / weighed.max(initial=1.0))], format="csr")
    mu = np.zeros(grid.n_possible)
    mu[possible], gap = _score(design[possible], observed[possible], offset[possible])
    return mu, gap


def _design(grid: Grid, terms: Sequence[Term], observed: Floats, values: Mapping[int, Floats]) -> tuple[Any, Any]:
    """The design (M, p), sparse, and the cells that a term does not exclude: none of its margin's cells is empty."""
    from scipy.sparse import coo_array

    parts = {part for term in terms for size in range(1, len(term) + 1) for part in combinations(term, size)}
    whole = sorted(parts | {(j,) for j in range(len(grid.shape))}, key=lambda part: (len(part), part))
    widths = [math.prod(1 if j in values else grid.shape[j] - 1 for j in part) for part in whole]
    if grid.n_possible * (len(whole) + 1) > MAX_ENTRIES or sum(widths) >= MAX_PARAMETERS:
        words = f"weights or linear keys need {grid.n_possible:,} possible cells times {len(whole) + 1} terms"
        limits = f"at most {MAX_ENTRIES:,}, and {MAX_PARAMETERS:,} parameters"
        raise DataError(f"{words}, {limits}; recode or leave out keys, or fit counts (method='counts')")
    digits = np.unravel_index(np.arange(grid.n_possible), [grid.shape[j] for j in grid.layout])
    level = dict(zip(grid.layout, digits, strict=True))
    possible = np.ones(grid.n_possible, np.bool_)
    rows, columns, entries = [np.arange(grid.n_possible)], [np.zeros(grid.n_possible, np.int64)], [possible * 1.0]
    start = 1
    for part, width in zip(whole, widths, strict=True):
        column, margin, entry = *np.zeros((2, grid.n_possible), np.int64), np.ones(grid.n_possible)
        for j in part:
            if j in values:
                spread = np.abs(values[j] - values[j].mean()).max()
                entry = entry * ((values[j] - values[j].mean()) / (spread or 1.0))[level[j]]
            else:
                column, entry = column * (grid.shape[j] - 1) + level[j] - 1, entry * (level[j] > 0)
                margin = margin * grid.shape[j] + level[j]
        if not any(j in values for j in part):
            possible &= np.bincount(margin, observed)[margin] > 0
        here = np.flatnonzero(entry)
        rows, columns, entries = [*rows, here], [*columns, start + column[here]], [*entries, entry[here]]
        start += width
    parts_of = np.concatenate(entries), (np.concatenate(rows), np.concatenate(columns))
    return coo_array(parts_of, shape=(grid.n_possible, start)).tocsr(), possible


def _score(design: Any, observed: Floats, offset: Floats) -> tuple[Floats, float]:
    """Maximum likelihood of a Poisson model by Fisher scoring, and the largest gap of a likelihood equation."""
    n = observed.sum()
    eta, best, least = np.log(observed + 0.1), observed, math.inf
    mu = observed + 0.1
    for _ in range(MAX_ROUNDS):
        scaled = design.multiply(mu[:, None]).tocsr()
        working = design.T @ (mu * (eta - offset) + observed - mu)
        eta = design @ np.linalg.lstsq((design.T @ scaled).toarray(), working, rcond=1e-13)[0] + offset
        mu = np.exp(np.clip(eta, -300, 50))
        gap = float(np.abs(design.T @ (observed - mu)).max() / n)
        if gap < least:
            best, least = mu, gap
        elif least <= TOLERANCE:  # no nearer, and near enough
            break
    return best, least
