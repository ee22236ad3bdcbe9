"""Fellegi and Sunter's model of two files' records, from counts of the pairs that agree alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ROUNDS, CHANGE = 200, 1e-4  # EM ends when no probability changes by more
MISSING = -1
NEVER = 1e-6  # what EM takes for the probability of a level of which no pair is
LEAST = 1e-300  # a probability that has a logarithm
EQUAL = 0.95  # share of equal values among matches, before anything is learnt
FIRST = (-5.0, 3.0, 10.0)  # weight of different values, of all but equal ones, of equal ones, before that


@dataclass(frozen=True, eq=False)
class Patterns:
    """How many pairs of records agree alike.

    Attributes
    ----------
    levels : ndarray, int, shape (n_patterns, n_variables)
        -1 where a value is missing, 0 where values differ, upwards to equal ones.
    pairs : ndarray, float64, shape (n_patterns,)
        Pairs of each pattern.
    """

    levels: NDArray[np.int64]
    pairs: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Agreement:
    """How often each level of agreement of a variable, from 0 upwards, occurs among matches and others.

    Attributes
    ----------
    m, u : ndarray, float64
        Among matches, and among all other pairs; NaN for a level that was never seen.
    """

    m: NDArray[np.float64]
    u: NDArray[np.float64]

    @property
    def matches(self) -> NDArray[np.float64]:
        """`m`; of a level never seen what is supposed before anything is learnt."""
        return np.where(np.isnan(self.m), _first_m(len(self.m)), self.m)

    @property
    def others(self) -> NDArray[np.float64]:
        """`u`, likewise."""
        n = len(self.u)
        low, high, equal = FIRST
        first = np.array([*np.linspace(low, high, n - 1), equal])
        return np.where(np.isnan(self.u), _first_m(n) / np.exp2(first), self.u)

    @property
    def weights(self) -> NDArray[np.float64]:
        """What each level adds to the weight of a pair: log2 of m / u."""
        return _weights(self.matches, self.others)


def agreements(
    n_levels: Sequence[int], everybody: Patterns, rules: Sequence[tuple[Sequence[int], Patterns]],
    prior: float,
) -> tuple[Agreement, ...]:  # fmt: skip
    """Learn how much the levels of each variable say.

    Parameters
    ----------
    n_levels : sequence of int
        Levels of each variable, two or more.
    everybody : Patterns
        All pairs, or a sample of them: u.
    rules : sequence of (variables, Patterns)
        The pairs that meet a rule, all of which agree on its variables (none for all pairs); m of the other
        variables is learnt from each by EM, and the median over the rules is taken.
    prior : float
        Share of matches among all pairs.

    Raises
    ------
    ValueError
        A rule that no pair meets, or a prior without odds.

    References
    ----------
    Fellegi, I. P. and Sunter, A. B. (1969). A theory for record linkage. JASA 64. The start, the end and what
    holds for levels never seen are those of splink (Linacre, R. et al. (2022). IJPDS 7).
    """
    us = [_shares(everybody, j, everybody.pairs, n) for j, n in enumerate(n_levels)]
    learnt: list[list[NDArray[np.float64]]] = [[] for _ in n_levels]

    def known() -> tuple[Agreement, ...]:
        return tuple(Agreement(_median(ms, len(u)), u) for ms, u in zip(learnt, us, strict=True))

    for held, patterns in rules:
        for j, m in _learn_matches(known(), patterns, held, prior).items():
            learnt[j].append(m)
    return known()


def _learn_matches(
    known: Sequence[Agreement], patterns: Patterns, held: Sequence[int], prior: float
) -> Mapping[int, NDArray[np.float64]]:
    """EM with u as it is; with a rule the share of matches, which follows from what it holds, is kept, too."""
    total = patterns.pairs.sum()
    if not total or not 0 < prior < 1:
        raise ValueError("nothing to learn from")
    weight = np.log2(prior / (1 - prior)) + sum(known[j].weights[-1] for j in held)
    share = float(np.exp2(weight) / (1 + np.exp2(weight)))
    free = [j for j in range(len(known)) if j not in held]
    m = {j: known[j].matches for j in free}
    u = {j: known[j].others for j in free}
    for _ in range(ROUNDS):
        match = patterns.pairs * _probability(patterns, {j: _weights(m[j], u[j]) for j in free}, share)
        found = {j: _shares(patterns, j, match, len(m[j])) for j in free}
        filled = {j: np.where(np.isnan(one), NEVER, one) for j, one in found.items()}
        after = share if held else float(match.sum() / total)
        moved = max(abs(after - share), *(float(np.abs(filled[j] - m[j]).max()) for j in free))
        m, share = filled, after
        if moved < CHANGE:
            break
    return found


def _probability(
    patterns: Patterns, weights: Mapping[int, NDArray[np.float64]], share: float
) -> NDArray[np.float64]:
    """Of a match, for each pattern."""
    total = np.full(len(patterns.pairs), np.log2(share / (1 - share)))
    for j, one in weights.items():
        total += np.append(one, 0.0)[patterns.levels[:, j]]  # a missing value takes the last: it says nothing
    small = np.exp2(-np.abs(total))
    return np.asarray(np.where(total >= 0, 1.0, small) / (1.0 + small))


def _shares(patterns: Patterns, j: int, counts: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Of each level among the pairs without a missing value; NaN for a level that no pair has."""
    levels = patterns.levels[:, j]
    there = levels != MISSING
    seen = np.bincount(levels[there], minlength=n) > 0
    found = np.bincount(levels[there], weights=counts[there], minlength=n)
    total = found.sum()
    return np.where(seen, found / total, np.nan) if total > 0 else np.full(n, np.nan)


def _weights(m: NDArray[np.float64], u: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.log2(np.maximum(m, LEAST) / np.maximum(u, LEAST)))


def _first_m(n: int) -> NDArray[np.float64]:
    return np.array([*[(1 - EQUAL) / (n - 1)] * (n - 1), EQUAL])


def _median(found: Sequence[NDArray[np.float64]], n: int) -> NDArray[np.float64]:
    """Over the rules in which a level was seen."""
    seen = [[one[k] for one in found if not np.isnan(one[k])] for k in range(n)]
    return np.array([np.median(values) if values else np.nan for values in seen])
