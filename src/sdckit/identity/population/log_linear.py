"""Log-linear models of a table of cells: main effects in closed form, interactions by proportional fitting.

The model is fitted to the sample counts over the full product of the observed levels (the grid), of which a
file fills a small part: main effects never build it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.compiling import njit

if TYPE_CHECKING:
    from sdckit.cells.table import Cells


Term = tuple[int, ...]
MAX_GRID = 10_000_000  # possible cells of a grid that is built
MAX_CYCLES = 2_000
TOLERANCE = 1e-8  # largest gap between a fitted and an observed margin, as a share of the records
DIRECT = 1 << 22  # codes renumbered by a table with a place for each


@dataclass(frozen=True, eq=False)
class Grid:
    """Cells as points of the full product of the levels in use."""

    codes: tuple[NDArray[np.int64], ...]  # (K,) level of each cell, key by key, from 0 without gaps
    shape: tuple[int, ...]  # levels of each key

    @property
    def n_possible(self) -> int:
        """Cells of the full grid."""
        return math.prod(self.shape)

    @property
    def layout(self) -> tuple[int, ...]:
        """Order of the keys in a table of every possible cell: the one with most levels is fastest."""
        return tuple(sorted(range(len(self.shape)), key=lambda j: self.shape[j]))

    def place(self, term: Sequence[int]) -> tuple[NDArray[np.int64], int]:
        """Where each cell lies in the margin of some keys, and how many places it has."""
        at = np.zeros(len(self.codes[0]), np.int64)
        for j in term:
            at = at * self.shape[j] + self.codes[j]
        return at, math.prod(self.shape[j] for j in term)

    def strides(self, term: Sequence[int]) -> NDArray[np.int64]:
        """Steps in the margin of some keys, per key in layout order; 0 for keys that are summed over."""
        steps, step = np.zeros(len(self.shape), np.int64), 1
        for j in reversed(term):
            steps[j], step = step, step * self.shape[j]
        return steps[list(self.layout)]


def _renumber(codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    high = int(codes.max(initial=0))
    if high >= DIRECT:
        used, dense = np.unique(codes, return_inverse=True)
        return dense.astype(np.int64), len(used)
    present = np.bincount(codes, minlength=high + 1) > 0
    number: NDArray[np.int64] = np.cumsum(present) - 1
    return number[codes], int(number[-1]) + 1


def grid_of(cells: Cells) -> Grid:
    """Number the levels in use, a missing value among them."""
    found = [_renumber(codes) for codes in cells.table.codes]
    return Grid(tuple(codes for codes, _ in found), tuple(levels for _, levels in found))


# --- main effects ------------------------------------------------------------------------------


def shares_of(grid: Grid, counts: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Share of the records at each level of each key."""
    n = counts.sum()
    return [
        np.bincount(codes, counts, levels) / n for codes, levels in zip(grid.codes, grid.shape, strict=True)
    ]


def expected_main_effects(grid: Grid, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Expected count of each cell when the keys are independent: n times the product of its shares.

    Examples
    --------
    >>> grid = Grid((np.array([0, 0, 1]), np.array([0, 1, 1])), (2, 2))
    >>> expected_main_effects(grid, np.array([2.0, 1.0, 1.0])).tolist()
    [1.5, 1.5, 0.5]
    """
    mu = np.full(len(counts), counts.sum())
    for codes, share in zip(grid.codes, shares_of(grid, counts), strict=True):
        mu *= share[codes]
    return mu


def dense_main_effects(grid: Grid, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Expected count of every possible cell when the keys are independent, in the grid's layout."""
    shares = shares_of(grid, counts)
    mu = np.array([float(counts.sum())])
    for j in grid.layout:
        mu = np.multiply.outer(mu, shares[j]).ravel()
    return mu


# --- interactions ---------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _sum_margin(mu, shape, strides, total):  # type: ignore[no-untyped-def]
    """Sum a grid over the keys whose stride is 0."""
    last = len(shape) - 1
    inner, step = shape[last], strides[last]
    digits = np.zeros(last + 1, np.int64)
    total[:] = 0
    base, at = 0, 0
    while at < len(mu):
        if step == 0:
            part = 0.0
            for j in range(inner):
                part += mu[at + j]
            total[base] += part
        else:
            for j in range(inner):
                total[base + j * step] += mu[at + j]
        at += inner
        for v in range(last - 1, -1, -1):
            digits[v] += 1
            base += strides[v]
            if digits[v] < shape[v]:
                break
            base -= digits[v] * strides[v]
            digits[v] = 0


@njit(cache=True, nogil=True)
def _scale_margin(mu, shape, strides, ratio):  # type: ignore[no-untyped-def]
    """Multiply every cell of a grid by the factor of its place in a margin."""
    last = len(shape) - 1
    inner, step = shape[last], strides[last]
    digits = np.zeros(last + 1, np.int64)
    base, at = 0, 0
    while at < len(mu):
        for j in range(inner):
            mu[at + j] *= ratio[base + j * step]
        at += inner
        for v in range(last - 1, -1, -1):
            digits[v] += 1
            base += strides[v]
            if digits[v] < shape[v]:
                break
            base -= digits[v] * strides[v]
            digits[v] = 0


@njit(cache=True, nogil=True)
def _fit_margin(mu, shape, strides, target, total):  # type: ignore[no-untyped-def]
    """Give a grid one margin; returns the largest gap there was before."""
    _sum_margin(mu, shape, strides, total)
    gap = 0.0
    for i in range(len(total)):
        gap = max(gap, abs(total[i] - target[i]))
        total[i] = target[i] / total[i] if total[i] > 0 else 0.0
    _scale_margin(mu, shape, strides, total)
    return gap


def fit_terms(
    grid: Grid,
    terms: Sequence[Term],
    counts: NDArray[np.float64],
    *,
    start: NDArray[np.float64] | None = None,
    tolerance: float = TOLERANCE,
    max_cycles: int = MAX_CYCLES,
) -> tuple[NDArray[np.float64], float]:
    """Fit a hierarchical log-linear model by iterative proportional fitting.

    `terms` are the margins (key numbers) that the fitted table shall have; together they cover every key. `counts`
    (K,) are the records of each cell that occurs; `start` (M,) is the fit of a model that these terms contain, by
    default main effects. Gives the expected count (M,) of every possible cell, in the grid's layout, and the largest
    gap of a margin in the last round, as a share of the records: above `tolerance` when the fit did not converge.

    References
    ----------
    Deming, W. E. and Stephan, F. F. (1940). On a least squares adjustment of a sampled frequency table
    when the expected marginal totals are known. Annals of Mathematical Statistics 11, 427-444.
    """
    n = float(counts.sum())
    mu = dense_main_effects(grid, counts) if start is None else start.copy()
    shape = np.array([grid.shape[j] for j in grid.layout], np.int64)
    margins = []
    for term in terms:
        at, places = grid.place(term)
        margins.append((grid.strides(term), np.bincount(at, counts, places), np.empty(places)))
    gap = math.inf
    for _ in range(max_cycles):
        gap = max(_fit_margin(mu, shape, *margin) for margin in margins) / n
        if gap <= tolerance:
            break
    return mu, gap
