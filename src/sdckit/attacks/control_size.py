"""Singling out in a file of another size: fewer people make a predicate true of exactly one more, or less, often."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.predicates import Predicates, Table, matches

__all__ = ["size_factor"]

SIZES, REPEATS = 10, 5
CANDIDATES = 600


def size_factor(table: Table, queries: Predicates, size: int, rng: np.random.Generator) -> float:
    """By what to multiply successes on a smaller file to have those expected on `size` records.

    Successes are counted on parts of the file and fitted by c · [1 - (s w + 1)(1 - w)^s] / (s + 1), what
    predicates with weights spread from 0 to w are expected to isolate among s records.

    Parameters
    ----------
    table : Table
        The smaller file.
    queries : Predicates
    size : int
        Records of the larger file.
    rng : numpy.random.Generator

    Returns
    -------
    float
        At most ``size / table.n``, which no weight can exceed; 1 where nothing is isolated.
    """
    if table.n >= size or queries.n == 0:
        return 1.0
    smallest = min(max(table.n // SIZES, 2), table.n)
    sizes = np.unique(np.linspace(smallest, table.n, SIZES).astype(np.int64))
    counts = np.array(
        [
            np.mean(
                [_successes(table, queries, int(part), rng) for _ in range(1 if part == table.n else REPEATS)]
            )
            for part in sizes
        ]
    )
    if not counts.any():
        return 1.0
    weights = np.geomspace(0.01 / size, 1.0, CANDIDATES)
    fitted = _isolated(sizes[:, None], weights[None])
    scale = (counts[:, None] * fitted).sum(axis=0) / (fitted**2).sum(axis=0)
    best = weights[np.argmin(((counts[:, None] - scale * fitted) ** 2).sum(axis=0))]
    factor = _isolated(np.array([size]), best)[0] / _isolated(np.array([table.n]), best)[0]
    return float(min(factor, size / table.n))


def _successes(table: Table, queries: Predicates, size: int, rng: np.random.Generator) -> int:
    part = table if size == table.n else table.take(np.sort(rng.choice(table.n, size, replace=False)))
    return int((matches(part, queries)[0] == 1).sum())


def _isolated(sizes: NDArray[np.int64], weight: NDArray[np.float64] | np.float64) -> NDArray[np.float64]:
    """The share isolated; 1 - (s w + 1)(1 - w)^s without loss of digits for small s w."""
    log_rest = np.log1p(sizes * weight) + sizes * np.log1p(-np.minimum(weight, 1 - 1e-12))
    found: NDArray[np.float64] = -np.expm1(log_rest) / (sizes + 1)
    return found
