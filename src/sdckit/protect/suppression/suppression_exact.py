"""The fewest suppressions of a small file, by an integer programme."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.linear_bounds import solve_programme
from sdckit.protect.suppression.suppression_file import TINY, Situation

MOST_RECORDS = 150  # at risk
MOST_PAIRS = 5000


@dataclass(frozen=True, eq=False)
class Solution:
    """What the integer programme found."""

    # records to change and the keys each loses, as bits; empty where no solution was reached
    rows: NDArray[np.int64]
    masks: NDArray[np.uint64]
    total: int | None  # values taken out
    bound: int  # no solution takes out fewer


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Pairs of a record at risk and what may come to match it."""

    first: NDArray[np.int64]  # record at risk
    second: NDArray[np.int64]  # another record at risk, or -1
    worth: NDArray[np.float64]
    diff: NDArray[np.bool_]  # keys on which they differ


def _differences(codes: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.bool_]:
    a, b = codes[:, None, :], others[None, :, :]
    found: NDArray[np.bool_] = (a != b) & (a >= 0) & (b >= 0)
    return found


def _pairs(
    at: Situation, risky: NDArray[np.int64], cell: NDArray[np.int64], needs: NDArray[np.int64]
) -> _Pairs:
    """Pairs that few enough keys tell apart."""
    safe = np.setdiff1d(np.arange(len(at.size)), risky)
    codes, stratum = at.codes[cell], at.stratum[cell]
    to_safe = _differences(codes, at.codes[safe])
    n = to_safe.sum(axis=2)
    a, s = np.nonzero((n > 0) & (n <= needs[:, None]) & (stratum[:, None] == at.stratum[safe][None, :]))
    to_risky = _differences(codes, codes)
    n = to_risky.sum(axis=2)
    near = (n > 0) & (n <= needs[:, None] + needs[None, :]) & (stratum[:, None] == stratum[None, :])
    b, c = np.nonzero(np.triu(near))
    return _Pairs(
        first=np.concatenate([a, b]),
        second=np.concatenate([np.full(len(a), -1), c]),
        worth=np.concatenate([at.size[safe][s], np.ones(len(b))]),
        diff=np.concatenate([to_safe[a, s], to_risky[b, c]]),
    )


def solve(
    at: Situation, k: int, risky: NDArray[np.int64], needs: NDArray[np.int64], least: int, nodes: int
) -> Solution | None:
    """Find the fewest values to take out of records at risk, no more from one than it needs alone.

    None where the problem is not small. A match counts in full whichever side lacks the value (alpha = 1).
    The limit is on nodes of the search tree: one on time would make the result depend on the machine.

    `risky`, `needs` (shape (C,)): cells at risk, and how many keys a record of each needs to lose to reach k
    alone. `least`: a number of values that no solution goes below. `nodes`: how much of the search tree to
    look at.
    """
    n = int(at.size[risky].sum())
    if n > MOST_RECORDS or n * len(at.size) > 100 * MOST_PAIRS:
        return None
    rows, starts = at.rows_of(risky)
    counts = np.diff(starts)
    cell, cap = np.repeat(risky, counts), np.repeat(needs, counts)
    pairs = _pairs(at, risky, cell, cap)
    if len(pairs.first) > MOST_PAIRS:
        return None
    return _programme(at, k, cell, cap, pairs, rows, least, nodes)


def _programme(
    at: Situation, k: int, cell: NDArray[np.int64], cap: NDArray[np.int64], pairs: _Pairs,
    rows: NDArray[np.int64], least: int, nodes: int,
) -> Solution:  # fmt: skip
    from scipy.optimize import Bounds, LinearConstraint
    from scipy.sparse import coo_array

    n, p, q = len(cell), at.codes.shape[1], len(pairs.first)
    n_values, lacking = n * p, k - TINY - at.frequency[cell]
    pair, key = np.nonzero(pairs.diff)  # a pair matches where on each key that differs one value is gone
    line = np.arange(len(pair))
    other = pairs.second[pair]
    mutual = other >= 0
    both = np.flatnonzero(pairs.second >= 0)
    differing = pairs.diff.sum(axis=1)[pair]
    tight = len(pair) + 2 * n  # a record loses a value itself, or all it lacks is made good by others' losses
    mine = mutual & (differing <= cap[other])
    theirs = mutual & (differing <= cap[pairs.first[pair]])
    parts = [
        (line, n_values + pair, np.ones(len(pair))),
        (line, pairs.first[pair] * p + key, -np.ones(len(pair))),
        (line[mutual], other[mutual] * p + key[mutual], -np.ones(int(mutual.sum()))),
        (len(pair) + pairs.first, n_values + np.arange(q), -pairs.worth),
        (len(pair) + pairs.second[both], n_values + both, -np.ones(len(both))),
        (len(pair) + n + np.repeat(np.arange(n), p), np.arange(n_values), np.ones(n_values)),
        (tight + np.repeat(np.arange(n), p), np.arange(n_values), -np.repeat(lacking, p)),
        (tight + pairs.first[pair[mine]], other[mine] * p + key[mine], -1 / differing[mine]),
        (tight + other[theirs], pairs.first[pair[theirs]] * p + key[theirs], -1 / differing[theirs]),
        (np.full(n_values, tight + n), np.arange(n_values), -np.ones(n_values)),
    ]
    i, j, value = (np.concatenate(list(column)) for column in zip(*parts, strict=True))
    upper = np.concatenate([np.zeros(len(pair)), -lacking, cap, -lacking, [-least]])
    there = (at.codes[cell] >= 0).ravel()
    found = solve_programme(
        np.concatenate([np.ones(n_values), np.zeros(q)]),
        integrality=np.concatenate([np.ones(n_values), np.zeros(q)]),
        bounds=Bounds(0, np.concatenate([there.astype(float), np.ones(q)])),
        constraints=LinearConstraint(coo_array((value, (i, j)), (len(upper), n_values + q)).tocsr(), -np.inf, upper),
        options={"node_limit": nodes, "mip_rel_gap": 0.0},
    )  # fmt: skip
    bound = found.mip_dual_bound
    if bound is not None and math.isfinite(bound):
        least = max(least, math.ceil(bound - 1e-6))
    if found.x is None:
        return Solution(rows[:0], np.empty(0, np.uint64), None, least)
    gone = found.x[:n_values].reshape(n, p) > 0.5
    masks = (gone << np.arange(p)).sum(axis=1).astype(np.uint64)
    return Solution(rows, masks, int(gone.sum()), least)
