"""The released rows nearest to what an intruder knows, drawn at random among those equally near."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.with_control import WithControl
from sdckit.numerics.encode import Encoded, gower
from sdckit.numerics.neighbours import Index, paired

__all__ = ["draw_nearest", "encode_files"]

Ints = NDArray[np.int64]
LISTED = 4_000_000  # rows listed at a time


def encode_files(
    files: WithControl, names: Sequence[str], numeric: Sequence[str], j: int
) -> tuple[Encoded, ...]:
    """Original, release j (from 0) and control file for Gower's distance on some columns.

    Differences of numbers are divided by the range in these files together. A missing value is 0 from a
    missing one and 1 from any other.
    """
    chosen = [0, j + 1, *([files.m + 1] if files.has_control else [])]
    own = [name for name in names if name in numeric]
    rest = [name for name in names if name not in numeric]
    return gower(
        [[files.numbers(name)[f] for f in chosen] for name in own],
        [[files.codes(name).codes[f] for f in chosen] for name in rest],
    )


def draw_nearest(index: Index, base: Encoded, query: Encoded, k: int, rng: np.random.Generator) -> Ints:
    """The k nearest rows of the base for each query, those equally far as the k-th drawn at random.

    Returns
    -------
    ndarray, int64, shape (n, k)

    Examples
    --------
    >>> from sdckit.numerics.neighbours import prepare
    >>> base, query = gower([(np.array([0.0, 4.0, 8.0]), np.array([5.0]))])
    >>> draw_nearest(prepare(base), base, query, 1, np.random.default_rng(1)).tolist()
    [[1]]
    """
    found = index.nearest(query, k)
    out = np.empty((query.n, k), np.int64)
    if k == 1:
        out[:, 0] = found.index
    within = found.n_closer + found.n_tied
    open_ones = np.flatnonzero(within > 1 if k == 1 else within >= k)
    for rows in _pieces(open_ones, within[open_ones]):
        asked = query.take(rows)
        begins, listed = index.lists(asked, k)
        of_query = np.repeat(np.arange(len(rows)), np.diff(begins))
        away = paired(asked.take(of_query), base.take(listed))
        tied = away >= found.distance[rows, -1][of_query] - found.tolerance
        # the closer ones first, the tied ones in random order behind them
        order = np.lexsort((rng.random(len(listed)), tied, of_query))
        out[rows] = listed[order][begins[:-1, None] + np.arange(k)]
    return out


def _pieces(rows: Ints, sizes: Ints) -> Iterator[Ints]:
    """Cut queries so that the lists of each piece stay short."""
    if len(rows) == 0:
        return
    piece = np.cumsum(sizes) // LISTED
    yield from np.split(rows, np.flatnonzero(np.diff(piece)) + 1)
